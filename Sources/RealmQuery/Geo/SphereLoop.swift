// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A closed chain of great-circle arcs; its interior is on the left of the edges.
///
/// Whether a point is inside follows from the parity of crossings between the loop and the way from a fixed origin to the
/// point. Vertices and edges thereby belong to exactly one of the regions that share them. Whether the origin is inside follows
/// from one vertex: it belongs to the loop if a fixed direction at it lies in the angle of its two edges.
struct SphereLoop: Sendable {
    /// The vertices in order, at least three and all different; the first one is not repeated at the end.
    private(set) var vertices: [SpherePoint]
    /// Bounds of the loop's interior in latitude and longitude, for a quick test.
    private(set) var bounds = AngleBounds.full
    /// Whether the fixed origin, from which crossings are counted, is inside of the loop.
    private var isOriginInside = false

    /// The fixed point at which the way to every tested point begins.
    private static let origin = SpherePoint(x: 0.00457, y: 1, z: 0.0321).normalized

    /// Creates a loop over vertices, of which the last is joined to the first. The inside is on the left of its edges.
    ///
    /// - Complexity: O(number of vertices).
    init(_ vertices: [SpherePoint]) {
        self.vertices = vertices
        let isVertexInside = Orientation.isOrdered(vertex(1).orthogonal, vertex(0), vertex(2), around: vertex(1))
        isOriginInside = isVertexInside != contains(vertex(1))
        updateBounds()
    }

    /// Returns the vertex at an index, which may exceed the last one by up to one round.
    @inline(__always) func vertex(_ index: Int) -> SpherePoint {
        vertices[index < vertices.count ? index : index - vertices.count]
    }

    /// Returns whether a point lies inside, from the number of edges that the way to it crosses.
    ///
    /// - Complexity: O(number of vertices), O(1) outside of the bounds.
    func contains(_ point: SpherePoint) -> Bool {
        guard bounds.contains(point) else { return false }
        var isInside = isOriginInside
        var crossing = EdgeCrossing(SphereLoop.origin, point, chainFrom: vertices[0])
        for index in 1...vertices.count where crossing.nextChangesSide(vertex(index)) { isInside.toggle() }
        return isInside
    }

    /// Exchanges inside and outside if the loop covers more than half of the sphere. Exactly half is left as it is.
    mutating func normalize() {
        if !isNormalized { invert() }
    }

    /// Whether the loop covers at most half of the sphere.
    var isNormalized: Bool { bounds.longitudes.length < .pi || turningAngle >= -1e-14 }

    /// Exchanges the inside of the loop and its outside.
    private mutating func invert() {
        vertices.reverse()
        isOriginInside.toggle()
        if bounds.low > -.pi / 2 && bounds.high < .pi / 2 { bounds = .full } else { updateBounds() }
    }

    /// Calculates the bounds again, after the vertices or the inside have changed.
    private mutating func updateBounds() {
        bounds = .full
        var bounds = AngleBounds(chain: vertices + [vertices[0]])
        // A pole inside the loop has all longitudes around it.
        if contains(.northPole) { bounds = AngleBounds(low: bounds.low, high: .pi / 2, longitudes: .full) }
        if bounds.longitudes.isFull, contains(.southPole) { bounds.low = -.pi / 2 }
        self.bounds = bounds
    }

    /// The sum of the turns at the vertices, positive to the left. It is negative when more than half of the sphere is inside.
    ///
    /// The sum starts from the same vertex in the same direction for all ways to write the loop, so
    /// that a loop and its reverse have exactly opposite sums.
    private var turningAngle: Double {
        let count = vertices.count
        let first = vertices.indices.min { SpherePoint.precedes(vertices[$0], vertices[$1]) } ?? 0
        let isForward = SpherePoint.precedes(vertex(first + 1), vertex(first + count - 1))
        let step = isForward ? 1 : count - 1
        var angle = 0.0
        var index = first
        for _ in 0..<count {
            let next = (index + step) % count
            angle += SphereLoop.turnAngle(vertices[(index + count - step) % count], vertices[index], vertices[next])
            index = next
        }
        return isForward ? angle : -angle
    }

    /// The angle in radians by which the way from `a` over `b` to `c` turns left.
    private static func turnAngle(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint) -> Double {
        let angle = b.stableCross(a).angle(to: c.stableCross(b))
        return Orientation.turn(a, b, c) > 0 ? angle : -angle
    }
}

// MARK: - Validity

extension SphereLoop {
    /// Returns the reason why a chain of at least three vertices is not a valid loop; nil when it is one.
    ///
    /// - Parameter continues: Decides whether to continue. Once it has returned false, the result is meaningless.
    func defect(_ continues: GeoRegion.Check) -> String? {
        if !vertices.allSatisfy(\.isUnitLength) { return "a vertex is not on the sphere" }
        if Set(vertices).count < vertices.count { return "a vertex occurs twice" }
        return crossesItself(continues) ? "two edges cross" : nil
    }

    /// Returns whether two edges cross. Each edge is compared with those whose boxes overlap its own, found by a sweep along x.
    private func crossesItself(_ continues: GeoRegion.Check) -> Bool {
        let boxes = vertices.indices.map { EdgeBox(vertex($0), vertex($0 + 1), index: $0) }.sorted { $0.low.x < $1.low.x }
        for (position, box) in boxes.enumerated() {
            var compared = 0
            for other in boxes[(position + 1)...] {
                if other.low.x > box.high.x { break }
                compared += 1
                if box.overlaps(other), edgesCross(box.index, other.index) { return true }
            }
            guard continues(1 + compared) else { return false }
        }
        return false
    }

    /// Whether two edges that are not neighbours cross; they are given by the indexes of their first vertices.
    private func edgesCross(_ first: Int, _ second: Int) -> Bool {
        let (lower, upper) = (min(first, second), max(first, second))
        guard upper > lower + 1 else { return false }
        var crossing = EdgeCrossing(vertex(lower), vertex(lower + 1), chainFrom: vertex(upper))
        return crossing.next(vertex(upper + 1)) == .crossing
    }
}

/// A box in space around an edge of a loop, slightly too large. Edges can cross only if their boxes overlap.
struct EdgeBox {
    /// The corner of the box with the least x, y and z coordinates.
    let low: SpherePoint
    /// The corner of the box with the greatest x, y and z coordinates.
    let high: SpherePoint
    /// The index of the edge, which is that of the vertex at which it starts.
    let index: Int

    /// Calculates the box around an edge.
    ///
    /// - Parameters:
    ///   - a: The vertex at which the edge starts.
    ///   - b: The vertex at which it ends.
    ///   - index: The index of the edge in its loop.
    init(_ a: SpherePoint, _ b: SpherePoint, index: Int) {
        // The arc bulges out of its chord by the distance from the middle of the chord to the sphere.
        let bulge = 1 - 0.5 * (a + b).length + 1e-14
        low = SpherePoint(x: min(a.x, b.x) - bulge, y: min(a.y, b.y) - bulge, z: min(a.z, b.z) - bulge)
        high = SpherePoint(x: max(a.x, b.x) + bulge, y: max(a.y, b.y) + bulge, z: max(a.z, b.z) + bulge)
        self.index = index
    }

    /// Returns whether two boxes have a point in common; only then can their edges cross.
    @inline(__always) func overlaps(_ other: EdgeBox) -> Bool {
        low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y && other.low.y <= high.y
            && low.z <= other.high.z && other.low.z <= high.z
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A shape that was checked, ready to tell which points lie in it.
package struct GeoRegion: Sendable {
    /// Why a shape is none.
    package struct Invalid: Error, Sendable, Equatable {
        package let text: String
    }

    /// The checked shape.
    private enum Form: Sendable {
        case loops([SphereLoop])
        /// Points whose squared distance from the centre, through the sphere, is at most `limit`.
        case cap(center: SpherePoint, limit: Double)
    }

    private let form: Form
    /// Degrees outside of which no point can be inside; a little too wide.
    private let latitudes: ClosedRange<Double>
    /// More vertices than this are refused: the checks look at pairs of edges.
    static let maximumVertexCount = 20_000

    /// Is told how many comparisons come next, and says whether they are worth it; once it says no it has to go on saying no.
    package typealias Check = (_ comparisons: Int) -> Bool

    /// Rings of many points take seconds to check. Where `goesOn` has said no, the outcome means nothing, be it an error.
    package init(_ shape: GeoShape, goesOn: Check = { _ in true }) throws(Invalid) {
        switch shape {
        case .box(let corner, let opposite): self.init(try GeoRegion.polygon([GeoShape.ring(ofBox: corner, opposite)], goesOn))
        case .polygon(let rings): self.init(try GeoRegion.polygon(rings, goesOn))
        case .circle(let center, let radius): try self.init(center: center, radius: radius)
        case .point: throw Invalid(text: "a point cannot stand on the right of geoWithin")
        }
    }

    /// How many corners a point has to be compared with.
    var vertexCount: Int {
        switch form {
        case .cap: return 1
        case .loops(let loops): return loops.reduce(0) { $0 + $1.vertices.count }
        }
    }

    /// A polygon: an outer loop and holes, all of them checked.
    private init(_ loops: [SphereLoop]) {
        form = .loops(loops)
        let bounds = loops[0].bounds
        latitudes = GeoRegion.widened(bounds.low, bounds.high)
    }

    /// A circle of `radius` radians. Throws when the radius or the center is none.
    private init(center: GeoPoint, radius: Double) throws(Invalid) {
        let axis = try GeoRegion.spherePoint(center)
        guard radius >= 0 else { throw Invalid(text: "the radius of a circle is a number of radians, 0 or more") }
        form = .cap(center: axis, limit: 2 * GeoRegion.capHeight(radius))
        let latitude = center.latitude * (.pi / 180)
        latitudes = GeoRegion.widened(max(latitude - radius, -.pi), min(latitude + radius, .pi))
    }

    /// Does the point lie inside? Degrees outside ±180 and ±90, and NaN, are nowhere.
    package func contains(longitude: Double, latitude: Double) -> Bool {
        guard latitudes.contains(latitude) else { return false }
        let longitude = longitude * (.pi / 180)
        let latitude = latitude * (.pi / 180)
        guard latitude.magnitude <= .pi / 2, longitude.magnitude <= .pi else { return false }
        let point = SpherePoint(latitude: latitude, longitude: longitude)
        switch form {
        case .cap(let center, let limit): return (center - point).squaredLength <= limit
        case .loops(let loops):
            if loops.count == 1 { return loops[0].contains(point) }
            guard loops[0].bounds.contains(point) else { return false }
            return loops.reduce(false) { $0 != $1.contains(point) }
        }
    }

    /// The height of a spherical cap: 1 - cos(radius), in a form that stays exact for small angles.
    private static func capHeight(_ radius: Double) -> Double {
        if radius >= .pi { return 2 }
        let sine = SpherePoint.sine(0.5 * radius)
        return 2 * sine * sine
    }

    /// Radians as degrees, with room for the rounding of all conversions.
    private static func widened(_ low: Double, _ high: Double) -> ClosedRange<Double> {
        (low * (180 / .pi) - 1e-9)...(high * (180 / .pi) + 1e-9)
    }

    /// The point on the unit sphere. Throws for degrees out of range.
    private static func spherePoint(_ point: GeoPoint) throws(Invalid) -> SpherePoint {
        guard point.longitude.magnitude <= 180, point.latitude.magnitude <= 90 else {
            throw Invalid(
                text:
                    "longitude \(point.longitude) and latitude \(point.latitude) are no place: at most 180 and 90 degrees")
        }
        let latitude = max(-.pi / 2, min(.pi / 2, point.latitude * (.pi / 180)))
        let longitude = (point.longitude * (.pi / 180)).remainder(dividingBy: 2 * .pi)
        return SpherePoint(latitude: latitude, longitude: longitude)
    }
}

// MARK: - Polygons

extension GeoRegion {
    /// The loops of a polygon, the outer one first.
    private static func polygon(_ rings: [[GeoPoint]], _ goesOn: Check) throws(Invalid) -> [SphereLoop] {
        guard !rings.isEmpty else { throw Invalid(text: "a polygon without rings") }
        guard rings.reduce(0, { $0 + $1.count }) <= maximumVertexCount else {
            throw Invalid(text: "a polygon of more than \(maximumVertexCount) points")
        }
        var loops: [SphereLoop] = []
        for (number, ring) in rings.enumerated() {
            let loop = try loop(ring, number, goesOn)
            if let outer = loops.first, !outer.contains(loop, goesOn) {
                throw Invalid(text: "ring \(number) is not inside the first ring, so it is no hole")
            }
            loops.append(loop)
        }
        try checkTogether(loops, goesOn)
        return loops
    }

    /// The checked loop of a ring; `number` is its place in the polygon, for messages.
    private static func loop(_ ring: [GeoPoint], _ number: Int, _ goesOn: Check) throws(Invalid) -> SphereLoop {
        var points: [SpherePoint] = []
        for point in ring {
            let next = try spherePoint(point)
            if points.last != next { points.append(next) }
        }
        guard let first = ring.first, let last = ring.last else { throw Invalid(text: "ring \(number) has no points") }
        guard first == last else { throw Invalid(text: "ring \(number) is not closed: its last point is not its first") }
        points.removeLast()
        guard points.count >= 3 else { throw Invalid(text: "ring \(number) has fewer than three different points") }
        var loop = SphereLoop(points)
        if let defect = loop.defect(goesOn) { throw Invalid(text: "ring \(number) is not valid: \(defect)") }
        loop.normalize()
        return loop
    }

    /// Rings share no edge, do not cross, touch the outer ring in one vertex at most and do not lie in each other.
    private static func checkTogether(_ loops: [SphereLoop], _ goesOn: Check) throws(Invalid) {
        guard loops.count > 1 else { return }
        try checkEdges(loops)
        for (number, loop) in loops.enumerated() {
            guard goesOn(loops.count) else { return }
            guard loop.isNormalized else { throw Invalid(text: "ring \(number) covers more than half of the sphere") }
            for other in loops[(number + 1)...] where loop.crosses(other, goesOn) {
                throw Invalid(text: "ring \(number) crosses another ring")
            }
        }
        let holes = loops.dropFirst()
        let outerVertices = Set(loops[0].vertices)
        for (number, hole) in zip(1..., holes) {
            guard loops[0].containsNested(hole) else { throw Invalid(text: "ring \(number) is not inside the first ring") }
            guard hole.vertices.count(where: outerVertices.contains) <= 1 else {
                throw Invalid(text: "ring \(number) shares more than one vertex with the first ring")
            }
            guard goesOn(holes.count) else { return }
            for (otherNumber, other) in zip(1..., holes) where otherNumber != number && hole.containsNested(other) {
                throw Invalid(text: "ring \(otherNumber) is inside ring \(number): holes cannot be nested")
            }
        }
    }

    /// Throws when two loops, or two parts of one, share an edge.
    private static func checkEdges(_ loops: [SphereLoop]) throws(Invalid) {
        var edges: Set<[SpherePoint]> = []
        for loop in loops {
            for index in loop.vertices.indices {
                let (start, end) = (loop.vertex(index), loop.vertex(index + 1))
                guard edges.insert(SpherePoint.precedes(start, end) ? [start, end] : [end, start]).inserted else {
                    throw Invalid(text: "two rings share an edge")
                }
            }
        }
    }
}

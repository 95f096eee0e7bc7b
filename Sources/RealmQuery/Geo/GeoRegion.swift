// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A validated shape, which decides for a point whether it lies inside.
///
/// It is made when a query is bound, once for each `geoWithin`, and is immutable.
package struct GeoRegion: Sendable {
    /// The error for a shape that is not valid, with the reason.
    package struct Invalid: Error, Sendable, Equatable {
        /// The reason as a sentence without a full stop, for the problem that a client receives.
        package let text: String
    }

    /// The validated shape in the form in which points are tested.
    private enum Form: Sendable {
        /// An outer loop and the loops of its holes.
        case loops([SphereLoop])
        /// A circle: the points whose squared distance from the centre, straight through the unit sphere, is at most `limit`.
        case cap(center: SpherePoint, limit: Double)
    }

    /// The validated shape, in the form in which points are tested.
    private let form: Form
    /// The degrees of latitude outside of which no point can be inside; slightly too wide.
    private let latitudes: ClosedRange<Double>
    /// The greatest number of vertices. Shapes with more are rejected, because validation compares pairs of edges.
    static let maximumVertexCount = 20_000

    /// A function that is called before comparisons are made, with their number, and returns
    /// whether to make them. Once it has returned false it must return false ever after.
    package typealias Check = (_ comparisons: Int) -> Bool

    /// Validates a shape.
    ///
    /// Rings of many points can take seconds to validate. Where `continues` has returned false, the
    /// outcome is meaningless, even if it is an error.
    ///
    /// - Parameters:
    ///   - shape: The shape as it was written or passed.
    ///   - continues: Decides whether to continue, so that validation can be cancelled.
    /// - Throws: `Invalid` when the shape is not valid.
    /// - Complexity: O(n²) at worst for n vertices.
    package init(_ shape: GeoShape, continues: Check = { _ in true }) throws(Invalid) {
        switch shape {
        case .box(let corner, let opposite): self.init(try GeoRegion.polygon([GeoShape.ring(ofBox: corner, opposite)], continues))
        case .polygon(let rings): self.init(try GeoRegion.polygon(rings, continues))
        case .circle(let center, let radius): try self.init(center: center, radius: radius)
        case .point: throw Invalid(text: "a point is not allowed on the right side of geoWithin")
        }
    }

    /// The number of corners with which a point has to be compared, as a measure of the cost of a test.
    var vertexCount: Int {
        switch form {
        case .cap: return 1
        case .loops(let loops): return loops.reduce(0) { $0 + $1.vertices.count }
        }
    }

    /// Creates the region of a polygon from its validated loops, the outer one first.
    private init(_ loops: [SphereLoop]) {
        form = .loops(loops)
        let bounds = loops[0].bounds
        latitudes = GeoRegion.widened(bounds.low, bounds.high)
    }

    /// Creates the region of a circle.
    ///
    /// - Parameters:
    ///   - center: The centre in degrees.
    ///   - radius: The angular radius in radians.
    /// - Throws: `Invalid` when the centre is out of range, or the radius is negative or NaN.
    private init(center: GeoPoint, radius: Double) throws(Invalid) {
        let axis = try GeoRegion.spherePoint(center)
        guard radius >= 0 else {
            throw Invalid(text: "the radius of a circle must be 0 or more, in radians or with a unit such as 5.5km")
        }
        form = .cap(center: axis, limit: 2 * GeoRegion.capHeight(radius))
        let latitude = center.latitude * (.pi / 180)
        latitudes = GeoRegion.widened(max(latitude - radius, -.pi), min(latitude + radius, .pi))
    }

    /// Returns whether a point lies inside. Points beyond ±180 or ±90 degrees, and NaN, lie nowhere.
    ///
    /// - Parameters:
    ///   - longitude: Degrees east.
    ///   - latitude: Degrees north.
    /// - Complexity: O(number of corners), O(1) outside of the region's latitudes.
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

    /// The height of a spherical cap, 1 - cos(radius), calculated in a form that remains exact for small angles.
    private static func capHeight(_ radius: Double) -> Double {
        if radius >= .pi { return 2 }
        let sine = SpherePoint.sine(0.5 * radius)
        return 2 * sine * sine
    }

    /// Converts latitudes from radians to degrees, and adds a margin for the rounding of all conversions.
    private static func widened(_ low: Double, _ high: Double) -> ClosedRange<Double> {
        (low * (180 / .pi) - 1e-9)...(high * (180 / .pi) + 1e-9)
    }

    /// The point on the unit sphere for a place in degrees.
    ///
    /// - Throws: `Invalid` when the degrees are out of range, or the altitude is below 0.
    private static func spherePoint(_ point: GeoPoint) throws(Invalid) -> SpherePoint {
        if let altitude = point.altitude {
            guard altitude >= 0 else { throw Invalid(text: "the altitude \(altitude) of a point is below 0") }
        }
        guard point.longitude.magnitude <= 180, point.latitude.magnitude <= 90 else {
            throw Invalid(
                text:
                    "longitude \(point.longitude) and latitude \(point.latitude) are out of range: at most 180 and 90 degrees")
        }
        let latitude = max(-.pi / 2, min(.pi / 2, point.latitude * (.pi / 180)))
        let longitude = (point.longitude * (.pi / 180)).remainder(dividingBy: 2 * .pi)
        return SpherePoint(latitude: latitude, longitude: longitude)
    }
}

// MARK: - Polygons

extension GeoRegion {
    /// Validates the rings of a polygon and returns their loops, the outer one first.
    ///
    /// - Throws: `Invalid` with the number of the ring that is at fault, counted from 0.
    private static func polygon(_ rings: [[GeoPoint]], _ continues: Check) throws(Invalid) -> [SphereLoop] {
        guard !rings.isEmpty else { throw Invalid(text: "a polygon needs at least one ring") }
        guard rings.reduce(0, { $0 + $1.count }) <= maximumVertexCount else {
            throw Invalid(text: "a polygon has at most \(maximumVertexCount) points")
        }
        var loops: [SphereLoop] = []
        for (number, ring) in rings.enumerated() {
            let loop = try loop(ring, number, continues)
            if let outer = loops.first, !outer.contains(loop, continues) {
                throw Invalid(text: "ring \(number) is not inside the first ring, so it is not a hole")
            }
            loops.append(loop)
        }
        try checkTogether(loops, continues)
        return loops
    }

    /// Validates a single ring.
    ///
    /// - Parameters:
    ///   - ring: The points, of which the last is equal to the first.
    ///   - number: The index of the ring in its polygon, for messages.
    ///   - continues: Decides whether to continue.
    /// - Returns: The loop, with the smaller side as its inside.
    private static func loop(_ ring: [GeoPoint], _ number: Int, _ continues: Check) throws(Invalid) -> SphereLoop {
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
        if let defect = loop.defect(continues) { throw Invalid(text: "ring \(number) is not valid: \(defect)") }
        loop.normalize()
        return loop
    }

    /// Validates the rings of a polygon together: they share no edge, do not cross, touch the outer
    /// ring in one vertex at most, and no hole lies inside another.
    private static func checkTogether(_ loops: [SphereLoop], _ continues: Check) throws(Invalid) {
        guard loops.count > 1 else { return }
        try checkEdges(loops)
        for (number, loop) in loops.enumerated() {
            guard continues(loops.count) else { return }
            guard loop.isNormalized else { throw Invalid(text: "ring \(number) covers more than half of the sphere") }
            for other in loops[(number + 1)...] where loop.crosses(other, continues) {
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
            guard continues(holes.count) else { return }
            for (otherNumber, other) in zip(1..., holes) where otherNumber != number && hole.containsNested(other) {
                throw Invalid(text: "ring \(otherNumber) is inside ring \(number): holes cannot be nested")
            }
        }
    }

    /// Throws `Invalid` when two loops, or two parts of one loop, share an edge.
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

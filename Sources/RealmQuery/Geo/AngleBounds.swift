// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmPlatform

/// Intervals of latitude and longitude, in radians, in which a region lies.
///
/// They are a quick first test: a point outside of the bounds is not in the region.
struct AngleBounds: Equatable, Sendable {
    /// The least latitude, at least -π/2. It is above `high` when the bounds are empty.
    var low: Double
    /// The greatest latitude of the bounds, at most π/2.
    var high: Double
    var longitudes: LongitudeInterval

    /// The bounds of the whole sphere.
    static let full = AngleBounds(low: -.pi / 2, high: .pi / 2, longitudes: .full)

    /// Returns whether a point lies within the bounds, their edges included.
    func contains(_ point: SpherePoint) -> Bool {
        let latitude = point.latitude
        return latitude >= low && latitude <= high && longitudes.contains(point.longitude)
    }

    /// Returns whether other bounds lie within these. Empty latitudes lie within any.
    func contains(_ other: AngleBounds) -> Bool {
        (other.low > other.high || other.low >= low && other.high <= high) && longitudes.contains(other.longitudes)
    }

    /// Returns whether the two bounds have a point in common.
    func intersects(_ other: AngleBounds) -> Bool {
        low <= other.high && other.low <= high && longitudes.intersects(other.longitudes)
    }

    /// Returns the least bounds that contain both.
    func union(_ other: AngleBounds) -> AngleBounds {
        AngleBounds(low: min(low, other.low), high: max(high, other.high), longitudes: longitudes.union(other.longitudes))
    }

    /// Whether the bounds contain the whole sphere.
    var isFull: Bool { low == -.pi / 2 && high == .pi / 2 && longitudes.isFull }

    /// Calculates the bounds of a chain of edges. An edge may reach a latitude that neither of its ends has.
    ///
    /// - Parameter points: The vertices in order; consecutive ones are joined by great-circle arcs.
    /// - Complexity: O(number of points).
    init(chain points: some Sequence<SpherePoint>) {
        self.init(low: 1, high: 0, longitudes: .empty)
        var last: SpherePoint?
        for point in points {
            let (latitude, longitude) = (point.latitude, point.longitude)
            if let last {
                extend(from: last, to: point)
                low = min(low, latitude, last.latitude)
                high = max(high, latitude, last.latitude)
            } else {
                self = AngleBounds(low: latitude, high: latitude, longitudes: LongitudeInterval(longitude))
            }
            last = point
        }
    }

    /// Creates bounds from an interval of latitudes and one of longitudes.
    ///
    /// - Parameters:
    ///   - low: The least latitude in radians.
    ///   - high: The greatest latitude in radians.
    init(low: Double, high: Double, longitudes: LongitudeInterval) {
        self.low = low
        self.high = high
        self.longitudes = longitudes
    }

    /// Includes the edge between two points, which may reach farther north or south than both of them.
    private mutating func extend(from a: SpherePoint, to b: SpherePoint) {
        longitudes = longitudes.union(LongitudeInterval(between: a.longitude, and: b.longitude))
        let normal = a.stableCross(b)
        // A vector in the edge's plane and in that of the equator: the extreme latitude lies inside the edge when its
        // ends are on different sides of it.
        let direction = normal.cross(.northPole)
        let sideA = direction.dot(a)
        let sideB = direction.dot(b)
        guard sideA * sideB < 0 else { return }
        let extreme = acos((normal.z / normal.length).magnitude)
        if sideA < 0 { high = max(extreme, high) } else { low = min(-extreme, low) }
        // Within rounding errors of a pole it is uncertain on which side of it the edge passes.
        if extreme >= .pi / 2 - 1e-15 { longitudes = .full }
    }
}

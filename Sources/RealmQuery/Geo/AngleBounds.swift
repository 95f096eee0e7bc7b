// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Intervals of latitude and longitude, in radians, that a region lies in.
struct AngleBounds: Equatable, Sendable {
    /// -π/2...π/2; the lower end is above the upper one when empty.
    var low: Double
    var high: Double
    var longitudes: LongitudeInterval

    static let full = AngleBounds(low: -.pi / 2, high: .pi / 2, longitudes: .full)

    /// Whether the point lies within the bounds, their edges included.
    func contains(_ point: SpherePoint) -> Bool {
        let latitude = point.latitude
        return latitude >= low && latitude <= high && longitudes.contains(point.longitude)
    }

    /// Whether the other bounds lie within these.
    func contains(_ other: AngleBounds) -> Bool {
        (other.low > other.high || other.low >= low && other.high <= high) && longitudes.contains(other.longitudes)
    }

    /// Whether the two have a point in common.
    func intersects(_ other: AngleBounds) -> Bool {
        low <= other.high && other.low <= high && longitudes.intersects(other.longitudes)
    }

    /// The least bounds that contain both.
    func union(_ other: AngleBounds) -> AngleBounds {
        AngleBounds(low: min(low, other.low), high: max(high, other.high), longitudes: longitudes.union(other.longitudes))
    }

    var isFull: Bool { low == -.pi / 2 && high == .pi / 2 && longitudes.isFull }

    /// The bounds of a chain of edges. An edge may reach a latitude that none of its ends has.
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

    /// Latitudes from `low` to `high`, in radians.
    init(low: Double, high: Double, longitudes: LongitudeInterval) {
        self.low = low
        self.high = high
        self.longitudes = longitudes
    }

    /// Takes in the edge between two points, which may lie further north or south than both.
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
        // So close to a pole it is uncertain on which side of it the edge passes.
        if extreme >= .pi / 2 - 1e-15 { longitudes = .full }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A closed interval of longitudes in radians. It may cross the antimeridian: then `low` is greater than `high`.
///
/// -π is written as π, except in the full interval -π...π.
struct LongitudeInterval: Equatable, Sendable {
    private(set) var low: Double
    private(set) var high: Double

    static let full = LongitudeInterval(low: -.pi, high: .pi)
    static let empty = LongitudeInterval(low: .pi, high: -.pi)

    var isFull: Bool { low == -.pi && high == .pi }
    var isEmpty: Bool { low == .pi && high == -.pi }
    private var isInverted: Bool { low > high }

    private init(low: Double, high: Double) {
        self.low = low
        self.high = high
    }

    init(_ point: Double) {
        let point = LongitudeInterval.canonical(point)
        self.init(low: point, high: point)
    }

    /// The shorter way between two longitudes.
    init(between first: Double, and second: Double) {
        let first = LongitudeInterval.canonical(first)
        let second = LongitudeInterval.canonical(second)
        let isForward = LongitudeInterval.distance(from: first, to: second) <= .pi
        self.init(low: isForward ? first : second, high: isForward ? second : first)
    }

    /// In radians; negative when empty.
    var length: Double {
        let length = high - low
        if length >= 0 { return length }
        return length + 2 * .pi > 0 ? length + 2 * .pi : -1
    }

    func contains(_ point: Double) -> Bool { containsCanonical(LongitudeInterval.canonical(point)) }

    func contains(_ other: LongitudeInterval) -> Bool {
        if isInverted {
            if other.isInverted { return other.low >= low && other.high <= high }
            return (other.low >= low || other.high <= high) && !isEmpty
        }
        if other.isInverted { return isFull || other.isEmpty }
        return other.low >= low && other.high <= high
    }

    func intersects(_ other: LongitudeInterval) -> Bool {
        if isEmpty || other.isEmpty { return false }
        // Both cross the antimeridian and meet there.
        if isInverted && other.isInverted { return true }
        if isInverted || other.isInverted { return other.low <= high || other.high >= low }
        return other.low <= high && other.high >= low
    }

    /// The shortest interval that contains both.
    func union(_ other: LongitudeInterval) -> LongitudeInterval {
        if other.isEmpty { return self }
        if containsCanonical(other.low) {
            if containsCanonical(other.high) { return contains(other) ? self : .full }
            return LongitudeInterval(low: low, high: other.high)
        }
        if containsCanonical(other.high) { return LongitudeInterval(low: other.low, high: high) }
        if isEmpty || other.containsCanonical(low) { return other }
        let gapBefore = LongitudeInterval.distance(from: other.high, to: low)
        let isBefore = gapBefore < LongitudeInterval.distance(from: high, to: other.low)
        return isBefore ? LongitudeInterval(low: other.low, high: high) : LongitudeInterval(low: low, high: other.high)
    }

    private func containsCanonical(_ point: Double) -> Bool {
        isInverted ? (point >= low || point <= high) && !isEmpty : point >= low && point <= high
    }

    private static func canonical(_ point: Double) -> Double { point == -.pi ? .pi : point }

    /// Going east, 0 ..< 2π, without losing precision for short distances.
    private static func distance(from start: Double, to end: Double) -> Double {
        end - start >= 0 ? end - start : (end + .pi) - (start - .pi)
    }
}

/// Intervals of latitude and longitude, in radians, that a region lies in.
struct AngleBounds: Equatable, Sendable {
    /// -π/2...π/2; the lower end is above the upper one when empty.
    var low: Double
    var high: Double
    var longitudes: LongitudeInterval

    static let full = AngleBounds(low: -.pi / 2, high: .pi / 2, longitudes: .full)

    func contains(_ point: SpherePoint) -> Bool {
        let latitude = point.latitude
        return latitude >= low && latitude <= high && longitudes.contains(point.longitude)
    }

    func contains(_ other: AngleBounds) -> Bool {
        (other.low > other.high || other.low >= low && other.high <= high) && longitudes.contains(other.longitudes)
    }

    func intersects(_ other: AngleBounds) -> Bool {
        low <= other.high && other.low <= high && longitudes.intersects(other.longitudes)
    }

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

    init(low: Double, high: Double, longitudes: LongitudeInterval) {
        self.low = low
        self.high = high
        self.longitudes = longitudes
    }

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

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A closed interval of longitudes in radians. It may cross the antimeridian; then `low` is greater than `high`.
///
/// The meridian -π is represented by π, except in the full interval -π...π.
struct LongitudeInterval: Equatable, Sendable {
    /// The western end of the interval, in radians.
    private(set) var low: Double
    /// The eastern end of the interval, in radians.
    private(set) var high: Double

    static let full = LongitudeInterval(low: -.pi, high: .pi)
    /// The interval without any longitude.
    static let empty = LongitudeInterval(low: .pi, high: -.pi)

    /// Whether the interval contains all longitudes.
    var isFull: Bool { low == -.pi && high == .pi }
    /// Whether the interval contains no longitude.
    var isEmpty: Bool { low == .pi && high == -.pi }
    /// Whether the interval crosses the antimeridian or is empty.
    private var isInverted: Bool { low > high }

    /// Creates the interval from `low` eastward to `high`, in radians.
    private init(low: Double, high: Double) {
        self.low = low
        self.high = high
    }

    /// Creates the interval of a single longitude.
    init(_ point: Double) {
        let point = LongitudeInterval.canonical(point)
        self.init(low: point, high: point)
    }

    /// Creates the interval along the shorter way between two longitudes.
    init(between first: Double, and second: Double) {
        let first = LongitudeInterval.canonical(first)
        let second = LongitudeInterval.canonical(second)
        let isForward = LongitudeInterval.distance(from: first, to: second) <= .pi
        self.init(low: isForward ? first : second, high: isForward ? second : first)
    }

    /// The length in radians; negative when the interval is empty.
    var length: Double {
        let length = high - low
        if length >= 0 { return length }
        return length + 2 * .pi > 0 ? length + 2 * .pi : -1
    }

    /// Returns whether a longitude lies within the interval, its ends included.
    func contains(_ point: Double) -> Bool { containsCanonical(LongitudeInterval.canonical(point)) }

    /// Returns whether another interval lies within this one.
    func contains(_ other: LongitudeInterval) -> Bool {
        if isInverted {
            if other.isInverted { return other.low >= low && other.high <= high }
            return (other.low >= low || other.high <= high) && !isEmpty
        }
        if other.isInverted { return isFull || other.isEmpty }
        return other.low >= low && other.high <= high
    }

    /// Returns whether the two intervals have a longitude in common.
    func intersects(_ other: LongitudeInterval) -> Bool {
        if isEmpty || other.isEmpty { return false }
        // Both cross the antimeridian and meet there.
        if isInverted && other.isInverted { return true }
        if isInverted || other.isInverted { return other.low <= high || other.high >= low }
        return other.low <= high && other.high >= low
    }

    /// Returns the shortest interval that contains both.
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

    /// Returns whether a longitude lies within the interval, for a longitude that is not -π.
    private func containsCanonical(_ point: Double) -> Bool {
        isInverted ? (point >= low || point <= high) && !isEmpty : point >= low && point <= high
    }

    /// Returns π for -π, which is the same meridian, and every other longitude as it is.
    private static func canonical(_ point: Double) -> Double { point == -.pi ? .pi : point }

    /// The distance eastward from one longitude to another, 0 ..< 2π, without a loss of precision for short distances.
    private static func distance(from start: Double, to end: Double) -> Double {
        end - start >= 0 ? end - start : (end + .pi) - (start - .pi)
    }
}

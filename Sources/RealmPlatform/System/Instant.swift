// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A point in time that no change of the clock moves, for deadlines and durations.
///
/// The clock is the system's monotonic one: it starts at an arbitrary moment, runs at an even pace
/// and is not comparable between machines or across restarts.
package struct Instant: Sendable, Comparable {
    /// The time in nanoseconds of the system's monotonic clock.
    package let nanoseconds: UInt64

    /// Makes a point in time from nanoseconds of the monotonic clock.
    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Returns the present point in time. It costs no system call on usual machines.
    package static func now() -> Instant {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    /// A point in time that never comes, which means no deadline.
    package static var distantFuture: Instant { Instant(nanoseconds: .max) }

    /// Whether this is `distantFuture`, the time that never comes.
    package var isDistantFuture: Bool { nanoseconds == .max }

    /// Returns the point in time that is `seconds` later. Negative numbers count as 0, a billion and more as for ever.
    ///
    /// Deadlines are computed with it: a caller that passes an absurd number of seconds gets a
    /// deadline that never comes rather than an overflow.
    package func adding(seconds: Double) -> Instant {
        guard seconds < 1e9 else { return .distantFuture }
        return Instant(nanoseconds: nanoseconds &+ UInt64(max(seconds, 0) * 1e9))
    }

    /// Returns the point in time that is `seconds` earlier, at most the start of the clock. Negative numbers count as 0.
    package func earlier(bySeconds seconds: Double) -> Instant {
        guard seconds < 1e9 else { return Instant(nanoseconds: 0) }
        let difference = UInt64(max(seconds, 0) * 1e9)
        return Instant(nanoseconds: nanoseconds - min(difference, nanoseconds))
    }

    /// Returns the seconds from `earlier` to this instant; 0 when `earlier` is later.
    package func seconds(since earlier: Instant) -> Double {
        nanoseconds > earlier.nanoseconds ? Double(nanoseconds - earlier.nanoseconds) / 1e9 : 0
    }

    /// Returns whether `left` is earlier than `right`.
    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Instant {
    /// Returns the instant that is later by `duration`; the distant future for more than about 30 years.
    package func adding(_ duration: Duration) -> Instant { adding(seconds: duration.inSeconds) }

    /// Returns the time from `earlier` to this instant; zero when `earlier` is later.
    package func duration(since earlier: Instant) -> Duration {
        nanoseconds > earlier.nanoseconds ? .nanoseconds(Int64(clamping: nanoseconds - earlier.nanoseconds)) : .zero
    }
}

extension Duration {
    /// The duration in seconds, with the fraction.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A point in time that no clock change moves; for deadlines and durations.
package struct Instant: Sendable, Comparable {
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package static func now() -> Instant {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    package static var distantFuture: Instant { Instant(nanoseconds: .max) }

    package var isDistantFuture: Bool { nanoseconds == .max }

    package func adding(seconds: Double) -> Instant {
        guard seconds < 1e9 else { return .distantFuture }
        return Instant(nanoseconds: nanoseconds &+ UInt64(max(seconds, 0) * 1e9))
    }

    /// Seconds from `earlier` to this instant; 0 when it is later.
    package func seconds(since earlier: Instant) -> Double {
        nanoseconds > earlier.nanoseconds ? Double(nanoseconds - earlier.nanoseconds) / 1e9 : 0
    }

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A time of day.
///
/// It is used for dates that are shown or stored. Durations and deadlines use `Instant`, because the time of day may jump.
package struct WallClock: Sendable {
    /// The time in nanoseconds since 1970-01-01 UTC.
    package let nanoseconds: Int64

    /// Makes a time of day from nanoseconds since 1970-01-01 UTC.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Returns the present time of day. Clock changes move it; durations are measured with `Instant`.
    package static func now() -> WallClock {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return WallClock(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

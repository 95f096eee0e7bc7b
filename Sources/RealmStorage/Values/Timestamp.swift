// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A point in time: seconds since 1970-01-01 UTC and nanoseconds of the same sign, |nanoseconds| < 10^9.
///
/// Half a second before the epoch is (0, -500000000). Source: docs/format.md, "Timestamp".
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01 UTC; negative before.
    package var seconds: Int64
    /// Nanoseconds, of the same sign as the seconds; their magnitude is below one billion.
    package var nanoseconds: Int32

    /// Makes a date from its stored parts, which are not checked.
    @inlinable package init(seconds: Int64, nanoseconds: Int32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Returns whether `left` is earlier than `right`.
    @inlinable package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.seconds != right.seconds ? left.seconds < right.seconds : left.nanoseconds < right.nanoseconds
    }
}

// SPDX-License-Identifier: Apache-2.0

extension BackupPlan {
    /// Reads the text of an interval, such as `30m`, `1h` or `7d`; nil for other texts, and outside of
    /// `intervals`.
    package static func interval(_ text: String) -> Duration? {
        DurationText.duration(text).flatMap { intervals.contains($0) ? $0 : nil }
    }
}

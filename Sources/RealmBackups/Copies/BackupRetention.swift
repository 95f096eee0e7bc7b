// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Which backups of a realm are kept: the newest one of each of so many hours, days, weeks and months
/// that have any. The newest backup of all is always kept.
///
/// Periods are those of UTC, and weeks begin on Monday. Removing the surplus after each backup keeps the
/// same ones as removing it once at the end.
package struct BackupRetention: Sendable, Equatable, CustomStringConvertible {
    package enum Period: String, CaseIterable, Sendable {
        /// The hours of a day.
        case hourly
        /// Days from midnight to midnight.
        case daily
        /// Weeks from Monday to Sunday.
        case weekly
        /// The months of the calendar.
        case monthly
    }

    /// The number of periods of each kind whose newest backup is kept; kinds with 0 are absent.
    private let counts: [Period: Int]
    /// The greatest number of periods of a kind.
    private static let maximumCount = 10_000

    /// Reads numbers such as `hourly=24,daily=7`. The kinds that are not named keep nothing.
    ///
    /// - Parameter text: One or more of `hourly`, `daily`, `weekly` and `monthly`, each at most once, with
    ///   numbers from 0 to 10,000, of which at least one is not 0.
    package init?(_ text: String) {
        var counts: [Period: Int] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, let period = Period(rawValue: String(sides[0])), counts[period] == nil,
                let count = Int(sides[1]), (0...BackupRetention.maximumCount).contains(count)
            else { return nil }
            counts[period] = count
        }
        guard counts.values.contains(where: { $0 > 0 }) else { return nil }
        self.counts = counts
    }

    /// The text that `init` reads.
    package var description: String {
        Period.allCases.compactMap { period in counts[period].map { "\(period.rawValue)=\($0)" } }.joined(separator: ",")
    }

    /// Returns the backups that need not be kept.
    ///
    /// - Parameter backups: All backups of one realm, the newest first.
    /// - Complexity: O(n) in the number of backups.
    package func surplus(of backups: [BackupName]) -> [BackupName] {
        var kept: Set<BackupName> = Set(backups.prefix(1))
        for (period, count) in counts {
            var seen: Set<ByteText> = []
            for backup in backups {
                guard seen.count < count else { break }
                if seen.insert(BackupRetention.label(of: backup, period)).inserted { kept.insert(backup) }
            }
        }
        return backups.filter { !kept.contains($0) }
    }

    /// Returns a text that backups of the same period share.
    private static func label(of backup: BackupName, _ period: Period) -> String {
        switch period {
        case .hourly: return String(backup.timeText.prefix(11))
        case .daily: return String(backup.timeText.prefix(8))
        case .monthly: return String(backup.timeText.prefix(6))
        case .weekly:
            // The first day of 1970 was a Thursday. Days before that round down too.
            let day = (Double(backup.seconds) / 86_400).rounded(.down)
            return String(Int64(((day + 3) / 7).rounded(.down)))
        }
    }
}

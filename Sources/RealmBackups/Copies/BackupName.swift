// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
package import RealmStorage

/// The name of a backup in a store: the realm, the time in whole seconds and the version, as in `app/20260131T120000Z-17.realm`.
/// Later ones of the same second and version have a number, from `app/20260131T120000Z-17-2.realm` on.
package struct BackupName: StoredName, Hashable {
    package let realm: RealmName
    /// The time of the backup, in seconds since 1970-01-01 UTC, for the years 0001 to 9999.
    package let seconds: Int64
    package let version: UInt64
    /// The number among the backups of the same second and version, from 1.
    package private(set) var number: UInt64 = 1

    /// The end of all names.
    private static let suffix = ".realm"

    /// Makes the name of a new backup.
    ///
    /// - Parameters:
    ///   - time: The moment that it shows.
    package init(realm: RealmName, time: WallClock, version: UInt64) {
        self.realm = realm
        seconds = time.nanoseconds / 1_000_000_000
        self.version = version
    }

    /// Makes a name of its parts.
    package init(realm: RealmName, seconds: Int64, version: UInt64, number: UInt64) {
        self.realm = realm
        self.seconds = seconds
        self.version = version
        self.number = number
    }

    /// Reads the name of a file in the folder of a realm; nil for files that are no backups.
    ///
    /// - Parameters:
    ///   - file: The part of the name after the slash.
    package init?(file: String, realm: RealmName) {
        guard file.hasSuffix(BackupName.suffix) else { return nil }
        let parts = file.dropLast(BackupName.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard [2, 3].contains(parts.count), let version = UInt64(parts[1]), let date = BackupName.date(parts[0]) else {
            return nil
        }
        self.realm = realm
        self.version = version
        if parts.count == 3 {
            guard let number = UInt64(parts[2]), number > 1 else { return nil }
            self.number = number
        }
        seconds = date.seconds
        // Another spelling of the same name would not lead to the file.
        guard self.file == file else { return nil }
    }

    /// The name of the file in the folder of the realm.
    package var file: String { label + BackupName.suffix }

    /// The time, the version and the number if there is one, as in `20260131T120000Z-17`.
    package var label: String { "\(timeText)-\(version)" + (number == 1 ? "" : "-\(number)") }

    /// Returns the name of a backup that was made after another one.
    ///
    /// - Parameter other: The other backup, of the same second and version.
    package func following(_ other: BackupName) -> BackupName {
        var name = self
        name.number = other.number + 1
        return name
    }

    /// Returns whether a backup is newer than another one of the same realm.
    package func isNewer(than other: BackupName) -> Bool {
        (seconds, version, number) > (other.seconds, other.version, other.number)
    }

    /// The time as text, as in `20260131T120000Z`, which sorts by time.
    package var timeText: String { BackupName.timeText(seconds) }

    /// Returns a time in whole seconds as text, as in `20260131T120000Z`.
    package static func timeText(_ seconds: Int64) -> String {
        let text = Timestamp(seconds: seconds, nanoseconds: 0).rfc3339 ?? ""
        return text.filter { $0 != "-" && $0 != ":" }
    }

    /// Reads a time without separators; nil for other texts.
    package static func date(_ text: Substring) -> Timestamp? {
        let characters = Array(text)
        guard characters.count == 16 else { return nil }
        let (year, month, day) = (String(characters[0..<4]), String(characters[4..<6]), String(characters[6..<8]))
        let (hour, minute, rest) = (String(characters[8..<11]), String(characters[11..<13]), String(characters[13...]))
        return Timestamp(rfc3339: "\(year)-\(month)-\(day)\(hour):\(minute):\(rest)")
    }
}

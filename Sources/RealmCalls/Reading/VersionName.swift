// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The version that a request names: by its number or token, by the number of commits before the newest, or by a time.
package enum VersionName: Sendable {
    case number(UInt64)
    case token(VersionToken)
    /// The version before so many commits.
    case before(UInt64)
    /// The version that was the newest one at a time, in nanoseconds since 1970.
    case time(Int64)

    /// Reads `12`, a token, `previous`, `-1` or a date; nil for another text.
    package init?(_ text: String) {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        if text == "previous" {
            self = .before(1)
        } else if !digits.isEmpty, digits.utf8.allSatisfy({ 48...57 ~= $0 }) {
            guard let number = UInt64(digits), number > 0 else { return nil }
            self = digits.utf8.count == text.utf8.count ? .number(number) : .before(number)
        } else if let token = VersionToken(text) {
            self = .token(token)
        } else if let date = Timestamp(rfc3339: text), abs(date.seconds) < 1 << 33 {
            self = .time(date.seconds * 1_000_000_000 + Int64(date.nanoseconds))
        } else {
            return nil
        }
    }

    /// Returns the version, which is kept as long as the result.
    ///
    /// - Throws: `version_not_found` when the file does not have it, or has it no more, with the oldest and the newest that it
    ///   has.
    package func version(of database: Database) throws(Problem) -> Version {
        let newest = database.current
        guard let number = number(in: database, newest) else { throw VersionName.missing(database, newest) }
        if number == newest.token.version { return newest }
        guard let former = try Problem.mapping({ () throws(StorageError) in try database.formerVersion(number) }) else {
            throw VersionName.missing(database, newest)
        }
        return former
    }

    /// Returns the number of the version; nil for one that cannot be there.
    private func number(in database: Database, _ newest: Version) -> UInt64? {
        switch self {
        case .number(let number): return number
        case .token(let token): return token.epoch == newest.token.epoch ? token.version : nil
        case .before(let count): return count < newest.token.version ? newest.token.version - count : nil
        case .time(let time): return VersionName.number(at: time, in: database, newest)
        }
    }

    /// Returns the number of the version that was the newest one at a time; nil when that is not known.
    ///
    /// The time of a commit is known if it was made since the file was opened. The version at that moment counts from then on.
    private static func number(at time: Int64, in database: Database, _ newest: Version) -> UInt64? {
        if let made = database.newestTime, made.nanoseconds <= time { return newest.token.version }
        let versions = database.formerVersions
        if let known = versions.last(where: { $0.time.map { $0.nanoseconds <= time } ?? false }) { return known.version }
        let opened = database.openedTime.nanoseconds
        guard opened <= time else { return nil }
        return versions.last { $0.time == nil }?.version ?? (database.newestTime == nil ? newest.token.version : nil)
    }

    private static func missing(_ database: Database, _ newest: Version) -> Problem {
        let last = newest.token.version
        let first = database.formerVersions.first?.version ?? last
        let text = first == last ? "only version \(last)" : "the versions \(first) to \(last)"
        return Problem(.versionNotFound, "the realm has \(text)")
            .with("oldest", .integer(Int64(clamping: first))).with("newest", .integer(Int64(clamping: last)))
    }
}

// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// The name of a shipped file of a realm: a base, which is a Realm file, or a sequence of records that follow one.
///
/// `app/20260131T120000Z-k3f9abcd-17-<SHA-256>.base.realm` has version 17 and begins the chain `k3f9abcd`;
/// `app/20260131T120105Z-k3f9abcd-18-40.records` has the commits from 18 to 40 of that chain. The time of a base is not before that
/// of anything in it, and the time of records is that of the last one.
package struct ShipName: StoredName, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A file with a version, by its SHA-256 in hexadecimal digits.
        case base(digest: String)
        /// Sealed records, of which the first one made this version.
        case records(first: UInt64)
    }

    package let realm: RealmName
    /// The time in seconds since 1970-01-01 UTC.
    package let seconds: Int64
    package let chain: String
    /// The number of the version of a base, and that of the last record of a sequence.
    package let version: UInt64
    package let kind: Kind

    /// The ends of all names.
    private static let baseSuffix = ".base.realm", recordsSuffix = ".records"

    /// Makes the name of something new.
    ///
    /// - Parameters:
    ///   - seconds: The time in seconds since 1970-01-01 UTC.
    ///   - version: The number of the version of a base, or that of the last record.
    package init(realm: RealmName, seconds: Int64, chain: String, version: UInt64, _ kind: Kind) {
        self.realm = realm
        self.seconds = seconds
        self.chain = chain
        self.version = version
        self.kind = kind
    }

    /// Reads the name of a file in the folder of a realm; nil for other files.
    ///
    /// - Parameters:
    ///   - file: The part of the name after the slash.
    package init?(file: String, realm: RealmName) {
        let suffix = file.hasSuffix(ShipName.baseSuffix) ? ShipName.baseSuffix : ShipName.recordsSuffix
        guard file.hasSuffix(suffix) else { return nil }
        let parts = file.dropLast(suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, let date = BackupName.date(parts[0]), let number = UInt64(parts[2]) else { return nil }
        self.realm = realm
        seconds = date.seconds
        chain = String(parts[1])
        if suffix == ShipName.baseSuffix {
            guard FileDigest.bytes(ofHex: String(parts[3])) != nil, parts[3] == parts[3].lowercasedASCII else { return nil }
            version = number
            kind = .base(digest: String(parts[3]))
        } else {
            guard let last = UInt64(parts[3]), last >= number else { return nil }
            version = last
            kind = .records(first: number)
        }
        guard self.file == file else { return nil }
    }

    /// The name of the file in the folder of the realm.
    package var file: String {
        let start = BackupName.timeText(seconds) + "-" + chain + "-"
        switch kind {
        case .base(let digest): return start + "\(version)-\(digest)" + ShipName.baseSuffix
        case .records(let first): return start + "\(first)-\(version)" + ShipName.recordsSuffix
        }
    }

    package var isBase: Bool { digest != nil }

    /// The SHA-256 of a base; nil for records.
    package var digest: String? {
        guard case .base(let digest) = kind else { return nil }
        return digest
    }

    /// The number of the first version in it.
    package var first: UInt64 {
        switch kind {
        case .base: return version
        case .records(let first): return first
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmBackups
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// One backup of a realm, as clients see it: a Realm file next to that of the realm, a file that a request has named, or one in
/// the target of the backup plan.
package struct Backup: Sendable {
    /// The reason for a backup. The raw value is the member `kind` of its document.
    enum Kind: String, Sendable {
        /// On request, next to the file.
        case request
        /// On request, in a file that the request has named.
        case copy
        /// Before a migration.
        case migration
        /// Before an upgrade of the file format.
        case upgrade
        /// It was the file of the realm until another one was restored.
        case replaced
        case planned
    }

    /// The place of the bytes of a backup.
    enum Place: Sendable {
        /// In a file next to that of the realm.
        case nextToFile(FileCopies)
        /// In a file of the server at a path.
        case file(String)
        /// In the store of the backup plan.
        case planned(BackupName)
    }

    /// The id, which is unique among the backups of a realm and needs no percent-encoding.
    package let id: String
    /// The reason for the backup.
    let kind: Kind
    let time: WallClock
    /// The length of the file in bytes.
    let byteCount: Int
    /// The number of the version in it; nil for a file that cannot be read, and for one of an old format that states none.
    let version: UInt64?
    /// The format of the file; nil when it is not known.
    let fileFormat: Int?
    /// Whether the file cannot be read; nil for one that was not checked.
    let isDamaged: Bool?
    /// The SHA-256 of the file; nil as long as it was not computed.
    package var digest: [UInt8]?
    /// The place of the bytes.
    let place: Place

    /// The name under which browsers save the file: it ends with `.realm`, as `app.v9.realm` for `app.realm.v9.backup` does.
    package var fileName: String {
        var words = id.split(separator: ".", omittingEmptySubsequences: false)
        if case .nextToFile = place {
            // The last words are the reason; the one before is the end of the name of the realm's file.
            let position = words.count - (kind == .upgrade ? 3 : 2)
            if position > 0, words[position].utf8.elementsEqual("realm".utf8) { words.remove(at: position) }
            if kind == .upgrade, let last = words.popLast(), let format = words.popLast() {
                words.append(format + last.dropFirst("backup".count))
            }
        }
        return words.joined(separator: ".") + ".realm"
    }

    /// Writes the backup as a JSON object. A digest that was not computed is left out.
    ///
    /// - Parameter writer: The writer, at a place where a value may follow.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", text: id)
        writer.member("kind", text: kind.rawValue)
        writer.member("time", time: time)
        writer.member("bytes", int: byteCount)
        if let version { writer.member("version", int: version) } else { writer.nullMember("version") }
        if let fileFormat { writer.member("fileFormat", int: fileFormat) }
        if let isDamaged { writer.member("damaged", bool: isDamaged) }
        if let digest { writer.member("sha256", text: Base64.encode(digest, .standard)) }
        writer.endObject()
    }
}

extension Backup {
    /// Makes the description of a copy next to the file of a realm.
    ///
    /// - Parameters:
    ///   - copies: The copies next to the file.
    init(_ copy: FileCopies.Copy, in copies: FileCopies) {
        id = copy.name
        switch copy.kind {
        case .migration: kind = .migration
        case .upgrade: kind = .upgrade
        case .request: kind = .request
        case .replaced: kind = .replaced
        }
        time = copy.time
        byteCount = copy.byteCount
        version = copy.version
        fileFormat = copy.fileFormat
        isDamaged = copy.isDamaged
        digest = nil
        place = .nextToFile(copies)
    }

    /// The beginning of the ids of planned backups.
    static let plannedPrefix = "planned-"

    /// Makes the description of a planned backup.
    init(_ stored: StoredBackup) {
        id = Backup.plannedPrefix + stored.name.label
        kind = .planned
        time = WallClock(nanoseconds: stored.name.seconds * 1_000_000_000)
        byteCount = stored.byteCount
        version = stored.name.version
        fileFormat = nil
        isDamaged = nil
        digest = nil
        place = .planned(stored.name)
    }
}

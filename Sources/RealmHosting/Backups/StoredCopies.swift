// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The copies that requests stored outside of the data folder since the server started, so that they can
/// be read, deleted and restored by an id.
///
/// The files belong to the administrators who named them: after the next start the server no longer knows them. There is one
/// register in a server; all threads may use it.
package final class StoredCopies: Sendable {
    /// One copy, with the facts about its file when it was made.
    private struct Entry {
        let realm: String
        /// The backup as clients see it.
        let backup: Backup
        /// The path of the file.
        let path: String
        /// Identity, size and times of the file; a file with others is not this copy.
        let facts: System.FileFacts?
    }

    /// The greatest number of copies that are known; older ones are forgotten.
    static let maximumCount = 1000

    /// The copies, the newest last.
    private let entries = RankedMutex<[Entry]>(.leaf, [])

    /// Adds a copy that was stored just now.
    ///
    /// - Parameters:
    ///   - file: The length of the file in bytes, and its SHA-256.
    /// - Returns: The copy as a backup.
    package func add(_ path: String, of realm: String, version: UInt64, _ file: (byteCount: Int, digest: [UInt8])) -> Backup {
        let backup = Backup(
            id: "copy-" + RandomName.make(), kind: .copy, time: .now(), byteCount: file.byteCount, version: version,
            fileFormat: FileHeader.writtenFormat, isDamaged: false, digest: file.digest, place: .file(path))
        let entry = Entry(realm: realm, backup: backup, path: path, facts: try? System.facts(path: path))
        entries.withLock { entries in
            if entries.count >= StoredCopies.maximumCount { entries.removeFirst() }
            entries.append(entry)
        }
        return backup
    }

    /// Returns the copies of a realm that still exist, the newest first.
    func list(of realm: String) -> [Backup] {
        entries.withLock { $0 }.filter { entry in
            entry.realm == realm && entry.facts != nil && entry.facts == (try? System.facts(path: entry.path))
        }.map(\.backup).reversed()
    }
}

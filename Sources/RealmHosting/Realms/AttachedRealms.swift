// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The realms that were attached over HTTP, as a server keeps them in its data folder to serve them again after the next start.
///
/// They are in `DATA/.realm-rest/realms.json`, with their options and without keys. The file is replaced as a
/// whole; a change is durable when its call returns. All threads but those of the daemon may use it.
final class AttachedRealms: Sendable {
    /// The stored state of one realm.
    struct Entry: Sendable {
        /// The name under which it is served.
        let name: RealmName
        /// The resolved path of its file.
        let path: String
        /// Whether it was attached with a key, which is not kept.
        let hasKey: Bool
        /// The members of the attach request that hold for as long as it is served.
        let options: JSONObject

        /// The entry as it is stored, without the name.
        var json: JSONValue {
            .object(JSONObject([("path", .string(path)), ("hasKey", .bool(hasKey)), ("options", .object(options))]))
        }
    }

    /// The entries, and which of their changes are stored.
    private struct State {
        var entries: [ByteText: Entry] = [:]
        var changes = 0
        /// The number of stored changes.
        var stored = 0
        /// Whether a thread is writing the file.
        var isStoring = false
        /// Whether the file is no list of realms, so that it is not replaced.
        var isUnreadable = false
    }

    /// The path of the file.
    private let path: String
    /// The entries; the lock is not held while the file is written.
    private let monitor = Monitor(State())

    /// The greatest length of the file in bytes.
    private static let byteLimit = 256 << 20

    /// Makes the list of a data folder; `load` reads the stored entries.
    init(dataFolder: String) {
        path = (dataFolder.hasSuffix("/") ? dataFolder : dataFolder + "/") + ".realm-rest/realms.json"
    }

    /// Makes the folder of the file if there is none, so that attaching a realm changes nothing in the data folder.
    func makeFolder() {
        let folder = System.folder(of: path)
        if System.entry(atPath: folder) == nil { _ = System.makeFolder(folder) }
    }

    // MARK: - Reading

    /// Reads the stored entries. An entry that is malformed is left out.
    ///
    /// - Returns: The entries by name; none when there is no file.
    /// - Throws: `.refused` when the file is no such list; it is not overwritten then.
    func load() throws(StorageError) -> [Entry] {
        guard System.entry(atPath: path) != nil else { return [] }
        let bytes = try FileMapping.contents(ofFile: path, limit: AttachedRealms.byteLimit)
        guard let object = (try? JSONParser.parse(bytes, depthLimit: 64))?.object?["realms"]?.object else {
            monitor.withLock { $0.isUnreadable = true }
            throw AttachedRealms.unreadable(path)
        }
        let entries = object.members.compactMap { AttachedRealms.entry($0.name, $0.value) }
        monitor.withLock { $0.entries = Dictionary(texts: entries.map { ($0.name.text, $0) }) { first, _ in first } }
        return entries.sorted { $0.name < $1.name }
    }

    /// The error for a file that is no list of realms.
    private static func unreadable(_ path: String) -> StorageError {
        .refused(.unsuitable("\(path) is not a list of realms; remove it, and attach its realms again"))
    }

    /// Reads one entry; nil when it is malformed.
    private static func entry(_ name: String, _ json: JSONValue) -> Entry? {
        guard let name = RealmName(name), let path = json.object?["path"]?.string, let options = json.object?["options"]?.object
        else { return nil }
        return Entry(name: name, path: path, hasKey: json.object?["hasKey"] == .bool(true), options: options)
    }

    // MARK: - Changing

    /// Adds a realm, or replaces the one of its name. Returns when that is stored.
    func add(_ entry: Entry) throws(StorageError) { try change { $0[entry.name.text] = entry } }

    /// Removes a realm. Returns when that is stored; does nothing when there is none.
    func remove(_ name: String) throws(StorageError) {
        guard monitor.withLock({ $0.entries[name] != nil }) else { return }
        try change { $0[name] = nil }
    }

    /// The next step of a thread with an unstored change.
    private enum Step {
        /// Its change was stored by another thread.
        case done
        /// It writes these entries, with all changes up to a number.
        case store([Entry], upTo: Int)
    }

    /// Makes a change, and returns when it is stored, by this thread or another.
    private func change(_ body: (inout [ByteText: Entry]) -> Void) throws(StorageError) {
        let mine = monitor.withLock { state -> Int? in
            guard !state.isUnreadable else { return nil }
            body(&state.entries)
            state.changes += 1
            return state.changes
        }
        guard let mine else { throw AttachedRealms.unreadable(path) }
        while true {
            let step = monitor.wait { state -> Step? in
                if state.stored >= mine { return .done }
                guard !state.isStoring else { return nil }
                state.isStoring = true
                return .store(state.entries.values.sorted { $0.name < $1.name }, upTo: state.changes)
            }
            guard case .store(let entries, let number)? = step else { return }
            do throws(StorageError) {
                try store(entries)
                monitor.broadcast { ($0.isStoring, $0.stored) = (false, max($0.stored, number)) }
            } catch {
                monitor.broadcast { $0.isStoring = false }
                throw error
            }
        }
    }

    /// Replaces the file.
    private func store(_ entries: [Entry]) throws(StorageError) {
        makeFolder()
        var writer = JSONWriter(reservingCapacity: 4096)
        writer.beginObject()
        writer.key("realms")
        writer.write(.object(JSONObject(entries.map { ($0.name.text, $0.json) })))
        writer.endObject()
        let file = try NewFile(nextTo: path)
        let bytes = Array(writer.buffer.text.utf8)
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try System.write(file.descriptor, view, at: 0) }
        try file.replace(path)
    }
}

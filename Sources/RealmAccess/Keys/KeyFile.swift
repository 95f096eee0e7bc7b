// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The file with the API keys of a data folder: `DATA/.realm-rest/keys.json`.
///
/// It is only ever replaced as a whole, so readers see all of a change or nothing of it. Writers hold a lock file next to it from
/// reading to writing, so programs that change it at the same time do not lose each other's changes. All functions wait for the
/// disk.
package struct KeyFile: Sendable {
    /// The reason why keys cannot be read or changed.
    package enum Failure: Error, CustomStringConvertible {
        /// The system refuses.
        case storage(StorageError)
        /// The file is no list of keys. It is not replaced.
        case broken(String)
        case unknownID(String)
        /// The sender of the change has lost the right to change keys.
        case notPermitted
        /// There are as many keys as there may be.
        case tooMany
        /// No key would administer after the change; of the first key when `isFirst`.
        case noAdministrator(isFirst: Bool)

        /// The failure as a sentence, without a final period.
        package var description: String {
            switch self {
            case .storage(let error): return "\(error)"
            case .broken(let path): return "\(path) is not a list of keys: every key is refused until it is repaired or removed"
            case .unknownID(let id): return "there is no key '\(id)'"
            case .notPermitted: return "the credential is not valid any more"
            case .tooMany: return "there are \(KeyFile.countLimit) keys already"
            case .noAdministrator(isFirst: true):
                return "the first key ends open access, and this one cannot administer the server: give it the role 'admin' "
                    + "without a realm or other networks, for more than five minutes, or confirm"
            case .noAdministrator(isFirst: false):
                return
                    "this is the last key that administers the server: make another one with the role 'admin' first, or confirm"
            }
        }
    }

    package let path: String
    /// Returns whether the keys may be changed, given the present ones; nil for a program that has the folder. Called when no
    /// other program changes them.
    package var mayChange: (@Sendable ([APIKey]?) -> Bool)?
    /// The greatest length of the file in bytes.
    private static let byteLimit = 16 << 20
    /// The greatest number of keys.
    package static let countLimit = 10_000

    /// Makes the file of a data folder; nothing is read.
    ///
    /// - Parameter dataFolder: The path of the folder.
    package init(dataFolder: String) {
        path = (dataFolder.hasSuffix("/") ? dataFolder : dataFolder + "/") + ".realm-rest/keys.json"
    }

    /// Whether there is such a file.
    package var exists: Bool { System.entry(atPath: path) != nil }

    /// The facts of the system about the file, which differ after each change; nil when there is none.
    var facts: System.FileFacts? { try? System.facts(path: path) }

    // MARK: - Reading

    /// Reads all keys; nil when there is no file.
    package func read() throws(Failure) -> [APIKey]? {
        guard exists else { return nil }
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try FileMapping.contents(ofFile: path, limit: KeyFile.byteLimit)
        } catch .refused(.fileNotFound) {
            return nil
        } catch .limit {
            throw .broken(path)
        } catch {
            throw .storage(error)
        }
        guard let elements = (try? JSONParser.parse(bytes, depthLimit: 32))?.object?["keys"]?.array else { throw .broken(path) }
        let keys = elements.compactMap { APIKey($0) }
        guard keys.count == elements.count, Set<ByteText>(texts: keys.map(\.id)).count == keys.count else { throw .broken(path) }
        return keys
    }

    // MARK: - Changing

    /// Changes the keys, and returns when the change is durable.
    ///
    /// - Parameters:
    ///   - check: Refuses a change after which no client could administer the server; nil for none.
    ///   - address: The address of the client that asks for the change; nil when it is unknown.
    ///   - body: Gets all keys, including those that other programs have just added; an error leaves everything unchanged.
    /// - Returns: The result of `body`.
    package func change<Result>(
        _ check: (any KeyCheck)? = nil, from address: String? = nil, _ body: (inout [APIKey]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let lock: WaitingLock
        do throws(StorageError) {
            let folder = System.folder(of: path)
            if System.entry(atPath: folder) == nil { _ = System.makeFolder(folder) }
            lock = try WaitingLock(at: path + ".lock")
        } catch {
            throw .storage(error)
        }
        defer { withExtendedLifetime(lock) {} }
        let before = try read()
        guard mayChange?(before) ?? true else { throw .notPermitted }
        var keys = before ?? []
        let result = try body(&keys)
        guard keys.count <= KeyFile.countLimit else { throw .tooMany }
        if let check, check.isAdministered(before, from: nil), !check.isAdministered(keys, from: before == nil ? address : nil) {
            throw .noAdministrator(isFirst: before == nil)
        }
        guard before == nil || keys != before else { return result }
        do throws(StorageError) { try replace(keys) } catch { throw .storage(error) }
        return result
    }

    private func replace(_ keys: [APIKey]) throws(StorageError) {
        var writer = JSONWriter(reservingCapacity: 4096)
        writer.beginObject()
        writer.member("version", int: 1)
        writer.key("keys")
        writer.beginArray()
        for key in keys {
            writer.write(key.json)
        }
        writer.endArray()
        writer.endObject()
        let file = try NewFile(nextTo: path)
        let bytes = Array(writer.buffer.text.utf8)
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try System.write(file.descriptor, view, at: 0) }
        try file.replace(path)
    }

    /// Adds a key.
    ///
    /// - Parameters:
    ///   - check: Refuses a first key that cannot administer; nil for none.
    ///   - address: The address that the first key has to be good for; nil for any.
    package func add(_ key: APIKey, _ check: (any KeyCheck)? = nil, from address: String? = nil) throws(Failure) {
        try change(check, from: address) { keys throws(Failure) in keys.append(key) }
    }

    /// Removes a key.
    ///
    /// - Parameters:
    ///   - check: Refuses to remove the last key that administers; nil for none.
    /// - Throws: `.unknownID` when there is none of this id.
    package func revoke(_ id: String, _ check: (any KeyCheck)? = nil) throws(Failure) {
        try change(check) { keys throws(Failure) in
            guard let index = keys.firstIndex(where: { $0.id == id }) else { throw .unknownID(id) }
            keys.remove(at: index)
        }
    }

    /// Gives a key a new secret. The old one is no longer valid.
    ///
    /// - Returns: The key with its new secret, and its record.
    /// - Throws: `.unknownID` when there is none of this id.
    package func rotate(_ id: String) throws(Failure) -> (text: APIKeyText, key: APIKey) {
        try change { keys throws(Failure) in
            guard let index = keys.firstIndex(where: { $0.id == id }) else { throw .unknownID(id) }
            let text = APIKeyText(id: id)
            keys[index].digest = text.digest
            return (text, keys[index])
        }
    }
}

/// A check whether keys leave a client that can administer the server.
package protocol KeyCheck: Sendable {
    /// Returns whether the server can be administered.
    ///
    /// - Parameters:
    ///   - keys: The keys; nil for a server that never had one.
    ///   - address: The address of the client that changes the keys; nil when it is unknown.
    func isAdministered(_ keys: [APIKey]?, from address: String?) -> Bool
}

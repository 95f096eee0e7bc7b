// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The credentials that a server has at its start: the file of keys, a key that the environment names, and at the very first
/// start a key that is made.
package enum FirstKey {
    /// The variable of the environment that names a file with a whole key, which then administers.
    package static let variable = "REALM_REST_ADMIN_KEY_FILE"
    /// The name of the keys that are made or stored at the start.
    private static let name = "admin"
    /// The greatest length of the file that the environment names.
    private static let byteLimit = 4096

    /// Returns whether a server with these options has credentials, or makes a key at its start.
    package static func hasCredentials(_ options: ServerOptions) -> Bool {
        if options.environment(variable) != nil || options.verifier != nil || !options.tokenIssuers.isEmpty { return true }
        if options.tls.clientAuthorities != nil, !options.certificateRules.isEmpty { return true }
        guard let folder = options.dataFolder else { return false }
        return KeyFile(dataFolder: folder).exists || isWanted(options)
    }

    /// Returns whether a key is to be made if the server can be reached from elsewhere: its data folder is still empty.
    package static func isWanted(_ options: ServerOptions) -> Bool {
        guard let folder = options.dataFolder, !options.isInsecure, !options.isReadOnly, options.environment(variable) == nil,
            options.verifier == nil, options.tokenIssuers.isEmpty,
            !KeyFile(dataFolder: folder).exists, let names = try? RealmFiles.names(in: folder)
        else { return false }
        return names.allSatisfy { $0 == ".realm-rest" || $0 == "lost+found" }
    }

    /// Opens the keys of a server, after the one that the environment names was stored.
    ///
    /// - Throws: `Defect` for a file of the environment that has no key.
    package static func store(_ options: ServerOptions) throws(Defect) -> KeyStore {
        let file = options.dataFolder.map { KeyFile(dataFolder: $0) }
        guard let path = options.environment(variable) else { return KeyStore(file) }
        let key = APIKey(try read(path), name: name, roles: [Principal.administratorRole])
        if let file {
            do throws(KeyFile.Failure) {
                try file.change { keys throws(KeyFile.Failure) in
                    guard !keys.contains(where: { $0.id == key.id && $0.digest == key.digest }) else { return }
                    keys.removeAll { $0.id == key.id }
                    keys.append(key)
                }
                return KeyStore(file)
            } catch .broken {
                // All keys are refused until it is repaired.
                return KeyStore(file)
            } catch {
                // A folder that is only read; the key is in force all the same.
            }
        }
        return KeyStore(file, extraKeys: [key])
    }

    /// An error in the file that the environment names, as a sentence.
    package struct Defect: Error {
        /// The sentence, without a final period.
        package let description: String
    }

    /// Reads the key of the file that the environment names.
    private static func read(_ path: String) throws(Defect) -> APIKeyText {
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try FileMapping.contents(ofFile: path, limit: byteLimit)
        } catch {
            throw Defect(description: "\(variable): \(SecretText.shown(path)): \(error)")
        }
        let text = bytes.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
        guard case .key(let key) = APIKeyText.read(Array(text)) else {
            throw Defect(
                description: "\(variable): \(SecretText.shown(path)) holds no key of the form rr_ID_SECRET, or a mistyped one")
        }
        return key
    }

    /// Makes the first key and stores it.
    ///
    /// - Parameter store: The keys of the server.
    /// - Returns: The key, which is printed once.
    package static func make(_ store: KeyStore) throws(KeyFile.Failure) -> APIKeyText? {
        guard let file = store.file else { return nil }
        let text = APIKeyText()
        try file.add(APIKey(text, name: name, roles: [Principal.administratorRole]))
        store.refresh()
        return text
    }
}

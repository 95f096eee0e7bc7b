// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmStorage

/// Reads the files of the option `--key`, which contain the encryption keys of realms.
enum RealmKeys {
    /// Reads all files that the option names.
    ///
    /// - Parameter settings: The values of the option, each of the form `NAME=FILE`.
    /// - Returns: The keys by the name of their realm.
    /// - Throws: `ValidationError` for another form, and `ExitCode(1)` after a key that cannot
    ///   be read was reported.
    static func read(_ settings: [String]) throws -> [String: EncryptionKey] {
        var keys: [String: EncryptionKey] = [:]
        for setting in settings {
            guard let equals = setting.firstIndex(of: "="), equals != setting.startIndex else {
                throw ValidationError("--key: '\(setting)' is not of the form NAME=FILE")
            }
            let file = String(setting[setting.index(after: equals)...])
            do throws(StorageError) {
                keys[String(setting[..<equals])] = try EncryptionKey(contentsOfFile: file)
            } catch {
                StandardStreams.error("--key \(setting): \(error)")
                throw ExitCode(1)
            }
        }
        return keys
    }
}

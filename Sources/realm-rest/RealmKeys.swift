// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmStorage

/// Encryption keys by the name of their realm.
enum RealmKeys {
    /// Keys of `NAME=FILE` settings.
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

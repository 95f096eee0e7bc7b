// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
import RealmHTTP
import RealmStorage

/// Names of linking objects, by the name of their realm.
enum BacklinkNameFiles {
    /// What the files of `REALM=FILE` settings say.
    static func read(_ settings: [String]) throws -> [String: BacklinkNames] {
        var names: [String: BacklinkNames] = [:]
        for setting in settings {
            guard let equals = setting.firstIndex(of: "="), equals != setting.startIndex else {
                throw ValidationError("--backlink-names: '\(setting)' is not of the form REALM=FILE")
            }
            let file = String(setting[setting.index(after: equals)...])
            do {
                names[String(setting[..<equals])] = try BacklinkNames(json: try contents(of: file))
            } catch let problem as Problem {
                throw ValidationError("--backlink-names \(setting): \(problem.detail)")
            } catch {
                throw ValidationError("--backlink-names \(setting): \(error)")
            }
        }
        return names
    }

    private static func contents(of path: String) throws(StorageError) -> [UInt8] {
        let descriptor = try System.openForReading(path)
        defer { System.close(descriptor) }
        let byteCount = try System.regularFileSize(descriptor)
        guard byteCount > 0 else { return [] }
        let mapping = try FileMapping(descriptor: descriptor, byteCount: byteCount)
        return mapping.bytes.array
    }
}

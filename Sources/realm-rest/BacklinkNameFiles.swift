// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
import RealmHTTP
import RealmStorage

/// Reads the files of the option `--backlink-names`, which name linking objects for each realm.
///
/// Such names are part of an app's model and not of its file; see `BacklinkNames`.
enum BacklinkNameFiles {
    /// Reads all files that the option names.
    ///
    /// - Parameter settings: The values of the option, each of the form `REALM=FILE`.
    /// - Returns: The names by realm. Whether they fit the schema is checked when the realm is
    ///   opened.
    /// - Throws: `ValidationError` with the setting and the reason, when the form is wrong or a
    ///   file cannot be read or understood.
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

    /// Returns the contents of a regular file.
    ///
    /// - Parameter path: The path as it was given on the command line.
    /// - Throws: `StorageError` when the file cannot be opened, or is no regular file.
    private static func contents(of path: String) throws(StorageError) -> [UInt8] {
        let descriptor = try System.openForReading(path)
        defer { System.close(descriptor) }
        let byteCount = try System.regularFileSize(descriptor)
        guard byteCount > 0 else { return [] }
        let mapping = try FileMapping(descriptor: descriptor, byteCount: byteCount)
        return mapping.bytes.array
    }
}

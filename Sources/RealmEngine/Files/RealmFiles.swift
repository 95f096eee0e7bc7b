// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import SystemPackage

/// Finds `.realm` files.
package enum RealmFiles {
    /// Why a folder cannot be read, as a sentence for the command line.
    package struct Failure: Error, CustomStringConvertible {
        /// The sentence.
        package let description: String
    }

    /// Whether there is a folder at the path, links followed.
    package static func isFolder(_ path: String) -> Bool { System.isFolder(path) }

    /// Whether there is anything at the path, links followed.
    package static func exists(_ path: String) -> Bool { System.entry(atPath: path) != nil }

    /// Paths of the `.realm` files right in `folder`, by name.
    package static func list(in folder: String) throws(Failure) -> [String] {
        let files = try names(in: folder).filter { $0.hasSuffix(".realm") }
        return files.sorted().map { folder.hasSuffix("/") ? folder + $0 : folder + "/" + $0 }
    }

    /// The names of everything right in `folder`.
    package static func names(in folder: String) throws(Failure) -> [String] {
        do throws(StorageError) {
            return try System.names(inFolder: folder)
        } catch {
            let reason = error.errno.map(String.init(describing:)) ?? "\(error)"
            throw Failure(description: "cannot read the folder '\(folder)': \(reason)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import SystemPackage

/// Finds `.realm` files, and checks what exists at a path.
package enum RealmFiles {
    /// The error for a folder that cannot be read.
    package struct Failure: Error, CustomStringConvertible {
        /// The reason, as a sentence for the command line.
        package let description: String
    }

    /// Returns whether a folder exists at the path; symbolic links are followed.
    package static func isFolder(_ path: String) -> Bool { System.isFolder(path) }

    /// Returns whether anything exists at the path; symbolic links are followed.
    package static func exists(_ path: String) -> Bool { System.entry(atPath: path) != nil }

    /// Returns the paths of the `.realm` files directly in a folder, ordered by name.
    ///
    /// - Throws: `Failure` when the folder cannot be read.
    package static func list(in folder: String) throws(Failure) -> [String] {
        let files = try names(in: folder).filter { $0.hasSuffix(".realm") }
        return files.sorted().map { folder.hasSuffix("/") ? folder + $0 : folder + "/" + $0 }
    }

    /// Returns the names of everything directly in a folder, in no particular order.
    ///
    /// - Throws: `Failure` when the folder cannot be read.
    package static func names(in folder: String) throws(Failure) -> [String] { try entries(in: folder).map(\.name) }

    /// Returns the names and kinds of everything directly in a folder, in no particular order.
    ///
    /// - Throws: `Failure` when the folder cannot be read.
    package static func entries(in folder: String) throws(Failure) -> [(name: String, kind: System.EntryKind)] {
        do throws(StorageError) {
            return try System.entries(inFolder: folder)
        } catch {
            let reason = error.errno.map(String.init(describing:)) ?? "\(error)"
            throw Failure(description: "cannot read the folder '\(folder)': \(reason)")
        }
    }
}

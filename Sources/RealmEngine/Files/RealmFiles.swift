// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Finds `.realm` files.
package enum RealmFiles {
    /// Why a folder cannot be read, as a sentence for the command line.
    package struct Failure: Error, CustomStringConvertible {
        /// The sentence.
        package let description: String
    }

    /// Whether there is a folder at the path, links followed.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether there is anything at the path, links followed.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0
    }

    /// Paths of the `.realm` files right in `folder`, by name.
    package static func list(in folder: String) throws(Failure) -> [String] {
        let files = try names(in: folder).filter { $0.hasSuffix(".realm") }
        return files.sorted().map { folder.hasSuffix("/") ? folder + $0 : folder + "/" + $0 }
    }

    /// The names of everything right in `folder`.
    package static func names(in folder: String) throws(Failure) -> [String] {
        guard let handle = unsafe opendir(folder) else {
            throw Failure(description: unsafe "cannot read the folder '\(folder)': \(String(cString: strerror(errno)))")
        }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

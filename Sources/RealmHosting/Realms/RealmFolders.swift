// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The folders that paths in requests may lead into.
///
/// `RealmServer` resolves them once at its start, so that a symbolic link that is changed later
/// does not widen them.
package struct RealmFolders: Sendable {
    /// The data folder of the server; nil when there is none. New files are created in it, and only
    /// its files are deleted on request.
    package var data: AttachRoots?
    /// The folders from which files may be attached, which include the data folder; nil when
    /// requests may name no file at all.
    package var attach: AttachRoots?

    /// Makes the set of folders.
    ///
    /// - Parameters:
    ///   - data: The resolved data folder.
    ///   - attach: The resolved folders for attaching. Without any, every path in a request is
    ///     refused.
    package init(data: AttachRoots? = nil, attach: AttachRoots? = nil) {
        self.data = data
        self.attach = attach
    }
}

/// Paths in the bodies of requests.
extension AttachRoots {
    /// Returns the resolved form of a path in a request.
    ///
    /// - Parameters:
    ///   - path: The path as the request states it.
    ///   - roots: The folders that it may lead into; nil when there are none.
    ///   - pointer: The place of the path in the body, as a JSON pointer.
    /// - Throws: `path_not_allowed` when it leads outside of the folders.
    package static func place(_ path: String, _ roots: AttachRoots?, _ pointer: String) throws(Problem) -> String {
        guard let place = roots?.resolve(path) else {
            let detail =
                "paths in requests lead into the data folder, or into a folder that the server was started with --attach-root for"
            throw Problem(.pathNotAllowed, detail).with("pointer", pointer)
        }
        return place
    }
}

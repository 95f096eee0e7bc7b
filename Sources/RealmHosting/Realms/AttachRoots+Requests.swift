// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

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

// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The folders that paths in requests may lead into.
///
/// `RealmServer` resolves them once at its start, so that a symbolic link that is changed later does not widen them.
package struct RealmFolders: Sendable {
    /// The data folder of the server; nil when there is none. New files are created in it, and only
    /// its files are deleted on request.
    package var data: AttachRoots?
    /// The folders from which files may be attached, which include the data folder; nil when requests may name no file at all.
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

// SPDX-License-Identifier: Apache-2.0

package import RealmEngine

/// The folders whose files requests may name.
package struct RealmFolders: Sendable {
    /// The data folder: files in it are the server's own, and may be deleted.
    package var data: AttachRoots?
    /// Where paths in requests may lead; nil for nowhere.
    package var attach: AttachRoots?

    /// Folders that were resolved when the server began; without them requests reach no files.
    package init(data: AttachRoots? = nil, attach: AttachRoots? = nil) {
        self.data = data
        self.attach = attach
    }
}

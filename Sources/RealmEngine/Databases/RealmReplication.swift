// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Opens files that are caches of a log which others keep.
///
/// A catalog that has one passes it the realms of its data folder, whatever opens them. Any thread may call it.
package protocol RealmReplication: Sendable {
    /// Opens a realm. The file is brought up to the log first, or made of it.
    ///
    /// - Parameters:
    ///   - path: The path of its file, which may be missing.
    ///   - options: How the file is opened; they have no replication.
    /// - Throws: `.refused(.notOwner)` when another node serves the realm, `.refused(.logUnavailable)`, `.refused(.fileNotFound)`
    ///   when neither the log nor the folder has the realm, and errors of opening a file.
    func open(_ name: RealmName, path: String, _ options: Database.OpenOptions) throws(StorageError) -> Database

    /// Releases an open realm, which closes it unless it is referenced elsewhere. Blocks while the realm is in use here.
    func release(_ name: RealmName)

    /// Continues with a realm that stays open after `release`, because it is in use.
    func resume(_ database: Database)

    /// Has the log forget an open realm, whose file is about to be deleted.
    ///
    /// - Throws: `.refused(.notOwner)`, `.refused(.logUnavailable)`.
    func drop(_ name: RealmName) throws(StorageError)
}

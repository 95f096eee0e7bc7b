// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
package import RealmStorage

/// A place for bases and records of realms, outside of the folders that are served.
///
/// All functions wait for a disk or for a network, so they belong on threads that may wait, and are never called under a lock.
package protocol ShipStore: Sendable {
    /// Stores a file. Nobody sees a part of it: it is there when it is complete. One of the same name has the same bytes, and stays.
    ///
    /// - Parameters:
    ///   - control: Ends the transfer when it is cancelled; nil when nothing does.
    ///   - naming: Returns the name of the file from its SHA-256 in hexadecimal digits; nil when it need not be stored.
    ///   - write: Writes it to an empty file.
    /// - Returns: The name; nil when nothing was stored.
    /// - Throws: The error of `write`, or of the store.
    func ship(
        of realm: RealmName, _ control: WorkControl?, naming: (_ digest: String) -> ShipName?,
        _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) -> ShipName?

    /// Returns what was shipped of a realm, with the lengths in bytes, in no particular order.
    ///
    /// - Throws: `StorageError` when the store cannot be read.
    func shipped(of realm: RealmName) throws(StorageError) -> [(name: ShipName, byteCount: Int)]

    /// Copies the bytes of a file to an empty one.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - byteCount: Its length as it was listed.
    ///   - target: The descriptor of the empty file that gets them.
    /// - Throws: `StorageError`: `.refused(.fileNotFound)` when there is no such file.
    func fetch(_ name: ShipName, byteCount: Int, into target: Int32) throws(StorageError)

    /// Deletes a file; a missing one is no error.
    func remove(_ name: ShipName) throws(StorageError)

    /// The path or the URL of a file, for people.
    func place(of name: ShipName) -> String

    /// Returns this store with other folders for its temporary files.
    func shippingFiles(inOneOf folders: [String]) -> any ShipStore
}

// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Keeps the bytes of bases outside the log, which is short without them. All nodes of a cluster have the same.
package protocol BaseFiles: Sendable {
    /// Stores a file, as a whole or not at all. It takes the place of one of the same name.
    ///
    /// - Parameters:
    ///   - name: The name, with a slash after the name of the realm.
    ///   - descriptor: A file with the bytes.
    ///   - digest: The SHA-256 of the bytes.
    func put(_ name: String, from descriptor: Int32, digest: [UInt8]) throws(StorageError)

    /// Copies the bytes of a file to an empty one. They may be damaged; the caller compares the digest.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of the empty file.
    /// - Throws: `.refused(.fileNotFound)` when there is no such file.
    func fetch(_ name: String, byteCount: Int, into descriptor: Int32) throws(StorageError)

    /// Deletes a file; a missing one is no error.
    func remove(_ name: String) throws(StorageError)
}

// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The state of a file by which it is known again later: what the system reports about it, and its first bytes.
///
/// Programs that write through a mapping leave size and times as they are on some file systems, tmpfs among them, but every commit
/// changes the first bytes.
package struct FileState: Equatable, Sendable {
    /// The identity, the size and the times.
    private let facts: System.FileFacts
    /// The header, or in an encrypted file the entry of its page.
    private let head: [UInt8]

    /// Reads the present state of the file at a path.
    ///
    /// - Throws: As `System.openRegular`; `.io` when reading fails.
    package init(path: String) throws(StorageError) {
        let descriptor = try System.openRegular(path)
        defer { System.close(descriptor) }
        facts = try System.facts(descriptor)
        head = try System.read(descriptor, at: 0, byteCount: max(FileHeader.byteCount, EncryptionLayout.entryByteCount))
    }
}

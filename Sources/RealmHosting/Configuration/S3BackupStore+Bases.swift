// SPDX-License-Identifier: Apache-2.0

internal import RealmBackups
internal import RealmFormats
package import RealmPlatform
internal import RealmReplica
internal import RealmStorage

/// The bases of a cluster in a bucket: `prefix/app/k3f9abcd-18-5f0c….base`.
extension S3BackupStore: BaseFiles {
    /// Stores a file, as the protocol says.
    package func put(_ name: String, from descriptor: Int32, digest: [UInt8]) throws(StorageError) {
        try upload(descriptor, as: options.location.key(name), digest: FileDigest.hex(digest), try S3Client(options))
    }

    /// Copies the bytes of a file, as the protocol says.
    package func fetch(_ name: String, byteCount: Int, into descriptor: Int32) throws(StorageError) {
        try get(options.location.key(name), byteCount: byteCount, into: descriptor)
    }

    /// Deletes a file, as the protocol says.
    package func remove(_ name: String) throws(StorageError) { try delete(options.location.key(name)) }
}

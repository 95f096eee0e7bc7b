// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmFormats
package import RealmPlatform
package import RealmStorage

/// Bases and records in a bucket: `prefix/app/20260131T120105Z-k3f9abcd-18-40.records`.
extension S3BackupStore: ShipStore {
    /// Stores a file, as the protocol says.
    package func ship(
        of realm: RealmName, _ control: WorkControl?, naming: (_ digest: String) -> ShipName?,
        _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) -> ShipName? {
        let file = try temporaryFile()
        try write(file.backend())
        let digest = FileDigest.hex(try FileDigest.sha256(file.descriptor))
        guard let name = naming(digest) else { return nil }
        try upload(file.descriptor, as: key(of: name), digest: digest, try S3Client(options, control))
        return name
    }

    /// Returns what was shipped of a realm, as the protocol says.
    package func shipped(of realm: RealmName) throws(StorageError) -> [(name: ShipName, byteCount: Int)] {
        try files(of: realm).compactMap { file, byteCount in
            ShipName(file: file, realm: realm).map { (name: $0, byteCount: byteCount) }
        }
    }

    /// Copies the bytes of a file, as the protocol says, and compares them with the digest that was stored with them.
    package func fetch(_ name: ShipName, byteCount: Int, into target: Int32) throws(StorageError) {
        try get(key(of: name), byteCount: byteCount, into: target)
    }

    /// Deletes a file, as the protocol says.
    package func remove(_ name: ShipName) throws(StorageError) { try delete(key(of: name)) }

    /// The URL of a file.
    package func place(of name: ShipName) -> String { options.location.text(of: key(of: name)) }

    /// Returns this store with other folders for the files that are made before they are sent.
    package func shippingFiles(inOneOf folders: [String]) -> any ShipStore {
        var options = options
        options.temporaryFolders = folders
        return S3BackupStore(options)
    }

    /// Returns the key of a file.
    private func key(of name: ShipName) -> String { folder(of: name.realm) + name.file }
}

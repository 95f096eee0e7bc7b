// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmEngine
package import RealmPlatform
package import RealmStorage
internal import SystemPackage

/// Bases and records in a folder: one folder in it per realm, which is made when it is needed.
extension FolderBackupStore: ShipStore {
    /// Stores a file, as the protocol says.
    package func ship(
        of realm: RealmName, _ control: WorkControl?, naming: (_ digest: String) -> ShipName?,
        _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) -> ShipName? {
        let folder = try makeFolder(of: realm)
        let file = try NewFile(beside: folder + "/new")
        try write(file.backend())
        guard let name = naming(FileDigest.hex(try FileDigest.sha256(file.descriptor))) else { return nil }
        do throws(StorageError) {
            try file.publish(as: folder + "/" + name.file)
        } catch {
            guard error.errno == .fileExists else { throw error }
        }
        return name
    }

    /// Returns what was shipped of a realm, as the protocol says.
    package func shipped(of realm: RealmName) throws(StorageError) -> [(name: ShipName, byteCount: Int)] {
        let folder = path(of: realm)
        guard System.isFolder(folder) else { return [] }
        var found: [(name: ShipName, byteCount: Int)] = []
        for file in try System.names(inFolder: folder) {
            guard let name = ShipName(file: file, realm: realm),
                let entry = System.entry(atPath: folder + "/" + file, followsLink: false), entry.isRegular
            else { continue }
            found.append((name, entry.byteCount))
        }
        return found
    }

    /// Copies the bytes of a file, as the protocol says.
    package func fetch(_ name: ShipName, byteCount: Int, into target: Int32) throws(StorageError) {
        guard RealmFiles.exists(place(of: name)) else { throw .refused(.fileNotFound) }
        try FileCopy.copyQuietMoment(of: place(of: name), to: target)
    }

    /// Deletes a file, as the protocol says.
    package func remove(_ name: ShipName) throws(StorageError) {
        guard RealmFiles.exists(place(of: name)) else { return }
        try System.delete(place(of: name))
    }

    /// The path of a file.
    package func place(of name: ShipName) -> String { path(of: name.realm) + "/" + name.file }

    /// Returns this store, which has no temporary files elsewhere.
    package func shippingFiles(inOneOf folders: [String]) -> any ShipStore { self }
}

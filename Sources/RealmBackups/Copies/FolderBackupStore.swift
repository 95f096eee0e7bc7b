// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmEngine
package import RealmPlatform
package import RealmStorage

/// Files of realms in a folder: one folder in it per realm, which is made when it is needed.
package struct FolderBackupStore: BackupStore {
    /// The path of the folder.
    private let folder: String

    /// Makes a store; nothing is read or made yet.
    ///
    /// - Parameter folder: The path of the folder.
    package init(_ folder: String) { self.folder = folder.hasSuffix("/") ? folder : folder + "/" }

    package func place(of name: any StoredName) -> String { path(of: name.realm) + "/" + name.file }

    package func path(of realm: RealmName) -> String { folder + realm.text }

    /// Makes the folder of a realm if there is none, removes leftovers of ended processes, and returns its path.
    package func makeFolder(of realm: RealmName) throws(StorageError) -> String {
        let place = path(of: realm)
        for path in [folder, place] where !System.isFolder(path) {
            guard System.makeFolder(path) || System.isFolder(path) else { throw .io(operation: "mkdir", errno: errno) }
        }
        if let names = try? RealmFiles.names(in: place) { NewFile.removeLeftovers(inFolder: place, names: names) }
        return place
    }

    /// Stores a file, as the protocol says. A leftover of a process that ended is removed before.
    package func put(
        of realm: RealmName, _ control: WorkControl?, _ write: (FileBackend) throws(StorageError) -> Void,
        naming: (_ digest: () throws(StorageError) -> [UInt8]) throws(StorageError) -> (any StoredName)?
    ) throws(StorageError) {
        let file = try NewFile(nextTo: try makeFolder(of: realm) + "/new")
        try write(file.backend())
        let name = try naming { () throws(StorageError) in try FileDigest.sha256(file.descriptor) }
        if let name { try file.publish(as: place(of: name)) }
    }

    /// Returns files of a realm, as the protocol says.
    package func files<Name: StoredName>(of realm: RealmName) throws(StorageError) -> [(name: Name, byteCount: Int)] {
        let folder = path(of: realm)
        guard System.isFolder(folder) else { return [] }
        var found: [(name: Name, byteCount: Int)] = []
        for file in try System.names(inFolder: folder) {
            guard let name = Name(file: file, realm: realm),
                let entry = System.entry(atPath: folder + "/" + file, followsLink: false), entry.isRegular
            else { continue }
            found.append((name, entry.byteCount))
        }
        return found
    }

    /// Copies the bytes of a file, as the protocol says.
    package func get(
        _ name: any StoredName, byteCount: Int, into target: Int32, _ control: WorkControl?
    ) throws(StorageError) {
        guard RealmFiles.exists(place(of: name)) else { throw .refused(.fileNotFound) }
        try FileCopy.copyConsistently(of: place(of: name), to: target, control)
    }

    /// Returns the SHA-256 of a file, for which all of it is read.
    package func digest(of name: any StoredName) throws(StorageError) -> [UInt8]? {
        guard RealmFiles.exists(place(of: name)) else { throw .refused(.fileNotFound) }
        let descriptor = try System.openForReading(place(of: name))
        defer { System.close(descriptor) }
        return try FileDigest.sha256(descriptor)
    }

    /// Deletes a file, as the protocol says.
    package func delete(_ name: any StoredName) throws(StorageError) {
        guard RealmFiles.exists(place(of: name)) else { return }
        try System.delete(place(of: name))
    }
}

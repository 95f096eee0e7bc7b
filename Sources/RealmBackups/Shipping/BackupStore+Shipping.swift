// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
package import RealmStorage
internal import SystemPackage

/// Bases and records in a store.
extension BackupStore {
    /// Stores a base or records. A file of the same name has the same bytes, and stays.
    ///
    /// - Parameters:
    ///   - control: Ends the transfer when it is cancelled; nil when nothing does.
    ///   - naming: Returns the name of the file from its SHA-256 in hexadecimal digits; nil when it need not be stored.
    ///   - write: Writes it to an empty file.
    /// - Returns: The name; nil when nothing was stored.
    /// - Throws: The error of `write`, or of the store.
    package func ship(
        of realm: RealmName, _ control: WorkControl?, naming: (_ digest: String) -> ShipName?,
        _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) -> ShipName? {
        var name: ShipName?
        do throws(StorageError) {
            try put(of: realm, control, write) { digest throws(StorageError) in
                name = naming(FileDigest.hex(try digest()))
                return name
            }
        } catch {
            guard name != nil, error.errno == .fileExists else { throw error }
        }
        return name
    }

    /// Returns the shipped files of a realm, with the lengths in bytes, in no particular order.
    ///
    /// - Throws: `StorageError` when the store cannot be read.
    package func shipped(of realm: RealmName) throws(StorageError) -> [(name: ShipName, byteCount: Int)] {
        try files(of: realm)
    }
}

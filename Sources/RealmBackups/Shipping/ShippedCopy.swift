// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// A file that is made from the shipped files of a realm, or updated from them.
package struct ShippedCopy {
    /// The path of the file, without symbolic links.
    private let path: String
    private let shipped: ShippedRealm

    package struct Outcome: Sendable, Equatable {
        /// The number of the version that the file has.
        package let version: UInt64
        /// The path of the file that was there before; nil when there was none, or it was one that was made here too.
        package let kept: String?
    }

    /// Makes a value; nothing is read yet.
    ///
    /// - Parameters:
    ///   - path: The path of the file, without symbolic links. It need not exist.
    package init(_ path: String, of shipped: ShippedRealm) {
        self.path = path
        self.shipped = shipped
    }

    /// Brings the file to a version, in its place if it can be followed, else as a new file that takes its name.
    ///
    /// - Parameter target: The version.
    /// - Returns: The result.
    /// - Throws: `.refused(.fileInUse)` when another program has the file open; `StorageError` as `ShippedRealm` does.
    package func bring(to target: ShippedRealm.Target) throws(StorageError) -> Outcome {
        // A file that was made here before can be made again.
        let isMadeHere = ShipPosition(of: path)?.isComplete == true
        if let version = try follow(target) { return Outcome(version: version, kept: nil) }
        let copies = FileCopies(ofFile: path, key: nil)
        let replacement = try FileReplacement(of: path, copies)
        let chain = try shipped.restore(target, to: replacement.file)
        _ = try Database.requireReplacement(replacement.file.openPath, Database.OpenOptions(mode: .readOnly))
        copies.removeSecondName()
        let old = (try? RealmFile(path: path)).flatMap { try? Snapshot(file: $0) }
        let kept = try replacement.swap(keeping: old?.version)
        try ShipPosition(chain, completeAt: path).store(for: path)
        if isMadeHere, let kept {
            copies.remove(kept)
            return Outcome(version: chain.version, kept: nil)
        }
        return Outcome(version: chain.version, kept: kept.map { copies.path(of: $0) })
    }

    /// Brings a file up to date that was made here before; nil when it has to be made again.
    private func follow(_ target: ShippedRealm.Target) throws(StorageError) -> UInt64? {
        guard target == .newest, let position = ShipPosition(of: path) else { return nil }
        let lock = try OwnershipLock(ofFile: path)
        defer { lock.release() }
        guard let backend = try FileBackend(path: path) else { return nil }
        // From here on the copy may be ahead of its position, and has other times.
        try ShipPosition(position.chain, completeAt: nil).store(for: path)
        guard let chain = try shipped.follow(target, backend, after: position.chain) else { return nil }
        backend.close()
        try ShipPosition(chain, completeAt: path).store(for: path)
        return chain.version
    }
}

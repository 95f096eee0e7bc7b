// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
package import RealmStorage

/// The shipped files of a realm, from which any version can be restored.
package struct ShippedRealm: Sendable {
    /// Which version is wanted.
    package enum Target: Sendable, Equatable {
        case newest
        case version(UInt64)
        /// The newest one that was made at a time or before, in nanoseconds since 1970-01-01 UTC.
        case until(Int64)
    }

    package let realm: RealmName
    private let store: any BackupStore
    /// The chains in the store, the newest first.
    package let chains: [ShippedChain]

    /// Lists the files of a realm in a store.
    ///
    /// - Throws: `StorageError` when the store cannot be read.
    package init(_ realm: RealmName, in store: any BackupStore) throws(StorageError) {
        self.realm = realm
        self.store = store
        chains = ShippedChain.chains(in: try store.shipped(of: realm))
    }

    /// Makes the file of a version.
    ///
    /// - Parameters:
    ///   - target: The version.
    ///   - file: An empty file without readers.
    /// - Returns: The place in the chain at which the file is then.
    /// - Throws: `.refused(.unsuitable)` when the store does not lead to that version; `.corrupt` for damage.
    package func restore(_ target: Target, to file: NewFile) throws(StorageError) -> RecordChain {
        let chain = try chain(to: target)
        try fetchBase(of: chain, into: file.descriptor)
        let start = try RecordChain(realm: realm.text, epoch: chain.base.chain, base: chain.base.version)
        let applier = try RecordApplier(file.backend(), after: start, isUnshared: true)
        try apply(chain, to: applier, target)
        return applier.chain
    }

    /// Brings a copy that was made before up to a version, in its place.
    ///
    /// - Parameters:
    ///   - target: The version.
    ///   - backend: The copy, which no other code uses.
    ///   - place: The place in its chain at which the copy was, or that it has passed since.
    /// - Returns: The place at which it is then; nil when the copy has to be made again, because there is a newer chain, it is
    ///   beyond the wanted version, or there are records that cannot be applied to a file in use.
    /// - Throws: `.corrupt` for damage.
    package func follow(
        _ target: Target, _ backend: any StorageBackend, after place: RecordChain
    ) throws(StorageError) -> RecordChain? {
        let wanted = try chain(to: target)
        guard wanted.base.chain == place.epoch, place.realm == realm.text else { return nil }
        guard case .newest = target else { return nil }
        let applier = try RecordApplier(backend, after: place)
        guard applier.version <= wanted.last else { return nil }
        do throws(StorageError) {
            try apply(wanted, to: applier, target)
        } catch {
            if case .corrupt = error { return nil }
            throw error
        }
        return applier.chain
    }

    // MARK: - Finding

    /// Returns the chain that leads to a version.
    private func chain(to target: Target) throws(StorageError) -> ShippedChain {
        let found: ShippedChain?
        switch target {
        case .newest: found = chains.first
        case .version(let version): found = chains.first { $0.base.version <= version && version <= $0.last }
        case .until(let time): found = chains.first { $0.base.seconds <= time / 1_000_000_000 }
        }
        guard let found else { throw .refused(.unsuitable(refusal(target))) }
        return found
    }

    /// Returns why there is no chain to a version.
    private func refusal(_ target: Target) -> String {
        guard !chains.isEmpty else { return "nothing was shipped of '\(realm)'" }
        let ranges = chains.prefix(5).map { "\($0.base.version) to \($0.last)" }.joined(separator: ", ")
        switch target {
        case .version(let version): return "version \(version) of '\(realm)' was not shipped; there are \(ranges)"
        default:
            let first = chains.map(\.base.seconds).min() ?? 0
            return "the first version of '\(realm)' was shipped at \(Timestamp(seconds: first, nanoseconds: 0).rfc3339 ?? "")"
        }
    }

    // MARK: - Reading

    /// Copies the base of a chain to an empty file, and compares it with its digest.
    private func fetchBase(of chain: ShippedChain, into target: Int32) throws(StorageError) {
        try store.get(chain.base, byteCount: chain.baseByteCount, into: target, nil)
        guard FileDigest.hex(try FileDigest.sha256(target)) == chain.base.digest else {
            throw .corrupt(ref: .none, reason: "\(store.place(of: chain.base)) does not have the SHA-256 that its name states")
        }
    }

    /// Applies the records of a chain up to a version.
    ///
    /// - Throws: `.refused(.unsuitable)` when records are missing before the wanted version.
    private func apply(_ chain: ShippedChain, to applier: RecordApplier, _ target: Target) throws(StorageError) {
        for file in chain.records where file.name.version > applier.chain.version {
            if case .version(let version) = target, applier.chain.version >= version { break }
            guard try apply(try bytes(of: file), of: file.name, to: applier, target) else { break }
        }
        let wanted: UInt64
        switch target {
        case .newest, .until: wanted = applier.chain.version
        case .version(let version): wanted = version
        }
        guard applier.chain.version == wanted else {
            throw .refused(
                .unsuitable("no commit of '\(realm)' made version \(wanted); \(applier.chain.version) comes before it"))
        }
    }

    /// Applies the records of one file.
    ///
    /// - Returns: Whether later ones may be wanted too.
    private func apply(
        _ bytes: [UInt8], of name: ShipName, to applier: RecordApplier, _ target: Target
    ) throws(StorageError) -> Bool {
        var position = 0
        while position < bytes.count {
            // Records that an earlier file had, too.
            if let next = RecordChain.peek(bytes, at: position), next.version <= applier.chain.version {
                position = next.end
                continue
            }
            var place = applier.chain
            var end = position
            let record: CommitRecord
            do throws(StorageError) {
                record = try place.open(bytes, at: &end)
            } catch {
                throw .corrupt(ref: .none, reason: "\(store.place(of: name)), after version \(applier.chain.version): \(error)")
            }
            switch target {
            case .version(let version) where record.version > version: return false
            case .until(let time) where record.time > time: return false
            default: try applier.apply(bytes, at: &position)
            }
        }
        return true
    }

    /// Reads a file of records.
    private func bytes(of file: (name: ShipName, byteCount: Int)) throws(StorageError) -> [UInt8] {
        let target = try NewFile.withoutName(inFolder: System.temporaryFolder)
        defer { System.close(target) }
        try store.get(file.name, byteCount: file.byteCount, into: target, nil)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(file.byteCount)
        let count = try System.regularFileSize(target)
        while bytes.count < count {
            let piece = try System.read(target, at: bytes.count, byteCount: min(count - bytes.count, 1 << 20))
            guard !piece.isEmpty else { break }
            bytes += piece
        }
        return bytes
    }
}

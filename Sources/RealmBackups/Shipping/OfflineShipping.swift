// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
package import RealmStorage

/// Ships the new commits of a file that no program has open.
package struct OfflineShipping {
    private let store: any BackupStore
    private let realm: RealmName

    /// The result of shipping.
    package enum Outcome: Sendable, Equatable {
        /// The store has the version already.
        case unchanged
        /// A file was stored.
        case shipped(ShipName)
    }

    /// Makes a value; nothing is read yet.
    package init(_ realm: RealmName, to store: any BackupStore) {
        self.realm = realm
        self.store = store
    }

    /// Ships the newest version of a file: as one record if that is much shorter than the file, else as a base.
    ///
    /// - Parameter snapshot: The version.
    /// - Returns: The result.
    /// - Throws: `.refused(.unsuitable)` for an encrypted file; `StorageError` when the store or a file refuses.
    package func ship(_ snapshot: Snapshot) throws(StorageError) -> Outcome {
        try BaseCopy.requireShippable(snapshot.file)
        let time = WallClock.now().nanoseconds
        let shipped = try ShippedRealm(realm, in: store)
        if let outcome = try extend(shipped, to: snapshot, time) { return outcome }
        let epoch = Epoch().text
        let name = try store.ship(of: realm, nil) { digest in
            ShipName(
                realm: realm, seconds: time / 1_000_000_000 + 1, chain: epoch, version: snapshot.version, .base(digest: digest))
        } _: { backend throws(StorageError) in
            try BaseCopy.write(snapshot, to: backend)
        }
        return name.map { .shipped($0) } ?? .unchanged
    }

    /// Ships a version as a record after the newest chain; nil when it needs a base.
    private func extend(
        _ shipped: ShippedRealm, to snapshot: Snapshot, _ time: Int64
    ) throws(StorageError) -> Outcome? {
        guard let newest = shipped.chains.first, newest.last <= snapshot.version else { return nil }
        let file = try NewFile(nextTo: System.temporaryFolder + "/realm-rest")
        var chain: RecordChain
        do throws(StorageError) {
            chain = try shipped.restore(.newest, to: file)
        } catch {
            // An unreadable one is left, and a base begins anew.
            if case .corrupt = error { return nil }
            throw error
        }
        let earlier = try Snapshot(file: try RealmFile(path: file.openPath))
        if try RecordDifference.isEqual(snapshot, earlier) { return .unchanged }
        let limit = max(1 << 16, Int(clamping: snapshot.top.logicalSize) / 2)
        guard let record = try RecordDifference.record(to: snapshot, from: earlier, time: time, limit: limit) else {
            return nil
        }
        let bytes = try chain.seal(record)
        let name = ShipName(
            realm: realm, seconds: time / 1_000_000_000, chain: chain.epoch, version: record.version,
            .records(first: record.version))
        let made = try store.ship(of: realm, nil) { _ in
            name
        } _: { backend throws(StorageError) in
            try backend.extend(to: bytes.count)
            try ByteView.withBytes(of: bytes) { view throws(StorageError) in try backend.write(view, at: 0) }
        }
        return .shipped(made ?? name)
    }

    /// Removes files beyond the retention, once the newest base was read back.
    ///
    /// - Parameter retention: Which bases are kept, with the records that follow them.
    package func prune(_ retention: BackupRetention) throws(StorageError) {
        try OfflineShipping.prune(realm, store, retention)
    }

    /// Removes files of a realm beyond the retention, once the newest base was read back and found sound.
    ///
    /// - Parameters:
    ///   - retention: Which bases are kept, with the records that follow them.
    /// - Throws: `.corrupt` for a damaged base; nothing was removed then.
    package static func prune(
        _ realm: RealmName, _ store: any BackupStore, _ retention: BackupRetention
    ) throws(StorageError) {
        let shipped = try store.shipped(of: realm)
        let surplus = ShippedChain.surplus(of: shipped, retention)
        guard !surplus.isEmpty, let newest = ShippedChain.chains(in: shipped).first else { return }
        let target = try NewFile.withoutName(inFolder: System.temporaryFolder)
        defer { System.close(target) }
        try store.get(newest.base, byteCount: newest.baseByteCount, into: target, nil)
        guard FileDigest.hex(try FileDigest.sha256(target)) == newest.base.digest else {
            throw .corrupt(ref: .none, reason: "\(store.place(of: newest.base)) does not have the SHA-256 that its name states")
        }
        for name in surplus { try store.delete(name) }
    }
}

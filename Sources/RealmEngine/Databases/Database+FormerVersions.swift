// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The versions before the newest one that the file still has.
extension Database {
    /// The most versions that are looked for in a file that is only read.
    private static let searchLimit = 10_000

    /// The rule by which commits keep versions.
    package var retention: Retention { store?.options.retention ?? .none }

    /// The bytes of the file that are kept for former versions beyond the next commit.
    package var formerByteCount: Int { retention.keepsAny ? store?.formerVersions.byteCount ?? 0 : 0 }

    /// The number of former versions that were dropped early, because the bytes for all of them were too many.
    package var droppedVersionCount: UInt64 { store?.formerVersions.droppedCount ?? 0 }

    /// The time of the commit of the newest version; nil when that was made before the file was opened.
    package var newestTime: WallClock? { store?.formerVersions.newestTime }

    /// The time of day at which the file was opened.
    package var openedTime: WallClock { store?.formerVersions.openedTime ?? .now() }

    /// The former versions without a gap before the newest one, in ascending order.
    ///
    /// A followed file has none, as its versions are copies. Neither has one that was converted to be read.
    package var formerVersions: [FormerVersion] {
        guard mode != .follow, store != nil || conversion == nil else { return [] }
        if let store { return store.formerVersions.all }
        return (try? FormerVersion.all(before: current.snapshot, limit: Database.searchLimit)) ?? []
    }

    /// Returns a former version, which is kept as long as the result; nil when the file has it no more.
    ///
    /// - Throws: `StorageError` when it cannot be read.
    package func formerVersion(_ number: UInt64) throws(StorageError) -> Version? {
        guard let snapshot = try formerSnapshot(number) else { return nil }
        return Version(shownClasses?.part(of: snapshot) ?? snapshot, VersionToken(epoch: epoch, version: number))
    }

    private func formerSnapshot(_ number: UInt64) throws(StorageError) -> Snapshot? {
        if let store, mode != .follow { return try store.formerSnapshot(number) }
        guard let former = formerVersions.first(where: { $0.version == number }) else { return nil }
        return try current.snapshot.reading(former)
    }
}

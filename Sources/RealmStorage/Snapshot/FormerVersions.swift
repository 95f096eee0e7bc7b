// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The versions before the newest one that a file which is written still has.
///
/// Commits add the version before them and drop the oldest as the rule says. A dropped version is not in the list any more when
/// the commit looks which versions are pinned. So a reader pins a version first, and then looks whether it is listed.
package final class FormerVersions: Sendable {
    fileprivate struct State {
        /// The file in the state of the newest version.
        var file: RealmFile
        /// The versions without a gap, in ascending order.
        var versions: [FormerVersion]
        /// The time of the commit of the newest version; nil when that was made before the file was opened.
        var newestTime: WallClock?
        /// The bytes that are kept for the versions.
        var byteCount: Int
        /// The number of versions that were dropped before their number was reached, because their bytes were too many.
        var droppedCount: UInt64 = 0
    }

    /// The rule by which versions are kept.
    package let retention: Retention
    /// The time of day at which the file was opened.
    package let openedTime = WallClock.now()
    private let clusterShift: Int
    private let state: RankedMutex<State>

    /// Begins with the versions that a file has when it is opened.
    ///
    /// - Parameter snapshot: Its newest version.
    /// - Throws: `.corrupt` when its free lists cannot be read.
    init(before snapshot: Snapshot, _ retention: Retention) throws(StorageError) {
        self.retention = retention
        clusterShift = snapshot.clusterShift
        let all = try FormerVersion.all(before: snapshot, limit: max(retention.versionCount, 1))
        let found = try FormerVersions.kept(among: all, before: snapshot, retention)
        let byteCount = found.reduce(0) { $0 + $1.byteCount }
        state = RankedMutex(.leaf, State(file: snapshot.file, versions: found, newestTime: nil, byteCount: byteCount))
    }

    /// Returns the versions that the last commit has kept. Those before them may be overwritten by a commit that was cut short.
    private static func kept(
        among all: [FormerVersion], before snapshot: Snapshot, _ retention: Retention
    ) throws(StorageError) -> [FormerVersion] {
        guard retention.keepsAny, let last = all.last else { return all }
        let size = try TopNode.read(last.top, snapshot.space).logicalSize
        var rest = retention.byteLimit(logicalSize: Int(clamping: size))
        let count = all.reversed().prefix { one in
            rest -= one.byteCount
            return rest >= 0
        }.count
        return Array(all.suffix(max(count, 1)))
    }

    /// The versions that may be read, without a gap and in ascending order.
    package var all: [FormerVersion] {
        let now = Instant.now()
        return state.withLock { state in state.versions.filter { isReadable($0, now) } }
    }

    /// Whether the time of a version is not over. Its space is kept until the number or the bytes of the versions are too many,
    /// because the file does not state times, by which a later opening could know that it was used again.
    private func isReadable(_ one: FormerVersion, _ now: Instant) -> Bool {
        retention.seconds.map { now.seconds(since: one.since) <= $0 } ?? true
    }

    /// The time of the commit of the newest version; nil when that was made before the file was opened.
    package var newestTime: WallClock? { state.withLock { $0.newestTime } }
    /// The oldest version whose space is kept; nil when there is none.
    package var oldest: UInt64? { state.withLock { $0.versions.first?.version } }
    /// The bytes of the file that are kept for the versions.
    package var byteCount: Int { state.withLock { $0.byteCount } }
    /// The number of versions that were dropped early, because the bytes for all of them were too many.
    package var droppedCount: UInt64 { state.withLock { $0.droppedCount } }

    /// Returns a version, which is kept as long as the result; nil when it is not there.
    ///
    /// - Throws: `.corrupt` when it cannot be read.
    func snapshot(_ version: UInt64, _ pins: VersionPins) throws(StorageError) -> Snapshot? {
        let pin = pins.pin(version)
        let (former, file) = state.withLock { state in (state[version], state.file) }
        guard let former, isReadable(former, .now()) else { return nil }
        return try Snapshot(former, of: file, clusterShift: clusterShift, pin: pin)
    }

    // MARK: - Commits

    /// Drops the versions that the next commit does not keep.
    ///
    /// - Parameters:
    ///   - freed: The bytes that the commit releases.
    ///   - logicalSize: The logical size of the file.
    /// - Returns: The oldest version that is kept; nil for none.
    func trim(adding freed: Int, logicalSize: Int) -> UInt64? {
        let limit = retention.byteLimit(logicalSize: logicalSize) - freed
        return state.withLock { state in
            let tooMany = state.versions.count - max(retention.versionCount - 1, 0)
            var count = max(tooMany, 0)
            var bytes = state.byteCount - state.versions[..<count].reduce(0) { $0 + $1.byteCount }
            while count < state.versions.count, bytes > limit {
                bytes -= state.versions[count].byteCount
                count += 1
                state.droppedCount += 1
            }
            state.drop(count)
            return state.versions.first?.version
        }
    }

    func drop(upTo version: UInt64) {
        state.withLock { state in state.drop(state.versions.count { $0.version <= version }) }
    }

    /// Adds the version before a commit.
    ///
    /// - Parameters:
    ///   - top: The version that was the newest one until now.
    ///   - byteCount: The bytes that the commit has released.
    ///   - file: The file in the state of the newest version.
    func add(_ top: TopNode, byteCount: Int, _ file: RealmFile) {
        // Requests name times in milliseconds.
        let now = WallClock(nanoseconds: WallClock.now().nanoseconds / 1_000_000 * 1_000_000)
        state.withLock { state in
            state.file = file
            if let last = state.versions.last, last.version + 1 != top.version { state.drop(state.versions.count) }
            if !top.ref.isNone, top.version > 0 {
                state.versions.append(
                    FormerVersion(
                        version: top.version, top: top.ref, time: state.newestTime, byteCount: byteCount, since: .now()))
                state.byteCount += byteCount
            }
            state.newestTime = now
        }
    }
}

extension FormerVersions.State {
    fileprivate subscript(version: UInt64) -> FormerVersion? {
        guard let first = versions.first?.version, version >= first, version - first < UInt64(versions.count) else { return nil }
        return versions[Int(version - first)]
    }

    /// Drops the oldest versions.
    fileprivate mutating func drop(_ count: Int) {
        byteCount -= versions[..<count].reduce(0) { $0 + $1.byteCount }
        versions.removeFirst(count)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmLegacy
package import RealmPlatform
internal import RealmStorage

/// A live view of a file that another program writes.
extension Database: Follower.Realm {
    /// Facts about following, for metrics and documents.
    package struct Following: Sendable {
        /// The number of versions that were taken over since the realm was opened.
        package let versions: Int
        package let copiedBytes: Int
        /// The number of looks at the file that have failed.
        package let failures: Int
        /// The age of the oldest known change that is not taken over yet; zero without one.
        package let behind: Duration
    }

    /// The progress of the follower; nil for a realm that is not followed.
    package var following: Following? {
        guard let progress = follower.withLock({ $0 })?.progress else { return nil }
        return Following(
            versions: progress.versions, copiedBytes: progress.copiedBytes, failures: progress.failures,
            behind: progress.behindSince.map { Instant.now().duration(since: $0) } ?? .zero)
    }

    /// Why the realm cannot be read at present, although it stays open: its file is away, or is no realm.
    package var absence: StorageError? { absent.withLock { $0 } }

    /// Sets or removes the reason for which the realm cannot be read at present.
    func setAbsence(_ error: StorageError?) { absent.withLock { $0 = error } }

    /// Opens a private copy of the newest version of a file, and begins to follow the file.
    static func openFollowing(_ name: RealmName, _ path: String, _ options: OpenOptions) throws(StorageError) -> Database {
        let place = options.isExactPath ? path : try System.resolved(path)
        // Errors of the file itself are found before a copy is made.
        if try LegacyFile.open(path: place, key: options.key, isExact: true, countsRows: false) == nil {
            _ = try Snapshot(file: try RealmFile(path: place, key: options.key, isExact: true))
        }
        var file = FollowedFile(path: place, key: options.key, isExact: true)
        let copy = try file.takeCopy(options.control)
        let database = Database(
            name: name, path: path, mode: .follow, snapshot: copy.snapshot, store: nil, limits: options.limits,
            backlinkNames: options.backlinkNames,
            shownClasses: options.shownClasses, observation: options.observation, logger: options.logger,
            conversion: copy.conversion)
        let follower = Follower(
            file, path: place, interval: options.followInterval ?? Follower.usualInterval, for: database)
        try follower.start(name: name.text)
        database.follower.withLock { $0 = follower }
        return database
    }

    /// Makes a state of the followed file the newest version, and publishes how it differs from the one before.
    ///
    /// A version that is earlier than the last one means that the file was put back. Then a new epoch begins; the
    /// number of the follower's own version counts on, so that streams notice in which order the two are.
    ///
    /// - Throws: `StorageError` when the versions cannot be compared; nothing has changed then.
    func follow(_ copy: FollowedFile.Copy) throws(StorageError) {
        let snapshot = shown(copy.snapshot)
        let previous = current
        let before = previous.snapshot
        // The versions of a converted file are those of the conversion.
        let isComparable = copy.isSameFile && copy.conversion == nil
        if isComparable, snapshot.version == before.version, snapshot.holdsTop(of: before) { return }
        let isNext = isComparable && snapshot.version == before.version + 1 && snapshot.holdsTop(of: before)
        let find = { () throws(StorageError) -> [ObjectChange] in
            try VersionDifference.changes(from: before, to: snapshot, sharesNodes: isNext)
        }
        // A copy that cannot be compared is not used, as long as a caller wants the difference.
        let known = commits.isObserved ? try find() : nil
        let epoch = copy.conversion == nil && snapshot.version < before.version ? Epoch() : self.epoch
        let version = Version(snapshot, VersionToken(epoch: epoch, version: previous.token.version + 1))
        epochInForce.withLock { $0 = epoch }
        newest.withLock { $0 = version }
        commits.publish(Database.commit(previous, version, known ?? (try? find())))
    }

    /// Makes the commit between two states; nil when the changes are unknown.
    private static func commit(_ previous: Version, _ version: Version, _ changes: [ObjectChange]?) -> Commit {
        var commit = Commit(previous: previous, version: version, changes: changes ?? [], mark: nil)
        commit.hasUnknownChanges = changes == nil
        return commit
    }
}

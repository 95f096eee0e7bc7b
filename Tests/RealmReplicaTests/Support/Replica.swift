// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Synchronization

@testable import RealmEngine
@testable import RealmReplica

/// A clock that a test moves.
final class TestClock: Sendable {
    private let time = Mutex(Instant.now())
    var now: Instant { time.withLock { $0 } }
    func advance(_ seconds: Double) { time.withLock { $0 = $0.adding(seconds: seconds) } }
}

/// What the observers of commits are told.
final class CommitTale: Sendable {
    struct Entry: Sendable, Equatable {
        let token: String
        let changes: [ObjectChange]
        let isUnknown: Bool
    }

    private let entries = Mutex<[Entry]>([])

    init(_ database: Database) {
        _ = database.commits.add { [weak self] commit in
            let entry = Entry(
                token: commit.version.tokenText, changes: commit.changes, isUnknown: commit.hasUnknownChanges)
            self?.entries.withLock { $0.append(entry) }
        }
    }

    var all: [Entry] { entries.withLock { $0 } }
}

/// A realm that another node owns, followed step by step.
final class Replica {
    let follower: LogFollower
    let clock: TestClock
    let path: String
    let name: RealmName
    private let folder: TemporaryRealm
    private(set) var followed: FollowedLogRealm
    /// The versions up to which readers were told to end.
    let evictions = Recorded<UInt64>()
    /// The reasons for which following has ended.
    let ends = Recorded<ReplicaHooks.End>()
    private let hooks: ReplicaHooks
    private let key: EncryptionKey?

    final class Recorded<Value: Sendable>: Sendable {
        private let values = Mutex<[Value]>([])
        func add(_ value: Value) { values.withLock { $0.append(value) } }
        var all: [Value] { values.withLock { $0 } }
    }

    /// How followers are tested: without a thread.
    static func follower(_ log: any RealmLog, _ limits: FollowerLimits, _ clock: TestClock) -> LogFollower {
        LogFollower(log, node: "n2", limits, hasThread: false, clock: { clock.now }, run: { $0() })
    }

    init(
        _ name: String, _ log: any RealmLog, _ limits: FollowerLimits = FollowerLimits(), key: EncryptionKey? = nil
    ) throws {
        self.key = key
        self.name = RealmName(name)!
        folder = try TemporaryRealm()
        path = folder.path
        clock = TestClock()
        follower = Replica.follower(log, limits, clock)
        var hooks = ReplicaHooks()
        hooks.endReaders = { [evictions] in evictions.add($0) }
        hooks.didEnd = { [ends] in ends.add($0) }
        self.hooks = hooks
        followed = try FollowedLogRealm.open(Replica.opening(self.name, path, key), follower, hooks)
    }

    static func opening(_ name: RealmName, _ path: String, _ key: EncryptionKey? = nil) -> LoggedRealm.Opening {
        LoggedRealm.Opening(name, path: path, node: "n2", Database.OpenOptions(key: key))
    }

    var database: Database { followed.database }
    var snapshot: Snapshot { database.current.snapshot }

    /// Looks at the log until nothing moves any more.
    func catchUp() {
        var before: UInt64?
        while before != followed.version {
            before = followed.version
            follower.poll()
        }
    }

    func reopen() throws { followed = try FollowedLogRealm.open(Replica.opening(name, path, key), follower, hooks) }

    /// Opens the realm with another key, or without one.
    func reopen(key: EncryptionKey?) throws {
        followed = try FollowedLogRealm.open(Replica.opening(name, path, key), follower, hooks)
    }

    /// Follows a realm that was owned here.
    func use(_ realm: FollowedLogRealm) { followed = realm }

    func finish() throws {
        let snapshot = snapshot
        followed.close()
        let report = snapshot.verify()
        guard report.isClean else { throw EngineRealm.Damaged(errors: report.errors) }
    }

    func has(_ id: Int64) throws -> Bool { try EngineRealm(database).show("Dog", id) != nil }
}

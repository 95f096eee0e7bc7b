// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmEngine
@testable import RealmReplica

/// Realms that are followed, owned and followed again, without being closed.
@Suite("Followers that become owners, and owners that become followers")
struct FollowerRoleTests {
    private func expectEqual(_ left: Database, _ right: Database, _ what: String) throws {
        #expect(left.current.token == right.current.token, "\(what)")
        #expect(try RecordDifference.isEqual(left.current.snapshot, right.current.snapshot), "\(what)")
    }

    private func add(_ id: Int64, _ database: Database) throws {
        try EngineRealm(database).write { session in
            _ = try session.create("Dog", ["id": .integer(id), "name": .text("Rex \(id)")])
        }
    }

    private func cause(adding id: Int64, _ database: Database) -> StorageError? {
        let error = EngineRealm(database).failure { session in
            _ = try session.create("Dog", ["id": .integer(id), "name": .text("Rex \(id)")])
        }
        guard case .storage(let cause)? = error?.cause else { return nil }
        return cause
    }

    /// The realm moves to and fro between two nodes, and whoever observes it on either is told every commit once.
    @Test func `a planned move goes on in the open realm`() throws {
        let log = MemoryLog()
        let first = try OwnedRealm("moved", log)
        let replica = try Replica("moved", log)
        let clock = TestClock()
        let home = Replica.follower(log, FollowerLimits(), clock)
        let tales = (CommitTale(first.logged.database), CommitTale(replica.database))
        let reader = replica.database.current
        var owner = first.logged
        var followed = replica.followed
        var isHome = true
        for round in Int64(0)..<8 {
            for id in 10 * round..<10 * round + 5 { try add(id, owner.database) }
            // The owner flushes and releases; it is a follower before the other one claims.
            let next = try owner.demote(to: isHome ? home : replica.follower)
            guard case .refused(.notOwner)? = cause(adding: 999, next.database) else {
                Issue.record("a follower has written")
                return
            }
            let database = followed.database
            owner = try followed.promote(node: isHome ? "n2" : "n1")
            #expect(owner.database === database)
            followed = next
            isHome.toggle()
            try add(10 * round + 5, owner.database)
            // The reader is in the way of what the new owner overwrites, and is left alone.
            for _ in 0..<4 {
                home.poll()
                replica.follower.poll()
                clock.advance(3)
                replica.clock.advance(3)
            }
            try expectEqual(owner.database, followed.database, "round \(round)")
        }
        #expect(tales.0.all == tales.1.all && tales.0.all.count == 48)
        #expect(tales.0.all.allSatisfy { !$0.isUnknown && $0.token.hasPrefix(first.logged.database.epoch.text) })
        #expect(reader.snapshot.verify().isClean)
        #expect(owner.database.current.snapshot.verify().isClean && followed.database.current.snapshot.verify().isClean)
        followed.close()
        owner.close()
    }

    @Test func `a follower that takes over from a dead owner has all that was acknowledged`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("dead", log)
        let replica = try Replica("dead", log)
        try owned.add(1...30)
        // Nothing was looked at since; the claim does.
        let reader = replica.database.current
        let promoted = try replica.followed.promote(node: "n2")
        #expect(promoted.database === replica.database && promoted.way == .records(30))
        try expectEqual(owned.logged.database, promoted.database, "taken over")
        // Others may commit as it likes, and the reader keeps what it has.
        for id in Int64(31)...60 { try add(id, promoted.database) }
        #expect(reader.snapshot.verify().isClean && promoted.database.current.snapshot.verify().isClean)
        // The old owner wakes up: it is fenced, and follows.
        #expect(owned.failure(adding: 99) == .refused(.notOwner("n2")))
        let clock = TestClock()
        let home = Replica.follower(log, FollowerLimits(), clock)
        let fenced = try owned.logged.demote(to: home)
        home.poll()
        #expect(fenced.counts.rebuilds == 0 && fenced.counts.records == 30)
        try expectEqual(fenced.database, promoted.database, "the old owner")
        #expect(try EngineRealm(fenced.database).show("Dog", 99) == nil)
        try add(61, promoted.database)
        home.poll()
        try expectEqual(fenced.database, promoted.database, "the old owner goes on")
        fenced.close()
        promoted.close()
    }

    /// The log has stored a commit, and its owner does not know; what it shows is what it has, until it follows.
    @Test func `an owner that does not know the outcome of a commit finds it as a follower`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("unknown", log)
        try owned.add(1...3)
        try owned.logged.database.keepRecords(in: CrashingLog(owned.logged.owner))
        #expect(try owned.failure(adding: 4) == .refused(.outcomeUnknown) && !owned.has(4))
        let clock = TestClock()
        let home = Replica.follower(log, FollowerLimits(), clock)
        let followed = try owned.logged.demote(to: home)
        #expect(throws: StorageError.self) { try followed.database.keepRecords(in: owned.logged.owner) }
        home.poll()
        #expect(try followed.counts.records == 1 && EngineRealm(followed.database).show("Dog", 4) != nil)
        let again = try followed.promote(node: "n1")
        try add(5, again.database)
        #expect(again.database.current.snapshot.verify().isClean)
        again.close()
    }

    @Test func `a promotion that the log does not answer leaves the follower as it was`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("unanswered", log)
        let replica = try Replica("unanswered", log)
        var limits = RealmOwner.Limits()
        limits.claimSeconds = 0.2
        log.setDown(true)
        #expect(throws: StorageError.self) { try replica.followed.promote(node: "n2", limits) }
        log.setDown(false)
        try owned.add(1...3)
        replica.catchUp()
        try expectEqual(owned.logged.database, replica.database, "still following")
        try replica.finish()
        try owned.finish()
    }

    @Test func `versions are kept for readers elsewhere, a few at a time and not for ever`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("grace", log, grace: 2)
        let replica = try Replica("grace", log)
        // A reader that is a little behind is in nobody's way, however many commits there are.
        let reader = replica.database.current
        let begin = Instant.now()
        var id: Int64 = 1
        // After more of them than are kept the reader would be in the way, which the next test is about.
        while Instant.now().seconds(since: begin) < 0.3, id <= 100 {
            try add(id, owned.logged.database)
            id += 1
            #expect(owned.logged.database.keptVersionCount <= 10)
        }
        if Instant.now().seconds(since: begin) < 1.5 {
            replica.catchUp()
            #expect(replica.followed.lag.commits == 0 && replica.evictions.all.isEmpty)
        }
        #expect(owned.logged.database.keptVersionCount > 0 && reader.snapshot.verify().isClean)
        #expect(eventually { owned.logged.database.keptVersionCount == 0 })
        #expect(owned.logged.database.liveVersions == 1)
        try replica.finish()
        try owned.finish()
    }

    @Test func `a version that is kept is at most so many commits behind`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("bound", log)
        owned.logged.database.keepVersions(seconds: 1000, maximumCommits: 20)
        for id in Int64(1)...60 {
            try owned.add(id...id)
            let oldest = try #require(owned.logged.database.oldestLiveVersion)
            #expect(owned.snapshot.version - oldest <= 21)
        }
        try owned.finish()
    }
}

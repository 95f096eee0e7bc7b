// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Synchronization
import Testing

@testable import RealmEngine
@testable import RealmReplica

/// Followers with their thread, on the log of a real server.
@Suite("Followers of a log in PostgreSQL", .enabled(if: PostgresServer.isPresent))
struct FollowerServerTests {
    @Test func `have what was acknowledged soon after, and wait for versions and for the head`() throws {
        let log = try PostgresServer.shared.get().makeLog()
        let follower = LogFollower(log, node: "n2")
        let names = (0..<12).map { "live\($0)" }
        let owned = try names.map { try OwnedRealm($0, log) }
        let folders = try names.map { _ in try TemporaryRealm() }
        let realms = try zip(owned, folders).map { owned, folder in
            try FollowedLogRealm.open(Replica.opening(owned.name, folder.path), follower)
        }
        let deadline = Instant.now().adding(seconds: 60)
        for round in Int64(1)...8 {
            for (owned, realm) in zip(owned, realms) {
                try owned.add(round...round)
                if round % 2 == 0 {
                    #expect(realm.wait(for: owned.snapshot.version, until: deadline))
                } else {
                    #expect(realm.linear(until: deadline))
                }
                #expect(realm.database.current.token == owned.logged.database.current.token)
                #expect(try EngineRealm(realm.database).show("Dog", round) != nil)
            }
        }
        let future = owned[0].snapshot.version + 1
        let begin = Instant.now()
        #expect(!realms[0].wait(for: future, until: begin.adding(seconds: 0.2)))
        #expect(Instant.now().seconds(since: begin) >= 0.2)
        for (owned, realm) in zip(owned, realms) {
            #expect(realm.isCurrent && realm.counts.rebuilds == 0 && realm.failure == nil)
            #expect(try RecordDifference.isEqual(owned.snapshot, realm.database.current.snapshot))
            #expect(realm.database.current.snapshot.verify().isClean)
            realm.close()
            try owned.finish()
        }
        follower.stop()
    }

    @Test func `move between nodes with writes on the way`() throws {
        let log = try PostgresServer.shared.get().makeLog()
        let nodes = (LogFollower(log, node: "n1"), LogFollower(log, node: "n2"))
        let owned = try OwnedRealm("walks", log)
        let folder = try TemporaryRealm()
        var followed = try FollowedLogRealm.open(Replica.opening(owned.name, folder.path), nodes.1)
        let tales = (CommitTale(owned.logged.database), CommitTale(followed.database))
        var owner = owned.logged
        var isHome = true
        let photo = [UInt8](repeating: 7, count: 3 << 20)
        for round in Int64(0)..<6 {
            for id in 10 * round..<10 * round + 5 {
                try EngineRealm(owner.database).write { session in
                    _ = try session.create(
                        "Dog",
                        ["id": .integer(id), "name": .text("Rex"), "photo": id % 10 == 2 ? .typed(.binary(photo)) : .null])
                }
            }
            let next = try owner.demote(to: isHome ? nodes.0 : nodes.1)
            owner = try followed.promote(node: isHome ? "n2" : "n1")
            followed = next
            isHome.toggle()
        }
        #expect(followed.wait(for: owner.database.current.token.version, until: .now().adding(seconds: 60)))
        #expect(try RecordDifference.isEqual(owner.database.current.snapshot, followed.database.current.snapshot))
        #expect(tales.0.all == tales.1.all && tales.0.all.count == 30)
        #expect(owner.database.current.snapshot.verify().isClean && followed.database.current.snapshot.verify().isClean)
        followed.close()
        owner.close()
        nodes.0.stop()
        nodes.1.stop()
    }

    @Test func `ask for hundreds of heads at once`() throws {
        let log = try PostgresServer.shared.get().makeLog()
        for number in 0..<300 { try RawOwner.create("head\(number)", log) }
        let names = (0..<300).map { "head\($0)" } + ["héad, {\"\\x\"}", ""]
        let heads = try log.heads(of: names, confirmedFor: nil)
        #expect(heads.count == 300 && heads["head7"]?.version == 1)
        #expect(try log.heads(of: names, confirmedFor: "n2") == heads)
        try RawOwner.create("héad, {\"\\x\"}", log)
        #expect(try log.heads(of: names, confirmedFor: nil).count == 301)
        #expect(try log.heads(of: [], confirmedFor: nil).isEmpty)
    }
}

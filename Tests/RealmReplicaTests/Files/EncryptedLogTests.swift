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

/// Encrypted realms in a log, which is in memory.
@Suite("Encrypted realms in a log")
struct EncryptedLogTests {
    private let key: EncryptionKey
    private let other: EncryptionKey

    init() throws {
        key = try EncryptionKey(bytes: Fixtures.key)
        other = try EncryptionKey(bytes: [UInt8](repeating: 9, count: 64))
    }

    private func expectEqual(_ owned: Database, _ replica: Database, _ what: String) throws {
        #expect(replica.current.token == owned.current.token, "\(what)")
        #expect(try RecordDifference.isEqual(owned.current.snapshot, replica.current.snapshot), "\(what)")
    }

    /// Everything that the log keeps of a realm.
    private func stored(_ log: MemoryLog, _ name: String) -> [[UInt8]] {
        log.state.withLock { state in
            guard let realm = state.realms[name] else { return [] }
            return realm.records.map(\.bytes) + realm.bases.map(\.bytes) + [Array("\(realm.head)".utf8)]
        }
    }

    private func shows(_ log: MemoryLog, _ name: String, _ text: String) -> Bool {
        stored(log, name).contains { Data($0).range(of: Data(text.utf8)) != nil }
    }

    private func expectKeyError(_ isMissing: Bool, _ what: String, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("\(what): it was opened")
        } catch StorageError.refused(.encryptionKeyRequired) {
            #expect(isMissing, "\(what)")
        } catch StorageError.refused(.encryptionKeyWrong) {
            #expect(!isMissing, "\(what)")
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test(arguments: TestRun.seeds(quick: 3, long: 40))
    func `followers are equal to the owner, and tell the same changes`(seed: UInt64) throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("sealed", log, key: key)
        let replica = try Replica("sealed", log, key: key)
        #expect(owned.snapshot.file.isEncrypted && replica.snapshot.file.isEncrypted)
        let tales = (CommitTale(owned.logged.database), CommitTale(replica.database))
        var writes = FollowerTests.RandomWrites(seed: seed)
        for number in 0..<(TestRun.isLong ? 300 : 50) {
            try writes.write(to: owned)
            if Int.random(in: 0..<4, using: &writes.random) == 0 { continue }
            replica.catchUp()
            try expectEqual(owned.logged.database, replica.database, "seed \(seed), commit \(number)")
            if number % 10 == 0 { #expect(replica.snapshot.verify().isClean, "seed \(seed), commit \(number)") }
        }
        replica.catchUp()
        #expect(tales.0.all == tales.1.all && tales.0.all.count > 40, "seed \(seed)")
        let counts = replica.followed.counts
        #expect(counts.rebuilds == 0 && counts.refetches == 0 && counts.failures == 0, "seed \(seed): \(counts)")
        // What the replica has on its disk is what it shows.
        try replica.finish()
        let left = try Snapshot(file: try RealmFile(path: replica.path, key: key))
        #expect(try RecordDifference.isEqual(owned.snapshot, left), "seed \(seed)")
        try replica.reopen()
        #expect(replica.followed.way == .records(0), "seed \(seed)")
        try replica.finish()
        try owned.finish()
    }

    @Test func `the log shows nothing of what is in a realm`() throws {
        let log = MemoryLog()
        let marker = "nobody may read this"
        for (name, key) in [("plain", nil), ("sealed", key)] as [(String, EncryptionKey?)] {
            let owned = try OwnedRealm(name, log, key: key)
            for id in Int64(1)...20 { try owned.add(id...id, photo: Array("\(marker) \(id)".utf8)) }
            _ = try owned.logged.makeBase()
            try owned.add(21...21, photo: Array(marker.utf8))
            for text in [marker, "class_Dog", "Rex 1"] { #expect(shows(log, name, text) == (key == nil), "\(name): \(text)") }
            try owned.finish()
        }
        // What identifies requests depends on the key.
        let request = CommittedRequest(name: "name", digest: "digest")
        let hidden = try [RecordCipher.hidden(request, key), RecordCipher.hidden(request, other)]
        #expect(hidden[0].name != hidden[1].name && hidden[0].digest != hidden[1].digest && hidden[0].name.utf8.count == 64)
        #expect(try hidden[0] == RecordCipher.hidden(request, key) && request == RecordCipher.hidden(request, nil))
    }

    @Test func `a file that is behind is brought up by records, one that is damaged from a base`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("sealed", log, key: key)
        try owned.add(1...5)
        let replica = try Replica("sealed", log, key: key)
        try replica.finish()
        try owned.add(6...25)
        try replica.reopen()
        #expect(replica.followed.way == .records(20))
        try expectEqual(owned.logged.database, replica.database, "behind")
        // Its first page, another one, its end, all of it.
        for damage in 0..<4 {
            try replica.finish()
            let url = URL(fileURLWithPath: replica.path)
            var bytes = try Data(contentsOf: url)
            switch damage {
            case 0: bytes.replaceSubrange(4096..<8192, with: Data(repeating: 3, count: 4096))
            case 1: bytes.replaceSubrange(8192..<12288, with: Data(repeating: 3, count: 4096))
            case 2: bytes = bytes.prefix(bytes.count - 1000)
            default: bytes = Data(repeating: 0xa5, count: bytes.count)
            }
            try bytes.write(to: url)
            try replica.reopen()
            #expect(replica.snapshot.verify().isClean, "damage \(damage)")
            try expectEqual(owned.logged.database, replica.database, "damage \(damage)")
        }
        try replica.finish()
        try FileManager.default.removeItem(atPath: replica.path)
        try replica.reopen()
        #expect(replica.followed.way == .base(version: 1))
        try expectEqual(owned.logged.database, replica.database, "without a file")
        try replica.finish()
        try owned.finish()
    }

    @Test func `a crash between the log and the file loses nothing`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("sealed", log, key: key)
        for id in Int64(1)...6 {
            try owned.add(2 * id...2 * id)
            try owned.logged.database.keepRecords(in: CrashingLog(owned.logged.owner))
            #expect(owned.failure(adding: 2 * id + 1) == .refused(.outcomeUnknown))
            #expect(try !owned.has(2 * id + 1))
            try owned.crash()
            try owned.reopen()
            #expect(try owned.logged.way == .records(1) && owned.has(2 * id + 1))
        }
        #expect(owned.realm.count("Dog") == 12)
        try owned.finish()
    }

    @Test func `the realm moves to and fro between nodes in its open files`() throws {
        let log = MemoryLog()
        let first = try OwnedRealm("sealed", log, key: key)
        let replica = try Replica("sealed", log, key: key)
        let home = Replica.follower(log, FollowerLimits(), TestClock())
        let tales = (CommitTale(first.logged.database), CommitTale(replica.database))
        func add(_ id: Int64, _ database: Database) throws {
            try EngineRealm(database).write { session in
                _ = try session.create("Dog", ["id": .integer(id), "name": .text("Rex \(id)")])
            }
        }
        var owner = first.logged
        var followed = replica.followed
        for round in Int64(0)..<6 {
            let isHome = round % 2 == 0
            for id in 10 * round..<10 * round + 5 { try add(id, owner.database) }
            let next = try owner.demote(to: isHome ? home : replica.follower)
            owner = try followed.promote(node: isHome ? "n2" : "n1")
            followed = next
            try add(10 * round + 5, owner.database)
            for _ in 0..<3 {
                home.poll()
                replica.follower.poll()
            }
            try expectEqual(owner.database, followed.database, "round \(round)")
            #expect(try owner.makeBase().version == owner.database.current.snapshot.version)
        }
        #expect(tales.0.all == tales.1.all && tales.0.all.count == 36)
        #expect(owner.database.current.snapshot.verify().isClean && followed.database.current.snapshot.verify().isClean)
        #expect(!shows(log, "sealed", "class_Dog"))
        followed.close()
        owner.close()
    }

    @Test func `bases are read back with the key, and lead to any version`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("sealed", log, key: key)
        try owned.add(1...5)
        let first = try owned.logged.makeBase()
        try owned.add(6...10)
        let middle = owned.snapshot
        try owned.add(11...12)
        let second = try owned.logged.makeBase()
        try owned.add(13...14)
        #expect(try owned.logged.prune(keeping: 2) == first.version)
        #expect(try log.bases(of: "sealed") == [second, first])
        let replay = LogReplay("sealed", path: owned.path, log: log, key: key)
        for snapshot in [middle, owned.snapshot] {
            let file = try replay.restore(snapshot.version, of: try owned.head)
            let made = try Snapshot(file: try RealmFile(path: file.openPath, key: key))
            #expect(try RecordDifference.isEqual(snapshot, made) && made.verify().isClean)
        }
        // Who has not the key prunes nothing, and makes no file.
        for (key, isMissing) in [(nil, true), (other, false)] as [(EncryptionKey?, Bool)] {
            expectKeyError(isMissing, "prune") {
                _ = try LogBases.prune("sealed", lineage: first.lineage, log, key: key, keeping: 1)
            }
            expectKeyError(isMissing, "restore") {
                _ = try LogReplay("sealed", path: owned.path, log: log, key: key).restore(middle.version, of: owned.head)
            }
        }
        #expect(try log.bases(of: "sealed") == [second, first])
        try owned.finish()
    }

    @Test func `a node without the key, or with another one, says so and touches nothing`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("sealed", log, key: key)
        try owned.add(1...5)
        let replica = try Replica("sealed", log, key: key)
        try replica.finish()
        let before = try Data(contentsOf: URL(fileURLWithPath: replica.path))
        for (key, isMissing) in [(nil, true), (other, false)] as [(EncryptionKey?, Bool)] {
            expectKeyError(isMissing, "with a file") { try replica.reopen(key: key) }
            // Without a file the log alone tells.
            let fresh = try TemporaryRealm()
            expectKeyError(isMissing, "without a file") {
                let follower = Replica.follower(log, FollowerLimits(), TestClock())
                _ = try FollowedLogRealm.open(Replica.opening(owned.name, fresh.path, key), follower)
            }
            #expect(!FileManager.default.fileExists(atPath: fresh.path))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: replica.path)) == before)
        // Neither has the owner lost anything by that.
        try owned.add(6...6)
        try replica.reopen()
        #expect(try replica.has(6) && replica.followed.way == .records(1))
        try replica.finish()
        try owned.finish()
    }

    @Test func `a plain and an encrypted realm of the same name are not taken for each other`() throws {
        let log = MemoryLog()
        let sealed = try OwnedRealm("sealed", log, key: key)
        try sealed.add(1...2)
        let plain = try OwnedRealm("plain", log)
        try plain.add(1...2)
        // The files, which no log knows, stay.
        for (name, fileKey, givenKey, isMissing) in [
            ("plain", key, key, false), ("plain", key, nil, true), ("sealed", nil, key, false), ("sealed", nil, nil, true),
        ] as [(String, EncryptionKey?, EncryptionKey?, Bool)] {
            let file = try TemporaryRealm()
            try EngineRealm(path: file.path, [OwnedRealm.dog], key: fileKey).finish()
            let before = try Data(contentsOf: file.url)
            let head = try name == "plain" ? plain.head : sealed.head
            expectKeyError(isMissing, "\(name), \(fileKey != nil), \(givenKey != nil)") {
                _ = try LogReplay(name, path: file.path, log: log, key: givenKey).bringUp(to: head)
            }
            #expect(try Data(contentsOf: file.url) == before)
        }
        try sealed.finish()
        try plain.finish()
    }

    @Test func `a history that goes on with another key, or without one, ends following`() throws {
        for isPlain in [false, true] {
            let log = MemoryLog()
            let owned = try OwnedRealm("sealed", log, key: key)
            try owned.add(1...3)
            let replica = try Replica("sealed", log, key: key)
            let stranger = try TemporaryRealm()
            let next = try EngineRealm(path: stranger.path, [OwnedRealm.dog], key: isPlain ? nil : other)
            for id in Int64(1)...30 {
                try next.write { session in _ = try session.create("Dog", ["id": .integer(id), "name": .text("Rex")]) }
            }
            try log.restore("sealed", next.database.current.snapshot, lineage: "restored", key: isPlain ? nil : other)
            replica.catchUp()
            guard case .file(.refused(.encryptionKeyWrong))? = replica.ends.all.first, replica.ends.all.count == 1 else {
                Issue.record("\(replica.ends.all)")
                return
            }
            #expect(try replica.has(3) && replica.snapshot.verify().isClean)
            try next.finish()
            try replica.finish()
            owned.logged.database.close()
        }
    }

    /// What is read of the log is damaged, incomplete, repeated or in another order.
    @Test(arguments: TestRun.seeds(quick: 2, long: 40))
    func `nothing is applied that is not the next record`(seed: UInt64) throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("sealed", log, key: key)
        let replica = try Replica("sealed", log, key: key)
        var writes = FollowerTests.RandomWrites(seed: seed)
        for number in 0..<(TestRun.isLong ? 60 : 16) {
            for _ in 0..<Int.random(in: 1...4, using: &writes.random) { try writes.write(to: owned) }
            let numbers = Mutex(SeededGenerator(seed: seed &* 1000 &+ UInt64(number)))
            let left = Mutex(number % 3 == 0 ? 20 : 1)
            log.disturbance.withLock { disturbance in
                disturbance = { records in
                    let isDue = left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    return isDue ? numbers.withLock { FollowerTests.disturb(records, &$0) } : records
                }
            }
            replica.catchUp()
            #expect(replica.snapshot.verify().isClean, "seed \(seed), round \(number)")
            log.disturbance.withLock { $0 = nil }
            replica.clock.advance(10)
            replica.catchUp()
            try expectEqual(owned.logged.database, replica.database, "seed \(seed), round \(number)")
        }
        #expect(replica.followed.counts.refetches > 0 && replica.ends.all.isEmpty, "seed \(seed)")
        try replica.finish()
        try owned.finish()
    }

    /// Readers of old versions are in the way of records, and the file is left to them.
    @Test func `readers are never shown a wrong row`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("sealed", log, grace: 0, key: key)
        var limits = FollowerLimits()
        (limits.patienceSeconds, limits.graceSeconds, limits.formerFileCount) = (0, 0, 60)
        let replica = try Replica("sealed", log, limits, key: key)
        var writes = FollowerTests.RandomWrites(seed: 4)
        var kept: [Version] = []
        for number in 0..<60 {
            try writes.write(to: owned)
            for _ in 0..<5 { replica.catchUp() }
            try expectEqual(owned.logged.database, replica.database, "commit \(number)")
            if number % 3 == 0 { kept.append(replica.database.current) }
            if kept.count > 8 { kept.removeFirst() }
            for version in kept { #expect(version.snapshot.verify().isClean, "commit \(number)") }
        }
        #expect(replica.followed.counts.renewals > 0 && replica.followed.counts.rebuilds == 0)
        kept = []
        #expect(replica.database.formerFileCount == 0)
        try replica.finish()
        try owned.finish()
    }
}

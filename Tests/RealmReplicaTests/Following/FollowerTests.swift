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

/// Realms that follow their log step by step, with a log in memory.
@Suite("Followers")
struct FollowerTests {
    /// Writes at random: objects that come, change and go, long values, classes and properties, migrations.
    struct RandomWrites {
        var random: SeededGenerator
        var ids: [Int64] = []
        var next: Int64 = 1
        var classes = 0
        var properties = 0

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func write(to owned: OwnedRealm) throws {
            switch Int.random(in: 0..<40, using: &random) {
            case 0:
                classes += 1
                let extra = ClassInput("Extra\(classes)", primaryKey: nil, [PropertyInput("first", "int")])
                try owned.realm.write { session in try session.createSchema(SchemaInput(classes: [extra])) }
            case 1:
                properties += 1
                let step = MigrationStep.addProperty(
                    className: "Dog", PropertyInput("p\(properties)", "string", optional: true), value: .text("new"))
                let answer = Awaited<Result<WriteReceipt<WriteSession.Migrated>, WriteError>>()
                let version = owned.snapshot.schemaVersion ?? 0
                let migration = Migration(from: version, to: version + 1, [step])
                owned.realm.database.migrate(migration, EngineRealm.request()) { answer.set($0) }
                _ = try answer.wait().get()
            case 2:
                let photo = (0..<Int.random(in: 100_000...400_000, using: &random)).map {
                    UInt8(truncatingIfNeeded: $0 &* 7919 >> 3)
                }
                try add(owned, photo)
            default: try change(owned)
            }
        }

        private mutating func add(_ owned: OwnedRealm, _ photo: [UInt8] = []) throws {
            try owned.add(next...next, photo: photo)
            ids.append(next)
            next += 1
        }

        private mutating func change(_ owned: OwnedRealm) throws {
            guard let index = ids.indices.randomElement(using: &random), Int.random(in: 0..<3, using: &random) > 0 else {
                return try add(owned)
            }
            let id = ids[index]
            if Int.random(in: 0..<3, using: &random) == 0 {
                ids.remove(at: index)
                try owned.realm.write { session in _ = try session.delete("Dog", .primaryKey(.integer(id))) }
            } else {
                let name = "Rex \(Int.random(in: 0..<1000, using: &random))"
                try owned.realm.write { session in
                    try session.setProperty("Dog", .primaryKey(.integer(id)), "name", .text(name))
                }
            }
        }
    }

    /// The bytes of everything that a version uses.
    private func used(_ snapshot: Snapshot) throws -> [UInt8] {
        let backend = try MemoryBackend()
        try BaseCopy.write(snapshot, to: backend)
        return backend.bytes
    }

    private func expectEqual(_ owned: OwnedRealm, _ replica: Replica, _ what: String) throws {
        #expect(replica.database.current.token == owned.logged.database.current.token, "\(what)")
        #expect(try RecordDifference.isEqual(owned.snapshot, replica.snapshot), "\(what)")
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 60))
    func `are equal to the owner after each commit, and tell the same changes`(seed: UInt64) throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("equal", log)
        let replica = try Replica("equal", log)
        #expect(replica.followed.way == .base(version: 1) && replica.followed.owner == "n1", "seed \(seed)")
        try expectEqual(owned, replica, "seed \(seed), at first")
        let tales = (CommitTale(owned.logged.database), CommitTale(replica.database))
        var writes = RandomWrites(seed: seed)
        for number in 0..<(TestRun.isLong ? 400 : 60) {
            try writes.write(to: owned)
            // At times it is some commits behind.
            if Int.random(in: 0..<4, using: &writes.random) == 0 { continue }
            replica.catchUp()
            try expectEqual(owned, replica, "seed \(seed), commit \(number)")
            if number % 10 == 0 { #expect(replica.snapshot.verify().isClean, "seed \(seed), commit \(number)") }
        }
        replica.catchUp()
        try expectEqual(owned, replica, "seed \(seed)")
        #expect(tales.0.all == tales.1.all && tales.0.all.count > 50, "seed \(seed)")
        let counts = replica.followed.counts
        #expect(counts.records == tales.0.all.count && counts.rebuilds == 0 && counts.refetches == 0, "seed \(seed): \(counts)")
        #expect(replica.followed.lag.commits == 0 && replica.followed.isCurrent, "seed \(seed)")
        try replica.finish()
        try owned.finish()
    }

    @Test func `refuse writes in the name of the owner`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("refuse", log)
        let replica = try Replica("refuse", log)
        let realm = EngineRealm(replica.database)
        let failure = realm.failure { session in _ = try session.create("Dog", ["id": .integer(1), "name": .text("Rex")]) }
        guard case .storage(.refused(.notOwner("n1")))? = failure?.cause else {
            Issue.record("\(String(describing: failure))")
            return
        }
        try owned.finish()
        replica.follower.poll()
        #expect(replica.followed.owner.isEmpty)
        try replica.finish()
    }

    /// Readers hold versions that are up to fifty behind while records fly. The owner keeps nothing for them.
    @Test(arguments: TestRun.seeds(quick: 2, long: 60))
    func `never show a wrong row to who reads`(seed: UInt64) throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("readers", log, grace: 0)
        var limits = FollowerLimits()
        limits.patienceSeconds = 0
        limits.graceSeconds = 0
        limits.formerFileCount = 60
        let replica = try Replica("readers", log, limits)
        var writes = RandomWrites(seed: seed)
        var kept: [(version: Version, bytes: [UInt8])] = []
        for number in 0..<(TestRun.isLong ? 400 : 80) {
            try writes.write(to: owned)
            replica.catchUp()
            for _ in 0..<4 { replica.follower.poll() }
            try expectEqual(owned, replica, "seed \(seed), commit \(number)")
            if Int.random(in: 0..<3, using: &writes.random) == 0 {
                kept.append((replica.database.current, try used(replica.snapshot)))
            }
            kept.removeAll { replica.followed.version - $0.version.token.version > 50 }
            if kept.count > 8 { kept.remove(at: Int.random(in: 0..<kept.count, using: &writes.random)) }
            for (version, bytes) in kept {
                #expect(try used(version.snapshot) == bytes, "seed \(seed): version \(version.tokenText) at commit \(number)")
            }
        }
        #expect(replica.followed.counts.renewals > 0 && replica.followed.counts.rebuilds == 0, "seed \(seed)")
        kept = []
        #expect(replica.database.formerFileCount == 0, "seed \(seed)")
        try replica.finish()
        try owned.finish()
    }

    @Test func `wait for readers, then tell them to end, then leave the file to them`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("patience", log, grace: 0)
        try owned.add(1...20)
        let replica = try Replica("patience", log)
        // The second time the reader does not end.
        for isStubborn in [false, true] {
            var reader: Version? = replica.database.current
            let bytes = try used(replica.snapshot)
            let before = replica.evictions.all.count
            var behind: UInt64 = 0
            for id in Int64(1)...20 {
                try owned.realm.write { session in
                    try session.setProperty("Dog", .primaryKey(.integer(id)), "name", .text("again \(isStubborn)"))
                }
                replica.catchUp()
                behind = replica.followed.lag.commits
                if behind > 0 { break }
            }
            #expect(behind > 0, "no commit has used space again")
            replica.clock.advance(1.9)
            replica.catchUp()
            #expect(replica.followed.lag.commits == behind && replica.evictions.all.count == before)
            replica.clock.advance(0.2)
            replica.follower.poll()
            #expect(replica.evictions.all.count == before + 1)
            #expect(try #require(replica.evictions.all.last) >= #require(reader).token.version)
            if !isStubborn { reader = nil }
            replica.catchUp()
            #expect(replica.followed.lag.commits == (isStubborn ? behind : 0))
            replica.clock.advance(0.3)
            replica.catchUp()
            #expect(replica.followed.lag.commits == 0 && replica.followed.counts.renewals == (isStubborn ? 1 : 0))
            if let reader { #expect(try used(reader.snapshot) == bytes) }
        }
        try expectEqual(owned, replica, "afterwards")
        try replica.finish()
        try owned.finish()
    }

    @Test func `lag when there are too many former files`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("former", log, grace: 0)
        try owned.add(1...20)
        var limits = FollowerLimits()
        (limits.patienceSeconds, limits.graceSeconds, limits.formerFileCount) = (0, 0, 2)
        let replica = try Replica("former", log, limits)
        var readers: [Version] = []
        for id in Int64(21)...60 {
            readers.append(replica.database.current)
            try owned.add(id...id)
            for _ in 0..<6 { replica.catchUp() }
        }
        #expect(replica.database.formerFileCount == 2 && replica.followed.lag.commits > 0)
        readers = []
        for _ in 0..<6 { replica.catchUp() }
        try expectEqual(owned, replica, "afterwards")
        try replica.finish()
        try owned.finish()
    }

    /// What is read of the log is damaged, incomplete, repeated or in another order.
    @Test(arguments: TestRun.seeds(quick: 4, long: 100))
    func `apply nothing that is not the next record`(seed: UInt64) throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("damage", log)
        let replica = try Replica("damage", log)
        let tale = CommitTale(replica.database)
        var writes = RandomWrites(seed: seed)
        for number in 0..<(TestRun.isLong ? 100 : 25) {
            for _ in 0..<Int.random(in: 1...4, using: &writes.random) { try writes.write(to: owned) }
            let before = replica.database.current
            let numbers = Mutex(SeededGenerator(seed: seed &* 1000 &+ UInt64(number)))
            let isLasting = number % 3 == 0
            let left = Mutex(isLasting ? Int.max : 1)
            log.disturbance.withLock { disturbance in
                disturbance = { records in
                    guard
                        left.withLock({ left in
                            defer { left -= 1 }
                            return left > 0
                        })
                    else { return records }
                    return numbers.withLock { FollowerTests.disturb(records, &$0) }
                }
            }
            replica.catchUp()
            let what = "seed \(seed), round \(number)"
            let reached = replica.followed.version
            #expect(reached >= before.token.version && reached <= owned.snapshot.version, "\(what)")
            #expect(replica.snapshot.verify().isClean, "\(what)")
            if !isLasting { try expectEqual(owned, replica, what) }
            log.disturbance.withLock { $0 = nil }
            replica.clock.advance(10)
            replica.catchUp()
            try expectEqual(owned, replica, what)
        }
        // Numbers only grow, and a version that was told has the changes of the log or none that are known.
        let versions = tale.all.map { VersionToken($0.token)?.version ?? 0 }
        #expect(versions == versions.sorted() && Set(versions).count == versions.count, "seed \(seed)")
        #expect(replica.followed.counts.refetches > 0, "seed \(seed)")
        #expect(replica.ends.all.isEmpty, "seed \(seed)")
        try replica.finish()
        try owned.finish()
    }

    /// Damages, drops, repeats or swaps one of some records.
    static func disturb(_ records: [[UInt8]], _ random: inout SeededGenerator) -> [[UInt8]] {
        guard let index = records.indices.randomElement(using: &random) else { return records }
        var records = records
        switch Int.random(in: 0..<5, using: &random) {
        case 0: records.remove(at: index)
        case 1: records.insert(records[index], at: index)
        case 2: records.swapAt(index, records.indices.randomElement(using: &random) ?? index)
        case 3: records[index].removeLast(Int.random(in: 1...records[index].count, using: &random))
        default:
            records[index][Int.random(in: 0..<records[index].count, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        }
        return records
    }

    @Test func `go on from where a crash has left them`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("crashed", log)
        let replica = try Replica("crashed", log)
        try owned.add(1...5)
        let place = FilePosition.path(of: replica.path)
        let earlier = try Data(contentsOf: URL(fileURLWithPath: place))
        replica.catchUp()
        try replica.finish()
        // A position that did not reach the disk is that of some versions before.
        try earlier.write(to: URL(fileURLWithPath: place))
        try owned.add(6...7)
        try replica.reopen()
        guard case .records(let count)? = replica.followed.way else {
            Issue.record("made anew")
            return
        }
        #expect(count > 2)
        try expectEqual(owned, replica, "with an older position")
        try owned.add(8...8)
        replica.catchUp()
        try replica.finish()
        try FileManager.default.removeItem(atPath: replica.path)
        try replica.reopen()
        #expect(replica.followed.way == .base(version: 1))
        try expectEqual(owned, replica, "without a file")
        // Another program's commit is not in the history.
        try replica.finish()
        let alone = try EngineRealm(path: replica.path)
        try alone.write { session in _ = try session.create("Dog", ["id": .integer(77), "name": .text("Alien")]) }
        try alone.finish()
        try replica.reopen()
        #expect(try replica.followed.way == .base(version: 1) && !replica.has(77))
        try expectEqual(owned, replica, "with a foreign commit")
        try replica.finish()
        try owned.finish()
    }

    @Test func `that slept while the log was pruned come back from a base`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("slept", log)
        let replica = try Replica("slept", log)
        let tale = CommitTale(replica.database)
        var policy = BasePolicy()
        (policy.records, policy.bytes, policy.bytesPerByte) = (10, 1, 0)
        let keeper = LogKeeper(policy, hasThread: false)
        try keeper.add(owned.logged)
        for id in Int64(1)...65 {
            try owned.add(id...id)
            keeper.work()
        }
        #expect(keeper.counts.bases >= 5 && keeper.counts.prunings == keeper.counts.bases && keeper.failure == nil)
        #expect(try log.bases(of: "slept").count == 2 && log.recordCount("slept") < 25)
        // It is open, and goes on; observers read their contents again.
        replica.catchUp()
        try expectEqual(owned, replica, "open")
        #expect(replica.followed.counts.rebuilds == 1 && tale.all.first?.isUnknown == true)
        #expect(replica.database.epoch == owned.logged.database.epoch)
        try owned.add(66...66)
        replica.catchUp()
        #expect(tale.all.last?.isUnknown == false)
        keeper.remove(owned.logged)
        try replica.finish()
        try owned.finish()
    }

    @Test func `begin another epoch with a later version of another history`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("lineage", log)
        let replica = try Replica("lineage", log)
        let tale = CommitTale(replica.database)
        try owned.add(1...10)
        let later = owned.snapshot
        try log.restore("lineage", later, lineage: "restored")
        replica.catchUp()
        #expect(replica.database.epoch.text == "restored" && replica.ends.all.isEmpty)
        #expect(tale.all.count == 1 && tale.all[0].token == "restored.\(later.version)" && tale.all[0].isUnknown)
        try owned.finish()
        try owned.reopen()
        try owned.add(11...11)
        replica.catchUp()
        try expectEqual(owned, replica, "restored")
        // An earlier version has a number that was used already.
        let early = try Replica("lineage", log)
        try log.restore("lineage", early.snapshot, lineage: "again222")
        try owned.finish()
        try owned.reopen()
        replica.catchUp()
        #expect(replica.ends.all == [.replaced] && replica.followed.end == .replaced)
        #expect(!replica.followed.wait(for: 1000, until: .now().adding(seconds: 5)))
        try replica.finish()
        try replica.reopen()
        #expect(replica.database.epoch.text == "again222")
        try expectEqual(owned, replica, "again")
        try early.finish()
        try replica.finish()
        try owned.finish()
    }

    @Test func `notice a log that has lost what was seen of it`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("lost", log)
        try owned.add(1...5)
        let replica = try Replica("lost", log)
        let tale = CommitTale(replica.database)
        let version = owned.snapshot.version
        log.lose("lost", after: version - 2)
        replica.catchUp()
        #expect(replica.ends.all == [.replaced])
        try replica.finish()
        try replica.reopen()
        #expect(try replica.followed.version == version - 2 && !replica.has(5))
        // The same number with something else in it, and more: it goes on, and observers find the difference.
        try owned.finish()
        try owned.reopen()
        try owned.add(6...6)
        replica.catchUp()
        log.lose("lost", after: version - 2)
        try owned.finish()
        try owned.reopen()
        try owned.add(7...9)
        let other = CommitTale(replica.database)
        replica.catchUp()
        try expectEqual(owned, replica, "the other history")
        #expect(try replica.has(7) && !replica.has(6))
        #expect(other.all.count == 1 && other.all[0].isUnknown && tale.all.isEmpty)
        try replica.finish()
        try owned.finish()
    }

    @Test func `know when they are not current, and go on when the log is back`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("contact", log)
        let replica = try Replica("contact", log)
        #expect(replica.followed.isCurrent)
        log.setDown(true)
        replica.clock.advance(2.9)
        replica.follower.poll()
        #expect(replica.followed.isCurrent && replica.follower.failure != nil)
        replica.clock.advance(0.2)
        replica.follower.poll()
        #expect(!replica.followed.isCurrent && replica.followed.lag.seconds > 3)
        log.setDown(false)
        try owned.add(1...1)
        replica.catchUp()
        #expect(replica.followed.isCurrent && replica.follower.failure == nil)
        try expectEqual(owned, replica, "back")
        try replica.finish()
        try owned.finish()
    }

    @Test func `are asked for together, some at a time`() throws {
        let log = MemoryLog()
        var limits = FollowerLimits()
        limits.headCount = 2
        let owned = try (0..<5).map { try OwnedRealm("many\($0)", log) }
        let clock = TestClock()
        let follower = Replica.follower(log, limits, clock)
        let folders = try owned.map { _ in try TemporaryRealm() }
        let realms = try zip(owned, folders).map { owned, folder in
            try FollowedLogRealm.open(Replica.opening(owned.name, folder.path), follower)
        }
        let before = follower.counts.polls
        follower.poll()
        #expect(follower.counts.polls == before + 3 && follower.realmCount == 5)
        for (index, realm) in owned.enumerated() where index % 2 == 0 { try realm.add(1...3) }
        follower.poll()
        for (owned, realm) in zip(owned, realms) {
            #expect(realm.version == owned.snapshot.version && realm.lag.commits == 0)
            realm.close()
            try owned.finish()
        }
        #expect(follower.realmCount == 0)
    }

    @Test func `end when another program has written to their file, and make it anew`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("touched", log)
        let replica = try Replica("touched", log)
        try owned.add(1...2)
        replica.catchUp()
        let handle = try #require(FileHandle(forUpdatingAtPath: replica.path))
        try handle.seek(toOffset: 0)
        handle.write(Data(repeating: 0xa5, count: 16))
        try handle.close()
        try owned.add(3...3)
        replica.catchUp()
        guard case .file? = replica.ends.all.first else {
            Issue.record("\(replica.ends.all)")
            return
        }
        replica.followed.close()
        try replica.reopen()
        #expect(replica.followed.way == .base(version: 1))
        try expectEqual(owned, replica, "made anew")
        try replica.finish()
        try owned.finish()
    }

    @Test func `end with a realm that the log does not know any more`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("gone", log)
        let replica = try Replica("gone", log)
        log.state.withLock { $0.realms["gone"] = nil }
        replica.catchUp()
        #expect(replica.ends.all == [.missing])
        try replica.finish()
        #expect(throws: StorageError.refused(.fileNotFound)) { try replica.reopen() }
        try owned.finish()
    }
}

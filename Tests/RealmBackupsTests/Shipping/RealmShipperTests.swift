// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmEngine

@Suite("Shipping the commits of a realm")
struct RealmShipperTests {
    @Test func `a base, and then records of every commit`() throws {
        let shipping = try Shipping()
        try shipping.ship()
        #expect(shipping.progress.bases == 1 && shipping.progress.records == 0)
        try shipping.add(1...5)
        #expect(shipping.shipper.isBehind && shipping.shipper.waitingCount == 5)
        try shipping.ship()
        #expect(shipping.progress.bases == 1 && shipping.progress.records == 5)
        try shipping.add(6...6)
        try shipping.ship()
        #expect(try shipping.store.files.count == 3)
        try shipping.expectShipped()
        try shipping.realm.finish()
    }

    @Test func `any version and any time can be had again`() throws {
        let shipping = try Shipping()
        try shipping.ship()
        let first = shipping.snapshot.version
        var kept: [(snapshot: Snapshot, time: Int64)] = [(shipping.snapshot, WallClock.now().nanoseconds)]
        for id in 1...12 {
            try shipping.add(Int64(id)...Int64(id))
            kept.append((shipping.snapshot, WallClock.now().nanoseconds))
            if id % 3 == 0 { try shipping.ship() }
        }
        for (snapshot, _) in kept {
            #expect(try RecordDifference.isEqual(snapshot, try shipping.restored(.version(snapshot.version))))
        }
        // The name of a base has whole seconds, rounded up.
        let start = (try shipping.store.chains[0].base.seconds) * 1_000_000_000
        for (snapshot, time) in kept where time >= start {
            #expect(try shipping.restored(.until(time)).version == snapshot.version)
        }
        #expect(throws: StorageError.self) { try shipping.restored(.version(first - 1)) }
        #expect(throws: StorageError.self) { try shipping.restored(.version(first + 13)) }
        #expect(throws: StorageError.self) { try shipping.restored(.until(0)) }
    }

    /// Migrations and imports are commits as others, and a new base follows a change of the schema.
    @Test func `migrations and imports are shipped with all that they did`() throws {
        let shipping = try Shipping()
        let log = try RecordedLog(after: shipping.snapshot.version)
        let follower = try RecordFollower(shipping.snapshot, log.start, in: MemoryBackend())
        try shipping.realm.database.store?.setLog(log)
        let told = Told()
        let token = shipping.realm.database.commits.add { told.add($0.changes) }
        try shipping.add(1...20)
        let steps: [[MigrationStep]] = [
            [.renameProperty(className: "Dog", name: "name", to: "title")],
            [.addClass(ClassInput("Cat", [PropertyInput("age", "int", optional: true)]))],
            [.renameClass(name: "Dog", to: "Hound")],
        ]
        for (index, step) in steps.enumerated() {
            let answer = Awaited<Result<WriteReceipt<WriteSession.Migrated>, WriteError>>()
            shipping.realm.database.migrate(
                Migration(from: UInt64(index), to: UInt64(index + 1), step), EngineRealm.request()
            ) { answer.set($0) }
            _ = try answer.wait().get()
        }
        try shipping.realm.write { session in
            for id in 100..<900 {
                _ = try session.create("Hound", ["id": .integer(Int64(id)), "title": .text("imported \(id)")])
            }
        }
        var position = 0
        let bytes = log.bytes
        while position < bytes.count { try follower.applier.apply(bytes, at: &position) }
        #expect(try RecordDifference.isEqual(shipping.snapshot, try follower.snapshot()))
        #expect(try follower.snapshot().verify().isClean)
        #expect(log.records.map(\.notes.changes) == told.all && told.all.count == 24)
        shipping.realm.database.commits.remove(token)
    }

    @Test func `what a write is not notified of is in its record`() throws {
        let shipping = try Shipping()
        let log = try RecordedLog(after: shipping.snapshot.version)
        try shipping.realm.database.store?.setLog(log)
        var request = EngineRealm.request()
        request.mark = CommitMark(skips: ["r1/dogs"]) { _, _ in }
        try shipping.realm.write(request) { session in _ = try session.create("Dog", ["id": .integer(1), "name": .text("a")]) }
        #expect(log.records.map(\.notes.skips) == [["r1/dogs"]])
    }

    @Test func `a store that is down delays nothing, and is brought up to date later`() throws {
        let shipping = try Shipping()
        try shipping.ship()
        shipping.store.isDown = true
        try shipping.add(1...5)
        #expect(throws: StorageError.self) { try shipping.ship() }
        try shipping.add(6...9)
        #expect(shipping.shipper.waitingCount == 9 && shipping.shipper.behindSince != nil)
        shipping.store.isDown = false
        shipping.store.losesAnswer = true
        #expect(throws: StorageError.self) { try shipping.ship() }
        try shipping.add(10...10)
        // The records that arrived without an answer are sent again with later ones.
        try shipping.ship()
        #expect(try shipping.store.files.count == 3 && shipping.progress.bases == 1)
        try shipping.expectShipped()
    }

    @Test func `when too much waits, records are dropped and a base takes their place`() throws {
        let shipping = try Shipping(queueBytes: 200_000)
        try shipping.ship()
        shipping.store.isDown = true
        for round in 0..<30 { try shipping.add(Int64(round * 5)...Int64(round * 5 + 4)) }
        #expect(shipping.shipper.needsBase && shipping.shipper.waitingCount < 2)
        #expect(throws: StorageError.self) { try shipping.ship() }
        shipping.store.isDown = false
        try shipping.ship()
        #expect(shipping.progress.bases == 2)
        try shipping.expectShipped()
        try shipping.add(1000...1003)
        try shipping.ship()
        try shipping.expectShipped()
    }

    @Test func `a commit of many bytes is shipped as a base`() throws {
        let shipping = try Shipping(queueBytes: 100_000)
        try shipping.ship()
        try shipping.realm.write { session in
            for id in 0..<3000 { _ = try session.create("Dog", ["id": .integer(Int64(id)), "name": .text("a long name \(id)")]) }
        }
        #expect(shipping.shipper.needsBase)
        try shipping.ship()
        #expect(shipping.progress.bases == 2 && shipping.progress.records == 0)
        try shipping.expectShipped()
    }

    @Test func `compaction begins a new chain`() throws {
        let shipping = try Shipping()
        try shipping.add(1...50)
        try shipping.ship()
        let done = Awaited<Bool>()
        shipping.realm.database.compact(wait: .seconds(60)) { result in done.set((try? result.get()) != nil) }
        #expect(try done.wait())
        #expect(shipping.shipper.needsBase)
        try shipping.add(51...52)
        try shipping.ship()
        try shipping.add(53...53)
        try shipping.ship()
        #expect(try shipping.store.chains.count == 2)
        try shipping.expectShipped()
    }

    @Test func `a realm that is opened again goes on, and takes a base that is still good`() throws {
        let shipping = try Shipping()
        try shipping.ship()
        try shipping.realm.finish()
        for round in 0..<2 {
            // Another server: nothing is known but what is in the store.
            let realm = try EngineRealm(path: shipping.file.path)
            let shipper = RealmShipper(Shipping.name, ShipBudget(limit: 1 << 20))
            try shipper.attach(realm.database)
            var progress = RealmShipper.Progress()
            try shipper.ship(to: shipping.store, nil, &progress)
            #expect(progress.bases == 0, "round \(round)")
            try realm.finish()
        }
        let realm = try EngineRealm(path: shipping.file.path)
        let shipper = RealmShipper(Shipping.name, ShipBudget(limit: 1 << 20))
        try shipper.attach(realm.database)
        var progress = RealmShipper.Progress()
        try shipper.ship(to: shipping.store, nil, &progress)
        try realm.write { session in _ = try session.create("Dog", ["id": .integer(1), "name": .text("a")]) }
        try shipper.ship(to: shipping.store, nil, &progress)
        #expect(progress.bases == 0 && progress.records == 1)
        #expect(try RecordDifference.isEqual(realm.database.current.snapshot, try shipping.restored()))
        try realm.finish()
    }

    @Test func `many records ask for a base, so that a restore stays short`() throws {
        let shipping = try Shipping(fewBytes: 1000)
        try shipping.ship()
        for id in 1...60 {
            try shipping.add(Int64(id)...Int64(id))
            try shipping.ship()
        }
        #expect(shipping.progress.bases > 1 && shipping.progress.bases < 20)
        try shipping.expectShipped()
    }

    @Test func `encrypted realms are refused`() throws {
        let file = try TemporaryRealm()
        let realm = try EngineRealm(path: file.path, [Shipping.dog], key: try EncryptionKey(bytes: Fixtures.key))
        let shipper = RealmShipper(Shipping.name, ShipBudget(limit: 1 << 20))
        #expect(throws: StorageError.self) { try shipper.attach(realm.database) }
        #expect(throws: StorageError.self) {
            try OfflineShipping(Shipping.name, to: FlakyStore()).ship(realm.database.current.snapshot)
        }
        try realm.finish()
    }

    /// Commits go on while bases and records are shipped by another thread.
    @Test func `everything arrives while a realm is written all the time`() throws {
        let shipping = try Shipping(queueBytes: 1 << 20)
        let commits = TestRun.isLong ? 3000 : 150
        let done = Awaited<Bool>()
        let realm = shipping.realm
        Threads.spawn("writer") {
            for id in 0..<commits { try? Shipping.add(Int64(id)...Int64(id), to: realm) }
            done.set(true)
        }
        var rounds = 0
        while !done.isSet {
            try shipping.ship()
            rounds += 1
            if rounds % 20 == 0 { shipping.shipper.didReplaceFile() }
        }
        while shipping.shipper.isBehind { try shipping.ship() }
        #expect(shipping.realm.count("Dog") == commits)
        try shipping.expectShipped()
        try shipping.realm.finish()
    }
}

/// The changes that observers were told of, commit by commit.
private final class Told: Sendable {
    private let changes = Monitor<[[ObjectChange]]>([])
    func add(_ commit: [ObjectChange]) { changes.withLock { $0.append(commit) } }
    var all: [[ObjectChange]] { changes.withLock { $0 } }
}

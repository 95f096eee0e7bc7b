// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmReplica

/// Realms whose commits happen in a real server.
@Suite("Realms in a log", .enabled(if: PostgresServer.isPresent))
struct LoggedRealmTests {
    private func makeLog() throws -> PostgresLog { try PostgresServer.shared.get().makeLog() }

    @Test func `commits are in the log, and the epoch stays through openings and owners`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("epoch", log)
        #expect(owned.logged.way == nil)
        try owned.add(1...5)
        let epoch = owned.logged.database.epoch
        let version = owned.snapshot.version
        let head = try owned.head
        #expect(head.version == version && head.lineage == epoch.text && head.owner.node == "n1")
        #expect(head.checksum.bytes == owned.logged.owner.place?.checksum)
        try owned.finish()
        #expect(try owned.head.owner == .unowned)
        try owned.reopen()
        #expect(owned.logged.way == .records(0) && owned.logged.database.epoch == epoch)
        try owned.add(6...6)
        let other = try OwnedRealm("epoch", log, node: "n2")
        #expect(other.logged.way == .base(version: 1) && other.logged.database.epoch == epoch)
        #expect(try RecordDifference.isEqual(owned.snapshot, other.snapshot))
        try other.add(7...7)
        try other.finish()
        try owned.finish()
    }

    @Test func `an owner that another has replaced commits nothing, and comes back`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("replaced", log)
        try owned.add(1...3)
        let other = try OwnedRealm("replaced", log, node: "n2")
        try other.add(4...5)
        #expect(owned.failure(adding: 9) == .refused(.notOwner("n2")))
        #expect(throws: WriteError.self) { try owned.add(10...10) }
        #expect(try owned.has(3) && !owned.has(4) && !owned.has(9))
        try owned.finish()
        try owned.reopen()
        #expect(owned.logged.way == .records(2))
        #expect(try owned.has(5) && !owned.has(9))
        #expect(try RecordDifference.isEqual(owned.snapshot, other.snapshot))
        try owned.add(6...6)
        #expect(other.failure(adding: 11) == .refused(.notOwner("n1")))
        try owned.finish()
        try other.finish()
    }

    /// The process ends when its record is stored, and before its file says so.
    @Test func `a crash between the log and the file loses nothing`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("crash", log)
        for id in Int64(1)...10 {
            try owned.add(2 * id...2 * id)
            try owned.logged.database.keepRecords(in: CrashingLog(owned.logged.owner))
            #expect(owned.failure(adding: 2 * id + 1) == .refused(.outcomeUnknown))
            #expect(try !owned.has(2 * id + 1))
            try owned.crash()
            try owned.reopen()
            #expect(try owned.logged.way == .records(1) && owned.has(2 * id + 1))
        }
        #expect(owned.realm.count("Dog") == 20)
        try owned.finish()
    }

    @Test func `any version can be made again from bases and records`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("versions", log)
        var kept: [(version: UInt64, backend: MemoryBackend)] = []
        for id in Int64(1)...25 {
            try owned.add(id...id, photo: [UInt8](repeating: UInt8(id), count: Int(id) * 50))
            if id % 10 == 0 { #expect(try owned.logged.makeBase().version == owned.snapshot.version) }
            let backend = try MemoryBackend()
            try BaseCopy.write(owned.snapshot, to: backend)
            kept.append((owned.snapshot.version, backend))
        }
        let replay = LogReplay("versions", path: owned.path, log: log)
        for (version, backend) in kept {
            let file = try replay.restore(version, of: try owned.head)
            let restored = try Snapshot(file: try RealmFile(path: file.openPath))
            #expect(try RecordDifference.isEqual(RecordFollower.snapshot(of: backend), restored), "version \(version)")
            #expect(restored.verify().isClean)
        }
        #expect(throws: StorageError.self) {
            try replay.restore(owned.snapshot.version + 1, of: owned.head)
        }
        try owned.finish()
    }

    /// A node that was paused, or is slow to store what it has copied.
    @Test func `a base that is stored after a newer one leads nowhere and harms nothing`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("late", log)
        try owned.add(1...3)
        let place = try #require(owned.logged.owner.place)
        let (late, file) = try LogBases.copy(owned.snapshot, at: place)
        defer { System.close(file) }
        try owned.add(4...6)
        let newer = try owned.logged.makeBase()
        #expect(try owned.logged.prune(keeping: 1) == newer.version)
        try owned.add(7...8)
        try log.put(late, of: "late", from: file)
        #expect(try log.bases(of: "late") == [newer, late])
        let replay = LogReplay("late", path: System.temporaryFolder + "/realm-rest", log: log)
        func expectNewest() throws {
            let made = try replay.restore(owned.snapshot.version, of: owned.head)
            let restored = try Snapshot(file: try RealmFile(path: made.openPath))
            #expect(try RecordDifference.isEqual(owned.snapshot, restored) && restored.verify().isClean)
        }
        try expectNewest()
        #expect(throws: StorageError.self) { try replay.restore(late.version + 1, of: owned.head) }
        #expect(try owned.logged.prune(keeping: 1) == newer.version)
        #expect(try log.bases(of: "late") == [newer])
        try expectNewest()
        try owned.finish()
    }

    /// A node that was paused while it pruned, and whose realm was deleted and made anew meanwhile.
    @Test func `who does not know of another lineage deletes nothing of it`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("anew", log)
        try owned.add(1...3)
        let lineage = try owned.head.lineage
        _ = try owned.logged.makeBase()
        let bases = try log.bases(of: "anew")
        try log.prune("anew", lineage: "another", upTo: 1000)
        for base in bases { try log.remove(base, of: "anew", whileLineage: "another") }
        #expect(try log.bases(of: "anew") == bases)
        var count = 0
        try log.records(of: "anew", lineage: lineage, versions: 1...1000) { (_: [UInt8]) throws(StorageError) in count += 1 }
        #expect(UInt64(count) == owned.snapshot.version - bases[bases.count - 1].version)
        #expect(try LogBases.prune("anew", lineage: "another", log) == nil)
        #expect(try log.bases(of: "anew") == bases)
        try owned.finish()
    }

    @Test func `records are pruned behind bases that were read back, and a damaged base is passed over`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("bases", log)
        try owned.add(1...3)
        let lineage = try owned.head.lineage
        let first = try owned.logged.makeBase()
        #expect(try LogBases.prune("bases", lineage: lineage, log, keeping: 3) == nil)
        try owned.add(4...6)
        let second = try owned.logged.makeBase()
        #expect(try LogBases.prune("bases", lineage: lineage, log) == first.version)
        #expect(try log.bases(of: "bases") == [second, first])
        try owned.add(7...8)
        try PostgresServer.shared.get().execute(
            "update realm_rest.base_part set bytes = overlay(bytes placing '\\x00112233' from 2000) where realm = 'bases' and version = \(second.version)"
        )
        let other = try OwnedRealm("bases", log, node: "n2")
        #expect(other.logged.way == .base(version: first.version))
        #expect(try other.has(8))
        // The damaged one is not counted, so nothing is pruned.
        #expect(try LogBases.prune("bases", lineage: lineage, log) == nil)
        let third = try other.logged.makeBase()
        #expect(try LogBases.prune("bases", lineage: lineage, log) == first.version)
        #expect(try log.bases(of: "bases") == [third, first])
        try other.finish()
        // The position is far behind what is left of the log only for a file that was away.
        let fourth = try { () in
            try owned.finish()
            try owned.reopen()
            #expect(owned.logged.way == .records(0))
            try owned.add(9...9)
            return try owned.logged.makeBase()
        }()
        #expect(try LogBases.prune("bases", lineage: lineage, log, keeping: 1) == fourth.version)
        try other.reopen(node: "n2")
        #expect(try other.logged.way == .base(version: fourth.version) && other.has(9))
        try PostgresServer.shared.get().execute("delete from realm_rest.base_part where realm = 'bases'")
        try other.finish()
        try FileManager.default.removeItem(atPath: other.path)
        #expect(throws: StorageError.self) { try other.reopen(node: "n2") }
        try owned.finish()
    }

    @Test func `a file with a commit that the log does not have is made anew`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("foreign", log)
        try owned.add(1...2)
        try owned.finish()
        let alone = try EngineRealm(path: owned.path)
        try alone.write { session in _ = try session.create("Dog", ["id": .integer(77), "name": .text("Alien")]) }
        try alone.finish()
        try owned.reopen()
        #expect(try owned.logged.way == .base(version: 1) && !owned.has(77) && owned.has(2))
        try owned.add(3...3)
        try owned.finish()
    }

    @Test func `a file that was compacted or damaged in between is made anew`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("between", log)
        try owned.add(1...300)
        try owned.finish()
        _ = try FileStore.rewrite(path: owned.path, key: nil, newKey: nil, FileStore.Options())
        try owned.reopen()
        #expect(try owned.logged.way == .base(version: 1) && owned.has(300))
        try owned.add(301...302)
        let other = try OwnedRealm("between", log, node: "n2")
        #expect(try RecordDifference.isEqual(owned.snapshot, other.snapshot))
        try owned.finish()
        try other.finish()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: owned.path))
        let top = Int(owned.snapshot.top.ref.rawValue)
        bytes.replaceSubrange(top..<top + 8, with: [UInt8](repeating: 0xff, count: 8))
        try bytes.write(to: URL(fileURLWithPath: owned.path))
        try owned.reopen()
        #expect(try owned.logged.way == .base(version: 1) && owned.has(302))
        try owned.finish()
    }

    /// What a cut of the power or a bad disk leaves of a file.
    @Test(arguments: [0, 1, 23, 24, 100, 4096, 8191, 8192])
    func `a file that is cut short or has lost its beginning is made anew`(count: Int) throws {
        let log = try makeLog()
        let owned = try OwnedRealm("short\(count)", log)
        try owned.add(1...300)
        try owned.finish()
        let file = URL(fileURLWithPath: owned.path)
        let bytes = try Data(contentsOf: file)
        try #require(bytes.count > 8192)
        try bytes.prefix(count).write(to: file)
        try owned.reopen()
        #expect(try owned.logged.way == .base(version: 1) && owned.has(300))
        try owned.finish()
        try (Data(count: count) + bytes.dropFirst(count)).write(to: file)
        try owned.reopen()
        #expect(try owned.has(300))
        try owned.add(301...301)
        try owned.finish()
    }

    @Test func `a second opening of a file is refused before it claims anything`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("twice", log)
        try owned.add(1...1)
        var opening = LoggedRealm.Opening(owned.name, path: owned.path, node: "n1", Database.OpenOptions())
        opening.limits.claimSeconds = 5
        do {
            try LoggedRealm.open(opening, log).close()
            Issue.record("the file was opened twice")
        } catch {
            guard case .refused(.fileInUse) = error else { throw error }
        }
        try owned.add(2...2)
        try owned.finish()
    }

    @Test func `readers of an opening that was replaced keep what they read`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("readers", log)
        try owned.add(1...50)
        let old = owned.snapshot
        let digest = try UsedBytes.of(old)
        let other = try OwnedRealm("readers", log, node: "n2", grace: 0)
        for id in Int64(51)...90 { try other.add(id...id) }
        try other.finish()
        #expect(owned.failure(adding: 99) == .refused(.notOwner("")))
        try owned.reopenInPlace()
        #expect(owned.logged.way == .base(version: 1))
        #expect(try owned.has(90) && UsedBytes.of(old) == digest)
        try owned.add(91...91)
        #expect(try UsedBytes.of(old) == digest)
        try owned.finish()
    }

    /// The bytes of everything that a version uses.
    private enum UsedBytes {
        static func of(_ snapshot: Snapshot) throws -> [UInt8] {
            let backend = try MemoryBackend()
            try BaseCopy.write(snapshot, to: backend)
            return try FileDigest.sha256(backend.bytes)
        }
    }

    @Test func `a file that did not come from the log is kept beside`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("kept", log)
        try owned.add(1...2)
        let other = try TemporaryRealm()
        let alone = try EngineRealm(path: other.path, [OwnedRealm.dog])
        try alone.finish()
        let replay = LogReplay("kept", path: other.path, log: log)
        #expect(try replay.bringUp(to: owned.head).way == .base(version: 1))
        let names = try FileManager.default.contentsOfDirectory(atPath: other.url.deletingLastPathComponent().path)
        #expect(names.filter { $0.contains("replaced") }.count == 1, "\(names)")
        try owned.finish()
    }

    @Test func `long commits are stored in parts, and too long ones not at all`() throws {
        let log = try makeLog()
        var limits = RealmOwner.Limits()
        limits.recordBytes = 12 << 20
        let owned = try OwnedRealm("long", log, limits: limits)
        let photo = (0..<5 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        try owned.add(1...1, photo: photo)
        let head = try owned.head
        let failure = owned.realm.failure { session in
            for id in Int64(10)...13 {
                _ = try session.create("Dog", ["id": .integer(id), "name": .text("Big"), "photo": .typed(.binary(photo))])
            }
        }
        #expect(
            failure?.code == .outOfRange && failure?.detail.contains("\(12 << 20) bytes") == true,
            "\(String(describing: failure))")
        #expect(try owned.head == head)
        try owned.add(2...2)
        let other = try OwnedRealm("long", log, node: "n2")
        #expect(try RecordDifference.isEqual(owned.snapshot, other.snapshot) && !other.has(10))
        try other.finish()
        try owned.finish()
    }

    @Test func `compaction is refused, and migrations are commits as others`() throws {
        let log = try makeLog()
        let owned = try OwnedRealm("compacted", log)
        try owned.add(1...200)
        let store = try #require(owned.logged.database.store)
        let copy = try store.makeCompactCopy()
        let transaction = try store.beginTransaction()
        #expect(throws: StorageError.self) { try transaction.replaceFile(by: copy) }
        transaction.end()
        let answer = Awaited<Result<WriteReceipt<WriteSession.Migrated>, WriteError>>()
        let steps: [MigrationStep] = [.renameProperty(className: "Dog", name: "name", to: "title")]
        owned.logged.database.migrate(Migration(from: 0, to: 1, steps), EngineRealm.request()) { answer.set($0) }
        _ = try answer.wait().get()
        let other = try OwnedRealm("compacted", log, node: "n2")
        #expect(try RecordDifference.isEqual(owned.snapshot, other.snapshot))
        try other.finish()
        try owned.finish()
    }

    @Test func `a server that may lose what it has acknowledged is refused`() throws {
        let server = try PostgresServer.shared.get()
        let careless = PostgresLog(PostgresOptions(server.address + " options='-c synchronous_commit=off'"))
        #expect { try careless.prepare() } throws: { "\($0)".contains("synchronous_commit = off") }
        var options = PostgresOptions(server.address)
        options.requiresStandby = true
        #expect { try PostgresLog(options).prepare() } throws: { "\($0)".contains("synchronous_standby_names") }
        let secret = PostgresLog(PostgresOptions("host=/nowhere user=realm password=hush dbname=postgres"))
        #expect { try secret.prepare() } throws: { !"\($0)".contains("hush") }
    }
}

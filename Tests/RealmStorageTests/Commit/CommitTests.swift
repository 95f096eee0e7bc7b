// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Commits")
struct CommitTests {
    static func key(_ isEncrypted: Bool) throws -> EncryptionKey? {
        isEncrypted ? try EncryptionKey(bytes: Fixtures.key) : nil
    }

    /// The newest version passes verification and holds what it should.
    static func check(_ snapshot: Snapshot, _ expected: PlainWorkload, _ what: String) throws {
        let report = snapshot.verify()
        #expect(report.errors.isEmpty && report.warnings.isEmpty, "\(what): \(report.errors) \(report.warnings)")
        #expect(try PlainWorkload.contents(of: snapshot) == expected.tables, "\(what)")
    }

    /// Changes something at random and commits it.
    static func commit(
        to store: FileStore, _ workload: inout PlainWorkload, using random: inout SeededGenerator
    ) throws -> Snapshot {
        let transaction = try store.beginWrite()
        let roots = try workload.change(transaction, using: &random)
        return try transaction.commit(names: roots.names, tables: roots.tables)
    }

    @Test(arguments: [false, true], 1...4)
    func `a workload of many commits keeps every byte accounted for`(_ isEncrypted: Bool, seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let backend = try MemoryBackend(reservation: seed == 4 ? 1 << 16 : nil)
        var store = try FileStore(backend, key: try Self.key(isEncrypted))
        var workload = PlainWorkload()
        for round in 0..<(TestRun.isLong ? 600 : 60) {
            let snapshot = try Self.commit(to: store, &workload, using: &random)
            #expect(snapshot.version == UInt64(round + 2))
            try Self.check(snapshot, workload, "seed \(seed), round \(round)")
            if Int.random(in: 0..<10, using: &random) == 0 {
                store = try FileStore(MemoryBackend(backend.bytes), key: try Self.key(isEncrypted))
                try Self.check(store.current, workload, "seed \(seed), round \(round), reopened")
                store = try FileStore(backend, key: try Self.key(isEncrypted))
            }
        }
    }

    @Test(arguments: [false, true])
    func `old versions stay readable while others are committed, and their space is used afterwards`(_ isEncrypted: Bool) throws {
        var random = SeededGenerator(seed: 7)
        let store = try FileStore(try MemoryBackend(reservation: 1 << 18), key: try Self.key(isEncrypted))
        var workload = PlainWorkload()
        var kept: [(snapshot: Snapshot, contents: PlainWorkload)] = []
        for round in 0..<120 {
            let snapshot = try Self.commit(to: store, &workload, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 { kept.append((snapshot, workload)) }
            if Int.random(in: 0..<5, using: &random) == 0, !kept.isEmpty {
                kept.remove(at: Int.random(in: 0..<kept.count, using: &random))
            }
            for old in kept {
                #expect(try PlainWorkload.contents(of: old.snapshot) == old.contents.tables, "round \(round)")
            }
            #expect(store.liveVersionCount <= kept.count + 1)
        }
        let size = store.current.top.logicalSize
        kept.removeAll()
        for _ in 0..<40 {
            _ = try Self.commit(to: store, &workload, using: &random)
        }
        #expect(store.current.top.logicalSize <= size + 1 << 20)
        try Self.check(store.current, workload, "at the end")
    }

    @Test func `tables that did not change are taken from the version before, with the same contents`() throws {
        var random = SeededGenerator(seed: 3)
        let store = try FileStore.inMemory()
        var workload = PlainWorkload()
        while workload.tables.count < 5 {
            _ = try Self.commit(to: store, &workload, using: &random)
        }
        let before = store.current
        let after = try Self.commit(to: store, &workload, using: &random)
        for (old, new) in zip(before.tables, after.tables) { #expect(old.columns.first === new.columns.first) }
        #expect(after.tables.allSatisfy { $0.space.limit == after.space.limit })
    }

    /// With blocks taken from the largest on, the free space was soon in pieces too small for the free lists, and the file
    /// grew by 1 MiB every few hundred commits.
    @Test func `a file whose nodes are rewritten over and over does not grow for ever`() throws {
        var random = SeededGenerator(seed: 3)
        let file = try TemporaryRealm("store")
        let store = try FileStore(try MemoryBackend(try file.bytes))
        for _ in 0..<(TestRun.isLong ? 5000 : 400) {
            let transaction = try store.beginWrite()
            let roots = try RewriteWorkload.change(transaction, using: &random)
            _ = try transaction.commit(names: roots.names, tables: roots.tables)
        }
        let free = try FreeSpace(store.current.top, store.current.space)
        let used = free.logicalSize - free.usableByteCount - free.lockedByteCount
        #expect(free.logicalSize < 2 * used + 1 << 20, "\(used) of \(free.logicalSize) bytes are used")
        #expect(store.current.verify().isClean)
    }

    @Test func `what is rolled back leaves no trace, and a transaction that is dropped lets the next one begin`() throws {
        var random = SeededGenerator(seed: 5)
        let store = try FileStore.inMemory()
        var workload = PlainWorkload()
        for _ in 0..<30 {
            var dropped = workload
            let abandoned = try store.beginWrite()
            _ = try dropped.change(abandoned, using: &random)
            #expect(throws: StorageError.self) { try store.beginWrite() }
            abandoned.rollBack()
            let transaction = try store.beginWrite()
            let roots = try workload.change(transaction, using: &random)
            _ = try transaction.commit(names: roots.names, tables: roots.tables)
            #expect(throws: StorageError.self) { try transaction.commit(names: roots.names, tables: roots.tables) }
        }
        try Self.check(store.current, workload, "at the end")
    }

    @Test func `no write begins while too many versions are being read`() throws {
        var random = SeededGenerator(seed: 5)
        var options = FileStore.Options()
        options.maximumVersionCount = 3
        let store = try FileStore.inMemory(options)
        var workload = PlainWorkload()
        var kept: [Snapshot] = []
        while store.liveVersionCount <= 3 {
            kept.append(try Self.commit(to: store, &workload, using: &random))
        }
        #expect(throws: StorageError.refused(.tooManyVersions(4))) { try store.beginWrite() }
        kept.removeFirst(kept.count - 1)
        _ = try store.beginWrite()
        #expect(kept.count == 1)
    }

    @Test func `nodes of a file beyond 64 MiB never cross a section`() throws {
        let store = try FileStore.inMemory()
        var workload = PlainWorkload()
        var random = SeededGenerator(seed: 1)
        while workload.tables.isEmpty { _ = try Self.commit(to: store, &workload, using: &random) }
        for round in 0..<9 {
            let transaction = try store.beginWrite()
            let roots = try workload.appendRow(Array(repeating: UInt8(round), count: 9_000_000), to: 0, transaction)
            // The check of whole files warns about nodes that cross.
            try Self.check(try transaction.commit(names: roots.names, tables: roots.tables), workload, "round \(round)")
        }
        let free = try FreeSpace(store.current.top, store.current.space)
        #expect(free.logicalSize > FreeSpace.sectionByteCount)
        #expect(free.usable.contains { $0.end == FreeSpace.sectionByteCount }, "what is left in front of the section is free")
    }

    @Test(arguments: Damage.allCases)
    func `damaged files are refused or written to, and never end the process`(_ damage: Damage) throws {
        var random = SeededGenerator(seed: 17)
        for name in ["types-single", "links", "multi-commit", "indexes", "streaming"] {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
            for _ in 0..<(TestRun.isLong ? 400 : 20) {
                guard let store = try? FileStore(MemoryBackend(damage.apply(to: bytes, using: &random))) else { continue }
                for _ in 0..<3 {
                    guard let transaction = try? store.beginWrite() else { break }
                    guard let roots = try? RewriteWorkload.change(transaction, using: &random),
                        (try? transaction.commit(names: roots.names, tables: roots.tables)) != nil
                    else { continue }
                }
                _ = store.current.verify()
            }
        }
    }

    // MARK: - Crashes

    @Test(arguments: [false, true], 1...3)
    func `a crash at any write or sync leaves the old version or the new one`(_ isEncrypted: Bool, seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed) + (isEncrypted ? 1000 : 0))
        let key = try Self.key(isEncrypted)
        var backend = try CrashBackend()
        var store = try FileStore(backend, key: key)
        var workload = PlainWorkload()
        workload.maximumBlob = seed == 1 ? 2000 : 30_000
        for round in 0..<(TestRun.isLong ? 300 : 16) {
            let before = workload
            backend.startLog()
            _ = try Self.commit(to: store, &workload, using: &random)
            var survivor: (bytes: [UInt8], contents: PlainWorkload)?
            for call in 0...backend.log.count {
                let unit = isEncrypted ? 4096 : 512
                let image = backend.image(after: call, unit: unit, using: &random)
                let what = "seed \(seed), round \(round), crash after call \(call) of \(backend.log.count)"
                let reopened = try FileStore(try CrashBackend(image), key: key)
                let isNew = reopened.current.version == store.current.version
                #expect(call < backend.log.count || isNew, "\(what): an acknowledged commit is lost")
                try Self.check(reopened.current, isNew ? workload : before, what)
                if Int.random(in: 0..<backend.log.count, using: &random) == 0 { survivor = (image, isNew ? workload : before) }
            }
            // Life goes on from one of the crashes, so that the next one meets what it left behind.
            if let survivor {
                backend = try CrashBackend(survivor.bytes)
                store = try FileStore(backend, key: key)
                workload = survivor.contents
            }
        }
    }

    @Test(arguments: [(false, 2), (true, 4)])
    func `a plain commit waits for the disk twice, an encrypted one four times`(_ isEncrypted: Bool, _ expected: Int) throws {
        var random = SeededGenerator(seed: 1)
        let backend = try CrashBackend()
        let store = try FileStore(backend, key: try Self.key(isEncrypted))
        var workload = PlainWorkload()
        for _ in 0..<10 {
            let before = backend.syncCount
            _ = try Self.commit(to: store, &workload, using: &random)
            #expect(backend.syncCount - before == expected)
        }
    }

    @Test func `the commits of a file with room are one write for all nodes, and three for the header`() throws {
        var random = SeededGenerator(seed: 1)
        let backend = try CrashBackend()
        let store = try FileStore(backend)
        var workload = PlainWorkload()
        backend.startLog()
        _ = try Self.commit(to: store, &workload, using: &random)
        let writes = backend.log.count { if case .write = $0 { true } else { false } }
        #expect(writes == 4)
    }

    // MARK: - Faults

    @Test(
        arguments: FaultBackend.Kind.allCases,
        [false, true])
    func `a failing call leaves the old version; a failing sync ends writing`(_ kind: FaultBackend.Kind, _ isEncrypted: Bool)
        throws
    {
        var random = SeededGenerator(seed: 99)
        let key = try Self.key(isEncrypted)
        var workload = PlainWorkload()
        var bytes: [UInt8] = []
        var failures = 0
        for round in 0..<(TestRun.isLong ? 200 : 30) {
            let backend = try FaultBackend(bytes)
            let store = try FileStore(backend, key: key)
            let old = store.current.version
            backend.resetCounts()
            backend.failing = (kind, Int.random(in: 0..<(kind == .extend ? 1 : 5), using: &random), kind == .extend ? 28 : 5)
            var next = workload
            let transaction = try store.beginWrite()
            let roots = try next.change(transaction, using: &random)
            let failuresBefore = backend.failureCount
            do {
                _ = try transaction.commit(names: roots.names, tables: roots.tables)
                #expect(backend.failureCount == failuresBefore)
                workload = next
            } catch {
                failures += 1
                #expect(store.current.version == old)
                try Self.check(store.current, workload, "round \(round)")
                backend.failing = nil
                if store.acceptsWrites {
                    _ = try transaction.commit(names: roots.names, tables: roots.tables)
                    workload = next
                    try Self.check(store.current, workload, "round \(round), tried again")
                } else {
                    #expect(throws: StorageError.refused(.writesStopped)) {
                        try transaction.commit(names: roots.names, tables: roots.tables)
                    }
                    transaction.rollBack()
                    #expect(throws: StorageError.refused(.writesStopped)) { try store.beginWrite() }
                }
                #expect(kind != .extend || store.acceptsWrites)
                #expect(kind != .sync || !store.acceptsWrites)
            }
            bytes = backend.bytes
            let reopened = try FileStore(MemoryBackend(bytes), key: key).current
            if reopened.version != old, !store.acceptsWrites { workload = next }
            try Self.check(reopened, workload, "round \(round), reopened")
        }
        #expect(failures > 0)
    }
}

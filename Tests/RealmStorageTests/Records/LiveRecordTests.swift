// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

/// A file that is read and takes records of another process in its place.
@Suite("Records in a file that is read")
struct LiveRecordTests {
    typealias Scene = RecordDamageTests.Scene

    private func records(_ scene: Scene) throws -> [CommitRecord] {
        var chain = scene.log.start
        var position = 0
        let bytes = scene.log.bytes
        return try scene.log.sealed.map { _ in try chain.open(bytes, at: &position) }
    }

    /// The bytes of everything that a version uses.
    private func used(_ snapshot: Snapshot) throws -> [UInt8] {
        let backend = try MemoryBackend()
        try BaseCopy.write(snapshot, to: backend)
        return backend.bytes
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 40))
    func `make the versions of the owner, which can be continued by commits`(seed: UInt64) throws {
        let scene = try Scene(commits: 30, seed: seed)
        let store = try FileStore(MemoryBackend(scene.base))
        for record in try records(scene) {
            let snapshot = try store.apply(record)
            #expect(snapshot === store.current && snapshot.version == record.version, "seed \(seed)")
            #expect(throws: StorageError.self, "seed \(seed): twice") { try store.apply(record) }
        }
        #expect(try RecordDifference.isEqual(scene.last, store.current), "seed \(seed)")
        #expect(store.current.verify().isClean, "seed \(seed)")
        // Now this process is the owner; what readers have is kept.
        let before = store.current
        let bytes = try used(before)
        for number in 0..<20 {
            try RecordEqualityTests.commit(store) { transaction in
                let key = try transaction.createTable("class_New\(number)")
                for _ in 0..<50 { _ = try transaction.createObject(in: key) }
            }
            #expect(store.current.verify().isClean, "seed \(seed), commit \(number)")
        }
        #expect(try used(before) == bytes, "seed \(seed)")
    }

    /// Readers hold versions that are up to fifty behind. A record that would disturb them is refused until the file was left to
    /// them; then they go on reading what they read.
    @Test(arguments: TestRun.seeds(quick: 2, long: 40))
    func `never disturb who reads`(seed: UInt64) throws {
        let scene = try Scene(commits: 80, seed: seed)
        let store = try FileStore(MemoryBackend(scene.base))
        var random = SeededGenerator(seed: seed)
        var kept: [(snapshot: Snapshot, bytes: [UInt8])] = []
        var refusals = 0
        for record in try records(scene) {
            let oldest = try #require(store.oldestLiveVersion)
            if record.horizon >= oldest {
                refusals += 1
                #expect(throws: StorageError.self, "seed \(seed)") { try store.apply(record) }
                let version = store.current.version
                #expect(try store.renew().version == version && store.oldestLiveVersion == version, "seed \(seed)")
            }
            try store.apply(record)
            if Int.random(in: 0..<4, using: &random) == 0 { kept.append((store.current, try used(store.current))) }
            kept.removeAll { store.current.version - $0.snapshot.version > 50 }
            if kept.count > 6 { kept.remove(at: Int.random(in: 0..<kept.count, using: &random)) }
            for (snapshot, bytes) in kept {
                #expect(try used(snapshot) == bytes, "seed \(seed): version \(snapshot.version) at \(record.version)")
            }
        }
        #expect(refusals > 0 && store.formerFileCount > 0, "seed \(seed): nobody was in the way")
        #expect(try RecordDifference.isEqual(scene.last, store.current), "seed \(seed)")
        kept = []
        #expect(store.formerFileCount == 0)
    }

    /// The file loses power at every call of its disk while it takes records. A sector is written as a whole.
    @Test(arguments: [512, 4096, .max] as [Int])
    func `a file that lost power goes on from the version that it has`(unit: Int) throws {
        let scene = try Scene(commits: TestRun.isLong ? 30 : 6, seed: 15)
        let backend = try CrashBackend(scene.base)
        let store = try FileStore(backend)
        let list = try records(scene)
        backend.startLog()
        for (number, record) in list.enumerated() {
            try store.apply(record)
            if number % 4 != 1 { try store.finishApplying() }
        }
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: unit))
        for count in 0...backend.log.count {
            let image = backend.image(after: count, unit: unit, using: &random)
            let again = try FileStore(MemoryBackend(image))
            #expect(again.current.verify().isClean, "call \(count), unit \(unit)")
            for record in list where record.version > again.current.version { try again.apply(record) }
            try again.finishApplying()
            #expect(try RecordDifference.isEqual(scene.last, again.current), "call \(count), unit \(unit)")
        }
    }

    /// A write or sync that fails leaves the version before, for readers as well; unless a sync failed, the record is taken later.
    @Test(arguments: FaultBackend.Kind.allCases)
    func `a disk that refuses leaves the version before`(kind: FaultBackend.Kind) throws {
        let scene = try Scene(commits: 4, seed: 16)
        for after in 0..<12 {
            let backend = try FaultBackend(scene.base)
            let store = try FileStore(backend)
            backend.resetCounts()
            backend.failing = (kind, after, 28)
            for record in try records(scene) {
                let before = store.current
                do {
                    try store.apply(record)
                } catch {
                    backend.failing = nil
                    #expect(store.current === before && before.verify().isClean, "\(kind) \(after)")
                    guard store.acceptsWrites else { break }
                    try store.apply(record)
                }
                do {
                    try store.finishApplying()
                } catch {
                    backend.failing = nil
                    guard store.acceptsWrites else { break }
                    try store.finishApplying()
                }
            }
            #expect(store.current.verify().isClean, "\(kind) \(after)")
            let found = try FileStore(MemoryBackend(backend.bytes)).current
            #expect(found.verify().isClean, "\(kind) \(after)")
            if store.acceptsWrites { #expect(found.version == store.current.version, "\(kind) \(after)") }
        }
    }

    @Test func `a record whose version cannot be read changes nothing`() throws {
        let scene = try Scene(commits: 3, seed: 17)
        let store = try FileStore(MemoryBackend(scene.base))
        let record = try #require(try records(scene).first)
        let before = store.current
        let broken = CommitRecord(
            version: record.version, previousVersion: record.previousVersion, time: record.time, horizon: record.horizon,
            logicalSize: record.logicalSize, physicalSize: record.physicalSize, topRef: record.topRef, flip: record.flip,
            extents: Array(record.extents.dropFirst()), notes: record.notes)
        #expect(throws: StorageError.self) { try store.apply(broken) }
        #expect(store.current === before && store.acceptsWrites)
        try store.apply(record)
        #expect(store.current.verify().isClean)
    }

    @Test func `nothing is applied while a transaction runs, or to a file whose commits are made here`() throws {
        let scene = try Scene(commits: 2, seed: 18)
        let store = try FileStore(MemoryBackend(scene.base))
        let list = try records(scene)
        let transaction = try store.beginTransaction()
        #expect(throws: StorageError.self) { try store.apply(list[0]) }
        transaction.end()
        try store.setLog(RecordedLog(after: store.current.version))
        #expect(throws: StorageError.self) { try store.apply(list[0]) }
        try store.setLog(nil)
        try store.apply(list[0])
    }
}

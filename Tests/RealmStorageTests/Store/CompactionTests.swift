// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Files that are replaced by compact ones while they are written to.
@Suite struct CompactionTests {
    /// Everything that can be read of a version, as lines of text.
    private func contents(_ snapshot: Snapshot) throws -> [String] {
        let text = ObjectText(snapshot)
        var lines: [String] = []
        for table in snapshot.classes {
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                for index in 0..<leaf.count {
                    let row = Row(leaf: leaf, index: index)
                    lines.append("\(table.name) \(row.key.rawValue) \(try text.text(of: row, in: table))")
                }
            }
        }
        return lines
    }

    private func write(_ store: FileStore, _ workload: inout StorageWorkload, steps: Int) throws {
        let transaction = try store.beginTransaction()
        for _ in 0..<steps { try workload.step(transaction) }
        _ = try transaction.commit()
    }

    private func replaceFile(of store: FileStore, by copy: CompactCopy) throws -> Snapshot {
        let transaction = try store.beginTransaction()
        defer { transaction.end() }
        return try transaction.replaceFile(by: copy)
    }

    /// The part of a file that is neither used nor unavoidable: it may be a page and 1 %.
    private func waste(_ snapshot: Snapshot) throws -> Double {
        let free = try FreeSpace(snapshot.top, snapshot.space)
        return Double(max(0, free.usableByteCount + free.lockedByteCount - 4096)) / Double(free.logicalSize)
    }

    @Test(arguments: 1...(TestRun.isLong ? 40 : 6) as ClosedRange<UInt64>)
    func `a compact file takes over while versions are made and read`(seed: UInt64) throws {
        let file = try TemporaryRealm()
        let key = seed % 3 == 0 ? try EncryptionKey(bytes: Fixtures.key) : nil
        var options = FileStore.Options()
        options.createsMissingFile = true
        options.clusterShift = seed % 2 == 0 ? 2 : 8
        let store = try FileStore.open(path: file.path, key: key, options)
        var workload = StorageWorkload(seed: seed)
        let first = try store.beginTransaction()
        try workload.makeSchema(first)
        _ = try first.commit()
        for round in 0..<(TestRun.isLong ? 6 : 4) {
            for _ in 0..<Int(seed % 4) { try write(store, &workload, steps: 40) }
            let pinned = (snapshot: store.current, contents: try contents(store.current))
            let copy = try store.makeCompactCopy()
            for _ in 0..<round {
                try write(store, &workload, steps: 15)
                if seed % 2 == 0 { try copy.follow(store.current) }
            }
            let before = store.current
            let after = try replaceFile(of: store, by: copy)
            #expect(after.version == before.version)
            #expect(try contents(after) == contents(before))
            #expect(try contents(pinned.snapshot) == pinned.contents)
            let report = after.verify()
            #expect(report.isClean, "seed \(seed), round \(round): \(report.errors.prefix(3))")
            if round == 0 { #expect(try waste(after) <= 0.01, "seed \(seed)") }
            try write(store, &workload, steps: 20)
            #expect(try contents(pinned.snapshot) == pinned.contents)
        }
        let last = try contents(store.current)
        try store.close()
        let reopened = try FileStore.open(path: file.path, key: key, options)
        #expect(try contents(reopened.current) == last)
        #expect(reopened.current.verify().isClean)
        try reopened.close()
    }

    @Test func `a realm in memory is compacted as well`() throws {
        let store = try FileStore.inMemory()
        var workload = StorageWorkload(seed: 5)
        let first = try store.beginTransaction()
        try workload.makeSchema(first)
        _ = try first.commit()
        for _ in 0..<5 { try write(store, &workload, steps: 50) }
        let before = try contents(store.current)
        let copy = try store.makeCompactCopy()
        let after = try replaceFile(of: store, by: copy)
        #expect(try contents(after) == before)
        #expect(after.file.fileByteCount < 2 << 20)
        try write(store, &workload, steps: 50)
        #expect(store.current.verify().isClean)
    }

    @Test func `an empty realm, and one that got its first classes meanwhile`() throws {
        let file = try TemporaryRealm()
        var options = FileStore.Options()
        options.createsMissingFile = true
        let store = try FileStore.open(path: file.path, options)
        _ = try replaceFile(of: store, by: try store.makeCompactCopy())
        let copy = try store.makeCompactCopy()
        var workload = StorageWorkload(seed: 6)
        let transaction = try store.beginTransaction()
        try workload.makeSchema(transaction)
        _ = try transaction.commit()
        try write(store, &workload, steps: 50)
        let before = try contents(store.current)
        let after = try replaceFile(of: store, by: copy)
        #expect(try contents(after) == before)
        #expect(after.verify().isClean)
        try store.close()
    }

    @Test func `readers of the old file let it go, and the version count says so`() throws {
        let file = try TemporaryRealm("sizes-1000")
        let store = try FileStore.open(path: file.path)
        var old: Snapshot? = store.current
        _ = try replaceFile(of: store, by: try store.makeCompactCopy())
        #expect(store.liveVersionCount == 2)
        #expect(store.oldestLiveSince != nil)
        #expect(old?.verify().isClean == true)
        old = nil
        #expect(store.liveVersionCount == 1)
        #expect(store.oldestLiveSince == nil)
        #expect(throws: Never.self) { try store.witness?.checkFile() }
        try store.close()
    }

    @Test func `a copy that is not used, or a transaction with changes, changes nothing`() throws {
        let file = try TemporaryRealm("types-list")
        let store = try FileStore.open(path: file.path)
        let bytes = try file.bytes
        _ = try store.makeCompactCopy()
        #expect(try file.bytes == bytes)
        let copy = try store.makeCompactCopy()
        let transaction = try store.beginTransaction()
        try transaction.setSchemaVersion(77)
        #expect(throws: StorageError.self) { try transaction.replaceFile(by: copy) }
        transaction.end()
        #expect(try file.bytes == bytes)
        try store.close()
    }
}

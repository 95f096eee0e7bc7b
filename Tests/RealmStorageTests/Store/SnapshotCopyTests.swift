// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Copies of whole files")
struct SnapshotCopyTests {
    static let names = Fixtures.names.filter { name in
        !["bench", "blob-16m", "table-70000"].contains { name.hasPrefix($0) }
    }

    @Test(arguments: names, [false, true])
    func `a copy holds what the original holds, without free space, encrypted or not`(_ name: String, _ isEncrypted: Bool) throws
    {
        let key = try CommitTests.key(Fixtures.isEncrypted(name))
        let original = try Snapshot(file: try RealmFile(path: try Fixtures.path(name), key: key))
        let newKey = try CommitTests.key(isEncrypted)
        let backend = try MemoryBackend()
        try SnapshotCopy.write(original, to: backend, key: newKey)
        let copy = try FileStore(try MemoryBackend(backend.bytes), key: newKey).current
        let report = copy.verify()
        #expect(report.errors.isEmpty && copy.version == original.version)
        #expect(report.statistics.freeBytes <= 4096 + copy.top.logicalSize / 20, "\(report.statistics)")
        #expect(backend.byteCount == copy.file.fileByteCount)
        guard !isEncrypted, let dump = try Fixtures.dump(name) else { return }
        var contents = ExpectedContents(copy)
        try contents.compare(with: dump)
        #expect(contents.differences.isEmpty, "\(contents.differences)")
    }

    @Test(arguments: [
        (false, false), (false, true), (true, false), (true, true),
    ])
    func `a file is compacted and gets another key where it is`(_ isEncrypted: Bool, _ becomesEncrypted: Bool) throws {
        var random = SeededGenerator(seed: 8)
        let file = try TemporaryRealm()
        var options = FileStore.Options()
        options.createsMissingFile = true
        let key = try CommitTests.key(isEncrypted)
        var newKey = try CommitTests.key(becomesEncrypted)
        if isEncrypted, becomesEncrypted { newKey = try EncryptionKey(bytes: Fixtures.key.reversed()) }
        let store = try FileStore.open(path: file.path, key: key, options)
        var workload = PlainWorkload()
        for _ in 0..<30 { _ = try CommitTests.commit(to: store, &workload, using: &random) }
        #expect(throws: StorageError.self) { try FileStore.rewrite(path: file.path, key: key, newKey: newKey) }
        try store.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let sizes = try FileStore.rewrite(path: file.path, key: key, newKey: newKey)
        #expect(sizes.after < sizes.before)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        let next = try FileStore.open(path: file.path, key: newKey)
        #expect(next.current.version == 31)
        for _ in 0..<5 { _ = try CommitTests.commit(to: next, &workload, using: &random) }
        try CommitTests.check(next.current, workload, "after the rewrite")
        #expect(throws: StorageError.self) { try SnapshotCopy.write(next.current, toFile: file.path, key: nil) }
        let folder = file.url.deletingLastPathComponent().path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["test.realm", "test.realm.lock"])
    }

    @Test func `an empty realm is copied as such`() throws {
        let backend = try MemoryBackend()
        try SnapshotCopy.write(try FileStore.inMemory().current, to: backend, key: nil)
        #expect(try FileStore(backend).current.tables.isEmpty)
    }
}

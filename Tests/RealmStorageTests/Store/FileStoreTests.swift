// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Files that are written")
struct FileStoreTests {
    private static func key(_ fixture: String) throws -> EncryptionKey? { try CommitTests.key(Fixtures.isEncrypted(fixture)) }

    @Test(arguments: Fixtures.names.filter { !$0.hasPrefix("bench") && ($0 != "blob-16m" || TestRun.isLong) })
    func `every fixture can be rewritten node by node and holds what it held`(_ name: String) throws {
        var random = SeededGenerator(seed: 11)
        let file = try TemporaryRealm(name)
        let key = try Self.key(name)
        let version = try Snapshot(file: try RealmFile(path: file.path, key: key)).version
        var kept: [Snapshot] = []
        for round in 0..<3 {
            let store = try FileStore.open(path: file.path, key: key)
            for _ in 0..<(TestRun.isLong ? 30 : 4) {
                let transaction = try store.beginWrite()
                let roots = try RewriteWorkload.change(transaction, using: &random)
                kept.append(try transaction.commit(names: roots.names, tables: roots.tables))
            }
            #expect(store.current.version == version + UInt64((round + 1) * (TestRun.isLong ? 30 : 4)))
            if round == 2 { try check(try #require(kept.dropLast().last), name) }
            kept = []
            try store.close()
        }
        try check(try Snapshot(file: try RealmFile(path: file.path, key: key)), name)
    }

    private func check(_ snapshot: Snapshot, _ name: String) throws {
        let report = snapshot.verify()
        #expect(report.errors.isEmpty, "\(report.errors)")
        #expect(snapshot.top.historyType == 2 && snapshot.top.historySchemaVersion == 1 && snapshot.top.history.isNone)
        // Comparing this one takes half a minute.
        guard name != "table-70000" || TestRun.isLong, let dump = try Fixtures.dump(name) else { return }
        var contents = ExpectedContents(snapshot)
        try contents.compare(with: dump)
        #expect(contents.differences.isEmpty, "\(contents.differences)")
    }

    // MARK: - First opening

    @Test(arguments: ["streaming", "group-only"])
    func `a file in streaming form leaves it, whatever moment the power fails at`(_ name: String) throws {
        var random = SeededGenerator(seed: 1)
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
        let backend = try CrashBackend(original)
        let expected = try FileStore(backend).current
        #expect(!expected.file.header.isStreaming && expected.file.header.selectedSlot == 1)
        #expect(Array(backend.bytes[0..<8]) == Array(repeating: 0xff, count: 8))
        #expect(backend.bytes.count % 4096 == 0)
        for call in 0...backend.log.count {
            let image = backend.image(after: call, unit: 512, using: &random)
            let reopened = try FileStore(try CrashBackend(image))
            #expect(reopened.current.top.tables == expected.top.tables)
            #expect(reopened.current.verify().isClean)
        }
    }

    @Test func `an encrypted file in streaming form leaves it, whatever moment the power fails at`() throws {
        var random = SeededGenerator(seed: 1)
        let key = try EncryptionKey(bytes: Fixtures.key)
        let plain = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("streaming"))))
        // The footer of an encrypted file stands at the end of its last page.
        let gap = [UInt8](repeating: 0, count: -plain.count & 4095)
        let original = try Self.encrypted(Array(plain.dropLast(16)) + gap + Array(plain.suffix(16)), key)
        let backend = try CrashBackend(original)
        let store = try FileStore(backend, key: key)
        #expect(!store.current.file.header.isStreaming && store.current.verify().isClean)
        // A file that is cut off begins a new log; this one is not.
        #expect(backend.log.count == 8)
        for call in 0...backend.log.count {
            let image = backend.image(after: call, unit: 4096, using: &random)
            let reopened = try FileStore(try CrashBackend(image), key: key)
            #expect(reopened.current.top.tables == store.current.top.tables && reopened.current.verify().isClean)
        }
    }

    private static func encrypted(_ plain: [UInt8], _ key: EncryptionKey) throws -> [UInt8] {
        let cipher = try PageCipher(key)
        let count = plain.count / 4096
        var file = [UInt8](repeating: 0, count: EncryptionLayout.fileByteCount(plainPageCount: count))
        for page in 0..<count {
            var sealed = [UInt8](repeating: 0, count: 4096)
            let stamp = try ByteView.withBytes(of: plain) { view throws(StorageError) in
                try cipher.seal(page: page, counter: 1, from: view.slice(page * 4096, page * 4096 + 4096), to: &sealed)
            }
            let entry = EncryptionLayout.entryOffset(page)
            let start = EncryptionLayout.pageOffset(page)
            file.replaceSubrange(entry..<entry + 64, with: PageEntry(newest: stamp, previous: .none).bytes)
            file.replaceSubrange(start..<start + 4096, with: sealed)
        }
        return file
    }

    @Test(arguments: [
        ("store", 200_000), ("types-single", 8), ("compacted", 0), ("store", 4096),
    ])
    func `what lies behind the logical end is cut off, and what is missing of the last page is added`(
        _ name: String, _ surplus: Int
    ) throws {
        let file = try TemporaryRealm(name)
        try file.write(try file.bytes + [UInt8](repeating: 0x5a, count: surplus))
        let store = try FileStore.open(path: file.path)
        let logical = Int(store.current.top.logicalSize)
        #expect(try file.bytes.count == (logical + 4095) / 4096 * 4096)
        #expect(store.current.verify().isClean)
    }

    @Test func `files that are read but not written are refused, each with its reason, and stay as they are`() throws {
        try refuse("types-single", .formatNotWritable(found: 23)) { $0.bytes[20 + Int($0.bytes[23] & 1)] = 23 }
        try refuse("types-single", .formatNotWritable(found: 20)) { $0.bytes[20 + Int($0.bytes[23] & 1)] = 20 }
        try refuse("types-single", .synchronized) { $0.setElement($0.top, 7, 7) }
        try refuse("types-single", .synchronized) { $0.setElement($0.top, 7, 9) }
        try refuse("types-single", nil) { $0.setElement($0.top, 9, 5) }
        try refuse("types-single", nil) { $0.bytes[16] = 0 }
        try refuse("types-single", nil) { $0.setCount($0.child($0.top, 4), 0) }
    }

    private func refuse(_ name: String, _ expected: StorageError.Refusal?, _ edit: (inout FileEditor) -> Void) throws {
        let file = try TemporaryRealm(name)
        var editor = FileEditor(try file.bytes)
        edit(&editor)
        try file.write(editor.bytes)
        let error = #expect(throws: StorageError.self) { try FileStore.open(path: file.path) }
        if let expected { #expect(error == .refused(expected)) }
        #expect(try file.bytes == editor.bytes)
    }

    // MARK: - Creation

    @Test(arguments: [false, true])
    func `a new file is an empty realm for readers at once, and takes commits`(_ isEncrypted: Bool) throws {
        let file = try TemporaryRealm()
        let key = try CommitTests.key(isEncrypted)
        #expect(throws: StorageError.refused(.fileNotFound)) { try FileStore.open(path: file.path, key: key) }
        #expect(!FileManager.default.fileExists(atPath: file.path + ".lock"))
        var options = FileStore.Options()
        options.createsMissingFile = true
        let store = try FileStore.open(path: file.path, key: key, options)
        #expect(store.current.version == 1 && store.current.tables.isEmpty)
        #expect(try Snapshot(file: try RealmFile(path: file.path, key: key)).tables.isEmpty)
        var random = SeededGenerator(seed: 2)
        var workload = PlainWorkload()
        for _ in 0..<20 { _ = try CommitTests.commit(to: store, &workload, using: &random) }
        try store.close()
        let snapshot = try Snapshot(file: try RealmFile(path: file.path, key: key))
        #expect(snapshot.version == 21 && snapshot.file.header.fileFormat == 24)
        try CommitTests.check(snapshot, workload, "read again")
    }

    @Test func `a file of no bytes may be an interrupted copy: it is refused, and stays`() throws {
        let file = try TemporaryRealm()
        try file.write([])
        let error = #expect(throws: StorageError.self) { try FileStore.open(path: file.path) }
        guard case .refused(.notARealm) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try file.bytes.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: file.path + ".lock"))
    }

    @Test(arguments: [24])
    func `a file of a bare header is a new realm`(_ byteCount: Int) throws {
        let file = try TemporaryRealm()
        let header = [UInt8](repeating: 0, count: 16) + FileHeader.signature + [0, 0, 0, 0]
        try file.write(Array(header.prefix(byteCount)))
        let store = try FileStore.open(path: file.path)
        var random = SeededGenerator(seed: 2)
        var workload = PlainWorkload()
        for _ in 0..<3 { _ = try CommitTests.commit(to: store, &workload, using: &random) }
        try CommitTests.check(store.current, workload, "new")
        #expect(try file.bytes[23] & 1 == 1)
    }

    @Test(arguments: [false, true])
    func `a file on disk that outgrows its range of addresses moves on; older versions stay`(_ isEncrypted: Bool) throws {
        let file = try TemporaryRealm()
        let key = try CommitTests.key(isEncrypted)
        let backend = try FileBackend(descriptor: System.createForWriting(file.path), reservation: 1 << 16)
        let store = try FileStore(backend, key: key)
        var random = SeededGenerator(seed: 4)
        var workload = PlainWorkload()
        workload.maximumBlob = 200_000
        var kept: [(Snapshot, PlainWorkload)] = []
        for _ in 0..<40 {
            kept.append((try CommitTests.commit(to: store, &workload, using: &random), workload))
        }
        for (index, (snapshot, contents)) in kept.enumerated() { try CommitTests.check(snapshot, contents, "\(index)") }
        try CommitTests.check(try Snapshot(file: try RealmFile(path: file.path, key: key)), workload, "read again")
    }

    @Test(arguments: [false, true])
    func `readers see their versions unchanged while others are written`(_ isEncrypted: Bool) async throws {
        let store = try FileStore(try MemoryBackend(reservation: 1 << 20), key: try CommitTests.key(isEncrypted))
        var random = SeededGenerator(seed: 6)
        var workload = PlainWorkload()
        workload.maximumBlob = 60_000
        _ = try CommitTests.commit(to: store, &workload, using: &random)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                let snapshot = try CommitTests.commit(to: store, &workload, using: &random)
                let expected = workload.tables
                for _ in 0..<2 {
                    group.addTask {
                        let contents = try PlainWorkload.contents(of: snapshot)
                        #expect(contents == expected)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(store.liveVersionCount <= 2)
    }

    // MARK: - Ownership

    @Test func `a file has one owner at a time, by whatever path it is opened`() throws {
        let file = try TemporaryRealm("types-single")
        let link = file.url.deletingLastPathComponent().appendingPathComponent("link.realm")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file.url)
        let store = try FileStore.open(path: file.path)
        for path in [file.path, link.path] {
            let error = #expect(throws: StorageError.self) { try FileStore.open(path: path) }
            guard case .refused(.fileInUse) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        try store.close()
        #expect(throws: StorageError.self) { try store.beginWrite() }
        let again = try FileStore.open(path: link.path)
        let resolved = try System.resolved(file.path)
        #expect(again.path == resolved)
        #expect(!FileManager.default.fileExists(atPath: link.path + ".lock"))
    }

    /// What a process leaves of a lock file when it is killed after a step of its preparation. Before it was known that the token may
    /// stand there alone, such a file was taken for one of another program, and the realm could not be written to.
    @Test(arguments: [
        [UInt8](), [UInt8](repeating: 0, count: 4096),
        [UInt8](repeating: 0, count: 64) + [UInt8](repeating: 7, count: 16) + [UInt8](repeating: 0, count: 4016),
        [0, 0, 0, 0, 0, 0, 0xff, 0xff] + [UInt8](repeating: 0, count: 56) + [UInt8](repeating: 7, count: 16)
            + [UInt8](repeating: 0, count: 4016),
    ])
    func `a lock file that was left in the middle of its preparation is used again`(_ bytes: [UInt8]) throws {
        let file = try TemporaryRealm()
        let lockPath = URL(fileURLWithPath: file.path + ".lock")
        try Data(bytes).write(to: lockPath)
        try OwnershipLock(ofFile: file.path).release()
        #expect(try Data(contentsOf: lockPath).first == 1)
        // Anything else beside the token is nobody's who uses the file.
        let foreign = Data(bytes.count == 4096 ? bytes.prefix(4095) + [9] : Array("a note".utf8))
        try foreign.write(to: lockPath)
        #expect(throws: StorageError.self) { try OwnershipLock(ofFile: file.path) }
        #expect(try Data(contentsOf: lockPath) == foreign)
    }

    @Test func `the lock file says to SDKs that it is prepared, and by nobody they know`() throws {
        let file = try TemporaryRealm()
        let lockPath = URL(fileURLWithPath: file.path + ".lock")
        try Data([1, 40, 48, 0, 0, 0, 14, 0]).write(to: lockPath)
        let lock = try OwnershipLock(ofFile: file.path)
        let bytes = [UInt8](try Data(contentsOf: lockPath))
        #expect(bytes.count == 4096 && bytes[0] == 1 && bytes[6] == 0xff && bytes[7] == 0xff)
        #expect(bytes[64..<80].contains { $0 != 0 })
        lock.release()
        let holder = try System.openRegular(lockPath.path, writing: true)
        defer { System.close(holder) }
        for kind in [System.LockKind.exclusive, .shared] {
            #expect(try System.lock(holder, kind))
            #expect(throws: StorageError.self) { try OwnershipLock(ofFile: file.path) }
        }
        #expect(try System.lock(holder, .none))
        let next = try OwnershipLock(ofFile: file.path)
        #expect(try System.lock(holder, .exclusive) == false)
        #expect(try System.lock(holder, .shared))
        next.release()
    }

    /// A process that another thread starts has copies of all descriptors until it executes its program.
    @Test func `a lock ends with its release, though a process being started has a copy of its descriptor`() throws {
        let file = try TemporaryRealm()
        let lock = try OwnershipLock(ofFile: file.path)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let held = try #require(
            descriptors.first {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == file.path + ".lock"
            })
        let copy = try System.duplicate(held)
        defer { System.close(copy) }
        #expect(throws: StorageError.self) { try OwnershipLock(ofFile: file.path) }
        lock.release()
        try OwnershipLock(ofFile: file.path).release()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Files in which free blocks or nodes overlap live ones were opened for writing without a word, and writes that
/// succeeded made other classes unreadable.
@Suite("Files are looked through before they are written to")
struct SpaceAuditTests {
    static let fixtures = Fixtures.names.filter { !$0.hasPrefix("bench") && $0 != "blob-16m" }

    @Test(arguments: fixtures)
    func `every sound fixture passes`(_ name: String) throws {
        let key = Fixtures.isEncrypted(name) ? try EncryptionKey(bytes: Fixtures.key) : nil
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(name), key: key))
        var audit = try SpaceAudit(snapshot.top, snapshot.space)
        #expect(try audit.run())
    }

    private func isUnsound(_ error: (any Error)?) -> Bool {
        if case .refused(.unsound)? = error as? StorageError { return true }
        return false
    }

    private func error(_ body: () throws -> Void) -> (any Error)? {
        do { try body() } catch { return error }
        return nil
    }

    /// What is wrong with the free lists, or with what is in use.
    enum Fault: String, CaseIterable, Sendable { case sharedNode, freeOnNode, future, outOfOrder }

    private func damaged(_ fault: Fault) throws -> TemporaryRealm {
        let file = try TemporaryRealm("multi-commit")
        var editor = FileEditor(try file.bytes)
        let top = editor.top
        let positions = editor.child(top, 3)
        let versions = editor.child(top, 5)
        switch fault {
        case .sharedNode: editor.setElement(top, 0, editor.element(top, 1))
        case .freeOnNode: editor.setElement(positions, 0, UInt64(min(editor.child(top, 0), 0x78) & ~7))
        case .future: editor.setElement(versions, 0, (1 << UInt64(editor.width(versions) - 1)) - 1)
        case .outOfOrder: editor.setElement(positions, 0, editor.element(positions, editor.count(positions) - 1))
        }
        try file.write(editor.bytes)
        return file
    }

    @Test(arguments: [Fault.freeOnNode, .outOfOrder])
    func `a file whose writes might land on something in use is refused and left as it is`(_ fault: Fault) throws {
        let file = try damaged(fault)
        let before = try file.bytes
        let failure = error { try FileStore.open(path: file.path).close() }
        #expect(isUnsound(failure), "\(String(describing: failure))")
        #expect(try file.bytes == before)
        _ = try RealmFile(path: file.path)
    }

    @Test func `a large file is looked through before its first write instead`() throws {
        var options = FileStore.Options()
        options.smallFileBytes = 0
        let file = try TemporaryRealm("strings")
        let store = try FileStore.open(path: file.path, options)
        #expect(store.awaitsAudit)
        #expect(throws: StorageError.self) { _ = try store.beginWrite() }
        try store.audit { true }
        #expect(!store.awaitsAudit)
        try store.beginWrite().rollBack()
        try store.close()
        options.verification = .off
        let unchecked = try FileStore.open(path: file.path, options)
        #expect(!unchecked.awaitsAudit)
        try unchecked.close()
    }

    @Test func `bytes are marked once, across words and at their ends`() throws {
        let marks = try ByteMarks(byteCount: 8192)
        #expect(marks.mark(24, 32) && marks.mark(512, 1536) && marks.mark(8184, 8192) && marks.mark(32, 512))
        #expect(!marks.mark(24, 32) && !marks.mark(1528, 1536) && !marks.mark(0, 32) && !marks.mark(8000, 8192))
        #expect(marks.mark(0, 24) && marks.mark(1536, 1544))
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Encrypted files")
struct EncryptionTests {
    static let pageByteCount = 4096
    /// A lone clone has the small encrypted file only.
    static let hasLargeFile = Fixtures.names.contains("encrypted-large")
    let key: EncryptionKey

    init() throws { key = try EncryptionKey(bytes: Fixtures.key) }

    @Test(
        arguments: [
            ("encrypted", [3], 0x238c_5626_fb0a_6169),
            ("encrypted-large", [3, 7, 15, 31, 63] + Array(65...127), 0x89b5_2fbe_4393_450e),
        ].filter { Fixtures.names.contains($0.0) } as [(String, [Int], UInt64)])
    func `every page decrypts to what an independent reader finds`(_ name: String, _ missing: [Int], _ checksum: UInt64) throws {
        let file = try RealmFile(path: try Fixtures.path(name), key: key)
        #expect(try (0..<file.pageCount).filter { try file.state(ofPage: $0) != .present } == missing)
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for page in 0..<file.pageCount {
            for byte in try file.bytes(ofPage: page).array { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        #expect(sum == checksum, "FNV-1a of the plain file is 0x\(String(sum, radix: 16))")
    }

    @Test(arguments: ["encrypted", "encrypted-large"].filter(Fixtures.names.contains))
    func `every value of an encrypted file can be read`(_ name: String) throws {
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(name), key: key))
        var count = 0
        for table in snapshot.classes {
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                for column in table.columns where column.collection == nil {
                    let values = try leaf.attach(column)
                    for row in 0..<leaf.count { _ = try values.value(row) }
                }
                count += leaf.count
            }
        }
        #expect(count > 0)
    }

    @Test(.enabled(if: EncryptionTests.hasLargeFile))
    func `threads that touch the same pages at once see the same bytes`() async throws {
        let path = try Fixtures.path("encrypted-large")
        let file = try RealmFile(path: path, key: key)
        let sums = try await withThrowingTaskGroup(of: [Int].self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var sums = [Int](repeating: 0, count: file.pageCount)
                    for step in 0..<file.pageCount {
                        let page = (worker % 2 == 0 ? step : file.pageCount - 1 - step)
                        sums[page] = try file.bytes(ofPage: page).array.hashValue
                    }
                    return sums
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(sums).count == 1)
    }

    @Test(arguments: [0, 31, 32, 63])
    func `a wrong key is told from the first page`(_ position: Int) throws {
        var bytes = Fixtures.key
        bytes[position] ^= 1
        let wrong = try EncryptionKey(bytes: bytes)
        let error = #expect(throws: StorageError.self) { try RealmFile(path: try Fixtures.path("encrypted"), key: wrong) }
        #expect(isKeyWrong(error))
    }

    @Test(arguments: ["empty", "store", "group-only", "table-70000", "streaming"].filter(Fixtures.names.contains))
    func `a plain file opened with a key is refused`(_ name: String) throws {
        let error = #expect(throws: StorageError.self) { try RealmFile(path: try Fixtures.path(name), key: key) }
        #expect(isKeyWrong(error))
    }

    @Test func `an encrypted file opened without a key is refused`() throws {
        let error = #expect(throws: StorageError.self) { try RealmFile(path: try Fixtures.path("encrypted")) }
        guard case .refused = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [24, 4095, 4096, 8191, 8193, 20_479, 20_488])
    func `sizes that no encrypted file has are refused`(_ byteCount: Int) throws {
        let file = try EncryptedCopy("encrypted")
        file.bytes = Array((file.bytes + file.bytes).prefix(byteCount))
        let error = #expect(throws: StorageError.self) { try RealmFile(path: try file.written(), key: key) }
        switch error {
        case .corrupt?: #expect(byteCount > 8192 && error?.description.contains("cut short") == true)
        case .refused(.notARealm)?: #expect(byteCount < 8192)
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test(
        .enabled(if: EncryptionTests.hasLargeFile),
        arguments: [0, 1000, 4095])
    func `a changed byte makes its page damaged, and reading it an error`(_ offset: Int) throws {
        let file = try EncryptedCopy("encrypted-large")
        file.bytes[EncryptionLayout.pageOffset(5) + offset] ^= 0x40
        file.setPrevious(5, PageEntry.Stamp(counter: 9, code: .zero))
        let opened = try RealmFile(path: try file.written(), key: key)
        #expect(try opened.state(ofPage: 5) == .damaged)
        #expect(try opened.state(ofPage: 4) == .present)
        let error = #expect(throws: StorageError.self) { try readEverything(try Snapshot(file: opened)) }
        guard case .corrupt = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(.enabled(if: EncryptionTests.hasLargeFile))
    func `a page whose write was cut short is read with the previous entry`() throws {
        let file = try EncryptedCopy("encrypted-large")
        for page in [0, 1, 2, 64] {
            let old = file.entry(page).newest
            file.setEntry(page, PageEntry(newest: .init(counter: old.counter + 1, code: .zero), previous: old))
        }
        let opened = try RealmFile(path: try file.written(), key: key)
        for page in [0, 1, 2, 64] { #expect(try opened.state(ofPage: page) == .present) }
        try readEverything(try Snapshot(file: opened))
    }

    @Test(.enabled(if: EncryptionTests.hasLargeFile))
    func `a first write cut short, and a page that was cut off and came back empty, count as never written`() throws {
        let file = try EncryptedCopy("encrypted-large")
        file.bytes[EncryptionLayout.pageOffset(1)] ^= 1
        file.setPrevious(1, .none)
        file.setPrevious(2, .init(counter: 4, code: .zero))
        let start = EncryptionLayout.pageOffset(2)
        file.bytes.replaceSubrange(start..<start + Self.pageByteCount, with: repeatElement(0, count: Self.pageByteCount))
        let opened = try RealmFile(path: try file.written(), key: key)
        #expect(try opened.state(ofPage: 1) == .neverWritten)
        #expect(try opened.state(ofPage: 2) == .neverWritten)
        #expect(try opened.bytes(ofPage: 2).array.allSatisfy { $0 == 0 })
    }

    @Test func `what is sealed opens again, and only at its own page`() throws {
        let cipher = try PageCipher(key)
        let plain = (0..<Self.pageByteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var sealed = [UInt8](repeating: 0, count: Self.pageByteCount)
        let memory = try ReservedMemory(capacity: Self.pageByteCount)
        try memory.fill(byteCount: Self.pageByteCount)
        var opened: [UInt8] { memory.view(at: 0, byteCount: Self.pageByteCount).array }
        let plainBytes = ByteStorage(plain)
        let stamp = try cipher.seal(page: 70, counter: 3, from: plainBytes.view, to: &sealed)
        let sealedBytes = ByteStorage(sealed)
        let entry = PageEntry(newest: stamp, previous: .none)
        #expect(try cipher.open(page: 70, entry: entry, from: sealedBytes.view, to: memory, at: 0) == .plain(stamp))
        #expect(opened == plain)
        #expect(try cipher.open(page: 71, entry: entry, from: sealedBytes.view, to: memory, at: 0) == .plain(stamp))
        #expect(opened != plain, "the page number is part of the initialisation vector")
        let previous = PageEntry(newest: .init(counter: 4, code: .zero), previous: stamp)
        #expect(try cipher.open(page: 70, entry: previous, from: sealedBytes.view, to: memory, at: 0) == .plain(stamp))
        #expect(opened == plain)
        let storage = ByteStorage(previous.bytes)
        #expect(PageEntry(storage.view) == previous)
    }

    @Test(arguments: [
        (1, 8192), (2, 12_288), (64, 65 * 4096), (65, 67 * 4096), (128, 130 * 4096), (129, 132 * 4096),
    ])
    func `the layout puts a table page before every 64 pages`(_ pages: Int, _ byteCount: Int) {
        #expect(EncryptionLayout.fileByteCount(plainPageCount: pages) == byteCount)
        #expect(EncryptionLayout.plainPageCount(fileByteCount: byteCount) == pages)
        #expect(EncryptionLayout.pageOffset(pages - 1) == byteCount - 4096)
    }

    @Test func `keys are 128 hex digits or base64 of 64 bytes`() throws {
        let hex = Fixtures.key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(try EncryptionKey(text: hex) == key)
        #expect(try EncryptionKey(text: " \t" + hex.uppercased() + "\r\n") == key)
        #expect(try EncryptionKey(text: Data(Fixtures.key).base64EncodedString() + "\n") == key)
        #expect("\(key)" == "encryption key")
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("key-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: path) }
        try (hex + "\n").write(to: path, atomically: true, encoding: .utf8)
        #expect(try EncryptionKey(contentsOfFile: path.path) == key)
    }

    @Test(arguments: [
        "", "00", String(repeating: "0", count: 127), String(repeating: "0", count: 129), String(repeating: "g", count: 128),
        String(repeating: "A", count: 84), String(repeating: "A", count: 86), String(repeating: "A", count: 88),
    ])
    func `other texts are no keys`(_ text: String) {
        let error = #expect(throws: StorageError.self) { try EncryptionKey(text: text) }
        guard case .refused(.encryptionKeyMalformed) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [0, 32, 63, 65])
    func `keys of other lengths are refused`(_ byteCount: Int) {
        #expect(throws: StorageError.self) { try EncryptionKey(bytes: [UInt8](repeating: 1, count: byteCount)) }
    }

    private func isKeyWrong(_ error: StorageError?) -> Bool {
        if case .refused(.encryptionKeyWrong) = error { return true }
        return false
    }

    private func readEverything(_ snapshot: Snapshot) throws {
        for table in snapshot.classes {
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                for column in table.columns where column.collection == nil {
                    let values = try leaf.attach(column)
                    for row in 0..<leaf.count { _ = try values.value(row) }
                }
            }
        }
    }
}

/// A copy of an encrypted fixture in which single bytes and entries can be changed.
private final class EncryptedCopy {
    var bytes: [UInt8]
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("encrypted-\(UUID().uuidString).realm")

    init(_ name: String) throws { bytes = Array(try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name)))) }

    deinit { try? FileManager.default.removeItem(at: path) }

    func written() throws -> String {
        try Data(bytes).write(to: path)
        return path.path
    }

    func entry(_ page: Int) -> PageEntry {
        let start = EncryptionLayout.entryOffset(page)
        let storage = ByteStorage(bytes[start..<start + EncryptionLayout.entryByteCount])
        return withExtendedLifetime(storage) { PageEntry(storage.view) }
    }

    func setEntry(_ page: Int, _ entry: PageEntry) {
        let start = EncryptionLayout.entryOffset(page)
        bytes.replaceSubrange(start..<start + EncryptionLayout.entryByteCount, with: entry.bytes)
    }

    func setPrevious(_ page: Int, _ stamp: PageEntry.Stamp) {
        setEntry(page, PageEntry(newest: entry(page).newest, previous: stamp))
    }
}

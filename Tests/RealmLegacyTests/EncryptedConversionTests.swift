// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Synchronization
import Testing

@testable import RealmLegacy
@testable import RealmStorage

/// The conversion of an encrypted file keeps a few of its decrypted pages, however large it is.
@Suite struct EncryptedConversionTests {
    private static let rowCount = 2400, blobByteCount = 25_000

    /// A file of format 9 with a class of integers and binaries, in trees of several leaves.
    private static func plainFile() -> [UInt8] {
        var file = OldFileWriter()
        var leaves: [Int64] = []
        for start in stride(from: 0, to: rowCount, by: 1000) {
            let blobs = (start..<min(rowCount, start + 1000)).map { row in
                file.node(0x10, blobByteCount, [UInt8](repeating: UInt8(row % 251), count: blobByteCount))
            }
            leaves.append(file.refs(blobs, flags: 0x20))
        }
        let tree = file.refs([1000 << 1 | 1] + leaves + [Int64(rowCount) << 1 | 1], flags: 0x80)
        let numbers = file.tree((0..<rowCount).map(Int64.init))
        file.table("class_A", [Column(0, "n", numbers), Column(4, "data", tree)])
        return file.finish()
    }

    private typealias Column = OldFileWriter.Column

    /// Encrypts a file in streaming form, whose footer stands at the end of the last page then.
    private static func encrypted(_ plain: [UInt8], _ key: EncryptionKey) throws -> [UInt8] {
        let pageByteCount = EncryptionLayout.pageByteCount
        let gap = [UInt8](repeating: 0, count: -plain.count & (pageByteCount - 1))
        let bytes = Array(plain.dropLast(16)) + gap + Array(plain.suffix(16))
        let cipher = try PageCipher(key)
        let count = bytes.count / pageByteCount
        var file = [UInt8](repeating: 0, count: EncryptionLayout.fileByteCount(plainPageCount: count))
        var sealed = [UInt8](repeating: 0, count: pageByteCount)
        for page in 0..<count {
            let start = page * pageByteCount
            let stamp = try ByteView.withBytes(of: bytes) { view throws(StorageError) in
                try cipher.seal(page: page, counter: 1, from: view.slice(start, start + pageByteCount), to: &sealed)
            }
            let entry = EncryptionLayout.entryOffset(page), place = EncryptionLayout.pageOffset(page)
            let text = PageEntry(newest: stamp, previous: .none).bytes
            file.replaceSubrange(entry..<entry + text.count, with: text)
            file.replaceSubrange(place..<place + pageByteCount, with: sealed)
        }
        return file
    }

    /// A file of format 9 with a class of lists of one link each to the first row, which lie in different pages.
    private static func linkingFile(rowCount: Int) -> [UInt8] {
        var file = OldFileWriter()
        let gap = [UInt8](repeating: 0, count: 4096)
        let lists = (0..<rowCount).map { _ in
            _ = file.node(0x10, gap.count, gap)
            return file.integers([0])
        }
        file.table("class_A", [Column(13, "many", file.tree(lists, leafFlags: 0x40), subspecs: [1])])
        return file.finish()
    }

    @Test func `a pass over links gives decrypted pages back, and leaves those of values`() throws {
        let key = try EncryptionKey(bytes: Fixtures.key), rowCount = 6000
        try LegacyFixtures.withFile(try Self.encrypted(Self.linkingFile(rowCount: rowCount), key)) { path in
            let old = try LegacyFile(path: path, key: key)
            let own = try old.withOwnPages()
            let table = own.tables[0], kept = old.file.pages?.decryptedByteCount
            let links = LegacyLinks(file: own, table: table, column: table.spec.columns[0], control: nil)
            for _ in 0..<2 {
                var origins: [Int] = [], greatest = 0
                try links.forEach { origin, target in
                    #expect(target == 0)
                    origins.append(origin)
                    greatest = max(greatest, own.file.pages?.decryptedByteCount ?? 0)
                }
                #expect(origins == Array(0..<rowCount))
                #expect(greatest > 0 && greatest <= 18 << 20, "\(greatest) bytes")
            }
            #expect(old.file.pages?.decryptedByteCount == kept)
            let new = try NewFile(nextTo: path)
            #expect(try old.convert(to: new, key: key).isLossless)
            #expect(try Snapshot(file: try RealmFile(path: new.openPath, key: key)).verify().errors == [])
        }
    }

    @Test func `a check gives decrypted pages back`() throws {
        let key = try EncryptionKey(bytes: Fixtures.key)
        for plain in [Self.plainFile(), Self.linkingFile(rowCount: 6000)] {
            try LegacyFixtures.withFile(try Self.encrypted(plain, key)) { path in
                let old = try LegacyFile(path: path, key: key)
                #expect(try old.verify().errors == [])
                let kept = old.file.pages?.decryptedByteCount ?? 0
                #expect(plain.count > 20 << 20 && kept <= 20 << 20, "\(kept) bytes of a file of \(plain.count)")
            }
        }
    }

    /// Files of format 9 with a column, or a list, of 600 binaries of 100,000 bytes.
    private static func largeFiles() -> [[UInt8]] {
        [false, true].map { isList in
            var file = OldFileWriter()
            let blobs = (0..<600).map { file.node(0x10, 100_000, [UInt8](repeating: UInt8($0 % 251), count: 100_000)) }
            let tree = file.refs(blobs, flags: 0x20)
            let spec = file.refs([file.integers([4]), file.shortStrings([Array("v".utf8)]), file.integers([0])])
            let column =
                isList ? Column(5, "data", file.refs([file.refs([tree])]), subspecs: [spec]) : Column(4, "data", tree)
            file.table("class_A", [column])
            return file.finish()
        }
    }

    /// How many bytes of decrypted pages a check has kept at most, as another thread sees it.
    private final class Watch: Sendable {
        let isDone = Atomic(false), greatest = Atomic(0)
    }

    @Test func `a check keeps few decrypted pages, however large the values of a column or list are`() throws {
        let key = try EncryptionKey(bytes: Fixtures.key)
        for plain in Self.largeFiles() {
            let bytes = try Self.encrypted(plain, key)
            let path = NSTemporaryDirectory() + "legacy-\(UUID().uuidString).realm"
            defer { try? FileManager.default.removeItem(atPath: path) }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let old = try LegacyFile(path: path, key: key)
            let watch = Watch()
            // A thread of its own, as other tests may keep all those of tasks busy.
            Thread.detachNewThread {
                while !watch.isDone.load(ordering: .relaxed) {
                    watch.greatest.max(old.file.pages?.decryptedByteCount ?? 0, ordering: .relaxed)
                    Thread.sleep(forTimeInterval: 0.0002)
                }
            }
            defer { watch.isDone.store(true, ordering: .relaxed) }
            #expect(try old.verify().errors == [])
            let kept = watch.greatest.load(ordering: .relaxed)
            #expect(kept > 0 && kept <= 32 << 20, "\(kept) bytes of a file of \(plain.count)")
        }
    }

    @Test func `decrypted pages are given back, and every value is right`() throws {
        let key = try EncryptionKey(bytes: Fixtures.key)
        let bytes = try Self.encrypted(Self.plainFile(), key)
        try LegacyFixtures.withFile(bytes) { path in
            let old = try LegacyFile(path: path, key: key)
            let file = old.file
            let greatest = Atomic(0)
            let control = WorkControl { _ in greatest.max(file.pages?.decryptedByteCount ?? 0, ordering: .relaxed) }
            let new = try NewFile(nextTo: path)
            let report = try old.convert(to: new, key: key, control)
            #expect(report.isLossless && report.objectCount == Self.rowCount)
            let kept = greatest.load(ordering: .relaxed)
            #expect(kept > 0 && kept <= 20 << 20, "\(kept) bytes of a file of \(bytes.count)")
            let snapshot = try Snapshot(file: try RealmFile(path: new.openPath, key: key))
            let table = try #require(snapshot.classTable(named: "A"))
            for row in 0..<Self.rowCount {
                let found = try #require(try table.find(ObjectKey(Int64(row))))
                guard case .int(let number) = try found.value(table.columns[0]),
                    case .binary(let data) = try found.value(table.columns[1])
                else {
                    Issue.record("row \(row) has other values")
                    return
                }
                #expect(number == Int64(row))
                #expect(data.count == Self.blobByteCount && data[0] == UInt8(row % 251) && data[data.count - 1] == data[0])
            }
        }
    }
}

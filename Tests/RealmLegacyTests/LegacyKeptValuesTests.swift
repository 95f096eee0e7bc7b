// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmLegacy

/// Values that are joined, or that many rows share.
@Suite("Large values in old files")
struct LegacyKeptValuesTests {
    /// Adds a leaf of one value with a list of one part, and returns its ref.
    private static func split(_ byteCount: Int, _ writer: inout OldFileWriter) -> Int64 {
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: byteCount - 1) + [0]
        return writer.refs([writer.refs([writer.node(0x10, byteCount, bytes)])], flags: 0x20)
    }

    @Test func `a split value that many rows have is kept once`() throws {
        var writer = OldFileWriter()
        let list = LegacyKeptValuesTests.split(1 << 16, &writer)
        writer.table("class_A", [OldFileWriter.Column(0, "n", writer.integers([1]))])
        try LegacyFixtures.withFile(writer.finish()) { path in
            let file = try LegacyFile(path: path)
            let reading = LegacyReading(file.space)
            var strings = LegacyLookup(Ref(UInt64(list)), .binary, isNullable: true, reading)
            var places: Set<Int> = []
            for _ in 0..<10_000 {
                guard case .binary(let bytes) = try strings.value(at: 0) else { continue }
                places.insert(bytes.count)
            }
            #expect(places == [1 << 16])
            reading.keeper.release()
        }
    }

    @Test func `values that are kept are no longer than the file, and fill no more than one batch`() throws {
        let keeper = LegacyKeeper(100 << 20)
        let large = [UInt8](repeating: 7, count: 40 << 20)
        keeper.isBounded = true
        #expect(try keeper.keep(large, at: Ref(8)).count == large.count)
        #expect(try keeper.keep(large, at: Ref(8)).count == large.count)
        #expect(!keeper.isFull)
        #expect(throws: StorageError.self) { try keeper.keep(large, at: Ref(16)) }
        #expect(keeper.isFull)
        (keeper.isBounded, keeper.isFull) = (false, false)
        #expect(try keeper.keep(large, at: Ref(16)).count == large.count)
        #expect(throws: StorageError.self) { try keeper.keep(large, at: Ref(24)) }
        #expect(!keeper.isFull)
        keeper.release()
        #expect(try keeper.keep(large, at: Ref(24)).count == large.count)
    }

    @Test func `parts are counted however often values are released`() throws {
        let keeper = LegacyKeeper(100)
        for _ in 0..<64 {
            try keeper.spend(partOf: 15 << 20)
            keeper.release()
        }
        #expect(throws: StorageError.self) { for _ in 0..<6 { try keeper.spend(partOf: 15 << 20) } }
    }

    @Test func `a split value that very many rows share is joined no more often than a conversion may write it`() throws {
        let (byteCount, leafSize) = (15 << 20, 37_000)
        var writer = OldFileWriter()
        let list = LegacyKeptValuesTests.split(byteCount, &writer)
        let leaf = writer.node(0, leafSize, [])
        let positions = writer.refs([Int64(leafSize) << 1 | 1, leaf, leaf, Int64(2 * leafSize) << 1 | 1], flags: 0x80)
        writer.table("class_A", enumerated: "s", keys: list, positions)
        try LegacyFixtures.withFile(writer.finish()) { path in
            let file = try LegacyFile(path: path)
            #expect(file.tables[0].rowCount == 2 * leafSize)
            #expect {
                try file.verify()
            } throws: { error in
                guard case .limit(let reason) = error as? StorageError else { return false }
                return reason.contains("rows share split values")
            }
        }
    }

    @Test func `rows with split values are converted in batches that end early`() throws {
        let count = 5, byteCount = 15 << 20
        var writer = OldFileWriter()
        var refs: [Int64] = []
        for number in 0..<count {
            let bytes = [UInt8](repeating: UInt8(number), count: byteCount)
            refs.append(writer.refs([writer.node(0x10, byteCount, bytes)]))
        }
        let column = OldFileWriter.Column(4, "b", writer.refs(refs, flags: 0x20))
        writer.table("class_A", [column])
        try LegacyFixtures.withFile(writer.finish()) { path in
            #expect(try LegacyFile(path: path).verify().errors == [])
            try LegacyFixtures.converting(path, key: nil) { snapshot, _ in
                let table = try #require(snapshot.classes.first)
                #expect(table.count == count)
                #expect(snapshot.verify().errors == [])
            }
        }
    }

    @Test func `a list that repeats a large value more often than memory should hold is refused`() throws {
        var writer = OldFileWriter()
        let spec = writer.refs([writer.integers([6]), writer.shortStrings([Array("m".utf8)]), writer.integers([0])])
        // All values are binaries at position 0; the positions need no bytes.
        let types = writer.integers(Array(repeating: 4, count: 300)), words = writer.node(0, 300, [])
        let mixed = writer.refs([types, words, LegacyKeptValuesTests.split(1 << 20, &writer)])
        let rows = writer.refs([writer.refs([mixed])])
        writer.table("class_A", [OldFileWriter.Column(5, "l", rows, subspecs: [spec])])
        try LegacyFixtures.withFile(writer.finish()) { path in
            let file = try LegacyFile(path: path)
            #expect {
                try file.convert(to: try NewFile(nextTo: path))
            } throws: { error in
                guard case .limit(let reason) = error as? StorageError else { return false }
                return reason.contains("an object has more than")
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmLegacy

/// Columns, rows and texts that take no bytes of a file, or the bytes of others.
@Suite("Bounds of old files")
struct LegacyBoundsTests {
    private typealias Column = OldFileWriter.Column

    /// Returns whether an error is one about damage, with a text in its description.
    private static func isDamage(_ error: any Error, _ text: String) -> Bool {
        guard case .corrupt = error as? StorageError else { return false }
        return "\(error)".contains(text)
    }

    // MARK: - Columns

    /// Returns a file with tables of columns without any bytes.
    private static func wideFile(_ tableCount: Int, columnCount: Int, room: Int = 16_384) -> [UInt8] {
        var file = OldFileWriter()
        let (types, names, attributes) = (
            file.node(0, columnCount, []), file.node(8, columnCount, []), file.node(0, columnCount, [])
        )
        let table = file.refs([file.refs([types, names, attributes]), 0])
        for number in 0..<tableCount { file.table("class_T\(number)", at: table) }
        file.room(room)
        return file.finish()
    }

    @Test(arguments: [(1, 16_384), (2, 5 << 20)])
    func `as many columns are read as format 24 allows and the file has room for`(_ tableCount: Int, _ room: Int) throws {
        let bytes = LegacyBoundsTests.wideFile(tableCount, columnCount: 65_535, room: room)
        try LegacyFixtures.withFile(bytes) { path in
            let file = try LegacyFile(path: path)
            #expect(file.tables.map(\.spec.columns.count) == Array(repeating: 65_535, count: tableCount))
        }
    }

    @Test(arguments: [(1, 65_536, "at most 65535 are possible"), (2, 65_535, "more columns than the file has room for")])
    func `columns without bytes are damage where they are too many`(
        _ tableCount: Int, _ columnCount: Int, _ text: String
    ) throws {
        try LegacyFixtures.withFile(LegacyBoundsTests.wideFile(tableCount, columnCount: columnCount)) { path in
            _ = #expect { try LegacyFile(path: path) } throws: { LegacyBoundsTests.isDamage($0, text) }
        }
    }

    @Test func `more columns of links than format 24 has room for in their target are damage`() throws {
        var file = OldFileWriter()
        file.table("class_T", [Column(0, "n", file.integers([]))])
        let count = 40_000
        let (types, names) = (file.integers(Array(repeating: 12, count: count)), file.node(8, count, []))
        let (attributes, targets) = (file.node(0, count, []), file.refs(Array(repeating: 1, count: count)))
        let table = file.refs([file.refs([types, names, attributes, targets]), 0])
        file.table("class_A", at: table)
        file.table("class_B", at: table)
        file.room(2 << 20)
        try LegacyFixtures.withFile(file.finish()) { path in
            let old = try LegacyFile(path: path)
            _ = #expect { _ = try old.schema() } throws: { LegacyBoundsTests.isDamage($0, "those for incoming links") }
        }
    }

    @Test func `leaves of very many columns have few objects`() throws {
        let (columnCount, rowCount) = (5000, 300)
        var file = OldFileWriter()
        let (types, names, attributes) = (
            file.node(0, columnCount, []), file.node(8, columnCount, []), file.node(0, columnCount, [])
        )
        let roots = file.refs(Array(repeating: file.node(0, rowCount, []), count: columnCount))
        file.table("class_A", at: file.refs([file.refs([types, names, attributes]), roots]))
        file.room(100_000)
        try LegacyFixtures.withFile(file.finish()) { path in
            try LegacyFixtures.converting(path, key: nil) { snapshot, _ in
                let table = try #require(snapshot.classTable(named: "A"))
                #expect(table.count == rowCount)
                #expect(table.columns.count == columnCount)
                var sizes: [Int] = []
                var leaves = table.leaves()
                while let leaf = try leaves.next() { sizes.append(leaf.count) }
                #expect(sizes == [52, 52, 52, 52, 52, 40], "a leaf has at most 262144 values")
                #expect(snapshot.verify().errors == [])
            }
        }
    }

    /// Returns a file with a class of enumerated columns that have an index, and share their values and their one string.
    private static func indexedFile(columnCount: Int, rowCount: Int, textByteCount: Int) -> [UInt8] {
        var file = OldFileWriter()
        let text = [UInt8](repeating: 0x79, count: textByteCount) + [0]
        let keys = file.refs([file.node(0x10, text.count, text)], flags: 0x20)
        let spec = file.refs([
            file.integers(Array(repeating: 3, count: columnCount)), file.node(8, columnCount, []),
            file.integers(Array(repeating: 1, count: columnCount)), 0, file.refs(Array(repeating: keys, count: columnCount)),
        ])
        let positions = file.node(0, rowCount, [])
        let roots = file.refs((0..<columnCount).flatMap { _ in [positions, 0] })
        file.table("class_A", at: file.refs([spec, roots]))
        return file.finish()
    }

    @Test func `writing leaves and indexes again for texts that rows share is counted`() throws {
        // With texts of a few bytes there are few steps, for which the file has room.
        for (textByteCount, areTooMany) in [(2, false), (60, true)] {
            let bytes = Self.indexedFile(columnCount: 10_000, rowCount: 200, textByteCount: textByteCount)
            try LegacyFixtures.withFile(bytes) { path in
                let (old, new) = (try LegacyFile(path: path), try NewFile(nextTo: path))
                guard areTooMany else { return #expect(try old.convert(to: new).classes.map(\.objectCount) == [200]) }
                _ = #expect { _ = try old.convert(to: new) } throws: { Self.areTooMany($0) }
            }
        }
    }

    @Test func `an object whose texts need very many levels of indexes is refused before they are made`() throws {
        let bytes = Self.indexedFile(columnCount: 12_000, rowCount: 1, textByteCount: 1000)
        try LegacyFixtures.withFile(bytes) { path in
            let (old, new) = (try LegacyFile(path: path), try NewFile(nextTo: path))
            _ = #expect { _ = try old.convert(to: new) } throws: { error in
                guard case .limit(let reason) = error as? StorageError else { return false }
                return reason.contains("an object has more than")
            }
        }
    }

    @Test(
        arguments: [
            (0, 32 << 20), (1 << 20, 40 << 20), (12 << 20, 128 << 20), (64 << 20, 128 << 20), (1 << 30, 2 << 30),
        ])
    func `the limit of an object grows with the file`(_ byteCount: Int, _ limit: Int) {
        #expect(LegacyTarget.objectLimit(forOldFileOf: byteCount) == limit)
    }

    // MARK: - Values without bytes

    /// Adds a tree that has one leaf very often.
    private static func shared(_ leaf: Int64, count: Int, times: Int, _ file: inout OldFileWriter) -> Int64 {
        let children = Array(repeating: leaf, count: times)
        return file.refs([Int64(count) << 1 | 1] + children + [Int64(count * times) << 1 | 1], flags: 0x80)
    }

    /// Returns whether an error is one about too many values.
    private static func areTooMany(_ error: any Error) -> Bool { isDamage(error, "more values than a file of") }

    @Test(arguments: [0, 2, 3, 4, 12, 13])
    func `more values than a file has room for are damage, even if they take no bytes`(_ type: Int64) throws {
        let count = 65_536
        for (times, isDamage) in [(250, false), (300, true)] {
            var file = OldFileWriter()
            let leaf =
                switch type {
                case 2: file.node(8, count, [])
                case 4: file.refs([file.node(0, count, []), file.node(0x10, 0, [])])
                case 13: file.node(0x40, count, [])
                default: file.node(0, count, [])
                }
            let root = Self.shared(leaf, count: count, times: times, &file)
            if type == 3 {
                file.table("class_A", enumerated: "s", keys: file.shortStrings([Array("x".utf8)]), root)
            } else {
                file.table("class_A", [Column(type, "v", root, subspecs: type >= 12 ? [1] : [])])
            }
            file.room(200_000)
            try LegacyFixtures.withFile(file.finish()) { path in
                guard isDamage else {
                    let rowCounts = try LegacyFile(path: path).tables.map(\.rowCount)
                    return #expect(rowCounts == [count * times])
                }
                _ = #expect { try LegacyFile(path: path) } throws: { Self.areTooMany($0) }
            }
        }
    }

    @Test func `columns that share their leaves count all values together`() throws {
        let (count, times) = (65_536, 100)
        var file = OldFileWriter()
        let root = Self.shared(file.node(0, count, []), count: count, times: times, &file)
        file.table("class_A", (0..<3).map { Column(0, "n\($0)", root) })
        file.room(200_000)
        try LegacyFixtures.withFile(file.finish()) { path in
            let old = try LegacyFile(path: path)
            let pass = LegacyReading(old.space)
            for column in old.tables[0].spec.columns.prefix(2) {
                let place = try #require(old.tables[0].root(of: column))
                #expect(try LegacyValues.count(place, .int, isNullable: false, pass) == count * times)
            }
            _ = #expect {
                _ = try LegacyValues.count(Ref(UInt64(root)), .int, isNullable: false, pass)
            } throws: {
                Self.areTooMany($0)
            }
        }
    }

    @Test func `links that take no bytes are counted when they are read`() throws {
        var file = OldFileWriter()
        let list = file.node(0, 1000, [])
        file.table("class_A", [Column(13, "l", file.refs(Array(repeating: list, count: 5)), subspecs: [1])])
        file.room(10_000)
        try LegacyFixtures.withFile(file.finish()) { path in
            let old = try LegacyFile(path: path)
            let links = LegacyLinks(file: old, table: old.tables[0], column: old.tables[0].spec.columns[0], control: nil)
            let pass = LegacyReading(old.space)
            let before = try #require(pass.budget).elementsLeft
            #expect(try IncomingLinks(links, targetCount: 5, pass).count == 5000)
            #expect(before - (pass.budget?.elementsLeft ?? 0) == 5005)
            pass.budget?.elementsLeft = 4000
            _ = #expect { _ = try IncomingLinks(links, targetCount: 5, pass) } throws: { Self.areTooMany($0) }
        }
    }

    @Test func `a conversion counts the columns for incoming links that it makes`() throws {
        let (count, times) = (65_536, 60)
        var file = OldFileWriter()
        let root = Self.shared(file.node(0, count, []), count: count, times: times, &file)
        file.table("class_A", [Column(0, "n", root)])
        file.table("class_B", (0..<5).map { Column(12, "l\($0)", file.node(0, 1, []), subspecs: [1]) })
        file.room(40_000)
        try LegacyFixtures.withFile(file.finish()) { path in
            let old = try LegacyFile(path: path)
            let new = try NewFile(nextTo: path)
            _ = #expect { _ = try old.convert(to: new) } throws: { Self.areTooMany($0) }
        }
    }

    @Test func `searches for strings of an enumerated column are counted`() throws {
        let count = 1000
        var file = OldFileWriter()
        let texts = ["a", "b"].map { file.shortStrings([Array($0.utf8)]) }
        let keys = file.refs([1 << 1 | 1] + texts + [2 << 1 | 1], flags: 0x80)
        for (name, isMixed) in [("class_A", false), ("class_B", true)] {
            let positions = file.integers((0..<Int64(count)).map { isMixed ? $0 & 1 : $0 / 500 })
            file.table(name, enumerated: "s", keys: keys, positions)
        }
        try LegacyFixtures.withFile(file.finish()) { path in
            let old = try LegacyFile(path: path)
            var costs: [Int] = []
            for table in old.tables {
                let pass = LegacyReading(old.space)
                let before = try #require(pass.budget).elementsLeft
                var source = try #require(try old.values(of: table.spec.columns[0], table, pass))
                var values: [Value?] = []
                try source.read(count, into: &values)
                let ends = [values.first, values.last].map { value in
                    if case .string(let text)?? = value { String(decoding: text.array, as: UTF8.self) } else { "" }
                }
                #expect(values.count == count && ends == ["a", "b"])
                costs.append(before - (pass.budget?.elementsLeft ?? 0) - count)
            }
            #expect(costs == [2 * 8, count * 8])
        }
    }

    // MARK: - Stored backlinks

    @Test func `a stored list of more backlinks than there are links is not read`() throws {
        var file = OldFileWriter()
        // No leaf of numbers: reading it would be an error.
        let texts = file.shortStrings([Array("x".utf8)])
        let list = file.refs([1000 << 1 | 1, texts, 1000 << 1 | 1], flags: 0x80)
        let links = Column(12, "l", file.integers([1, 1, 0]), subspecs: [1])
        file.table("class_A", [links, Column(14, "", file.refs([list, 0, 0]), subspecs: [1, 1])])
        try LegacyFixtures.withFile(file.finish()) { path in
            let report = try LegacyFile(path: path).verify()
            #expect(report.errors == [])
            #expect(report.warnings.count == 1 && report.warnings.allSatisfy { $0.contains("differ from the backlinks") })
        }
    }

    @Test(arguments: [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1]])
    func `backlinks of lists are compared, also where their table comes first`(_ stored: [Int64]) throws {
        var file = OldFileWriter()
        let backlinks = Column(14, "", file.refs([file.integers(stored), 0]), subspecs: [3, 1])
        file.table("class_A", [Column(0, "n", file.integers([7, 8])), backlinks])
        let lists = file.refs([file.integers([0, 0, 0]), file.integers([0, 0])])
        file.table("class_B", [Column(13, "l", lists, subspecs: [1])])
        try LegacyFixtures.withFile(file.finish()) { path in
            let report = try LegacyFile(path: path).verify()
            #expect(report.errors == [])
            #expect(report.statistics.links == 5)
            #expect(report.warnings.isEmpty == (stored == [0, 0, 0, 1, 1]))
        }
    }

    // MARK: - Primary keys

    /// Returns how many rows share the values of the first column of a file's first table.
    private static func duplicateCount(_ bytes: [UInt8]) throws -> Int {
        try LegacyFixtures.withFile(bytes) { path in
            let file = try LegacyFile(path: path)
            let search = DuplicateSearch(
                file, file.tables[0], of: file.tables[0].spec.columns[0], LegacyReading(file.space), control: nil)
            return try search.duplicateCount()
        }
    }

    @Test func `equal keys are found in the first of very many rows`() throws {
        let (leafSize, leafCount) = (65_536, 40)
        var file = OldFileWriter()
        let leaf = Array(repeating: file.node(0, leafSize, []), count: leafCount)
        let size = Int64(leafSize) << 1 | 1, total = Int64(leafSize * leafCount) << 1 | 1
        let root = file.refs([size] + leaf + [total], flags: 0x80)
        file.table("class_A", [Column(0, "id", root)])
        file.room(40_000)
        let count = try LegacyBoundsTests.duplicateCount(file.finish())
        #expect(count > 100_000 && count < 200_000, "\(count) of \(leafSize * leafCount) rows")
    }

    @Test func `different keys are not looked at twice, however many there are`() throws {
        var file = OldFileWriter()
        file.table("class_A", [Column(0, "id", file.tree((0..<200_000).map { Int64($0) << 20 }))])
        #expect(try LegacyBoundsTests.duplicateCount(file.finish()) == 0)
    }

    @Test func `a long key that many rows share is found by its position`() throws {
        var file = OldFileWriter()
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 49_999) + [0]
        let keys = file.refs([file.node(0x10, text.count, text)], flags: 0x20)
        file.table("class_A", enumerated: "s", keys: keys, file.node(0, 65_000, []))
        #expect(try LegacyBoundsTests.duplicateCount(file.finish()) == 64_999)
    }

    /// Returns how many bytes of keys the budget of a pass counts for searches in some tables, which share one column of two rows.
    private static func searchedByteCount(_ tableCount: Int, keys: [Int], textByteCount: Int) throws -> Int {
        var file = OldFileWriter()
        let texts = (0..<2).map { number in
            file.node(0x10, textByteCount, [UInt8](repeating: 0x78 + UInt8(number), count: textByteCount - 1) + [0])
        }
        let list = file.refs(keys.map { texts[$0] }, flags: 0x20), positions = file.integers([0, 1])
        for number in 0..<tableCount { file.table("class_T\(number)", enumerated: "s", keys: list, positions) }
        return try LegacyFixtures.withFile(file.finish()) { path in
            let old = try LegacyFile(path: path)
            let pass = LegacyReading(old.space)
            let before = pass.budget?.left ?? 0
            for table in old.tables {
                let search = DuplicateSearch(old, table, of: table.spec.columns[0], pass, control: nil)
                let count = try search.duplicateCount()
                #expect(count == (keys[0] == keys[1] ? 1 : 0))
            }
            return (before - (pass.budget?.left ?? 0)) * 8
        }
    }

    @Test(arguments: [[0, 1], [1, 1]])
    func `the bytes of enumerated keys are counted once for each class`(_ keys: [Int]) throws {
        let byteCount = try LegacyBoundsTests.searchedByteCount(1, keys: keys, textByteCount: 4096)
        #expect((8000..<9000).contains(byteCount))
    }

    @Test func `classes that share long enumerated keys are damage`() {
        _ = #expect { try LegacyBoundsTests.searchedByteCount(50, keys: [0, 1], textByteCount: 50_000) } throws: {
            LegacyBoundsTests.isDamage($0, "more different values than the file has room for")
        }
    }

    @Test func `keys that lie in each other are damage`() throws {
        let (count, byteCount) = (100, 8192)
        var file = OldFileWriter()
        var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: byteCount)
        bytes[byteCount - 1] = 0
        for number in 0..<count - 1 {
            let rest = byteCount - 8 * number - 8
            bytes.replaceSubrange(
                8 * number..<8 * number + 8,
                with: [0x41, 0x41, 0x41, 0x41, 0x10, UInt8(rest >> 16), UInt8(rest >> 8 & 255), UInt8(rest & 255)])
        }
        let first = file.node(0x10, byteCount, bytes)
        let keys = file.refs((0..<count).map { first + 8 * Int64($0) }, flags: 0x20)
        file.table("class_A", enumerated: "s", keys: keys, file.integers((0..<count).map { Int64($0) }))
        let damaged = file.finish()
        _ = #expect { try LegacyBoundsTests.duplicateCount(damaged) } throws: {
            LegacyBoundsTests.isDamage($0, "more different values than the file has room for")
        }
    }

    @Test func `a list of primary keys that repeats a long name is damage`() throws {
        let rowCount = 1000
        var file = OldFileWriter()
        let name = Array("class_".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 10_000) + [0]
        let keys = file.refs([file.node(0x10, name.count, name)], flags: 0x20)
        let properties = Column(2, "pk_property", file.node(8, rowCount, []))
        file.table("pk", enumerated: "pk_table", keys: keys, file.node(0, rowCount, []), [properties])
        try LegacyFixtures.withFile(file.finish()) { path in
            let old = try LegacyFile(path: path)
            _ = #expect { _ = try old.schema() } throws: { LegacyBoundsTests.isDamage($0, "rows share long texts") }
        }
    }

    @Test func `the search for equal keys can be cancelled`() throws {
        var file = OldFileWriter()
        file.table("class_A", [Column(0, "id", file.tree([1, 2]))])
        try LegacyFixtures.withFile(file.finish()) { path in
            let old = try LegacyFile(path: path)
            let control = WorkControl()
            control.cancel()
            let search = DuplicateSearch(
                old, old.tables[0], of: old.tables[0].spec.columns[0], LegacyReading(old.space), control: control)
            #expect(throws: WorkControl.stopped) { try search.duplicateCount() }
        }
    }
}

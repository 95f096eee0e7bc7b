// SPDX-License-Identifier: Apache-2.0

import RealmLegacy
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// What format 24 does not allow is reported, and everything else is there.
@Suite struct LegacyReportTests {
    private typealias Column = OldFileWriter.Column

    private func converting(
        _ make: (inout OldFileWriter) -> Void, _ body: (Snapshot, ConversionReport) throws -> Void
    ) throws {
        var writer = OldFileWriter()
        make(&writer)
        try LegacyFixtures.withFile(writer.finish()) { path in
            try LegacyFixtures.converting(path, key: nil) { snapshot, report in
                #expect(snapshot.verify().errors == [])
                try body(snapshot, report)
            }
        }
    }

    private func note(_ kind: ConversionReport.Kind, in report: ConversionReport) -> ConversionReport.Note? {
        report.notes.first { $0.kind == kind }
    }

    @Test func `a class whose objects share a primary key has none`() throws {
        try converting { file in
            file.table("class_A", [Column(0, "id", file.tree([1, 2, 1, 3, 1]))])
            file.table("class_B", [Column(0, "id", file.tree([1, 2]))])
            let names = file.shortStrings([Array("A".utf8), Array("class_B".utf8), Array("C".utf8)])
            let keys = file.shortStrings([Array("id".utf8), Array("id".utf8), Array("id".utf8)])
            file.table("pk", [Column(2, "pk_table", names), Column(2, "pk_property", keys)])
        } _: { snapshot, report in
            let a = try #require(snapshot.classTable(named: "A"))
            #expect(a.count == 5)
            #expect(a.primaryKey == nil)
            #expect(snapshot.classTable(named: "B")?.primaryKey?.name == "id")
            #expect(note(.primaryKeyLeftOut, in: report)?.count == 2)
            #expect(note(.entryIgnored, in: report) != nil, "there is no class C")
            #expect(!report.isLossless)
        }
    }

    @Test func `entries of the list of primary keys that are not looked at are reported as a loss`() throws {
        let count = 65_537
        try converting { file in
            file.table("class_A", [Column(0, "id", file.tree([1, 2]))])
            // Entries that need no bytes name no class.
            let (names, keys) = (file.node(8, count, []), file.node(8, count, []))
            file.table("pk", [Column(2, "pk_table", names, attributes: 16), Column(2, "pk_property", keys, attributes: 16)])
            file.room(16_384)
        } _: { snapshot, report in
            #expect(snapshot.classTable(named: "A")?.count == 2)
            #expect(report.notes.map(\.kind) == [.primaryKeyLeftOut])
            #expect(report.notes.first?.count == 1 && !report.isLossless)
        }
    }

    @Test func `a class whose name begins as those of tables do has its primary key`() throws {
        try converting { file in
            file.table("class_Foo", [Column(0, "n", file.tree([1, 2]))])
            file.table("class_class_Foo", [Column(0, "id", file.tree([1, 2]))])
            let (names, keys) = (file.shortStrings([Array("class_Foo".utf8)]), file.shortStrings([Array("id".utf8)]))
            file.table("pk", [Column(2, "pk_table", names), Column(2, "pk_property", keys)])
        } _: { snapshot, report in
            #expect(snapshot.classTable(named: "class_Foo")?.primaryKey?.name == "id")
            #expect(report.notes.isEmpty)
        }
    }

    @Test func `a property that is left out is reported after more harmless notes than are listed`() throws {
        let count = ConversionReport.maximumNoteCount
        try converting { file in
            file.table("other", [Column(0, "n", file.tree([1]))])
            let unnamed = (0..<count).map { _ in Column(0, "", file.tree([1])) }
            file.table("class_A", unnamed + [Column(12, "link", file.tree([9]), subspecs: [1])])
        } _: { _, report in
            #expect(report.notes.count == count && report.noteCount == count + 2)
            #expect(note(.propertyLeftOut, in: report)?.property == "link")
            #expect(note(.tableLeftOut, in: report) != nil && !report.isLossless)
        }
    }

    @Test(arguments: [0, 2, 7])
    func `a history of an unknown kind is reported`(_ kind: Int64) throws {
        var file = OldFileWriter()
        file.table("class_A", [Column(0, "n", file.tree([1]))])
        try LegacyFixtures.withFile(file.finish(historyType: kind)) { path in
            try LegacyFixtures.converting(path, key: nil) { snapshot, report in
                #expect(snapshot.classTable(named: "A")?.count == 1)
                #expect((note(.historyLeftOut, in: report)?.text.contains("type 7") ?? false) == (kind == 7))
                #expect(report.isLossless)
            }
        }
    }

    @Test func `links to rows that do not exist are left out and counted`() throws {
        try converting { file in
            let list = file.integers([0, 7, 2])
            file.table(
                "class_A",
                [
                    Column(12, "one", file.tree([1, 9, 0]), subspecs: [1]),
                    Column(13, "many", file.refs([list, 0, 0]), subspecs: [1]),
                ])
        } _: { snapshot, report in
            let table = try #require(snapshot.classTable(named: "A"))
            let row = try #require(try table.find(ObjectKey(0)))
            let root = try row.leaf.collectionRoot(table.columns[1], row: row.index)
            #expect(try ListView(root: root, space: snapshot.space, shape: table.columns[1].elementShape).count == 2)
            #expect(report.notes.filter { $0.kind == .linksLeftOut }.map(\.count) == [1, 1])
        }
    }

    @Test func `texts that are not UTF-8 keep their bytes and are counted`() throws {
        try converting { file in
            file.table("class_A", [Column(2, "text", file.shortStrings([[0xff, 0xfe], Array("ok".utf8), [0xc3]]))])
        } _: { snapshot, report in
            let table = try #require(snapshot.classTable(named: "A"))
            let row = try #require(try table.find(ObjectKey(0)))
            guard case .string(let text) = try row.value(table.columns[0]) else { return #expect(Bool(false)) }
            #expect(text.array == [0xff, 0xfe])
            #expect(note(.textNotUTF8, in: report)?.count == 2)
            #expect(report.isLossless)
        }
    }

    @Test func `a table that is no class is reported with its rows`() throws {
        try converting { file in
            file.table("other", [Column(0, "n", file.tree([1, 2, 3]))])
            file.table("class_A", [Column(0, "n", file.tree([1])), Column(12, "link", file.tree([1]), subspecs: [1])])
        } _: { snapshot, report in
            #expect(snapshot.tables.map(\.name) == ["class_A"])
            #expect(note(.tableLeftOut, in: report)?.count == 3)
            #expect(note(.propertyLeftOut, in: report)?.property == "link")
            #expect(note(.propertyLeftOut, in: report)?.text == "links to the table 'other', which is not a class")
        }
    }

    @Test(arguments: [false, true])
    func `links in trees of several leaves get their backlinks`(_ isGeneral: Bool) throws {
        let count = 9000
        try converting { file in
            let links = (0..<count).map { Int64($0 * 7919 % count + 1) }
            let lists = (0..<count).map { row in row % 3 == 0 ? file.integers([Int64(row), 0, Int64(count - 1 - row)]) : 0 }
            file.table(
                "class_A",
                [
                    Column(12, "one", file.tree(links, isGeneral: isGeneral), subspecs: [1]),
                    Column(13, "many", file.tree(lists, leafFlags: 0x40, isGeneral: isGeneral), subspecs: [1]),
                ])
        } _: { snapshot, report in
            let table = try #require(snapshot.classTable(named: "A"))
            #expect(table.count == count)
            let row = try #require(try table.find(ObjectKey(0)))
            // Every third row has a link to row 0, and row 0 one more.
            #expect(try row.leaf.backlinks(table.backlinks[1], row: row.index).keys().count == count / 3 + 1)
            #expect(report.isLossless)
        }
    }

    @Test func `columns that share their nodes are damage, not work without end`() throws {
        var file = OldFileWriter()
        let root = file.tree(Array(repeating: 5, count: 5000))
        file.table("class_A", (0..<200).map { Column(0, "n\($0)", root) })
        try LegacyFixtures.withFile(file.finish()) { path in
            _ = #expect {
                _ = try LegacyFile(path: path).convert(toFile: path + ".new")
            } throws: { "\($0)".contains("nodes share their children") }
        }
    }

    @Test func `a tree that leads back to itself is damage`() throws {
        var file = OldFileWriter()
        let next = Int64(file.bytes.count)
        let root = file.refs([1000 << 1 | 1, next, 2000 << 1 | 1], flags: 0x80)
        file.table("class_A", [Column(0, "n", root)])
        try LegacyFixtures.withFile(file.finish()) { path in
            _ = #expect { try LegacyFile(path: path) } throws: { "\($0)".contains("corrupt") }
        }
    }

    @Test(arguments: [[1, 2, 3], []])
    func `columns of different lengths are damage`(_ first: [Int64]) throws {
        var file = OldFileWriter()
        file.table("class_A", [Column(0, "n", file.tree(first)), Column(12, "m", file.tree([1, 2]), subspecs: [1])])
        try LegacyFixtures.withFile(file.finish()) { path in
            let old = try LegacyFile(path: path)
            #expect(try old.verify().errors.count == 1)
            _ = #expect { _ = try old.convert(toFile: path + ".new") } throws: { "\($0)".contains("another number of values") }
        }
    }
}

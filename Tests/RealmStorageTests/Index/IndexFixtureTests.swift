// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
@testable import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Indexes of files by the reference engine")
struct IndexFixtureTests {
    /// Files with indexes. One that cannot be opened is among them, to be told of.
    static let names = Fixtures.names.filter { name in
        let key = Fixtures.isEncrypted(name) ? try? EncryptionKey(bytes: Fixtures.key) : nil
        guard let path = try? Fixtures.path(name), let file = try? RealmFile(path: path, key: key),
            let snapshot = try? Snapshot(file: file)
        else { return true }
        return snapshot.tables.contains { $0.columns.contains(where: \.hasSearchIndex) }
    }

    @Test(arguments: names)
    func `every index built anew from its objects is the stored one`(name: String) throws {
        try eachIndex(name) { table, column, writes in
            let built = try IndexFixtureTests.writer(table, column, writes, capacity: 1000).build(from: table.objects)
            let holdsWords = column.collection != nil || column.declaredIndex == .fullText
            let stored = try IndexShape(column.searchIndex, table.space, holdsWords: holdsWords)
            #expect(
                try IndexShape(built, writes.space, holdsWords: holdsWords, isTidy: false) == stored,
                "\(name) \(table.name).\(column.name)")
            try IndexFixtureTests.verify(table, column, built, writes, "\(name) \(table.name).\(column.name) rebuilt")
        }
    }

    @Test(arguments: names)
    func `objects leave a stored index and come back to it, and every freed node is counted once`(name: String) throws {
        try eachIndex(name) { table, column, writes in
            guard table.count < 20000 else { return }
            let place = "\(name) \(table.name).\(column.name)"
            let writer = try IndexFixtureTests.writer(table, column, writes, capacity: 7)
            let before = try reachableNodes(column.searchIndex, writes.space)
            var moved: [(Row, old: [Value])] = []
            var root = column.searchIndex
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                for index in 0..<leaf.count where leaf.key(at: index).rawValue % 3 != 0 {
                    let row = Row(leaf: leaf, index: index)
                    let values = try IndexFixtureTests.values(row, column)
                    moved.append((row, values))
                    root = try #require(try IndexFixtureTests.erase(values, row.key, column, writer, root), "\(place)")
                }
            }
            for (row, values) in moved.reversed() {
                root = try IndexFixtureTests.insert(values, row.key, column, writer, root)
            }
            try IndexFixtureTests.verify(table, column, root, writes, place)
            let after = try reachableNodes(root, writes.space)
            #expect(Set(writes.freed.map(\.ref)) == before.subtracting(after), "\(place)")
            #expect(Set(writes.freed.map(\.ref)).count == writes.freed.count, "\(place)")
        }
    }

    // MARK: - Helpers

    private func eachIndex(_ name: String, _ body: (Table, Column, WriteSpace) throws -> Void) throws {
        let key = Fixtures.isEncrypted(name) ? try EncryptionKey(bytes: Fixtures.key) : nil
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(name), key: key))
        let arena = try NodeArena(byteCount: 1 << 30)
        for table in snapshot.tables {
            for column in table.columns where column.hasSearchIndex {
                arena.reset()
                try body(table, column, WriteSpace(base: snapshot.space, arena: arena))
            }
        }
    }

    private static func writer(
        _ table: Table, _ column: Column, _ writes: WriteSpace, capacity: Int
    ) throws -> ColumnIndexWriter {
        let isFullText = column.declaredIndex == .fullText
        return try ColumnIndexWriter(column, isFullText: isFullText, writes, capacity: .small(capacity)) {
            (object) throws(StorageError) in
            guard let row = try table.find(object) else { throw .corrupt(ref: .none, reason: "no object \(object)") }
            return try row.value(column)
        }
    }

    static func values(_ row: Row, _ column: Column) throws -> [Value] {
        guard column.collection != nil else { return [try row.value(column)] }
        let root = try row.leaf.collectionRoot(column, row: row.index)
        var elements = try ListView(root: root, space: row.leaf.space, shape: column.elementShape).elements()
        var values: [Value] = []
        while let value = try elements.next() { values.append(value) }
        return values
    }

    static func erase(
        _ values: [Value], _ object: ObjectKey, _ column: Column, _ writer: ColumnIndexWriter, _ root: Ref
    ) throws -> Ref? {
        if column.collection != nil { return try writer.replaceElements(values, by: [], object, in: root) }
        return try writer.erase(values[0], object, from: root)
    }

    static func insert(
        _ values: [Value], _ object: ObjectKey, _ column: Column, _ writer: ColumnIndexWriter, _ root: Ref
    ) throws -> Ref {
        if column.collection != nil {
            return try #require(try writer.replaceElements([], by: values, object, in: root))
        }
        return try writer.insert(values[0], object, into: root)
    }

    private static func verify(
        _ table: Table, _ column: Column, _ root: Ref, _ writes: WriteSpace, _ place: String
    ) throws {
        var report = VerifyReport()
        try IndexCheck(table: table).check(column, root: root, in: writes.space, &report)
        #expect(report.errors.isEmpty && report.warnings.isEmpty, "\(place): \(report.errors) \(report.warnings)")
    }
}

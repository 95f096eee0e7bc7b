// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Indexes that were changed and committed")
struct IndexCommitTests {
    /// `small` builds with nodes of 4 keys, which makes inner nodes in every index.
    enum Change: String, CaseIterable { case rebuilt, moved, refilled, small }

    static let fixtures = ["indexes", "mixed", "primary-keys", "random-1", "random-2", "store", "unresolved"].filter {
        Fixtures.names.contains($0)
    }

    @Test(arguments: fixtures, Change.allCases)
    func `leave a sound file behind`(name: String, change: Change) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("index-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("\(name)-\(change).realm").path
        try FileManager.default.copyItem(atPath: try Fixtures.path(name), toPath: path)
        let store = try FileStore.open(path: path)
        for _ in 0..<2 {
            let transaction = try store.beginWrite()
            try IndexCommitTests.apply(change, transaction)
        }
        let report = store.current.verify()
        #expect(report.isClean, "\(name) \(change): \(report.errors)")
        #expect(report.statistics.unaccountedBytes == 0)
        try store.close()
    }

    /// Changes all indexes and commits.
    private static func apply(_ change: Change, _ transaction: StoreWrite) throws {
        let snapshot = transaction.base
        let writes = transaction.nodes
        var tables = try writes.writable(snapshot.top.tables)
        for table in snapshot.tables {
            var top = try writes.writable(tables.ref(table.key.position))
            var roots = try writes.writable(top.ref(4))
            for column in table.columns where column.hasSearchIndex {
                try roots.set(column.leafIndex, try IndexCommitTests.apply(change, table, column, writes))
            }
            try top.set(4, roots.ref)
            try tables.set(table.key.position, top.ref)
        }
        _ = try transaction.commit(names: snapshot.top.names, tables: tables.ref)
    }

    private static func apply(
        _ change: Change, _ table: Table, _ column: Column, _ writes: WriteSpace
    ) throws -> Ref {
        let capacity = change == .small ? IndexCapacity(ofNodes: 4, ofLists: 1000) : .standard
        let writer = try ColumnIndexWriter(
            column, isFullText: column.declaredIndex == .fullText, writes, capacity: capacity
        ) { (object) throws(StorageError) in
            guard let row = try table.find(object) else { throw .corrupt(ref: .none, reason: "no object \(object)") }
            return try row.value(column)
        }
        guard change == .moved || change == .refilled else {
            try writes.discardTree(column.searchIndex)
            return try writer.build(from: table.objects)
        }
        var root = column.searchIndex
        var objects: [(key: ObjectKey, values: [Value])] = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for index in 0..<leaf.count where change == .refilled || leaf.key(at: index).rawValue % 2 == 0 {
                let row = Row(leaf: leaf, index: index)
                objects.append((row.key, try IndexFixtureTests.values(row, column)))
            }
        }
        for (key, values) in objects {
            root = try #require(try IndexFixtureTests.erase(values, key, column, writer, root))
        }
        for (key, values) in objects.reversed() {
            root = try IndexFixtureTests.insert(values, key, column, writer, root)
        }
        return root
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Commits changes of trees and has the whole file checked.
@Suite struct CommitTreesTests {
    private static let fixtures = [
        "store", "lists", "gaps", "types-list", "types-set", "types-dictionary", "int-widths", "strings", "random-1",
    ].filter { Fixtures.names.contains($0) }

    @Test("A file whose trees were changed verifies after each commit", arguments: fixtures, 1...(CommitTests.isLong ? 4 : 1))
    func changedFilesVerify(fixture: String, seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("trees-\(UUID().uuidString).realm")
        try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(fixture))).write(to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        for round in 0..<3 {
            let store = try FileStore.open(path: copy.path)
            let transaction = try store.beginWrite()
            let tables = try change(transaction, &random)
            let snapshot = try transaction.commit(names: transaction.base.top.names, tables: tables)
            let report = snapshot.verify()
            #expect(report.isClean, "\(fixture) seed \(seed) round \(round): \(report.errors.prefix(5))")
            try store.close()
        }
    }

    private func change(_ transaction: StoreWrite, _ random: inout SeededGenerator) throws -> Ref {
        var list = try transaction.nodes.writable(transaction.base.top.tables)
        for table in transaction.base.tables where table.columns.allSatisfy({ $0.enumeration == nil }) {
            var root = table.objects.root
            let writer = ClusterWriter(transaction.nodes, columns: CommittedClusterTests.columns(table, transaction.nodes))
            let keys = try CommittedClusterTests.keys(table.objects)
            for column in table.columns where ![.link, .mixed].contains(column.type) && column.collection != nil {
                for key in keys.shuffled(using: &random).prefix(20) {
                    root = try changeCollection(column, ObjectKey(key), root, writer, &random)
                }
            }
            if isPlain(table) { root = try changeObjects(root, keys, writer, &random) }
            guard root != table.objects.root else { continue }
            var top = try transaction.nodes.writable(list.ref(table.key.position))
            try top.set(2, root)
            try list.set(table.key.position, top.ref)
        }
        return list.ref
    }

    /// Objects of such a table come and go without anything else to be changed.
    private func isPlain(_ table: Table) -> Bool {
        table.className != nil && table.backlinks.isEmpty
            && table.columns.allSatisfy { ![.link, .mixed].contains($0.type) && !$0.hasSearchIndex }
    }

    private func changeObjects(
        _ root: Ref, _ keys: [Int64], _ writer: ClusterWriter, _ random: inout SeededGenerator
    ) throws -> Ref {
        var root = root
        for key in keys.shuffled(using: &random).prefix(keys.count / 2) { root = try writer.erase(ObjectKey(key), in: root) }
        let known = Set(keys)
        for _ in 0..<400 {
            let key = Int64.random(in: 0..<5000, using: &random)
            if try !known.contains(key) && !writer.contains(ObjectKey(key), in: root) {
                root = try writer.insert(ObjectKey(key), in: root)
            }
        }
        return root
    }

    private func changeCollection(
        _ column: Column, _ key: ObjectKey, _ root: Ref, _ writer: ClusterWriter, _ random: inout SeededGenerator
    ) throws -> Ref {
        let leaf = LeafWriter(writer.writes, .refs, inCluster: true)
        var seed = SeededGenerator(seed: random.next())
        return try writer.update(key, leafIndex: column.leafIndex, in: root) { (node, row) throws(StorageError) in
            guard case .ref(let old) = try leaf.slot(row, in: node) else { return node }
            let new = switch column.collection {
            case .dictionary: try changeDictionary(old, column, writer.writes, &seed)
            case .set: try changeSet(old, column, writer.writes, &seed)
            default: try changeList(old, column, writer.writes, &seed)
            }
            return try leaf.setRef(new, at: row, in: node)
        }
    }

    private func changeList(
        _ root: Ref, _ column: Column, _ writes: WriteSpace, _ random: inout SeededGenerator
    ) throws(StorageError) -> Ref {
        let writer = BPlusTreeWriter(writes, column.elementShape)
        let maker = ValueMaker()
        var root = root
        for step in 0..<40 {
            let count = try writer.count(root)
            if step % 3 == 0, count > 0 {
                root = try writer.erase(at: Int.random(in: 0..<count, using: &random), in: root)
            } else {
                let value = maker.value(column.elementShape, using: &random)
                root = try writer.insert(value, at: Int.random(in: 0...count, using: &random), in: root)
            }
        }
        let more = Int.random(in: 0..<8, using: &random) == 0 ? 1500 : 10
        return try writer.append(contentsOf: (0..<more).map { _ in maker.value(column.elementShape, using: &random) }, to: root)
    }

    private func changeSet(
        _ root: Ref, _ column: Column, _ writes: WriteSpace, _ random: inout SeededGenerator
    ) throws(StorageError) -> Ref {
        let writer = SetWriter(writes, column.elementShape)
        let maker = ValueMaker()
        var root = root
        for _ in 0..<60 {
            let value = maker.value(column.elementShape, variety: 100, using: &random)
            if let index = try writer.index(of: value, in: root) {
                root = try writer.erase(at: index, in: root)
            } else {
                root = try writer.insert(value, in: root).root
            }
        }
        return root
    }

    private func changeDictionary(
        _ root: Ref, _ column: Column, _ writes: WriteSpace, _ random: inout SeededGenerator
    ) throws(StorageError) -> Ref {
        let writer = DictionaryWriter(writes)
        let maker = ValueMaker()
        var root = root
        for _ in 0..<60 {
            let key = "key \(Int.random(in: 0..<60, using: &random))"
            if let position = try writer.position(of: key, in: root) {
                root = try writer.erase(at: position, in: root)
            } else {
                root = try writer.set(key, maker.value(column.elementShape, using: &random), in: root).root
            }
        }
        return root
    }
}

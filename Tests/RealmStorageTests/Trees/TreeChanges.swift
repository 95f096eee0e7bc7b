// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport

@testable import RealmStorage

/// Changes trees of a file at random, leaving alone what links and indexes refer to.
struct TreeChanges {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Changes all tables; the result is the list of tables.
    mutating func change(_ snapshot: Snapshot, _ writes: WriteSpace) throws -> Ref {
        var list = try writes.writable(snapshot.top.tables)
        for table in snapshot.tables where table.columns.allSatisfy({ $0.enumeration == nil }) {
            let root = try change(snapshot, writes, table: table)
            guard root != table.objects.root else { continue }
            var top = try writes.writable(list.ref(table.key.position))
            try top.set(2, root)
            try list.set(table.key.position, top.ref)
        }
        return list.ref
    }

    /// Changes the objects of one table; the result is the root of its tree.
    mutating func change(_ snapshot: Snapshot, _ writes: WriteSpace, table: Table) throws -> Ref {
        var root = table.objects.root
        let writer = ClusterWriter(writes, columns: CommittedClusterTests.columns(table, writes))
        let keys = try CommittedClusterTests.keys(table.objects)
        for column in table.columns where ![.link, .mixed].contains(column.type) && column.collection != nil {
            for key in keys.shuffled(using: &random).prefix(20) {
                root = try changeCollection(column, ObjectKey(key), root, writer)
            }
        }
        return try isPlain(table) ? changeObjects(root, keys, writer) : root
    }

    /// Objects of such a table come and go without anything else to be changed.
    private func isPlain(_ table: Table) -> Bool {
        table.className != nil && table.backlinks.isEmpty
            && table.columns.allSatisfy { ![.link, .mixed].contains($0.type) && !$0.hasSearchIndex }
    }

    private mutating func changeObjects(
        _ root: Ref, _ keys: [Int64], _ writer: ClusterWriter
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

    private mutating func changeCollection(
        _ column: Column, _ key: ObjectKey, _ root: Ref, _ writer: ClusterWriter
    ) throws -> Ref {
        let leaf = LeafWriter(writer.writes, .refs, inCluster: true)
        var changes = TreeChanges(seed: random.next())
        return try writer.update(key, leafIndex: column.leafIndex, in: root) { (node, row) throws(StorageError) in
            guard case .ref(let old) = try leaf.slot(row, in: node) else { return node }
            let new: Ref
            switch column.collection {
            case .dictionary: new = try changes.changeDictionary(old, column, writer.writes)
            case .set: new = try changes.changeSet(old, column, writer.writes)
            default: new = try changes.changeList(old, column, writer.writes)
            }
            return try leaf.setRef(new, at: row, in: node)
        }
    }

    private mutating func changeList(
        _ root: Ref, _ column: Column, _ writes: WriteSpace
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

    private mutating func changeSet(
        _ root: Ref, _ column: Column, _ writes: WriteSpace
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

    private mutating func changeDictionary(
        _ root: Ref, _ column: Column, _ writes: WriteSpace
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

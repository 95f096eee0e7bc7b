// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Changes the objects of tables that the reference engine wrote.
@Suite struct CommittedClusterTests {
    /// Fixtures with many objects, many columns, gaps between keys, tombstones; the first are in every clone.
    static let fixtures = [
        "store", "gaps", "big-keys", "links", "lists", "mixed", "embedded", "primary-keys", "sizes-1000", "removed-columns",
        "added-columns", "unresolved", "types-list", "types-set", "types-dictionary", "random-1", "random-2", "table-70000",
    ].filter { Fixtures.names.contains($0) }

    static func columns(_ table: Table, _ writes: WriteSpace) -> [ClusterWriter.Column] {
        (table.columns + table.backlinks).map { column in
            let isRefs = column.collection != nil || column.type == .backlink
            let shape: LeafWriter.LeafShape = isRefs ? .refs : .values(column.elementShape)
            let leaf = LeafWriter(writes, shape, inCluster: true)
            return ClusterWriter.Column(leafIndex: column.leafIndex, shape: shape, leaf: leaf)
        }
    }

    /// All single values of an object as text; collections by their roots, which stay where they are.
    private static func plain(_ table: Table, _ row: Row) throws -> [String] {
        try (table.columns + table.backlinks).map { column in
            guard column.collection == nil, column.type != .backlink else {
                return "\(try row.leaf.attachRefs(column).slot(row.index))"
            }
            return try row.value(column).plain
        }
    }

    @Test(arguments: fixtures)
    func `Objects of a file come and go, and their old nodes are freed once`(fixture: String) throws {
        var random = SeededGenerator(seed: UInt64(fixture.utf8.count))
        let source = try TreeScratch(fixture)
        for table in source.snapshot.tables where table.columns.allSatisfy({ $0.enumeration == nil }) {
            for tree in [table.objects, table.tombstones] where !tree.root.isNone {
                try change(table, tree, fixture, &random)
            }
        }
        withExtendedLifetime(source) {}
    }

    private func change(_ table: Table, _ tree: ClusterTree, _ fixture: String, _ random: inout SeededGenerator) throws {
        let scratch = try TreeScratch(fixture)
        let writer = ClusterWriter(scratch.writes, columns: CommittedClusterTests.columns(table, scratch.writes))
        let what = "\(fixture) \(table.name)"
        var keys = try Self.keys(tree)
        var known = Set(keys)
        var root = tree.root
        // Enough to empty small tables and to merge leaves of large ones.
        let steps = min(keys.count, 700) + 5
        let first = keys.count > 2000 ? keys.count / 2 : 0
        for step in 0..<steps {
            if step % 4 == 3 {
                let key = (keys.last ?? 0) &+ Int64(step) &* 3 &+ 1
                guard known.insert(key).inserted else { continue }
                root = try writer.insert(ObjectKey(key), in: root)
                keys.append(key)
            } else if first < keys.count {
                let index = first + Int.random(in: 0..<min(keys.count - first, 600), using: &random)
                known.remove(keys[index])
                root = try writer.erase(ObjectKey(keys.remove(at: index)), in: root)
            }
        }
        try check(table, tree, writer, root, known, what)
        try scratch.expectNothingLost(old: [tree.root], new: [root], what)
        try columnsComeAndGo(table, scratch, root, tree.root, what)
    }

    static func keys(_ tree: ClusterTree) throws -> [Int64] {
        var keys: [Int64] = []
        var cursor = tree.leaves()
        while let leaf = try cursor.next() { keys += (0..<leaf.count).map { leaf.key(at: $0).rawValue } }
        return keys
    }

    private func check(
        _ table: Table, _ old: ClusterTree, _ writer: ClusterWriter, _ root: Ref, _ known: Set<Int64>, _ what: String
    ) throws {
        var shape = TreeShape(writer.writes.space)
        let stored = try shape.checkClusterTree(root, writer.columns, shift: 8)
        #expect(shape.problems.isEmpty, "\(what): \(Set(shape.problems))")
        #expect(Set(stored) == known && stored.count == known.count, "\(what): keys differ")
        let new = writer.tree(root)
        for (index, key) in stored.enumerated() where stored.count < 3000 || index % 50 == 0 {
            guard let row = try new.find(ObjectKey(key)) else {
                Issue.record("\(what): object \(key) is not found")
                continue
            }
            let values = try Self.plain(table, row)
            guard let before = try old.find(ObjectKey(key)) else { continue }
            #expect(try values == Self.plain(table, before), "\(what): object \(key)")
        }
    }

    private func columnsComeAndGo(_ table: Table, _ scratch: TreeScratch, _ root: Ref, _ old: Ref, _ what: String) throws {
        let columns = CommittedClusterTests.columns(table, scratch.writes)
        guard let last = columns.max(by: { $0.leafIndex < $1.leafIndex }), columns.count > 1 else { return }
        var writer = ClusterWriter(scratch.writes, columns: columns)
        var new = try writer.removeColumn(leafIndex: last.leafIndex, in: root)
        writer = ClusterWriter(scratch.writes, columns: columns.filter { $0.leafIndex != last.leafIndex })
        var shape = TreeShape(scratch.writes.space)
        _ = try shape.checkClusterTree(new, writer.columns, shift: 8)
        try scratch.expectNothingLost(old: [old], new: [new], what)
        let added = ClusterWriter.Column(
            leafIndex: last.leafIndex + 3, shape: .values(.mixed),
            leaf: LeafWriter(scratch.writes, .values(.mixed), inCluster: true))
        new = try writer.addColumn(added, in: new)
        writer = ClusterWriter(scratch.writes, columns: writer.columns + [added])
        _ = try shape.checkClusterTree(new, writer.columns, shift: 8)
        #expect(shape.problems.isEmpty, "\(what): \(Set(shape.problems))")
        try scratch.expectNothingLost(old: [old], new: [new], what)
        new = try writer.clear(new)
        try scratch.expectNothingLost(old: [old], new: [new], what)
    }
}

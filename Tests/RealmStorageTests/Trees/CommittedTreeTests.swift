// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Changes trees that the reference engine wrote.
@Suite struct CommittedTreeTests {
    /// Fixtures with lists and sets of many types and sizes; the first are in every clone.
    static let fixtures = [
        "lists", "links", "mixed", "store", "types-list", "types-set", "random-1", "random-2", "unresolved",
    ].filter { Fixtures.names.contains($0) }

    @Test(arguments: fixtures)
    func `Lists and sets of a file change like arrays, and their old nodes are freed once`(fixture: String) throws {
        var random = SeededGenerator(seed: UInt64(fixture.utf8.count))
        let source = try TreeScratch(fixture)
        for table in source.snapshot.tables {
            for column in table.columns where column.collection == .list || column.collection == .set {
                for root in try CommittedTreeTests.roots(table, column, source).prefix(3) {
                    try change(root, column.elementShape, try TreeScratch(fixture), "\(fixture) \(column.name)", &random)
                }
            }
        }
        withExtendedLifetime(source) {}
    }

    /// The longest collections of a column.
    private static func roots(_ table: Table, _ column: Column, _ scratch: TreeScratch) throws -> [Ref] {
        var found: [(ref: Ref, count: Int)] = []
        var cursor = table.objects.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.count {
                let root = try leaf.collectionRoot(column, row: row)
                guard !root.isNone else { continue }
                let tree = try BPlusTree(root: root, space: scratch.writes.space, shape: column.elementShape)
                found.append((root, tree.count))
            }
        }
        return found.sorted { $0.count > $1.count }.map(\.ref)
    }

    private func change(
        _ old: Ref, _ shape: ElementShape, _ scratch: TreeScratch, _ what: String, _ random: inout SeededGenerator
    ) throws {
        let writer = BPlusTreeWriter(scratch.writes, shape)
        let maker = ValueMaker()
        var root = old
        var model = try CommittedTreeTests.contents(root, writer)
        let steps = model.count > 500 ? 60 : 30
        for _ in 0..<steps {
            let value = maker.value(shape, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let index = Int.random(in: 0...model.count, using: &random)
                root = try writer.insert(value, at: index, in: root)
                model.insert(value.plain, at: index)
            case 1 where !model.isEmpty:
                let index = Int.random(in: 0..<model.count, using: &random)
                root = try writer.set(value, at: index, in: root)
                model[index] = value.plain
            case 2:
                root = try writer.append(value, to: root)
                model.append(value.plain)
            case _ where !model.isEmpty:
                let index = Int.random(in: 0..<model.count, using: &random)
                root = try writer.erase(at: index, in: root)
                model.remove(at: index)
            default: continue
            }
        }
        #expect(try CommittedTreeTests.contents(root, writer) == model, "\(what): contents differ")
        var tree = TreeShape(scratch.writes.space)
        try tree.checkBPlusTree(root, shape, leafCapacity: 1000, fanOut: 1000)
        #expect(tree.problems.isEmpty, "\(what): \(Set(tree.problems))")
        try scratch.expectNothingLost(old: [old], new: [root], what)
        while !model.isEmpty, model.count < 100 {
            root = try writer.erase(at: model.count / 2, in: root)
            model.remove(at: model.count / 2)
        }
        try scratch.expectNothingLost(old: [old], new: [root], what)
        try writer.discard(root)
        try scratch.expectNothingLost(old: [old], new: [], what)
    }

    private static func contents(_ root: Ref, _ writer: BPlusTreeWriter) throws -> [String] {
        var stored: [String] = []
        var elements = ElementCursor(try writer.tree(root))
        while let value = try elements.next() { stored.append(value.plain) }
        return stored
    }

    /// Types of elements, and whether they may be null: lists of links have no nulls, and Mixed is always nullable.
    static let elements: [(ColumnType, Bool)] = ColumnType.allCases.filter { $0 != .backlink }.flatMap { type in
        [true, false].filter { isNullable in type == .link ? !isNullable : isNullable || type != .mixed }.map { (type, $0) }
    }

    @Test(arguments: elements)
    func `A tree of every type behaves like an array`(type: ColumnType, isNullable: Bool) throws {
        let shape = ElementShape(type: type, isNullable: isNullable, targetTable: type == .link ? TableKey(2) : .null)
        var random = SeededGenerator(seed: UInt64(type.rawValue + 1))
        let scratch = try TreeScratch()
        let writer = BPlusTreeWriter(scratch.writes, shape, leafCapacity: 6, fanOut: 4)
        let maker = ValueMaker()
        var root = Ref.none
        var model: [String] = []
        for step in 0..<500 {
            let value = maker.value(shape, using: &random)
            if model.isEmpty || Int.random(in: 0..<10, using: &random) < (step / 100 == 3 ? 2 : 6) {
                let index = Int.random(in: 0...model.count, using: &random)
                root = try writer.insert(value, at: index, in: root)
                model.insert(value.plain, at: index)
            } else if step % 3 == 0 {
                let index = Int.random(in: 0..<model.count, using: &random)
                root = try writer.set(value, at: index, in: root)
                model[index] = value.plain
            } else {
                let index = Int.random(in: 0..<model.count, using: &random)
                root = try writer.erase(at: index, in: root)
                model.remove(at: index)
            }
        }
        #expect(try CommittedTreeTests.contents(root, writer) == model, "\(type)")
        var tree = TreeShape(scratch.writes.space)
        try tree.checkBPlusTree(root, shape, leafCapacity: 6, fanOut: 4)
        #expect(tree.problems.isEmpty, "\(type): \(Set(tree.problems))")
        try scratch.expectNothingLost(old: [], new: [root], "\(type)")
    }
}

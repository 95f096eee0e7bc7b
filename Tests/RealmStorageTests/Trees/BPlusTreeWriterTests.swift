// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct BPlusTreeWriterTests {
    private static let int = ElementShape(type: .int, isNullable: false)

    struct Sizes: Sendable, CustomTestStringConvertible {
        let leaf: Int
        let fanOut: Int
        var testDescription: String { "\(leaf)/\(fanOut)" }
    }

    /// A tree with its model.
    private struct Subject {
        let scratch: TreeScratch
        let writer: BPlusTreeWriter
        let sizes: Sizes
        var root = Ref.none
        var model: [String] = []
        let maker = ValueMaker()

        init(_ shape: ElementShape, _ sizes: Sizes) throws {
            scratch = try TreeScratch()
            self.sizes = sizes
            writer = BPlusTreeWriter(scratch.writes, shape, leafCapacity: sizes.leaf, fanOut: sizes.fanOut)
        }

        func check(_ what: String) throws {
            var shape = TreeShape(scratch.writes.space)
            try shape.checkBPlusTree(root, writer.shape, leafCapacity: sizes.leaf, fanOut: sizes.fanOut)
            #expect(shape.problems.isEmpty, "\(what): \(Set(shape.problems))")
            try scratch.expectNothingLost(old: [], new: [root], what)
            var stored: [String] = []
            var elements = ElementCursor(try writer.tree(root))
            while let value = try elements.next() { stored.append(value.plain) }
            #expect(stored == model, "\(what): contents differ")
            for index in model.indices where index % 7 == 0 {
                #expect(try writer.tree(root).value(at: index).plain == model[index], "\(what): element \(index)")
            }
        }

        mutating func change(_ step: Int, growth: Int, using random: inout SeededGenerator) throws {
            let value = maker.value(writer.shape, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<growth:
                let index = Int.random(in: 0...model.count, using: &random)
                root = try writer.insert(value, at: index, in: root)
                model.insert(value.plain, at: index)
            case 8:
                root = try writer.append(value, to: root)
                model.append(value.plain)
            case 9 where !model.isEmpty:
                let index = Int.random(in: 0..<model.count, using: &random)
                root = try writer.set(value, at: index, in: root)
                model[index] = value.plain
            case _ where !model.isEmpty:
                let index = Int.random(in: 0..<model.count, using: &random)
                root = try writer.erase(at: index, in: root)
                model.remove(at: index)
            default: return
            }
        }
    }

    @Test(arguments: [Sizes(leaf: 4, fanOut: 4), Sizes(leaf: 3, fanOut: 4), Sizes(leaf: 10, fanOut: 5)], 1...4)
    func `A tree of integers behaves like an array`(sizes: Sizes, seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var subject = try Subject(BPlusTreeWriterTests.int, sizes)
        for round in 0..<12 {
            let growth = round % 4 == 3 ? 1 : round % 4 == 2 ? 4 : 7
            for step in 0..<80 { try subject.change(step, growth: growth, using: &random) }
            try subject.check("\(sizes.testDescription) seed \(seed) round \(round)")
        }
        while !subject.model.isEmpty {
            let index = Int.random(in: 0..<subject.model.count, using: &random)
            subject.root = try subject.writer.erase(at: index, in: subject.root)
            subject.model.remove(at: index)
        }
        try subject.check("\(sizes.testDescription) seed \(seed) emptied")
        #expect(try !subject.scratch.writes.node(at: subject.root).isInner)
    }

    @Test(arguments: [1, 7, 64, 250])
    func `Appending fills leaves and inner nodes and needs no offsets`(chunk: Int) throws {
        var subject = try Subject(BPlusTreeWriterTests.int, Sizes(leaf: 4, fanOut: 4))
        for start in stride(from: 0, to: 500, by: chunk) {
            let values = (start..<min(start + chunk, 500)).map { Value.int(Int64($0)) }
            subject.root =
                try chunk == 1
                ? subject.writer.append(values[0], to: subject.root)
                : subject.writer.append(contentsOf: values, to: subject.root)
            subject.model += values.map(\.plain)
        }
        try subject.check("chunks of \(chunk)")
        let root = try subject.scratch.writes.node(at: subject.root)
        #expect(try root.slot(0) == .tagged(256))
        #expect(try root.number(root.count - 1, "total") == 500)
    }

    @Test func `An element inserted into a full first leaf stays at the end of the left part`() throws {
        var subject = try Subject(BPlusTreeWriterTests.int, Sizes(leaf: 1000, fanOut: 1000))
        subject.root = try subject.writer.append(contentsOf: (0..<2500).map { .int(Int64($0)) }, to: subject.root)
        subject.root = try subject.writer.insert(.int(-1), at: 5, in: subject.root)
        subject.model = ((0..<5).map { $0 } + [-1] + (5..<2500).map { $0 }).map { Value.int(Int64($0)).plain }
        try subject.check("split")
        let root = try subject.scratch.writes.node(at: subject.root)
        let offsets = try subject.scratch.writes.node(at: try root.requiredRef(0, "offsets"))
        #expect((0..<offsets.count).map { offsets.unsignedInteger($0) } == [6, 1001, 2001])
    }

    @Test func `A leaf less than half full is joined with the next one`() throws {
        var subject = try Subject(BPlusTreeWriterTests.int, Sizes(leaf: 1000, fanOut: 1000))
        subject.root = try subject.writer.append(contentsOf: (0..<2300).map { .int(Int64($0)) }, to: subject.root)
        for _ in 0..<700 { subject.root = try subject.writer.erase(at: 1000, in: subject.root) }
        subject.model = (Array(0..<1000) + Array(1700..<2300)).map { Value.int(Int64($0)).plain }
        try subject.check("merge")
        let root = try subject.scratch.writes.node(at: subject.root)
        #expect(root.count == 4)
    }

    @Test(arguments: 1...4)
    func `The root of a tree of links tells whether a link is unresolved`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let table = TableKey(5)
        let shape = ElementShape(type: .link, isNullable: false, targetTable: table)
        let scratch = try TreeScratch()
        let writer = BPlusTreeWriter(scratch.writes, shape, leafCapacity: 4, fanOut: 3)
        var root = Ref.none
        var model: [Int64] = []
        for step in 0..<300 {
            let key = Int64.random(in: 0..<20, using: &random) == 0 ? -2 - Int64(step) : Int64(step)
            let link = Value.link(table, ObjectKey(key))
            switch Int.random(in: 0..<5, using: &random) {
            case 0...1:
                let index = Int.random(in: 0...model.count, using: &random)
                root = try writer.insert(link, at: index, in: root)
                model.insert(key, at: index)
            case 2 where !model.isEmpty:
                let index = Int.random(in: 0..<model.count, using: &random)
                root = try writer.set(link, at: index, in: root)
                model[index] = key
            case _ where !model.isEmpty:
                let index = Int.random(in: 0..<model.count, using: &random)
                root = try writer.erase(at: index, in: root)
                model.remove(at: index)
            default: continue
            }
            var tree = TreeShape(scratch.writes.space)
            try tree.checkBPlusTree(root, shape, leafCapacity: 4, fanOut: 3)
            #expect(tree.problems.isEmpty, "seed \(seed) step \(step): \(tree.problems)")
        }
        try scratch.expectNothingLost(old: [], new: [root], "seed \(seed)")
        let list = try ListView(root: root, space: scratch.writes.space, shape: shape, mayHoldUnresolved: true)
        #expect(list.count == model.filter { $0 >= 0 }.count)
    }

    @Test func `A place outside the tree is refused`() throws {
        let subject = try Subject(BPlusTreeWriterTests.int, Sizes(leaf: 4, fanOut: 4))
        let root = try subject.writer.append(.int(1), to: .none)
        #expect(throws: StorageError.self) { try subject.writer.insert(.int(1), at: 3, in: root) }
        #expect(throws: StorageError.self) { try subject.writer.set(.int(1), at: 1, in: root) }
        #expect(throws: StorageError.self) { try subject.writer.erase(at: -1, in: root) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct SetWriterTests {
    @Test(arguments: CommittedTreeTests.elements)
    func `A set holds each element once and in order`(type: ColumnType, isNullable: Bool) throws {
        let shape = ElementShape(type: type, isNullable: isNullable, targetTable: type == .link ? TableKey(2) : .null)
        let order = type == .decimal ? Value.decimalSetOrder : Value.order
        var random = SeededGenerator(seed: UInt64(type.rawValue) + 50)
        let scratch = try TreeScratch()
        let writer = SetWriter(scratch.writes, shape, leafCapacity: 6, fanOut: 4)
        let maker = ValueMaker()
        var root = Ref.none
        var model: [Value] = []
        for step in 0..<500 {
            let value = maker.value(shape, variety: 120, using: &random)
            let known = model.firstIndex { order($0, value) == 0 }
            #expect(try writer.index(of: value, in: root) == known, "\(type) step \(step)")
            if step % 3 < 2 {
                let change = try writer.insert(value, in: root)
                let place = model.firstIndex { order($0, value) >= 0 } ?? model.count
                #expect(change.isNew == (known == nil) && change.index == place, "\(type) step \(step)")
                if known == nil { model.insert(value, at: place) }
                root = change.root
            } else if let known {
                root = try writer.erase(at: known, in: root)
                model.remove(at: known)
            }
        }
        var stored: [String] = []
        var elements = try ListView(root: root, space: scratch.writes.space, shape: shape).elements()
        while let value = try elements.next() { stored.append(value.plain) }
        #expect(stored == model.map(\.plain), "\(type)")
        var tree = TreeShape(scratch.writes.space)
        try tree.checkBPlusTree(root, shape, leafCapacity: 6, fanOut: 4)
        #expect(tree.problems.isEmpty, "\(type): \(Set(tree.problems))")
        try scratch.expectNothingLost(old: [], new: [root], "\(type)")
    }

    @Test func `Numbers of different types that are equal are one element of a set of Mixed`() throws {
        let scratch = try TreeScratch()
        let writer = SetWriter(scratch.writes, .mixed)
        var root = try writer.insert(.int(1), in: .none).root
        #expect(try !writer.insert(.double(1), in: root).isNew)
        #expect(try !writer.insert(.decimal(Decimal128(Int64(1))), in: root).isNew)
        root = try writer.insert(.bool(true), in: root).root
        #expect(try writer.index(of: .bool(true), in: root) == 0)
        #expect(try writer.index(of: .float(1), in: root) == 1)
    }

    @Test func `Unresolved links have their places, and the root tells of them`() throws {
        let scratch = try TreeScratch()
        let table = TableKey(4)
        let shape = ElementShape(type: .link, isNullable: false, targetTable: table)
        let writer = SetWriter(scratch.writes, shape)
        var root = Ref.none
        for key in [5, -20, 3, -7, 9] { root = try writer.insert(.link(table, ObjectKey(Int64(key))), in: root).root }
        #expect(try writer.index(of: .link(table, ObjectKey(-7)), in: root) == 1)
        #expect(try scratch.writes.node(at: root).hasContext)
        root = try writer.erase(at: 0, in: root)
        root = try writer.erase(at: 0, in: root)
        #expect(try !scratch.writes.node(at: root).hasContext)
        #expect(try ListView(root: root, space: scratch.writes.space, shape: shape).count == 3)
    }

    @Test func `A NaN among floats does not hide what is behind it`() throws {
        let scratch = try TreeScratch()
        let shape = ElementShape(type: .double, isNullable: true)
        let list = BPlusTreeWriter(scratch.writes, shape)
        let root = try list.append(contentsOf: [1, 2, .nan, 3, 4].map { Value.double($0) }, to: .none)
        let writer = SetWriter(scratch.writes, shape)
        for (index, number) in [1.0, 2, .nan, 3, 4].enumerated() {
            #expect(try writer.index(of: .double(number), in: root) == index)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct ClusterWriterTests {
    private static let int = ElementShape(type: .int, isNullable: false)

    /// A table of two integer columns and one of refs, with its model.
    private struct Subject {
        let scratch: TreeScratch
        let shift: Int
        var writer: ClusterWriter
        var root = Ref.none
        /// First column by key.
        var model: [Int64: Int64] = [:]

        init(shift: Int) throws {
            scratch = try TreeScratch()
            self.shift = shift
            writer = ClusterWriter(scratch.writes, columns: [], shift: shift)
            writer = make([0, 2, 3])
        }

        func column(_ leafIndex: Int) -> ClusterWriter.Column {
            let shape = leafIndex == 3 ? LeafWriter.LeafShape.refs : .values(ClusterWriterTests.int)
            let leaf = LeafWriter(scratch.writes, shape, inCluster: true)
            return ClusterWriter.Column(leafIndex: leafIndex, shape: shape, leaf: leaf)
        }

        func make(_ indexes: [Int]) -> ClusterWriter {
            ClusterWriter(scratch.writes, columns: indexes.map(column), shift: shift)
        }

        mutating func insert(_ key: Int64, _ value: Int64) throws {
            root = try writer.insert(ObjectKey(key), in: root, values: [.int(value)])
            model[key] = value
        }

        mutating func erase(_ key: Int64) throws {
            root = try writer.erase(ObjectKey(key), in: root)
            model[key] = nil
        }

        func check(_ what: String) throws {
            var shape = TreeShape(scratch.writes.space)
            let keys = try shape.checkClusterTree(root, writer.columns, shift: shift)
            #expect(shape.problems.isEmpty, "\(what): \(Set(shape.problems))")
            let order = model.keys.sorted { UInt64(bitPattern: $0) < UInt64(bitPattern: $1) }
            #expect(keys == order, "\(what): keys differ")
            #expect(try writer.count(root) == model.count, "\(what)")
            for (key, value) in model {
                guard let row = try writer.tree(root).find(ObjectKey(key)) else {
                    Issue.record("\(what): object \(key) is not found")
                    continue
                }
                let leaf = try scratch.writes.node(at: try row.leaf.node.requiredRef(1, "column"))
                #expect(leaf.integer(row.index) == value, "\(what): object \(key)")
            }
            var cursor = writer.tree(root).leaves()
            while try cursor.next() != nil {}
            try scratch.expectNothingLost(old: [], new: [root], what)
        }
    }

    /// How keys are drawn.
    enum Keys: CaseIterable, Sendable { case dense, sparse, negative, squeezed }

    private static func key(_ kind: Keys, using random: inout SeededGenerator) -> Int64 {
        let number = Int64.random(in: 0..<600, using: &random)
        switch kind {
        case .dense: return number
        case .sparse: return number << Int64.random(in: 0..<50, using: &random)
        case .negative: return -2 - number << 30
        case .squeezed: return number & 0xff | (number & 0xffff_ff00) << 8
        }
    }

    @Test(arguments: Keys.allCases, 1...3)
    func `Objects come and go like the entries of a dictionary`(kind: Keys, seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var subject = try Subject(shift: 2)
        for round in 0..<8 {
            let growth = round % 4 == 3 ? 2 : 7
            for _ in 0..<80 {
                let key = ClusterWriterTests.key(kind, using: &random)
                if Int.random(in: 0..<10, using: &random) < growth, subject.model[key] == nil {
                    try subject.insert(key, Int64.random(in: -500...500, using: &random))
                } else if let victim = subject.model.keys.sorted().randomElement(using: &random) {
                    try subject.erase(victim)
                }
            }
            try subject.check("\(kind) seed \(seed) round \(round)")
        }
        for key in subject.model.keys.sorted().shuffled(using: &random) { try subject.erase(key) }
        try subject.check("\(kind) seed \(seed) emptied")
        #expect(try !subject.scratch.writes.node(at: subject.root).isInner)
    }

    @Test func `Objects added in key order need neither keys nor offsets`() throws {
        var subject = try Subject(shift: 2)
        for key in 0..<300 { try subject.insert(Int64(key), Int64(key) * 3) }
        try subject.check("ascending")
        var pending = [subject.root]
        while let ref = pending.popLast() {
            let node = try subject.scratch.writes.node(at: ref)
            if node.isInner {
                #expect(try node.slot(0) == .none)
                pending += try (3..<node.count).map { try node.requiredRef($0, "child") }
            } else if case .ref = try node.slot(0) {
                Issue.record("a leaf with explicit keys")
            }
        }
    }

    @Test func `Leaves of 256 objects split and merge`() throws {
        var subject = try Subject(shift: 8)
        for key in 0..<2000 { try subject.insert(Int64(key), Int64(key)) }
        for key in stride(from: 1, to: 2000, by: 2) { try subject.erase(Int64(key)) }
        for key in stride(from: 0, to: 1000, by: 4) { try subject.erase(Int64(key)) }
        for key in 500..<900 where subject.model[Int64(key)] == nil { try subject.insert(Int64(key), 7) }
        try subject.check("256")
    }

    @Test func `A leaf of one column is replaced where the object is`() throws {
        var subject = try Subject(shift: 2)
        for key in 0..<100 { try subject.insert(Int64(key), 0) }
        let column = subject.column(0)
        for key in stride(from: 0, to: 100, by: 3) {
            subject.root = try subject.writer.update(ObjectKey(Int64(key)), leafIndex: 0, in: subject.root) {
                (leaf, row) throws(StorageError) in
                try column.leaf.set(.int(Int64(key) << 20), at: row, in: leaf)
            }
            subject.model[Int64(key)] = Int64(key) << 20
        }
        try subject.check("updated")
        #expect(throws: StorageError.self) {
            try subject.writer.update(ObjectKey(1000), leafIndex: 0, in: subject.root) { (leaf, _) throws(StorageError) in leaf }
        }
    }

    @Test func `Columns come and go in all leaves`() throws {
        var subject = try Subject(shift: 2)
        for key in 0..<100 { try subject.insert(Int64(key), 1) }
        subject.root = try subject.writer.removeColumn(leafIndex: 2, in: subject.root)
        subject.writer = subject.make([0, 3])
        try subject.check("removed")
        subject.root = try subject.writer.addColumn(subject.column(9), in: subject.root)
        subject.writer = subject.make([0, 3, 9])
        try subject.check("added")
        for key in 100..<130 { try subject.insert(Int64(key), 2) }
        for key in 0..<50 { try subject.erase(Int64(key)) }
        try subject.check("changed afterwards")
    }

    @Test func `Collections below an object go with it`() throws {
        var subject = try Subject(shift: 2)
        let lists = BPlusTreeWriter(subject.scratch.writes, ClusterWriterTests.int, leafCapacity: 4, fanOut: 4)
        for key in 0..<40 {
            try subject.insert(Int64(key), 1)
            let list = try lists.append(contentsOf: (0..<key).map { .int(Int64($0)) }, to: .none)
            subject.root = try subject.writer.update(ObjectKey(Int64(key)), leafIndex: 3, in: subject.root) {
                (leaf, row) throws(StorageError) in
                try subject.column(3).leaf.set(.list(list), at: row, in: leaf)
            }
        }
        for key in stride(from: 0, to: 40, by: 3) { try subject.erase(Int64(key)) }
        try subject.check("erased")
        subject.root = try subject.writer.removeColumn(leafIndex: 3, in: subject.root)
        subject.writer = subject.make([0, 2])
        try subject.check("column removed")
    }

    @Test func `A key is used once`() throws {
        var subject = try Subject(shift: 2)
        for key in 0..<20 { try subject.insert(Int64(key), 1) }
        #expect(throws: StorageError.self) { try subject.writer.insert(ObjectKey(7), in: subject.root) }
        #expect(throws: StorageError.self) { try subject.writer.erase(ObjectKey(70), in: subject.root) }
    }
}

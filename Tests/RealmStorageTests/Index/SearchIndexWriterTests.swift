// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
@testable import RealmVerify
import Testing

@testable import RealmStorage

@Suite struct SearchIndexWriterTests {
    private static let rounds = TestRun.isLong ? 60 : 4

    @Test(arguments: IndexedKind.allCases)
    func `An index follows its objects through any changes`(kind: IndexedKind) throws {
        for seed in 1...SearchIndexWriterTests.rounds { try run(kind, seed: UInt64(seed)) }
    }

    private final class Model {
        var values: [ObjectKey: Value] = [:]
    }

    private func run(_ kind: IndexedKind, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scratch = try IndexScratch()
        let texts = TextPool(seed: seed)
        let model = Model()
        let capacity = [2, 3, 4, 8, 1000].randomElement(using: &random) ?? 2
        let writer = SearchIndexWriter(scratch.writes, isMixed: kind.isMixed, capacity: .small(capacity)) {
            (object) throws(StorageError) in
            guard let value = model.values[object] else { throw .corrupt(ref: .none, reason: "no object \(object)") }
            return value
        }
        var root = try writer.makeEmpty()
        let place = "\(kind) seed \(seed) capacity \(capacity)"
        let keyLimit = Int64.random(in: 5...300, using: &random)
        for step in 0..<500 {
            let object = ObjectKey(Int64.random(in: 0...keyLimit, using: &random) << (seed % 2 == 0 ? 0 : 40))
            let value = kind.value(&random, texts)
            let isGrowing = (step / 120) % 2 == 0 || Int.random(in: 0..<3, using: &random) == 0
            if let old = model.values[object] {
                if isGrowing {
                    root = try #require(try writer.replace(old, by: value, object, in: root), "\(place) step \(step)")
                    model.values[object] = value
                } else {
                    root = try #require(try writer.erase(old, object, from: root), "\(place) step \(step)")
                    model.values[object] = nil
                    #expect(try writer.erase(old, object, from: root) == nil, "\(place) step \(step)")
                }
            } else if isGrowing {
                root = try writer.insert(value, object, into: root)
                model.values[object] = value
                if step % 7 == 0 { #expect(try writer.insert(value, object, into: root) == root, "\(place) step \(step)") }
            }
            if step % 50 == 49 { try check(root, model.values, kind, scratch, "\(place) step \(step)") }
        }
        try check(root, model.values, kind, scratch, place)
        try compareWithBuilt(root, writer, model, kind, scratch, place)
        for (object, value) in model.values {
            root = try #require(try writer.erase(value, object, from: root), "\(place) at the end")
            model.values[object] = nil
        }
        #expect(try writer.tree.isEmpty(root) && !IndexNode(root, scratch.writes.space).isInner, "\(place)")
    }

    /// Nodes, contents both ways, and lookups of what is there and of what is not.
    private func check(
        _ root: Ref, _ values: [ObjectKey: Value], _ kind: IndexedKind, _ scratch: IndexScratch, _ place: String
    ) throws {
        var report = VerifyReport()
        var walker = IndexWalker(space: scratch.writes.space, place: place)
        var check = ValueIndexCheck(place: place, isMixed: kind.isMixed) { (object) throws(StorageError) in values[object] }
        try check.run(root, &walker, &report)
        #expect(report.errors.isEmpty && report.warnings.isEmpty, "\(report.errors) \(report.warnings)")
        #expect(check.found == Set(values.keys) && walker.objectCount == values.count, "\(place)")
        let index = SearchIndex(root: root, space: scratch.writes.space)
        var random = SeededGenerator(seed: 1)
        for (object, value) in values where Int.random(in: 0..<4, using: &random) == 0 {
            let found = Set(try index.candidates(for: value)).filter { values[$0]?.isIdentical(to: value) == true }
            #expect(found.contains(object), "\(place)")
            #expect(found == Set(values.filter { $0.value.isIdentical(to: value) }.keys), "\(place) \(value)")
        }
    }

    private func compareWithBuilt(
        _ root: Ref, _ writer: SearchIndexWriter, _ model: Model, _ kind: IndexedKind, _ scratch: IndexScratch, _ place: String
    ) throws {
        let built = try writer.build(model.values.map { ($0.value, $0.key) })
        try check(built, model.values, kind, scratch, "\(place) built")
        let space = scratch.writes.space
        #expect(
            try IndexShape(root, space, holdsWords: false) == IndexShape(built, space, holdsWords: false), "\(place) shape")
    }

    @Test(arguments: [IndexedKind.string, .optionalInt, .mixed])
    func `No node is lost or kept by changes that cancel out`(kind: IndexedKind) throws {
        let scratch = try IndexScratch()
        let texts = TextPool(seed: 3)
        let model = Model()
        let writer = SearchIndexWriter(scratch.writes, isMixed: kind.isMixed, capacity: .small(4)) {
            (object) throws(StorageError) in model.values[object] ?? .null
        }
        var root = try writer.makeEmpty()
        var used: [Int] = []
        for _ in 0..<30 {
            var random = SeededGenerator(seed: 99)
            for key in 0..<200 {
                let value = kind.value(&random, texts)
                model.values[ObjectKey(Int64(key))] = value
                root = try writer.insert(value, ObjectKey(Int64(key)), into: root)
            }
            for key in 0..<200 {
                let object = ObjectKey(Int64(key))
                root = try #require(try writer.erase(model.values[object] ?? .null, object, from: root))
            }
            used.append(scratch.writes.arena.used)
        }
        #expect(used[29] == used[2], "\(used)")
    }

    @Test func `Levels open only up to offset 200; what still differs there shares an ordered list`() throws {
        let scratch = try IndexScratch()
        let storages = (0..<4).map { ByteStorage([UInt8](repeating: 0x61, count: 204) + [UInt8(0x7a - $0)]) }
        let writer = SearchIndexWriter(scratch.writes, isMixed: false) { (object) throws(StorageError) in
            .string(storages[Int(object.rawValue)].view)
        }
        var root = try writer.makeEmpty()
        for key in 0..<4 { root = try writer.insert(.string(storages[key].view), ObjectKey(Int64(key)), into: root) }
        var shape = try IndexShape(root, scratch.writes.space, holdsWords: false, isTidy: false)
        var levels = 0
        while case .level(let entries) = shape, let only = entries.values.first {
            #expect(entries.count == 1)
            levels += 1
            shape = only
        }
        #expect(levels == 51)
        #expect(shape == .list([3, 2, 1, 0].map { ObjectKey($0) }))
    }

    @Test func `The example of the format notes has the shape that they show`() throws {
        let scratch = try IndexScratch()
        let storages = ["hello", "kitty", "kitten", "foobar", "kitty", "foobar"].map { ByteStorage($0) }
        let writer = SearchIndexWriter(scratch.writes, isMixed: false) { (object) throws(StorageError) in
            .string(storages[Int(object.rawValue)].view)
        }
        var root = try writer.makeEmpty()
        for key in 0..<6 { root = try writer.insert(.string(storages[key].view), ObjectKey(Int64(key)), into: root) }
        let below = IndexShape.level([0x656e_5800: .one(ObjectKey(2)), 0x7958_0000: .list([ObjectKey(1), ObjectKey(4)])])
        let expected = IndexShape.level([
            0x666f_6f62: .list([ObjectKey(3), ObjectKey(5)]), 0x6865_6c6c: .one(ObjectKey(0)), 0x6b69_7474: below,
        ])
        #expect(try IndexShape(root, scratch.writes.space, holdsWords: false, isTidy: false) == expected)
    }

    @Test func `Key arrays stay 32 bits wide, and flags are those of index nodes`() throws {
        let scratch = try IndexScratch()
        let writer = SearchIndexWriter(scratch.writes, isMixed: false, capacity: .small(3)) { (object) throws(StorageError) in
            .int(object.rawValue << 24)
        }
        var root = try writer.makeEmpty()
        #expect(try scratch.writes.node(at: scratch.writes.node(at: root).requiredRef(0, "keys")).flags == 6)
        for key in 0..<40 { root = try writer.insert(.int(Int64(key) << 24), ObjectKey(Int64(key)), into: root) }
        var pending = [root]
        while let ref = pending.popLast() {
            let node = try IndexNode(ref, scratch.writes.space)
            #expect(node.node.flags & ~7 == (node.isInner ? 0xe0 : 0x60) && node.keyWidth == 32 && node.count <= 3)
            for position in 0..<node.count where node.isInner { pending.append(try node.child(position)) }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct MutableNodeTests {
    /// Numbers that sit on both sides of every width.
    private static let edges: [Int64] = [
        0, 1, 2, 3, 4, 15, 16, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2_147_483_647, 2_147_483_648, 4_294_967_295,
        4_294_967_296, .max,
    ]

    @Test(arguments: 1...40)
    func `A node of integers behaves like an array`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let scratch = try Scratch()
        let form: IntegerForm = seed % 2 == 0 ? .signed : .unsigned
        var node = try scratch.writes.makeNode(.integers, widthCode: form == .unsigned ? 4 : 0)
        var model: [Int64] = []
        let widest = Int.random(in: 1...MutableNodeTests.edges.count, using: &random)
        for step in 0..<400 {
            var value = MutableNodeTests.edges[Int.random(in: 0..<widest, using: &random)]
            if form == .signed, Bool.random(using: &random), step > 200 { value = -value }
            switch Int.random(in: 0..<6, using: &random) {
            case 0...2:
                let index = Int.random(in: 0...model.count, using: &random)
                try node.insert(value, at: index, form)
                model.insert(value, at: index)
            case 3 where !model.isEmpty:
                let index = Int.random(in: 0..<model.count, using: &random)
                try node.set(index, value, form)
                model[index] = value
            case 4 where !model.isEmpty:
                let lower = Int.random(in: 0..<model.count, using: &random)
                let upper = min(model.count, lower + Int.random(in: 1...3, using: &random))
                node.removeIntegers(lower..<upper)
                model.removeSubrange(lower..<upper)
            default:
                try node.append(value, form)
                model.append(value)
            }
            #expect(node.count == model.count, "seed \(seed) step \(step)")
        }
        #expect((0..<node.count).map { node.integer($0, form) } == model, "seed \(seed)")
        let view = try scratch.writes.node(at: node.ref)
        #expect(view.count == model.count && view.width == node.width, "seed \(seed): the view of the space differs")
    }

    @Test(arguments: 1...30)
    func `Adding changes a run of elements, in a wider node if need be`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let scratch = try Scratch()
        let form: IntegerForm = seed % 2 == 0 ? .signed : .unsigned
        var model = (0..<Int.random(in: 0...70, using: &random)).map { _ in Int64.random(in: 0...1, using: &random) }
        var node = try scratch.writes.makeIntegers(model, .integers, form)
        for delta in [0, 1, 2, 11, 113, 40_000, 1 << 33] as [Int64] {
            let lower = Int.random(in: 0...model.count, using: &random)
            let upper = Int.random(in: lower...model.count, using: &random)
            try node.add(delta, to: lower..<upper, form)
            for index in lower..<upper { model[index] += delta }
            #expect((0..<node.count).map { node.integer($0, form) } == model, "seed \(seed), \(delta)")
            guard delta < 40_000 else { continue }
            try node.add(-delta, to: lower..<upper, form)
            for index in lower..<upper { model[index] -= delta }
        }
        #expect((0..<node.count).map { node.integer($0, form) } == model, "seed \(seed)")
    }

    @Test(arguments: [1, 2, 3], [0, 5, 31, 32, 33, 64, 100, 131])
    func `Elements narrower than a byte move in runs`(code: Int, gap: Int) throws {
        let scratch = try Scratch()
        let largest = Int64((1 << ((1 << code) >> 1)) - 1)
        var model = (0..<300).map { Int64($0 * 7 % 5) % (largest + 1) } + [largest]
        var node = try scratch.writes.makeIntegers(model)
        for lower in [0, 1, 3, 40] where lower + gap <= model.count {
            node.removeIntegers(lower..<lower + gap)
            model.removeSubrange(lower..<lower + gap)
            for index in [lower, 0, model.count] {
                try node.insert(largest, at: index)
                model.insert(largest, at: index)
            }
            #expect((0..<node.count).map { node.integer($0) } == model, "from \(lower)")
        }
    }

    @Test(arguments: 1...10)
    func `A node of whole-byte elements opens and closes gaps`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let scratch = try Scratch()
        let isBlob = seed % 2 == 0
        let size = isBlob ? 1 : 4
        var node = try scratch.writes.makeNode(isBlob ? .blob : .elements, widthCode: isBlob ? 1 : 3)
        var model: [UInt8] = []
        for _ in 0..<300 {
            let count = model.count / size
            let index = Int.random(in: 0...count, using: &random)
            let removed = min(count - index, Int.random(in: 0...2, using: &random))
            let inserted = Int.random(in: 0...4, using: &random)
            let bytes = (0..<inserted * size).map { _ in UInt8.random(in: 0...255, using: &random) }
            try node.replaceElements(at: index, removing: removed, inserting: inserted)
            let storage = ByteStorage(bytes)
            withExtendedLifetime(storage) { node.store(storage.view, atByte: index * size) }
            model.replaceSubrange(index * size..<(index + removed) * size, with: bytes)
        }
        #expect(node.bytes.array == model, "seed \(seed)")
    }

    @Test func `A savepoint undoes changes to nodes that were made before it`() throws {
        let scratch = try Scratch()
        let first = try scratch.writes.makeIntegers([1, 2, 3])
        let savepoint = scratch.writes.savepoint()
        var second = try scratch.writes.writable(first.ref)
        try second.set(0, 1000)
        #expect(second.ref != first.ref)
        #expect(try scratch.writes.node(at: first.ref).integer(0) == 1)
        scratch.writes.rollBack(to: savepoint)
        #expect(throws: StorageError.self) { try scratch.writes.node(at: second.ref) }
        #expect(try scratch.writes.node(at: first.ref).integer(0) == 1)
    }

    @Test func `A committed node is copied, and counted as freed once`() throws {
        let scratch = try Scratch()
        let table = try #require(scratch.snapshot.tables.first)
        let root = table.objects.root
        let size = try scratch.writes.node(at: root).byteCount
        let copy = try scratch.writes.writable(root)
        let again = try scratch.writes.writable(copy.ref)
        #expect(copy.ref == again.ref && copy.ref != root)
        #expect(scratch.writes.freed == [WriteSpace.FreedBlock(ref: root, byteCount: size)])
    }

    /// A transaction over a small file that is never committed.
    private struct Scratch {
        let snapshot: Snapshot
        let writes: WriteSpace

        init() throws {
            snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path("store")))
            writes = WriteSpace(base: snapshot.space, arena: try NodeArena(byteCount: 1 << 24))
        }
    }
}

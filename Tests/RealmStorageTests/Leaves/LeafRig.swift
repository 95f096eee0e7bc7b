// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

/// One leaf under test beside a plain array with what it must hold, and an account of all nodes.
struct LeafRig {
    let writes: WriteSpace
    let shape: ElementShape
    let inCluster: Bool
    let writer: LeafWriter
    let enumeration: EnumerationWriter?
    var leaf: Ref
    var model: [String]
    var sampler: LeafSampler
    /// The committed nodes at the start, with their sizes.
    private let committed: [Ref: Int]
    private let liveAtStart: Int
    let note: String

    init(
        _ writes: WriteSpace, _ shape: ElementShape, inCluster: Bool, leaf: Ref? = nil, enumeration: Ref? = nil,
        seed: Int, note: String
    ) throws {
        self.writes = writes
        self.shape = shape
        self.inCluster = inCluster
        self.note = "\(note) seed \(seed)"
        liveAtStart = writes.arena.liveByteCount
        self.enumeration = enumeration.map { EnumerationWriter(writes, root: $0) }
        writer = LeafWriter(writes, shape, inCluster: inCluster, enumeration: self.enumeration)
        self.leaf = try leaf ?? writer.makeEmpty()
        sampler = LeafSampler(shape, seed: UInt64(seed))
        model = []
        var committed: [Ref: Int] = [:]
        for root in [leaf, enumeration].compactMap({ $0 }) {
            for node in try LeafRig.reachable(root, writes) { committed[node.ref] = node.byteCount }
        }
        self.committed = committed
        model = try contents(self.leaf)
    }

    // MARK: - Steps

    /// Changes leaf and model in one random way.
    mutating func step() throws {
        switch sampler.roll(10) {
        case 0...2: try insert(at: sampler.roll(model.count + 1))
        case 3, 4: try insert(at: model.count)
        case 5 where !model.isEmpty: try erase(sampler.roll(model.count))
        case 6...8 where !model.isEmpty: try replace(sampler.roll(model.count))
        default: try sampler.roll(8) == 0 ? splitAndJoin() : insertDefault(at: sampler.roll(model.count + 1))
        }
    }

    mutating func insert(at row: Int) throws {
        let sample = sampler.next()
        leaf = try writer.insert(sample.value, at: row, in: leaf)
        model.insert(sample.text, at: row)
        withExtendedLifetime(sample.storage) {}
    }

    private mutating func insertDefault(at row: Int) throws {
        // A list of links has no default.
        if shape.type == .link, !inCluster { return try insert(at: row) }
        leaf = try writer.insertDefault(at: row, in: leaf)
        model.insert(LeafSample.text(writer.defaultValue), at: row)
    }

    private mutating func replace(_ row: Int) throws {
        try discardNested(row)
        let sample = sampler.next()
        leaf = try writer.set(sample.value, at: row, in: leaf)
        model[row] = sample.text
        withExtendedLifetime(sample.storage) {}
    }

    private mutating func erase(_ row: Int) throws {
        try discardNested(row)
        leaf = try writer.erase(row, in: leaf)
        model.remove(at: row)
    }

    /// The owner of a nested collection gives it up before the value goes.
    private func discardNested(_ row: Int) throws {
        guard shape.type == .mixed, let root = try writer.nestedRoot(row, in: leaf) else { return }
        try writes.discardTree(root)
    }

    private mutating func splitAndJoin() throws {
        let row = sampler.roll(model.count + 1)
        let (head, tail) = try writer.split(leaf, at: row)
        #expect(try contents(head) == Array(model[..<row]), "\(note): head of a split at \(row)")
        #expect(try contents(tail) == Array(model[row...]), "\(note): tail of a split at \(row)")
        try checkNodes([head, tail])
        if sampler.roll(2) == 0 {
            leaf = try writer.join(head, with: tail)
        } else {
            leaf = try writer.join(tail, with: head)
            model = Array(model[row...] + model[..<row])
        }
    }

    // MARK: - Checks

    func check(_ step: Int) throws {
        #expect(try contents(leaf) == model, "\(note) step \(step)")
        #expect(try writer.count(leaf) == model.count, "\(note) step \(step)")
        try checkNodes([leaf])
        if shape.type == .mixed { try checkMixed(step) }
    }

    /// Gives up everything and expects that nothing is left.
    func finish() throws {
        try writer.discard(leaf)
        if let enumeration { try writes.discardTree(enumeration.root) }
        #expect(writes.arena.liveByteCount == liveAtStart, "\(note): nodes are left in memory")
        #expect(Set(writes.freed.map(\.ref)) == Set(committed.keys), "\(note): nodes of the file are left")
        #expect(writes.freed.count == committed.count, "\(note): nodes are freed twice")
    }

    private func contents(_ ref: Ref) throws -> [String] {
        let leaf = try ColumnLeaf(
            try writes.node(at: ref), writes.space, shape, inCluster: inCluster, enumeration: enumeration?.strings)
        return try (0..<leaf.count).map { LeafSample.text(try leaf.value($0)) }
    }

    /// Every node is in use exactly once, or freed.
    private func checkNodes(_ roots: [Ref]) throws {
        var used = Set(writes.freed.map(\.ref))
        #expect(used.count == writes.freed.count, "\(note): nodes are freed twice")
        var live = 0
        for root in roots + [enumeration?.root].compactMap({ $0 }) {
            for node in try LeafRig.reachable(root, writes) {
                #expect(used.insert(node.ref).inserted, "\(note): node \(node.ref) is used twice, or freed and used")
                if WriteSpace.isNew(node.ref) { live += Int(node.header & 0xffff_ffff) << 3 }
            }
        }
        #expect(live == writes.arena.liveByteCount - liveAtStart, "\(note): nodes are lost in memory")
        #expect(committed.keys.allSatisfy(used.contains), "\(note): nodes of the file are lost")
    }

    static func reachable(_ root: Ref, _ writes: WriteSpace) throws -> [Node] {
        var nodes: [Node] = []
        var pending = root.isNone ? [] : [root]
        while let ref = pending.popLast() {
            let node = try writes.node(at: ref)
            nodes.append(node)
            guard node.hasRefs else { continue }
            for index in 0..<node.count { if case .ref(let child) = try node.slot(index) { pending.append(child) } }
        }
        return nodes
    }

    /// What other programs rely on beyond the values: every payload has one owner, ids are complete.
    private func checkMixed(_ step: Int) throws {
        let top = try writes.node(at: leaf)
        let words = try writes.integerNode(try top.requiredRef(0, "words"))
        var owners: [Set<Int64>] = Array(repeating: [], count: 8)
        for row in 0..<words.count {
            let word = words.integer(row)
            let slot = Int(word >> 5) & 7
            if slot != 0 { #expect(owners[slot].insert(word >> 8).inserted, "\(note) step \(step): a payload with two owners") }
        }
        for slot in 1...4 {
            let ref = try top.optionalRef(slot, "payload")
            let size = ref.isNone ? 0 : try payloadCount(slot, ref)
            #expect(owners[slot].count == size, "\(note) step \(step): slot \(slot) has \(size) payloads")
        }
        let ids = try top.optionalRef(5, "ids")
        guard !ids.isNone else {
            #expect(owners[4].isEmpty, "\(note) step \(step): collections without ids")
            return
        }
        let list = try writes.integerNode(ids)
        try #require(list.count == words.count, "\(note) step \(step): the list of ids is not as long as the leaf")
        for row in 0..<words.count {
            let isCollection = Int(words.integer(row) >> 5) & 7 == 4
            #expect((list.integer(row) != 0) == isCollection, "\(note) step \(step): id of row \(row)")
        }
    }

    private func payloadCount(_ slot: Int, _ ref: Ref) throws -> Int {
        if slot == 3 { return try StringLeaf(try writes.node(at: ref), writes.space).count }
        return try writes.node(at: ref).count / (slot == 2 ? 2 : 1)
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Changes lists of object keys.
///
/// A list begins as a leaf and becomes a tree when it outgrows its capacity. The caller knows where a key belongs, because the
/// order depends on the values.
struct KeyListWriter {
    /// Where the nodes of the transaction are.
    let writes: WriteSpace
    /// Changes lists of several leaves.
    private let trees: BPlusTreeWriter
    /// How many objects a leaf holds at most.
    private let capacity: Int

    /// A writer of lists of objects.
    init(_ writes: WriteSpace, capacity: Int) {
        self.writes = writes
        self.capacity = capacity
        trees = BPlusTreeWriter(writes, SearchIndex.listShape, leafCapacity: capacity, fanOut: capacity)
    }

    /// A new list of ascending keys.
    func make(_ keys: [ObjectKey]) throws(StorageError) -> Ref {
        try trees.append(contentsOf: keys.map { .int($0.rawValue) }, to: try trees.makeEmpty())
    }

    /// Puts an object in at `index`.
    func insert(_ key: ObjectKey, at index: Int, in list: Ref) throws(StorageError) -> Ref {
        if let changed = try appendInPlace(key, at: index, in: list) { return changed }
        return try trees.insert(.int(key.rawValue), at: index, in: list)
    }

    /// Appends where it changes the last leaf and the total only, in nodes that this transaction has made and so checked
    /// before; nil where it is not that simple. New objects come last in their lists, which makes this the usual case.
    private func appendInPlace(_ key: ObjectKey, at index: Int, in list: Ref) throws(StorageError) -> Ref? {
        guard writes.arena.isYoung(list) else { return nil }
        var root = try writes.writable(list)
        guard root.isInner else {
            guard index == root.count, index < capacity else { return nil }
            try root.append(key.rawValue)
            return root.ref
        }
        guard let (leaf, slot) = try lastLeaf(of: root, endingAt: index) else { return nil }
        var grown = leaf
        try grown.append(key.rawValue)
        if grown.ref != leaf.ref { try root.set(slot, grown.ref) }
        try root.set(slot + 1, tagged: UInt64(index + 1))
        return root.ref
    }

    /// The last leaf of a tree of two levels, with its slot in the root, if it has room and may be changed where it is.
    private func lastLeaf(
        of root: MutableNode, endingAt end: Int
    ) throws(StorageError) -> (leaf: MutableNode, slot: Int)? {
        let slot = root.count - 2
        guard slot >= 1, root.integer(slot + 1) == MutableNode.tagged(UInt64(end)) else { return nil }
        // A root that states the size of its children states that of full ones, or has to be rewritten.
        let first = root.integer(0)
        guard first & 1 == 0 || first == MutableNode.tagged(UInt64(capacity)) else { return nil }
        let child = root.ref(slot)
        guard writes.arena.isYoung(child) else { return nil }
        let leaf = try writes.writable(child)
        return leaf.isInner || leaf.count >= capacity ? nil : (leaf, slot)
    }

    /// Takes one object out; what is left when it was the last but one is a single entry.
    func erase(at index: Int, from list: Ref) throws(StorageError) -> IndexSlot {
        let keys = try KeyList(list, writes.space)
        switch keys.count {
        case 1:
            try writes.discardTree(list)
            return .absent
        case 2:
            let rest = try keys.key(1 - index)
            try writes.discardTree(list)
            return .one(rest)
        default: return .list(try trees.erase(at: index, in: list))
        }
    }
}

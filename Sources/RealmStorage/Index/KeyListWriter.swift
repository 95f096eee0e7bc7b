// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Changes lists of object keys of a search index.
///
/// A list begins as a leaf and becomes a tree when it exceeds its capacity. The caller determines
/// the position of a key, because the order depends on the values.
struct KeyListWriter {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// The writer of lists, which are B+ trees of integers.
    private let trees: BPlusTreeWriter
    /// The maximum number of objects in a leaf.
    private let capacity: Int

    /// Makes a writer of lists.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - capacity: How many keys a leaf holds, and how many children an inner node has.
    init(_ writes: WriteSpace, capacity: Int) {
        self.writes = writes
        self.capacity = capacity
        trees = BPlusTreeWriter(writes, SearchIndex.listShape, leafCapacity: capacity, fanOut: capacity)
    }

    /// Makes a list of keys in the given order, and returns its root.
    func make(_ keys: [ObjectKey]) throws(StorageError) -> Ref {
        try trees.append(contentsOf: keys.map { .int($0.rawValue) }, to: try trees.makeEmpty())
    }

    /// Inserts an object at `index` of a list, and returns the list's new root.
    func insert(_ key: ObjectKey, at index: Int, in list: Ref) throws(StorageError) -> Ref {
        if let changed = try appendInPlace(key, at: index, in: list) { return changed }
        return try trees.insert(.int(key.rawValue), at: index, in: list)
    }

    /// Adds objects at the end of a list, and returns the list's new root.
    func append(_ keys: [ObjectKey], to list: Ref) throws(StorageError) -> Ref {
        try trees.append(contentsOf: keys.map { .int($0.rawValue) }, to: list)
    }

    /// Appends an object where only the last leaf and the total change, in nodes that this
    /// transaction has made and therefore checked before.
    ///
    /// New objects come last in their lists, which makes this the usual case.
    ///
    /// - Returns: The list's new root; nil when the list has to be changed in the general way.
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

    /// Returns the last leaf of a tree of two levels, with its slot in the root, if it has room and may be changed in place.
    private func lastLeaf(
        of root: MutableNode, endingAt end: Int
    ) throws(StorageError) -> (leaf: MutableNode, slot: Int)? {
        let slot = root.count - 2
        guard slot >= 1, root.integer(slot + 1) == MutableNode.tagged(UInt64(end)) else { return nil }
        // A root without offsets must state the size of full children; any other one has to be rewritten.
        let first = root.integer(0)
        guard first & 1 == 0 || first == MutableNode.tagged(UInt64(capacity)) else { return nil }
        let child = root.ref(slot)
        guard writes.arena.isYoung(child) else { return nil }
        let leaf = try writes.writable(child)
        return leaf.isInner || leaf.count >= capacity ? nil : (leaf, slot)
    }

    /// Removes the object at `index` from a list.
    ///
    /// - Returns: The entry that remains: the list, a single object when one is left, or `.absent`.
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

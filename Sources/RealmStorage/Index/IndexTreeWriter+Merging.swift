// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Changing many entries of one level at once: each node is written once, however many entries change in it.
extension IndexTreeWriter {
    /// The entries of a node while it changes.
    struct Entries {
        /// The keys, ascending.
        var keys: [Int64] = []
        /// The elements under the keys.
        var slots: [Int64] = []

        /// Adds an entry at the end.
        mutating func append(_ key: Int64, _ slot: Int64) {
            keys.append(key)
            slots.append(slot)
        }

        /// Adds entries of a node at the end.
        mutating func append(_ range: Range<Int>, of node: IndexNode) {
            for position in range { append(Int64(node.key(position)), node.node.integer(position + 1)) }
        }
    }

    /// Replaces the entries under many keys.
    ///
    /// - Parameters:
    ///   - root: The root of the level, which must not be used any more.
    ///   - keys: The keys, ascending, each once, at least one.
    ///   - change: Returns the new entry for the key at a position in `keys` and its present entry; never `.absent`.
    /// - Returns: The new root.
    func merge(
        _ root: Ref, _ keys: [Int32], _ change: (_ position: Int, _ slot: IndexSlot) throws(StorageError) -> IndexSlot
    ) throws(StorageError) -> Ref {
        try self.root(above: try merge(root, keys, 0..<keys.count, depth: 0, change))
    }

    /// Writes inner nodes above nodes that stand under their largest keys, and returns the root of them all.
    func root(above nodes: Entries) throws(StorageError) -> Ref {
        var level = nodes
        while level.keys.count > 1 { level = try write(level, .contextInner, over: nil, isGrowingAtEnd: true) }
        return Ref(UInt64(bitPattern: level.slots[0]))
    }

    /// Replaces entries in the subtree at `ref`, and returns the nodes that take its place, each under its largest key.
    private func merge(
        _ ref: Ref, _ keys: [Int32], _ range: Range<Int>, depth: Int,
        _ change: (_ position: Int, _ slot: IndexSlot) throws(StorageError) -> IndexSlot
    ) throws(StorageError) -> Entries {
        let node = try node(ref)
        let count = node.count
        let isAtEnd = count == 0 || keys[range.lowerBound] > node.key(count - 1)
        guard node.isInner else {
            return try write(try mergeLeaf(node, keys, in: range, change), .contextRefs, over: node, isGrowingAtEnd: isAtEnd)
        }
        guard count > 0, depth < IndexTreeWriter.maximumDepth else {
            throw node.node.corrupt("a search index with empty nodes or without end")
        }
        var entries = Entries()
        var (copied, next) = (0, range.lowerBound)
        while next < range.upperBound {
            let child = min(node.lowerBound(keys[next]), count - 1)
            var end = next + 1
            while end < range.upperBound, child == count - 1 || keys[end] <= node.key(child) { end += 1 }
            entries.append(copied..<child, of: node)
            let changed = try merge(try node.child(child), keys, next..<end, depth: depth + 1, change)
            for index in changed.keys.indices { entries.append(changed.keys[index], changed.slots[index]) }
            (copied, next) = (child + 1, end)
        }
        entries.append(copied..<count, of: node)
        return try write(entries, .contextInner, over: node, isGrowingAtEnd: isAtEnd)
    }

    /// Returns the entries of a leaf after the change.
    private func mergeLeaf(
        _ node: IndexNode, _ keys: [Int32], in range: Range<Int>,
        _ change: (_ position: Int, _ slot: IndexSlot) throws(StorageError) -> IndexSlot
    ) throws(StorageError) -> Entries {
        var entries = Entries()
        entries.keys.reserveCapacity(node.count + range.count)
        entries.slots.reserveCapacity(node.count + range.count)
        var copied = 0
        for index in range {
            let position = node.lowerBound(keys[index])
            entries.append(copied..<position, of: node)
            let isPresent = position < node.count && node.key(position) == keys[index]
            let slot = try change(index, isPresent ? try node.slot(position) : .absent)
            entries.append(Int64(keys[index]), slot.raw)
            copied = isPresent ? position + 1 : position
        }
        entries.append(copied..<node.count, of: node)
        return entries
    }

    /// Writes entries to as few nodes as hold them, and returns these under their largest keys.
    ///
    /// - Parameters:
    ///   - entries: The entries, at least one.
    ///   - old: The node that they take the place of, whose memory is used again; nil for none.
    ///   - isGrowingAtEnd: Whether new entries come last, so that full nodes are left behind; else all are equally full.
    func write(
        _ entries: Entries, _ kind: NodeKind, over old: IndexNode?, isGrowingAtEnd: Bool
    ) throws(StorageError) -> Entries {
        let count = entries.keys.count
        let parts = (count + capacity - 1) / capacity
        var written = Entries()
        for part in 0..<parts {
            let range =
                isGrowingAtEnd
                ? part * capacity..<min((part + 1) * capacity, count) : count * part / parts..<count * (part + 1) / parts
            let ref = try write(entries.keys[range], entries.slots[range], kind, over: part == 0 ? old : nil)
            written.append(entries.keys[range.upperBound - 1], Int64(bitPattern: ref.rawValue))
        }
        return written
    }

    /// Writes one node, to the memory of an old one if there is one.
    private func write(
        _ keys: ArraySlice<Int64>, _ slots: ArraySlice<Int64>, _ kind: NodeKind, over old: IndexNode?
    ) throws(StorageError) -> Ref {
        guard let old else { return try makeNode(kind, keys, slots) }
        var node = try writes.writable(old.node.ref)
        var list = try writes.writable(node.ref(0))
        try list.replaceIntegers(from: 0, by: keys)
        try node.replaceIntegers(from: 1, by: slots)
        try node.set(0, list.ref)
        return node.ref
    }
}

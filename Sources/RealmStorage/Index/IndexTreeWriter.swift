// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Changes the nodes of one level of a search index: of the index itself or of one subindex.
///
/// Invariants: keys of a node ascend; a key of an inner node is the largest of its child; no node has more than `capacity`
/// keys; none is empty but the root of an empty index; keys lie in nodes of width 32.
struct IndexTreeWriter {
    /// The maximum depth of inner nodes; three are enough for any real index.
    static let maximumDepth = 16

    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// The maximum number of keys of a node.
    let capacity: Int

    /// The result of a change of a subtree.
    private struct Change {
        /// The node after the change; none when its last entry was removed.
        var ref: Ref
        /// The node that was split off after it; none when it was not split.
        var next = Ref.none
    }

    // MARK: - Reading

    /// Attaches the index node at `ref`, after checking that its keys can be changed in place.
    ///
    /// - Throws: `.corrupt` for another shape, or keys that do not have 32 bits.
    func node(_ ref: Ref) throws(StorageError) -> IndexNode {
        let node = try IndexNode(ref, writes.space)
        guard node.keyWidth == 32 else { throw node.node.corrupt("index keys of \(node.keyWidth) bits") }
        return node
    }

    /// Returns the entry of a level that has just one; nil when there are more, or none.
    func onlyEntry(_ root: Ref) throws(StorageError) -> (key: Int32, slot: IndexSlot)? {
        let node = try node(root)
        guard !node.isInner, node.count == 1 else { return nil }
        return (node.key(0), try node.slot(0))
    }

    /// Returns whether a level has no entries.
    func isEmpty(_ root: Ref) throws(StorageError) -> Bool { try node(root).count == 0 }

    // MARK: - Making

    /// Makes a level without entries and returns its root.
    func makeEmpty() throws(StorageError) -> Ref { try makeNode(.contextRefs, EmptyCollection(), EmptyCollection()) }

    /// Makes a level of one entry and returns its root.
    func makeLeaf(_ key: Int32, _ slot: IndexSlot) throws(StorageError) -> Ref {
        try makeNode(.contextRefs, CollectionOfOne(Int64(key)), CollectionOfOne(slot.raw))
    }

    /// Makes a level of entries in ascending order of keys, in nodes that are as full as possible, and returns its root.
    func pack(_ entries: [(key: Int32, slot: IndexSlot)]) throws(StorageError) -> Ref {
        guard !entries.isEmpty else { return try makeEmpty() }
        var level = Entries()
        for (key, slot) in entries { level.append(Int64(key), slot.raw) }
        return try root(above: try write(level, .contextRefs, over: nil, isGrowingAtEnd: true))
    }

    func makeNode(
        _ kind: NodeKind, _ keys: some Collection<Int64>, _ slots: some Collection<Int64>
    ) throws(StorageError) -> Ref {
        var list = try writes.makeNode(.integers, widthCode: 6, capacity: keys.count * 4)
        try list.append(contentsOf: keys)
        var node = try writes.makeNode(kind, capacity: (slots.count + 1) * 8)
        try node.append(list.ref)
        try node.append(contentsOf: slots)
        return node.ref
    }

    // MARK: - Changing

    /// Replaces the entry under `key`.
    ///
    /// - Parameters:
    ///   - root: The root of the level.
    ///   - key: The key of the entry.
    ///   - change: Returns the new entry for the present one, `.absent` to remove it; nil leaves
    ///     everything as it is.
    /// - Returns: The new root, which may be that of an empty level; nil when `change` returned
    ///   nil.
    func update(
        _ root: Ref, _ key: Int32, _ change: (IndexSlot) throws(StorageError) -> IndexSlot?
    ) throws(StorageError) -> Ref? {
        guard let changed = try apply(root, key, depth: 0, change) else { return nil }
        guard changed.next.isNone else { return try makeRoot(above: [changed.ref, changed.next]) }
        guard !changed.ref.isNone else { return try makeEmpty() }
        return try shortened(changed.ref)
    }

    /// Writes a root above nodes that do not fit into one, and returns its ref.
    private func makeRoot(above children: [Ref]) throws(StorageError) -> Ref {
        var keys: [Int64] = []
        for child in children { keys.append(Int64(try lastKey(child))) }
        return try makeNode(.contextInner, keys, children.map { Int64(bitPattern: $0.rawValue) })
    }

    /// Removes inner nodes of one child at the top of a level, and returns the new root.
    private func shortened(_ root: Ref) throws(StorageError) -> Ref {
        var ref = root
        for _ in 0..<IndexTreeWriter.maximumDepth {
            let top = try writes.node(at: ref)
            // Two slots are the keys and one child. Most tops have more and are returned.
            guard top.isInner, top.count == 2 else { return ref }
            let node = try node(ref)
            let child = try node.child(0)
            try discardNode(node)
            ref = child
        }
        throw .corrupt(ref: root, reason: "a search index without end")
    }

    /// Discards the node of a level that has at most one entry; a list or subindex in that entry is kept.
    func discardLevel(_ root: Ref) throws(StorageError) { try discardNode(try node(root)) }

    /// Discards a node with its keys, but not the targets of its entries.
    private func discardNode(_ node: IndexNode) throws(StorageError) {
        try writes.discard(try node.node.requiredRef(0, "index keys"))
        writes.discard(node.node)
    }

    /// Returns the largest key below a node; throws `.corrupt` for an empty node.
    private func lastKey(_ ref: Ref) throws(StorageError) -> Int32 {
        let node = try node(ref)
        guard node.count > 0 else { throw node.node.corrupt("an empty index node below another") }
        return node.key(node.count - 1)
    }

    /// Replaces the entry under a key in the subtree at `ref`; nil when nothing changes.
    private func apply(
        _ ref: Ref, _ key: Int32, depth: Int, _ change: (IndexSlot) throws(StorageError) -> IndexSlot?
    ) throws(StorageError) -> Change? {
        let node = try node(ref)
        let position = node.lowerBound(key)
        guard node.isInner else { return try applyToLeaf(node, at: position, key, change) }
        guard node.count > 0, depth < IndexTreeWriter.maximumDepth else {
            throw node.node.corrupt("a search index with empty nodes or without end")
        }
        let child = min(position, node.count - 1)
        let old = try node.child(child)
        guard let changed = try apply(old, key, depth: depth + 1, change) else { return nil }
        // A key below the child's largest one does not change the largest key.
        if changed.ref == old, changed.next.isNone, key < node.key(child) { return Change(ref: ref) }
        return try replaceChild(child, of: node, old: old, by: changed)
    }

    /// Replaces the entry under a key in a leaf; nil when nothing changes.
    private func applyToLeaf(
        _ node: IndexNode, at position: Int, _ key: Int32, _ change: (IndexSlot) throws(StorageError) -> IndexSlot?
    ) throws(StorageError) -> Change? {
        let isPresent = position < node.count && node.key(position) == key
        let old = isPresent ? try node.slot(position) : .absent
        guard let new = try change(old) else { return nil }
        if new == old { return Change(ref: node.node.ref) }
        if new == .absent { return try remove(position, from: node.node.ref) }
        guard isPresent else {
            guard node.count >= capacity else { return Change(ref: try insert(key, new.raw, at: position, into: node.node.ref)) }
            return try insert(key, new.raw, at: position, in: node.node.ref)
        }
        var changed = try writes.writable(node.node.ref)
        try changed.set(position + 1, new.raw)
        return Change(ref: changed.ref)
    }

    /// Stores a changed child in its parent, with its new largest key, and the node that was split off from it.
    private func replaceChild(
        _ position: Int, of node: IndexNode, old: Ref, by changed: Change
    ) throws(StorageError) -> Change {
        let ref = node.node.ref
        guard !changed.ref.isNone else { return try remove(position, from: ref) }
        let key = try lastKey(changed.ref)
        var parent = ref
        if key != node.key(position) || changed.ref != old {
            var copy = try writes.writable(ref)
            try copy.set(position + 1, changed.ref)
            if key != node.key(position) {
                var keys = try writes.writable(copy.ref(0))
                try keys.set(position, Int64(key))
                try copy.set(0, keys.ref)
            }
            parent = copy.ref
        }
        guard !changed.next.isNone else { return Change(ref: parent) }
        let next = Int64(bitPattern: changed.next.rawValue)
        return try insert(try lastKey(changed.next), next, at: position + 1, in: parent)
    }

    /// Removes an entry from a node; with its last entry the node is discarded.
    private func remove(_ position: Int, from ref: Ref) throws(StorageError) -> Change {
        var node = try writes.writable(ref)
        var keys = try writes.writable(node.ref(0))
        guard keys.count > 1 else {
            writes.discard(keys.node)
            writes.discard(node.node)
            return Change(ref: .none)
        }
        keys.removeInteger(at: position)
        node.removeInteger(at: position + 1)
        try node.set(0, keys.ref)
        return Change(ref: node.ref)
    }

    /// Adds an entry to a node, which is split when it is full.
    ///
    /// A full node moves its second half to a new node; when the entry comes last, the new node has
    /// only the entry itself, so that ascending keys leave full nodes.
    private func insert(_ key: Int32, _ slot: Int64, at position: Int, in ref: Ref) throws(StorageError) -> Change {
        let full = try node(ref)
        let count = full.count
        guard count >= capacity else { return Change(ref: try insert(key, slot, at: position, into: ref)) }
        let kind: NodeKind = full.isInner ? .contextInner : .contextRefs
        guard position < count else {
            return Change(ref: ref, next: try makeNode(kind, CollectionOfOne(Int64(key)), CollectionOfOne(slot)))
        }
        let middle = max(count / 2, 1)
        let tail = try makeNode(
            kind, (middle..<count).map { Int64(full.key($0)) }, (middle..<count).map { full.node.integer($0 + 1) })
        let head = try truncate(ref, to: middle)
        if position <= middle { return Change(ref: try insert(key, slot, at: position, into: head), next: tail) }
        return Change(ref: head, next: try insert(key, slot, at: position - middle, into: tail))
    }

    /// Removes the entries from `count` on, and returns the node's new ref.
    private func truncate(_ ref: Ref, to count: Int) throws(StorageError) -> Ref {
        var node = try writes.writable(ref)
        var keys = try writes.writable(node.ref(0))
        keys.removeIntegers(count..<keys.count)
        node.removeIntegers(count + 1..<node.count)
        try node.set(0, keys.ref)
        return node.ref
    }

    /// Inserts an entry into a node that has room for it, and returns the node's new ref.
    private func insert(_ key: Int32, _ slot: Int64, at position: Int, into ref: Ref) throws(StorageError) -> Ref {
        var node = try writes.writable(ref)
        var keys = try writes.writable(node.ref(0))
        try keys.insert(Int64(key), at: position)
        try node.set(0, keys.ref)
        try node.insert(slot, at: position + 1)
        return node.ref
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// An inner node of a B+ tree, taken apart so that children can be added and removed.
///
/// Only changes of structure use it; a change of one element edits the node where it is. Taking a
/// node apart gives it up, so the result of `make` must be stored in its place.
struct BPlusBranch {
    /// A child of the node, with the number of elements below it.
    struct Child {
        /// The root of the child.
        var ref: Ref
        /// How many elements are below the child.
        var count: Int
    }

    /// The children of the node, in the order of their elements.
    var children: [Child]
    /// Whether the node may be written without offsets, provided that the counts allow it.
    ///
    /// A node that has offsets keeps them, and so does the parent of such a node.
    var mayBeCompact: Bool

    /// Makes a node of these children in memory; `make` writes it.
    init(children: [Child], mayBeCompact: Bool) {
        self.children = children
        self.mayBeCompact = mayBeCompact
    }

    /// Takes the node at `ref` apart, and discards the node and its list of offsets.
    ///
    /// - Throws: `.corrupt` when it is not an inner node of a B+ tree.
    init(dissolving ref: Ref, _ writes: WriteSpace) throws(StorageError) {
        let node = try writes.node(at: ref)
        let inner = try BPlusInnerNode(node, writes.space)
        children = []
        children.reserveCapacity(inner.childCount + 1)
        for index in 0..<inner.childCount {
            let count = try inner.requiredCount(index)
            children.append(Child(ref: try inner.ref(index), count: count))
        }
        let offsets = try node.slot(0)
        if case .ref(let list) = offsets {
            try writes.discard(list)
            mayBeCompact = false
        } else {
            mayBeCompact = true
        }
        writes.discard(node)
    }

    /// How many elements all children have together.
    var count: Int { children.reduce(0) { $0 &+ $1.count } }

    /// Returns whether every child but the last has `size` elements, and the last no more, so that no offsets are needed.
    func isCompact(_ size: Int) -> Bool {
        guard mayBeCompact, let last = children.last, last.count <= size else { return false }
        return children.dropLast().allSatisfy { $0.count == size }
    }

    /// Writes the node, with offsets only where it needs them.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - childCapacity: How many elements a full child holds, the only number that a node without
    ///     offsets may state.
    /// - Returns: The ref of the new node.
    func make(_ writes: WriteSpace, childCapacity: Int) throws(StorageError) -> Ref {
        var node = try writes.makeNode(.inner, widthCode: 6, count: children.count + 2, capacity: children.count * 8 + 64)
        if isCompact(childCapacity) {
            try node.set(0, tagged: UInt64(childCapacity))
        } else {
            try node.set(0, try makeOffsets(writes))
        }
        for (index, child) in children.enumerated() { try node.set(index + 1, child.ref) }
        try node.set(children.count + 1, tagged: UInt64(clamping: count))
        return node.ref
    }

    /// Writes the list of offsets of all children but the first, and returns its ref.
    private func makeOffsets(_ writes: WriteSpace) throws(StorageError) -> Ref {
        var offsets: [Int64] = []
        offsets.reserveCapacity(children.count)
        var start = 0
        for child in children.dropLast() {
            start &+= child.count
            offsets.append(Int64(start))
        }
        return try writes.makeIntegers(offsets, .integers, .unsigned).ref
    }
}

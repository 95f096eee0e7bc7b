// SPDX-License-Identifier: Apache-2.0

/// An inner node of a B+ tree, taken apart so that children can come and go.
///
/// Only changes of structure pay for this; a change of one element edits the node where it is.
struct BPlusBranch {
    /// A child with what the node says of it.
    struct Child {
        /// The root of the child.
        var ref: Ref
        /// Elements below the child.
        var count: Int
    }

    /// The children in order.
    var children: [Child]
    /// Whether the node may be written without offsets, provided that the counts allow it. A node with offsets keeps
    /// them, and so does the parent of such a node.
    var mayBeCompact: Bool

    /// A node of these children, not yet written.
    init(children: [Child], mayBeCompact: Bool) {
        self.children = children
        self.mayBeCompact = mayBeCompact
    }

    /// Takes the node at `ref` apart and gives up it and its offsets.
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

    /// How many elements all children hold together.
    var count: Int { children.reduce(0) { $0 &+ $1.count } }

    /// Whether every child but the last holds `size` elements, and the last no more.
    func isCompact(_ size: Int) -> Bool {
        guard mayBeCompact, let last = children.last, last.count <= size else { return false }
        return children.dropLast().allSatisfy { $0.count == size }
    }

    /// Builds the node. `childCapacity` is what a full child holds.
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

    /// The list of offsets of the children.
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

// SPDX-License-Identifier: Apache-2.0

/// Walks the leaves of a B+ tree in order, checking that every subtree holds what its parent promises.
///
/// For kernels that work on whole leaves. Each subtree must hold what its parent promises, and a walk ends as damage after more
/// nodes than the file has room for, so circles cannot hold it up.
package struct LeafCursor: Sendable {
    /// An inner node on the way to the next leaf.
    private struct Frame {
        /// The inner node.
        let inner: BPlusInnerNode
        /// The child that is visited next.
        var next: Int
    }

    /// The space that the tree is read in.
    private let space: NodeSpace
    /// What the leaves look like.
    private let shape: ElementShape
    /// The inner nodes from the root down to the present leaf.
    private var frames: [Frame] = []
    /// The node to be visited next, with the size that its parent promises.
    private var pending: (ref: Ref, promised: Int?)?
    /// How many nodes may still be visited.
    private var budget: Int
    /// What the walk that this tree is a part of may still visit.
    private let walk: WalkBudget?
    /// The position of the next leaf's first element.
    private var position = 0

    /// A cursor in front of the first leaf.
    init(_ tree: BPlusTree, within walk: WalkBudget?) {
        space = tree.space
        shape = tree.shape
        self.walk = walk
        budget = tree.space.nodeBudget
        if !tree.root.isNone { pending = (tree.root, nil) }
    }

    /// The next leaf, its node and the position of its first element; nil at the end.
    package mutating func next() throws(StorageError) -> (leaf: ColumnLeaf, start: Int)? {
        while let (ref, promised) = try nextRef() {
            try spend(1, ref)
            let node = try space.node(at: ref)
            if node.isInner {
                try descend(node, promised)
                continue
            }
            let leaf = try ColumnLeaf(node, space, shape, inCluster: false)
            // Elements of width 0 take no room. Leaves of sound files have up to 1000 elements, or take as much room as these.
            if leaf.count > 1023 { try spend(leaf.count >> 10, ref) }
            if let promised, promised != leaf.count {
                throw node.corrupt("a leaf of \(leaf.count) elements where its parent promises \(promised)")
            }
            defer { position += leaf.count }
            return (leaf, position)
        }
        return nil
    }

    /// Counts visited nodes. Throws `.corrupt` for more than the file has room for.
    private mutating func spend(_ count: Int, _ ref: Ref) throws(StorageError) {
        budget -= count
        guard budget >= 0 else { throw .corrupt(ref: ref, reason: "a tree with more nodes than the file has room for") }
        try walk?.spend(count, at: ref)
    }

    /// Enters an inner node. Throws `.corrupt` unless its size is what its parent promises.
    private mutating func descend(_ node: Node, _ promised: Int?) throws(StorageError) {
        let inner = try BPlusInnerNode(node, space)
        if let promised, promised != inner.total {
            throw node.corrupt("a subtree of \(inner.total) elements where its parent promises \(promised)")
        }
        try BPlusInnerNode.requireDepth(frames.count + 1, node)
        frames.append(Frame(inner: inner, next: 0))
    }

    /// The next node in order, with the size that its parent promises.
    private mutating func nextRef() throws(StorageError) -> (ref: Ref, promised: Int?)? {
        if let first = pending {
            pending = nil
            return first
        }
        while let frame = frames.last {
            guard frame.next < frame.inner.childCount else {
                frames.removeLast()
                continue
            }
            frames[frames.count - 1].next += 1
            let promised = try frame.inner.requiredCount(frame.next)
            return (try frame.inner.ref(frame.next), promised)
        }
        return nil
    }
}

// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Walks the leaves of a B+ tree in order, for readers that process a leaf at a time.
///
/// Each subtree must hold as many elements as its parent states, and a walk fails as damage after
/// more nodes than the file has room for, so circular trees cannot make it endless.
package struct LeafCursor: Sendable {
    /// An inner node on the way to the next leaf.
    private struct Frame {
        /// The attached inner node.
        let inner: BPlusInnerNode
        /// The index of the child that is visited next.
        var next: Int
    }

    /// The space that the tree is read in.
    private let space: NodeSpace
    /// The type of the values in the leaves.
    private let shape: ElementShape
    /// The inner nodes from the root down to the present leaf.
    private var frames: [Frame] = []
    /// The node that is visited next, with the number of elements that its parent states.
    private var pending: (ref: Ref, promised: Int?)?
    /// How many nodes may still be visited before the tree counts as damaged.
    private var budget: Int
    /// The budget of the walk over several trees that this one is part of.
    private let walk: WalkBudget?
    /// The position of the next leaf's first element.
    private var position = 0

    /// Makes a cursor in front of the first leaf; no node is read yet.
    init(_ tree: BPlusTree, within walk: WalkBudget?) {
        space = tree.space
        shape = tree.shape
        self.walk = walk
        budget = tree.space.nodeBudget
        if !tree.root.isNone { pending = (tree.root, nil) }
    }

    /// Returns the next leaf and the position of its first element; nil at the end.
    ///
    /// - Throws: `.corrupt` for damage on the way to the leaf.
    package mutating func next() throws(StorageError) -> (leaf: ColumnLeaf, start: Int)? {
        while let (ref, promised) = try nextRef() {
            try spend(1, ref)
            let node = try space.node(at: ref)
            if node.isInner {
                try descend(node, promised)
                continue
            }
            let leaf = try ColumnLeaf(node, space, shape, inCluster: false)
            // Elements of width 0 need no bytes, so a damaged leaf may state millions of them; leaves of
            // sound files have up to 1000.
            if leaf.count > 1023 { try spend(leaf.count >> 10, ref) }
            if let promised, promised != leaf.count {
                throw node.corrupt("a leaf of \(leaf.count) elements where its parent promises \(promised)")
            }
            defer { position += leaf.count }
            return (leaf, position)
        }
        return nil
    }

    /// Subtracts visited nodes from the budgets, and throws `.corrupt` when they are used up.
    private mutating func spend(_ count: Int, _ ref: Ref) throws(StorageError) {
        budget -= count
        guard budget >= 0 else { throw .corrupt(ref: ref, reason: "a tree with more nodes than the file has room for") }
        try walk?.spend(count, at: ref)
    }

    /// Enters an inner node; throws `.corrupt` unless it has as many elements as its parent states.
    private mutating func descend(_ node: Node, _ promised: Int?) throws(StorageError) {
        let inner = try BPlusInnerNode(node, space)
        if let promised, promised != inner.total {
            throw node.corrupt("a subtree of \(inner.total) elements where its parent promises \(promised)")
        }
        try BPlusInnerNode.requireDepth(frames.count + 1, node)
        frames.append(Frame(inner: inner, next: 0))
    }

    /// Returns the next node in order, with the number of elements that its parent states; nil at the end.
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

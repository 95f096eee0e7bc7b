// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Walks the leaves of a cluster tree in key order, checking depths, ranges of keys and sizes of subtrees.
///
/// Depths must fall by one per level, keys must lie below the offset of the next child, and complete subtrees must hold as many
/// objects as they state. A walk that begins in the middle does not know the sizes of the parts that it left out and does not
/// check those. It is a value: a copy continues independently from the same place.
package struct ClusterCursor: Sendable {
    /// An inner node on the way to the next leaf.
    private struct Frame {
        /// The attached inner node.
        let inner: ClusterTree.InnerNode
        /// The index of the child that is visited next.
        var next: Int
        /// The offset below which all keys of this subtree lie; nil at the right edge of the tree.
        let end: UInt64?
        /// How many objects were in the children that were visited.
        var objectsSeen = 0
        /// Whether all children are visited in this walk, so that their sizes must add up.
        let isComplete: Bool
    }

    /// The tree that is walked.
    private let tree: ClusterTree
    /// The inner nodes from the root down to the present leaf.
    private var frames: [Frame] = []
    /// The key at which the walk begins; nil once the first leaf was reached.
    private var firstKey: ObjectKey?
    /// Whether the walk has visited the root.
    private var isStarted = false
    /// How many nodes may still be visited before the tree counts as damaged.
    private var budget: Int
    /// The leaves below the lowest inner node on the way, which are visited before anything else.
    private var run: LeafRun

    /// Makes a cursor in front of the first leaf, or of the leaf in which `key` would be; no node is read yet.
    init(_ tree: ClusterTree, from key: ObjectKey?, hints: LeafPrefetch) {
        self.tree = tree
        run = LeafRun(tree.space, hints)
        firstKey = key
        budget = tree.space.nodeBudget
    }

    /// Returns the next leaf, possibly an empty one; nil at the end.
    ///
    /// - Throws: `.corrupt` for damage on the way to the leaf; the cursor must not be used any more then.
    package mutating func next() throws(StorageError) -> ClusterLeaf? {
        if let leaf = run.nextLeaf() { return leaf }
        return try nextOutsideRun()
    }

    /// Returns the next leaf when the run has none: the first one below the next inner node, or one that the run did not take.
    @inline(never)
    private mutating func nextOutsideRun() throws(StorageError) -> ClusterLeaf? {
        if !isStarted {
            isStarted = true
            guard !tree.root.isNone else { return nil }
            if let leaf = try visit(tree.root, offset: 0, end: nil, parentDepth: nil) { return leaf }
        }
        while let top = frames.indices.last {
            if run.isOpen {
                if let leaf = run.nextLeaf() { return leaf }
                leaveRun()
            }
            let child = frames[top].next
            guard child < frames[top].inner.childCount else {
                try finish(frames[top])
                continue
            }
            frames[top].next = child + 1
            let end = child + 1 < frames[top].inner.childCount ? frames[top].inner.offset(of: child + 1) : frames[top].end
            let leaf = try visit(
                try frames[top].inner.ref(child), offset: frames[top].inner.offset(of: child), end: end,
                parentDepth: frames[top].inner.depth)
            if let leaf { return leaf }
        }
        return nil
    }

    /// Returns a leaf, or enters an inner node and returns nil.
    ///
    /// - Parameters:
    ///   - ref: The node.
    ///   - offset: The offset of its keys.
    ///   - end: The offset below which its keys must lie; nil at the right edge.
    ///   - parentDepth: The depth of the node above; nil for the root.
    private mutating func visit(
        _ ref: Ref, offset: UInt64, end: UInt64?, parentDepth: Int?
    ) throws(StorageError) -> ClusterLeaf? {
        budget -= 1
        guard budget >= 0 else { throw .corrupt(ref: ref, reason: "a tree with more nodes than the file has room for") }
        let node = try tree.space.node(at: ref)
        guard node.isInner else {
            try ClusterTree.requireLeafDepth(parentDepth, node)
            let leaf = try ClusterLeaf(node, tree.space, offset: offset)
            try check(leaf, end: end)
            if !frames.isEmpty { frames[frames.count - 1].objectsSeen += leaf.count }
            return leaf
        }
        let inner = try ClusterTree.InnerNode(node, tree.space, tree.shift, offset: offset, parentDepth: parentDepth)
        try inner.validateOffsets()
        let first =
            firstKey.map { inner.child(for: UInt64(bitPattern: $0.rawValue) &- min(offset, UInt64(bitPattern: $0.rawValue))) }
            ?? 0
        if frames.isEmpty { frames.reserveCapacity(4) }
        frames.append(Frame(inner: inner, next: first, end: end, isComplete: first == 0))
        if inner.depth == 1 {
            firstKey = nil
            try run.open(inner, from: first, end: end, budget: budget)
        }
        return nil
    }

    /// Notes how far the run has come, and ends it.
    private mutating func leaveRun() {
        let top = frames.count - 1
        frames[top].next = run.next
        frames[top].objectsSeen += run.objectsSeen
        budget = run.budget
        run.close()
    }

    /// Checks that the keys of a leaf ascend and lie in its range, and throws `.corrupt` otherwise.
    private mutating func check(_ leaf: ClusterLeaf, end: UInt64?) throws(StorageError) {
        firstKey = nil
        try leaf.validateKeys()
        guard let end, leaf.count > 0 else { return }
        let last = UInt64(bitPattern: leaf.key(at: leaf.count - 1).rawValue)
        guard last < end, last >= leaf.offset else {
            throw leaf.node.corrupt("object key \(last) lies outside the leaf's range")
        }
    }

    /// Leaves an inner node, and throws `.corrupt` when its children had another number of objects than it states.
    private mutating func finish(_ frame: Frame) throws(StorageError) {
        frames.removeLast()
        if frame.isComplete, frame.objectsSeen != frame.inner.objectCount {
            throw frame.inner.corrupt(
                "a subtree of \(frame.objectsSeen) objects that claims \(frame.inner.objectCount)")
        }
        guard !frames.isEmpty else { return }
        frames[frames.count - 1].objectsSeen += frame.inner.objectCount
    }
}

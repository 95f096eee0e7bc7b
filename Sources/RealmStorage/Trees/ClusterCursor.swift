// SPDX-License-Identifier: Apache-2.0

/// Walks the leaves of a cluster tree in key order, checking depths, ranges of keys and sizes of subtrees.
package struct ClusterCursor: Sendable {
    private struct Frame {
        let inner: ClusterTree.InnerNode
        var next: Int
        /// Keys of this subtree are below this offset; nil at the right edge.
        let end: UInt64?
        var objectsSeen = 0
        /// Whether all children are visited, so that the sizes must add up.
        let isComplete: Bool
    }

    private let tree: ClusterTree
    private var frames: [Frame] = []
    private var firstKey: ObjectKey?
    private var isStarted = false
    private var budget: Int
    private let hints: LeafHints

    init(_ tree: ClusterTree, from key: ObjectKey?, hints: LeafHints) {
        self.tree = tree
        self.hints = hints
        firstKey = key
        budget = tree.space.nodeBudget
        frames.reserveCapacity(4)
    }

    /// The next leaf, possibly an empty one; nil at the end.
    package mutating func next() throws(StorageError) -> ClusterLeaf? {
        if !isStarted {
            isStarted = true
            guard !tree.root.isNone else { return nil }
            if let leaf = try visit(tree.root, offset: 0, end: nil, parentDepth: nil) { return leaf }
        }
        while let top = frames.indices.last {
            // Read in place: a frame is large, and this is done for every leaf.
            let child = frames[top].next
            guard child < frames[top].inner.childCount else {
                try finish(frames[top])
                continue
            }
            frames[top].next = child + 1
            if frames[top].inner.depth == 1 { hints.prepare(behind: child, of: frames[top].inner, tree.space) }
            let end = child + 1 < frames[top].inner.childCount ? frames[top].inner.offset(of: child + 1) : frames[top].end
            let leaf = try visit(
                try frames[top].inner.ref(child), offset: frames[top].inner.offset(of: child), end: end,
                parentDepth: frames[top].inner.depth)
            if let leaf { return leaf }
        }
        return nil
    }

    /// Returns a leaf, or enters an inner node.
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
        frames.append(Frame(inner: inner, next: first, end: end, isComplete: first == 0))
        return nil
    }

    private mutating func check(_ leaf: ClusterLeaf, end: UInt64?) throws(StorageError) {
        firstKey = nil
        try leaf.validateKeys()
        guard let end, leaf.count > 0 else { return }
        let last = UInt64(bitPattern: leaf.key(at: leaf.count - 1).rawValue)
        guard last < end, last >= leaf.offset else {
            throw leaf.node.corrupt("object key \(last) lies outside the leaf's range")
        }
    }

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

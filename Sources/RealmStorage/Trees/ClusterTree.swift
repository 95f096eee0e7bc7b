// SPDX-License-Identifier: Apache-2.0

/// The objects of a table, ordered by object key as unsigned numbers.
///
/// A root without the inner flag is the only leaf. Slots of an inner node: 0 is nothing (child i has offset
/// `i << (shift * depth)`) or a ref to the children's offsets, 1 the depth, 2 the number of objects, 3 + i the children.
/// Source: docs/format.md, "Cluster trees".
package struct ClusterTree: Sendable {
    static let maximumDepth = 8
    /// More than any file has room for, and far from where sums of counts overflow.
    static let maximumCount = 1 << 48

    package let root: Ref
    package let space: NodeSpace
    /// log2 of the writer's leaf size: 8 for every released SDK.
    package let shift: Int

    package init(root: Ref, space: NodeSpace, shift: Int = 8) {
        self.root = root
        self.space = space
        self.shift = shift
    }

    /// The number of objects, as the root tells it.
    package func count() throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        let node = try space.node(at: root)
        return node.isInner
            ? try InnerNode(node, space, shift, offset: 0, parentDepth: nil).objectCount
            : try ClusterLeaf(node, space, offset: 0).count
    }

    /// The object with `key`, or nil; O(depth).
    package func find(_ key: ObjectKey) throws(StorageError) -> Row? {
        guard let leaf = try leaf(for: key), let row = leaf.row(of: key) else { return nil }
        return Row(leaf: leaf, index: row)
    }

    /// The leaf in which `key` would stand; nil in an empty tree.
    package func leaf(for key: ObjectKey) throws(StorageError) -> ClusterLeaf? {
        guard !root.isNone else { return nil }
        var node = try space.node(at: root)
        var offset: UInt64 = 0
        var depth: Int?
        while node.isInner {
            let inner = try InnerNode(node, space, shift, offset: offset, parentDepth: depth)
            let child = inner.child(for: UInt64(bitPattern: key.rawValue) &- offset)
            offset = inner.offset(of: child)
            depth = inner.depth
            node = try space.node(at: try inner.ref(child))
        }
        try ClusterTree.requireLeafDepth(depth, node)
        return try ClusterLeaf(node, space, offset: offset)
    }

    /// The object at `position` in key order, or nil past the end; O(depth * children).
    package func row(at position: Int) throws(StorageError) -> Row? {
        guard !root.isNone, position >= 0 else { return nil }
        var node = try space.node(at: root)
        var offset: UInt64 = 0
        var depth: Int?
        var remaining = position
        while node.isInner {
            let inner = try InnerNode(node, space, shift, offset: offset, parentDepth: depth)
            guard let child = try inner.child(atPosition: &remaining) else { return nil }
            offset = inner.offset(of: child)
            depth = inner.depth
            node = try space.node(at: try inner.ref(child))
        }
        let leaf = try ClusterLeaf(node, space, offset: offset)
        return remaining < leaf.count ? Row(leaf: leaf, index: remaining) : nil
    }

    /// All leaves in key order, or those from the one in which `key` would stand. `hints` tell what will be read.
    package func leaves(from key: ObjectKey? = nil, hints: LeafHints = .none) -> ClusterCursor {
        ClusterCursor(self, from: key, hints: hints)
    }

    static func requireLeafDepth(_ parentDepth: Int?, _ node: Node) throws(StorageError) {
        guard parentDepth == nil || parentDepth == 1 else {
            throw node.corrupt("a cluster leaf where depth \(parentDepth ?? 0) promises an inner node")
        }
    }

    /// An inner node, checked, with the absolute offset of its keys.
    struct InnerNode: Sendable {
        private let node: Node
        private let space: NodeSpace
        private let shift: Int
        let offset: UInt64
        let depth: Int
        let objectCount: Int
        let childCount: Int
        private let offsets: PackedOffsets?

        init(
            _ node: Node, _ space: NodeSpace, _ shift: Int, offset: UInt64, parentDepth: Int?
        ) throws(StorageError) {
            guard node.count >= 4, node.count <= 3 + ClusterLeaf.maximumCount else {
                throw node.corrupt("an inner cluster node of \(node.count) slots")
            }
            self.node = node
            self.space = space
            self.shift = shift
            self.offset = offset
            childCount = node.count - 3
            depth = Int(clamping: try node.number(1, "cluster depth"))
            objectCount = Int(clamping: try node.number(2, "cluster size"))
            guard objectCount <= ClusterTree.maximumCount else { throw node.corrupt("a cluster tree of \(objectCount) objects") }
            guard (1...ClusterTree.maximumDepth).contains(depth), parentDepth == nil || parentDepth == depth + 1 else {
                throw node.corrupt("an inner cluster node of depth \(depth) below one of depth \(parentDepth ?? 0)")
            }
            let list = try node.optionalRef(0, "cluster offsets")
            offsets = list.isNone ? nil : try PackedOffsets(try space.node(at: list))
            guard let offsets else { return }
            guard offsets.count == childCount, offsets[0] == 0 else {
                throw node.corrupt("\(offsets.count) offsets for \(childCount) children")
            }
        }

        func ref(_ child: Int) throws(StorageError) -> Ref { try node.requiredRef(3 + child, "cluster child") }

        /// The absolute offset of a child's keys.
        func offset(of child: Int) -> UInt64 { offset &+ (offsets?[child] ?? UInt64(child) << UInt64(shift * depth)) }

        /// The last child whose offset is not above `relativeKey`.
        func child(for relativeKey: UInt64) -> Int {
            guard let offsets else {
                return Int(min(relativeKey >> UInt64(shift * depth), UInt64(childCount - 1)))
            }
            return max(offsets.upperBound(relativeKey) - 1, 0)
        }

        /// The child that holds the `position`-th object, from which the objects before that child are taken off.
        func child(atPosition position: inout Int) throws(StorageError) -> Int? {
            for child in 0..<childCount {
                let count = try ClusterTree(root: try ref(child), space: space, shift: shift).count()
                if position < count { return child }
                position -= count
            }
            return nil
        }

        func validateOffsets() throws(StorageError) { try offsets?.requireAscending("cluster offsets") }

        func corrupt(_ reason: String) -> StorageError { node.corrupt(reason) }
    }
}

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

// SPDX-License-Identifier: Apache-2.0

/// A B+ tree of values: a list, a set, keys or values of a dictionary, a long backlink list.
///
/// A tree is named by the ref of its root; a root without the inner flag is the only leaf, `Ref.none` is empty.
/// An inner node of n children has n + 2 slots: 0 is a number e (every child but the last holds e elements) or a ref
/// to n - 1 ascending offsets, 1 to n are the children, n + 1 is the total.
/// Source: docs/format.md, "B+ trees".
package struct BPlusTree: Sendable {
    /// Eight levels are enough for any real file.
    static let maximumDepth = 16
    /// More than any file has room for, and far from where sums of counts overflow.
    static let maximumCount = 1 << 48

    package let root: Ref
    package let space: NodeSpace
    package let shape: ElementShape
    /// The number of elements, as the root tells it.
    package let count: Int

    package init(root: Ref, space: NodeSpace, shape: ElementShape) throws(StorageError) {
        self.root = root
        self.space = space
        self.shape = shape
        guard !root.isNone else {
            count = 0
            return
        }
        let node = try space.node(at: root)
        count =
            node.isInner
            ? try InnerNode(node, space).total
            : try ColumnLeaf(node, space, shape, inCluster: false).count
    }

    package var isEmpty: Bool { count == 0 }

    /// An attached leaf and a row that it has.
    package struct Place: Sendable {
        package let leaf: ColumnLeaf
        /// In `0..<leaf.count`, whatever the nodes above the leaf say.
        package let row: Int
        /// The position of the leaf's first element in the tree.
        package let start: Int
        /// The node of the leaf.
        package let ref: Ref
    }

    /// The leaf that holds element `index` and its row there; O(depth).
    ///
    /// The only way from a position to a leaf: inner nodes of a damaged file may promise what their leaves do not have.
    package func place(of index: Int) throws(StorageError) -> Place {
        let (node, start) = try leafNode(for: index)
        let leaf = try ColumnLeaf(node, space, shape, inCluster: false)
        let row = index &- start
        guard row >= 0, row < leaf.count else {
            throw node.corrupt("a leaf of \(leaf.count) elements where its parent promises more")
        }
        return Place(leaf: leaf, row: row, start: start, ref: node.ref)
    }

    private func leafNode(for index: Int) throws(StorageError) -> (node: Node, start: Int) {
        var node = try space.node(at: root)
        var start = 0
        for _ in 0..<BPlusTree.maximumDepth {
            guard node.isInner else { return (node, start) }
            let inner = try InnerNode(node, space)
            let child = inner.child(containing: index &- start)
            start &+= child.start
            node = try space.node(at: try inner.ref(child.index))
        }
        throw node.corrupt("a B+ tree deeper than \(BPlusTree.maximumDepth) levels")
    }

    /// The element at `index`, which must be in `0..<count`; O(depth).
    package func value(at index: Int) throws(StorageError) -> Value {
        let place = try place(of: index)
        return try place.leaf.value(place.row)
    }

    /// The leaves in order. A walk over several trees gives all of them the same `budget`.
    package func leaves(within budget: WalkBudget? = nil) -> LeafCursor { LeafCursor(self, within: budget) }

    /// All elements of a tree of plain integers, as the object keys that backlinks and indexes mean by them.
    package func objectKeys(within budget: WalkBudget? = nil) throws(StorageError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var cursor = leaves(within: budget)
        while let (leaf, _) = try cursor.next() {
            guard case .int(let integers) = leaf else { continue }
            for row in 0..<integers.count { keys.append(ObjectKey(integers.elements[row])) }
        }
        return keys
    }

    /// The children of an inner node.
    struct InnerNode {
        let node: Node
        let childCount: Int
        let total: Int
        /// Elements per child in compact form.
        private let childSize: Int
        private let offsets: PackedOffsets?

        init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
            guard node.count >= 3 else { throw node.corrupt("an inner node without children") }
            self.node = node
            childCount = node.count - 2
            total = Int(clamping: try node.number(node.count - 1, "element count of a tree"))
            guard total <= BPlusTree.maximumCount else { throw node.corrupt("a tree of \(total) elements") }
            switch try node.slot(0) {
            case .tagged(let size):
                guard size > 0 || childCount == 1 else { throw node.corrupt("children of 0 elements") }
                childSize = Int(clamping: size)
                offsets = nil
            case .ref(let ref):
                childSize = 0
                let list = try PackedOffsets(try space.node(at: ref))
                guard list.count == childCount - 1 else {
                    throw node.corrupt("\(list.count) offsets for \(childCount) children")
                }
                offsets = list
            case .none: throw node.corrupt("an inner node without offsets")
            }
        }

        func ref(_ index: Int) throws(StorageError) -> Ref { try node.requiredRef(index + 1, "child of a tree") }

        /// The child that holds element `index` and the number of elements before it.
        func child(containing index: Int) -> (index: Int, start: Int) {
            guard let offsets else {
                let child = childSize == 0 ? 0 : min(index / childSize, childCount - 1)
                return (child, child &* childSize)
            }
            let child = offsets.upperBound(UInt64(clamping: index))
            return (child, child == 0 ? 0 : Int(clamping: offsets[child - 1]))
        }

        /// How many elements child `index` holds by this node's word, or nil when it says nothing sensible.
        func promisedCount(_ index: Int) -> Int? {
            let start = startOfChild(index)
            let end = index == childCount - 1 ? total : startOfChild(index + 1)
            return end >= start ? end - start : nil
        }

        var isCompact: Bool { offsets == nil }

        /// Whether the node is compact with children of this size.
        func states(childSize size: Int) -> Bool { offsets == nil && childSize == size }

        func startOfChild(_ index: Int) -> Int {
            guard index > 0 else { return 0 }
            guard let offsets else {
                let (start, isTooLarge) = index.multipliedReportingOverflow(by: childSize)
                return isTooLarge ? .max : start
            }
            return Int(clamping: offsets[index - 1])
        }
    }
}

/// Walks the leaves of a B+ tree in order, checking that every subtree holds what its parent promises.
package struct LeafCursor: Sendable {
    private struct Frame {
        let inner: BPlusTree.InnerNode
        var next: Int
    }

    private let space: NodeSpace
    private let shape: ElementShape
    private var frames: [Frame] = []
    private var pending: (ref: Ref, promised: Int?)?
    private var budget: Int
    /// What the walk that this tree is a part of may still visit.
    private let walk: WalkBudget?
    /// The position of the next leaf's first element.
    private var position = 0

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

    private mutating func spend(_ count: Int, _ ref: Ref) throws(StorageError) {
        budget -= count
        guard budget >= 0 else { throw .corrupt(ref: ref, reason: "a tree with more nodes than the file has room for") }
        try walk?.spend(count, at: ref)
    }

    private mutating func descend(_ node: Node, _ promised: Int?) throws(StorageError) {
        let inner = try BPlusTree.InnerNode(node, space)
        if let promised, promised != inner.total {
            throw node.corrupt("a subtree of \(inner.total) elements where its parent promises \(promised)")
        }
        guard frames.count < BPlusTree.maximumDepth else { throw node.corrupt("a B+ tree of too many levels") }
        frames.append(Frame(inner: inner, next: 0))
    }

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
            guard let promised = frame.inner.promisedCount(frame.next) else {
                throw frame.inner.node.corrupt("the offsets of an inner node do not ascend")
            }
            return (try frame.inner.ref(frame.next), promised)
        }
        return nil
    }
}

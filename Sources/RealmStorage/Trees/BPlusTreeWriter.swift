// SPDX-License-Identifier: Apache-2.0

/// Changes B+ trees of values: lists, sets, keys and values of dictionaries, long backlink lists.
///
/// A tree is named by the ref of its root, and each change returns the root to store in its place. `Ref.none` is an empty
/// tree; a tree that loses its last element keeps an empty leaf. Rules kept here:
///
/// - All leaves are equally deep, and none is empty but a lone root.
/// - An inner node does without offsets only when every child but its last is full, and then neither a child nor, by the
///   counts, an ancestor to the left needs them; the reference engine appends to such nodes without looking.
/// - An inner root has at least two children.
/// - The root of a tree of links has the context flag exactly when a link in it is unresolved.
///
/// A nested collection that a Mixed element loses is given up with it; its backlinks are the caller's business.
/// Source: docs/format.md, "B+ trees"; realm-core bplustree.cpp.
package struct BPlusTreeWriter {
    /// Where the nodes of the transaction are.
    package let writes: WriteSpace
    /// What the leaves look like.
    package let shape: ElementShape
    /// Changes the leaves.
    let leaves: LeafWriter
    /// Elements of a full leaf.
    let leafCapacity: Int
    /// Children of a full inner node.
    let fanOut: Int

    /// Elements of a full leaf in files.
    package static let standardLeafCapacity = 1000

    /// Smaller capacities than the format's 1000 are for tests: files with them are sound but slow.
    package init(
        _ writes: WriteSpace, _ shape: ElementShape, leafCapacity: Int = BPlusTreeWriter.standardLeafCapacity, fanOut: Int = 1000
    ) {
        self.writes = writes
        self.shape = shape
        self.leafCapacity = leafCapacity
        self.fanOut = fanOut
        leaves = LeafWriter(writes, .values(shape), inCluster: false)
    }

    // MARK: - Reading

    /// The present tree, for reading.
    package func tree(_ root: Ref) throws(StorageError) -> BPlusTree {
        try BPlusTree(root: root, space: writes.space, shape: shape)
    }

    /// How many elements a tree has.
    package func count(_ root: Ref) throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        let node = try writes.node(at: root)
        return node.isInner ? try BPlusInnerNode(node, writes.space).total : try leaves.count(root)
    }

    // MARK: - Changing

    /// A tree without elements that is not `Ref.none`.
    package func makeEmpty() throws(StorageError) -> Ref { try leaves.makeEmpty() }

    /// Inserts before element `index`, which may be the count.
    package func insert(_ value: Value, at index: Int, in root: Ref) throws(StorageError) -> Ref {
        var root = try root.isNone ? makeEmpty() : root
        try require(index, upTo: try count(root), root)
        let flag = try lowerFlag(&root)
        root = try insertRun([value][...], at: index, in: root).root
        return try raiseFlag(root, flag || BPlusTreeWriter.isUnresolved(value))
    }

    /// Adds an element at the end.
    package func append(_ value: Value, to root: Ref) throws(StorageError) -> Ref {
        try insert(value, at: try count(root), in: root)
    }

    /// Appends many values, filling leaf by leaf.
    ///
    /// Leaves are filled one after another, as the reference engine fills them when it appends, so lists that are built this way
    /// are compact.
    package func append(contentsOf values: [Value], to root: Ref) throws(StorageError) -> Ref {
        var root = try root.isNone ? makeEmpty() : root
        let flag = try lowerFlag(&root)
        var end = try count(root)
        var rest = values[...]
        while !rest.isEmpty {
            let (newRoot, taken) = try insertRun(rest, at: end, in: root)
            root = newRoot
            end += taken
            rest = rest.dropFirst(taken)
        }
        return try raiseFlag(root, flag || values.contains(where: BPlusTreeWriter.isUnresolved))
    }

    /// Replaces element `index`.
    ///
    /// A collection nested in the old element is given up. Throws `.corrupt` when there is no such element.
    package func set(_ value: Value, at index: Int, in root: Ref) throws(StorageError) -> Ref {
        var root = root
        let flag = try lowerFlag(&root)
        root = try update(at: index, in: root) { (leaf, row) throws(StorageError) in
            try dropNested(leaf, row)
            return try leaves.set(value, at: row, in: leaf)
        }
        if BPlusTreeWriter.isUnresolved(value) { return try raiseFlag(root, true) }
        return try raiseFlag(root, flag ? try hasUnresolved(root) : false)
    }

    /// Lets `change` replace the leaf that holds element `index` by one with as many elements.
    package func update(
        at index: Int, in root: Ref, _ change: (_ leaf: Ref, _ row: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        try require(index, upTo: try count(root) - 1, root)
        return try update(index, in: root, level: try height(root), change)
    }

    /// Takes element `index` out, with any collection nested in it.
    package func erase(at index: Int, in root: Ref) throws(StorageError) -> Ref {
        var root = root
        try require(index, upTo: try count(root) - 1, root)
        let flag = try lowerFlag(&root)
        root = try eraseElement(index, in: root)
        return try raiseFlag(root, flag ? try hasUnresolved(root) : false)
    }

    /// Gives up the whole tree.
    package func discard(_ root: Ref) throws(StorageError) { try writes.discardTree(root) }

    /// Gives up all elements; the result is a tree that is not `Ref.none`.
    ///
    /// Nested collections go with their elements.
    package func clear(_ root: Ref) throws(StorageError) -> Ref {
        try discard(root)
        return try makeEmpty()
    }

    // MARK: - Common

    /// Throws `.corrupt` unless the tree has such a position.
    private func require(_ index: Int, upTo last: Int, _ root: Ref) throws(StorageError) {
        guard index >= 0, index <= last else {
            throw .corrupt(ref: root, reason: "a tree of \(try count(root)) elements has no place \(index)")
        }
    }

    /// Inner levels above the leaves.
    func height(_ root: Ref) throws(StorageError) -> Int {
        var node = try writes.node(at: root)
        var levels = 0
        while node.isInner {
            levels += 1
            try BPlusInnerNode.requireDepth(levels, node)
            node = try writes.node(at: try BPlusInnerNode(node, writes.space).ref(0))
        }
        return levels
    }

    /// The inner node at `ref`, which the depth of the tree's first leaf promises.
    func inner(_ ref: Ref) throws(StorageError) -> BPlusInnerNode {
        let node = try writes.node(at: ref)
        guard node.isInner else { throw BPlusTreeWriter.unevenDepth(node) }
        return try BPlusInnerNode(node, writes.space)
    }

    /// What is wrong with a tree whose leaves are not equally deep.
    private static func unevenDepth(_ node: Node) -> StorageError {
        node.corrupt("leaves of a B+ tree lie at different depths")
    }

    /// The elements of a leaf, checked so that `row` exists.
    func leafCount(_ ref: Ref, row: Int, isEnd: Bool = false) throws(StorageError) -> Int {
        let node = try writes.node(at: ref)
        guard !node.isInner else { throw BPlusTreeWriter.unevenDepth(node) }
        let count = try leaves.count(ref)
        guard row >= 0, row < count || isEnd && row == count else {
            throw BPlusInnerNode.tooShort(node, count: count)
        }
        return count
    }

    /// What a full node of `level` holds: the only size that compact parents of it may state.
    func capacity(ofLevel level: Int) -> Int {
        var size = leafCapacity
        for _ in 0..<level {
            let (product, isTooLarge) = size.multipliedReportingOverflow(by: fanOut)
            size = isTooLarge ? .max : product
        }
        return size
    }

    /// Gives up the collection nested in element `row`, if there is one.
    func dropNested(_ leaf: Ref, _ row: Int) throws(StorageError) {
        guard shape.type == .mixed, let root = try leaves.nestedRoot(row, in: leaf) else { return }
        try writes.discardTree(root)
    }

    /// Replaces a leaf in the subtree at `ref`, and the refs above it.
    private func update(
        _ index: Int, in ref: Ref, level: Int, _ change: (_ leaf: Ref, _ row: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        guard level > 0 else {
            _ = try leafCount(ref, row: index)
            return try change(ref, index)
        }
        let inner = try inner(ref)
        let place = inner.child(containing: index)
        let old = try inner.ref(place.index)
        let new = try update(index - place.start, in: old, level: level - 1, change)
        guard new != old else { return ref }
        var node = try writes.writable(ref)
        try node.set(place.index + 1, new)
        return node.ref
    }
}

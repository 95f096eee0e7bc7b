// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes B+ trees of values: lists, sets, keys and values of dictionaries, long backlink lists.
///
/// A tree is named by the ref of its root, and each change returns the root to store in its place. `Ref.none` is an empty tree;
/// a tree that loses its last element keeps an empty leaf. Rules kept here:
///
/// - All leaves are equally deep, and none is empty but a lone root.
/// - An inner node does without offsets only when every child but its last is full, and then
///   neither a child nor, by the counts, an ancestor to the left needs them; the reference engine
///   appends to such nodes without checking.
/// - An inner root has at least two children.
/// - The root of a tree of links has the context flag exactly when a link in it is unresolved.
///
/// A nested collection that a Mixed element loses is discarded; the caller removes the backlinks of links in it. Source:
/// docs/format.md, "B+ trees"; realm-core bplustree.cpp.
package struct BPlusTreeWriter {
    /// The nodes of the transaction, committed and new.
    package let writes: WriteSpace
    /// The type of the values in the leaves.
    package let shape: ElementShape
    let leaves: LeafWriter
    /// How many elements a full leaf has.
    let leafCapacity: Int
    /// How many children a full inner node has.
    let fanOut: Int

    /// How many elements a full leaf has in files, by the format.
    package static let standardLeafCapacity = 1000

    /// Makes a writer of trees of one type of value.
    ///
    /// Smaller capacities than the format's 1000 are for tests: files with them are sound but slow.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - shape: The type of the values.
    ///   - leafCapacity: How many elements a full leaf has.
    ///   - fanOut: How many children a full inner node has.
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

    /// Returns the present tree for reading; it is valid until the tree changes.
    package func tree(_ root: Ref) throws(StorageError) -> BPlusTree {
        try BPlusTree(root: root, space: writes.space, shape: shape)
    }

    /// Returns how many elements a tree has, without attaching its leaves.
    package func count(_ root: Ref) throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        let node = try writes.node(at: root)
        return node.isInner ? try BPlusInnerNode(node, writes.space).total : try leaves.count(root)
    }

    // MARK: - Changing

    /// Makes a tree without elements that is not `Ref.none`, and returns its root.
    package func makeEmpty() throws(StorageError) -> Ref { try leaves.makeEmpty() }

    /// Inserts a value before element `index`, or at the end, and returns the new root.
    ///
    /// - Parameters:
    ///   - value: A value of the tree's type.
    ///   - index: The new position, `0...count`.
    ///   - root: The root, which must not be used any more.
    /// - Throws: `.limit` for a value of another type, `.corrupt` for a position outside the tree.
    package func insert(_ value: Value, at index: Int, in root: Ref) throws(StorageError) -> Ref {
        var root = try root.isNone ? makeEmpty() : root
        try require(index, upTo: try count(root), root)
        let flag = try lowerFlag(&root)
        root = try insertRun([value][...], at: index, in: root).root
        return try raiseFlag(root, flag || BPlusTreeWriter.isUnresolved(value))
    }

    /// Adds an element at the end of a tree and returns the new root.
    package func append(_ value: Value, to root: Ref) throws(StorageError) -> Ref {
        try insert(value, at: try count(root), in: root)
    }

    /// Appends many values, filling one leaf after another, and returns the new root.
    ///
    /// The reference engine fills leaves in the same way when it appends, so lists that are built
    /// by either of them are compact.
    ///
    /// - Throws: `.limit` for a value of another type. As some values may have been appended then,
    ///   the caller rolls back to a savepoint.
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

    /// Replaces element `index` and returns the new root. A collection nested in the old element is discarded.
    ///
    /// - Throws: `.corrupt` when there is no such element, `.limit` for a value of another type.
    /// - Complexity: O(depth); O(count) when an unresolved link is replaced, because the flag of
    ///   the root may have to be removed.
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

    /// Replaces the leaf that holds element `index` by one with equally many elements, and returns the new root.
    ///
    /// - Parameters:
    ///   - index: An element of the tree.
    ///   - root: The root, which must not be used any more.
    ///   - change: Returns the ref of the leaf that takes the place of `leaf`; the element is in
    ///     `row`.
    /// - Throws: `.corrupt` when there is no such element.
    package func update(
        at index: Int, in root: Ref, _ change: (_ leaf: Ref, _ row: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        try require(index, upTo: try count(root) - 1, root)
        return try update(index, in: root, level: try height(root), change)
    }

    /// Removes element `index`, with any collection nested in it, and returns the new root.
    ///
    /// - Throws: `.corrupt` when there is no such element.
    package func erase(at index: Int, in root: Ref) throws(StorageError) -> Ref {
        var root = root
        try require(index, upTo: try count(root) - 1, root)
        let flag = try lowerFlag(&root)
        root = try eraseElement(index, in: root)
        return try raiseFlag(root, flag ? try hasUnresolved(root) : false)
    }

    /// Discards all nodes of a tree, collections nested in its elements included.
    package func discard(_ root: Ref) throws(StorageError) { try writes.discardTree(root) }

    /// Discards all elements, with the collections nested in them.
    ///
    /// - Returns: The root of an empty tree that is not `Ref.none`.
    package func clear(_ root: Ref) throws(StorageError) -> Ref {
        try discard(root)
        return try makeEmpty()
    }

    // MARK: - Common

    /// Checks that a tree has the position `index`, and throws `.corrupt` otherwise.
    private func require(_ index: Int, upTo last: Int, _ root: Ref) throws(StorageError) {
        guard index >= 0, index <= last else {
            throw .corrupt(ref: root, reason: "a tree of \(try count(root)) elements has no place \(index)")
        }
    }

    /// Returns the number of inner levels above the leaves, along the first children.
    ///
    /// - Throws: `.corrupt` for a tree that is deeper than any sound one.
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

    /// Attaches the inner node at `ref`, where the depth of the tree's first leaf implies one.
    ///
    /// - Throws: `.corrupt` when it is a leaf.
    func inner(_ ref: Ref) throws(StorageError) -> BPlusInnerNode {
        let node = try writes.node(at: ref)
        guard node.isInner else { throw BPlusTreeWriter.unevenDepth(node) }
        return try BPlusInnerNode(node, writes.space)
    }

    /// Makes the error for a tree whose leaves are not equally deep.
    private static func unevenDepth(_ node: Node) -> StorageError {
        node.corrupt("leaves of a B+ tree lie at different depths")
    }

    /// Returns the number of elements of a leaf, after checking that it has `row`.
    ///
    /// - Parameters:
    ///   - row: The row that must exist.
    ///   - isEnd: Whether the row may also be the end of the leaf.
    /// - Throws: `.corrupt` for an inner node, or when the leaf does not have the row.
    func leafCount(_ ref: Ref, row: Int, isEnd: Bool = false) throws(StorageError) -> Int {
        let node = try writes.node(at: ref)
        guard !node.isInner else { throw BPlusTreeWriter.unevenDepth(node) }
        let count = try leaves.count(ref)
        guard row >= 0, row < count || isEnd && row == count else {
            throw BPlusInnerNode.tooShort(node, count: count)
        }
        return count
    }

    /// Returns how many elements are below a full node of `level`: the only size that parents without offsets may state.
    func capacity(ofLevel level: Int) -> Int {
        var size = leafCapacity
        for _ in 0..<level {
            let (product, isTooLarge) = size.multipliedReportingOverflow(by: fanOut)
            size = isTooLarge ? .max : product
        }
        return size
    }

    /// Discards the collection nested in element `row` of a leaf of Mixed, if there is one.
    func dropNested(_ leaf: Ref, _ row: Int) throws(StorageError) {
        guard shape.type == .mixed, let root = try leaves.nestedRoot(row, in: leaf) else { return }
        try writes.discardTree(root)
    }

    /// Replaces a leaf in the subtree at `ref`, and stores changed refs in the nodes above it.
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

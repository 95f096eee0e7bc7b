// SPDX-License-Identifier: Apache-2.0

/// Changes the cluster tree of a table: objects by key, and whole columns.
///
/// A tree is named by the ref of its root, and each change returns the root to store in its place. Keys are ordered as
/// unsigned numbers, so the negative keys of tombstones are very large. Rules kept here:
///
/// - All leaves are equally deep, and none is empty but a lone root.
/// - The first child of an inner node has offset 0, and the keys of a child lie below the offset of the next.
/// - Every inner node holds the number of objects below it.
/// - An inner root has at least two children.
///
/// Source: docs/format.md, "Cluster trees"; realm-core cluster.cpp and cluster_tree.cpp.
package struct ClusterWriter {
    /// A column of the table: where its leaves are and how they are changed.
    ///
    /// A class, because every change of an object walks over all columns.
    package final class Column {
        /// Where the column is in each cluster leaf.
        package let leafIndex: Int
        /// What its leaves hold.
        package let shape: LeafShape
        /// Changes its leaves.
        package let leaf: LeafWriter

        /// A column of the table that is being changed.
        package init(leafIndex: Int, shape: LeafShape, leaf: LeafWriter) {
            self.leafIndex = leafIndex
            self.shape = shape
            self.leaf = leaf
        }

        /// The slot of a cluster leaf with this column.
        var slot: Int { leafIndex + 1 }
    }

    /// Where the nodes of the transaction are.
    package let writes: WriteSpace
    /// All columns of the table, backlinks included.
    package let columns: [Column]
    /// Changes single leaves.
    let rows: ClusterRows
    /// log2 of what leaves and inner nodes hold.
    let shift: Int

    /// `shift` is 8 in files of released SDKs; smaller ones are for tests.
    package init(_ writes: WriteSpace, columns: [Column], shift: Int = 8) {
        self.writes = writes
        self.columns = columns
        self.shift = shift
        rows = ClusterRows(writes: writes, columns: columns)
    }

    /// How many objects a leaf holds at most, and how many children an inner node.
    var capacity: Int { 1 << shift }

    // MARK: - Reading

    /// The present tree, for reading.
    package func tree(_ root: Ref) -> ClusterTree { ClusterTree(root: root, space: writes.space, shift: shift) }

    /// How many objects the tree has.
    package func count(_ root: Ref) throws(StorageError) -> Int { try tree(root).count() }

    /// Whether an object is in the tree; O(depth).
    package func contains(_ key: ObjectKey, in root: Ref) throws(StorageError) -> Bool {
        guard let leaf = try tree(root).leaf(for: key) else { return false }
        return leaf.row(of: key) != nil
    }

    // MARK: - Objects

    /// A tree without objects; not `Ref.none`.
    package func makeEmpty() throws(StorageError) -> Ref { try rows.makeEmpty() }

    /// Lets `change` replace the leaf of one column that holds an object by another with as many values.
    package func update(
        _ key: ObjectKey, leafIndex: Int, in root: Ref,
        _ change: (_ leaf: Ref, _ row: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        try update(UInt64(bitPattern: key.rawValue), leafIndex + 1, in: root, depth: try depth(root), change)
    }

    /// Gives up all objects and everything below them; the result is an empty tree.
    package func clear(_ root: Ref) throws(StorageError) -> Ref {
        try writes.discardTree(root)
        return try makeEmpty()
    }

    // MARK: - Common

    /// Inner levels above the leaves.
    func depth(_ root: Ref) throws(StorageError) -> Int {
        let node = try writes.node(at: root)
        return node.isInner ? try inner(root, nil).depth : 0
    }

    /// The inner node at `ref`, of the given depth if that is known. Throws `.corrupt` for a leaf.
    func inner(_ ref: Ref, _ depth: Int?) throws(StorageError) -> ClusterTree.InnerNode {
        let node = try writes.node(at: ref)
        guard node.isInner else { throw node.corrupt("a cluster leaf where an inner node belongs") }
        return try ClusterTree.InnerNode(node, writes.space, shift, offset: 0, parentDepth: depth.map { $0 + 1 })
    }

    /// The row of an object that exists.
    func row(_ key: UInt64, in leaf: Ref) throws(StorageError) -> Int {
        let view = try rows.view(leaf)
        guard let row = view.row(of: ObjectKey(Int64(bitPattern: key))) else {
            throw view.node.corrupt("an object that should be in this leaf is not")
        }
        return row
    }

    /// Replaces a node below the subtree at `ref`, and the refs above it.
    private func update(
        _ key: UInt64, _ slot: Int, in ref: Ref, depth: Int,
        _ change: (_ leaf: Ref, _ row: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        let changedSlot: Int
        let old: Ref
        let new: Ref
        if depth > 0 {
            let inner = try inner(ref, depth)
            let child = inner.child(for: key)
            changedSlot = child + 3
            old = try inner.ref(child)
            new = try update(key &- inner.offset(of: child), slot, in: old, depth: depth - 1, change)
        } else {
            changedSlot = slot
            let row = try row(key, in: ref)
            old = try writes.node(at: ref).requiredRef(slot, "a column")
            new = try change(old, row)
        }
        guard new != old else { return ref }
        var node = try writes.writable(ref)
        try node.set(changedSlot, new)
        return node.ref
    }
}

/// What changes of a leaf do to one column.
extension ClusterWriter.Column {
    /// The column's leaf in a cluster leaf.
    func ref(in node: MutableNode) throws(StorageError) -> Ref {
        guard slot < node.count, !node.ref(slot).isNone else {
            throw node.node.corrupt("a cluster leaf without column \(leafIndex)")
        }
        return node.ref(slot)
    }

    /// Throws unless the column's leaf has as many values as the cluster leaf has objects.
    func require(_ count: Int, in leaf: Ref) throws(StorageError) {
        // Leaves of this transaction were checked when they were copied.
        guard !WriteSpace.isNew(leaf) else { return }
        let found = try self.leaf.count(leaf)
        guard found == count else {
            throw .corrupt(ref: leaf, reason: "\(found) values in column \(leafIndex) for \(count) objects")
        }
    }

    /// Gives up what the object in `row` keeps outside the leaf.
    func discardCollections(_ row: Int, in leaf: Ref, _ writes: WriteSpace) throws(StorageError) {
        switch shape {
        case .refs:
            if case .ref(let root) = try self.leaf.slot(row, in: leaf) { try writes.discardTree(root) }
        case .values(let element) where element.type == .mixed:
            if let root = try self.leaf.nestedRoot(row, in: leaf) { try writes.discardTree(root) }
        case .values: break
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes the cluster tree of a table: objects by key, and whole columns.
///
/// A tree is named by the ref of its root, and each change returns the root to store in its place. Keys are ordered as unsigned
/// numbers, so the negative keys of tombstones are very large. Rules kept here:
///
/// - All leaves are equally deep, and none is empty but a lone root.
/// - The first child of an inner node has offset 0, and the keys of a child lie below the offset of
///   the next.
/// - Every inner node states the number of objects below it.
/// - An inner root has at least two children.
///
/// Source: docs/format.md, "Cluster trees"; realm-core cluster.cpp and cluster_tree.cpp.
package struct ClusterWriter {
    /// A column of the table: where its leaves are and how they are changed.
    ///
    /// It is a class, because every change of an object goes through all columns, and copies would
    /// be retained and released each time.
    package final class Column {
        /// The number of the column's slot in each cluster leaf, without the slot of the keys.
        package let leafIndex: Int
        /// The contents of the column's leaves: values or refs.
        package let shape: LeafWriter.LeafShape
        /// The writer of the column's leaves.
        package let leaf: LeafWriter

        /// Makes a column of the table that is being changed.
        ///
        /// - Parameters:
        ///   - leafIndex: The number of the column's slot in each cluster leaf, without the slot of
        ///     the keys.
        ///   - shape: The contents of its leaves.
        ///   - leaf: The writer of its leaves.
        package init(leafIndex: Int, shape: LeafWriter.LeafShape, leaf: LeafWriter) {
            self.leafIndex = leafIndex
            self.shape = shape
            self.leaf = leaf
        }

        /// The slot of a cluster leaf that refers to this column; slot 0 has the keys.
        var slot: Int { leafIndex + 1 }
    }

    /// The nodes of the transaction, committed and new.
    package let writes: WriteSpace
    /// All columns of the table, backlinks included.
    package let columns: [Column]
    /// The writer of single leaves.
    let rows: ClusterRows
    /// log2 of how many objects a leaf and how many children an inner node holds.
    let shift: Int

    /// Makes a writer for the cluster tree of one table.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - columns: All columns of the table, backlinks included.
    ///   - shift: log2 of the capacity of leaves: 8 in files of released SDKs; smaller ones are for
    ///     tests.
    package init(_ writes: WriteSpace, columns: [Column], shift: Int = 8) {
        self.writes = writes
        self.columns = columns
        self.shift = shift
        rows = ClusterRows(writes: writes, columns: columns)
    }

    /// The maximum number of objects in a leaf, and of children of an inner node.
    var capacity: Int { 1 << shift }

    // MARK: - Reading

    /// Returns the present tree for reading; it is valid until the tree changes.
    package func tree(_ root: Ref) -> ClusterTree { ClusterTree(root: root, space: writes.space, shift: shift) }

    /// Returns how many objects the tree has.
    package func count(_ root: Ref) throws(StorageError) -> Int { try tree(root).count() }

    /// Returns whether an object is in the tree.
    ///
    /// - Complexity: O(depth).
    package func contains(_ key: ObjectKey, in root: Ref) throws(StorageError) -> Bool {
        guard let leaf = try tree(root).leaf(for: key) else { return false }
        return leaf.row(of: key) != nil
    }

    // MARK: - Objects

    /// Makes a tree without objects that is not `Ref.none`, and returns its root.
    package func makeEmpty() throws(StorageError) -> Ref { try rows.makeEmpty() }

    /// Replaces the leaf of one column that holds the value of an object, and returns the new root.
    ///
    /// - Parameters:
    ///   - key: The key of the object, which must exist.
    ///   - leafIndex: The column.
    ///   - root: The root of the tree, which must not be used any more.
    ///   - change: Returns the ref of a leaf with equally many values that takes the place of
    ///     `leaf`; the object's value is in `row`.
    /// - Throws: `.corrupt` when the object is not in the tree.
    package func update(
        _ key: ObjectKey, leafIndex: Int, in root: Ref,
        _ change: (_ leaf: Ref, _ row: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        try update(UInt64(bitPattern: key.rawValue), leafIndex + 1, in: root, depth: try depth(root), change)
    }

    /// Discards all objects and everything below them.
    ///
    /// - Returns: The root of an empty tree.
    package func clear(_ root: Ref) throws(StorageError) -> Ref {
        try writes.discardTree(root)
        return try makeEmpty()
    }

    // MARK: - Common

    /// Returns the number of inner levels above the leaves, as the root states it.
    func depth(_ root: Ref) throws(StorageError) -> Int {
        let node = try writes.node(at: root)
        return node.isInner ? try inner(root, nil).depth : 0
    }

    /// Attaches the inner node at `ref`.
    ///
    /// - Parameter depth: The depth that the node must have, if it is known.
    /// - Throws: `.corrupt` for a leaf, or a node of another depth.
    func inner(_ ref: Ref, _ depth: Int?) throws(StorageError) -> ClusterTree.InnerNode {
        let node = try writes.node(at: ref)
        guard node.isInner else { throw node.corrupt("a cluster leaf where an inner node belongs") }
        return try ClusterTree.InnerNode(node, writes.space, shift, offset: 0, parentDepth: depth.map { $0 + 1 })
    }

    /// Returns the row of an object in a leaf; throws `.corrupt` when the leaf does not have it.
    func row(_ key: UInt64, in leaf: Ref) throws(StorageError) -> Int {
        let view = try rows.view(leaf)
        guard let row = view.row(of: ObjectKey(Int64(bitPattern: key))) else {
            throw view.node.corrupt("an object that should be in this leaf is not")
        }
        return row
    }

    /// Replaces a column's leaf below the subtree at `ref`, and stores changed refs in the nodes above it.
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

/// The effects of changes of a cluster leaf on one column.
extension ClusterWriter.Column {
    /// Returns the ref of the column's leaf in a cluster leaf; throws `.corrupt` when there is none.
    func ref(in node: MutableNode) throws(StorageError) -> Ref {
        guard slot < node.count, !node.ref(slot).isNone else {
            throw node.node.corrupt("a cluster leaf without column \(leafIndex)")
        }
        return node.ref(slot)
    }

    /// Checks that the column's leaf has as many values as the cluster leaf has objects, and throws `.corrupt` otherwise.
    ///
    /// Leaves that this transaction made are not checked again.
    func require(_ count: Int, in leaf: Ref) throws(StorageError) {
        // Leaves of this transaction were checked when they were copied.
        guard !WriteSpace.isNew(leaf) else { return }
        let found = try self.leaf.count(leaf)
        guard found == count else {
            throw .corrupt(ref: leaf, reason: "\(found) values in column \(leafIndex) for \(count) objects")
        }
    }

    /// Discards the collections of the object in `row`: nodes outside the leaf that only it refers to.
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

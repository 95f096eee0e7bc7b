// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Columns that are added, removed or rewritten in all leaves of a table.
extension ClusterWriter {
    /// Gives every object the default value in a new column and returns the new root.
    ///
    /// - Parameters:
    ///   - column: The new column, which is one of `columns`.
    ///   - root: The root of the tree, which must not be used any more.
    /// - Complexity: O(number of leaves).
    package func addColumn(_ column: Column, in root: Ref) throws(StorageError) -> Ref {
        try rewriteLeaves(of: root, slot: column.slot) { (old, count) throws(StorageError) in
            try writes.discardTree(old)
            return try column.leaf.makeDefaults(count: count)
        }
    }

    /// Discards the leaves of a column and all collections below them, and returns the new root.
    ///
    /// - Parameters:
    ///   - leafIndex: The position of the column in each cluster leaf.
    ///   - root: The root of the tree, which must not be used any more.
    package func removeColumn(leafIndex: Int, in root: Ref) throws(StorageError) -> Ref {
        try rewriteLeaves(of: root, slot: leafIndex + 1) { (old, _) throws(StorageError) in
            try writes.discardTree(old)
            return .none
        }
    }

    /// Rewrites one column in all leaves of a tree; a tree that is `Ref.none` becomes an empty leaf.
    private func rewriteLeaves(
        of root: Ref, slot: Int, _ change: (_ leaf: Ref, _ count: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        let root = try root.isNone ? makeEmpty() : root
        return try rewriteLeaves(of: root, slot: slot, depth: try depth(root), WalkBudget(writes.space), change)
    }

    /// Rewrites one column in all leaves of a subtree, which is `depth` levels above them.
    private func rewriteLeaves(
        of ref: Ref, slot: Int, depth: Int, _ budget: WalkBudget,
        _ change: (_ leaf: Ref, _ count: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        try budget.spend(at: ref)
        guard depth > 0 else { return try rewriteLeaf(ref, slot: slot, change) }
        let inner = try inner(ref, depth)
        var node = try writes.writable(ref)
        for child in 0..<inner.childCount {
            let old = node.ref(child + 3)
            let new = try rewriteLeaves(of: old, slot: slot, depth: depth - 1, budget, change)
            if new != old { try node.set(child + 3, new) }
        }
        return node.ref
    }

    /// Rewrites one column in one leaf. A leaf that is too short for its slot, as in a table whose
    /// last column was removed, is extended.
    private func rewriteLeaf(
        _ ref: Ref, slot: Int, _ change: (_ leaf: Ref, _ count: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        let leaf = try rows.view(ref)
        let old = try leaf.node.optionalRef(slot, "a column")
        let new = try change(old, leaf.count)
        guard new != old else { return ref }
        var node = try writes.writable(ref)
        while node.count <= slot { try node.append(Ref.none) }
        try node.set(slot, new)
        return node.ref
    }
}

// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Removal from cluster trees: down to a leaf, and back up, joining nodes that became small.
extension ClusterWriter {
    /// Removes an object, which must exist, discards all collections below it, and returns the new root.
    ///
    /// The caller has removed the backlinks of the object's links, and the links to it, before.
    ///
    /// - Throws: `.corrupt` when the object is not in the tree.
    package func erase(_ key: ObjectKey, in root: Ref) throws(StorageError) -> Ref {
        try collapsed(try erase(UInt64(bitPattern: key.rawValue), in: root, depth: try depth(root)).ref)
    }

    /// The result of a removal from a subtree.
    private struct Shrunk {
        /// The root of the subtree after the removal.
        let ref: Ref
        /// How many objects are left below the node; with none left `ref` is an empty leaf, whatever the depth.
        let count: Int
    }

    /// Removes an object from the subtree at `ref`, which is `depth` levels above the leaves; `key` is relative to its offset.
    private func erase(_ key: UInt64, in ref: Ref, depth: Int) throws(StorageError) -> Shrunk {
        guard depth > 0 else {
            let count = try rows.view(ref).count
            return Shrunk(ref: try rows.erase(try row(key, in: ref), in: ref), count: count - 1)
        }
        let inner = try inner(ref, depth)
        let child = inner.child(for: key)
        let old = try inner.ref(child)
        let shrunk = try erase(key &- inner.offset(of: child), in: old, depth: depth - 1)
        let count = inner.objectCount &- 1
        let isTooSmall = shrunk.count == 0 ? true : try mayMerge(shrunk.ref, inner, child)
        if isTooSmall { return try restructure(ref, child, shrunk, count: count) }
        var node = try writes.writable(ref)
        if shrunk.ref != old { try node.set(child + 3, shrunk.ref) }
        try node.set(2, tagged: UInt64(clamping: count))
        return Shrunk(ref: node.ref, count: count)
    }

    /// Returns the number of objects of a leaf, or of children of an inner node.
    private func size(_ ref: Ref, depth: Int) throws(StorageError) -> Int {
        depth == 0 ? try rows.view(ref).count : try inner(ref, depth).childCount
    }

    /// Returns whether a child should be joined with the next one: it is less than half full, and
    /// both together fill less than three quarters of a node.
    private func mayMerge(_ child: Ref, _ parent: ClusterTree.InnerNode, _ index: Int) throws(StorageError) -> Bool {
        guard index + 1 < parent.childCount else { return false }
        let own = try size(child, depth: parent.depth - 1)
        guard own < capacity / 2 else { return false }
        return own + (try size(try parent.ref(index + 1), depth: parent.depth - 1)) < capacity / 4 * 3
    }

    /// Removes a child that became empty, or joins it with the next one, and writes their parent again.
    private func restructure(_ ref: Ref, _ child: Int, _ shrunk: Shrunk, count: Int) throws(StorageError) -> Shrunk {
        var branch = try ClusterBranch(dissolving: ref, writes, shift: shift)
        branch.children[child].ref = shrunk.ref
        branch.objectCount = count
        if shrunk.count > 0 {
            try merge(&branch, child)
        } else if branch.children.count == 1 {
            return Shrunk(ref: shrunk.ref, count: 0)
        } else {
            try writes.discardTree(shrunk.ref)
            branch.children.remove(at: child)
            try takeOffset(&branch)
        }
        return Shrunk(ref: try branch.make(writes, shift: shift), count: count)
    }

    /// Makes the offset of the first child 0 again after the removal of the child before it, by
    /// adding the difference to the keys below.
    private func takeOffset(_ branch: inout ClusterBranch) throws(StorageError) {
        let offset = branch.children[0].offset
        guard offset != 0 else { return }
        branch.children[0].offset = 0
        branch.children[0].ref = try raiseKeys(branch.children[0].ref, by: offset, depth: branch.depth - 1)
    }

    /// Adds `delta` to all keys below a node, whose offset became smaller by as much, and returns its new ref.
    private func raiseKeys(_ ref: Ref, by delta: UInt64, depth: Int) throws(StorageError) -> Ref {
        guard depth > 0 else { return try rows.raiseKeys(ref, by: delta) }
        guard try inner(ref, depth).childCount > 0 else { return ref }
        var branch = try ClusterBranch(dissolving: ref, writes, shift: shift)
        for child in branch.children.indices.dropFirst() { branch.children[child].offset &+= delta }
        branch.children[0].ref = try raiseKeys(branch.children[0].ref, by: delta, depth: depth - 1)
        return try branch.make(writes, shift: shift)
    }

    /// Joins a child with the next one, whose keys become relative to the first.
    private func merge(_ branch: inout ClusterBranch, _ child: Int) throws(StorageError) {
        let next = branch.children.remove(at: child + 1)
        let own = branch.children[child]
        let delta = next.offset &- own.offset
        guard branch.depth > 1 else {
            branch.children[child].ref = try rows.join(own.ref, with: next.ref, delta: delta)
            return
        }
        _ = try (inner(own.ref, branch.depth - 1), inner(next.ref, branch.depth - 1))
        var joined = try ClusterBranch(dissolving: own.ref, writes, shift: shift)
        let moved = try ClusterBranch(dissolving: next.ref, writes, shift: shift)
        joined.objectCount &+= moved.objectCount
        joined.children += moved.children.map { ClusterBranch.Child(ref: $0.ref, offset: $0.offset &+ delta) }
        branch.children[child].ref = try joined.make(writes, shift: shift)
    }

    /// Replaces a root with one child by that child, as often as needed, and returns the new root.
    /// The number of steps is limited by the depth, as a damaged tree may be circular.
    private func collapsed(_ root: Ref) throws(StorageError) -> Ref {
        var root = root
        var depth = try depth(root)
        while depth > 0 {
            guard try inner(root, depth).childCount == 1 else { return root }
            root = try ClusterBranch(dissolving: root, writes, shift: shift).children[0].ref
            depth -= 1
        }
        return root
    }
}

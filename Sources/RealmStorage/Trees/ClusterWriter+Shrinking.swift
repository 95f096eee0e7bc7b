// SPDX-License-Identifier: Apache-2.0

/// Removal: down to a leaf, and back up, joining what became small.
extension ClusterWriter {
    /// Removes an object, which must exist, and gives up all collections below it. The object's links, and those to it,
    /// are the caller's business.
    package func erase(_ key: ObjectKey, in root: Ref) throws(StorageError) -> Ref {
        try collapsed(try erase(UInt64(bitPattern: key.rawValue), in: root, depth: try depth(root)).ref)
    }

    /// A node after an object went.
    private struct Shrunk {
        /// The node after the object went.
        let ref: Ref
        /// Objects left below it; with none left `ref` is an empty leaf, whatever the depth.
        let count: Int
    }

    /// Takes an object out of the subtree at `ref`; `key` is relative to it.
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

    /// Objects of a leaf or children of an inner node.
    private func size(_ ref: Ref, depth: Int) throws(StorageError) -> Int {
        depth == 0 ? try rows.view(ref).count : try inner(ref, depth).childCount
    }

    /// Whether a child is less than half full, and less than three quarters together with the next one.
    private func mayMerge(_ child: Ref, _ parent: ClusterTree.InnerNode, _ index: Int) throws(StorageError) -> Bool {
        guard index + 1 < parent.childCount else { return false }
        let own = try size(child, depth: parent.depth - 1)
        guard own < capacity / 2 else { return false }
        return own + (try size(try parent.ref(index + 1), depth: parent.depth - 1)) < capacity / 4 * 3
    }

    /// Drops a child that became empty, or joins it with the next one.
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

    /// Makes the offset of the first child 0 again.
    private func takeOffset(_ branch: inout ClusterBranch) throws(StorageError) {
        let offset = branch.children[0].offset
        guard offset != 0 else { return }
        branch.children[0].offset = 0
        branch.children[0].ref = try raiseKeys(branch.children[0].ref, by: offset, depth: branch.depth - 1)
    }

    /// Adds `delta` to all keys below a node, whose offset fell by as much.
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

    /// Replaces a root with one child by that child, which is one level lower: a circle has no end.
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

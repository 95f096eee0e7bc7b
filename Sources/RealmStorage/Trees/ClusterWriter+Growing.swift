// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Insertion into cluster trees: down to a leaf, and back up with the nodes that were split off.
extension ClusterWriter {
    /// Adds an object, whose key must not be in use, and returns the new root.
    ///
    /// - Parameters:
    ///   - root: The root of the tree, which must not be used any more.
    ///   - values: A value per column, in the order of `columns`; missing and nil ones are
    ///     defaults.
    /// - Throws: `.corrupt` when the key is in use, which only a damaged table leads to, and
    ///   `.limit` when the table is full.
    package func insert(_ key: ObjectKey, in root: Ref, values: [Value?] = []) throws(StorageError) -> Ref {
        let root = try root.isNone ? makeEmpty() : root
        let depth = try depth(root)
        return try joined(try insert(UInt64(bitPattern: key.rawValue), in: root, depth: depth, values), depth)
    }

    /// Adds objects whose keys lie above those of all objects in the tree, and returns the new root.
    ///
    /// Leaves are filled one after the other, as they are when the objects are inserted in the order of their keys.
    ///
    /// - Parameters:
    ///   - run: The objects, at least one.
    ///   - root: The root of the tree, which must not be used any more.
    /// - Throws: `.corrupt` when a key is not above those in the tree, and `.limit` when the table is full.
    package func append(_ run: ClusterRun, to root: Ref) throws(StorageError) -> Ref {
        var root = try root.isNone ? makeEmpty() : root
        var done = 0
        while done < run.keys.count {
            let depth = try depth(root)
            let grown = try append(run, from: done, in: root, offset: 0, depth: depth)
            done += grown.added
            root = try joined(grown, depth)
        }
        return root
    }

    /// Returns the root of a tree that has grown, with a new level if the old root was split.
    private func joined(_ grown: Grown, _ depth: Int) throws(StorageError) -> Ref {
        guard let sibling = grown.sibling else { return grown.ref }
        guard depth < ClusterTree.maximumDepth else { throw .limit("a table of too many objects") }
        let children = [
            ClusterBranch.Child(ref: grown.ref, offset: 0),
            ClusterBranch.Child(ref: sibling.ref, offset: sibling.offset),
        ]
        let count = try count(grown.ref) + (try count(sibling.ref))
        return try ClusterBranch(children: children, depth: depth + 1, objectCount: count).make(writes, shift: shift)
    }

    /// The result of an insertion into a subtree: the changed node, and the node that was split off after it.
    private struct Grown {
        /// The root of the subtree after the insertion.
        let ref: Ref
        /// The node that was split off and follows, if the node was full.
        var sibling: ClusterBranch.Child?
        /// How many objects were added.
        var added = 1
    }

    /// Inserts into the subtree at `ref`, which is `depth` levels above the leaves; `key` is relative to its offset.
    private func insert(_ key: UInt64, in ref: Ref, depth: Int, _ values: [Value?]) throws(StorageError) -> Grown {
        guard depth > 0 else { return try insertIntoLeaf(key, ref, values) }
        let inner = try inner(ref, depth)
        let child = inner.child(for: key)
        let start = inner.offset(of: child)
        let old = try inner.ref(child)
        let grown = try insert(key &- start, in: old, depth: depth - 1, values)
        if var sibling = grown.sibling {
            sibling.offset &+= start
            return try adopt(sibling, after: child, grown, in: ref)
        }
        return try adjust(ref, inner, child: child, at: old, by: grown)
    }

    /// Stores a child that has grown in its parent.
    private func adjust(
        _ ref: Ref, _ inner: ClusterTree.InnerNode, child: Int, at old: Ref, by grown: Grown
    ) throws(StorageError) -> Grown {
        var node = try writes.writable(ref)
        if grown.ref != old { try node.set(child + 3, grown.ref) }
        try node.set(2, tagged: UInt64(clamping: inner.objectCount &+ grown.added))
        return Grown(ref: node.ref, added: grown.added)
    }

    /// Adds the objects of a run from a position on to the last leaf of the subtree at `ref`, as many as it has room for, or to a
    /// new leaf after it.
    private func append(
        _ run: ClusterRun, from start: Int, in ref: Ref, offset: UInt64, depth: Int
    ) throws(StorageError) -> Grown {
        guard depth > 0 else { return try appendToLeaf(run, from: start, ref, offset) }
        let inner = try inner(ref, depth)
        let child = inner.child(for: run.keys[start] &- offset)
        let begin = inner.offset(of: child)
        let old = try inner.ref(child)
        let grown = try append(run, from: start, in: old, offset: offset &+ begin, depth: depth - 1)
        if var sibling = grown.sibling {
            sibling.offset &+= begin
            return try adopt(sibling, after: child, grown, in: ref)
        }
        return try adjust(ref, inner, child: child, at: old, by: grown)
    }

    /// Adds objects of a run to a leaf, or to a new leaf if it is full.
    private func appendToLeaf(
        _ run: ClusterRun, from start: Int, _ ref: Ref, _ offset: UInt64
    ) throws(StorageError) -> Grown {
        let leaf = try rows.view(ref)
        let first = run.keys[start] &- offset
        guard leaf.lowerBound(of: ObjectKey(Int64(bitPattern: first))) == leaf.count else {
            throw leaf.node.corrupt("an object key is used twice or out of order")
        }
        let greatest = min(capacity, run.leafCapacity ?? capacity)
        let room = greatest - leaf.count
        let added = min(room > 0 ? room : greatest, run.keys.count - start)
        let range = start..<start + added
        if room > 0 { return Grown(ref: try rows.append(run, range, offset: offset, to: ref), added: added) }
        let tail = try rows.append(run, range, offset: run.keys[start], to: try makeEmpty())
        return Grown(ref: ref, sibling: ClusterBranch.Child(ref: tail, offset: first), added: added)
    }

    /// Inserts into a leaf; a full leaf is split at the row, or followed by a new leaf if the key belongs at its end.
    private func insertIntoLeaf(_ key: UInt64, _ ref: Ref, _ values: [Value?]) throws(StorageError) -> Grown {
        let leaf = try rows.view(ref)
        let objectKey = ObjectKey(Int64(bitPattern: key))
        let row = leaf.lowerBound(of: objectKey)
        guard row == leaf.count || leaf.key(at: row) != objectKey else {
            throw leaf.node.corrupt("an object key is used twice")
        }
        guard leaf.count >= capacity else { return Grown(ref: try rows.insert(key, at: row, in: ref, values)) }
        if row == leaf.count {
            let tail = try rows.insert(0, at: 0, in: try makeEmpty(), values)
            return Grown(ref: ref, sibling: ClusterBranch.Child(ref: tail, offset: key))
        }
        let parts = try rows.split(ref, at: row)
        return Grown(
            ref: try rows.insert(key, at: row, in: parts.head, values),
            sibling: ClusterBranch.Child(ref: parts.tail, offset: parts.offset))
    }

    /// Adds a node that was split off from child `child` to their parent, which is itself split when it is full.
    private func adopt(
        _ sibling: ClusterBranch.Child, after child: Int, _ grown: Grown, in ref: Ref
    ) throws(StorageError) -> Grown {
        var branch = try ClusterBranch(dissolving: ref, writes, shift: shift)
        branch.children[child].ref = grown.ref
        branch.objectCount &+= grown.added
        guard branch.children.count >= capacity else {
            branch.children.insert(sibling, at: child + 1)
            return Grown(ref: try branch.make(writes, shift: shift), added: grown.added)
        }
        branch.children.insert(sibling, at: child + 1)
        // A new last child becomes the only child of the new node; otherwise the children after the split one
        // move.
        let isLast = child + 2 == branch.children.count
        let (offset, tail) = try branch.split(at: isLast ? child + 1 : child + 2) { (ref) throws(StorageError) in
            try count(ref)
        }
        return Grown(
            ref: try branch.make(writes, shift: shift),
            sibling: ClusterBranch.Child(ref: try tail.make(writes, shift: shift), offset: offset), added: grown.added)
    }
}

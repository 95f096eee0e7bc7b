// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Insertion into B+ trees: down to a leaf, and back up with the nodes that were split off.
extension BPlusTreeWriter {
    /// The result of an insertion into a subtree: the changed node, and the node that was split off to its right.
    struct Grown {
        /// The root of the subtree after the insertion.
        var ref: Ref
        /// Whether the node has offsets, so that its parent needs some too.
        var isGeneral: Bool
        /// How many of the values were inserted.
        var added: Int
        /// The node that was split off to the right, if the node was full.
        var sibling: Sibling?

        /// A node that was split off, with the numbers that the parent has to state.
        struct Sibling {
            /// The root of the node on the right.
            let ref: Ref
            /// Whether the node on the right has offsets.
            let isGeneral: Bool
            /// How many elements stay in the node on the left.
            let headCount: Int
            /// How many elements the node on the right has.
            let count: Int
        }
    }

    /// Inserts the first of `values` into a tree; at the end of the tree, as many of them as its last leaf can take.
    ///
    /// - Parameters:
    ///   - values: The values, at least one.
    ///   - index: The position of the first, `0...count`.
    ///   - root: The root of a tree that is not `Ref.none`.
    /// - Returns: The new root, and how many values were inserted.
    func insertRun(
        _ values: ArraySlice<Value>, at index: Int, in root: Ref
    ) throws(StorageError) -> (root: Ref, taken: Int) {
        let level = try height(root)
        let grown = try insert(values, at: index, in: root, level: level)
        guard let sibling = grown.sibling else { return (grown.ref, grown.added) }
        let branch = BPlusBranch(
            children: [
                BPlusBranch.Child(ref: grown.ref, count: sibling.headCount),
                BPlusBranch.Child(ref: sibling.ref, count: sibling.count),
            ], mayBeCompact: !grown.isGeneral && !sibling.isGeneral)
        return (try branch.make(writes, childCapacity: capacity(ofLevel: level)), grown.added)
    }

    /// Inserts into the subtree at `ref`, which is `level` levels above the leaves; `index` counts
    /// from the start of the subtree.
    private func insert(
        _ values: ArraySlice<Value>, at index: Int, in ref: Ref, level: Int
    ) throws(StorageError) -> Grown {
        guard level > 0 else { return try insertIntoLeaf(values, at: index, ref) }
        let inner = try inner(ref)
        let place = inner.child(containing: index)
        let grown = try insert(values, at: index - place.start, in: try inner.ref(place.index), level: level - 1)
        if let sibling = grown.sibling { return try adopt(sibling, grown, place.index, in: ref, level: level) }
        return try adjust(ref, place.index, grown.ref, by: grown.added, childIsGeneral: grown.isGeneral, level: level)
    }

    /// Inserts into a leaf; a full leaf is split at the row, or followed by a new leaf if the row is its end.
    private func insertIntoLeaf(_ values: ArraySlice<Value>, at row: Int, _ ref: Ref) throws(StorageError) -> Grown {
        let count = try leafCount(ref, row: row, isEnd: true)
        let room = leafCapacity - count
        if room > 0 {
            let (leaf, taken) = try fill(ref, with: values, at: row, limit: row == count ? room : 1)
            return Grown(ref: leaf, isGeneral: false, added: taken)
        }
        if row == count {
            let (tail, taken) = try fill(try leaves.makeEmpty(), with: values, at: 0, limit: leafCapacity)
            let sibling = Grown.Sibling(ref: tail, isGeneral: false, headCount: count, count: taken)
            return Grown(ref: ref, isGeneral: false, added: taken, sibling: sibling)
        }
        let (head, tail) = try leaves.split(ref, at: row)
        let (leaf, taken) = try fill(head, with: values, at: row, limit: 1)
        let sibling = Grown.Sibling(ref: tail, isGeneral: false, headCount: row + taken, count: count - row)
        return Grown(ref: leaf, isGeneral: false, added: taken, sibling: sibling)
    }

    /// Inserts up to `limit` values at consecutive rows of a leaf.
    ///
    /// - Returns: The new ref of the leaf, and how many values were inserted.
    private func fill(
        _ leaf: Ref, with values: ArraySlice<Value>, at row: Int, limit: Int
    ) throws(StorageError) -> (leaf: Ref, taken: Int) {
        let taken = values.prefix(limit)
        guard taken.count == 1, let value = taken.first else {
            // Only at the end of a leaf there are several.
            return (try leaves.append(contentsOf: taken.map(Optional.some)[...], to: leaf), taken.count)
        }
        return (try leaves.insert(value, at: row, in: leaf), 1)
    }

    /// Stores a changed child in its parent and corrects the parent's counts; the parent gets
    /// offsets if it cannot do without them any more.
    ///
    /// - Parameters:
    ///   - ref: The parent.
    ///   - child: The index of the child.
    ///   - newChild: The ref of the changed child.
    ///   - delta: How many elements the child has more than before; -1 after a removal.
    ///   - childIsGeneral: Whether the child has offsets.
    ///   - level: How many levels above the leaves the parent is.
    /// - Returns: The changed parent.
    func adjust(
        _ ref: Ref, _ child: Int, _ newChild: Ref, by delta: Int, childIsGeneral: Bool, level: Int
    ) throws(StorageError) -> Grown {
        let view = try inner(ref)
        if view.isCompact, !canStayCompact(view, child, by: delta, childIsGeneral, level) {
            var branch = try BPlusBranch(dissolving: ref, writes)
            branch.mayBeCompact = false
            branch.children[child].ref = newChild
            branch.children[child].count &+= delta
            let new = try branch.make(writes, childCapacity: capacity(ofLevel: level - 1))
            return Grown(ref: new, isGeneral: true, added: delta)
        }
        let isGeneral = !view.isCompact
        let total = view.total &+ delta
        var node = try writes.writable(ref)
        if node.ref(child + 1) != newChild { try node.set(child + 1, newChild) }
        try node.set(node.count - 1, tagged: UInt64(clamping: total))
        if isGeneral, child < node.count - 3 {
            var offsets = try writes.writable(node.ref(0))
            try offsets.add(Int64(delta), to: child..<offsets.count, .unsigned)
            if offsets.ref != node.ref(0) { try node.set(0, offsets.ref) }
        }
        return Grown(ref: node.ref, isGeneral: isGeneral, added: delta)
    }

    /// Returns whether a node without offsets may stay so when a child changes its size: only the
    /// last child may, and only up to the size of a full one.
    private func canStayCompact(
        _ view: BPlusInnerNode, _ child: Int, by delta: Int, _ childIsGeneral: Bool, _ level: Int
    ) -> Bool {
        guard !childIsGeneral, child == view.childCount - 1, let old = view.promisedCount(child) else { return false }
        let size = capacity(ofLevel: level - 1)
        return old &+ delta <= size && view.startOfChild(child) == child &* size && view.states(childSize: size)
    }

    /// Adds a node that was split off from child `child` to their parent, which is itself split when it is full.
    private func adopt(
        _ sibling: Grown.Sibling, _ grown: Grown, _ child: Int, in ref: Ref, level: Int
    ) throws(StorageError) -> Grown {
        var branch = try BPlusBranch(dissolving: ref, writes)
        branch.mayBeCompact = branch.mayBeCompact && !grown.isGeneral && !sibling.isGeneral
        branch.children[child] = BPlusBranch.Child(ref: grown.ref, count: sibling.headCount)
        let new = BPlusBranch.Child(ref: sibling.ref, count: sibling.count)
        let childCapacity = capacity(ofLevel: level - 1)
        guard branch.children.count >= fanOut else {
            branch.children.insert(new, at: child + 1)
            let isGeneral = !branch.isCompact(childCapacity)
            return Grown(ref: try branch.make(writes, childCapacity: childCapacity), isGeneral: isGeneral, added: grown.added)
        }
        var tail = branch
        if child == branch.children.count - 1 {
            tail.children = [new]
        } else {
            tail.children = Array(branch.children[(child + 1)...])
            branch.children[(child + 1)...] = [new]
        }
        let split = Grown.Sibling(
            ref: try tail.make(writes, childCapacity: childCapacity), isGeneral: !tail.isCompact(childCapacity),
            headCount: branch.count, count: tail.count)
        return Grown(
            ref: try branch.make(writes, childCapacity: childCapacity), isGeneral: !branch.isCompact(childCapacity),
            added: grown.added, sibling: split)
    }
}

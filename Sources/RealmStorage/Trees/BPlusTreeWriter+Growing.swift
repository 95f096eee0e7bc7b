// SPDX-License-Identifier: Apache-2.0

/// Insertion: down to a leaf, and back up with what split off.
extension BPlusTreeWriter {
    /// A node after insertion, and the node that split off to its right.
    struct Grown {
        /// The node after insertion.
        var ref: Ref
        /// Whether it has offsets, so that its parent needs some too.
        var isGeneral: Bool
        /// How many of the values were taken.
        var added: Int
        /// What did not fit and is now to the right of the node.
        var sibling: Sibling?

        /// A node that was split off.
        struct Sibling {
            /// The node to the right.
            let ref: Ref
            /// Whether it has offsets.
            let isGeneral: Bool
            /// Elements that stay on the left.
            let headCount: Int
            /// Elements on the right.
            let count: Int
        }
    }

    /// Inserts the first of `values`; more of them, up to the end of a leaf, where `index` is the end of the tree.
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

    /// Inserts into the subtree at `ref`, which is `level` levels above the leaves.
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

    /// Inserts into a leaf, which is split when it is full.
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

    /// Inserts up to `limit` values one after the other.
    private func fill(
        _ leaf: Ref, with values: ArraySlice<Value>, at row: Int, limit: Int
    ) throws(StorageError) -> (leaf: Ref, taken: Int) {
        var leaf = leaf
        var row = row
        let taken = values.prefix(limit)
        for value in taken {
            leaf = try leaves.insert(value, at: row, in: leaf)
            row += 1
        }
        return (leaf, taken.count)
    }

    /// Enters a changed child, `delta` elements larger, into its parent.
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

    /// Only the last child of a compact node may change its size, and then up to that of a full node.
    private func canStayCompact(
        _ view: BPlusInnerNode, _ child: Int, by delta: Int, _ childIsGeneral: Bool, _ level: Int
    ) -> Bool {
        guard !childIsGeneral, child == view.childCount - 1, let old = view.promisedCount(child) else { return false }
        let size = capacity(ofLevel: level - 1)
        return old &+ delta <= size && view.startOfChild(child) == child &* size && view.states(childSize: size)
    }

    /// Enters a child that was split, and splits this node when it is full.
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

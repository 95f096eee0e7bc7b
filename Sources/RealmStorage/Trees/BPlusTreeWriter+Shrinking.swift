// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Removal from B+ trees: down to a leaf, and back up, joining nodes that became small.
extension BPlusTreeWriter {
    /// The result of a removal from a subtree.
    private struct Shrunk {
        /// The root of the subtree after the removal.
        var ref: Ref
        /// Whether the node has offsets, so that its parent needs some too.
        var isGeneral: Bool
        /// How many elements are left below the node; with none left `ref` is an empty leaf, whatever the level.
        var count: Int
    }

    /// Removes element `index` and returns the new root. The caller has removed the flag of the root before.
    func eraseElement(_ index: Int, in root: Ref) throws(StorageError) -> Ref {
        try collapsed(try erase(index, in: root, level: try height(root)).ref)
    }

    /// Removes an element from the subtree at `ref`, which is `level` levels above the leaves.
    private func erase(_ index: Int, in ref: Ref, level: Int) throws(StorageError) -> Shrunk {
        guard level > 0 else {
            let count = try leafCount(ref, row: index)
            try dropNested(ref, index)
            return Shrunk(ref: try leaves.erase(index, in: ref), isGeneral: false, count: count - 1)
        }
        let inner = try inner(ref)
        let place = inner.child(containing: index)
        let shrunk = try erase(index - place.start, in: try inner.ref(place.index), level: level - 1)
        let isTooSmall = shrunk.count == 0 ? true : try mayMerge(shrunk.ref, inner, place.index, level: level - 1)
        if isTooSmall { return try restructure(ref, place.index, shrunk, level: level) }
        let total = inner.total
        let changed = try adjust(
            ref, place.index, shrunk.ref, by: -1, childIsGeneral: shrunk.isGeneral, level: level)
        return Shrunk(ref: changed.ref, isGeneral: changed.isGeneral, count: total - 1)
    }

    /// Returns the number of elements of a leaf, or of children of an inner node.
    private func size(_ ref: Ref, level: Int) throws(StorageError) -> Int {
        level == 0 ? try leafCount(ref, row: 0, isEnd: true) : try inner(ref).childCount
    }

    /// Returns whether a child should be joined with the next one: it is less than half full, and
    /// both together fill less than three quarters of a node.
    private func mayMerge(_ child: Ref, _ parent: BPlusInnerNode, _ index: Int, level: Int) throws(StorageError) -> Bool {
        guard index + 1 < parent.childCount else { return false }
        let capacity = level == 0 ? leafCapacity : fanOut
        let own = try size(child, level: level)
        guard own < capacity / 2 else { return false }
        return own + (try size(try parent.ref(index + 1), level: level)) < capacity / 4 * 3 + capacity % 4
    }

    /// Removes a child that became empty, or joins it with the next one, and writes their parent again.
    private func restructure(_ ref: Ref, _ child: Int, _ shrunk: Shrunk, level: Int) throws(StorageError) -> Shrunk {
        var branch = try BPlusBranch(dissolving: ref, writes)
        branch.children[child] = BPlusBranch.Child(ref: shrunk.ref, count: shrunk.count)
        branch.mayBeCompact = branch.mayBeCompact && !shrunk.isGeneral
        if shrunk.count > 0 {
            try merge(&branch, child, level: level - 1)
        } else if branch.children.count == 1 {
            return Shrunk(ref: shrunk.ref, isGeneral: false, count: 0)
        } else {
            try writes.discardTree(shrunk.ref)
            branch.children.remove(at: child)
        }
        let childCapacity = capacity(ofLevel: level - 1)
        return Shrunk(
            ref: try branch.make(writes, childCapacity: childCapacity), isGeneral: !branch.isCompact(childCapacity),
            count: branch.count)
    }

    /// Joins a child with the next one; the joined inner nodes get offsets.
    private func merge(_ branch: inout BPlusBranch, _ child: Int, level: Int) throws(StorageError) {
        let next = branch.children.remove(at: child + 1)
        branch.children[child].count &+= next.count
        guard level > 0 else {
            branch.children[child].ref = try leaves.join(branch.children[child].ref, with: next.ref)
            return
        }
        var joined = try BPlusBranch(dissolving: branch.children[child].ref, writes)
        joined.children += try BPlusBranch(dissolving: next.ref, writes).children
        joined.mayBeCompact = false
        branch.mayBeCompact = false
        branch.children[child].ref = try joined.make(writes, childCapacity: capacity(ofLevel: level - 1))
    }

    /// Replaces a root with one child by that child, as often as needed, and returns the new root.
    private func collapsed(_ root: Ref) throws(StorageError) -> Ref {
        var root = root
        // The number of steps is limited, as damaged nodes may refer to each other in a circle.
        for _ in 0..<(try height(root)) {
            guard try inner(root).childCount == 1 else { return root }
            guard let child = try BPlusBranch(dissolving: root, writes).children.first else { return root }
            root = child.ref
        }
        return root
    }
}

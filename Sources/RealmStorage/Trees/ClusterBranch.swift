// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// An inner node of a cluster tree, taken apart so that children can be added and removed.
///
/// It is used for changes of structure only: a change of one object edits inner nodes where they
/// are. Taking a node apart gives it up, so the result of `make` must be stored in its place.
struct ClusterBranch {
    /// A child with the offset of its keys.
    struct Child {
        /// The root of the child.
        var ref: Ref
        /// The offset of the child's keys, relative to that of this node; 0 for the first child.
        var offset: UInt64
    }

    /// The children of the node, in the order of their keys.
    var children: [Child]
    /// The height above the leaves; 1 directly above them.
    let depth: Int
    /// How many objects are below this node. The caller corrects it when it changes the children.
    var objectCount: Int
    /// Whether the node may be written without offsets, provided that they follow from the position.
    private let mayBeCompact: Bool

    /// Makes a node of these children in memory; `make` writes it.
    init(children: [Child], depth: Int, objectCount: Int) {
        self.children = children
        self.depth = depth
        self.objectCount = objectCount
        mayBeCompact = true
    }

    /// Takes the node at `ref` apart, and discards the node and its list of offsets.
    ///
    /// - Parameters:
    ///   - ref: The node.
    ///   - writes: The nodes of the transaction.
    ///   - shift: log2 of the capacity of leaves, from which implied offsets follow.
    /// - Throws: `.corrupt` when it is not an inner node, or its offsets do not ascend.
    init(dissolving ref: Ref, _ writes: WriteSpace, shift: Int) throws(StorageError) {
        let node = try writes.node(at: ref)
        let inner = try ClusterTree.InnerNode(node, writes.space, shift, offset: 0, parentDepth: nil)
        try inner.validateOffsets()
        depth = inner.depth
        objectCount = inner.objectCount
        children = []
        children.reserveCapacity(inner.childCount + 1)
        for index in 0..<inner.childCount {
            children.append(Child(ref: try inner.ref(index), offset: inner.offset(of: index)))
        }
        let offsets = try node.optionalRef(0, "cluster offsets")
        mayBeCompact = offsets.isNone
        if !offsets.isNone { try writes.discard(offsets) }
        writes.discard(node)
    }

    /// Splits off the children from `index` on into a second node.
    ///
    /// - Parameters:
    ///   - index: The first child that moves.
    ///   - count: Returns the number of objects below a child.
    /// - Returns: The second node, and the offset of its keys relative to this one's.
    mutating func split(
        at index: Int, count: (Ref) throws(StorageError) -> Int
    ) throws(StorageError) -> (offset: UInt64, tail: ClusterBranch) {
        let start = children[index].offset
        var tail = ClusterBranch(children: Array(children[index...]), depth: depth, objectCount: 0)
        for child in tail.children.indices {
            tail.children[child].offset &-= start
            tail.objectCount &+= try count(tail.children[child].ref)
        }
        children.removeSubrange(index...)
        objectCount &-= tail.objectCount
        return (start, tail)
    }

    /// Writes the node, with offsets only where they do not follow from the positions of the children.
    ///
    /// - Returns: The ref of the new node.
    func make(_ writes: WriteSpace, shift: Int) throws(StorageError) -> Ref {
        var node = try writes.makeNode(.inner, widthCode: 6, count: children.count + 3, capacity: children.count * 8 + 64)
        let isCompact =
            mayBeCompact
            && children.indices.allSatisfy {
                children[$0].offset == UInt64($0) << UInt64(shift * depth)
            }
        if !isCompact {
            let offsets = children.map { Int64(bitPattern: $0.offset) }
            try node.set(0, try writes.makeIntegers(offsets, .integers, .unsigned).ref)
        }
        try node.set(1, tagged: UInt64(clamping: depth))
        try node.set(2, tagged: UInt64(clamping: objectCount))
        for (index, child) in children.enumerated() { try node.set(index + 3, child.ref) }
        return node.ref
    }
}

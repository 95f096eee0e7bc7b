// SPDX-License-Identifier: Apache-2.0

/// The objects of a table, ordered by object key as unsigned numbers.
///
/// A root without the inner flag is the only leaf. Slots of an inner node: 0 is nothing (child i has offset
/// `i << (shift * depth)`) or a ref to the children's offsets, 1 the depth, 2 the number of objects, 3 + i the children.
/// Source: docs/format.md, "Cluster trees".
package struct ClusterTree: Sendable {
    /// More levels than any table needs: four are enough for 2^32 objects.
    static let maximumDepth = 8
    /// More than any file has room for, and far from where sums of counts overflow.
    static let maximumCount = 1 << 48

    /// The root of the tree; `Ref.none` for an empty one.
    package let root: Ref
    /// The space that the nodes are read in.
    package let space: NodeSpace
    /// log2 of the writer's leaf size: 8 for every released SDK.
    package let shift: Int

    /// A tree by its root; no node is read yet.
    package init(root: Ref, space: NodeSpace, shift: Int = 8) {
        self.root = root
        self.space = space
        self.shift = shift
    }

    /// The number of objects, as the root says.
    package func count() throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        let node = try space.node(at: root)
        return node.isInner
            ? try InnerNode(node, space, shift, offset: 0, parentDepth: nil).objectCount
            : try ClusterLeaf(node, space, offset: 0).count
    }

    /// The object with `key`, or nil; O(depth).
    ///
    /// Throws `.corrupt` for nodes on the way that cannot be read.
    package func find(_ key: ObjectKey) throws(StorageError) -> Row? {
        guard let leaf = try leaf(for: key), let row = leaf.row(of: key) else { return nil }
        return Row(leaf: leaf, index: row)
    }

    /// The leaf in which `key` would be; nil in an empty tree.
    package func leaf(for key: ObjectKey) throws(StorageError) -> ClusterLeaf? {
        guard !root.isNone else { return nil }
        var node = try space.node(at: root)
        var offset: UInt64 = 0
        var depth: Int?
        while node.isInner {
            let inner = try InnerNode(node, space, shift, offset: offset, parentDepth: depth)
            let child = inner.child(for: UInt64(bitPattern: key.rawValue) &- offset)
            offset = inner.offset(of: child)
            depth = inner.depth
            node = try space.node(at: try inner.ref(child))
        }
        try ClusterTree.requireLeafDepth(depth, node)
        return try ClusterLeaf(node, space, offset: offset)
    }

    /// The object at `position` in key order, or nil past the end; O(depth * children).
    ///
    /// Used for pages by number. Walking from a key is cheaper for pages that follow one another.
    package func row(at position: Int) throws(StorageError) -> Row? {
        guard !root.isNone, position >= 0 else { return nil }
        var node = try space.node(at: root)
        var offset: UInt64 = 0
        var depth: Int?
        var remaining = position
        while node.isInner {
            let inner = try InnerNode(node, space, shift, offset: offset, parentDepth: depth)
            guard let child = try inner.child(atPosition: &remaining) else { return nil }
            offset = inner.offset(of: child)
            depth = inner.depth
            node = try space.node(at: try inner.ref(child))
        }
        let leaf = try ClusterLeaf(node, space, offset: offset)
        return remaining < leaf.count ? Row(leaf: leaf, index: remaining) : nil
    }

    /// All leaves in key order, or those from the one in which `key` would be. `hints` tell what will be read.
    package func leaves(from key: ObjectKey? = nil, hints: LeafHints = .none) -> ClusterCursor {
        ClusterCursor(self, from: key, hints: hints)
    }

    /// Throws `.corrupt` for a leaf where the depth of its parent promises an inner node.
    static func requireLeafDepth(_ parentDepth: Int?, _ node: Node) throws(StorageError) {
        guard parentDepth == nil || parentDepth == 1 else {
            throw node.corrupt("a cluster leaf where depth \(parentDepth ?? 0) promises an inner node")
        }
    }

    /// An inner node, checked, with the absolute offset of its keys.
    struct InnerNode: Sendable {
        /// The node that this reads.
        private let node: Node
        /// The space that children are read in.
        private let space: NodeSpace
        /// log2 of the writer's leaf size.
        private let shift: Int
        /// Added to the keys of all children, modulo 2^64.
        let offset: UInt64
        /// The height above the leaves; 1 right above them.
        let depth: Int
        /// How many objects are below, as the node says.
        let objectCount: Int
        /// How many children there are.
        let childCount: Int
        /// The offsets of the children; nil where they follow from the positions.
        private let offsets: PackedOffsets?

        /// Checks the shape of an inner node, its depth and its offsets. Throws `.corrupt`.
        init(
            _ node: Node, _ space: NodeSpace, _ shift: Int, offset: UInt64, parentDepth: Int?
        ) throws(StorageError) {
            guard node.count >= 4, node.count <= 3 + ClusterLeaf.maximumCount else {
                throw node.corrupt("an inner cluster node of \(node.count) slots")
            }
            self.node = node
            self.space = space
            self.shift = shift
            self.offset = offset
            childCount = node.count - 3
            depth = Int(clamping: try node.number(1, "cluster depth"))
            objectCount = Int(clamping: try node.number(2, "cluster size"))
            guard objectCount <= ClusterTree.maximumCount else { throw node.corrupt("a cluster tree of \(objectCount) objects") }
            guard (1...ClusterTree.maximumDepth).contains(depth), parentDepth == nil || parentDepth == depth + 1 else {
                throw node.corrupt("an inner cluster node of depth \(depth) below one of depth \(parentDepth ?? 0)")
            }
            let list = try node.optionalRef(0, "cluster offsets")
            offsets = list.isNone ? nil : try PackedOffsets(try space.node(at: list))
            guard let offsets else { return }
            guard offsets.count == childCount, offsets[0] == 0 else {
                throw node.corrupt("\(offsets.count) offsets for \(childCount) children")
            }
        }

        /// The ref of a child. Throws `.corrupt` when the slot holds none.
        func ref(_ child: Int) throws(StorageError) -> Ref { try node.requiredRef(3 + child, "cluster child") }

        /// The absolute offset of a child's keys.
        func offset(of child: Int) -> UInt64 { offset &+ (offsets?[child] ?? UInt64(child) << UInt64(shift * depth)) }

        /// The last child whose offset is not above `relativeKey`.
        func child(for relativeKey: UInt64) -> Int {
            guard let offsets else {
                return Int(min(relativeKey >> UInt64(shift * depth), UInt64(childCount - 1)))
            }
            return max(offsets.upperBound(relativeKey) - 1, 0)
        }

        /// The child that holds the `position`-th object, from which the objects before that child are taken off.
        func child(atPosition position: inout Int) throws(StorageError) -> Int? {
            for child in 0..<childCount {
                let count = try ClusterTree(root: try ref(child), space: space, shift: shift).count()
                if position < count { return child }
                position -= count
            }
            return nil
        }

        /// Throws `.corrupt` unless the offsets of the children ascend.
        func validateOffsets() throws(StorageError) { try offsets?.requireAscending("cluster offsets") }

        /// An error that names this node.
        func corrupt(_ reason: String) -> StorageError { node.corrupt(reason) }
    }
}

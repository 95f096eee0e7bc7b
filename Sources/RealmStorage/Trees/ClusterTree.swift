// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The objects of a table, ordered by object key as unsigned numbers.
///
/// A root without the inner flag is the only leaf. Slots of an inner node: 0 is nothing (child i has offset `i << (shift *
/// depth)`) or a ref to the children's offsets, 1 the depth, 2 the number of objects, 3 + i the children. A value of this type
/// reads nodes on demand and borrows from its snapshot. Source: docs/format.md, "Cluster trees".
package struct ClusterTree: Sendable {
    /// The greatest number of inner levels that is accepted. No table needs as many: four are enough for 2^32 objects.
    static let maximumDepth = 8
    /// The greatest number of objects that is accepted: more than any file has room for, and far
    /// from where sums of counts overflow.
    static let maximumCount = 1 << 48

    /// The root of the tree; `Ref.none` for an empty one.
    package let root: Ref
    package let space: NodeSpace
    /// log2 of the writer's leaf size: 8 for every released SDK.
    package let shift: Int

    /// Makes a tree from its root; no node is read yet.
    ///
    /// - Parameters:
    ///   - root: The root, or `Ref.none` for an empty tree.
    ///   - shift: log2 of the capacity of leaves; smaller values than 8 are for tests.
    package init(root: Ref, space: NodeSpace, shift: Int = 8) {
        self.root = root
        self.space = space
        self.shift = shift
    }

    /// Returns the number of objects, as the root states it.
    package func count() throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        let node = try space.node(at: root)
        return node.isInner
            ? try InnerNode(node, space, shift, offset: 0, parentDepth: nil).objectCount
            : try ClusterLeaf(node, space, offset: 0).count
    }

    /// Returns the place of the object with `key`, or nil when the table does not have it.
    ///
    /// - Throws: `.corrupt` for nodes on the way that cannot be read.
    /// - Complexity: O(depth).
    package func find(_ key: ObjectKey) throws(StorageError) -> Row? {
        guard let leaf = try leaf(for: key), let row = leaf.row(of: key) else { return nil }
        return Row(leaf: leaf, index: row)
    }

    /// Returns the leaf in which the object with `key` would be; nil in an empty tree.
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

    /// Returns the place of the object at `position` in key order, or nil past the end.
    ///
    /// Pages by number use it. For pages that follow one another, walking on from a key is cheaper.
    ///
    /// - Complexity: O(depth * children).
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

    /// Returns a cursor over all leaves in key order, or over those from the one in which `key` would be.
    ///
    /// - Parameters:
    ///   - key: The key to begin at; nil for the first leaf.
    ///   - hints: The columns that will be read, whose memory is requested in advance.
    package func leaves(from key: ObjectKey? = nil, hints: LeafPrefetch = .none) -> ClusterCursor {
        ClusterCursor(self, from: key, hints: hints)
    }

    /// Checks that the parent of a leaf has depth 1, and throws `.corrupt` otherwise.
    ///
    /// - Parameter parentDepth: The depth of the parent; nil for a root.
    static func requireLeafDepth(_ parentDepth: Int?, _ node: Node) throws(StorageError) {
        guard parentDepth == nil || parentDepth == 1 else {
            throw node.corrupt("a cluster leaf where depth \(parentDepth ?? 0) promises an inner node")
        }
    }

    /// An inner node of a cluster tree, checked, with the absolute offset of its keys.
    struct InnerNode: Sendable {
        /// The slot of the first child.
        static let firstChild = 3

        /// The node that is viewed.
        let node: Node
        /// The space that children are read in.
        private let space: NodeSpace
        /// log2 of the capacity of leaves, from which the offsets of children follow.
        let shift: Int
        /// The number that is added to the keys of all children, modulo 2^64.
        let offset: UInt64
        /// The height above the leaves; 1 directly above them.
        let depth: Int
        /// How many objects are below the node, as it states.
        let objectCount: Int
        /// How many children the node has.
        let childCount: Int
        /// The offsets of the children; nil where they follow from the positions.
        let offsets: PackedOffsets?

        /// Attaches an inner node and checks its number of slots, its depth and its size.
        ///
        /// - Parameters:
        ///   - node: The node, which has the inner flag.
        ///   - space: The space that its refs point into.
        ///   - shift: log2 of the capacity of leaves, from which implied offsets follow.
        ///   - offset: The offset of its keys.
        ///   - parentDepth: The depth of the node above; nil for the root or where it is not known.
        /// - Throws: `.corrupt` for another shape, or a depth that does not follow from the
        ///   parent's.
        @inline(__always)
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
            childCount = node.count - InnerNode.firstChild
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

        /// Returns the ref of a child; throws `.corrupt` when the slot holds none.
        @inline(__always) func ref(_ child: Int) throws(StorageError) -> Ref {
            try node.requiredRef(InnerNode.firstChild + child, "cluster child")
        }

        /// Returns the absolute offset of a child's keys.
        @inline(__always) func offset(of child: Int) -> UInt64 {
            offset &+ (offsets?[child] ?? UInt64(child) << UInt64(shift * depth))
        }

        /// Returns the index of the last child whose offset is not above `relativeKey`, the only one that can have the key.
        @inline(__always) func child(for relativeKey: UInt64) -> Int {
            guard let offsets else {
                return Int(min(relativeKey >> UInt64(shift * depth), UInt64(childCount - 1)))
            }
            return max(offsets.upperBound(relativeKey) - 1, 0)
        }

        /// Returns the index of the child that holds the object at `position` below this node; nil past the end.
        ///
        /// - Parameter position: The position, from which the objects before that child are
        ///   subtracted.
        func child(atPosition position: inout Int) throws(StorageError) -> Int? {
            if position < objectCount, objectCount == childCount << (shift * depth) {
                // All children are full, as they are where objects were only ever added.
                let child = position >> (shift * depth)
                position -= child << (shift * depth)
                return child
            }
            for child in 0..<childCount {
                // All children before that one are read, and lie apart.
                if child + 8 < childCount, !space.isEncrypted { space.prefetch(try ref(child + 8), byteCount: 16) }
                let count = try objectCount(of: child)
                if position < count { return child }
                position -= count
            }
            return nil
        }

        /// Returns how many objects are below a child, as it states.
        private func objectCount(of child: Int) throws(StorageError) -> Int {
            let node = try space.node(at: try ref(child))
            if !node.isInner {
                let keys = try node.rawSlot(0)
                if keys & 1 == 1, keys >> 1 <= UInt64(ClusterLeaf.maximumCount) { return Int(keys >> 1) }
            }
            return try ClusterTree(root: node.ref, space: space, shift: shift).count()
        }

        /// Checks that the offsets of the children ascend, and throws `.corrupt` otherwise.
        func validateOffsets() throws(StorageError) { try offsets?.requireAscending("cluster offsets") }

        /// Makes a `.corrupt` error that names this node.
        func corrupt(_ reason: String) -> StorageError { node.corrupt(reason) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The leaves below one inner node of a cluster tree, in their order, for a cursor that goes from one to the next.
///
/// A scan spends more time on the way to its leaves than in them, so the way is short here: facts shared by all leaves of the
/// node are kept, and nothing is counted, thrown or copied without need. A leaf with anything to report is not returned; the
/// cursor then examines it again, and finds the same.
struct LeafRun: Sendable {
    /// The space that the leaves are read in.
    private let space: NodeSpace
    /// The columns whose memory is requested in advance.
    private var hints: LeafPrefetch
    /// The slots of the inner node; nil while there is none.
    private var slots: PackedIntegers?
    /// The offsets of the leaves; nil where they follow from the positions.
    private var offsets: PackedOffsets?
    /// The offset of the inner node.
    private var offset: UInt64 = 0
    /// The offset below which all keys of the last leaf lie; nil at the right edge of the tree.
    private var end: UInt64?
    /// log2 of the capacity of leaves, from which implied offsets follow.
    private var shift = 0
    /// How many leaves there are below the node.
    private var leafCount = 0
    /// The index of the leaf that is visited next.
    private(set) var next = 0
    /// How many objects were in the leaves that were visited.
    private(set) var objectsSeen = 0
    /// How many nodes may still be visited before the tree counts as damaged.
    private(set) var budget = 0

    /// Whether the run is that of an inner node.
    var isOpen: Bool { slots != nil }

    /// Makes a run without leaves.
    init(_ space: NodeSpace, _ hints: LeafPrefetch) {
        self.space = space
        self.hints = hints
    }

    /// Begins with the leaves below a node.
    ///
    /// - Parameters:
    ///   - inner: The node, whose depth is 1.
    ///   - first: The index of the first leaf to visit.
    ///   - end: The offset below which its keys lie; nil at the right edge of the tree.
    ///   - budget: How many nodes may still be visited.
    mutating func open(_ inner: ClusterTree.InnerNode, from first: Int, end: UInt64?, budget: Int) throws(StorageError) {
        slots = try inner.node.integers()
        offsets = inner.offsets
        offset = inner.offset
        shift = inner.shift
        leafCount = inner.childCount
        self.end = end
        self.budget = budget
        next = first
        objectsSeen = 0
        hints.restart()
    }

    /// Ends the run.
    mutating func close() {
        slots = nil
        leafCount = 0
        next = 0
    }

    /// Returns the next leaf; nil at the end, and for a leaf that is damaged or the first of too many.
    @inline(__always)
    mutating func nextLeaf() -> ClusterLeaf? {
        guard next < leafCount, budget > 0, let slots else { return nil }
        hints.prepare(behind: next, of: slots, space)
        let raw = UInt64(bitPattern: slots[next &+ ClusterTree.InnerNode.firstChild])
        guard raw & 1 == 0, let node = try? space.node(at: Ref(raw)), !node.isInner else { return nil }
        let offset = offset(of: next)
        if let leaf = ClusterLeaf(plain: node, space, offset: offset), isInside(offset &+ UInt64(leaf.count), leaf) {
            count(leaf.count)
            return leaf
        }
        return otherLeaf(node, offset)
    }

    /// Returns the next leaf, which has keys of its own; nil for one that is damaged.
    @inline(never)
    private mutating func otherLeaf(_ node: Node, _ offset: UInt64) -> ClusterLeaf? {
        guard let leaf = try? ClusterLeaf(node, space, offset: offset), (try? leaf.validateKeys()) != nil,
            leaf.count == 0 || isInside(UInt64(bitPattern: leaf.key(at: leaf.count &- 1).rawValue) &+ 1, leaf)
        else { return nil }
        count(leaf.count)
        return leaf
    }

    /// Counts a leaf that is returned.
    @inline(__always)
    private mutating func count(_ objectCount: Int) {
        next &+= 1
        budget &-= 1
        objectsSeen &+= objectCount
    }

    /// Returns the offset of the keys of a leaf.
    @inline(__always)
    private func offset(of child: Int) -> UInt64 {
        offset &+ (offsets?[child] ?? UInt64(truncatingIfNeeded: child) &<< UInt64(truncatingIfNeeded: shift))
    }

    /// Whether the keys of the next leaf lie in its range.
    ///
    /// - Parameters:
    ///   - keyEnd: The number after its last key, or its offset when it is empty.
    @inline(__always)
    private func isInside(_ keyEnd: UInt64, _ leaf: ClusterLeaf) -> Bool {
        guard let end = next &+ 1 < leafCount ? offset(of: next &+ 1) : end else { return true }
        return keyEnd <= end && keyEnd >= leaf.offset
    }
}

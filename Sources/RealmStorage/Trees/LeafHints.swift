// SPDX-License-Identifier: Apache-2.0

internal import CProcessor

/// The columns that a walk over leaves is going to read, so that their memory can be asked for a few leaves ahead.
///
/// The nodes of a leaf lie anywhere in the file, and without hints each is waited for: first the leaf's, then the
/// column's, then those that a column of texts refers to. Hints change no result and report no damage.
package struct LeafHints: Sendable {
    /// How many columns are looked ahead for at most.
    private static let maximumColumns = 4

    /// Positions of the columns' refs in a leaf.
    private var slots: SIMD4<UInt32> = .zero
    /// How many columns there are hints for.
    private var count = 0

    /// No hints: nothing is asked for ahead.
    package static let none = LeafHints(leafIndexes: [])

    /// Columns beyond the first few are left out.
    package init(leafIndexes: [Int]) {
        for leafIndex in leafIndexes.prefix(LeafHints.maximumColumns) {
            slots[count] = UInt32(truncatingIfNeeded: leafIndex + 1)
            count += 1
        }
    }

    /// Leaf `child` of `parent` is about to be read: prepares those after it.
    @inline(__always)
    func prepare(behind child: Int, of parent: ClusterTree.InnerNode, _ space: NodeSpace) {
        guard count > 0, !space.isEncrypted, child + 1 < parent.childCount else { return }
        if let ref = try? parent.ref(Swift.min(child + 4, parent.childCount - 1)) { space.prefetch(ref, byteCount: 80) }
        guard let current = leaf(child, of: parent, space) else { return }
        let next = leaf(child + 1, of: parent, space)
        let second = child + 2 < parent.childCount ? leaf(child + 2, of: parent, space) : nil
        for index in 0..<count {
            let slot = Int(slots[index])
            // What the column takes in this leaf is what it will take in the others, more or less.
            let expected = column(slot, of: current, space)?.byteCount ?? 64
            if let second, let ref = LeafHints.ref(slot, of: second) { space.prefetch(ref, byteCount: expected) }
            if let next, let node = column(slot, of: next, space) { prepareParts(of: node, space) }
        }
    }

    /// Texts and dates have their values in nodes below that of the column.
    @inline(__always)
    private func prepareParts(of node: Node, _ space: NodeSpace) {
        guard node.hasRefs, !node.hasContext, node.count <= 3 else { return }
        for slot in 0..<node.count {
            if let ref = LeafHints.ref(slot, of: node) { space.prefetch(ref, byteCount: 448) }
        }
    }

    /// A leaf that will be read; nil where it cannot be found, which is left to the walk to report.
    @inline(__always)
    private func leaf(_ child: Int, of parent: ClusterTree.InnerNode, _ space: NodeSpace) -> Node? {
        guard let ref = try? parent.ref(child) else { return nil }
        return try? space.node(at: ref)
    }

    /// The node of a column; nil where it cannot be found.
    @inline(__always)
    private func column(_ slot: Int, of leaf: Node, _ space: NodeSpace) -> Node? {
        guard let ref = LeafHints.ref(slot, of: leaf) else { return nil }
        return try? space.node(at: ref)
    }

    /// The ref in a slot; nil where there is none.
    @inline(__always)
    private static func ref(_ slot: Int, of node: Node) -> Ref? {
        guard case .ref(let ref)? = try? node.slot(slot) else { return nil }
        return ref
    }
}

/// Asking the processor for memory ahead of its use.
extension NodeSpace {
    /// Memory of an encrypted file is read only after its pages were decrypted.
    var isEncrypted: Bool { unsafe pages != nil }

    /// Asks for the cache lines of up to 4 KiB from `ref` on, as far as they lie in the file.
    @inline(__always)
    func prefetch(_ ref: Ref, byteCount: Int) {
        guard ref.rawValue < limit else { return }
        let end = Swift.min(ref.rawValue &+ UInt64(Swift.min(byteCount, 4096)), limit)
        var offset = ref.rawValue
        while offset < end {
            // In bounds by the condition of the loop, not that it mattered.
            unsafe realm_rest_prefetch(base + Int(offset))
            offset &+= 64
        }
    }
}

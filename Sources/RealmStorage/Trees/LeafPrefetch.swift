// SPDX-License-Identifier: Apache-2.0

internal import CProcessor

/// The columns that a walk over leaves is going to read, so that their memory can be requested a
/// few leaves in advance.
///
/// The nodes of a leaf lie anywhere in the file, and without hints the processor waits for each of
/// them: first for the leaf, then for the column, then for the nodes that a column of texts refers
/// to. Hints change no result and report no damage.
package struct LeafPrefetch: Sendable {
    /// The greatest number of columns that are considered; further ones are ignored.
    private static let maximumColumns = 4

    /// The slots of the columns in a cluster leaf.
    private var slots: SIMD4<UInt32> = .zero
    /// How many of `slots` are in use.
    private var count = 0

    /// The number of bytes from the start of a leaf to its refs of these columns.
    private var leafByteCount = 16

    /// No hints: no memory is requested in advance.
    package static let none = LeafPrefetch(leafIndexes: [])

    /// Makes hints for the columns with these leaf indexes; those beyond the first four are left
    /// out.
    package init(leafIndexes: [Int]) {
        for leafIndex in leafIndexes.prefix(LeafPrefetch.maximumColumns) {
            slots[count] = UInt32(truncatingIfNeeded: leafIndex + 1)
            leafByteCount = Swift.max(leafByteCount, 8 * (leafIndex + 3))
            count += 1
        }
    }

    /// Requests the memory of the leaves after leaf `child` of `parent`, which is about to be read.
    ///
    /// It does nothing in an encrypted file, where pages are decrypted before they are read.
    @inline(__always)
    func prepare(behind child: Int, of parent: ClusterTree.InnerNode, _ space: NodeSpace) {
        guard count > 0, !space.isEncrypted, child + 1 < parent.childCount else { return }
        if let ref = try? parent.ref(Swift.min(child + 4, parent.childCount - 1)) {
            space.prefetch(ref, byteCount: leafByteCount)
        }
        guard let current = leaf(child, of: parent, space) else { return }
        let next = leaf(child + 1, of: parent, space)
        let second = child + 2 < parent.childCount ? leaf(child + 2, of: parent, space) : nil
        for index in 0..<count {
            let slot = Int(slots[index])
            // The column has about the same size in neighbouring leaves.
            let expected = column(slot, of: current, space)?.byteCount ?? 64
            if let second, let ref = LeafPrefetch.ref(slot, of: second) { space.prefetch(ref, byteCount: expected) }
            if let next, let node = column(slot, of: next, space) { prepareParts(of: node, space) }
        }
    }

    /// Requests the memory of the nodes below that of a column, in which texts, dates and values of any type have what they are made of.
    @inline(__always)
    private func prepareParts(of node: Node, _ space: NodeSpace) {
        guard node.hasRefs, !node.hasContext, node.count <= MixedEntry.Slot.count else { return }
        for slot in 0..<node.count {
            if let ref = LeafPrefetch.ref(slot, of: node) { space.prefetch(ref, byteCount: 544) }
        }
    }

    /// Returns a leaf that will be read; nil where it cannot be found, which the walk itself will
    /// report.
    @inline(__always)
    private func leaf(_ child: Int, of parent: ClusterTree.InnerNode, _ space: NodeSpace) -> Node? {
        guard let ref = try? parent.ref(child) else { return nil }
        return try? space.node(at: ref)
    }

    /// Returns the node of a column; nil where it cannot be found.
    @inline(__always)
    private func column(_ slot: Int, of leaf: Node, _ space: NodeSpace) -> Node? {
        guard let ref = LeafPrefetch.ref(slot, of: leaf) else { return nil }
        return try? space.node(at: ref)
    }

    /// Returns the ref in a slot; nil where there is none.
    @inline(__always)
    private static func ref(_ slot: Int, of node: Node) -> Ref? {
        guard case .ref(let ref)? = try? node.slot(slot) else { return nil }
        return ref
    }
}

/// Requests to the processor for memory before it is used.
extension NodeSpace {
    /// Whether the file is encrypted; its memory may be read only after its pages were decrypted.
    var isEncrypted: Bool { unsafe pages != nil }

    /// Requests the cache lines of up to 4 KiB from `ref` on, as far as they lie in the file. It
    /// does not wait for them.
    @inline(__always)
    func prefetch(_ ref: Ref, byteCount: Int) {
        guard ref.rawValue < limit else { return }
        let end = Swift.min(ref.rawValue &+ UInt64(Swift.min(byteCount, 4096)), limit)
        // From the start of a line, so that the last one is not left out.
        var offset = ref.rawValue & ~63
        while offset < end {
            // In bounds by the condition of the loop; a prefetch has no effect on other addresses.
            unsafe realm_rest_prefetch(base + Int(offset))
            offset &+= 64
        }
    }
}

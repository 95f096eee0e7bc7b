// SPDX-License-Identifier: Apache-2.0

internal import CProcessor
internal import RealmPlatform

/// The columns that a walk over leaves is going to read, so that their memory can be requested a few leaves in advance.
///
/// The nodes of a leaf lie anywhere in the file, and without hints the processor waits for each of them: first for the leaf,
/// then for the column, then for the nodes that a column of texts refers to. Hints change no result and report no damage.
package struct LeafPrefetch: Sendable {
    /// The maximum number of columns; others are ignored.
    private static let maximumColumns = 4
    /// The greatest number of bytes that is requested of a node.
    fileprivate static let maximumByteCount = 4096

    /// The slots of the columns in a cluster leaf.
    private var slots: SIMD4<UInt32> = .zero
    /// How many of `slots` are in use.
    private var count = 0

    /// The number of bytes from the start of a leaf to its refs of these columns.
    private var leafByteCount = 16

    /// No hints: no memory is requested in advance.
    package static let none = LeafPrefetch(leafIndexes: [])

    /// Makes hints for the columns with these leaf indexes; those beyond the first four are left out.
    package init(leafIndexes: [Int]) {
        for leafIndex in leafIndexes.prefix(LeafPrefetch.maximumColumns) {
            slots[count] = UInt32(truncatingIfNeeded: leafIndex + 1)
            leafByteCount = Swift.max(leafByteCount, 8 * (leafIndex + 3))
            count += 1
        }
    }

    /// The sizes in bytes of the columns, which they have in neighbouring leaves mostly alike.
    private var byteCounts = SIMD4<UInt32>(repeating: 64)
    /// The headers of the nodes that have these sizes.
    private var headers = SIMD4<UInt64>.zero
    /// The nodes of the columns in the next leaf; `Ref.none` where they cannot be found, which the walk itself will report.
    private var refs = SIMD4<UInt64>.zero

    /// Forgets the leaves that come next, because others do.
    mutating func restart() { refs = .zero }

    /// Requests the memory of the leaves after leaf `child` of an inner node, which is about to be read.
    ///
    /// It does nothing in an encrypted file, where pages are decrypted before they are read.
    ///
    /// - Parameters:
    ///   - child: The index of the leaf.
    ///   - nodes: The slots of the inner node.
    ///   - space: The space that the leaves are read in.
    @inline(__always)
    mutating func prepare(behind child: Int, of nodes: PackedIntegers, _ space: NodeSpace) {
        guard count > 0, !space.isEncrypted else { return }
        let slot = child &+ ClusterTree.InnerNode.firstChild
        if slot &+ 4 < nodes.count { space.prefetch(Ref(UInt64(bitPattern: nodes[slot &+ 4])), byteCount: leafByteCount) }
        guard slot &+ 2 < nodes.count, let second = try? space.node(at: Ref(UInt64(bitPattern: nodes[slot &+ 2]))) else {
            return restart()
        }
        for index in 0..<count { prepare(index, second, space) }
    }

    /// Requests the memory of one column of the two leaves that come next: what the node of the column refers to in the first of them, and that
    /// node in the second.
    @inline(__always)
    private mutating func prepare(_ index: Int, _ second: Node, _ space: NodeSpace) {
        if let node = try? space.node(at: Ref(refs[index])) {
            if node.header != headers[index] {
                headers[index] = node.header
                byteCounts[index] = UInt32(truncatingIfNeeded: Swift.min(node.byteCount, LeafPrefetch.maximumByteCount))
            }
            if node.hasRefs { prepareParts(of: node, space) }
        }
        guard let ref = LeafPrefetch.ref(Int(slots[index]), of: second) else {
            refs[index] = 0
            return
        }
        refs[index] = ref.rawValue
        space.prefetch(ref, byteCount: Int(byteCounts[index]))
    }

    /// Requests the memory of the nodes below that of a column, in which texts, dates and values of any type have what they are made of.
    private func prepareParts(of node: Node, _ space: NodeSpace) {
        guard !node.hasContext, node.count <= MixedEntry.Slot.count else { return }
        for slot in 0..<node.count {
            if let ref = LeafPrefetch.ref(slot, of: node) { space.prefetch(ref, byteCount: 544) }
        }
    }

    /// Returns the ref in a slot of a leaf; nil where there is none.
    @inline(__always)
    private static func ref(_ slot: Int, of node: Node) -> Ref? {
        guard let raw = try? node.rawSlot(slot), raw & 1 == 0, raw != 0 else { return nil }
        return Ref(raw)
    }
}

/// Requests to the processor for memory before it is used.
extension NodeSpace {
    /// Whether the file is encrypted; its memory may be read only after its pages were decrypted.
    var isEncrypted: Bool { unsafe pages != nil }

    /// Requests the cache lines of up to 4 KiB from `ref` on, as far as they lie in the file. It does not wait for them.
    @inline(__always)
    func prefetch(_ ref: Ref, byteCount: Int) {
        guard ref.rawValue < limit else { return }
        let end = Swift.min(ref.rawValue &+ UInt64(Swift.min(byteCount, LeafPrefetch.maximumByteCount)), limit)
        // From the start of a line, so that the last one is not left out.
        var offset = ref.rawValue & ~63
        while offset < end {
            // In bounds by the condition of the loop; a prefetch has no effect on other addresses.
            unsafe realm_rest_prefetch(base + Int(offset))
            offset &+= 64
        }
    }
}

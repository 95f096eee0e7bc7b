// SPDX-License-Identifier: Apache-2.0

/// One byte node per value.
///
/// Used when any value of the leaf is longer than a medium leaf may hold. Reading a value costs a look at its node, and nothing
/// is copied unless the value is split over several nodes.
struct BigBlobs: Sendable {
    /// The node with one ref per value.
    private let node: Node
    /// The space that the values are read in.
    private let space: NodeSpace
    /// Whether values end with a zero byte.
    private let isText: Bool

    /// How many values there are.
    @inline(__always) var count: Int { node.count }

    /// Attaches a leaf of one byte node per value. Throws `.corrupt` for another shape.
    init(_ node: Node, _ space: NodeSpace, isText: Bool) throws(StorageError) {
        _ = try node.integers()
        self.node = node
        self.space = space
        self.isText = isText
    }

    /// The bytes of value `row` without terminator, or nil for null.
    func bytes(_ row: Int) throws(StorageError) -> ByteView? {
        switch try node.slot(row) {
        case .none: return nil
        case .tagged: throw node.corrupt("value \(row) is a number where a ref belongs")
        case .ref(let ref): return try value(at: ref)
        }
    }

    /// The bytes of a value, joined where it is split.
    private func value(at ref: Ref) throws(StorageError) -> ByteView {
        let node = try space.node(at: ref)
        if node.hasRefs { return try joined(node) }
        try node.requireBytes()
        let bytes = node.bytes
        guard isText else { return bytes }
        guard bytes.count > 0, bytes[bytes.count - 1] == 0 else { throw node.corrupt("string without a final zero byte") }
        return bytes.slice(0, bytes.count - 1)
    }

    /// A value beyond 16 MiB, split over several byte nodes and without terminator.
    private func joined(_ parts: Node) throws(StorageError) -> ByteView {
        guard parts.hasContext, !parts.isInner else { throw parts.corrupt("a split value is a leaf of byte nodes") }
        return try space.joinedValue(of: parts)
    }
}

// SPDX-License-Identifier: Apache-2.0

/// One byte node per value.
struct BigBlobs: Sendable {
    private let node: Node
    private let space: NodeSpace
    private let isText: Bool

    @inline(__always) var count: Int { node.count }

    init(_ node: Node, _ space: NodeSpace, isText: Bool) throws(StorageError) {
        guard node.widthType == 0 else { throw node.corrupt("integer array expected") }
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

    private func value(at ref: Ref) throws(StorageError) -> ByteView {
        let node = try space.node(at: ref)
        if node.hasRefs { return try joined(node) }
        guard node.widthType == Node.WidthType.ignore.rawValue else { throw node.corrupt("byte node expected") }
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

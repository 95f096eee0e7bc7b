// SPDX-License-Identifier: Apache-2.0

/// The two leaf forms that strings and binaries share. Strings have a terminating zero byte in both, binaries do not.
///
/// Source: docs/format.md, "Medium strings", "Big strings", "Binary".
enum BlobLeaf: Sendable {
    /// All values in one byte node.
    case medium(MediumBlobs)
    /// A byte node for each value.
    case big(BigBlobs)

    /// Attaches the leaf at `node` in the form that its header says.
    init(_ node: Node, _ space: NodeSpace, isText: Bool) throws(StorageError) {
        guard node.hasRefs, !node.isInner else { throw node.corrupt("a leaf of strings or binaries has refs") }
        self =
            node.hasContext
            ? .big(try BigBlobs(node, space, isText: isText)) : .medium(try MediumBlobs(node, space, isText: isText))
    }

    /// How many values there are.
    @inline(__always) var count: Int {
        switch self {
        case .medium(let blobs): return blobs.count
        case .big(let blobs): return blobs.count
        }
    }

    /// The bytes of value `row` without terminator, or nil for null.
    func bytes(_ row: Int) throws(StorageError) -> ByteView? {
        switch self {
        case .medium(let blobs): return try blobs.bytes(row)
        case .big(let blobs): return try blobs.bytes(row)
        }
    }
}

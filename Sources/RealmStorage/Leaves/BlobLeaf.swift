// SPDX-License-Identifier: Apache-2.0

/// The two leaf forms that strings and binaries share. Strings have a terminating zero byte in both, binaries do not.
///
/// Source: docs/format.md, "Medium strings", "Big strings", "Binary".
enum BlobLeaf: Sendable {
    case medium(MediumBlobs)
    case big(BigBlobs)

    init(_ node: Node, _ space: NodeSpace, isText: Bool) throws(StorageError) {
        guard node.hasRefs, !node.isInner else { throw node.corrupt("a leaf of strings or binaries has refs") }
        self =
            node.hasContext
            ? .big(try BigBlobs(node, space, isText: isText)) : .medium(try MediumBlobs(node, space, isText: isText))
    }

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

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A leaf of strings or binaries in one of the two forms that they share.
///
/// Strings have a terminating zero byte in both forms, binaries have none.
/// Source: docs/format.md, "Medium strings", "Big strings", "Binary".
enum BlobLeaf: Sendable {
    /// The medium form: all values in one byte node.
    case medium(MediumBlobs)
    /// The big form: a byte node for each value.
    case big(BigBlobs)

    /// Attaches the leaf at `node` in the form that its context flag states: set means big.
    ///
    /// - Parameters:
    ///   - node: The leaf, which must have refs and be no inner node.
    ///   - space: The space that the refs of the leaf point into.
    ///   - isText: Whether values end with a zero byte.
    /// - Throws: `.corrupt` for a node that is neither form.
    init(_ node: Node, _ space: NodeSpace, isText: Bool) throws(StorageError) {
        guard node.hasRefs, !node.isInner else { throw node.corrupt("a leaf of strings or binaries has refs") }
        self =
            node.hasContext
            ? .big(try BigBlobs(node, space, isText: isText)) : .medium(try MediumBlobs(node, space, isText: isText))
    }

    /// How many values the leaf has, nulls included.
    @inline(__always) var count: Int {
        switch self {
        case .medium(let blobs): return blobs.count
        case .big(let blobs): return blobs.count
        }
    }

    /// Returns the bytes of value `row` without the terminator, or nil for null.
    ///
    /// - Parameter row: A row in `0..<count`.
    /// - Throws: `.corrupt` when the bytes of the value are not at the place that the leaf states.
    func bytes(_ row: Int) throws(StorageError) -> ByteView? {
        switch self {
        case .medium(let blobs): return try blobs.bytes(row)
        case .big(let blobs): return try blobs.bytes(row)
        }
    }
}

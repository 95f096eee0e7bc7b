// SPDX-License-Identifier: Apache-2.0

/// The two leaf forms that strings and binaries share.
///
/// *Medium* is one byte node with all values one after another, an array of end offsets and one of null flags.
/// *Big* is one byte node per value. Strings have a terminating zero byte in both, binaries do not.
/// Source: docs/format.md, "Medium strings", "Big strings", "Binary".
///
/// A class, because its parts are many and leaves are copied about.
final class BlobLeaf: Sendable {
    private let node: Node
    private let space: NodeSpace
    private let terminatorByteCount: Int
    /// Medium form only.
    let ends: PackedIntegers
    let nulls: PackedIntegers
    let bytes: ByteView
    let count: Int

    /// One node for all values, not one for each.
    var isMedium: Bool { !node.hasContext }

    init(_ node: Node, _ space: NodeSpace, isText: Bool) throws(StorageError) {
        guard node.hasRefs, !node.isInner else { throw node.corrupt("a leaf of strings or binaries has refs") }
        self.node = node
        self.space = space
        terminatorByteCount = isText ? 1 : 0
        if node.hasContext {
            ends = try node.integers()
            nulls = ends
            bytes = .empty
            count = node.count
            return
        }
        guard node.count == 3 else { throw node.corrupt("a medium string leaf has three slots") }
        ends = try BlobLeaf.integers(node, 0, space, "end offsets")
        nulls = try BlobLeaf.integers(node, 2, space, "null flags")
        let blob = try space.node(at: try node.requiredRef(1, "string bytes"))
        guard !blob.hasRefs, blob.widthType == Node.WidthType.ignore.rawValue else {
            throw blob.corrupt("byte node expected")
        }
        bytes = blob.bytes
        count = ends.count
        guard nulls.count == count else { throw node.corrupt("\(count) strings with \(nulls.count) null flags") }
    }

    private static func integers(
        _ node: Node, _ slot: Int, _ space: NodeSpace, _ what: String
    ) throws(StorageError) -> PackedIntegers {
        let child = try space.node(at: try node.requiredRef(slot, what))
        guard !child.hasRefs else { throw child.corrupt("\(what) are a plain integer node") }
        return try child.integers()
    }

    /// The bytes of value `row` without terminator, or nil for null.
    func bytes(_ row: Int) throws(StorageError) -> ByteView? {
        try node.hasContext ? big(row) : medium(row)
    }

    private func medium(_ row: Int) throws(StorageError) -> ByteView? {
        if nulls[row] != 0 { return nil }
        let first = row == 0 ? 0 : ends[row - 1]
        let last = ends[row] - Int64(terminatorByteCount)
        guard first >= 0, ends[row] <= Int64(bytes.count), first <= last else {
            throw node.corrupt("value \(row) ends outside its bytes")
        }
        if terminatorByteCount == 1, bytes[Int(last)] != 0 { throw corruptText(row) }
        return bytes.slice(Int(first), Int(last))
    }

    /// What is wrong with a medium string that does not end with its zero byte.
    func corruptText(_ row: Int) -> StorageError { node.corrupt("string \(row) has no final zero byte") }

    private func big(_ row: Int) throws(StorageError) -> ByteView? {
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
        guard terminatorByteCount == 1 else { return bytes }
        guard bytes.count > 0, bytes[bytes.count - 1] == 0 else { throw node.corrupt("string without a final zero byte") }
        return bytes.slice(0, bytes.count - 1)
    }

    /// A value beyond 16 MiB, split over several byte nodes and without terminator.
    private func joined(_ parts: Node) throws(StorageError) -> ByteView {
        guard parts.hasContext, !parts.isInner else { throw parts.corrupt("a split value is a leaf of byte nodes") }
        return try space.joinedValue(of: parts)
    }
}

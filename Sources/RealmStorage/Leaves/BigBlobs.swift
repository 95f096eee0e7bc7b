// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The big form of a leaf of strings or binaries: one byte node per value.
///
/// It is used when any value of the leaf is longer than the medium form may hold. Reading a value reads the header of its node;
/// the bytes are borrowed from the mapped file, and are copied only where a value of more than 16 MiB is split over several
/// nodes. Source: docs/format.md, "Big strings".
package struct BigBlobs: Sendable {
    /// The leaf: a node with one ref to a byte node per value, 0 for null.
    private let node: Node
    private let space: NodeSpace
    /// Whether each value ends with a zero byte, as strings do.
    private let isText: Bool

    /// How many values the leaf has, nulls included.
    @inline(__always) package var count: Int { node.count }

    /// Attaches a leaf of one byte node per value; the byte nodes are checked only when they are read.
    ///
    /// - Parameters:
    ///   - node: The leaf: a node of refs with the context flag set.
    ///   - space: The space that the refs of the values point into.
    ///   - isText: Whether each value ends with a zero byte, as strings do.
    /// - Throws: `.corrupt` when the elements of the node are not integers.
    init(_ node: Node, _ space: NodeSpace, isText: Bool) throws(StorageError) {
        _ = try node.integers()
        self.node = node
        self.space = space
        self.isText = isText
    }

    /// Returns the bytes of value `row` without the terminator, or nil for null.
    ///
    /// - Parameter row: A row in `0..<count`.
    /// - Throws: `.corrupt` when the element is a number, when the ref does not lead to a byte
    ///   node, or when a string has no final zero byte.
    package func bytes(_ row: Int) throws(StorageError) -> ByteView? {
        switch try node.slot(row) {
        case .none: return nil
        case .tagged: throw node.corrupt("value \(row) is a number where a ref belongs")
        case .ref(let ref): return try value(at: ref)
        }
    }

    /// Reads the value at `ref`, and joins its parts where it is split.
    ///
    /// - Returns: The bytes without the terminator.
    private func value(at ref: Ref) throws(StorageError) -> ByteView {
        let node = try space.node(at: ref)
        if node.hasRefs { return try joined(node) }
        try node.requireBytes()
        let bytes = node.bytes
        guard isText else { return bytes }
        guard bytes.count > 0, bytes[bytes.count - 1] == 0 else { throw node.corrupt("string without a final zero byte") }
        return bytes.slice(0, bytes.count - 1)
    }

    /// Joins a value beyond 16 MiB, which is stored in several byte nodes below `parts`, without a terminator.
    ///
    /// - Throws: `.corrupt` unless `parts` is a leaf of refs with the context flag set.
    private func joined(_ parts: Node) throws(StorageError) -> ByteView {
        guard parts.hasContext, !parts.isInner else { throw parts.corrupt("a split value is a leaf of byte nodes") }
        return try space.joinedValue(of: parts)
    }
}

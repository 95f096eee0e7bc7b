// SPDX-License-Identifier: Apache-2.0

/// Binaries: medium or big form, without terminators.
///
/// The form is given by the context flag of the leaf, as for strings; there is no short form. Source: docs/format.md, "Binary".
///
/// The form is told by the context flag of the leaf, as for strings; there is no short form.
package struct BinaryLeaf: Sendable {
    /// The values in either form.
    private let blob: BlobLeaf
    /// How many values there are.
    package var count: Int { blob.count }

    /// The parts of the medium form; nil for the big one.
    var medium: MediumBlobs? {
        if case .medium(let blobs) = blob { return blobs }
        return nil
    }

    /// Attaches a leaf of binaries in either form. Throws `.corrupt` for another shape.
    init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        blob = try BlobLeaf(node, space, isText: false)
    }

    /// The bytes in `row`, or nil for null.
    package func binary(_ row: Int) throws(StorageError) -> ByteView? { try blob.bytes(row) }

    /// The value in `row`, which must be in `0..<count`.
    package func value(_ row: Int) throws(StorageError) -> Value { try binary(row).map(Value.binary) ?? .null }
}

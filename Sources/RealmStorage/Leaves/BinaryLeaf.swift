// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The values of a column of binaries in one leaf, in medium or big form, without terminators.
///
/// The context flag of the leaf states which of the two forms it has, as for strings; binaries have no short form. Source:
/// docs/format.md, "Binary".
package struct BinaryLeaf: Sendable {
    /// The values of the leaf, in medium or big form.
    private let blob: BlobLeaf
    /// How many values the leaf has, nulls included.
    package var count: Int { blob.count }

    /// The parts of the medium form; nil for the big one.
    package var medium: MediumBlobs? {
        if case .medium(let blobs) = blob { return blobs }
        return nil
    }

    /// Attaches a leaf of binaries in either form.
    ///
    /// - Throws: `.corrupt` when the node, or a part of the medium form, has another shape.
    init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        blob = try BlobLeaf(node, space, isText: false)
    }

    /// Returns the bytes in `row`, or nil for null. The view borrows from the snapshot or transaction.
    ///
    /// - Parameter row: A row in `0..<count`.
    /// - Throws: `.corrupt` when the bytes of the value are not at the place that the leaf states.
    package func binary(_ row: Int) throws(StorageError) -> ByteView? { try blob.bytes(row) }

    /// Returns the value in `row`, which must be in `0..<count`; throws `.corrupt` as `binary` does.
    package func value(_ row: Int) throws(StorageError) -> Value { try binary(row).map(Value.binary) ?? .null }
}

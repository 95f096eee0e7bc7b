// SPDX-License-Identifier: Apache-2.0

/// Binaries: medium or big form, without terminators.
package struct BinaryLeaf: Sendable {
    private let blob: BlobLeaf
    package var count: Int { blob.count }

    /// The parts of the medium form; nil for the big one.
    var medium: MediumBlobs? {
        if case .medium(let blobs) = blob { return blobs }
        return nil
    }

    init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        blob = try BlobLeaf(node, space, isText: false)
    }

    package func binary(_ row: Int) throws(StorageError) -> ByteView? { try blob.bytes(row) }

    package func value(_ row: Int) throws(StorageError) -> Value { try binary(row).map(Value.binary) ?? .null }
}

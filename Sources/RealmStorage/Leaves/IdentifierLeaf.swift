// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A leaf of ObjectIds or UUIDs: blocks of one byte with null bits followed by up to eight elements of 12 or 16 bytes.
///
/// Bit `i` of the first byte of a block is set when element `i` of the block is null. Source: docs/format.md, "ObjectId, UUID".
package struct IdentifierLeaf: Sendable {
    /// The node with null bytes and ids.
    package let node: Node
    /// The size of an id in bytes: 12 for ObjectIds, 16 for UUIDs.
    package let elementByteCount: Int
    /// How many ids the leaf has, nulls included.
    package let count: Int

    /// Attaches a leaf of ids and computes how many there are from its length.
    ///
    /// - Parameters:
    ///   - elementByteCount: 12 for ObjectIds, 16 for UUIDs.
    /// - Throws: `.corrupt` when the bytes do not divide into whole ids and their null bytes.
    init(_ node: Node, elementByteCount: Int) throws(StorageError) {
        guard node.widthType == Node.WidthType.multiply.rawValue, !node.hasRefs, node.width == 1 || node.count == 0 else {
            throw node.corrupt("an identifier leaf has width 1")
        }
        let block = 8 * elementByteCount + 1
        let elementBytes = node.count - (node.count + block - 1) / block
        guard elementBytes >= 0, elementBytes % elementByteCount == 0 else {
            throw node.corrupt("\(node.count) bytes do not divide into identifiers of \(elementByteCount)")
        }
        self.node = node
        self.elementByteCount = elementByteCount
        count = elementBytes / elementByteCount
    }

    /// Returns the offset in bytes of element `row` in the payload, or nil when it is null.
    @inlinable package func offset(_ row: Int) -> Int? {
        let blockStart = (row >> 3) * (elementByteCount << 3 + 1)
        let nulls = node.load(byteOffset: blockStart, as: UInt8.self)
        guard nulls >> UInt8(row & 7) & 1 == 0 else { return nil }
        return blockStart + 1 + (row & 7) * elementByteCount
    }

    /// Returns the ObjectId in `row`, or nil for null.
    ///
    /// The leaf must have been attached with ids of 12 bytes, and `row` must be in `0..<count`.
    @inlinable package func objectID(_ row: Int) -> ObjectID? {
        guard let offset = offset(row) else { return nil }
        return ObjectID(
            first: node.load(byteOffset: offset, as: UInt64.self).byteSwapped,
            last: node.load(byteOffset: offset + 8, as: UInt32.self).byteSwapped)
    }

    /// Returns the UUID in `row`, or nil for null.
    ///
    /// The leaf must have been attached with ids of 16 bytes, and `row` must be in `0..<count`.
    @inlinable package func uuid(_ row: Int) -> UUIDValue? {
        guard let offset = offset(row) else { return nil }
        return UUIDValue(
            first: node.load(byteOffset: offset, as: UInt64.self).byteSwapped,
            last: node.load(byteOffset: offset + 8, as: UInt64.self).byteSwapped)
    }

    /// Returns the value in `row`, which must be in `0..<count`.
    @inlinable package func value(_ row: Int) -> Value {
        elementByteCount == 12
            ? objectID(row).map(Value.objectID) ?? .null
            : uuid(row).map(Value.uuid) ?? .null
    }
}

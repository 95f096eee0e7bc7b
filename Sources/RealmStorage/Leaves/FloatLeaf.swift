// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A leaf of single-precision numbers; null is the NaN with the bits 7fc000aa.
///
/// Elements have four bytes each, at any alignment. Every other NaN is a value. Source: docs/format.md, "Float, double".
package struct FloatLeaf: Sendable {
    /// The bits of null; see `PackedReal.nullBits`.
    package static let nullBits = UInt32(bitPattern: Float.nullBits)
    /// The node with the stored numbers, four bytes each.
    package let node: Node
    /// How many numbers the leaf has, nulls included.
    package var count: Int { node.count }

    /// Attaches a leaf of floats.
    ///
    /// - Throws: `.corrupt` unless the node has elements of four bytes, or none.
    package init(_ node: Node) throws(StorageError) {
        try node.requireFixedWidth(4, "float")
        self.node = node
    }

    /// Returns the number in `row`, or nil for null. The row must be in `0..<count`.
    @inlinable package func float(_ row: Int) -> Float? {
        let bits = node.load(byteOffset: row << 2, as: UInt32.self)
        return bits == FloatLeaf.nullBits ? nil : Float(bitPattern: bits)
    }

    /// Returns the value in `row`, which must be in `0..<count`.
    @inlinable package func value(_ row: Int) -> Value { float(row).map(Value.float) ?? .null }
}

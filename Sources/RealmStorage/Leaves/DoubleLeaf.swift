// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A leaf of double-precision numbers; null is the NaN with the bits 7ff80000000000aa.
///
/// Elements have eight bytes each, at any alignment. Every other NaN is a value. Source: docs/format.md, "Float, double".
package struct DoubleLeaf: Sendable {
    /// The bits of null; see `PackedReal.nullBits`.
    package static let nullBits = UInt64(bitPattern: Double.nullBits)
    /// The node with the stored numbers, eight bytes each.
    package let node: Node
    /// How many numbers the leaf has, nulls included.
    package var count: Int { node.count }

    /// Attaches a leaf of doubles.
    ///
    /// - Throws: `.corrupt` unless the node has elements of eight bytes, or none.
    package init(_ node: Node) throws(StorageError) {
        try node.requireFixedWidth(8, "double")
        self.node = node
    }

    /// Returns the number in `row`, or nil for null. The row must be in `0..<count`.
    @inlinable package func double(_ row: Int) -> Double? {
        let bits = node.load(byteOffset: row << 3, as: UInt64.self)
        return bits == DoubleLeaf.nullBits ? nil : Double(bitPattern: bits)
    }

    /// Returns the value in `row`, which must be in `0..<count`.
    @inlinable package func value(_ row: Int) -> Value { double(row).map(Value.double) ?? .null }
}

/// The check that leaves of floats and doubles share.
extension Node {
    /// Checks that the node has width type "multiply" and elements of a given size; an empty node may have width 0.
    ///
    /// - Parameters:
    ///   - byteCount: The size of an element in bytes.
    ///   - what: The type of the elements, for the error message.
    /// - Throws: `.corrupt` otherwise.
    func requireFixedWidth(_ byteCount: Int, _ what: String) throws(StorageError) {
        guard widthType == WidthType.multiply.rawValue, !hasRefs, width == byteCount || count == 0 else {
            throw corrupt("a \(what) leaf has elements of \(byteCount) bytes")
        }
    }
}

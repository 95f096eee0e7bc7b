// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A leaf of decimals of 32, 64 or 128 bits, one width per leaf.
///
/// Width 0 means that all values are null or, with the context flag set, that all are zero. Narrow
/// numbers are widened to 128 bits when they are read. Source: docs/format.md, "Decimal128".
package struct DecimalLeaf: Sendable {
    /// The node with the stored decimals.
    package let node: Node
    /// How many decimals the leaf has, nulls included.
    package var count: Int { node.count }

    /// The null of 32 bits: a NaN that no calculation makes.
    private static let null32: UInt32 = 0x7c00_00aa
    /// The null of 64 bits: a NaN that no calculation makes.
    private static let null64: UInt64 = 0x7c00_0000_0000_00aa

    /// Attaches a leaf of decimals.
    ///
    /// - Throws: `.corrupt` for a node with refs, or of a width other than 0, 4, 8 and 16 bytes.
    init(_ node: Node) throws(StorageError) {
        guard node.widthType == Node.WidthType.multiply.rawValue, !node.hasRefs else {
            throw node.corrupt("expected a leaf of decimals, found another kind of node")
        }
        switch node.width {
        case 0, 4, 8, 16: self.node = node
        default: throw node.corrupt("a decimal leaf of width \(node.width)")
        }
    }

    /// Returns the decimal in `row`, widened to 128 bits, or nil for null. The row must be in `0..<count`.
    package func decimal(_ row: Int) -> Decimal128? {
        switch node.width {
        case 0: return node.hasContext ? .zero : nil
        case 4:
            let bits = node.load(byteOffset: row << 2, as: UInt32.self)
            return bits == DecimalLeaf.null32 ? nil : Decimal128(stored32: bits)
        case 8:
            let bits = node.load(byteOffset: row << 3, as: UInt64.self)
            return bits == DecimalLeaf.null64 ? nil : Decimal128(stored64: bits)
        default:
            let number = Decimal128(
                low: node.load(byteOffset: row << 4, as: UInt64.self),
                high: node.load(byteOffset: row << 4 + 8, as: UInt64.self))
            return number.isNull ? nil : number
        }
    }

    /// Returns the value in `row`, which must be in `0..<count`.
    package func value(_ row: Int) -> Value { decimal(row).map(Value.decimal) ?? .null }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The way in which elements are read, which also decides the width that a number needs.
///
/// Widths below 8 bits have no sign bit in either form. Keys and offsets use the unsigned form, everything else the signed one;
/// the header does not state which it is. Source: docs/format.md, "Nodes".
package enum IntegerForm: Sendable {
    /// Widths up to 4 bits unsigned, 8 to 64 bits in two's complement: nearly all nodes.
    case signed
    /// Widths of 8 to 64 bits without sign: key arrays of clusters and offsets of B+ trees.
    case unsigned

    /// Returns the code of the smallest width that can hold `value`, 0 to 7.
    @inline(__always) package func widthCode(for value: Int64) -> Int {
        switch self {
        case .signed:
            if value >= 0, value < 16 { return value < 2 ? Int(value) : value < 4 ? 2 : 3 }
            if value == Int64(Int8(truncatingIfNeeded: value)) { return 4 }
            if value == Int64(Int16(truncatingIfNeeded: value)) { return 5 }
            return value == Int64(Int32(truncatingIfNeeded: value)) ? 6 : 7
        case .unsigned:
            let bits = UInt64(bitPattern: value)
            return bits <= 0xff ? 4 : bits <= 0xffff ? 5 : bits <= 0xffff_ffff ? 6 : 7
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// How elements are read and which width a number needs.
///
/// Widths below 8 bits have no sign bit in either form. Keys and offsets use the unsigned form, everything else the signed one;
/// the header does not say which it is. Source: docs/format.md, "Nodes".
package enum IntegerForm: Sendable {
    /// Widths 0 to 4 unsigned, 8 to 64 in two's complement: nearly all nodes.
    case signed
    /// Widths 8 to 64 without sign: key arrays of clusters and offsets of B+ trees.
    case unsigned

    /// The code of the smallest width that holds `value`, 0 to 7.
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

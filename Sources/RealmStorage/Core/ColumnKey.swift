// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Identifies a column: leaf index in bits 15:0, type in 21:16, attributes in 29:22, tag in 61:30.
///
/// Links name the column at their other end by such a key, so it stays the same for as long as the column exists, while
/// positions in the spec change. The tag differs between columns that had the same leaf index one after another. Source:
/// docs/format.md, "Keys".
package struct ColumnKey: Hashable, Sendable {
    /// The 64-bit number as it is stored in specs and in the arrays of opposite columns.
    package let rawValue: Int64

    /// Makes a key from its stored number. Any number makes a key; whether a column has it is
    /// checked where the column is looked up.
    @inlinable package init(_ rawValue: Int64) { self.rawValue = rawValue }

    /// The key of no column: all bits but the sign are set.
    package static let null = ColumnKey(0x7fff_ffff_ffff_ffff)

    /// The number of the column's slot in each cluster leaf and of its entry in the table's per-column arrays.
    @inlinable package var leafIndex: Int { Int(rawValue & 0xffff) }
    /// The number of the column's type; see `ColumnType`. In files of older formats it may differ from that in the spec.
    @inlinable package var typeNumber: Int { Int((rawValue >> 16) & 0x3f) }
    /// The lowest eight attribute bits of the column; see `ColumnAttributes`.
    @inlinable package var attributeBits: Int { Int((rawValue >> 22) & 0xff) }

    /// The same key with the type that lists of links have since format 24.
    var modern: ColumnKey {
        guard self != .null, typeNumber == ColumnType.historicLinkList else { return self }
        return ColumnKey(rawValue & ~(0x3f << 16) | Int64(ColumnType.link.rawValue) << 16)
    }
}

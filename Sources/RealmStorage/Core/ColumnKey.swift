// SPDX-License-Identifier: Apache-2.0

/// Identifies a column: leaf index in bits 15:0, type in 21:16, attributes in 29:22, tag in 61:30.
package struct ColumnKey: Hashable, Sendable {
    package let rawValue: Int64

    @inlinable package init(_ rawValue: Int64) { self.rawValue = rawValue }

    package static let null = ColumnKey(0x7fff_ffff_ffff_ffff)

    /// Where the column lives in each cluster leaf and in the table's per-column arrays.
    @inlinable package var leafIndex: Int { Int(rawValue & 0xffff) }
    @inlinable package var typeNumber: Int { Int((rawValue >> 16) & 0x3f) }
    @inlinable package var attributeBits: Int { Int((rawValue >> 22) & 0xff) }

    /// The same key with the type that lists of links have had since format 24.
    var modern: ColumnKey {
        guard self != .null, typeNumber == ColumnType.historicLinkList else { return self }
        return ColumnKey(rawValue & ~(0x3f << 16) | Int64(ColumnType.link.rawValue) << 16)
    }
}

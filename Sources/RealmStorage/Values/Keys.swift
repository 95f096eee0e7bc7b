// SPDX-License-Identifier: Apache-2.0

/// The file offset of a node; a multiple of 8, at least 24. Zero means "none".
///
/// Refs are compared as unsigned numbers. Source: docs/format.md, "Conventions".
package struct Ref: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The null ref: an empty tree, an empty collection, or nothing at all.
    package static let none = Ref(0)

    @inlinable package var isNone: Bool { rawValue == 0 }

    @inlinable package static func < (left: Ref, right: Ref) -> Bool { left.rawValue < right.rawValue }

    package var description: String { "0x" + String(rawValue, radix: 16) }
}

/// Identifies a table in its file: position in bits 15:0, a reuse tag in bits 30:16.
package struct TableKey: Hashable, Comparable, Sendable {
    package let rawValue: UInt32

    @inlinable package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    package static let null = TableKey(0x7fff_ffff)

    /// The position in the table list.
    @inlinable package var position: Int { Int(rawValue & 0xffff) }

    @inlinable package static func < (left: TableKey, right: TableKey) -> Bool { left.rawValue < right.rawValue }
}

/// Identifies an object within its table.
///
/// Live objects have keys of 0 and above, -1 is the null link, and -2 or below names a tombstone
/// (an unresolved link). Source: docs/format.md, "Keys".
package struct ObjectKey: Hashable, Comparable, Sendable {
    package let rawValue: Int64

    @inlinable package init(_ rawValue: Int64) { self.rawValue = rawValue }

    package static let null = ObjectKey(-1)

    @inlinable package var isNull: Bool { rawValue == -1 }
    @inlinable package var isUnresolved: Bool { rawValue < -1 }

    @inlinable package static func < (left: ObjectKey, right: ObjectKey) -> Bool { left.rawValue < right.rawValue }
}

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

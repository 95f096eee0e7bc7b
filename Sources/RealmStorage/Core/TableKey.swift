// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Identifies a table in its file: position in bits 15:0, a reuse tag in bits 30:16.
///
/// The position is that in the list of tables; the tag distinguishes a table from an earlier one at
/// the same position, so that old links cannot lead to a new table. Source: docs/format.md, "Keys".
package struct TableKey: Hashable, Comparable, Sendable {
    /// The 31-bit number as it is stored in tables and links.
    package let rawValue: UInt32

    /// Makes a key from its stored number; any number makes one.
    @inlinable package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    package static let null = TableKey(0x7fff_ffff)

    @inlinable package var position: Int { Int(rawValue & 0xffff) }

    /// Compares keys as unsigned numbers.
    @inlinable package static func < (left: TableKey, right: TableKey) -> Bool { left.rawValue < right.rawValue }
}

/// The role of a table.
///
/// The kind decides who owns the objects of a table. It is stored in the two lowest bits of slot 12 of the table's top node.
/// Source: docs/format.md, "Tables".
package enum TableKind: Int, Sendable, Hashable {
    /// A class of independent objects.
    case topLevel = 0
    /// A class whose objects belong to other objects and are deleted with them.
    case embedded = 1
    /// A class whose objects are sent to a server and not kept in the file.
    case asymmetric = 2
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A column of a table of formats 2 to 9.
package struct LegacyColumn: Sendable {
    /// The number of the column among all columns of its spec.
    package let index: Int
    package let type: LegacyType
    /// The bits of the Indexed and Nullable attributes and some that are not needed to read.
    private let attributes: Int64
    /// The bytes of the name; empty for a hidden column.
    package let name: [UInt8]
    /// The position of the column's root in the column list, where indexes take places of their own.
    package let slot: Int
    /// The position of the table that links point to, or that backlinks come from; nil for other types.
    package let target: Int?
    /// The number of the column that backlinks belong to; nil for other types.
    package let origin: Int?
    /// The columns of the tables inside of rows; nil for other types.
    package let subspec: LegacySpec?
    /// The root of the list of distinct strings; `Ref.none` for other types.
    let keys: Ref

    /// Whether the column has a search index, which takes the slot after the column's own.
    package var isIndexed: Bool { attributes & 1 != 0 }
    /// Whether values may be null.
    package var isNullable: Bool { attributes & 16 != 0 }

    /// Makes a column from what its spec states.
    init(
        index: Int, type: LegacyType, attributes: Int64, name: [UInt8], slot: Int, target: Int? = nil, origin: Int? = nil,
        subspec: LegacySpec? = nil, keys: Ref = .none
    ) {
        self.index = index
        self.type = type
        self.attributes = attributes
        self.name = name
        self.slot = slot
        self.target = target
        self.origin = origin
        self.subspec = subspec
        self.keys = keys
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The values of a column of a leaf, and how sure they are.
struct DecodedColumn {
    let cells: [DecodedColumn.Cell]
    /// The certainty of the column.
    let strength: LeafEvidence.Strength
    /// Values in separate, unproved nodes, by row: hints, not values.
    let possible: [Int: StoredValue]
}

extension DecodedColumn {
    /// A value of an object, or why it is not there.
    enum Cell {
        case value(StoredValue)
        case lost(Loss)

        /// Whether the value is gone.
        var isLost: Bool { if case .lost = self { true } else { false } }
    }
}

extension DecodedColumn {
    /// A column of a leaf.
    struct Place: Hashable {
        /// The offset of the leaf.
        let leaf: UInt64
        /// The index of the column in the leaf.
        let index: Int
    }
}

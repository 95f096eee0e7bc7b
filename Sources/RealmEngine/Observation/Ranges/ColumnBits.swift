// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Columns of one table, by the leaf index of their keys.
struct ColumnBits: Equatable {
    /// The first 64 columns, which is all of them in most classes.
    private var low: UInt64 = 0
    /// All others.
    private var high: Set<Int> = []

    /// Whether there is no column.
    var isEmpty: Bool { low == 0 && high.isEmpty }

    /// Adds a column.
    mutating func insert(_ column: ColumnKey) {
        let index = column.leafIndex
        if index < 64 { low |= 1 << UInt64(index) } else { high.insert(index) }
    }

    /// Whether a column is among them.
    func contains(_ column: ColumnKey) -> Bool {
        let index = column.leafIndex
        return index < 64 ? low >> UInt64(index) & 1 == 1 : high.contains(index)
    }

    /// Adds all columns of another set.
    mutating func formUnion(_ other: ColumnBits) {
        low |= other.low
        if !other.high.isEmpty { high.formUnion(other.high) }
    }

    /// Whether both have a column in common.
    func intersects(_ other: ColumnBits) -> Bool { low & other.low != 0 || !high.isDisjoint(with: other.high) }
}

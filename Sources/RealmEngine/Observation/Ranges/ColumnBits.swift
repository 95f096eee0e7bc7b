// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A set of columns of one table, identified by the leaf index of their keys.
struct ColumnBits: Hashable {
    /// The columns with an index below 64, which are all columns of most classes, as bits.
    private var low: UInt64 = 0
    /// The indexes of all other columns.
    private var high: Set<Int> = []
    /// Whether all columns of the table are in the set, whatever the other members say.
    private var hasAll = false

    /// All columns of a table.
    static let all: ColumnBits = {
        var bits = ColumnBits()
        bits.hasAll = true
        return bits
    }()

    var isEmpty: Bool { !hasAll && low == 0 && high.isEmpty }

    /// Adds a column.
    mutating func insert(_ column: ColumnKey) {
        let index = column.leafIndex
        if index < 64 { low |= 1 << UInt64(index) } else { high.insert(index) }
    }

    func contains(_ column: ColumnKey) -> Bool {
        let index = column.leafIndex
        return hasAll || (index < 64 ? low >> UInt64(index) & 1 == 1 : high.contains(index))
    }

    /// Adds all columns of another set.
    mutating func formUnion(_ other: ColumnBits) {
        hasAll = hasAll || other.hasAll
        low |= other.low
        if !other.high.isEmpty { high.formUnion(other.high) }
    }

    /// Returns whether both sets have a column in common.
    func intersects(_ other: ColumnBits) -> Bool {
        if hasAll || other.hasAll { return !isEmpty && !other.isEmpty }
        return low & other.low != 0 || !high.isDisjoint(with: other.high)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The values of one column in one leaf, ready to be read row by row.
///
/// It is a class because a leaf has many parts, and reading one value should not copy them. It is
/// valid as long as the snapshot of the leaf, and used by one thread at a time.
final class AttachedColumn {
    /// The leaf of the column, whose shape was checked when it was attached.
    private var values: ColumnLeaf
    /// Which of the leaves that an `AttachedLeaf` was, one after the other, the values belong to.
    private(set) var generation: Int

    /// Wraps a column.
    ///
    /// - Parameters:
    ///   - generation: Which of the leaves it is.
    init(_ values: ColumnLeaf, _ generation: Int) {
        self.values = values
        self.generation = generation
    }

    /// Takes the values of the same column in another leaf.
    func become(_ values: ColumnLeaf, _ generation: Int) {
        self.values = values
        self.generation = generation
    }

    /// Returns the value of a row.
    ///
    /// - Parameter row: The position in the leaf, from 0.
    /// - Returns: The value, which borrows from the snapshot.
    /// - Throws: `StorageError` for a damaged file.
    @inline(__always) func value(_ row: Int) throws(StorageError) -> Value {
        // The most common types by themselves: a leaf is not copied as a whole for one value.
        switch values {
        case .int(let leaf): return leaf.value(row)
        case .string(let leaf): return try leaf.value(row)
        case .double(let leaf): return leaf.value(row)
        case .timestamp(let leaf): return try leaf.value(row)
        default: return try values.value(row)
        }
    }
}

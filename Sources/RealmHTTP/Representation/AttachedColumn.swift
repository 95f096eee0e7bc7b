// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The values of one column in a leaf. A class, because a leaf has many parts, and a reader of one value should not
/// have to copy them.
final class AttachedColumn {
    private let values: ColumnLeaf

    /// The column whose values are in this leaf.
    init(_ values: ColumnLeaf) { self.values = values }

    /// The value of a row of the leaf.
    func value(_ row: Int) throws(StorageError) -> Value { try values.value(row) }
}

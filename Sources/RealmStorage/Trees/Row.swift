// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The place of one object: its leaf and its row there.
///
/// It is valid while its snapshot is, and for one version: the same object may be in another row of
/// the next one. Keep the object key to find it again.
package struct Row: Sendable {
    /// The leaf that holds the object.
    package let leaf: ClusterLeaf
    /// The row of the object in the leaf.
    package let index: Int

    /// Makes a place from a leaf and a row that it has.
    package init(leaf: ClusterLeaf, index: Int) {
        self.leaf = leaf
        self.index = index
    }

    package var key: ObjectKey { leaf.key(at: index) }

    /// Returns the value of a single-valued property. It attaches the column again each time; loops
    /// over many rows attach it once per leaf.
    package func value(_ column: Column) throws(StorageError) -> Value { try leaf.value(column, row: index) }

    /// Returns whether a single-valued property has exactly a value, as `Value.isIdentical` compares. Look-ups by integer
    /// keys attach no leaf for that.
    func holds(_ value: Value, in column: Column) throws(StorageError) -> Bool {
        guard case .int(let wanted) = value, column.type == .int else { return try self.value(column).isIdentical(to: value) }
        return try leaf.attachIntegers(column).integer(index) == wanted
    }
}

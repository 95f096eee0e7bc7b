// SPDX-License-Identifier: Apache-2.0

/// One object: its leaf and its row there.
///
/// Valid while its snapshot is, and for one version: the same object may be in another row of the next one. Keep the object key
/// to find it again.
package struct Row: Sendable {
    /// The leaf that holds the object.
    package let leaf: ClusterLeaf
    /// The row of the object in the leaf.
    package let index: Int

    /// An object by its place.
    package init(leaf: ClusterLeaf, index: Int) {
        self.leaf = leaf
        self.index = index
    }

    /// The key of the object.
    package var key: ObjectKey { leaf.key(at: index) }

    /// The value of a single-valued property. Attaches the column anew each time.
    package func value(_ column: Column) throws(StorageError) -> Value { try leaf.value(column, row: index) }
}

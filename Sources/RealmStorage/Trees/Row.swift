// SPDX-License-Identifier: Apache-2.0

/// One object: its leaf and its row there.
package struct Row: Sendable {
    package let leaf: ClusterLeaf
    package let index: Int

    package init(leaf: ClusterLeaf, index: Int) {
        self.leaf = leaf
        self.index = index
    }

    package var key: ObjectKey { leaf.key(at: index) }

    package func value(_ column: Column) throws(StorageError) -> Value { try leaf.value(column, row: index) }
}

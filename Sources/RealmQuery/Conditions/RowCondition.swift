// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A condition that is tested row by row. A type that conforms to it implements only the test of one row.
protocol RowCondition: Condition {}

extension RowCondition {
    /// Tests the candidates of a leaf one after another and returns those that match.
    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        var found = Mask.none
        try candidates.forEach { row throws(StorageError) in
            if try matches(Row(leaf: leaf, index: row)) { found[row] = true }
        }
        return found
    }
}

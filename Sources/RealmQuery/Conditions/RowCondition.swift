// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A condition that looks at one row after another: it only says how one row is tested.
protocol RowCondition: Condition {}

extension RowCondition {
    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        var found = Mask.none
        try candidates.forEach { row throws(StorageError) in
            if try matches(Row(leaf: leaf, index: row)) { found[row] = true }
        }
        return found
    }
}

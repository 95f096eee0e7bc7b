// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// An operand that can yield one value for each object. Whether it does so for every object is told by `single`.
protocol SingleOperand: Operand {
    /// The value for `row`. Called only on what `single` returned.
    func value(_ row: borrowing Row) throws(StorageError) -> Value

    /// Appends the value for each of `rows`, ascending, in one call per leaf. Called only on what `single` returned.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError)
}

extension SingleOperand {
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        try rows.forEach { row throws(StorageError) in values.append(try value(Row(leaf: leaf, index: row))) }
    }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.set(try value(row))
    }
}

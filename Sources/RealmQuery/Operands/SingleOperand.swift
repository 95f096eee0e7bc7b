// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An operand that can yield exactly one value for an object.
///
/// Whether it does so for every object depends on its path: the property `single` returns the operand itself in that case, and
/// nil otherwise. The two functions here are called only on what `single` returned.
protocol SingleOperand: Operand {
    /// Returns the operand's value for an object.
    ///
    /// - Returns: The value. Texts and binary data in it are borrowed from the snapshot or from the
    ///   constants of the query.
    /// - Throws: A storage error when the file is damaged or the check of the query asks to stop.
    func value(_ row: borrowing Row) throws(StorageError) -> Value

    /// Appends the values for several objects of one leaf, in one call.
    ///
    /// - Parameters:
    ///   - leaf: The cluster leaf that holds the objects.
    ///   - rows: The rows of the leaf, which are taken in ascending order.
    ///   - values: Receives one value for each row.
    /// - Throws: The same errors as `value`.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError)
}

extension SingleOperand {
    /// Appends the values row by row. Operands that can read a whole leaf faster replace this.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        try rows.forEach { row throws(StorageError) in values.append(try value(Row(leaf: leaf, index: row))) }
    }

    /// Fills the buffer with one group of one value. Operands that may be multi-valued replace this.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.set(try value(row))
    }
}

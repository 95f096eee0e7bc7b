// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An operand that has exactly one value for every object, which is an integer and never null, such as a number of links.
///
/// A whole leaf of them is compared with a constant without making a `Value` of each.
protocol IntegerOperand: SingleOperand {
    /// Whether that is so for this operand; others of its type have values of another type, or may be null.
    var isInteger: Bool { get }

    /// Appends the integers for several objects of one leaf.
    ///
    /// - Parameters:
    ///   - leaf: The cluster leaf that holds the objects.
    ///   - rows: The rows of the leaf, which are taken in ascending order.
    ///   - integers: Receives one integer for each row.
    /// - Throws: A storage error when the file is damaged or the check of the query asks to stop.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to integers: inout [Int64]) throws(StorageError)
}

extension IntegerOperand {
    /// By default true.
    var isInteger: Bool { true }

    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        var integers: [Int64] = []
        integers.reserveCapacity(rows.count)
        try append(leaf, rows, to: &integers)
        for integer in integers { values.append(.int(integer)) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// `@links.@count`: the number of incoming links of every kind and from every class, summed up over the objects of a path.
///
/// Links that mixed values hold count, too.
final class AllBacklinksOperand: IntegerOperand {
    var type: OperandType { .int }
    var quantifier: Quantifier? { nil }
    let label: String
    private let chain: LinkChain
    /// The backlink columns of the target class, one for every link column that leads to it.
    private let columns: [Column]

    /// Creates the operand for the number of all incoming links.
    ///
    /// - Parameters:
    ///   - chain: The path to the objects whose incoming links are counted; empty for the object
    ///     itself.
    ///   - target: The class of these objects.
    ///   - label: The text of the operand.
    init(_ chain: LinkChain, target: Table, label: String) {
        self.chain = chain
        columns = target.backlinks
        self.label = label
    }

    /// False: a to-many path yields one sum, not a count for each object.
    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    /// Returns the number of links as an int, 0 when the path reaches no object.
    ///
    /// - Complexity: O(number of reached objects × number of backlink columns).
    func value(_ row: borrowing Row) throws(StorageError) -> Value { .int(Int64(try count(row))) }

    /// The number of links to the objects that the path reaches from one object.
    private func count(_ row: borrowing Row) throws(StorageError) -> Int {
        var count = 0
        try chain.forEachRow(from: row) { target throws(StorageError) in
            for column in columns { count += try target.leaf.backlinks(column, row: target.index).count }
            return true
        }
        return count
    }

    /// Appends the numbers of links of the objects of a leaf, whose refs are attached once.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to integers: inout [Int64]) throws(StorageError) {
        guard chain.isEmpty else {
            return try rows.forEach { row throws(StorageError) in integers.append(Int64(try count(Row(leaf: leaf, index: row)))) }
        }
        let first = integers.count
        for _ in 0..<rows.count { integers.append(0) }
        for column in columns {
            let counts = try BacklinkCounts(column, leaf)
            var next = first
            try rows.forEach { row throws(StorageError) in
                integers[next] += Int64(try counts[row])
                next += 1
            }
        }
    }
}

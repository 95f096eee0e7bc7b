// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `@links.@count`: the number of incoming links of every kind and from every class, summed up over
/// the objects of a path.
///
/// Links that mixed values hold count, too.
final class AllBacklinksOperand: SingleOperand {
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
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var count = 0
        try chain.forEachRow(from: row) { target throws(StorageError) in
            for column in columns { count += try target.leaf.backlinks(column, row: target.index).count }
            return true
        }
        return .int(Int64(count))
    }
}

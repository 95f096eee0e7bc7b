// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `SUBQUERY(…).@count`: the number of objects at the end of a path that fulfil a condition. An
/// object that the path reaches several times counts each time.
final class SubqueryOperand: SingleOperand {
    var type: OperandType { .int }
    var quantifier: Quantifier? { nil }
    let label: String
    private let chain: LinkChain
    /// The predicate of the subquery, bound to the class that the path leads to.
    private let condition: any Condition

    /// Creates the operand for the number of linked objects that fulfil a condition.
    ///
    /// - Parameters:
    ///   - chain: The path to the linked objects.
    ///   - condition: The condition on a linked object.
    ///   - label: The text of the subquery.
    init(_ chain: LinkChain, condition: any Condition, label: String) {
        self.chain = chain
        self.condition = condition
        self.label = label
    }

    /// False: the result is one count, however many objects the path reaches.
    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    /// Returns the number of linked objects that fulfil the condition, as an int.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var count: Int64 = 0
        try chain.forEachRow(from: row) { target throws(StorageError) in
            if try condition.matches(target) { count += 1 }
            return true
        }
        return .int(count)
    }
}

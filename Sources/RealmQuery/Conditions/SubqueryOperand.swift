// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `SUBQUERY(…).@count`: how many of the objects of a path fulfil a condition. Duplicates count each time.
final class SubqueryOperand: SingleOperand {
    var type: OperandType { .int }
    var quantifier: Quantifier? { nil }
    let label: String
    private let chain: LinkChain
    private let condition: any Condition

    /// `condition` is bound to the class that `chain` leads to.
    init(_ chain: LinkChain, condition: any Condition, label: String) {
        self.chain = chain
        self.condition = condition
        self.label = label
    }

    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var count: Int64 = 0
        try chain.forEachRow(from: row) { target throws(StorageError) in
            if try condition.matches(target) { count += 1 }
            return true
        }
        return .int(count)
    }
}

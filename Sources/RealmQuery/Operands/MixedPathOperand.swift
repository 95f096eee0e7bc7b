// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A mixed property with steps into the value it holds. Always multi-valued, even if it selects one value.
final class MixedPathOperand: Operand {
    var type: OperandType { .mixed }
    let quantifier: Quantifier?
    let label: String
    private let chain: LinkChain
    private let reader: ColumnReader
    private let descent: ValueDescent

    init(_ column: Column, chain: LinkChain, descent: ValueDescent, quantifier: Quantifier?, label: String) {
        self.chain = chain
        self.descent = descent
        reader = ColumnReader(column)
        self.quantifier = quantifier
        self.label = label
    }

    var isMultiValued: Bool { true }
    var single: (any SingleOperand)? { nil }
    /// Only a path through a to-many link counts here.
    var isCollectionForIn: Bool { !chain.isUnary }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try descent.collect(try reader.value(target), into: &groups)
            return true
        }
        groups.finish()
    }
}

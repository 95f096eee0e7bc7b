// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The values of a dictionary, possibly behind links: all of them, or what a path of keys selects.
///
/// Each dictionary that is reached is a group of its own. A path of keys alone yields a single value.
final class DictionaryOperand: Operand {
    var type: OperandType { .mixed }
    let quantifier: Quantifier?
    let label: String
    let column: Column
    let table: Table
    let chain: LinkChain
    private let descent: ValueDescent
    private let reader: ColumnReader
    private let selectsOne: Bool

    init(
        _ column: Column, of table: Table, chain: LinkChain, descent: ValueDescent, quantifier: Quantifier?, label: String
    ) {
        self.column = column
        self.table = table
        self.chain = chain
        self.descent = descent
        reader = ColumnReader(column)
        selectsOne =
            chain.isUnary
            && descent.steps.allSatisfy {
                if case .key(let name, _) = $0 { return name != "@keys" }
                return !$0.isAll
            }
        self.quantifier = quantifier
        self.label = label
    }

    var isMultiValued: Bool { !selectsOne }
    var single: (any SingleOperand)? { nil }
    var isCollectionForIn: Bool { true }
    var isPrimitiveCollection: Bool { true }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: !selectsOne)
        if chain.isEmpty {
            if let dictionary = try column.dictionary(row, reader, table) {
                try descent.collect(dictionary, from: 0, into: &groups)
            }
        } else {
            try chain.forEachRow(from: row) { target throws(StorageError) in
                if let dictionary = try column.dictionary(target, reader, table) {
                    try descent.collect(dictionary, from: 0, into: &groups)
                } else if descent.steps.count == 1 {
                    groups.closeGroup()
                }
                return true
            }
        }
        groups.finish()
    }
}

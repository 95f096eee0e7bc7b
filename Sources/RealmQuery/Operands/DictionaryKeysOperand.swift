// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The keys of a dictionary, possibly behind links.
final class DictionaryKeysOperand: Operand {
    var type: OperandType { .string }
    let quantifier: Quantifier?
    let label: String
    private let column: Column
    private let table: Table
    private let chain: LinkChain
    private let reader: ColumnReader

    init(_ column: Column, of table: Table, chain: LinkChain, quantifier: Quantifier?, label: String) {
        self.column = column
        self.table = table
        self.chain = chain
        reader = ColumnReader(column)
        self.quantifier = quantifier
        self.label = label
    }

    var isMultiValued: Bool { true }
    var single: (any SingleOperand)? { nil }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            if let dictionary = try column.dictionary(target, reader, table) {
                var entries = dictionary.entries()
                while let entry = try entries.next() { try groups.append(.string(entry.key.bytes)) }
            }
            groups.closeGroup()
            return true
        }
        groups.finish()
    }
}

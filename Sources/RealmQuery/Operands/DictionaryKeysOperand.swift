// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// `.@keys`: the keys of a dictionary as strings, also through links. Each dictionary that is reached is a group of its own.
final class DictionaryKeysOperand: Operand {
    var type: OperandType { .string }
    let quantifier: Quantifier?
    let label: String
    let column: Column
    /// The class that has the dictionary as a property.
    let table: Table
    /// The path to the objects that hold the dictionary; empty for the object itself.
    let chain: LinkChain
    private let reader: ColumnReader

    /// Creates the operand for the keys of a dictionary.
    ///
    /// - Parameters:
    ///   - chain: The path to the objects that hold it; empty for the object itself.
    ///   - quantifier: The quantifier before the path, if there is one.
    ///   - label: The text of the operand.
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

    /// Collects the keys in the order of their bytes. A dictionary that never held an entry is an empty group.
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

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The values of a dictionary, also through links: all of them, or what a path of keys selects.
///
/// Each dictionary that is reached is a group of its own. A path of keys alone yields a single
/// value, which is null when a key is missing.
final class DictionaryOperand: Operand {
    var type: OperandType { .mixed }
    /// The type of the dictionary's values. Only mixed ones have steps into them.
    var readingType: OperandType { OperandType(column.type) }
    let quantifier: Quantifier?
    let label: String
    let column: Column
    /// The class that has the dictionary as a property.
    let table: Table
    /// The path to the objects that hold the dictionary; empty for the object itself.
    let chain: LinkChain
    /// The steps into the dictionary and the collections nested in its values; at least one.
    let descent: ValueDescent
    private let reader: ColumnReader
    /// Whether the path cannot yield several values: it passes no to-many link, and it has neither `[*]` nor `@keys`.
    private let yieldsOne: Bool

    /// Creates the operand for the values that a path selects in a dictionary.
    ///
    /// - Parameters:
    ///   - chain: The path to the objects that hold it; empty for the object itself.
    ///   - descent: The steps into the dictionary; `[*]` selects all of its values.
    ///   - quantifier: The quantifier before the path, if there is one.
    ///   - label: The text of the operand.
    init(
        _ column: Column, of table: Table, chain: LinkChain, descent: ValueDescent, quantifier: Quantifier?, label: String
    ) {
        self.column = column
        self.table = table
        self.chain = chain
        self.descent = descent
        reader = ColumnReader(column)
        yieldsOne = chain.isUnary && descent.selectsOne
        self.quantifier = quantifier
        self.label = label
    }

    var isMultiValued: Bool { !yieldsOne }
    /// Nil: a dictionary that never held an entry yields no value at all, so not even a single key is sure to have one.
    var single: (any SingleOperand)? { nil }
    var isCollectionForIn: Bool { true }
    var isPrimitiveCollection: Bool { true }

    /// Collects what the steps select in every dictionary that the path reaches.
    ///
    /// A dictionary that never held an entry yields no value. Behind links it yields an empty group if the
    /// path into the dictionary has a single step.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: !yieldsOne)
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

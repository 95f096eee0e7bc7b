// SPDX-License-Identifier: Apache-2.0

import RealmStorage

extension Column {
    /// The dictionary of a row of `table`; nil when it never held an entry.
    func dictionary(_ row: borrowing Row, _ reader: ColumnReader, _ table: Table) throws(StorageError) -> DictionaryView? {
        let root = try reader.root(row)
        guard !root.isNone else { return nil }
        return try DictionaryView(
            root: root, space: row.leaf.space, keyType: dictionaryKeyType, fileFormat: table.fileFormat)
    }
}

/// The values of a dictionary, possibly behind links: all of them, or what a path of keys selects.
///
/// Each dictionary that is reached is a group of its own. A path of keys alone yields a single value.
final class DictionaryOperand: Operand {
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
        super.init(type: .mixed, quantifier: quantifier, label: label)
    }

    override var isMultiValued: Bool { !selectsOne }
    override var isCollectionForIn: Bool { true }
    override var isPrimitiveCollection: Bool { true }
    /// A dictionary that never held an entry yields no value at all.
    override var isSingle: Bool { false }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
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

/// The keys of a dictionary, possibly behind links.
final class DictionaryKeysOperand: Operand {
    private let column: Column
    private let table: Table
    private let chain: LinkChain
    private let reader: ColumnReader

    init(_ column: Column, of table: Table, chain: LinkChain, quantifier: Quantifier?, label: String) {
        self.column = column
        self.table = table
        self.chain = chain
        reader = ColumnReader(column)
        super.init(type: .string, quantifier: quantifier, label: label)
    }

    override var isMultiValued: Bool { true }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
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

// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The number of elements of a collection of values that are no links.
final class CollectionSizeOperand: SingleOperand {
    var type: OperandType { .int }
    var quantifier: Quantifier? { nil }
    let label: String
    private let column: Column
    private let table: Table
    private let chain: LinkChain
    private let reader: ColumnReader

    init(_ column: Column, of table: Table, chain: LinkChain, label: String) {
        self.column = column
        self.table = table
        self.chain = chain
        reader = ColumnReader(column)
        self.label = label
    }

    var isMultiValued: Bool { !chain.isUnary }
    var single: (any SingleOperand)? { isMultiValued ? nil : self }

    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        guard let target = try chain.target(of: row) else { return .int(0) }
        return .int(Int64(try count(target)))
    }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isUnary { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try groups.append(.int(Int64(try count(target))))
            return true
        }
        groups.closeGroup()
    }

    private func count(_ row: borrowing Row) throws(StorageError) -> Int {
        if column.collection == .dictionary { return try column.dictionary(row, reader, table)?.count ?? 0 }
        let root = try reader.root(row)
        guard !root.isNone else { return 0 }
        return try ListView(root: root, space: row.leaf.space, shape: column.elementShape).count
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A property that holds one value, possibly behind links.
final class PropertyOperand: SingleOperand {
    let type: OperandType
    let quantifier: Quantifier?
    let label: String
    let column: Column
    let chain: LinkChain
    private let reader: ColumnReader

    init(_ column: Column, chain: LinkChain, quantifier: Quantifier?, label: String) {
        self.column = column
        self.chain = chain
        reader = ColumnReader(column)
        type = OperandType(column.type)
        self.quantifier = quantifier
        self.label = label
    }

    /// Is it a property of the base class itself?
    var isOfBaseClass: Bool { chain.isEmpty }

    var isMultiValued: Bool { !chain.isUnary }
    var single: (any SingleOperand)? { isMultiValued ? nil : self }
    var isCollectionForIn: Bool { !chain.isUnary }

    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        if chain.isEmpty { return try reader.value(row) }
        guard let target = try chain.target(of: row) else { return .null }
        return try reader.value(target)
    }

    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        if chain.isEmpty { return try reader.values(of: leaf).append(rows, to: &values) }
        try rows.forEach { row throws(StorageError) in values.append(try value(Row(leaf: leaf, index: row))) }
    }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isUnary { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try groups.append(try reader.value(target))
            return true
        }
        groups.closeGroup()
    }
}

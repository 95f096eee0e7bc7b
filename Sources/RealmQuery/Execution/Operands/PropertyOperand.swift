// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// A property that holds one value, possibly behind links.
final class PropertyOperand: Operand {
    let column: Column
    let chain: LinkChain
    private let reader: ColumnReader

    init(_ column: Column, chain: LinkChain, quantifier: Quantifier?, label: String) {
        self.column = column
        self.chain = chain
        reader = ColumnReader(column)
        super.init(type: OperandType(column.type), quantifier: quantifier, label: label)
    }

    /// Is it a property of the base class itself?
    var isOfBaseClass: Bool { chain.isEmpty }

    override var isMultiValued: Bool { !chain.isUnary }
    override var isCollectionForIn: Bool { !chain.isUnary }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value {
        if chain.isEmpty { return try reader.value(row) }
        guard let target = try chain.target(of: row) else { return .null }
        return try reader.value(target)
    }

    override func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        guard chain.isEmpty else { return try super.append(leaf, rows, to: &values) }
        try reader.values(of: leaf).append(rows, to: &values)
    }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isUnary { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try groups.append(try reader.value(target))
            return true
        }
        groups.closeGroup()
    }
}

/// The links themselves at the end of a path.
final class LinkOperand: Operand {
    let chain: LinkChain
    let target: Table

    init(_ chain: LinkChain, target: Table, quantifier: Quantifier?, label: String) {
        self.chain = chain
        self.target = target
        super.init(type: .link, quantifier: quantifier, label: label)
    }

    override var isMultiValued: Bool { !chain.isUnary }
    override var isCollectionForIn: Bool { !chain.isUnary }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var found = Value.null
        try chain.forEachKey(from: row) { key in
            found = .link(target.key, key)
            return false
        }
        return found
    }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isUnary { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachKey(from: row) { key throws(StorageError) in
            try groups.append(.link(target.key, key))
            return true
        }
        groups.closeGroup()
    }
}

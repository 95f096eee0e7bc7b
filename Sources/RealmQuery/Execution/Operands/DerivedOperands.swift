// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// An operand that replaces every value of another one.
class DerivedOperand: Operand {
    let inner: Operand

    init(_ inner: Operand, type: OperandType, quantifier: Quantifier?, label: String) {
        self.inner = inner
        super.init(type: type, quantifier: quantifier, label: label)
    }

    override var isMultiValued: Bool { inner.isMultiValued }
    override var isSingle: Bool { inner.isSingle }

    func derive(_ value: Value) throws(StorageError) -> Value { value }

    override final func value(_ row: borrowing Row) throws(StorageError) -> Value { try derive(try inner.value(row)) }

    override final func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        let start = values.count
        try inner.append(leaf, rows, to: &values)
        for index in start..<values.count { values[index] = try derive(values[index]) }
    }

    override final func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        try inner.evaluate(row, into: &groups)
        try groups.transform { value throws(StorageError) in try derive(value) }
    }
}

/// `.@count` of a string, a binary or a mixed value: bytes of text and binary data, elements of nested collections.
final class ByteLengthOperand: DerivedOperand {
    private let space: NodeSpace

    init(_ inner: Operand, space: NodeSpace, label: String) {
        self.space = space
        super.init(inner, type: .int, quantifier: nil, label: label)
    }

    override func derive(_ value: Value) throws(StorageError) -> Value {
        switch value {
        case .string(let bytes), .binary(let bytes): return .int(Int64(bytes.count))
        case .list(let root): return .int(Int64(try ListView(nested: root, space: space).count))
        case .dictionary(let root): return .int(Int64(try DictionaryView(root: root, space: space).count))
        // The reference engine gives null to null, booleans and numbers, but no sensible answer for the rest.
        case .timestamp, .objectID, .uuid, .link: return SortKey.missing
        case .null, .int, .bool, .float, .double, .decimal: return .null
        }
    }
}

/// `.@type`: the type of each value, as a set of bits.
final class TypeOperand: DerivedOperand {
    init(_ inner: Operand, label: String) {
        super.init(inner, type: .typeOfValue, quantifier: inner.quantifier, label: label)
    }

    override func derive(_ value: Value) throws(StorageError) -> Value { .int(TypeName.bits(of: value)) }
}

/// `.length`: the byte length of each element of a list or set.
final class ElementLengthOperand: Operand {
    private let column: Column
    private let chain: LinkChain
    private let reader: ColumnReader

    init(_ column: Column, chain: LinkChain, quantifier: Quantifier?, label: String) {
        self.column = column
        self.chain = chain
        reader = ColumnReader(column)
        super.init(type: .int, quantifier: quantifier, label: label)
    }

    override var isMultiValued: Bool { true }
    override var isCollectionForIn: Bool { true }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            let root = try reader.root(target)
            guard !root.isNone else { return true }
            let list = try ListView(root: root, space: target.leaf.space, shape: column.elementShape)
            var elements = list.elements()
            while let element = try elements.next() {
                try chain.interrupt?.step()
                switch element {
                case .string(let bytes), .binary(let bytes): try groups.append(.int(Int64(bytes.count)))
                // A null among strings has length zero; among mixed values it has none.
                case .null where column.type != .mixed: try groups.append(.int(0))
                default: break
                }
            }
            return true
        }
        groups.closeGroup()
    }
}

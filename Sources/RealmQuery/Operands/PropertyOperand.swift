// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A property that holds one value, of the object itself or of objects that a path of links reaches.
final class PropertyOperand: SingleOperand {
    let type: OperandType
    let quantifier: Quantifier?
    let label: String
    let column: Column
    /// The path to the objects that hold the property; empty for the object itself.
    let chain: LinkChain
    private let reader: ColumnReader

    /// Creates the operand for a property with one value.
    ///
    /// - Parameters:
    ///   - column: The property, which is not a collection.
    ///   - chain: The path to the objects that hold it; empty for the object itself.
    ///   - quantifier: The quantifier before the path, if there is one.
    ///   - label: The text of the operand.
    init(_ column: Column, chain: LinkChain, quantifier: Quantifier?, label: String) {
        self.column = column
        self.chain = chain
        reader = ColumnReader(column, chain.cancellation)
        type = OperandType(column.type)
        self.quantifier = quantifier
        self.label = label
    }

    /// Whether it is a property of the base class itself, so that its leaves can be compared as a whole and indexes apply.
    var isOfBaseClass: Bool { chain.isEmpty }

    var isMultiValued: Bool { !chain.isUnary }
    var single: (any SingleOperand)? { isMultiValued ? nil : self }
    var isCollectionForIn: Bool { !chain.isUnary }

    /// Returns the value for an object; null when a link on the way is null.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        if chain.isEmpty { return try reader.value(row) }
        guard let target = try chain.target(of: row) else { return .null }
        return try reader.value(target)
    }

    /// Appends the values for the rows of a leaf. Without links they are read from one packed array.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        if chain.isEmpty { return try reader.values(of: leaf).append(rows, to: &values) }
        try rows.forEach { row throws(StorageError) in values.append(try value(Row(leaf: leaf, index: row))) }
    }

    /// Collects the values of all objects that the path reaches, as one list.
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

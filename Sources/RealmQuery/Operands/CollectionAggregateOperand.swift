// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `@min`, `@max`, `@sum` or `@avg` of each collection of values at the end of a path.
///
/// Through a to-many path there is one result for each collection, so the operand is multi-valued
/// there.
final class CollectionAggregateOperand: SingleOperand {
    let type: OperandType
    var quantifier: Quantifier? { nil }
    let label: String
    private let column: Column
    /// The class that has the collection as a property.
    private let table: Table
    private let chain: LinkChain
    private let aggregate: AggregateOperator
    private let reader: ColumnReader

    /// Creates the operand for the aggregate of a collection of values.
    ///
    /// - Parameters:
    ///   - column: The list, set or dictionary whose elements are combined.
    ///   - table: The class of that property.
    ///   - chain: The path to the objects that hold it; empty for the object itself.
    ///   - aggregate: The way in which the elements are combined.
    ///   - label: The text of the operand.
    init(_ column: Column, of table: Table, chain: LinkChain, aggregate: AggregateOperator, label: String) {
        self.column = column
        self.table = table
        self.chain = chain
        self.aggregate = aggregate
        reader = ColumnReader(column)
        // Constants next to it are converted to the type of the elements, whatever the result is.
        type = OperandType(column.type)
        self.label = label
    }

    var isMultiValued: Bool { !chain.isUnary }
    var single: (any SingleOperand)? { isMultiValued ? nil : self }

    /// Returns the aggregate for the one object that the path reaches. When a link on the way is
    /// null, the result is that of an empty collection.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        guard let target = try chain.target(of: row) else { return Aggregation(aggregate, of: column.type).result }
        return try result(target)
    }

    /// Collects the aggregates of all collections that the path reaches, as one list.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isUnary { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try groups.append(try result(target))
            return true
        }
        groups.closeGroup()
    }

    /// The aggregate of the collection of one object.
    ///
    /// - Throws: A storage error, also when the query is to stop: a collection may be long.
    /// - Complexity: O(number of elements).
    private func result(_ row: borrowing Row) throws(StorageError) -> Value {
        var aggregation = Aggregation(aggregate, of: column.type)
        if column.collection == .dictionary {
            guard let dictionary = try column.dictionary(row, reader, table) else { return aggregation.result }
            var entries = dictionary.entries()
            while let entry = try entries.next() {
                try chain.cancellation?.step()
                aggregation.add(entry.value)
            }
            return aggregation.result
        }
        let root = try reader.root(row)
        guard !root.isNone else { return aggregation.result }
        let list = try ListView(root: root, space: row.leaf.space, shape: column.elementShape)
        var elements = list.elements()
        while let element = try elements.next() {
            try chain.cancellation?.step()
            aggregation.add(element)
        }
        return aggregation.result
    }
}

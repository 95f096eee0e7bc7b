// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// `@min`, `@max`, `@sum` or `@avg` of each collection of values at the end of a path.
///
/// Through a to-many path there is one result for each collection, so the operand is multi-valued there.
final class CollectionAggregateOperand: IntegerOperand {
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

    /// Whether it is the sum of a list or set of integers of the object itself, which is 0 for an empty one.
    var isInteger: Bool { aggregate == .sum && column.type == .int && chain.isEmpty && column.collection != .dictionary }

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
        return try result(try reader.root(row), row.leaf.space)
    }

    private func result(_ root: Ref, _ space: NodeSpace) throws(StorageError) -> Value {
        var aggregation = Aggregation(aggregate, of: column.type)
        guard !root.isNone else { return aggregation.result }
        if column.type == .int, let leaf = try IntLeaf(ofShortList: root, space, isNullable: column.isNullable) {
            try chain.cancellation?.step(1 &+ leaf.count / 8)
            for row in 0..<leaf.count { aggregation.add(leaf.value(row)) }
            return aggregation.result
        }
        if column.type == .double, let leaf = try DoubleLeaf(ofShortList: root, space) {
            try chain.cancellation?.step(1 &+ leaf.count / 8)
            for row in 0..<leaf.count { aggregation.add(leaf.value(row)) }
            return aggregation.result
        }
        var elements = try ListView(root: root, space: space, shape: column.elementShape).elements()
        while let element = try elements.next() {
            try chain.cancellation?.step()
            aggregation.add(element)
        }
        return aggregation.result
    }

    /// Appends the sums of the collections of a leaf, whose refs are attached once.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to integers: inout [Int64]) throws(StorageError) {
        let lists = try LeafCollections(column, of: leaf)
        guard !column.isNullable else {
            return try rows.forEach { row throws(StorageError) in integers.append(try sum(try lists.root(row), lists.space)) }
        }
        try lists.appendSums(of: rows, to: &integers) { root throws(StorageError) in try sum(root, lists.space) }
    }

    /// The sum of a list or set of integers, which wraps around at 64 bits.
    private func sum(_ root: Ref, _ space: NodeSpace) throws(StorageError) -> Int64 {
        guard !root.isNone else { return 0 }
        guard let leaf = try IntLeaf(ofShortList: root, space, isNullable: column.isNullable) else {
            if case .int(let sum) = try result(root, space) { return sum }
            return 0
        }
        try chain.cancellation?.step(1 &+ leaf.count / 8)
        var sum: Int64 = 0
        for row in 0..<leaf.count { sum &+= leaf.integer(row) ?? 0 }
        return sum
    }

    /// Appends the aggregates of the collections of a leaf, whose refs are attached once.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        guard chain.isEmpty, column.collection != .dictionary else {
            return try rows.forEach { row throws(StorageError) in values.append(try value(Row(leaf: leaf, index: row))) }
        }
        let roots = try leaf.attachRefs(column)
        try rows.forEach { row throws(StorageError) in
            let root = try roots.optionalRef(row, "collection in column '\(column.name)'")
            values.append(try result(root, leaf.space))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// `@min`, `@max`, `@sum` or `@avg` of a property over all objects that a path reaches, as one value.
final class LinkAggregateOperand: SingleOperand {
    let type: OperandType
    var quantifier: Quantifier? { nil }
    let label: String
    private let chain: LinkChain
    private let column: LinkedColumn
    private let aggregate: AggregateOperator

    /// Creates the operand for the aggregate of a property of linked objects.
    ///
    /// - Parameters:
    ///   - chain: The path to the objects whose property is combined.
    ///   - target: The class of these objects.
    ///   - column: The property, which holds a single value.
    ///   - aggregate: The way in which the values are combined.
    ///   - label: The text of the operand.
    init(_ chain: LinkChain, target: Table, column: Column, aggregate: AggregateOperator, label: String) {
        self.chain = chain
        self.aggregate = aggregate
        self.column = LinkedColumn(column, of: target, chain.cancellation)
        type = Aggregation.resultType(aggregate, column.type)
        self.label = label
    }

    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    /// Returns the aggregate over all objects that the path reaches. An object that is reached several times counts each time.
    ///
    /// - Throws: A storage error, also when the query is to stop or would hold too many keys at
    ///   once.
    /// - Complexity: O(n log n) for n reached objects.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var keys = KeyBuffer.take(chain.cancellation)
        defer { keys.giveBack() }
        try chain.forEachKey(from: row) { key throws(StorageError) in
            try keys.append(key)
            return true
        }
        return try result(&keys)
    }

    /// Appends the aggregates for the objects of a leaf, whose lists are attached once.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        guard let reader = chain.onlyStep, reader.step.kind == .list else {
            return try rows.forEach { row throws(StorageError) in values.append(try value(Row(leaf: leaf, index: row))) }
        }
        let roots = try leaf.attachRefs(reader.step.column)
        var keys = KeyBuffer.take(chain.cancellation)
        defer { keys.giveBack() }
        try rows.forEach { row throws(StorageError) in
            keys.release()
            let root = try roots.optionalRef(row, "a collection of '\(reader.step.label)'")
            _ = try reader.forEachElement(at: root, in: leaf.space) { key throws(StorageError) in
                try keys.append(key)
                return true
            }
            values.append(try result(&keys))
        }
    }

    /// The aggregate of the objects with some keys, which are put into order.
    private func result(_ buffer: inout KeyBuffer) throws(StorageError) -> Value {
        // The order in which floating-point numbers are summed up matters; it is that of the objects.
        buffer.sort()
        var aggregation = Aggregation(aggregate, of: column.column.type)
        for key in buffer.keys {
            try chain.cancellation?.step()
            guard let value = try column.value(key) else { continue }
            aggregation.add(value)
        }
        return aggregation.result
    }
}

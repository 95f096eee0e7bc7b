// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `@min`, `@max`, `@sum` or `@avg` of a property over all objects that a path reaches, as one
/// value.
final class LinkAggregateOperand: SingleOperand {
    let type: OperandType
    var quantifier: Quantifier? { nil }
    let label: String
    private let chain: LinkChain
    private let reader: ColumnReader
    private let finder: ObjectFinder
    private let aggregate: AggregateOperator
    /// The keys of the objects that the path reaches from the current object; reused from object to
    /// object.
    private var keys: [ObjectKey] = []

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
        reader = ColumnReader(column)
        finder = ObjectFinder(target)
        type = Aggregation.resultType(aggregate, column.type)
        self.label = label
    }

    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    /// Returns the aggregate over all objects that the path reaches. An object that is reached
    /// several times counts each time.
    ///
    /// - Throws: A storage error, also when the query is to stop or would hold too many keys at
    ///   once.
    /// - Complexity: O(n log n) for n reached objects.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        keys.removeAll(keepingCapacity: true)
        try chain.forEachKey(from: row) { key throws(StorageError) in
            if keys.count & 0xfff == 0xfff { try chain.cancellation?.require(valueCount: keys.count) }
            keys.append(key)
            return true
        }
        // The order in which floating-point numbers are summed up matters; it is that of the objects.
        keys.sort()
        var aggregation = Aggregation(aggregate, of: reader.column.type)
        for key in keys {
            try chain.cancellation?.step()
            guard let target = try finder.find(key) else { continue }
            aggregation.add(try reader.value(target))
        }
        return aggregation.result
    }
}

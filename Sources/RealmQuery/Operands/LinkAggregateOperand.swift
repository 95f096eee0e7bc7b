// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `@min`, `@max`, `@sum` or `@avg` of a property over all objects that a path reaches.
final class LinkAggregateOperand: SingleOperand {
    let type: OperandType
    var quantifier: Quantifier? { nil }
    let label: String
    private let chain: LinkChain
    private let reader: ColumnReader
    private let finder: ObjectFinder
    private let aggregate: AggregateOperator
    private var keys: [ObjectKey] = []

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

// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// `@min`, `@max`, `@sum` or `@avg` of each collection at the end of a path.
final class CollectionAggregateOperand: Operand {
    private let column: Column
    private let table: Table
    private let chain: LinkChain
    private let aggregate: AggregateOperator
    private let reader: ColumnReader

    init(_ column: Column, of table: Table, chain: LinkChain, aggregate: AggregateOperator, label: String) {
        self.column = column
        self.table = table
        self.chain = chain
        self.aggregate = aggregate
        reader = ColumnReader(column)
        // Constants next to it are converted to the type of the elements, whatever the result is.
        super.init(type: OperandType(column.type), label: label)
    }

    override var isMultiValued: Bool { !chain.isUnary }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value {
        guard let target = try chain.target(of: row) else { return Aggregation(aggregate, of: column.type).result }
        return try result(target)
    }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isUnary { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try groups.append(try result(target))
            return true
        }
        groups.closeGroup()
    }

    private func result(_ row: borrowing Row) throws(StorageError) -> Value {
        var aggregation = Aggregation(aggregate, of: column.type)
        if column.collection == .dictionary {
            guard let dictionary = try column.dictionary(row, reader, table) else { return aggregation.result }
            var entries = dictionary.entries()
            while let entry = try entries.next() {
                try chain.interrupt?.step()
                aggregation.add(entry.value)
            }
            return aggregation.result
        }
        let root = try reader.root(row)
        guard !root.isNone else { return aggregation.result }
        let list = try ListView(root: root, space: row.leaf.space, shape: column.elementShape)
        var elements = list.elements()
        while let element = try elements.next() {
            try chain.interrupt?.step()
            aggregation.add(element)
        }
        return aggregation.result
    }
}

/// `@min`, `@max`, `@sum` or `@avg` of a property over all objects that a path reaches.
final class LinkAggregateOperand: Operand {
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
        super.init(type: Aggregation.resultType(aggregate, column.type), label: label)
    }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value {
        keys.removeAll(keepingCapacity: true)
        try chain.forEachKey(from: row) { key throws(StorageError) in
            if keys.count & 0xfff == 0xfff { try chain.interrupt?.require(valueCount: keys.count) }
            keys.append(key)
            return true
        }
        // The order in which floating-point numbers are summed up matters; it is that of the objects.
        keys.sort()
        var aggregation = Aggregation(aggregate, of: reader.column.type)
        for key in keys {
            try chain.interrupt?.step()
            guard let target = try finder.find(key) else { continue }
            aggregation.add(try reader.value(target))
        }
        return aggregation.result
    }
}

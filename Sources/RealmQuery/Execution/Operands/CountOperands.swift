// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// The number of links at the end of a path.
final class LinkCountOperand: Operand {
    /// The path up to the object that holds the links.
    private let chain: LinkChain
    private let last: LinkStep
    private let reader: ColumnReader

    init(_ chain: LinkChain, last: LinkStep, label: String) {
        self.chain = chain
        self.last = last
        reader = ColumnReader(last.column)
        super.init(type: .int, label: label)
    }

    /// Behind links there is one count per object, even if the links are to-one.
    override var isMultiValued: Bool { !chain.isEmpty }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value {
        .int(Int64(try count(row, skippingNull: true)))
    }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isEmpty { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try groups.append(.int(Int64(try count(target, skippingNull: false))))
            return true
        }
        groups.closeGroup()
    }

    private func count(_ row: borrowing Row, skippingNull: Bool) throws(StorageError) -> Int {
        switch last.kind {
        case .link: return try reader.value(row).isNull ? 0 : 1
        case .backlink: return try row.leaf.backlinks(last.column, row: row.index).count
        case .list, .set:
            let root = try reader.root(row)
            guard !root.isNone else { return 0 }
            return try ListView(
                root: root, space: row.leaf.space, shape: last.column.elementShape,
                mayHoldUnresolved: last.target.hasTombstones
            ).count
        case .dictionary:
            guard let dictionary = try last.column.dictionary(row, reader, last.source) else { return 0 }
            guard skippingNull else { return dictionary.count }
            var count = 0
            var entries = dictionary.entries()
            while let entry = try entries.next() {
                try chain.interrupt?.step()
                if !entry.value.isNull { count += 1 }
            }
            return count
        }
    }
}

/// The number of elements of a collection of values that are no links.
final class CollectionSizeOperand: Operand {
    private let column: Column
    private let table: Table
    private let chain: LinkChain
    private let reader: ColumnReader

    init(_ column: Column, of table: Table, chain: LinkChain, label: String) {
        self.column = column
        self.table = table
        self.chain = chain
        reader = ColumnReader(column)
        super.init(type: .int, label: label)
    }

    override var isMultiValued: Bool { !chain.isUnary }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value {
        guard let target = try chain.target(of: row) else { return .int(0) }
        return .int(Int64(try count(target)))
    }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isUnary { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try groups.append(.int(Int64(try count(target))))
            return true
        }
        groups.closeGroup()
    }

    private func count(_ row: borrowing Row) throws(StorageError) -> Int {
        if column.collection == .dictionary { return try column.dictionary(row, reader, table)?.count ?? 0 }
        let root = try reader.root(row)
        guard !root.isNone else { return 0 }
        return try ListView(root: root, space: row.leaf.space, shape: column.elementShape).count
    }
}

/// `@links.@count`: the number of incoming links of every kind, summed up over the objects of a path.
final class AllBacklinksOperand: Operand {
    private let chain: LinkChain
    private let columns: [Column]

    init(_ chain: LinkChain, target: Table, label: String) {
        self.chain = chain
        columns = target.backlinks
        super.init(type: .int, label: label)
    }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var count = 0
        try chain.forEachRow(from: row) { target throws(StorageError) in
            for column in columns { count += try target.leaf.backlinks(column, row: target.index).count }
            return true
        }
        return .int(Int64(count))
    }
}

/// `SUBQUERY(…).@count`: how many of the objects of a path fulfil a condition. Duplicates count each time.
final class SubqueryOperand: Operand {
    private let chain: LinkChain
    private let condition: Condition

    init(_ chain: LinkChain, condition: Condition, label: String) {
        self.chain = chain
        self.condition = condition
        super.init(type: .int, label: label)
    }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var count: Int64 = 0
        try chain.forEachRow(from: row) { target throws(StorageError) in
            if try condition.matches(target) { count += 1 }
            return true
        }
        return .int(count)
    }
}

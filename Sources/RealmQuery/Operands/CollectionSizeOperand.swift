// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// `.@count` on a list, set or dictionary of values that are not links: the number of its elements.
///
/// Through a to-many path there is one count for each collection, so the operand is multi-valued there.
final class CollectionSizeOperand: IntegerOperand {
    var type: OperandType { .int }
    var quantifier: Quantifier? { nil }
    let label: String
    private let column: Column
    /// The class that has the collection as a property.
    private let table: Table
    private let chain: LinkChain
    private let reader: ColumnReader

    /// Creates the operand for the number of elements of a collection.
    ///
    /// - Parameters:
    ///   - column: The collection whose elements are counted.
    ///   - chain: The path to the objects that hold it; empty for the object itself.
    ///   - label: The text of the operand.
    init(_ column: Column, of table: Table, chain: LinkChain, label: String) {
        self.column = column
        self.table = table
        self.chain = chain
        reader = ColumnReader(column)
        self.label = label
    }

    var isMultiValued: Bool { !chain.isUnary }
    var single: (any SingleOperand)? { isMultiValued ? nil : self }

    /// Returns the number of elements as an int, 0 when a link of the path is null.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        guard let target = try chain.target(of: row) else { return .int(0) }
        return .int(Int64(try count(target)))
    }

    /// Appends the numbers of elements of the collections of a leaf, whose refs are attached once.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to integers: inout [Int64]) throws(StorageError) {
        guard chain.isEmpty else {
            return try rows.forEach { row throws(StorageError) in
                let target = try chain.target(of: Row(leaf: leaf, index: row))
                integers.append(try target.map { row throws(StorageError) in Int64(try count(row)) } ?? 0)
            }
        }
        let collections = try LeafCollections(column, of: leaf)
        func other(_ root: Ref) throws(StorageError) -> Int { try count(root, leaf.space) }
        if column.collection == .dictionary {
            return try collections.appendEntryCounts(
                of: rows, column.dictionaryKeyType, fileFormat: table.fileFormat, to: &integers, otherwise: other)
        }
        try collections.appendCounts(of: rows, column.elementShape, to: &integers, otherwise: other)
    }

    /// Collects the numbers of elements of all collections that the path reaches, as one list.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isUnary { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try groups.append(.int(Int64(try count(target))))
            return true
        }
        groups.closeGroup()
    }

    /// The number of elements of the collection of one object.
    private func count(_ row: borrowing Row) throws(StorageError) -> Int { try count(try reader.root(row), row.leaf.space) }

    /// The number of elements of a collection. The elements themselves are not read.
    private func count(_ root: Ref, _ space: NodeSpace) throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        if column.collection == .dictionary {
            let short = try ShortDictionary.count(
                root: root, space: space, keyType: column.dictionaryKeyType, fileFormat: table.fileFormat)
            if let short { return short }
            return try DictionaryView(
                root: root, space: space, keyType: column.dictionaryKeyType, fileFormat: table.fileFormat
            ).count
        }
        if let count = try BPlusTree.plainCount(root, space, column.elementShape) { return count }
        return try ListView(root: root, space: space, shape: column.elementShape).count
    }
}

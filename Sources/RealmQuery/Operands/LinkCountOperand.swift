// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// `.@count` on links: the number of links that a property holds or that lead to an object through one relationship.
final class LinkCountOperand: IntegerOperand {
    var type: OperandType { .int }
    var quantifier: Quantifier? { nil }
    let label: String
    /// The path from the object up to the objects that hold the links to count.
    private let chain: LinkChain
    /// The last step of the path, whose links are counted and not followed.
    private let last: LinkStep
    private let reader: ColumnReader

    /// Creates the operand for the number of links at the end of a path.
    ///
    /// - Parameters:
    ///   - chain: The path up to the object that holds the links; empty for the object itself.
    ///   - label: The text of the operand.
    init(_ chain: LinkChain, last: LinkStep, label: String) {
        self.chain = chain
        self.last = last
        reader = ColumnReader(last.column, chain.cancellation)
        self.label = label
    }

    /// Through links there is one count for each object, even if the links are to-one.
    var isMultiValued: Bool { !chain.isEmpty }
    var single: (any SingleOperand)? { isMultiValued ? nil : self }

    /// Returns the number of links of the object itself. Entries of a dictionary count whether they lead to an object or not.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        .int(Int64(try count(row)))
    }

    /// Appends the numbers of links of the objects of a leaf, whose refs are attached once.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to integers: inout [Int64]) throws(StorageError) {
        switch last.kind {
        case .backlink:
            let counts = try BacklinkCounts(last.column, leaf)
            try rows.forEach { row throws(StorageError) in integers.append(Int64(try counts[row])) }
        case .list, .set:
            let roots = try leaf.attachRefs(last.column)
            try rows.forEach { row throws(StorageError) in
                let root = try roots.optionalRef(row, "collection in column '\(last.column.name)'")
                integers.append(Int64(try count(root, leaf.space)))
            }
        default:
            try rows.forEach { row throws(StorageError) in
                integers.append(Int64(try count(Row(leaf: leaf, index: row))))
            }
        }
    }

    /// The number of elements of a list or set.
    private func count(_ root: Ref, _ space: NodeSpace) throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        let shape = last.column.elementShape
        if !last.target.hasTombstones, let count = try BPlusTree.plainCount(root, space, shape) { return count }
        return try ListView(root: root, space: space, shape: shape, mayHoldUnresolved: last.target.hasTombstones).count
    }

    /// Collects the number of links of every object that the path reaches.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isEmpty { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try groups.append(.int(Int64(try count(target))))
            return true
        }
        groups.closeGroup()
    }

    /// The number of links of one object.
    ///
    /// - Returns: 1 or 0 for a to-one link, otherwise the number of elements or of incoming links.
    private func count(_ row: borrowing Row) throws(StorageError) -> Int {
        switch last.kind {
        case .link: return try reader.value(row).isNull ? 0 : 1
        case .backlink: return try row.leaf.backlinks(last.column, row: row.index).count
        case .list, .set: return try count(try reader.root(row), row.leaf.space)
        case .dictionary:
            return try last.column.dictionary(row, reader, last.source)?.count ?? 0
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A key path by which objects are sorted, or by whose values they are distinguished.
///
/// A key belongs to one bound query. It keeps the leaves that it read last, so it is used by one thread at a time.
final class SortKey {
    /// The column of the property at the end of the key path.
    let column: Column
    /// Whether objects with smaller values come first.
    let isAscending: Bool
    /// The text of the key path, for query plans and page positions.
    let label: String
    /// The to-one links that the key path follows before its property.
    private let chain: LinkChain
    /// The class that has the property at the end of the key path.
    private let table: Table
    /// The key of the dictionary entry that is meant; nil when the property is not a dictionary.
    private let dictionaryKey: ByteView?
    private let reader: ColumnReader
    /// Reads the property of linked objects; nil where the value is another one, or belongs to the object itself.
    private let linked: LinkedColumn?
    /// Measures the distance of the location that the path leads to; nil when the value of a property counts.
    private let distances: DistanceReader?
    /// The version and the placeholder for links to objects that it hides, so that sorting and grouping reveal nothing about
    /// them; nil where the values are no such links.
    private let hiding: (snapshot: Snapshot, link: Value)?

    /// Creates a key from a resolved path.
    ///
    /// - Parameters:
    ///   - column: The property at the end of the path.
    ///   - chain: The to-one links that lead to it. Its check limits the leaves that the readers of a query keep.
    ///   - dictionaryKey: The key of a dictionary entry, if the property is a dictionary.
    ///   - isAscending: Whether smaller values come first.
    ///   - label: The text of the path.
    ///   - distances: Measures the distance of the location that the chain leads to, whose value counts instead of
    ///     that of the property; nil for the value of the property.
    ///   - snapshot: The version of the class.
    init(
        _ column: Column, of table: Table, chain: LinkChain, dictionaryKey: ByteView?, isAscending: Bool, label: String,
        distances: DistanceReader? = nil, in snapshot: Snapshot
    ) {
        self.column = column
        self.table = table
        self.chain = chain
        self.dictionaryKey = dictionaryKey
        self.isAscending = isAscending
        self.label = label
        self.distances = distances
        let mayHide = column.type == .mixed || column.targetTable.map(snapshot.hides) ?? false
        hiding = mayHide && distances == nil ? snapshot.hiddenLink.map { (snapshot, $0) } : nil
        reader = ColumnReader(column, chain.cancellation)
        let isLinkedValue = !chain.isEmpty && dictionaryKey == nil && distances == nil && hiding == nil
        linked = isLinkedValue && column.collection == nil ? LinkedColumn(column, of: table, chain.cancellation) : nil
    }

    /// The type of the values: Mixed for the entries of a dictionary, and double for distances.
    var valueType: ColumnType {
        if distances != nil { return .double }
        return column.collection == .dictionary ? .mixed : column.type
    }

    /// Whether the key path passes through links, any of which may be null.
    var hasLinks: Bool { !chain.isEmpty }

    /// Whether every value is read from one column of the base class as it is there, so that packed leaves can be used.
    var isPlainColumn: Bool { chain.isEmpty && dictionaryKey == nil && hiding == nil }

    /// Returns the value for an object: null when the property is null, `Value.missing` when a link
    /// on the way is, or when there is no location whose distance could be measured.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        if chain.isEmpty { return try ownValue(row) }
        var found = Value.missing
        if let linked {
            try chain.forEachKey(from: row) { key throws(StorageError) in
                found = try linked.value(key) ?? .missing
                return false
            }
            return found
        }
        try chain.forEachRow(from: row) { target throws(StorageError) in
            found = try ownValue(target)
            return false
        }
        return found
    }

    /// Appends the values for several rows of a leaf.
    ///
    /// - Parameters:
    ///   - rows: The rows, which are taken in ascending order.
    ///   - values: Receives one value for each row.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        if isPlainColumn { return try reader.values(of: leaf).append(rows, to: &values) }
        if let linked, let step = chain.onlyStep?.step, step.kind == .link, case .link(let links) = try leaf.attach(step.column) {
            return try rows.forEach { row throws(StorageError) in
                let key = links.key(row)
                values.append(key.rawValue < 0 ? .missing : try linked.value(key) ?? .missing)
            }
        }
        try rows.forEach { row throws(StorageError) in values.append(try value(Row(leaf: leaf, index: row))) }
    }

    /// Returns the values of a leaf, for a key that is a plain column.
    func values(of leaf: ClusterLeaf) throws(StorageError) -> ColumnLeaf { try reader.values(of: leaf) }

    /// Returns the rows that may sort before or with a row of a given value, for a key that is a plain column.
    ///
    /// The packed leaf is compared at once, and mostly few rows remain. The remaining rows may still sort after the row.
    ///
    /// - Parameters:
    ///   - rows: The rows to choose from.
    ///   - limit: The value of the row to compare with.
    func rows(of leaf: ClusterLeaf, among rows: Mask, notBehind limit: Value) throws(StorageError) -> Mask {
        guard let key = SortKey.orderKey(limit) else { return rows }
        let op: Relation = isAscending ? .lessOrEqual : .greaterOrEqual
        switch try reader.values(of: leaf) {
        case .int(let values): return rows & values.rows(op, key)
        case .bool(let values): return rows & values.rows(op, key)
        case .float(let values): return rows & values.rows(op, key)
        case .double(let values): return rows & values.rows(op, key)
        case .timestamp(let values): return rows & values.rows(op, key)
        case .string(let values): return try values.rows(op, key, among: rows)
        default: return rows
        }
    }

    /// The form of a value with which packed leaves are compared; nil when the type has none.
    private static func orderKey(_ value: Value) -> OrderKey? {
        switch value {
        case .null: return .null
        case .int(let number): return OrderKey(number)
        case .bool(let bool): return OrderKey(bool)
        case .float(let number): return OrderKey(number)
        case .double(let number): return OrderKey(number)
        case .timestamp(let date): return OrderKey(date)
        case .string(let text): return OrderKey(prefixOf: text)
        default: return nil
        }
    }

    /// The value of the property for an object of the class that has it.
    private func ownValue(_ row: borrowing Row) throws(StorageError) -> Value {
        if let distances { return try distances.angle(row).map { .double($0) } ?? .missing }
        let value: Value
        if let dictionaryKey {
            value = try column.dictionary(row, reader, table)?.find(dictionaryKey) ?? .null
        } else {
            value = try reader.value(row)
        }
        guard let hiding, case .link(let target, let key) = value, key.rawValue >= 0, hiding.snapshot.hides(target) else {
            return value
        }
        return hiding.link
    }

    /// Compares two values in ascending order: negative, zero or positive. A missing value comes after all others.
    static func order(_ left: Value, _ right: Value) -> Int {
        switch (left.isMissing, right.isMissing) {
        case (false, false): return Value.exactOrder(left, right)
        case (true, true): return 0
        case (true, false): return 1
        case (false, true): return -1
        }
    }
}

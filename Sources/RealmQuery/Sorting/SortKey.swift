// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One key path that objects are sorted by or told apart by.
final class SortKey {
    let column: Column
    let isAscending: Bool
    let label: String
    private let chain: LinkChain
    /// The table that holds the column.
    private let table: Table
    private let dictionaryKey: ByteView?
    private let reader: ColumnReader

    init(
        _ column: Column, of table: Table, chain: LinkChain, dictionaryKey: ByteView?, isAscending: Bool, label: String
    ) {
        self.column = column
        self.table = table
        self.chain = chain
        self.dictionaryKey = dictionaryKey
        self.isAscending = isAscending
        self.label = label
        reader = ColumnReader(column)
    }

    /// Does the path pass through links, which may be null?
    var hasLinks: Bool { !chain.isEmpty }

    /// Is every value read from one column of the base class?
    var isPlainColumn: Bool { chain.isEmpty && dictionaryKey == nil }

    /// The value for a row, `missing` when a link on the way is null.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        if chain.isEmpty { return try ownValue(row) }
        var found = Value.missing
        try chain.forEachRow(from: row) { target throws(StorageError) in
            found = try ownValue(target)
            return false
        }
        return found
    }

    /// Appends the values of `rows`, ascending.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        if isPlainColumn { return try reader.values(of: leaf).append(rows, to: &values) }
        try rows.forEach { row throws(StorageError) in values.append(try value(Row(leaf: leaf, index: row))) }
    }

    /// The values of a leaf when the key is a plain column.
    func values(of leaf: ClusterLeaf) throws(StorageError) -> ColumnLeaf { try reader.values(of: leaf) }

    /// The rows among `rows` that may sort before or with a row whose value is `limit`, when the key is a plain column.
    ///
    /// One look at the packed leaf; mostly few rows are left. Those that are may still sort behind it.
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

    private func ownValue(_ row: borrowing Row) throws(StorageError) -> Value {
        guard let dictionaryKey else { return try reader.value(row) }
        return try column.dictionary(row, reader, table)?.find(dictionaryKey) ?? .null
    }

    /// Compares two values of this key in ascending order.
    static func order(_ left: Value, _ right: Value) -> Int {
        switch (left.isMissing, right.isMissing) {
        case (false, false): return Value.order(left, right)
        case (true, true): return 0
        case (true, false): return 1
        case (false, true): return -1
        }
    }
}

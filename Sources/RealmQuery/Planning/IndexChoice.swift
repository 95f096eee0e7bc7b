// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// Decides whether a query starts from an index instead of a scan.
enum IndexChoice {
    /// More constants than this are not looked up one by one.
    private static let maximumLookups = 256

    /// Can equality with `value` be answered by the index of `column`?
    static func isIndexed(_ column: Column, _ value: Value) -> Bool {
        guard column.hasSearchIndex, column.collection == nil, !column.attributes.contains(.fullText) else { return false }
        switch (column.type, value) {
        case (.int, .int), (.string, .string), (.timestamp, .timestamp), (.objectID, .objectID), (.uuid, .uuid):
            return true
        default: return false
        }
    }

    /// Can all of the values be looked up?
    static func areIndexed(_ column: Column, _ values: [Value]) -> Bool {
        values.count <= maximumLookups && values.allSatisfy { isIndexed(column, $0) }
    }

    /// The objects whose property equals one of the values; ascending, each once.
    static func keys(_ table: Table, _ column: Column, _ values: [Value]) throws(StorageError) -> [ObjectKey] {
        if values.count == 1 { return try table.findAll(column, equalTo: values[0]) }
        var keys: Set<ObjectKey> = []
        for value in values { keys.formUnion(try table.findAll(column, equalTo: value)) }
        return keys.sorted()
    }

    /// Is going through `count` objects one by one better than looking at all of a table?
    static func pays(_ count: Int, of table: Table) -> Bool { count <= 64 || count < table.count / 8 }
}

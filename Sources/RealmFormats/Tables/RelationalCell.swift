// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What stands in one column of one row.
enum RelationalCell {
    /// A value of the realm, or null. It is valid as long as the version is held.
    case value(Value)
    /// A number that the export counts: a position, or the key of an embedded object.
    case number(Int64)
    /// A text that the export makes: the key of an object or of an entry.
    case text(String)
    /// The JSON of a value of Mixed.
    case json([UInt8])

    /// The length of a text, of JSON or of bytes, before a database has its form of them.
    var byteCount: Int {
        switch self {
        case .value(let value): return value.byteCount
        case .number: return 8
        case .text(let text): return text.utf8.count
        case .json(let bytes): return bytes.count
        }
    }

    /// Nothing.
    static let null = RelationalCell.value(.null)
}

/// Takes the rows of an export, in any order of the tables.
protocol RelationalSink: AnyObject {
    /// Adds a row.
    ///
    /// - Parameters:
    ///   - cells: What stands in the columns, in their order.
    ///   - table: The position of the table in the schema.
    /// - Throws: An error of storage, or the problem of a full disk.
    func add(_ cells: [RelationalCell], to table: Int) throws
}

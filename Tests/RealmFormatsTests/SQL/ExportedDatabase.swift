// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import RealmPlatform
import RealmStorage

/// An export to SQLite of a version, which SQLite reads alone. Statements over the version have to give the same rows.
final class ExportedDatabase {
    private let file: BodyFile
    private let database: SQLiteDatabase

    init(of snapshot: Snapshot) throws {
        file = try BodyFile.make(inOneOf: ["/tmp"])
        try TableFile.writeSQLite(StreamRows(allOf: snapshot), to: file, byteLimit: 1 << 30)
        database = try file.withDescriptor { try SQLiteDatabase(creatingIn: $0, byteLimit: 1 << 30) { true } }
    }

    /// The rows of a statement as texts, each value with its type.
    func rows(_ sql: String) throws -> [String] {
        let statement = try database.prepare(sql)
        var rows: [String] = []
        while try statement.next() {
            rows.append((0..<statement.columnCount).map { Self.text(statement.value($0)) }.joined(separator: "|"))
        }
        return rows
    }

    private static func text(_ value: SQLiteStatement.Found) -> String {
        switch value {
        case .null: "null"
        case .int(let number): "i\(number)"
        case .double(let number): "d\(number)"
        case .text(let bytes): "t\(String(decoding: bytes, as: UTF8.self))"
        case .blob(let bytes): "b\(FileDigest.hex(bytes))"
        }
    }
}

/// Statements over a version as it is.
struct LiveDatabase {
    let snapshot: Snapshot
    var byteLimit = 64 << 20
    var budget = { WorkBudget(deadline: Instant.now().adding(seconds: 60)) }

    /// The rows of a statement as texts, in the form of `ExportedDatabase`.
    func rows(_ sql: String, _ arguments: [SQLQuery.Argument] = [], explains: Bool = false) throws -> [String] {
        let query = try SQLQuery(
            sql, arguments: arguments, explains: explains, of: LiveTables(of: snapshot, budget: budget()),
            limits: .init(byteLimit: byteLimit, textLimit: 1 << 18))
        var rows: [String] = []
        while try query.next() {
            var cells: [String] = []
            query.forEachValue { _, value in cells.append(Self.text(value)) }
            rows.append(cells.joined(separator: "|"))
        }
        return rows
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .int(let number): "i\(number)"
        case .double(let number): "d\(number)"
        case .string(let bytes): "t\(bytes.string)"
        case .binary(let bytes): "b\(FileDigest.hex(bytes.array))"
        default: "null"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Statements of SQL over versions: the rows are those that SQLite finds in an export of the version.
@Suite struct LiveTableTests {
    private static func snapshot(_ name: String) throws -> Snapshot {
        try Snapshot(file: try RealmFile(path: try Fixtures.path(name)))
    }

    /// The fixtures that have most types.
    private static let fixtures = [
        "store", "indexes", "links", "embedded", "mixed", "types-single", "types-list", "types-set", "types-dictionary",
        "primary-keys", "names",
        "random-1", "random-2", "strings", "binaries", "lists",
    ].filter { Fixtures.names.contains($0) }

    @Test(arguments: fixtures) func `every table and column of an export is there, with the same rows`(_ name: String) throws {
        let snapshot = try Self.snapshot(name)
        let (exported, live) = (try ExportedDatabase(of: snapshot), LiveDatabase(snapshot: snapshot))
        for table in LiveTables(of: snapshot, budget: WorkBudget()).schema.tables.map(\.name) + [NameMap.table] {
            let sql = "SELECT * FROM \(SQLiteDatabase.quoted(table))"
            let (expected, found) = (try exported.rows(sql).sorted(), try live.rows(sql).sorted())
            #expect(found == expected, "\(sql)")
        }
    }

    @Test(arguments: fixtures, 0..<4) func `generated statements give the rows of the export`(_ name: String, _ seed: UInt64)
        throws
    {
        let snapshot = try Self.snapshot(name)
        let (exported, live) = (try ExportedDatabase(of: snapshot), LiveDatabase(snapshot: snapshot))
        var maker = try StatementMaker(snapshot, exported, seed: seed)
        for _ in 0..<80 {
            let (sql, isOrdered) = maker.statement()
            guard let expected = try? exported.rows(sql) else { continue }
            let found = try live.rows(sql)
            #expect((isOrdered ? found : found.sorted()) == (isOrdered ? expected : expected.sorted()), "seed \(seed): \(sql)")
        }
    }
}

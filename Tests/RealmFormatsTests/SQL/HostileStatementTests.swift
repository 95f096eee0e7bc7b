// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Statements that do more than read, or that would take all time or memory.
@Suite struct HostileStatementTests {
    private func live(seconds: Double = 1, bytes: Int = 16 << 20) throws -> LiveDatabase {
        var live = LiveDatabase(snapshot: try Snapshot(file: try RealmFile(path: try Fixtures.path("store"))), byteLimit: bytes)
        live.budget = { WorkBudget(deadline: Instant.now().adding(seconds: seconds)) }
        return live
    }

    private func problem(_ sql: String, _ live: LiveDatabase) throws -> Problem {
        try #require(throws: Problem.self, "\(sql.prefix(200))") { _ = try live.rows(sql) }
    }

    @Test(arguments: [
        "ATTACH 'x.db' AS x", "DETACH main", "PRAGMA table_info(Product)", "PRAGMA writable_schema=ON", "VACUUM",
        "VACUUM INTO 'x'",
        "REINDEX", "ANALYZE", "BEGIN", "COMMIT", "SAVEPOINT x", "CREATE TABLE x (y)", "CREATE TEMP TABLE x (y)",
        "CREATE VIEW x AS SELECT 1",
        "CREATE VIRTUAL TABLE x USING fts5(y)", "DROP TABLE Product", "DELETE FROM Product", "UPDATE Product SET name = 'x'",
        "INSERT INTO Product DEFAULT VALUES", "SELECT load_extension('x')", "SELECT fts3_tokenizer('x')",
        "SELECT sqlite_log(1, 'x')",
        "SELECT * FROM pragma_table_info('Product')", "SELECT * FROM pragma_database_list", "SELECT * FROM dbstat",
        "SELECT * FROM sqlite_stmt",
        "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE Product", "", "   -- nothing", ";", "SELECT", "SELECT * FROM Nothing",
        "SELECT absent FROM Product",
        "SELECT readfile('x')", "SELECT writefile('x', 'y')", "SELECT edit('x')", "EXPLAIN DELETE FROM Product",
        "SELECT ?",
        "SELECT last_insert_rowid()", "SELECT changes()", "INSERT INTO sqlite_master VALUES (1,1,1,1,1)",
    ]) func `a statement that does more than read is refused`(_ sql: String) throws {
        let problem = try problem(sql, live())
        #expect([.invalidQuery, .invalidParameter].contains(problem.code), "\(sql): \(problem)")
    }

    private static let long = [
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t",
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION SELECT x + 1 FROM t) SELECT max(x) FROM t",
        "SELECT count(*) FROM Product a, Product b, Product c, Product d, Product e, Product f",
        "SELECT length(group_concat(hex(randomblob(1000000)))) FROM Product a, Product b",
        "SELECT " + Array(repeating: "length(randomblob(16000000))", count: 90).joined(separator: " + "),
        "SELECT length(zeroblob(2000000000))",
        "SELECT length(hex(zeroblob(900000000)))",
        "SELECT length(replace(hex(zeroblob(4000000)), '0', hex(zeroblob(4000000))))",
        "SELECT instr(hex(zeroblob(4000000)), hex(zeroblob(2000000)) || '1') FROM Product a, Product b, Product c, Product d",
        "SELECT sum(trim(hex(zeroblob(4000000)), '" + String(repeating: "a", count: 200)
            + "0') = '') FROM Product a, Product b, Product c",
        "SELECT count(*) FROM Product a, Product b, Product c WHERE hex(zeroblob(4000000)) LIKE '%0%0%0%0%0%0%0%0%0%0%0%0%1'",
        "SELECT * FROM Product a, Product b, Product c, Product d ORDER BY random()",
        "SELECT DISTINCT hex(randomblob(1000)) FROM Product a, Product b, Product c",
        "SELECT json_group_array(hex(zeroblob(100000))) FROM Product a, Product b, Product c",
        "SELECT * FROM " + (0..<65).map { "Product p\($0)" }.joined(separator: ", "),
        "SELECT count(*) FROM " + (0..<64).map { "Product p\($0)" }.joined(separator: ", "),
        "SELECT count(*) FROM Product p0 "
            + (1..<60).map { "JOIN Product p\($0) ON p\($0).name = p\($0 - 1).name" }.joined(separator: " "),
        "SELECT " + String(repeating: "(", count: 5000) + "1" + String(repeating: ")", count: 5000),
        "SELECT " + Array(repeating: "1", count: 3000).joined(separator: ","),
        "SELECT 1" + String(repeating: " UNION ALL SELECT 1", count: 5000),
        "WITH a AS (SELECT * FROM Product, Product p), b AS (SELECT * FROM a, a x), c AS (SELECT * FROM b, b x), d AS (SELECT * FROM c, c x), e AS (SELECT * FROM d, d x), f AS (SELECT * FROM e, e x) SELECT count(*) FROM f",
        "SELECT '\(String(repeating: "x", count: 300_000))'",
        "SELECT name FROM Product WHERE name LIKE '\(String(repeating: "%a", count: 400))'",
    ]

    @Test(arguments: long) func `a statement without end ends within a second of its deadline, with bounded memory`(_ sql: String)
        throws
    {
        let begin = Instant.now()
        let problem = try problem(sql, live())
        #expect([.deadlineExceeded, .answerTooLarge, .invalidQuery].contains(problem.code), "\(sql.prefix(100)): \(problem)")
        #expect(Instant.now().seconds(since: begin) < 2.5, "\(sql.prefix(100)): \(problem)")
    }

    @Test func `an explanation shows plans of ours and no addresses`() throws {
        let live = try live(seconds: 60)
        for prefix in ["EXPLAIN QUERY PLAN ", "EXPLAIN ", " /* a */ -- b\n explain "] {
            let rows = try live.rows(prefix + "SELECT * FROM Product WHERE name LIKE 'a%'").joined(separator: "\n")
            #expect(rows.contains("search: name LIKE ?"), "\(rows)")
            #expect(!rows.contains("0x"))
        }
        #expect(try live.rows("SELECT 1", explains: true).joined().contains("SCAN CONSTANT ROW"))
    }

    @Test func `an error of a statement says where it is`() throws {
        let live = try live()
        let problem = try problem("SELECT 'ä', absent FROM Product", live)
        #expect(problem.detail == "no such column: absent" && "\(problem)".contains("position 12"), "\(problem)")
    }

    @Test func `functions that are replaced give what those of SQLite give`() throws {
        let live = try live(seconds: 60)
        let exported = try ExportedDatabase(of: live.snapshot)
        var random = SeededGenerator(seed: 7)
        let pieces = [
            "''", "'a'", "'aba'", "'äöü'", "'%a_'", "'A%'", "x'00ff'", "x'ff'", "NULL", "1", "'\u{1F600}b'", "'_b%'", "'[a-c]*'",
            "' a '", "x''", "1.5",
        ]
        for _ in 0..<600 {
            let (a, b, c) = (
                pieces.randomElement(using: &random)!, pieces.randomElement(using: &random)!,
                pieces.randomElement(using: &random)!
            )
            let sql =
                "SELECT instr(\(a), \(b)), replace(\(a), \(b), \(c)), \(a) LIKE \(b), \(a) GLOB \(b), trim(\(a), \(b)), ltrim(\(a), \(b)), rtrim(\(a), \(b)), trim(\(a)), \(a) LIKE \(b) ESCAPE '_'"
            #expect(try live.rows(sql) == exported.rows(sql), "\(sql)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Databases of SQLite that were made to compute: whatever their schemas say, nothing of it runs.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")))
struct HostileDatabaseTests {
    /// A call that takes no time when the database is made, with the numbers of one that takes hours.
    private static let calls: [(harmless: String, long: String)] = [
        (
            "instr(hex(zeroblob(00000010)),hex(zeroblob(00000005))||'1')",
            "instr(hex(zeroblob(04000000)),hex(zeroblob(02000000))||'1')"
        ),
        ("length(replace(hex(zeroblob(00000010)),'0','0000'))", "length(replace(hex(zeroblob(09000000)),'0','0000'))"),
        ("hex(randomblob(00000007))", "hex(randomblob(90000000))"),
        ("printf('%.*c',00000007,'x')", "printf('%.*c',90000000,'x')"),
        ("'aaaaaaaaaaaaaaaaaaaab' LIKE '%a%a%a%a%a%a%a%a%c'", "'aaaaaaaaaaaaaaaaaaaab' LIKE '%a%a%a%a%a%a%a%a%c'"),
    ]
    /// What no value of an import may have: the functions of the schemas make it.
    private static let mark = "computed"
    /// Features of schemas that compute when rows are read or written; `@` is the call.
    private static let columns = [
        "g1 TEXT AS (lower('COMPUTED') || (@)) VIRTUAL", "g2 TEXT AS (@) STORED",
        "name TEXT AS (lower('COMPUTED') || age) VIRTUAL",
        "g3 INTEGER DEFAULT (@)", "g4 TEXT CHECK ((@) IS NOT 'never')", "g5 TEXT COLLATE NOCASE", "tags TEXT AS (@) VIRTUAL",
        "owner TEXT AS (lower('COMPUTED')) STORED",
    ]
    private static let others = [
        "CREATE INDEX i1 ON Dog((@));", "CREATE INDEX i2 ON Dog(age) WHERE (@) IS NOT 'never';",
        "CREATE TRIGGER t1 AFTER INSERT ON Dog BEGIN SELECT @; END;",
        "CREATE VIEW Person AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT lower('COMPUTED') AS id FROM r;",
        "CREATE VIEW Dog_tags AS SELECT 1 AS owner, lower('COMPUTED') AS value, 0 AS position, (@) AS more;",
        "CREATE VIRTUAL TABLE Note USING fts5(text);", "CREATE TABLE Uid(_id TEXT PRIMARY KEY, x TEXT AS (@)) WITHOUT ROWID;",
        "CREATE TABLE Chip(code TEXT AS (lower('COMPUTED')), size INTEGER);",
    ]

    private static func database(_ statements: String) throws -> [UInt8] {
        let path = NSTemporaryDirectory() + "\(UUID().uuidString).sqlite"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        program.arguments = [path, statements]
        program.standardError = FileHandle.nullDevice
        try program.run()
        program.waitUntilExit()
        return try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Replaces every occurrence of a text by one of the same length.
    private static func replace(_ old: String, by new: String, in bytes: inout [UInt8]) {
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        guard old.count == new.count, bytes.count >= old.count else { return }
        for start in 0...(bytes.count - old.count) where bytes[start] == old[0] && bytes[start...].starts(with: old) {
            bytes.replaceSubrange(start..<start + old.count, with: new)
        }
    }

    /// Makes a schema out of some of the features, with some rows.
    private static func hostile(_ random: inout SeededGenerator) throws -> [UInt8] {
        let call = calls[Int.random(in: 0..<calls.count, using: &random)]
        var columns = ["_id INTEGER PRIMARY KEY", "age INTEGER"]
        var others = ""
        for feature in Self.columns where Int.random(in: 0..<3, using: &random) == 0 { columns.append(feature) }
        for feature in Self.others where Int.random(in: 0..<3, using: &random) == 0 { others += feature + "\n" }
        let rows = (0..<Int.random(in: 0...30, using: &random)).map { "(\($0), \($0))" }.joined(separator: ",")
        let insert = rows.isEmpty ? "" : "INSERT INTO Dog(_id, age) VALUES \(rows);"
        let text = "CREATE TABLE Dog(\(columns.joined(separator: ", ")));\n" + others + insert
        var file = try database(text.replacing("@", with: call.harmless))
        replace(call.harmless, by: call.long, in: &file)
        return file
    }

    /// Changes bytes where a database keeps how its pages hang together: in the heads of pages and the numbers behind them.
    private static func damage(_ file: inout [UInt8], using random: inout SeededGenerator) {
        guard file.count > 4096 else { return }
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let page = Int.random(in: 0..<file.count / 4096, using: &random) * 4096
            let place = page + (page == 0 ? 100 : 0) + Int.random(in: 0..<40, using: &random)
            file[place] =
                Bool.random(using: &random) ? UInt8.random(in: 0...8, using: &random) : .random(in: 0...255, using: &random)
        }
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 30))
    func `databases that were made to compute import what they store, or nothing, in time`(_ seed: UInt64) throws {
        let server = try WriteServer { $0.limits.readSeconds = 2 }
        var random = SeededGenerator(seed: seed)
        let queries = [
            "?mode=upsert", "?mode=upsert&tables=Dog", "?mode=upsert&tables=Dog:Dog,Person:Person",
            "?tables=Chip:Dog&mode=upsert",
        ]
        for round in 0..<40 {
            var file = try Self.hostile(&random)
            if round % 2 == 1 { Self.damage(&file, using: &random) }
            let lenient = Bool.random(using: &random) ? [("Prefer", "handling=lenient")] : []
            let query = queries[Int.random(in: 0..<queries.count, using: &random)]
            let start = ContinuousClock.now
            let answer = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms/app/import" + query,
                headers: [("Content-Type", "application/vnd.sqlite3")] + lenient, body: file)
            let time = start.duration(to: .now)
            #expect(answer.status < 500 || answer.status == 504, "seed \(seed), round \(round): \(answer.text)")
            #expect(time < .seconds(20), "seed \(seed), round \(round) took \(time): \(answer.text)")
        }
        let exported = try server.get("app/export?format=ndjson").text
        #expect(!exported.contains(Self.mark), "seed \(seed)")
        try server.finish()
    }
}

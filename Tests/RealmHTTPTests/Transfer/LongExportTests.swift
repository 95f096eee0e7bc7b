// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmEngine
@testable import RealmFormats
import RealmHosting
@testable import RealmHTTP
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// Exports that are long, or do not end well: a row is never longer than a document, and the temporary files of a workbook are gone.
@Suite struct LongExportTests {
    /// A realm with a class `A` that has some properties, and one object for each array of values.
    private static func realm(_ columns: [ColumnDefinition], _ objects: [[[UInt8]]]) throws -> ScratchRealm {
        let realm = try ScratchRealm()
        let key = try realm.transaction.createTable("class_A")
        for column in columns { try realm.transaction.addColumn(column, to: key) }
        let made = try realm.transaction.createObjects(
            objects.count, in: key, columns: columns.map { _ in Array(repeating: nil, count: objects.count) })
        let table = try realm.transaction.table(key)
        for (object, values) in zip(made, objects) {
            for (column, value) in zip(table.columns, values) {
                try ByteView.withBytes(of: value) { view throws(StorageError) in
                    try realm.transaction.set(column.type == .string ? .string(view) : .binary(view), column, of: object, in: key)
                }
            }
        }
        try realm.commit()
        return realm
    }

    /// The rows of the only table of a script.
    private static func rows(_ snapshot: Snapshot) throws -> String {
        var bytes: [UInt8] = []
        try SQLScriptStream(try StreamRows(allOf: snapshot), version: "1").forEachChunk { bytes += $0 }
        let blocks = String(decoding: bytes, as: UTF8.self).components(separatedBy: "FROM stdin;\n").dropFirst()
        return blocks.map { $0.components(separatedBy: "\n\\.\n")[0] }.joined(separator: "\n")
    }

    // MARK: - Rows

    @Test(arguments: TestRun.seeds(quick: 3, long: 30))
    func `texts in pieces are as texts as a whole`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var parts: [[UInt8]] = ["a", "\\", "\n", "\t", "é", "€", "😀", "\0"].map { Array($0.utf8) }
        if seed % 2 == 1 { parts += [[0x80], [0xf0, 0x9f], [0xe2, 0x82], [0xff]] }
        var texts: [[UInt8]] = [[], Array(repeating: 0x80, count: 200_000), Array(repeating: 0xe2, count: 65_537)]
        for length in [65_535, 65_536, 65_537, 200_000, 400_000] {
            var text: [UInt8] = []
            while text.count < length { text += parts[Int.random(in: 0..<parts.count, using: &random)] }
            texts.append(text)
        }
        let realm = try LongExportTests.realm([ColumnDefinition("t", .string)], texts.map { [$0] })
        let expected = texts.map { text in
            String(decoding: text, as: UTF8.self).unicodeScalars.map { scalar in
                switch scalar {
                case "\\": "\\\\"
                case "\n": "\\n"
                case "\t": "\\t"
                case "\0": "\u{fffd}"
                default: String(scalar)
                }
            }.joined()
        }
        let found = try LongExportTests.rows(realm.store.current).split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)[1]
        }
        // Long rows are written before short ones that were collected.
        let (sorted, wanted) = (found.map { Array($0.utf8) }, expected.map { Array($0.utf8) })
        #expect(Set(sorted) == Set(wanted) && sorted.count == wanted.count, "seed \(seed)")
        try realm.close()
    }

    @Test func `bytes in pieces are as bytes as a whole`() throws {
        let bytes = (0..<150_001).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let realm = try LongExportTests.realm([ColumnDefinition("b", .binary)], [[bytes]])
        #expect(try LongExportTests.rows(realm.store.current).hasSuffix("\t\\\\x" + FileDigest.hex(bytes)))
        try realm.close()
    }

    @Test func `the work ends inside of a row when its client has left`() throws {
        let text = Array(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let columns = (0..<8).map { ColumnDefinition("t\($0)", .string) }
        let realm = try LongExportTests.realm(columns, [columns.map { _ in text }])
        let snapshot = realm.store.current
        let table = try #require(snapshot.classTable(named: "A"))
        let plan = try ObjectPlanner(snapshot).plan(table)
        let schema = RelationalSchema([table], in: snapshot, isWhole: true)
        let bound = try Query.parse("TRUEPREDICATE").bind(to: table, in: snapshot)
        let key = try #require(try bound.execute().first)
        let row = try #require(try table.find(key))
        func expectStop(_ name: String, _ write: (WorkBudget) throws -> Void) throws {
            let budget = WorkBudget()
            budget.cancel()
            #expect(throws: StorageError.self, "\(name)") { try write(budget) }
            #expect(budget.stop == .cancelled, "\(name)")
        }
        try expectStop("postgresql") { budget in
            try RelationalWalk(schema, snapshot, budget, to: PostgreSQLSink(schema, budget)).write(row, of: table)
        }
        try expectStop("json") { budget in
            var writer = JSONWriter()
            try ObjectEncoder(snapshot, Representation(), budget).write(row, plan, to: &writer)
        }
        try expectStop("csv") { budget in
            try CSVWriter(plan, snapshot, Representation(), budget: budget).write(row, to: OutputBuffer())
        }
        try expectStop("ejson") { budget in
            var writer = JSONWriter()
            try MongoWriter(snapshot, budget).write(row, of: table, to: &writer)
        }
        try realm.close()
    }

    @Test func `a row that is longer than a document is refused, or cut, in every format`() throws {
        let classes = [
            ClassInput(
                "Long", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("a", "string", optional: true),
                    PropertyInput("b", "string", optional: true), PropertyInput("any", "mixed"),
                    PropertyInput("list", "string", collection: "list"),
                ])
        ]
        let (half, whole) = (String(repeating: "x", count: 6000), String(repeating: "x", count: 9000))
        try withWriteServer(classes, change: { $0.limits.answerBytes = 10_000 }) { server in
            func check(_ object: String, cut: [ExportFormat], whole: [ExportFormat]) throws {
                try server.done("PUT", "app/objects/Long/1", object, [("Prefer", "return=minimal")])
                for format in cut + whole {
                    let answer = try? server.get("app/export?class=Long&format=\(format.rawValue)")
                    if whole.contains(format) {
                        #expect(
                            answer?.status == 200 && answer?.isComplete == true,
                            "\(format) of \(object.prefix(20)): \(answer?.text.suffix(300) ?? "no answer")")
                    } else if format == .sqlite || format == .xlsx {
                        #expect(answer?.status == 422 && answer?.code == "answer_too_large", "\(format) of \(object.prefix(20))")
                    } else {
                        #expect(answer?.isComplete != true, "\(format) of \(object.prefix(20))")
                    }
                }
            }
            let all: [ExportFormat] = [.ndjson, .json, .csv, .ejson, .postgresql, .sqlite, .xlsx]
            try check(#"{"id":1,"a":"\#(half)"}"#, cut: [], whole: all)
            try check(#"{"id":1,"a":"\#(half)","b":"\#(half)"}"#, cut: all, whole: [])
            try check(#"{"id":1,"a":"\#(half)","any":"\#(half)"}"#, cut: all, whole: [])
            // The backslashes are twice as long in a script; a workbook has them as they are.
            let escaped = String(repeating: #"\\"#, count: 6000)
            try check(#"{"id":1,"a":"\#(escaped)"}"#, cut: [.postgresql], whole: [.sqlite, .xlsx])
            // A database has a row for each element, and a script all rows of an object at once.
            try check(#"{"id":1,"list":["\#(half)","\#(half)"]}"#, cut: [.postgresql, .xlsx], whole: [.sqlite])
            // A collection is cut before the first element after the bound.
            try check(
                #"{"id":1,"list":["\#(whole)","\#(whole)","\#(whole)"]}"#, cut: [.ndjson, .postgresql, .xlsx], whole: [.sqlite])
        }
    }

    // MARK: - Workbooks

    /// The temporary file of the sheet that is written, by its name, which no other file has.
    private static func name(of file: Int32?) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(try #require(file))")
    }

    /// Whether this process has a file of a name open.
    private static func isOpen(_ name: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == name
        }
    }

    /// Writes three sheets; returns the names of their temporary files.
    private static func fill(_ book: Workbook) throws -> [String] {
        try (0..<3).map { sheet -> String in
            try book.beginSheet("Sheet \(sheet)", columns: ["a"])
            for row in 1...300 { try book.write(UUID().uuidString + UUID().uuidString, row, 0) }
            let name = try name(of: book.openFile)
            #expect(try isOpen(name))
            return name
        }
    }

    @Test(arguments: ["given up", "complete", "without room"])
    func `the files of a workbook's sheets are closed, however it ends`(end: String) throws {
        let path = end == "without room" ? "/dev/full" : NSTemporaryDirectory() + UUID().uuidString + ".xlsx"
        defer { if end == "complete" { try? FileManager.default.removeItem(atPath: path) } }
        var names: [String] = []
        do {
            let book = try Workbook(path: path)
            names = try LongExportTests.fill(book)
            #expect(try book.temporaryByteCount() > 40_000)
            switch end {
            case "complete": try book.close()
            case "without room": #expect(throws: Workbook.Failure.unwritten) { try book.close() }
            default: break
            }
            withExtendedLifetime(book) {}
        }
        #expect(Set(names).count == 3)
        for name in names { #expect(try !LongExportTests.isOpen(name), "\(name)") }
    }

    /// The library packs a workbook in one call, which lasted as long as it took though nobody wanted the workbook any more.
    @Test(arguments: [0, 1, 40, 300])
    func `a workbook that is not wanted any more ends while its sheets are packed`(looks: Int) throws {
        let path = NSTemporaryDirectory() + UUID().uuidString + ".xlsx"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var asked = 0
        let book = try Workbook(path: path) {
            asked += 1
            return asked <= looks
        }
        try book.beginSheet("Sheet", columns: ["a"])
        for row in 1...30_000 { try book.write("text \(row &* 7919)", row, 0) }
        #expect(try book.temporaryByteCount() > 1 << 20)
        #expect(asked == 0)
        #expect(throws: Workbook.Failure.unwritten) { try book.close() }
        #expect(asked == looks + 1)
    }

    @Test func `the sheets of a workbook are charged to its client while they exist`() throws {
        let objects = (0..<2000).map { [Array("\($0)".utf8) + Array(repeating: UInt8(ascii: "x"), count: 200)] }
        let realm = try LongExportTests.realm([ColumnDefinition("t", .string)], objects)
        let snapshot = realm.store.current
        var limits = Limits()
        limits.spool.reservedBytes = 0
        limits.spool.bytes = 300_000
        let room = SpoolRoom(limits.spool)
        func export(byteLimit: Int) throws {
            let file = try BodyFile(in: NSTemporaryDirectory(), try room.open(for: "a"))
            try TableFile.writeWorkbook(try StreamRows(allOf: snapshot), to: file, byteLimit: byteLimit)
        }
        // The workbook itself has a few kilobytes.
        #expect(throws: Problem.self) { try export(byteLimit: 1 << 30) }
        #expect(room.refused > 0)
        #expect(throws: Problem.self) { try export(byteLimit: 300_000) }
        #expect(room.files == 0 && room.bytes == 0)
        limits.spool.bytes = 4 << 20
        let wide = SpoolRoom(limits.spool)
        let file = try BodyFile(in: NSTemporaryDirectory(), try wide.open(for: "a"))
        try TableFile.writeWorkbook(try StreamRows(allOf: snapshot), to: file, byteLimit: 4 << 20)
        #expect(wide.files == 1 && wide.bytes == file.byteCount && file.byteCount < 300_000)
        try realm.close()
    }

    @Test(arguments: [Array("x".utf8), [0x80], Array("😀".utf8), Array("\0".utf8)])
    func `a long text is cut in a cell, and only its beginning is read`(unit: [UInt8]) throws {
        for (count, isCut) in [(1000, false), (40_000, true), (1_000_000, true)] {
            let text = Array(repeatElement(unit, count: count).joined())
            let realm = try LongExportTests.realm([ColumnDefinition("t", .string)], [[text]])
            let file = try BodyFile(in: NSTemporaryDirectory())
            let rows = try StreamRows(allOf: realm.store.current)
            #expect(try TableFile.writeWorkbook(rows, to: file, byteLimit: 1 << 30) == isCut, "\(count) of \(unit)")
            try realm.close()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
@testable import RealmCalls
import RealmEngine
@testable import RealmFormats
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmHTTP

/// Imports that do not fit into memory, and what they are cut into.
@Suite struct LongImportTests {
    private static let lines = ("Content-Type", "application/x-ndjson")

    private static func dogs(_ keys: Range<Int>) -> String {
        let rest = ",\"age\":1,\"name\":\"\(String(repeating: "x", count: 100))\"}"
        return keys.map { "{\"_id\":" + String($0) + rest }.joined(separator: "\n")
    }

    @Test func `a write beside too many uncommitted ones is told which limit that is, and when to try again`() {
        var error = WriteError(.overloaded, "too much")
        error.limit = 1 << 20
        error.retryAfter = .seconds(1)
        for (setting, code, status, name) in [
            (.uncommittedBytes, .overloaded, 503, "uncommitted-bytes"),
            (.uncommittedBytesPerClient, .rateLimited, 429, "uncommitted-bytes-per-principal"),
        ] as [(WriteError.Setting, ProblemCode, Int, String)] {
            error.exceeded = setting
            // An import has the same problem, with its parts or without.
            for problem in [Problem(error), Problem(error).ofImport(), Problem(importing: error)] {
                #expect(problem.code == code && problem.status == status && problem.retryAfterSeconds == 1)
                let limitName = problem.extensions.first { $0.name.description == "limitName" }
                #expect(limitName.map { "\($0.value)" } == "text(\"\(name)\")")
            }
            #expect(Limits.entries.contains { $0.name == name })
        }
        var server = Limits()
        server.uncommittedBytes = 5 << 20
        server.uncommittedBytesPerPrincipal = 4 << 20
        let limits = WriteLimits(server)
        #expect(limits.uncommittedBytes == 5 << 20 && limits.uncommittedBytesPerClient == 4 << 20)
    }

    @Test func `a long body is kept in a file, packed or not, and comes in like a short one`() throws {
        let server = try WriteServer()
        let plain = try server.send("POST", "app/import?class=Dog", LongImportTests.dogs(0..<6000), [LongImportTests.lines])
        #expect(plain.json["created"]?.int == 6000, "\(plain.text)")
        // Hardly packed at all, so that the packed body is long too.
        let deflater = try #require(GzipDeflater(level: 0))
        let buffer = OutputBuffer(capacity: 1 << 20)
        let packed = OutputBuffer(capacity: 1 << 20)
        buffer.append(LongImportTests.dogs(6000..<12_000))
        #expect(deflater.compress(buffer, isEnd: true, into: packed))
        #expect(packed.count > 512 << 10)
        let headers = [LongImportTests.lines, ("Content-Encoding", "gzip")]
        let answer = try HTTPClient.request(
            port: server.port, "POST", "/v1/realms/app/import?class=Dog", headers: headers, body: packed.array)
        #expect(answer.json["created"]?.int == 6000, "\(answer.text)")
        let cut = try HTTPClient.request(
            port: server.port, "POST", "/v1/realms/app/import?class=Dog", headers: headers, body: Array(packed.array.dropLast(99))
        )
        #expect(cut.code == "invalid_body", "\(cut.text)")
        #expect(try server.get("app/objects/Dog?count=exact&limit=0").json["count"]?.int == 12_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: server.folder).allSatisfy { !$0.contains("body") })
        try server.finish()
    }

    @Test(arguments: [1000, 70_000, 300_000, 2_000_000])
    func `a long body in chunks of any size comes in whole, from several clients at a time`(_ size: Int) throws {
        let server = try WriteServer()
        let head =
            "POST /v1/realms/app/import?class=Dog HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        let port = server.port
        let answers = Mutex<[String]>([])
        let threads = (0..<4).map { number in
            StoppingThread {
                let body = Array(LongImportTests.dogs(number * 20_000..<number * 20_000 + 10_000).utf8)
                let answer = Result { try LongImportTests.send(head, body, inPiecesOf: size, port).text }
                answers.withLock { $0.append((try? answer.get()) ?? "\(answer)") }
            }
        }
        for thread in threads { thread.wait() }
        #expect(
            answers.withLock { $0 }.allSatisfy { $0.hasPrefix(#"{"created":10000,"updated":0,"#) }, "\(answers.withLock { $0 })")
        #expect(try server.get("app/objects/Dog?count=exact&limit=0").json["count"]?.int == 40_000)
        try server.finish()
    }

    private static func send(_ head: String, _ body: [UInt8], inPiecesOf size: Int, _ port: Int) throws -> HTTPClient.Answer {
        let client = try HTTPClient(port: port)
        try client.send(head)
        for start in stride(from: 0, to: body.count, by: size) {
            let piece = body[start..<min(start + size, body.count)]
            try client.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8))
        }
        try client.send("0\r\n\r\n")
        return try client.readAnswer()
    }

    @Test func `who leaves in the middle of a long body leaves nothing behind`() throws {
        let server = try WriteServer()
        let head =
            "POST /v1/realms/app/import?class=Dog HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\nContent-Length: 9000000\r\n\r\n"
        let body = Array(LongImportTests.dogs(0..<20_000).utf8)
        for length in [0, 1000, 300_000, 1_000_000, body.count] {
            let client = try HTTPClient(port: server.port)
            try client.send(head)
            try client.send(Array(body[..<length]))
        }
        #expect(
            try eventually(seconds: 20) {
                let metrics = try ServerMetrics(port: server.port)
                return metrics["spool_bytes"] == 0 && metrics["waiting_bytes"] == 0
            })
        #expect(try server.get("app/objects/Dog?count=exact&limit=0").json["count"]?.int == 0)
        try server.finish()
    }

    @Test func `the same long body with the same key is written once`() throws {
        let server = try WriteServer()
        let headers = [LongImportTests.lines, ("Idempotency-Key", "k1")]
        let body = LongImportTests.dogs(0..<6000)
        #expect(try server.send("POST", "app/import?class=Dog", body, headers).status == 200)
        let again = try server.send("POST", "app/import?class=Dog", body, headers)
        #expect(again.status == 200)
        #expect(again["Idempotency-Replayed"] == "true")
        #expect(try server.send("POST", "app/import?class=Dog", body + "\n", headers).code == "idempotency_key_reused")
        try server.finish()
    }

    @Test func `limits of imports are told`() throws {
        let server = try WriteServer {
            $0.limits.importBytes = 2 << 20
            $0.limits.importRecordBytes = 1000
        }
        let bytes = try server.bytes()
        // Refused before the body, which is not sent: the server does not wait for it.
        let length = ("Content-Length", "\(3 << 20)")
        let long = try server.send("POST", "app/import?class=Dog", nil, [LongImportTests.lines, length])
        #expect(long.status == 413)
        #expect(long.json["limit"]?.int == 2 << 20)
        let line =
            LongImportTests.dogs(0..<3) + "\n{\"_id\":3,\"age\":1,\"name\":\"" + String(repeating: "y", count: 2 << 19) + "\"}"
        let answer = try server.send("POST", "app/import?class=Dog", line, [LongImportTests.lines])
        #expect(answer.status == 413, "\(answer.text)")
        #expect(answer.json["limit"]?.int == 1000)
        #expect(answer.json["line"]?.int == 4)
        #expect(try server.bytes() == bytes)
        try server.finish()
    }

    /// Each line feed of a body became a record in memory, so that one of 1 GiB took 50 GiB.
    @Test(arguments: ["\n", "\r\n", " \t\n"]) func `blank lines take neither memory nor place`(_ blank: String) throws {
        let server = try WriteServer { $0.limits.importBytes = 64 << 20 }
        let gap = String(repeating: blank, count: 12_000_000 / blank.utf8.count)
        let body = "{\"_id\":1,\"age\":1}\n" + gap + "{\"_id\":2,\"age\":\"x\"}\n"
        let answer = try server.send("POST", "app/import?class=Dog", body, [LongImportTests.lines])
        #expect(answer.code == "type_mismatch" && answer.json["line"]?.int == 2 + gap.utf8.count / blank.utf8.count)
        if !blank.contains(" ") {
            let csv = try server.send("POST", "app/import?class=Dog", "_id,age\n" + gap + "3,1\n", [("Content-Type", "text/csv")])
            #expect(csv.json["created"]?.int == 1, "\(csv.text)")
        }
        try server.finish()
    }

    @Test(arguments: 0..<40) func `passing over blank lines leaves the same records`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let form: RecordReader.Form = seed % 2 == 0 ? .lines : .csv
        let parts =
            form == .lines
            ? ["\n", "\r\n", " \n", "a\n", "{}\n", " b \n", "\t\r\n"] : ["\n", "\r", "\r\n", "a,b\r\n", "\"x\n\n\",1\r", ",\n"]
        var text = ""
        for _ in 0..<Int.random(in: 0..<60, using: &random) {
            text += String(repeating: parts.randomElement(using: &random) ?? "", count: Int.random(in: 1..<50, using: &random))
        }
        // Blank lines also lie where one piece of the source ends.
        if seed % 5 == 0 { text = String(repeating: "\n", count: (1 << 20) - 3) + text }
        let source = ImportSource(Array(text.utf8))
        func isBlank(_ bytes: ArraySlice<UInt8>) -> Bool {
            form == .csv ? bytes.isEmpty : bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
        }
        func read(skipping: Bool) throws -> [String] {
            var reader = RecordReader(source, form)
            reader.skipsBlank = skipping
            var found: [String] = []
            while let (place, bytes) = try reader.next() {
                if !isBlank(bytes) { found.append("\(place.line) \(place.offset) \(String(decoding: bytes, as: UTF8.self))") }
            }
            return found
        }
        #expect(try read(skipping: true) == read(skipping: false), "seed \(seed)")
    }

    @Test func `one commit of an import has a bound, and parts do not need one`() throws {
        let server = try WriteServer {
            $0.limits.writeBytes = 2 << 20
            $0.limits.importBytes = 32 << 20
        }
        let body = LongImportTests.dogs(0..<30_000)
        let answer = try server.send("POST", "app/import?class=Dog", body, [LongImportTests.lines])
        #expect(answer.status == 413 && answer.code == "body_too_large" && answer.text.contains("atomic=false"), "\(answer.text)")
        #expect(answer.json["limit"]?.int == 2 << 20 && answer.json["limitName"]?.text == "write-bytes")
        let parts = try server.send("POST", "app/import?class=Dog&atomic=false", body, [LongImportTests.lines])
        #expect(parts.json["created"]?.int == 30_000, "\(parts.text)")
        try server.finish()
    }

    @Test func `an import of CSV keeps no version, so that the space its commits free is used again`() throws {
        let realm = try EngineRealm(WriteServer.classes)
        let dogs = try csvReader(realm.database.current.snapshot)
        for id in 0..<4 {
            let body = ImportSource(Array(#"{"_id":\#(id),"age":1}"#.utf8))
            try realm.write(EngineRealm.request(seconds: 60)) { session in
                try ImportRun(session, .create).run(ImportReader(body, className: "Dog", bounds: JSONBounds(depth: 20)))
            }
        }
        #expect(eventually { realm.database.liveVersions == 1 }, "\(realm.database.liveVersions)")
        withExtendedLifetime(dogs) {}
    }

    private func csvReader(_ snapshot: Snapshot) throws -> ImportReader {
        let source = ImportSource(Array("_id,age,owner\n9,1,Ann\n".utf8))
        return try ImportReader(csv: source, #require(snapshot.classTable(named: "Dog")), snapshot, bounds: JSONBounds(depth: 20))
    }

    // MARK: - Records

    private static func records(_ text: String, _ form: RecordReader.Form) throws -> [(line: Int, text: String)] {
        var reader = RecordReader(ImportSource(Array(text.utf8)), form)
        var found: [(line: Int, text: String)] = []
        while let (place, bytes) = try reader.next() {
            let again = try ImportSource(Array(text.utf8)).read(at: place.offset, byteCount: place.byteCount)
            #expect(Array(again) == Array(bytes))
            found.append((line: place.line, text: String(decoding: bytes, as: UTF8.self)))
        }
        return found
    }

    @Test func `lines end with line feeds, records of CSV where no quotes are open`() throws {
        #expect(try LongImportTests.records("a\n\nb", .lines).map(\.text) == ["a", "", "b"])
        #expect(try LongImportTests.records("a\nb\n", .lines).map(\.line) == [1, 2])
        let csv = try LongImportTests.records("\u{feff}a,\"b\nc\"\"\"\r\nd\"x,e\rf\n\n\"g\r\nh\"", .csv)
        #expect(csv.map(\.text) == ["a,\"b\nc\"\"\"", "d\"x,e", "f", "", "\"g\r\nh\""])
        #expect(csv.map(\.line) == [1, 3, 3, 4, 5])
        #expect(try LongImportTests.records("", .csv).isEmpty)
        #expect(try LongImportTests.records("a\r", .csv).map(\.text) == ["a"])
    }

    @Test(arguments: [RecordReader.Form.lines, .csv])
    func `records may go from one piece of the source to the next`(_ form: RecordReader.Form) throws {
        var random = SeededGenerator(seed: 9)
        let texts = (0..<40).map { _ in
            String(repeating: form == .csv ? "a,\"\"\"b\r\n\"," : "abc", count: Int.random(in: 0..<20_000, using: &random)) + "z"
        }
        let end = form == .csv ? "\r\n" : "\n"
        #expect(try LongImportTests.records(texts.joined(separator: end), form).map(\.text) == texts)
    }

    @Test func `new keys are found by old ones`() {
        var random = SeededGenerator(seed: 4)
        var keys = KeyTranslation()
        var expected: [Int64: Int64] = [:]
        for old in Int64(0)..<2000 where !Int.random(in: 0..<10, using: &random).isMultiple(of: 7) {
            let new = old < 900 || old > 1500 ? old : old + 5
            keys.record(ObjectKey(old), ObjectKey(new))
            expected[old] = new
        }
        keys.record(ObjectKey(3000), ObjectKey(3000))
        keys.record(ObjectKey(2500), ObjectKey(2500))
        expected[3000] = 3000
        expected[2500] = 2500
        for old in Int64(-5)..<3100 { #expect(keys.new(ObjectKey(old))?.rawValue == expected[old]) }
        #expect(KeyText.objectKey("@k12") == ObjectKey(12))
        for text in ["@k", "@k-1", "@k01", "k1", "@kx", "12"] { #expect(KeyText.objectKey(text) == nil) }
    }
}

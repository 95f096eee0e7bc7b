// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
@testable import RealmCalls
import RealmEngine
@testable import RealmFormats
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmHTTP

/// Imports in parts that fail in the middle, and what a client sends afterwards.
///
/// They lost links: objects that had been committed waited for those of later lines, the problem did not say so, and the rest of
/// the input, sent as an import of its own, ended with 200.
@Suite struct PartialImportTests {
    /// The forms of a body whose lines can be sent again without those before them.
    enum Form: String, CaseIterable { case lines, csv, array }

    /// What ends an import.
    enum End: CaseIterable { case type, malformed, duplicate, missing, deadline, revoked }

    private static let classes = [
        ClassInput(
            "Thing", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("age", "int"), PropertyInput("text", "string", optional: true),
                PropertyInput("next", "object", objectType: "Thing"),
                PropertyInput("more", "object", collection: "list", objectType: "Thing"),
            ])
    ]

    /// One object of an import.
    private struct Thing: Equatable {
        var id: Int
        var age = "1"
        var text: String?
        var next: Int?
        var more: [Int] = []

        /// As JSON, with bare keys as links.
        var json: String {
            let escapes: [Unicode.Scalar: String] = ["\r": "\\r", "\n": "\\n"]
            let text = self.text.map { "\"\($0.unicodeScalars.map { escapes[$0] ?? String($0) }.joined())\"" } ?? "null"
            var members = ["\"id\":\(id)", "\"age\":\(Int(age) == nil ? "\"\(age)\"" : age)", "\"text\":\(text)"]
            if let next { members.append("\"next\":\(next)") }
            if !more.isEmpty { members.append("\"more\":\(more)") }
            return "{\(members.joined(separator: ","))}"
        }

        /// As a record of CSV.
        var record: String {
            let (text, more) = (self.text.map { "\"\($0)\"" } ?? "", self.more.isEmpty ? "" : "\"\(self.more)\"")
            return "\(id),\(age),\(text),\(next.map { "\($0)" } ?? ""),\(more)"
        }
    }

    /// A body, and the lines in which its objects begin and end.
    private struct Body {
        var text = ""
        var lines: [ClosedRange<Int>] = []
        private static let header = "id,age,text,next,more\n"

        init(_ things: [Thing], _ form: Form, malformed: Int? = nil, _ random: inout SeededGenerator) {
            if form != .lines { text = form == .csv ? Body.header : "[\n" }
            var line = form == .lines ? 1 : 2
            for (index, thing) in things.enumerated() {
                let isLast = index == things.count - 1
                var record = form == .csv ? thing.record : thing.json
                if index == malformed { record = form == .csv ? "7" : "{\"id\":}" }
                let last = line + record.utf8.count { $0 == 0x0a }
                lines.append(line...last)
                // An array may have several elements in a line, of which those of another import would be a part.
                let isJoined = form == .array && Int.random(in: 0..<4, using: &random) == 0
                let end = form == .csv && Int.random(in: 0..<2, using: &random) == 0 ? "\r\n" : "\n"
                text += record + (form == .array && !isLast ? "," : "") + (isJoined ? " " : end)
                line = isJoined ? last : last + 1
            }
            if form == .array { text += "]" }
        }

        /// What follows a number of lines, as a body of its own.
        func rest(behind count: Int, _ form: Form) -> String {
            guard count > 0 else { return text }
            var bytes = Array(text.utf8)[...]
            for _ in 0..<count { bytes = bytes[((bytes.firstIndex(of: 0x0a) ?? bytes.endIndex - 1) + 1)...] }
            let rest = String(decoding: bytes, as: UTF8.self)
            return (form == .csv ? Body.header : form == .array ? "[" : "") + rest
        }
    }

    /// Rights that are in force until they were asked for a number of times.
    private final class PassingRights: AdmittedRights {
        private let left: Mutex<Int>
        init(_ count: Int) { left = Mutex(count) }
        func identity(in snapshot: Snapshot?) -> String { "" }
        func areInForce(for principal: Principal) -> Bool {
            left.withLock { left in
                left -= 1
                return left >= 0
            }
        }
    }

    private static func run(
        _ realm: EngineRealm, _ text: String, _ form: Form, _ mode: ImportRun.Mode, _ parts: ImportChain.Parts = .init(),
        _ rights: PassingRights? = nil, within seconds: Double = 600
    ) throws -> Result<ImportChain.Outcome, Problem> {
        let source = ImportSource(Array(text.utf8))
        let bounds = JSONBounds(depth: 50)
        let snapshot = realm.database.current.snapshot
        let reader =
            form == .csv
            ? try ImportReader(csv: source, #require(snapshot.classTable(named: "Thing")), snapshot, bounds: bounds)
            : ImportReader(source, className: "Thing", bounds: bounds, isArray: form == .array)
        let result = Awaited<Result<ImportChain.Outcome, Problem>>()
        ImportChain(
            realm.database, mode, reader, of: Standing(principal: .local, rights: rights),
            deadline: .now().adding(seconds: seconds), parts: parts
        ) { result.set($0) }.run()
        return try result.wait(seconds: 600)
    }

    private static func contents(_ realm: EngineRealm) throws -> [Int: Thing] {
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Thing"))
        let columns = try ["id", "age", "text", "next", "more"].map { try #require(table.column(named: $0)) }
        func id(_ key: ObjectKey) throws -> Int? {
            guard let row = try table.find(key), case .int(let id) = try row.value(columns[0]) else { return nil }
            return Int(id)
        }
        var found: [Int: Thing] = [:]
        var leaves = table.leaves()
        var rows: [Row] = []
        while let leaf = try leaves.next() { rows += (0..<leaf.count).map { Row(leaf: leaf, index: $0) } }
        for row in rows {
            guard case .int(let number) = try row.value(columns[0]), case .int(let age) = try row.value(columns[1])
            else { continue }
            var thing = Thing(id: Int(number), age: "\(age)")
            if case .string(let bytes) = try row.value(columns[2]) { thing.text = bytes.string }
            if case .link(_, let key) = try row.value(columns[3]) { thing.next = try id(key) }
            let root = try row.leaf.collectionRoot(columns[4], row: row.index)
            let list = try ListView(
                root: root, space: snapshot.space, shape: columns[4].elementShape, mayHoldUnresolved: table.hasTombstones)
            for index in 0..<list.count {
                if case .link(_, let key) = try list.value(at: index), let target = try id(key) { thing.more.append(target) }
            }
            found[thing.id] = thing
        }
        return found
    }

    @Test(arguments: Form.allCases, TestRun.seeds(quick: 36, long: 1200))
    func `what follows 'committed' makes a failed import whole`(_ form: Form, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &* 31 &+ UInt64(form.rawValue.utf8.count))
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
        let end = End.allCases[Int(seed) % End.allCases.count]
        // A long body is read ahead.
        let pad = number(0..<3) == 0 ? String(repeating: "long ", count: 600) : ""
        let count = number(20..<300)
        let (backward, forward) = (number(0..<4), number(0..<4))
        func target(_ id: Int) -> Int? {
            switch number(0..<12) {
            case 0..<backward: return number(0..<id + 1)
            case 4..<4 + forward: return number(id..<min(count, number(0..<3) == 0 ? count : id + 9))
            default: return nil
            }
        }
        let things = (0..<count).map { id -> Thing in
            let text = ["x", "two\nlines", "\r\n", "", nil].randomElement(using: &random) ?? nil
            var thing = Thing(id: id, text: text.map { $0 + pad }, next: target(id))
            if number(0..<4) == 0 { thing.more = (0..<number(1..<4)).compactMap { _ in target(id) } }
            return thing
        }
        let wrong = number(1..<count)
        var sent = things
        switch end {
        case .type: sent[wrong].age = "x"
        case .duplicate: sent[wrong].id = number(0..<wrong)
        case .missing: sent[wrong].next = 999_999
        case .malformed, .deadline, .revoked: break
        }
        let what = Comment(rawValue: "seed \(seed), \(form), \(end), \(count) objects, \(wrong) is wrong")
        // Both bodies have the same line ends.
        var (lineEnds, again) = (random, random)
        let body = Body(sent, form, malformed: end == .malformed ? wrong : nil, &lineEnds)
        let right = Body(things, form, &again)
        let parts = ImportChain.Parts(count: number(5..<60), seconds: 0)
        let realm = try EngineRealm(PartialImportTests.classes)
        let rights = end == .revoked ? PassingRights(number(1..<12)) : nil
        let seconds = end == .deadline ? Double(number(1..<60)) / 1000 : 600
        let result = try PartialImportTests.run(realm, body.text, form, .create, parts, rights, within: seconds)
        let found = try PartialImportTests.contents(realm)
        let model = Dictionary(uniqueKeysWithValues: things.map { ($0.id, $0) })
        guard case .failure(let problem) = result else {
            #expect(end == .deadline || end == .revoked, what)
            #expect(found == model, what)
            return try realm.finish()
        }
        func integer(_ name: String) -> Int? {
            for one in problem.extensions where one.name.description == name {
                if case .integer(let value) = one.value { return Int(value) }
            }
            return nil
        }
        let committed = try #require(integer("committed"), what)
        let unlinked = integer("unlinked") ?? 0
        // Everything up to there is whole, and all that is not is counted.
        for (thing, lines) in zip(things, right.lines) where lines.upperBound <= committed {
            #expect(found[thing.id] == thing, what)
        }
        let lacking = found.values.filter { $0 != model[$0.id] || end == .missing && $0.id == wrong }.map(\.id)
        #expect(lacking.count == unlinked, what)
        #expect((unlinked > 0) == problem.detail.contains("still lack"), what)
        let wrongLine = body.lines[wrong].lowerBound
        switch end {
        case .type, .malformed, .duplicate:
            // What is right before the wrong line is there, and nothing behind it.
            #expect(problem.line == wrongLine, what)
            let before = body.lines[..<wrong].count { $0.lowerBound < wrongLine }
            #expect(form == .array ? (before...wrong).contains(found.count) : found.count == wrong, what)
            if unlinked == 0 { #expect(committed == wrongLine - 1, what) }
        case .missing: #expect(problem.line == wrongLine && found.count == count && committed == wrongLine - 1, what)
        case .deadline: #expect(problem.code == .deadlineExceeded, what)
        case .revoked: #expect(problem.code == .forbidden, what)
        }
        let rest = right.rest(behind: committed, form)
        if unlinked > 0 {
            // Without the advice it is an error, and never looks whole.
            let refused = try PartialImportTests.run(realm, rest, form, .create)
            #expect(throws: Problem.self, what) { try refused.get() }
            #expect(try PartialImportTests.contents(realm) == found, what)
        }
        _ = try PartialImportTests.run(realm, rest, form, unlinked > 0 || form == .array ? .upsert : .create, parts).get()
        #expect(try PartialImportTests.contents(realm) == model, what)
        try realm.finish()
    }

    /// The first object lost its link to the last one, and `committed` was inside of a record.
    @Test func `the problem counts objects without links, and continuing behind 'committed' heals them`() throws {
        let server = try WriteServer(PartialImportTests.classes) { $0.limits.importBytes = 8 << 20 }
        let header = "id,age,text,next\n"
        var records = (0..<10_500).map { "\($0),1,\"two\nlines\",\($0 == 7000 ? "10499" : "")\n" }
        records[10_400] = "10400,x,,\n"
        let csv = [("Content-Type", "text/csv")]
        func send(_ body: String, _ mode: String) throws -> HTTPClient.Answer {
            try server.send("POST", "app/import?class=Thing&atomic=false&mode=\(mode)", body, csv)
        }
        let failed = try send(header + records.joined(), "create")
        #expect(failed.code == "type_mismatch" && failed.json["line"]?.int == 2 + 2 * 10_400, "\(failed.text)")
        #expect(failed.json["unlinked"]?.int == 1 && failed.json["committed"]?.int == 1 + 2 * 7000, "\(failed.text)")
        #expect(failed.text.contains("1 committed object still lacks links: import all lines behind"), "\(failed.text)")
        #expect(try server.get("app/objects/Thing?count=exact&limit=0").json["count"]?.int == 10_400)
        records[10_400] = "10400,1,,\n"
        let rest = header + records[7000...].joined()
        #expect(try send(rest, "create").code == "duplicate_key")
        let healed = try send(rest, "upsert")
        #expect(healed.json["created"]?.int == 100 && healed.json["updated"]?.int == 3400, "\(healed.text)")
        #expect(try server.show("Thing/7000").contains(#""key":"10499""#))
        // Where no link waits, nothing behind these lines is there.
        records = (20_000..<30_200).map { "\($0),\($0 == 30_100 ? "x" : "1"),\"two\r\nlines\",\($0 - 1)\r\n" }
        records[0] = "20000,1,,\r\n"
        let again = try send(header + records.joined(), "create")
        #expect(again.json["committed"]?.int == 1 + 1 + 2 * 10_099 && again.json["unlinked"] == nil, "\(again.text)")
        records[10_100] = "30100,1,,30099\r\n"
        #expect(try send(header + records[10_100...].joined(), "create").json["created"]?.int == 100)
        #expect(try server.show("Thing/30199").contains(#""key":"30198""#))
        try server.finish()
    }

    /// A bare carriage return was counted as the end of a line, which it is for no other program, so that a record was left out.
    @Test func `what follows 'committed' has every record where carriage returns end some`() throws {
        let server = try WriteServer(PartialImportTests.classes)
        let send = { (text: String, mode: String) in
            try server.send(
                "POST", "app/import?class=Thing&atomic=false&mode=\(mode)", text, [("Content-Type", "text/csv")])
        }
        for (text, line, committed) in [
            ("id,age\n1,1\r2,2\n3,x\n4,4\n", 3, 2), ("id,age\n1,1\r2,x\n3,3\n4,4\n", 2, 0), ("id,age\r1,1\r2,2\r3,x\r4,4", 1, 0),
            ("id,age\n\r\r1,1\n\r\n2,2\n3,3\r4,x\n", 5, 4),
        ] {
            try server.send("DELETE", "app/objects?confirm=all")
            let failed = try send(text, "create")
            #expect(failed.json["line"]?.int == line && failed.json["committed"]?.int == committed, "\(failed.text)")
            // CR LF is one character of a text.
            let lines = Array(text.replacing("x", with: "9").utf8).split(separator: 0x0a, omittingEmptySubsequences: false)
            let rest = String(decoding: Array(lines.dropFirst(committed).joined(separator: [0x0a])), as: UTF8.self)
            let answer = try send((committed > 0 ? "id,age\n" : "") + rest, "upsert")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.get("app/objects/Thing?count=exact&limit=0").json["count"]?.int == 4)
        }
        try server.finish()
    }

    @Test func `objects without a primary key are said to be created twice`() throws {
        let server = try WriteServer()
        var lines = [#"{"$meta":{"class":"Person"},"id":"p","dogs":[9]}"#]
        lines += (0..<10).map { #"{"$meta":{"class":"Note","key":"@k\#($0)"},"text":"n"}"# }
        lines.append(#"{"$meta":{"class":"Note"},"text":[1]}"#)
        let failed = try server.send(
            "POST", "app/import?atomic=false", lines.joined(separator: "\n"), [("Content-Type", "application/x-ndjson")])
        #expect(failed.json["line"]?.int == 12 && failed.json["committed"]?.int == 0, "\(failed.text)")
        #expect(failed.json["unlinked"]?.int == 1 && failed.text.contains("would be created twice"), "\(failed.text)")
        #expect(failed.text.contains("'@k5'"), "\(failed.text)")
        try server.finish()
    }

    @Test(arguments: [
        ("a\nb\n\nc", Form.lines, [1, 2, 3, 4]), ("a,\"b\n\"\r\n\"\r\n\"\n", .csv, [2, 4]),
        ("a\rb\nc\r\nd\re", .csv, [0, 1, 2, 2, 3]), ("a\rb\r", .csv, [0, 1]), ("a\n\r\rb\n\r\nc", .csv, [1, 1, 1, 2, 3, 4]),
        ("[\n{},\n{\n}, {}, 7\n, 8]", .array, [2, 3, 3, 4, 4]), ("[{},{}]", .array, [0, 0]), ("[1,\n2", .array, [1]),
    ])
    func `lines are counted as far as all of their records are read`(_ text: String, _ form: Form, _ counts: [Int]) throws {
        let kind: RecordReader.Form = form == .lines ? .lines : form == .csv ? .csv : .array
        var reader = RecordReader(ImportSource(Array(text.utf8)), kind)
        var found: [Int] = []
        while found.count < counts.count, let (place, _) = try reader.next() { found.append(reader.lineCount(upTo: place)) }
        #expect(found == counts)
    }
}

// SPDX-License-Identifier: Apache-2.0

@testable import RealmCalls
import RealmEngine
@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Long imports, whose objects are read as rows where that is possible, beside short ones, whose objects are read one by one.
@Suite struct RowImportTests {
    private static let types = [
        "int", "bool", "string", "data", "date", "float", "double", "decimal128", "objectId", "uuid", "mixed",
    ]

    private static var classes: [ClassInput] {
        let plain = types.flatMap {
            [PropertyInput($0, $0, optional: $0 == "mixed"), PropertyInput("\($0)?", $0, optional: true)]
        }
        let thing = [PropertyInput("id", "int"), PropertyInput("$odd", "string", optional: true)] + plain
        return [
            ClassInput("Thing", primaryKey: "id", thing),
            ClassInput("Note", primaryKey: nil, [PropertyInput("text", "string"), PropertyInput("size", "int", optional: true)]),
            ClassInput("Tag", primaryKey: "name", [PropertyInput("name", "string"), PropertyInput("weight", "double")]),
        ]
    }

    /// Makes lines of objects that are right, in many forms.
    private struct Lines {
        var random: SeededGenerator

        mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

        private mutating func text() -> String {
            ["", "a", "Grüße", #"\"\\\/\n"#, #"\u00e9\ud83d\ude00"#, String(repeating: "long ", count: number(1..<40))]
                .randomElement(using: &random) ?? ""
        }

        /// A value of a type as JSON.
        mutating func value(_ type: String) -> String {
            switch type {
            case "int":
                return ["0", "-0", "-9223372036854775808", "9223372036854775807", "\"12\"", "\(number(0..<1000))"].randomElement(
                    using: &random) ?? ""
            case "bool": return number(0..<2) == 0 ? "true" : "false"
            case "string": return "\"\(text())\""
            case "data": return ["\"\"", "\"AAEC\"", #"{"$binary":"AAEC"}"#].randomElement(using: &random) ?? ""
            case "date":
                return ["\"2024-05-17\"", "\"2024-05-17T09:30:00.123456789Z\"", "\"1969-12-31T23:59:59.5+01:00\""].randomElement(
                    using: &random) ?? ""
            case "float": return ["1.5", "3", "-0.0", "\"NaN\"", "1e-50"].randomElement(using: &random) ?? ""
            case "double":
                return ["1.5", "3", "-0.0", "\"Infinity\"", "5e-324", "12345678901234567890"].randomElement(using: &random) ?? ""
            case "decimal128":
                return ["1", "\"1.50\"", "\"1E+3\"", "123456789012345678901234"].randomElement(using: &random) ?? ""
            case "objectId": return #""0123456789abcdef01234567""#
            case "uuid": return #""3b241101-e2bb-4255-8caf-4136c566a962""#
            default: return ["1", "\"a\"", "null", "1.5", "[1,{\"a\":2}]"].randomElement(using: &random) ?? ""
            }
        }

        /// A thing whose mixed values and typed wrappers are rare, as rows end with them.
        mutating func thing(_ id: Int) -> String {
            var members = ["\"id\":\(id)"]
            for type in RowImportTests.types where type != "mixed" || number(0..<400) == 0 {
                members.append("\"\(type)\":\(value(type))")
                let isNull = number(0..<2) == 0
                if number(0..<2) == 0 { members.append("\"\(type)?\":\(isNull ? "null" : value(type))") }
            }
            if number(0..<3) == 0 { members.append(#""$$odd":"\#(text())""#) }
            if number(0..<8) == 0 { members.shuffle(using: &random) }
            return "{\(members.joined(separator: number(0..<2) == 0 ? "," : " , "))}\(number(0..<50) == 0 ? "\n " : "")"
        }
    }

    private static func realm() throws -> EngineRealm { try EngineRealm(classes) }

    /// Imports a text; returns the numbers of created and updated objects, or the problem.
    private static func run(
        _ realm: EngineRealm, _ text: String, class className: String? = "Thing", _ mode: ImportRun.Mode = .create
    ) throws -> String {
        let reader = ImportReader(ImportSource(Array(text.utf8)), className: className, bounds: JSONBounds(depth: 200))
        let counts = Awaited<String>()
        do {
            try realm.write(EngineRealm.request(seconds: 600), waiting: 600) { session in
                let run = ImportRun(session, mode)
                do throws(Problem) { try run.run(reader) } catch {
                    counts.set("\(error.code) \(error.detail) \(error.extensions)")
                    throw error
                }
                counts.set("\(run.created) \(run.updated)")
            }
        } catch {}
        return try counts.wait()
    }

    /// Everything in a realm, without what differs between two files with equal objects.
    private static func contents(_ realm: EngineRealm) throws -> [String] {
        var text = ""
        try ExportStream(try StreamRows(allOf: realm.database.current.snapshot), version: "0", format: .ndjson).forEachChunk {
            text += String(decoding: $0, as: UTF8.self)
        }
        return text.split(separator: "\n").map { String($0).replacing(/,"etag":"[^"]*\\""/, with: "") }
    }

    /// Imports a text in one piece that is long enough to be read ahead, and in pieces that are not.
    private static func expectEqual(_ lines: [String], class className: String?, _ what: String) throws {
        let (whole, parts) = (try realm(), try realm())
        let text = lines.joined(separator: "\n")
        #expect(text.utf8.count > 600 << 10, "\(what)")
        #expect(try run(whole, text, class: className) == "\(lines.count) 0", "\(what)")
        for start in stride(from: 0, to: lines.count, by: 500) {
            let part = lines[start..<min(start + 500, lines.count)]
            #expect(try run(parts, part.joined(separator: "\n"), class: className) == "\(part.count) 0", "\(what)")
        }
        let (left, right) = (try contents(whole), try contents(parts))
        #expect(left.count == right.count && left.count >= lines.count, "\(what)")
        for (left, right) in zip(left, right) where left != right {
            Issue.record("\(what): \(left.prefix(2000)) instead of \(right.prefix(2000))")
            break
        }
        try whole.finish()
        try parts.finish()
    }

    @Test(arguments: TestRun.seeds(quick: 3, long: 60))
    func `objects are the same, however many come at once`(seed: UInt64) throws {
        var lines = Lines(random: SeededGenerator(seed: seed))
        try RowImportTests.expectEqual((0..<2500).map { lines.thing($0) }, class: "Thing", "seed \(seed)")
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 30))
    func `objects of several classes are the same`(seed: UInt64) throws {
        var lines = Lines(random: SeededGenerator(seed: seed))
        var names = 0
        let all = (0..<9000).map { number -> String in
            // Classes follow each other, and at times they alternate.
            switch (number / 700 % 5, number % 4) {
            case (0, _), (4, 0), (4, 1):
                return #"{"$meta":{"class":"Thing","key":"\#(number)","etag":"x"},"# + lines.thing(number).dropFirst()
            case (1, _), (4, 2):
                return #"{"$meta":{"class":"Note"},"text":"note \#(number)"}"#
            case (2, _): return #"{"$meta":{"class":"Note","key":"@k\#(number)"},"text":"note \#(number)","size":\#(number)}"#
            default:
                names += 1
                return #"{"name":"tag \#(number)","weight":1.5,"$meta":{"key":"tag \#(number)","class":"Tag"}}"#
            }
        }
        try RowImportTests.expectEqual(all, class: nil, "seed \(seed)")
    }

    /// Lines that are wrong, each of which would be a row without what is wrong with it.
    private static let wrong = [
        #"{"id":99999}"#, #"{"id":1.5,"#, #"{"id":"x"}"#, #"{"int":1}"#, "[]", "7", "{", #"{"id":99999,"int":1,"int":2}"#,
        #"{"id":99999,"int":null,"more":1}"#, #"{"$meta":{"class":"Tag"},"name":"a","weight":1}"#,
        #"{"$meta":{"class":"Nothing"}}"#,
        #"{"$meta":{"class":"Thing","key":"1","key":"1"},"id":99999}"#, #"{"$meta":7}"#, "{\"id\":99999,\"string\":\"\u{1}\"}",
    ]

    @Test(arguments: wrong) func `the line of an error is found`(line: String) throws {
        var lines = Lines(random: SeededGenerator(seed: 7))
        var all = (0..<2500).map { lines.thing($0) }
        let place = lines.number(1500..<2400)
        let number = all[..<place].joined(separator: "\n").split(separator: "\n", omittingEmptySubsequences: false).count
        all[place] = line
        let (whole, alone) = (try RowImportTests.realm(), try RowImportTests.realm())
        let found = try RowImportTests.run(whole, all.joined(separator: "\n"))
        let blank = String(repeating: "\n", count: number)
        let wanted = try RowImportTests.run(alone, blank + line)
        #expect(found == wanted && found.contains("\(number + 1)"), "\(line)")
        #expect(whole.count("Thing") == 0)
        try whole.finish()
        try alone.finish()
    }

    @Test func `what exists is refused at its line, or written into`() throws {
        var lines = Lines(random: SeededGenerator(seed: 8))
        let realm = try RowImportTests.realm()
        let things = (0..<2500).map { lines.thing($0).replacing("\n ", with: "") }
        #expect(try RowImportTests.run(realm, things[2000]) == "1 0")
        let refused = try RowImportTests.run(realm, things.joined(separator: "\n"))
        #expect(refused.hasPrefix("duplicateKey") && refused.contains("2001"), "\(refused)")
        #expect(realm.count("Thing") == 1)
        #expect(try RowImportTests.run(realm, things.joined(separator: "\n"), .upsert) == "2499 1")
        #expect(try RowImportTests.run(realm, things.joined(separator: "\n"), .upsert) == "0 2500")
        let twice = (things.map { $0.replacing(/"id":(\d+)/) { "\"id\":\((Int($0.1) ?? 0) + 5000)" } } + [things[0]])
        #expect(try RowImportTests.run(realm, twice.joined(separator: "\n")).hasPrefix("duplicateKey"))
        #expect(realm.count("Thing") == 2500)
        try realm.finish()
    }

    @Test func `rows behind the trailer are refused`() throws {
        var lines = Lines(random: SeededGenerator(seed: 9))
        let realm = try RowImportTests.realm()
        let begin = #"{"$begin":{"format":1,"schema":{"classes":[]}}}"#
        let things = (0..<2500).map { #"{"$meta":{"class":"Thing"},"# + lines.thing($0).replacing("\n ", with: "").dropFirst() }
        func text(_ trailer: Int, _ more: [String] = []) -> String {
            ([begin] + things + [#"{"$end":{"objects":\#(trailer)}}"#] + more).joined(separator: "\n")
        }
        #expect(
            try RowImportTests.run(realm, text(2500, [things[0]]), class: nil).contains("the trailer is followed by another line")
        )
        #expect(try RowImportTests.run(realm, text(2499), class: nil).contains("the export is truncated"))
        // An export that lost its beginning has no header.
        let rest = text(2500).split(separator: "\n", omittingEmptySubsequences: false)
        for lost in [3, 1000] {
            let tail = rest.dropFirst(lost).joined(separator: "\n")
            #expect(try RowImportTests.run(realm, tail, class: nil).contains("the export is truncated"), "\(lost) lines")
        }
        #expect(realm.count("Thing") == 0)
        #expect(try RowImportTests.run(realm, text(2500), class: nil) == "2500 0")
        try realm.finish()
    }

    @Test func `only plain objects become rows`() throws {
        let realm = try RowImportTests.realm()
        try realm.write { session in
            session.naming = .documents
            let shape = try #require(try session.rowShapes(of: "Tag").first)
            #expect(try session.rowShapes(of: nil).map(\.className).sorted() == ["Note", "Tag", "Thing"])
            func outcome(_ line: String, needsClass: Bool = false) -> (Bool, Int) {
                var rows: ObjectRows? = ObjectRows(shape, byteCount: 100)
                let bounds = JSONBounds(depth: 10, values: 20)
                let outcome = JSONTape.add(Array(line.utf8)[...], bounds, needsClass: needsClass, to: &rows)
                let isAdded = if case .added = outcome { true } else { false }
                return (isAdded, rows?.count ?? 0)
            }
            #expect(outcome(#"{"name":"a","weight":1}"#) == (true, 1))
            #expect(outcome(#"{"weight":"NaN","name":"a"}"#) == (true, 1))
            // A number is also taken as a text.
            #expect(outcome(#"{"name":"a","weight":"1"}"#) == (true, 1))
            #expect(outcome(#"{"name":"a","weight":1,"$meta":{"class":"Tag"}}"#, needsClass: true) == (true, 1))
            for line in [
                #"{"name":"a"}"#, #"{"weight":1}"#, #"{"name":null,"weight":1}"#, #"{"name":"a","weight":1,"x":1}"#,
                #"{"name":"a","weight":1,"weight":1}"#, #"{"name":"a","weight":[1]}"#, #"{"name":"a","weight":"one"}"#,
                #"{"name":"a","weight":1,"$meta":{"class":"Tag","key":"@k1"}}"#, #"{"name":"a","weight":1} 1"#, "", " ",
                #"{"name":"\#(String(repeating: "x", count: 200))","weight":1}"#,
            ] { #expect(outcome(line) == (false, 0), "\(line)") }
            #expect(outcome(#"{"name":"a","weight":1}"#, needsClass: true) == (false, 0))
        }
        try realm.finish()
    }
}

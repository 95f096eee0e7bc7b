// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import RealmTestSupport
import Testing

/// What simdjson accepts is what jansson reads, and what it leaves to jansson is read as ever.
@Suite struct JSONTapeTests {
    static let bounds = JSONBounds(depth: 20)

    /// A value as text in which values that are not the same down to their bits differ.
    static func exact(_ value: JSONValue) -> String {
        switch value {
        case .real(let number): return "real \(number.bitPattern)"
        case .string(let text): return "string \(text.utf8.count) \(text)"
        case .array(let elements): return "[" + elements.map(exact).joined(separator: ",") + "]"
        case .object(let object):
            return "{" + object.members.map { "\($0.name.utf8.count) \($0.name):" + exact($0.value) }.joined(separator: ",") + "}"
        default: return "\(value)"
        }
    }

    static func exact(_ result: Result<JSONValue, JSONError>) -> String {
        switch result {
        case .success(let value): return exact(value)
        case .failure(let error): return "\(error)"
        }
    }

    /// What a text is for each of the two ways, and for the parser, as texts; nil when simdjson does not decide.
    static func read(
        _ bytes: [UInt8], _ bounds: JSONBounds, _ names: inout JSONNames
    ) -> (fast: String?, exact: String, parser: String) {
        let exactly = unsafe bytes.withUnsafeBufferPointer { unsafe JSONParser.parseExactly($0, bounds) { _ in true } }
        let outcome = unsafe bytes.withUnsafeBufferPointer {
            unsafe JSONTape.read($0, bounds, names: &names, isCounted: true) { _ in true }
        }
        let parsed = Result { () throws(JSONError) in try JSONParser.parse(bytes, bounds) }
        guard case .value(let value) = outcome else { return (nil, exact(exactly), exact(parsed)) }
        return (exact(value), exact(exactly), exact(parsed))
    }

    /// Compares both ways, and returns whether simdjson decided.
    @discardableResult
    static func compare(
        _ bytes: [UInt8], _ bounds: JSONBounds = bounds, _ note: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        var names = JSONNames()
        let (fast, exact, parser) = read(bytes, bounds, &names)
        let text = { "\(String(decoding: bytes.prefix(300), as: UTF8.self)) \(note)" }
        #expect(parser == (bytes.isEmpty ? "\(JSONError.empty)" : exact), "\(text())", sourceLocation: sourceLocation)
        guard let fast else { return false }
        #expect(fast == exact, "\(text())", sourceLocation: sourceLocation)
        return true
    }

    @Test(arguments: JSONTexts.numbers) func `numbers are the same`(_ number: String) {
        for text in [
            number, " \(number) ", "[\(number)]", "[\(number) ]", "{\"a\":\(number)}", "[\(number),\(number)]", "\(number)\u{0}",
        ] {
            JSONTapeTests.compare(Array(text.utf8))
        }
    }

    @Test(arguments: JSONTexts.strings) func `strings are the same`(_ string: String) {
        for text in [
            "\"\(string)\"", "[\"\(string)\"]", "{\"\(string)\":1}", "{\"\(string)\":1,\"a\":2}",
            "{\"a\":1,\"\(string)\":\"\(string)\"}",
            "\"\(string)", "\"\(string)\"x",
        ] {
            JSONTapeTests.compare(Array(text.utf8))
        }
    }

    @Test(arguments: [
        "", " ", "\n\t\r ", "\u{c}", "[", "]", "{", "}", "[]", "{}", "[}", "{]", "[1,]", "[,1]", "{\"a\":1,}", "{,}", "{\"a\"}",
        "{1:2}", "1 2",
        "{} x", "[] []", "null", "nul", "nulll", "True", "truefalse", "\u{feff}1", "\u{feff}", "1\u{0}", "\u{0}", "[1]\u{0}",
        "'a'", "//", "/**/1",
        "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "[{\"a\":{\"a\":{\"a\":1}}},{\"a\":1}]", "{\"é\":1,\"e\u{301}\":2}",
        "{\"\":1}", "{\"\":1,\"\":1}",
        "{\"a\\u0000\":1}", "{\"a\\u0000\":1,\"a\":1}", "[\"a\"\"b\"]", "[1 2]", "[1:2]", "{\"a\",1}", "[true false]",
        "[nullnull]", "[-]", "[\u{a0}1]",
    ])
    func `edges of the grammar are the same`(_ text: String) { JSONTapeTests.compare(Array(text.utf8)) }

    @Test func `invalid UTF-8 is refused by both`() {
        for bytes: [UInt8] in [
            [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0x80],
            [0xf8, 0x88, 0x80, 0x80, 0x80],
            [0xe0, 0x80, 0x80], [0xc3],
        ] {
            #expect(!JSONTapeTests.compare([0x22] + bytes + [0x22]))
            #expect(!JSONTapeTests.compare(bytes))
            #expect(!JSONTapeTests.compare(Array("[\"\(String(repeating: "a", count: 61))".utf8) + bytes + Array("\"]".utf8)))
        }
    }

    @Test(arguments: UInt64(1)...40) func `random texts and damaged ones are the same`(_ seed: UInt64) {
        var texts = JSONTexts(seed: seed)
        var valid = 0
        var decided = 0
        var names = JSONNames()
        for round in 0..<120 {
            let text = texts.text(5)
            for bytes in [Array(text.utf8), texts.damaged(text)] {
                let (fast, exact, parser) = JSONTapeTests.read(bytes, JSONTapeTests.bounds, &names)
                #expect(parser == (bytes.isEmpty ? "\(JSONError.empty)" : exact), "seed \(seed), round \(round): \(text)")
                if !exact.hasPrefix("line") { valid += 1 }
                guard let fast else { continue }
                decided += 1
                #expect(fast == exact, "seed \(seed), round \(round): \(text)")
            }
        }
        // Not everything is left to jansson.
        #expect(decided * 10 > valid * 8, "seed \(seed): \(decided) of \(valid)")
    }

    @Test(arguments: UInt64(1)...8) func `random doubles are the same whatever digits they have`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var decided = 0
        for _ in 0..<500 {
            let number = Double(bitPattern: random.next())
            guard number.isFinite, number != number.rounded() else { continue }
            let digits = "\(number)"
            // More digits behind those of the shortest text, which are nearer to the next number.
            let mark = digits.firstIndex { $0 == "e" } ?? digits.endIndex
            let tail = String(
                (0..<Int.random(in: 0...30, using: &random)).map { _ in Character(String(Int.random(in: 0...9, using: &random))) }
            )
            for text in [digits, digits[..<mark] + tail + digits[mark...]] {
                decided += JSONTapeTests.compare(Array("[\(text)]".utf8), JSONTapeTests.bounds, "seed \(seed)") ? 1 : 0
            }
        }
        #expect(decided > 400)
    }

    @Test func `rows are read by simdjson, and their names are kept`() throws {
        var names = JSONNames()
        for key in 0..<100 {
            let row =
                #"{"id":\#(key),"name":"name of \#(key)","a name of more than thirty-two bytes":null,"place":{"x":0.5,"y":[1,2,true]},"numberOfEmployees":7}"#
            let (fast, exact, parser) = JSONTapeTests.read(Array(row.utf8), JSONTapeTests.bounds, &names)
            #expect(fast == exact && parser == exact)
        }
        let rows = "[" + (0..<200).map { #"{"id":\#($0),"city":"Oslo","n\#($0)":{"id":1}}"# }.joined(separator: ",") + "]"
        #expect(JSONTapeTests.compare(Array(rows.utf8)))
    }

    @Test func `a name that is twice among many is found`() {
        for count in [2, 3, 5, 23, 24, 25, 63, 64, 65, 300] {
            let names = (0..<count).map { "\"member \($0)\":\($0)" }
            #expect(JSONTapeTests.compare(Array("{\(names.joined(separator: ","))}".utf8)))
            for twice in [0, count / 2, count - 1] {
                #expect(!JSONTapeTests.compare(Array("{\(names.joined(separator: ",")),\(names[twice])}".utf8)))
                #expect(!JSONTapeTests.compare(Array("[{\(names[twice]),\(names.joined(separator: ","))}]".utf8)))
            }
        }
    }

    @Test(arguments: [0, 1, 2, 3, 19, 20, 21, 999, 1000, 1001, 1002, 2047, 2048, 2049]) func `the depth is bounded alike`(
        _ depth: Int
    ) {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            for limit in [0, 1, 20, 999, 1000, 1001, 5000] {
                let isFast = JSONTapeTests.compare(Array(text.utf8), JSONBounds(depth: limit), "\(depth) \(limit)")
                #expect(isFast == (depth <= min(limit, 999)), "\(depth) \(limit)")
            }
        }
    }

    @Test func `the number of values is bounded alike`() {
        let text = Array(#"{"a":[1,2.5,"x",null],"b":{"c":true,"d":{}},"e":[]}"#.utf8)
        for limit in 0...14 {
            #expect(JSONTapeTests.compare(text, JSONBounds(depth: 20, values: limit), "\(limit)") == (limit >= 10), "\(limit)")
        }
    }

    @Test(arguments: [#"{"a":[1,2.5,"x",null]}"#, #"{"a":1,"a":[2,3,4]}"#, "[1,2,3,1e400]", "[1,2,3,4", "[[[[[1]]]]]"])
    func `the caller is asked once for the number of values`(_ text: String) {
        var asked: [Int] = []
        _ = try? JSONParser.parse(Array(text.utf8), JSONBounds(depth: 5)) { count in
            asked.append(count)
            return true
        }
        #expect(asked.count == 1, "\(asked)")
        let error = #expect(throws: JSONError.self) {
            try JSONParser.parse(Array(text.utf8), JSONBounds(depth: 5)) { _ in false }
        }
        #expect(error == .unwanted)
        let refused = unsafe Array(text.utf8).withUnsafeBufferPointer { bytes in
            var names = JSONNames()
            let outcome = unsafe JSONTape.read(bytes, JSONBounds(depth: 5), names: &names, isCounted: true) { $0 != asked[0] }
            guard case .unwanted = outcome else { return false }
            return true
        }
        #expect(refused == (text.hasPrefix("{") || text.hasPrefix("[[")))
    }

    /// A parser for 64 KiB is kept, longer texts have their own, and the longest are left to jansson.
    @Test(arguments: [63, 64, 65, 65_535, 65_536, 65_537, 1_048_575, 1_048_576, 1_048_577])
    func `texts of all lengths are the same`(_ count: Int) {
        let filling = { (begin: String, end: String) in
            Array(begin.utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: count - begin.utf8.count - end.utf8.count)
                + Array(end.utf8)
        }
        let isFast = count <= JSONTape.longestText
        #expect(JSONTapeTests.compare(filling("[\"", "\"]")) == isFast)
        #expect(JSONTapeTests.compare(filling("\"", "\"")) == isFast)
        #expect(!JSONTapeTests.compare(filling("[\"", "\"")))
        // As many words on the tape, and as many bytes of strings, as a text of its length can have.
        for part in count < 100_000 ? ["1,", "\"\",", "[],", "{},", "0.5,"] : [] {
            let list = "[" + String(repeating: part, count: (count - 3) / part.utf8.count) + "1"
            let text = Array(list.utf8) + [UInt8](repeating: 0x20, count: count - list.utf8.count - 1) + Array("]".utf8)
            #expect(JSONTapeTests.compare(text, JSONBounds(depth: 20), part) == isFast)
        }
    }

    @Test func `many threads read at the same time`() async {
        await withTaskGroup(of: Int.self) { group in
            for task in 0..<12 {
                group.addTask {
                    var decided = 0
                    for round in 0..<30 {
                        let count = (task * 7 + round * 13) % 40 * (round % 10 == 0 ? 50 : 1)
                        let rows = (0..<count).map { #"{"id":\#($0),"task":"\#(task) \#(round)","x":[0.1,null]}"# }
                        decided += JSONTapeTests.compare(Array("[\(rows.joined(separator: ","))]".utf8)) ? 1 : 0
                    }
                    return decided
                }
            }
            for await decided in group { #expect(decided == 30) }
        }
    }
}

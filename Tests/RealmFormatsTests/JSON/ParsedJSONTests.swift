// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// The JSON of the tests: whatever it took for the same would be hidden from them.
@Suite struct ParsedJSONTests {
    @Test(
        arguments: [
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number("9223372036854775808")), ("-0", .number("-0")), ("1.0", .number("1.0")),
            ("1e2", .number("1e2")), ("true", true), (#""\u00e9\ud83d\ude00\/\b""#, "\u{e9}\u{1f600}/\u{8}"),
            (#" { "b" : [ 1 , null ] , "a" : { } } "#, .object([("b", [1, .null]), ("a", [:])])),
        ] as [(String, ParsedJSON)])
    func `a document is read as it was written`(_ text: String, _ value: ParsedJSON) throws {
        #expect(try ParsedJSON(parsing: text) == value)
        #expect(try ParsedJSON(parsing: value.serialized) == value)
    }

    @Test(arguments: [
        "", " ", "01", "+1", "1.", ".5", "-", "1e", "0x1", "NaN", "tru", "[1,]", "{\"a\":1,}", "{a:1}", "[1 2]", "1 2",
        "\"\u{1}\"",
        "\"\\q\"", "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\u12\"", "\"\\u-000\"", "\"\\u+123\"", "\"", "[", "{\"a\"",
    ])
    func `what is no JSON is refused`(_ text: String) {
        #expect(throws: ParsedJSON.Malformed.self) { try ParsedJSON(parsing: text) }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: ParsedJSON.Malformed.self) { try ParsedJSON(parsing: [0x22, 0xff, 0x22]) }
    }

    @Test func `values that are written differently differ`() throws {
        #expect(try ParsedJSON(parsing: "1") != ParsedJSON(parsing: "1.0"))
        #expect(try ParsedJSON(parsing: "1.0") != ParsedJSON(parsing: "1.00"))
        #expect(try ParsedJSON(parsing: "1") != ParsedJSON(parsing: "true"))
        #expect(try ParsedJSON(parsing: #""\u00e9""#) != ParsedJSON(parsing: #""e\u0301""#))
        #expect(try ParsedJSON(parsing: #"{"\u00e9":1}"#) != ParsedJSON(parsing: #"{"e\u0301":1}"#))
        let (left, right) = (try ParsedJSON(parsing: #"{"a":1,"b":2}"#), try ParsedJSON(parsing: #"{"b":2,"a":1}"#))
        #expect(left != right && left.sortedByName == right.sortedByName && left.canonical == right.canonical)
        let (one, two): (ParsedJSON, ParsedJSON) = (["a','b"], ["a", "b"])
        #expect(one.canonical != two.canonical)
    }

    @Test func `an accessor gives a value of its type only`() throws {
        let json: ParsedJSON = ["one": 1, "texts": ["a", "b"], "mixed": [1, "b"], "half": .number("0.5"), "no": .null]
        #expect(json["one"]?.int == 1 && json["one"]?.bool == nil && json["one"]?.text == nil && json["one"]?.double == 1)
        #expect(json["texts"]?.texts == ["a", "b"] && json["mixed"]?.texts == nil && json["mixed"]?.ints == nil)
        #expect(json["half"]?.int == nil && json["half"]?.double == 0.5)
        #expect(json["no"] == .null && json["none"] == nil && json["mixed"]?[1] == "b" && json["mixed"]?[2] == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import Testing

@Suite struct JSONParserTests {
    struct Good: Sendable, CustomTestStringConvertible {
        let text: String
        let value: JSONValue
        var testDescription: String { text }
    }

    @Test(arguments: [
        Good(text: "null", value: .null),
        Good(text: " true ", value: .bool(true)),
        Good(text: "9223372036854775807", value: .integer(.max)),
        Good(text: "-9223372036854775808", value: .integer(.min)),
        Good(text: "9223372036854775808", value: .longInteger("9223372036854775808")),
        Good(
            text: "0000000000000000000000000000000000.5e0".replacingPrefix("0000000000000000000000000000000000", "0"),
            value: .real(0.5)),
        Good(text: "12345678901234567890123456789012345", value: .longInteger("12345678901234567890123456789012345")),
        Good(text: "1.5", value: .real(1.5)),
        Good(text: "-0.0", value: .real(-0.0)),
        Good(text: "1e400", value: .longReal("1e400")),
        Good(text: "-1E+999", value: .longReal("-1E+999")),
        Good(text: "0.1234567890123456789012", value: .real(0.1234567890123456789012)),
        Good(text: "\"a\\u0000b\"", value: .string("a\0b")),
        Good(text: "\"\\ud83d\\ude00\"", value: .string("😀")),
        Good(text: "\"12345678901234567890\"", value: .string("12345678901234567890")),
        Good(text: "[1,[2.0],{}]", value: .array([.integer(1), .array([.real(2)]), .object(JSONObject([]))])),
        Good(text: "{\"b\":1,\"a\":2}", value: .object(JSONObject([("b", .integer(1)), ("a", .integer(2))]))),
    ])
    func `reads a document as it was written`(_ good: Good) throws {
        #expect(try JSONParser.parse(good.text, depthLimit: 64) == good.value)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,\"a\":2}", "1 2", "{} x", "\"\\ud800\"", "\"\\udc00\\ud800\"", "'a'", "NaN", "01",
        "00000000000000000000", "123456789012345678901.", "{12345678901234567890:1}", "{\"a\" 1}", "\"a\nb\"", "nul",
        "1e", "--123456789012345678901", "[1e400e1]",
    ])
    func `refuses what is no JSON`(_ text: String) {
        let error = #expect(throws: JSONError.self) { try JSONParser.parse(text, depthLimit: 64) }
        #expect(error.map { Problem($0).code } == .invalidJSON)
    }

    @Test func `refuses invalid UTF-8`() {
        for bytes: [UInt8] in [[0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22]] {
            let error = #expect(throws: JSONError.self) { try JSONParser.parse(bytes, depthLimit: 64) }
            #expect(error.map { Problem($0).code } == .invalidJSON)
        }
    }

    @Test func `counts depth outside strings only`() throws {
        let nested = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try JSONParser.parse(nested, depthLimit: 64)
        _ = try JSONParser.parse("\"\(nested)[[\\\"[\"", depthLimit: 1)
        let error = #expect(throws: JSONError.self) { try JSONParser.parse("[" + nested + "]", depthLimit: 64) }
        #expect(error == .tooDeep(depth: 65, limit: 64))
    }

    @Test func `long numbers in many places keep their digits`() throws {
        let text = "{\"n\":[123456789012345678901234,-123456789012345678901234],\"s\":\"123456789012345678901234\"}"
        let object = try #require(try JSONParser.parse(text, depthLimit: 64).object)
        let long = "123456789012345678901234"
        #expect(object["n"] == .array([.longInteger(long), .longInteger("-" + long)]))
        #expect(object["s"] == .string(long))
    }
}

extension String {
    fileprivate func replacingPrefix(_ prefix: String, _ other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}

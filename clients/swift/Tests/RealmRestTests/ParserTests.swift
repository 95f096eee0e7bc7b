import Foundation
import Testing

@testable import RealmRest

/// Printed by the tests that draw; `SEED=n swift test` repeats a run.
let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)

/// A generator whose numbers follow from its seed.
struct Draw: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64 = seed) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

@Suite struct Events {
    static let stream =
        "retry: 1500\n: note\n\nevent: changes\nid: k.1\ndata: {\"ä\":\"🐕\"}\n\n: hb\nid: k.2\n\ndata: a\ndata:b\n\nevent: end\ndata: {}\n\n"
    static let expected = [
        ServerEvent(name: "changes", data: Array("{\"ä\":\"🐕\"}".utf8), id: "k.1"), ServerEvent(name: "", data: [], id: "k.2"),
        ServerEvent(name: "message", data: Array("a\nb".utf8), id: nil),
        ServerEvent(name: "end", data: Array("{}".utf8), id: nil),
    ]

    @Test func anyPiecesAndAnyLineEndsGiveTheSameEvents() throws {
        print("SEED=\(seed)")
        var draw = Draw()
        for _ in 0..<1000 {
            let end = ["\n", "\r\n", "\r"].randomElement(using: &draw) ?? "\n"
            let mark = Bool.random(using: &draw) ? "\u{FEFF}" : ""
            let bytes = Array((mark + Self.stream.replacingOccurrences(of: "\n", with: end)).utf8)
            let cuts = (0..<Int.random(in: 0..<12, using: &draw)).map { _ in Int.random(in: 0...bytes.count, using: &draw) }
                .sorted()
            var parser = EventParser()
            var events: [ServerEvent] = []
            for (start, stop) in zip([0] + cuts, cuts + [bytes.count]) { events += try parser.feed(bytes[start..<stop]) }
            #expect(events == Self.expected, "seed \(seed), cuts \(cuts)")
            #expect(parser.retryMilliseconds == 1500)
        }
    }

    @Test func eachByteAlone() throws {
        var parser = EventParser()
        var events: [ServerEvent] = []
        for byte in Self.stream.replacingOccurrences(of: "\n", with: "\r\n").utf8 { events += try parser.feed([byte]) }
        #expect(events == Self.expected)
    }

    @Test func aLineWithoutEndIsRefused() {
        var parser = EventParser()
        parser.maximum = 1000
        #expect(throws: ConnectionLost.self) {
            for _ in 0..<100 { _ = try parser.feed(Array("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxx".utf8)) }
        }
    }
}

@Suite struct Documents {
    @Test func numbersKeepTheirDigits() throws {
        let text = #"{"a":[9223372036854775807,-0.0,1e+300,1.10],"b":"é\u00e9\ud83d\udc15\n","c":null,"d":true}"#
        let json = try JSON(parsing: text.utf8)
        #expect(json["a"]?.elements == [.number("9223372036854775807"), .number("-0.0"), .number("1e+300"), .number("1.10")])
        #expect(json["b"] == "éé🐕\n")
        #expect(try JSON(parsing: json.bytes) == json)
    }

    @Test(arguments: ["", "{", "[1,]", "{\"a\"}", "01x", "\"\\ud800\"", "tru", "1 2", "[", "nan", "\"a"])
    func whatIsNoDocumentIsRefused(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: text.utf8) }
    }

    @Test func aDeepDocumentDoesNotEndTheProcess() {
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: String(repeating: "[", count: 100_000).utf8) }
    }

    @Test func conditionsCountTheirOwnArguments() {
        #expect(
            renumbered(#"c == $1 OR d == "$1\"$2" OR e == '$0' OR f == $0"#, by: 2)
                == #"c == $3 OR d == "$1\"$2" OR e == '$0' OR f == $2"#)
        #expect(encoded("a/b %ü~") == "a%2Fb%20%25%C3%BC~")
    }
}

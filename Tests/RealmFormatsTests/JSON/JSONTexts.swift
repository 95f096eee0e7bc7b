// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// Makes JSON texts that are valid, nearly valid, or not at all.
struct JSONTexts {
    /// What chooses.
    var random: SeededGenerator

    /// Texts of numbers at the edges of what the libraries represent.
    static let numbers = [
        "0", "-0", "-0.0", "0.0", "0e5", "0E+5", "0e-5", "-0e0", "1E5", "1e5", "1e+05", "1e-05", "1.0", "1.5E1",
        "123456789012345678",
        "1234567890123456789", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615", "18446744073709551616", "99999999999999999999", "123456789012345678901234567890",
        "-123456789012345678901234567890", "1e22", "1e23", "1e99", "1e100", "1e308", "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e309", "-1e309", "1e400", "-1E+999", "4.9e-324", "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "1e-323",
        "2.2250738585072011e-308", "2.2250738585072014e-308", "2.225073858507201e-308", "1e-400", "-1e-400", "0e400", "0e-400",
        "0.1", "0.30000000000000004", "17.123456789012345", "0.12345678901234567", "123456789.12345678901234567890",
        "9007199254740993", "9007199254740993.0", "9007199254740992.99999999999999999999999999999999999999",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
        "6929495644600919.5", "3.7455744005952583e15", "8.41e21", "2.0919495182368195e19",
        "179769313486231580793728971405301199e272",
        "0." + String(repeating: "0", count: 400) + "1e400", "1" + String(repeating: "0", count: 310) + "e-310",
        String(repeating: "9", count: 400), "0." + String(repeating: "3", count: 800),
        // No numbers.
        "01", "-01", "00", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "-.5", "1.5.5", "1e5e5", "1e5.5", "0x10", "1_0", "NaN",
        "Infinity",
        "-Infinity", "00000000000000000000", "123456789012345678901.", "--123456789012345678901", "1e400e1",
        "12345678901234567890e",
    ]

    /// Texts of strings at the edges, without their quotes.
    static let strings = [
        "", "a", "name", "fifteen bytes..", "sixteen bytes...", "a name of seventeen",
        "more than thirty-two bytes are a long name",
        "é", "e\u{301}", "😀", "日本語の長い文字列です", "\\n", "\\\"", "\\\\", "\\/", "\\b\\f\\r\\t", "\\u0041", "\\u00e9", "\\u0000",
        "a\\u0000b",
        "\\u0001", "\\ud83d\\ude00", "\\uD83D\\uDE00", "\\uffff", "\\ufffe", "\\ud7ff\\ue000", "\\udbff\\udfff", "\u{7f}",
        "\u{2028}",
        "12345678901234567890", "{[\\\"1\\\"]}:,", String(repeating: "x", count: 63), String(repeating: "é", count: 64),
        String(repeating: "\\u00e9", count: 40), String(repeating: "\\\\", count: 35),
        // No strings.
        "\\ud800", "\\udc00", "\\udc00\\ud800", "\\ud800\\u0041", "\\ud800\\ud800", "\\ud800x", "\\ud83d\\n", "\\u12", "\\u12g4",
        "\\x41", "\\",
        "\\U0041", "\n", "\t", "\u{0}", "\u{1f}", "\\u", "\\'",
    ]

    /// Makes texts with a seed.
    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns a text with up to this many levels.
    mutating func text(_ levels: Int) -> String {
        switch Int.random(in: 0..<(levels > 0 ? 10 : 6), using: &random) {
        case 0: return ["null", "true", "false"].randomElement(using: &random) ?? ""
        case 1: return edgeOrPlain(JSONTexts.numbers, String(Int.random(in: -5...5000, using: &random)))
        case 2: return number()
        case 3, 4, 5: return string()
        case 6, 7:
            let elements = (0..<Int.random(in: 0...6, using: &random)).map { _ in text(levels - 1) }
            return "[" + space() + elements.joined(separator: "," + space()) + "]"
        default:
            let members = (0..<Int.random(in: 0...8, using: &random)).map { _ in name() + space() + ":" + text(levels - 1) }
            return "{" + members.joined(separator: space() + ",") + space() + "}"
        }
    }

    /// Returns a text of which a few bytes were changed, removed, added or repeated.
    mutating func damaged(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.insert(byte(), at: place)
            case 1 where place < bytes.count: bytes[place] = byte()
            case 2 where place < bytes.count: bytes.remove(at: place)
            case 3: bytes.insert(contentsOf: bytes[place..<min(place + 5, bytes.count)], at: place)
            default: bytes.removeLast(bytes.count - place)
            }
        }
        return bytes
    }

    /// Returns one of the edges in one of twelve cases.
    private mutating func edgeOrPlain(_ edges: [String], _ plain: String) -> String {
        Int.random(in: 0..<12, using: &random) == 0 ? edges.randomElement(using: &random) ?? plain : plain
    }

    private mutating func string() -> String {
        let plain = String(
            "abcdefgh😀é \u{1}".unicodeScalars.filter { $0.value > 31 }.map(Character.init).shuffled(using: &random))
        return "\"" + edgeOrPlain(JSONTexts.strings, plain) + "\""
    }

    /// Names of which an object easily has one twice.
    private mutating func name() -> String {
        let plain = "a" + String(Int.random(in: 0...40, using: &random))
        return space() + "\"" + edgeOrPlain(JSONTexts.strings, plain) + "\""
    }

    /// A number with random digits and exponent.
    private mutating func number() -> String {
        let digits = { (count: Int, random: inout SeededGenerator) in
            String((0..<count).map { _ in Character(String(Int.random(in: 0...9, using: &random))) })
        }
        var text = Bool.random(using: &random) ? "-" : ""
        text += String(Int.random(in: 0...99, using: &random))
        if Bool.random(using: &random) { text += "." + digits(Int.random(in: 1...25, using: &random), &random) }
        if Int.random(in: 0..<3, using: &random) == 0 { text += "e" + String(Int.random(in: -330...310, using: &random)) }
        return text
    }

    private mutating func space() -> String {
        Int.random(in: 0..<8, using: &random) == 0 ? [" ", "\n", "\t", "\r\n", "  "].randomElement(using: &random) ?? "" : ""
    }

    private mutating func byte() -> UInt8 {
        Bool.random(using: &random)
            ? Array("{}[]:,\"\\0123456789-+.eEtfn \n\u{0}\u{c}\u{1a}".utf8).randomElement(using: &random) ?? 0
            : UInt8.random(in: 0...255, using: &random)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite("String operators")
struct TextPatternTests {
    /// The cases of a group that compare a property with one string or binary pattern.
    static func cases(_ group: String) throws -> [(
        query: String, pattern: [UInt8], row: QueryVectors.Case, suite: QueryVectors.Suite
    )] {
        try QueryVectors(group: group).suites.flatMap { suite in
            suite.cases.compactMap { row in
                guard row.error == nil, row.arguments.count == 1, row.json["matches"] != nil,
                    let pattern = bytes(row.arguments[0])
                else {
                    return nil
                }
                return (row.query, pattern, row, suite)
            }
        }
    }

    static func bytes(_ value: ParsedJSON) -> [UInt8]? {
        if let text = value.text { return Array(text.utf8) }
        return value["$binary"]?.text.flatMap { Data(base64Encoded: $0) }.map(Array.init)
    }

    @Test(.enabled(if: Fixtures.shared != nil, "all cases are only in the shared material"), arguments: ["like", "case-folding"])
    func `the reference engine's cases of LIKE and of letter case`(_ group: String) throws {
        var count = 0
        for (query, pattern, row, suite) in try Self.cases(group) {
            let words = query.split(separator: " ")
            guard words.count == 3, words[2] == "$0", let test = Test(words[1], pattern) else { continue }
            count += 1
            let found = (suite.json["objects"]?.elements ?? []).filter { object in
                object["values"]?[String(words[0])].flatMap(Self.bytes).map(test.matches) ?? test.isNegated
            }
            #expect(found.compactMap { $0["id"] } == row.json["matches"]?.elements, "\(row.label)")
        }
        #expect(count > 40)
    }

    /// One operator with its pattern, both prepared and not.
    private struct Test {
        let kind: TextPattern.Kind
        let ignoresCase: Bool
        let isNegated: Bool
        let pattern: [UInt8]

        init?(_ text: Substring, _ pattern: [UInt8]) {
            ignoresCase = text.hasSuffix("[c]")
            isNegated = text.hasPrefix("!=")
            self.pattern = pattern
            switch ignoresCase ? text.dropLast(3) : text {
            case "==", "!=": kind = .equal
            case "LIKE": kind = .like
            case "CONTAINS": kind = .contains
            case "BEGINSWITH": kind = .beginsWith
            case "ENDSWITH": kind = .endsWith
            default: return nil
            }
        }

        func matches(_ text: [UInt8]) -> Bool {
            let storage = (ByteStorage(text), ByteStorage(pattern))
            return withExtendedLifetime(storage) {
                TextPattern(kind, storage.1.view, ignoringCase: ignoresCase).matches(storage.0.view) != isNegated
            }
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `LIKE agrees with a search of all possibilities`(_ seed: UInt64) {
        var state = seed &+ 11
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let letters = ["a", "b", "é", "€"]
        let wild = ["*", "?", "*", "a", "b", "é", "*", "?"]
        for _ in 0..<2000 {
            let text = (0..<next(9)).map { _ in letters[next(letters.count)] }.joined()
            let pattern = (0..<next(7)).map { _ in wild[next(wild.count)] }.joined()
            let expected = Self.isLike(Array(text.utf8)[...], Array(pattern.utf8)[...])
            let storage = (ByteStorage(text), ByteStorage(pattern))
            withExtendedLifetime(storage) {
                let found = TextPattern(.like, storage.1.view, ignoringCase: seed % 2 == 0).matches(storage.0.view)
                let general = LikePattern(storage.1.view, ignoringCase: seed % 2 == 0).matches(storage.0.view)
                #expect(found == expected && general == expected, "seed \(seed): '\(text)' LIKE '\(pattern)'")
            }
        }
    }

    /// Every length for every star; once the text is used up, at most one star may be left.
    private static func isLike(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        guard let byte = text.first else { return pattern.isEmpty || pattern.elementsEqual("*".utf8) }
        guard let element = pattern.first else { return false }
        let rest = pattern.dropFirst()
        switch element {
        case UInt8(ascii: "*"): return (0...text.count).contains { isLike(text.dropFirst($0), rest) }
        case UInt8(ascii: "?"):
            let continuation = byte < 0x80 ? 0 : text.dropFirst().prefix { $0 & 0xc0 == 0x80 }.count
            return isLike(text.dropFirst(1 + continuation), rest)
        default: return element == byte && isLike(text.dropFirst(), rest)
        }
    }

    @Test func `a pattern of many stars takes no more than text times pattern`() {
        let text = ByteStorage([UInt8](repeating: 0x61, count: 20_000))
        let pattern = ByteStorage(String(repeating: "*a", count: 200) + "*b")
        let time = ContinuousClock().measure {
            #expect(!LikePattern(pattern.view, ignoringCase: false).matches(text.view))
        }
        #expect(time < .seconds(20))
    }
}

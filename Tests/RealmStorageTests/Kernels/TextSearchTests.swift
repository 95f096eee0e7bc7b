// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Searching text")
struct TextSearchTests {
    private enum Relation: CaseIterable { case equal, prefix, suffix, part }

    @Test(arguments: [
        ("abc", "ABC", true), ("É", "é", true), ("Þ", "þ", true), ("À", "à", true), ("×", "÷", false),
        ("ß", "\u{1e9e}", false),
        ("ß", "SS", false), ("ÿ", "Ÿ", false), ("ß", "ÿ", false), ("Σ", "σ", false), ("Я", "я", false), ("ı", "I", false),
        ("@", "`", false), ("[", "{", false), ("0", "\u{10}", false), ("_", "\u{7f}", false), ("Ａ", "ａ", false),
        ("Ā", "ā", false),
        ("¡", "\u{81}", false), ("é", "e\u{301}", false), ("straSSe", "STRAssE", true), ("£", "\u{83}", false),
    ])
    func `letter case is ignored in ASCII and Latin-1 only`(_ left: String, _ right: String, _ isEqual: Bool) {
        let texts = (ByteStorage(left), ByteStorage(right))
        for (text, pattern) in [(texts.0.view, texts.1.view), (texts.1.view, texts.0.view)] {
            #expect(text.equals(pattern, ignoringCase: true) == isEqual)
            #expect(BytePattern(pattern, ignoringCase: true).equals(text) == isEqual)
            #expect(!text.equals(pattern, ignoringCase: false))
        }
    }

    @Test(arguments: 0..<16 as Range<UInt64>)
    func `random needles are found where trying every position finds them`(_ seed: UInt64) {
        var random = SeededBytes(seed: seed)
        for _ in 0..<200 {
            let text = random.text(maximum: seed % 4 == 0 ? 400 : 40)
            check(text, random.pattern(in: text), "seed \(seed)")
        }
    }

    private func check(_ text: [UInt8], _ pattern: [UInt8], _ label: String) {
        let storage = (ByteStorage(text), ByteStorage(pattern))
        withExtendedLifetime(storage) {
            for ignoresCase in [false, true] {
                for relation in Relation.allCases {
                    let found = Searches(text: storage.0.view, pattern: storage.1.view, ignoresCase: ignoresCase).results(
                        relation)
                    let expected = Model.relates(relation, pattern, text, ignoresCase)
                    #expect(found.allSatisfy { $0 == expected }, "\(label): \(pattern) \(relation) \(text)")
                }
            }
        }
    }

    /// All ways to ask the same question.
    private struct Searches {
        let text: ByteView
        let pattern: ByteView
        let ignoresCase: Bool

        func results(_ relation: Relation) -> [Bool] {
            let prepared = BytePattern(pattern, ignoringCase: ignoresCase)
            switch relation {
            case .equal: return [text.equals(pattern, ignoringCase: ignoresCase), prepared.equals(text)]
            case .prefix: return [text.begins(with: pattern, ignoringCase: ignoresCase), prepared.isPrefix(of: text)]
            case .suffix: return [text.ends(with: pattern, ignoringCase: ignoresCase), prepared.isSuffix(of: text)]
            case .part:
                return [
                    text.contains(pattern, ignoringCase: ignoresCase), prepared.occurs(in: text),
                    LinearSearch(pattern, ignoringCase: ignoresCase).finds(in: text),
                ]
            }
        }
    }

    @Test func `a search in repetitive text takes time that grows with the text`() {
        let text = ByteStorage([UInt8](repeating: 0x61, count: 4_000_000))
        let pattern = ByteStorage([UInt8](repeating: 0x61, count: 100_000) + [0x62])
        let time = ContinuousClock().measure { #expect(!text.view.contains(pattern.view, ignoringCase: true)) }
        #expect(time < .seconds(20), "trying all positions would take minutes")
    }

    /// `CONTAINS[c]` compared the whole pattern at each place of a text of one letter.
    @Test(arguments: [false, true]) func `a search for most of a text takes no longer than for another`(ignoresCase: Bool) {
        let text = ByteStorage([UInt8](repeating: 0x7a, count: 2_000_000))
        let pattern = ByteStorage([UInt8](repeating: 0x7a, count: 60) + [0x79])
        let prepared = BytePattern(pattern.view, ignoringCase: ignoresCase)
        let time = ContinuousClock().measure { #expect(!prepared.occurs(in: text.view)) }
        #expect(time < .seconds(10))
    }

    @Test(arguments: 0..<60) func `texts that almost match are searched to their end`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters: [UInt8] = [0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x41, 0x62]
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in letters.randomElement(using: &random) ?? 0x61 } }
        let ignoresCase = seed % 2 == 0
        let pattern =
            [UInt8](repeating: 0x61, count: Int.random(in: 1...40, using: &random))
            + bytes(Int.random(in: 0...20, using: &random))
        var text = [UInt8](repeating: 0x61, count: Int.random(in: 0...20_000, using: &random)) + bytes(200)
        if seed % 3 == 0 { text += pattern }
        let wanted = Model.relates(.part, pattern, text, ignoresCase)
        let (storedPattern, storedText) = (ByteStorage(pattern), ByteStorage(text))
        let prepared = BytePattern(storedPattern.view, ignoringCase: ignoresCase)
        #expect(prepared.occurs(in: storedText.view) == wanted, "seed \(seed)")
        withExtendedLifetime((storedPattern, storedText)) {}
    }

    /// What the searches have to find, the slow way.
    private enum Model {
        static func relates(_ relation: Relation, _ pattern: [UInt8], _ text: [UInt8], _ ignoresCase: Bool) -> Bool {
            guard pattern.count <= text.count else { return false }
            let positions = text.count - pattern.count
            switch relation {
            case .equal: return positions == 0 && fits(pattern, text, 0, ignoresCase)
            case .prefix: return fits(pattern, text, 0, ignoresCase)
            case .suffix: return fits(pattern, text, positions, ignoresCase)
            case .part: return (0...positions).contains { fits(pattern, text, $0, ignoresCase) }
            }
        }

        private static func fits(_ pattern: [UInt8], _ text: [UInt8], _ position: Int, _ ignoresCase: Bool) -> Bool {
            let part = Array(text[position..<position + pattern.count])
            return part == pattern || ignoresCase && lower(part) == lower(pattern)
        }

        /// Lower case by scalars, for well-formed text.
        private static func lower(_ bytes: [UInt8]) -> [UInt32]? {
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            return text.unicodeScalars.map { scalar in
                let isUpper = (0x41...0x5a).contains(scalar.value) || (0xc0...0xde).contains(scalar.value) && scalar.value != 0xd7
                return isUpper ? scalar.value + 32 : scalar.value
            }
        }
    }
}

/// Texts over a small alphabet, so that needles are found and nearly found often.
private struct SeededBytes {
    private var state: UInt64
    private static let alphabet = "aAbBcéÉ×÷ \u{0}Я".unicodeScalars.map { Array(String($0).utf8) }

    init(seed: UInt64) { state = seed &* 2 &+ 1 }

    private mutating func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }

    mutating func text(maximum: Int) -> [UInt8] {
        let variety = 1 + next(Self.alphabet.count)
        return (0..<next(maximum + 1)).flatMap { _ in Self.alphabet[next(variety)] }
    }

    /// Mostly a part of `text`, some of them with one letter changed.
    mutating func pattern(in text: [UInt8]) -> [UInt8] {
        guard !text.isEmpty, next(5) > 0 else { return self.text(maximum: 4) }
        let scalars = Array(String(decoding: text, as: UTF8.self).unicodeScalars)
        let first = next(scalars.count)
        var part = Array(scalars[first..<first + min(next(20) * (1 + next(8)), scalars.count - first)])
        if next(2) == 0, !part.isEmpty {
            let index = next(part.count)
            if part[index].isASCII { part[index] = Unicode.Scalar(UInt8(part[index].value) ^ 0x20) }
        }
        return part.flatMap { Array(String($0).utf8) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Swift takes canonically equal texts for one, and files, tokens and URLs do not: names of one client opened what was another's.
@Suite struct ByteTextTests {
    /// Values whose `==` the compiler writes.
    private struct Pair: Hashable {
        let name: String
        let other: String?
    }

    private enum Choice: Hashable {
        case plain(String)
        case list([String])
        case both(String, Int)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `no comparison takes texts with different bytes for one`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let (a, b) = LookAlikes.pair("name/", &random)
            let pair: Comment = "seed \(seed): \(Array(a.utf8)) \(Array(b.utf8))"
            #expect(LookAlikes.areCanonicallyEqual(a, b), pair)
            let (optional, other): (String?, String?) = (a, b)
            let (part, otherPart) = (a.dropFirst(0), b.dropFirst(0))
            let equalities = [
                a == b, optional == other, optional == b, part == otherPart, part == b, a == otherPart, [a] == [b],
                [a].contains(b),
                !(a != b), !(optional != other), !(part != otherPart), !([a] != [b]), [a].firstIndex(of: b) != nil,
                Pair(name: a, other: nil) == Pair(name: b, other: nil), Pair(name: "", other: a) == Pair(name: "", other: b),
                Choice.plain(a) == .plain(b), Choice.list([a]) == .list([b]), Choice.both(a, 1) == .both(b, 1),
                ByteText(a) == ByteText(b), Set([Pair(name: a, other: nil)]).contains(Pair(name: b, other: nil)),
                Set([ByteText(a)]).contains(b), [ByteText(a): 1][b] != nil,
            ]
            #expect(equalities.firstIndex(of: true) == nil, pair)
            switch a {
            case b: Issue.record(pair)
            default: break
            }
            switch optional {
            case b: Issue.record(pair)
            default: break
            }
            #expect((a < b) == a.utf8.lexicographicallyPrecedes(b.utf8), pair)
            #expect((a > b) == b.utf8.lexicographicallyPrecedes(a.utf8), pair)
            #expect([b, a].sorted() == [a, b].sorted(), pair)
            #expect(
                a == String(decoding: Array(a.utf8), as: UTF8.self)
                    && ByteText(a) == ByteText(String(decoding: Array(a.utf8), as: UTF8.self)))
        }
    }

    @Test func `beginnings and ends are those of bytes, not of characters`() {
        let marked = "geheim\u{301}x"
        #expect(marked.hasPrefix("geheim") && marked.dropFirst(0).hasPrefix("geheim") && marked.hasPrefix("geheim"[...]))
        #expect(!"\u{e9}".hasPrefix("e") && !"\u{212a}x".hasPrefix("K") && !"x\u{212a}".hasSuffix("K"))
        #expect("a\r\n".hasSuffix("\n") && "x".hasPrefix("") && "x".hasSuffix("") && !"".hasSuffix("x"))
    }

    @Test func `words of protocols have the letter case of ASCII`() {
        #expect("\u{212a}Ab".lowercasedASCII == "\u{212a}ab" && "\u{17f}Ab".uppercasedASCII == "\u{17f}AB")
    }

    @Test func `a set of keys is asked and changed by text`() {
        var names = Set<ByteText>(texts: ["K"])
        let isNew = names.insert("\u{212a}").inserted
        #expect(isNew && names.count == 2 && names.remove("K") != nil && !names.contains("K") && names.contains("\u{212a}"))
        var values = [ByteText: Int](texts: [("e\u{301}", 1), ("\u{e9}", 2)])
        values["K", default: 1] += 1
        #expect(values["e\u{301}"] == 1 && values["\u{e9}"] == 2 && values["K"] == 2 && values["\u{212a}"] == nil)
        #expect(values.removeValue(forKey: "\u{e9}") == 2 && values["e\u{301}"] == 1)
    }
}

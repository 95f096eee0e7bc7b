// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import Testing

/// Which name a misspelt one is taken for.
@Suite struct SuggestionTests {
    private static let names = ["name", "price", "category", "createdAt", "description", "discontinued", "_id", "stock"]

    @Test(arguments: [
        ("prce", "price"), ("PRICE", "price"), ("naem", "name"), ("nmae", "name"), ("Name", "name"), ("ctegory", "category"),
        ("created_at", "createdAt"), ("createdat", "createdAt"), ("id", "_id"), ("desc", "description"),
        ("categoryId", "category"),
        ("stocks", "stock"), ("stcok", "stock"), ("lamp", nil), ("dis", "discontinued"), ("des", "description"), ("de", nil),
        ("x", nil),
        ("", nil), ("name", nil), ("price desc", nil), ("price:desc", nil), ("+price", nil), ("a\u{0}b", nil), ("prïce", "price"),
    ])
    func `a name is taken for the nearest one`(_ name: String, _ nearest: String?) {
        #expect(Suggestion.nearest(to: name, in: Self.names) == nearest)
        #expect(Suggestion.hint(for: name, in: Self.names) == nearest.map { "; did you mean '\($0)'?" } ?? "")
    }

    @Test func `of several that are equally near the first one counts, and a beginning only when it is one name's alone`() {
        #expect(Suggestion.nearest(to: "abcx", in: ["abcd", "abce"]) == "abcd")
        #expect(Suggestion.nearest(to: "abc", in: ["abcdef", "abcxyz"]) == nil)
        #expect(Suggestion.nearest(to: "a", in: ["b"]) == nil)
    }

    /// A hint must cost nothing that matters, whatever a client sends and however wide a class is.
    @Test func `long names and many candidates stay cheap`() {
        let long = String(repeating: "x", count: 1 << 20)
        #expect(Suggestion.nearest(to: long, in: [long + "y"]) == nil)
        let wide = (0..<100_000).map { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\($0)" }
        let start = Instant.now()
        for _ in 0..<3 { _ = Suggestion.nearest(to: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", in: wide) }
        #expect(Instant.now().seconds(since: start) < 60)
        #expect(Suggestion.nearest(to: "zzzz", in: (0..<2000).map { $0 == 1999 ? "zzzy" : "n\($0)" }) == nil)
    }

    @Test func `what a client wrote is quoted briefly`() {
        #expect("name".truncated == "name" && "a\u{1b}[31mb\n".truncated == "a\u{fffd}[31mb\u{fffd}")
        let brief = String(repeating: "é", count: 500).truncated
        #expect(brief == String(repeating: "é", count: 80) + "…")
    }
}

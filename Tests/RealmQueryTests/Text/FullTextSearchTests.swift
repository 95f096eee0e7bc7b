// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

@Suite("Full text search strings")
struct FullTextSearchTests {
    private func search(_ text: String) throws(FullTextSearch.Malformed) -> FullTextSearch {
        let storage = ByteStorage(text)
        defer { withExtendedLifetime(storage) {} }
        return try FullTextSearch(storage.view)
    }

    @Test(.enabled(if: Fixtures.shared != nil, "all cases are only in the shared material"))
    func `the reference engine's cases, without an index`() throws {
        var count = 0
        for suite in try QueryVectors(group: "fulltext").suites {
            let objects = suite.json["objects"]?.elements ?? []
            for row in suite.cases {
                let words = row.query.split(separator: " ", maxSplits: 2).map(String.init)
                guard words.count == 3, words[1].lowercased() == "text", ["t", "text", "opt"].contains(words[0]) else { continue }
                let text = row.arguments.first?.text ?? String(words[2].dropFirst().dropLast())
                guard words[2] == "$0" || words[2].hasPrefix("'"), words[2].last != ")" else { continue }
                count += 1
                guard let search = try? search(text) else {
                    #expect(row.error == "invalid", "\(row.label)")
                    continue
                }
                #expect(row.error == nil, "\(row.label)")
                let found = objects.filter { object in
                    let storage = object["values"]?[words[0]]?.text.map { ByteStorage($0) }
                    return withExtendedLifetime(storage) { search.matches(storage?.view) }
                }
                #expect(found.compactMap { $0["id"] } == row.json["matches"]?.elements, "\(row.label)")
            }
        }
        #expect(count > 40)
    }

    @Test(
        arguments: [
            ("fox", ["fox"], []), ("  Fox\tDOG\n", ["fox", "dog"], []), ("fo* -Dog", ["fo*"], ["dog"]),
            ("\"fox, (dog)", ["fox", "dog"], []),
            ("fox fox FOX", ["fox"], []), ("-a -b", [], ["a", "b"]), ("Ñandú", ["nandu"], []), ("-fo*", [], ["fo"]),
            ("*", ["*"], []),
            ("漢字", [""], []), ("-", [], [""]), ("fox* -fox", ["fox*"], ["fox"]), ("Ål", ["ål"], []),
            ("\u{c}a\u{b}b\r", ["a", "b"], []),
        ] as [(String, [String], [String])])
    func `terms are words, beginnings and exclusions`(_ text: String, _ included: [String], _ excluded: [String]) throws {
        let search = try search(text)
        #expect(search.included.map { String(decoding: $0.word, as: UTF8.self) + ($0.isPrefix ? "*" : "") } == included)
        #expect(search.excluded.map { String(decoding: $0, as: UTF8.self) } == excluded)
    }

    @Test(arguments: ["", " \t\n", "e-mail", "it's", "-it's", "a fox -fox", "fox -FOX", "a/b"])
    func `what is no search`(_ text: String) {
        #expect(throws: FullTextSearch.Malformed.self) { try search(text) }
    }

    @Test func `null has no words`() throws {
        #expect(try !search("fox").matches(nil))
        #expect(try search("-fox").matches(nil))
        #expect(try !search("fox -dog").matches(nil))
        #expect(try !search("*").matches(nil))
    }

    @Test func `an index gives what the texts give`() throws {
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path("indexes")))
        var count = 0
        for table in snapshot.classes {
            for column in table.columns {
                guard column.attributes.contains(.fullText) else { continue }
                let index = FullTextIndex(root: column.searchIndex, space: snapshot.space)
                for text in ["a", "fox", "th*", "the -a", "-the", "s* -fox", "quick brown", "e*"] {
                    count += 1
                    try compare(try search(text), index, table, column, text)
                }
            }
        }
        #expect(count > 0)
    }

    private func compare(
        _ search: FullTextSearch, _ index: FullTextIndex, _ table: Table, _ column: Column, _ text: String
    ) throws {
        let included = try search.included.isEmpty ? nil : search.matches(in: index, nil).all()
        let excluded = try search.excludedKeys(in: index, nil).all()
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            guard case .string(let strings) = try leaf.attach(column) else { continue }
            for row in 0..<leaf.count {
                let key = leaf.key(at: row)
                let isFound = included?.contains(key) ?? !excluded.contains(key)
                let matches = search.matches(try strings.string(row))
                #expect(matches == isFound, "'\(text)' in object \(key.rawValue)")
            }
        }
    }
}

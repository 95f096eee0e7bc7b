// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Searches of several words in a full-text index with long lists, compared with a search in each text.
@Suite("Searches of several words")
struct FullTextQueryTests {
    private static let seed: UInt64 = 47
    private static let words = ["harbor", "river", "bridge", "garden", "harvest", "silver"]
    private let realm: EngineRealm
    private let texts: [String?]

    init() throws {
        var random = SeededGenerator(seed: FullTextQueryTests.seed)
        texts = (0..<5000).map { id in
            if id % 97 == 0 { return nil }
            var words = (0..<4).compactMap { _ in FullTextQueryTests.words.randomElement(using: &random) }
            if id % 501 == 3 { words.append("seldom") }
            return words.joined(separator: " ")
        }
        realm = try EngineRealm([
            ClassInput(
                "Note", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("text", "string", optional: true, indexed: "fulltext"),
                    PropertyInput("next", "object", objectType: "Note"),
                ])
        ])
        let texts = texts
        try realm.write { session in
            for (id, text) in texts.enumerated() {
                let next: InputValue = id > 0 ? .integer(Int64(id / 2)) : .null
                let text = text.map { InputValue.text($0) } ?? .null
                _ = try session.create("Note", ["id": .integer(Int64(id)), "text": text, "next": next])
            }
        }
    }

    @Test(arguments: [
        "harbor river", "harbor river bridge", "harbor -river", "harbor -river -bridge", "-river", "-river -seldom", "har*",
        "har* river", "har* -harbor", "seldom", "seldom river", "river seldom har*", "seldom -river", "river -seldom",
        "none river", "river -none", "ha* se* ri*",
    ])
    func `an index gives what the texts give`(_ search: String) throws {
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Note"))
        let id = try #require(table.column(named: "id"))
        let storage = ByteStorage(search)
        let parsed = try FullTextSearch(storage.view)
        func matches(_ text: String?) -> Bool {
            let bytes = text.map { ByteStorage($0) }
            return withExtendedLifetime(bytes) { parsed.matches(bytes?.view) }
        }
        let own = texts.indices.filter { matches(texts[$0]) }
        let linked = texts.indices.filter { $0 > 0 && matches(texts[$0 / 2]) }
        for (query, expected) in [
            ("text TEXT '\(search)'", own), ("next.text TEXT '\(search)'", linked),
            ("text TEXT '\(search)' OR id < 0", own), ("text TEXT '\(search)' AND (id < 100 OR id >= 100)", own),
            ("NOT text TEXT '\(search)'", texts.indices.filter { !own.contains($0) }),
        ] {
            let bound = try Query.parse(query).bind(to: table, in: snapshot)
            let found = try bound.execute().compactMap { key -> Int? in
                guard case .int(let number)? = try table.find(key)?.value(id) else { return nil }
                return Int(number)
            }
            #expect(found == expected, "\(query), seed \(FullTextQueryTests.seed)")
            #expect(try Query.parse(query).bind(to: table, in: snapshot).count() == expected.count, "\(query)")
        }
        withExtendedLifetime(storage) {}
        try realm.finish()
    }
}

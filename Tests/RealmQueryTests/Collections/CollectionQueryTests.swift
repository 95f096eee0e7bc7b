// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Comparisons of elements that may not be null, which are made in place for short collections, with constants of all lengths.
@Suite("Comparisons of elements in place")
struct CollectionQueryTests {
    /// An object of the model.
    private struct Item {
        var id: Int64
        var numbers: [Int64]
        var words: [String]
        var labels: [String: String]
    }

    private static let seed: UInt64 = 43
    private let realm: EngineRealm
    private let items: [Item]

    /// Makes items whose collections have leaves of all widths, and some of several leaves.
    init() throws {
        var random = SeededGenerator(seed: CollectionQueryTests.seed)
        func number() -> Int64 {
            let bits = [0, 1, 2, 4, 7, 15, 31, 62].randomElement(using: &random) ?? 0
            return Int64.random(in: 0...(1 << Int64(bits)), using: &random) * (bits > 4 && Bool.random(using: &random) ? -1 : 1)
        }
        func word() -> String {
            let length = [0, 1, 2, 3, 4, 7, 8, 15, 16, 40, 70].randomElement(using: &random) ?? 0
            let count = Int.random(in: 0...length, using: &random)
            return String((0..<count).map { _ in "ab9 ".randomElement(using: &random) ?? "a" })
        }
        items = (0..<700).map { id in
            let count = id == 500 ? 3000 : id % 90 == 0 ? 600 : Int.random(in: 0...5, using: &random)
            let short = Int.random(in: 0...4, using: &random)
            let entries = (0..<(id % 100 == 7 ? 1200 : short)).map { (id % 100 == 7 ? "key \($0)" : word() + "k", word()) }
            return Item(
                id: Int64(id), numbers: (0..<count).map { _ in number() }, words: (0..<count).map { _ in word() },
                labels: Dictionary(entries) { first, _ in first })
        }
        realm = try EngineRealm([
            ClassInput(
                "Item", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("numbers", "int", collection: "list"),
                    PropertyInput("words", "string", collection: "list"),
                    PropertyInput("labels", "string", collection: "dictionary"),
                ])
        ])
        let inputs = items.map { item -> InputObject in
            [
                "id": .integer(item.id), "numbers": .list(item.numbers.map { .integer($0) }),
                "words": .list(item.words.map { .text($0) }),
                "labels": .object(InputObject(item.labels.map { (name: $0.key, value: .text($0.value)) })),
            ]
        }
        try realm.write { session in for input in inputs { _ = try session.create("Item", input) } }
    }

    /// Compares what a query finds with the model.
    private func check(_ text: String, _ matches: (Item) -> Bool) throws {
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Item"))
        let id = try #require(table.column(named: "id"))
        let found = try Query.parse(text).bind(to: table, in: snapshot).execute().compactMap { key -> Int64? in
            guard case .int(let number)? = try table.find(key)?.value(id) else { return nil }
            return number
        }
        #expect(found == items.filter(matches).map(\.id), "\(text), seed \(CollectionQueryTests.seed)")
    }

    @Test func `numbers, with every relation and quantifier`() throws {
        var random = SeededGenerator(seed: 44)
        let relations: [(String, (Int64, Int64) -> Bool)] = [("==", ==), ("!=", !=), ("<", <), ("<=", <=), (">", >), (">=", >=)]
        let constants = (0..<5).compactMap { _ in items.flatMap(\.numbers).randomElement(using: &random) } + [0, 1, -1, .max]
        for constant in constants {
            for (name, holds) in relations {
                try check("ANY numbers \(name) \(constant)") { $0.numbers.contains { holds($0, constant) } }
                try check("ALL numbers \(name) \(constant)") { $0.numbers.allSatisfy { holds($0, constant) } }
                try check("NONE numbers \(name) \(constant)") { !$0.numbers.contains { holds($0, constant) } }
            }
            try check("numbers.@sum > \(constant)") { $0.numbers.reduce(0, &+) > constant }
            try check("numbers.@sum == \(constant)") { $0.numbers.reduce(0, &+) == constant }
        }
        try realm.finish()
    }

    @Test func `texts of all lengths, with every operator`() throws {
        var random = SeededGenerator(seed: 45)
        let all = items.flatMap(\.words)
        let parts = ["9", "ab", "99", "9a", " ", "b9 a", ""]
        for text in (0..<4).compactMap({ _ in all.randomElement(using: &random) }) + parts {
            try check("ANY words == '\(text)'") { $0.words.contains(text) }
            try check("NONE words == '\(text)'") { !$0.words.contains(text) }
            try check("ALL words == '\(text)'") { $0.words.allSatisfy { $0 == text } }
            try check("ANY words != '\(text)'") { $0.words.contains { $0 != text } }
            try check("ANY words CONTAINS '\(text)'") { $0.words.contains { text.isEmpty || $0.contains(text) } }
            try check("NONE words CONTAINS '\(text)'") { !$0.words.contains { text.isEmpty || $0.contains(text) } }
            try check("ALL words CONTAINS '\(text)'") { $0.words.allSatisfy { text.isEmpty || $0.contains(text) } }
            try check("ANY words CONTAINS[c] '\(text.uppercased())'") { $0.words.contains { text.isEmpty || $0.contains(text) } }
            try check("ANY words BEGINSWITH '\(text)'") { $0.words.contains { $0.hasPrefix(text) } }
            try check("ANY words ENDSWITH '\(text)'") { $0.words.contains { $0.hasSuffix(text) } }
            if !text.isEmpty { try check("ANY words LIKE '*\(text)*'") { $0.words.contains { $0.contains(text) } } }
            try check("ANY words ==[c] '\(text.uppercased())'") { $0.words.contains(text) }
        }
        try realm.finish()
    }

    @Test func `keys of dictionaries, and numbers of elements`() throws {
        var random = SeededGenerator(seed: 48)
        let keys = items.flatMap(\.labels.keys).sorted()
        for _ in 0..<10 {
            let key = try #require(keys.randomElement(using: &random))
            try check("ANY labels.@keys == '\(key)'") { $0.labels.keys.contains(key) }
            try check("NONE labels.@keys == '\(key)'") { !$0.labels.keys.contains(key) }
            try check("ALL labels.@keys == '\(key)'") { $0.labels.keys.allSatisfy { $0 == key } }
            try check("ANY labels.@keys != '\(key)'") { $0.labels.keys.contains { $0 != key } }
        }
        for count in [0, 1, 3, 600, 1200, 3000] {
            try check("labels.@count == \(count)") { $0.labels.count == count }
            try check("words.@count >= \(count)") { $0.words.count >= count }
            try check("numbers.@count < \(count)") { $0.numbers.count < count }
        }
        try realm.finish()
    }

    @Test func `entries of dictionaries, by key and in all`() throws {
        var random = SeededGenerator(seed: 46)
        let keys = items.flatMap(\.labels.keys).sorted()
        let values = items.flatMap(\.labels.values).sorted()
        for _ in 0..<8 {
            let key = try #require(keys.randomElement(using: &random))
            let own = items.compactMap { $0.labels[key] }.sorted().randomElement(using: &random)
            for value in [own, values.randomElement(using: &random)].compactMap({ $0 }) {
                try check("labels['\(key)'] == '\(value)'") { $0.labels[key] == value }
                try check("labels['\(key)'] != '\(value)'") { !$0.labels.isEmpty && $0.labels[key] != value }
                try check("ANY labels == '\(value)'") { $0.labels.values.contains(value) }
                try check("NONE labels == '\(value)'") { !$0.labels.values.contains(value) }
                try check("ALL labels == '\(value)'") { $0.labels.values.allSatisfy { $0 == value } }
            }
        }
        try realm.finish()
    }
}

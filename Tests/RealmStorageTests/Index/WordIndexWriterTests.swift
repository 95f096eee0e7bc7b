// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
@testable import RealmVerify
import Testing

@testable import RealmStorage

@Suite struct WordIndexWriterTests {
    private static let rounds = TestRun.isLong ? 100 : 6

    @Test func `An index of lists of strings follows the lists through any changes`() throws {
        for seed in 1...WordIndexWriterTests.rounds { try runLists(seed: UInt64(seed)) }
    }

    private func runLists(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scratch = try IndexScratch()
        let pool: [[UInt8]?] = TextPool(seed: seed).shortTexts + [nil]
        let capacity = [2, 3, 5, 1000].randomElement(using: &random) ?? 2
        let writer = WordIndexWriter(scratch.writes, capacity: .small(capacity))
        let place = "seed \(seed) capacity \(capacity)"
        var model: [ObjectKey: Set<[UInt8]?>] = [:]
        var root = try writer.makeEmpty()
        for step in 0..<400 {
            let object = ObjectKey(Int64.random(in: 0...60, using: &random))
            let old = model[object] ?? []
            let count = (step / 100) % 2 == 0 ? Int.random(in: 0...5, using: &random) : Int.random(in: 0...1, using: &random)
            let new = Set((0..<count).map { _ in pool.randomElement(using: &random) ?? nil })
            root = try #require(
                try writer.replace(Array(old) + Array(old), by: Array(new), object, in: root), "\(place) step \(step)")
            model[object] = new
            if step % 40 == 39 { try check(root, model, scratch, "\(place) step \(step)") }
        }
        let built = try writer.build(WordIndexWriterTests.words(model))
        try check(built, model, scratch, "\(place) built")
        let space = scratch.writes.space
        #expect(
            try IndexShape(root, space, holdsWords: true, isTidy: false)
                == IndexShape(built, space, holdsWords: true, isTidy: false),
            "\(place)")
        for (object, words) in model { root = try #require(try writer.replace(Array(words), by: [], object, in: root)) }
        #expect(try writer.tree.isEmpty(root), "\(place)")
    }

    private static func words(_ model: [ObjectKey: Set<[UInt8]?>]) -> WordIndexCheck.Words {
        var words: WordIndexCheck.Words = [:]
        for (object, own) in model.sorted(by: { $0.key < $1.key }) {
            for word in own { words[word, default: []].append(object) }
        }
        return words
    }

    private func check(
        _ root: Ref, _ model: [ObjectKey: Set<[UInt8]?>], _ scratch: IndexScratch, _ place: String
    ) throws {
        var report = VerifyReport()
        var walker = IndexWalker(space: scratch.writes.space, place: place)
        let words = WordIndexWriterTests.words(model)
        try WordIndexCheck(place: place, words: words).run(root, &walker, &report)
        #expect(report.errors.isEmpty && report.warnings.isEmpty, "\(report.errors) \(report.warnings)")
        #expect(walker.objectCount == model.values.reduce(0) { $0 + $1.count }, "\(place)")
    }

    // MARK: - Full text

    private static let vocabulary = [
        "word", "wordy", "words", "café", "cafe", "Ångström", "naïve", "a", "ab", "abc", "abcd", "abcde", "42", "мир",
        String(repeating: "long", count: 16), String(repeating: "long", count: 15), String(repeating: "long", count: 30),
    ]

    @Test func `A full-text index follows the texts, and finds every word in them`() throws {
        for seed in 1...WordIndexWriterTests.rounds { try runTexts(seed: UInt64(seed)) }
    }

    private func runTexts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scratch = try IndexScratch()
        let capacity = [2, 4, 1000].randomElement(using: &random) ?? 2
        let writer = FullTextIndexWriter(scratch.writes, capacity: .small(capacity))
        var texts: [ObjectKey: ByteStorage] = [:]
        var root = try writer.makeEmpty()
        for step in 0..<300 {
            let object = ObjectKey(Int64.random(in: 0...40, using: &random))
            let count = Int.random(in: 0...6, using: &random)
            let words = (0..<count).map { _ in WordIndexWriterTests.vocabulary.randomElement(using: &random) ?? "" }
            let text = Bool.random(using: &random) || count > 0 ? ByteStorage(words.joined(separator: " ")) : nil
            root = try #require(
                try writer.replace(
                    WordIndexWriterTests.value(texts[object]), by: WordIndexWriterTests.value(text), object, in: root),
                "seed \(seed) step \(step)")
            texts[object] = text
            if step % 50 == 49 { try checkTexts(root, texts, scratch, "seed \(seed) step \(step)") }
        }
        let built = try writer.build(texts.map { (.string($0.value.view), $0.key) })
        let space = scratch.writes.space
        #expect(
            try IndexShape(root, space, holdsWords: true, isTidy: false)
                == IndexShape(built, space, holdsWords: true, isTidy: false))
    }

    private static func value(_ text: ByteStorage?) -> Value { text.map { .string($0.view) } ?? .null }

    private func checkTexts(
        _ root: Ref, _ texts: [ObjectKey: ByteStorage], _ scratch: IndexScratch, _ place: String
    ) throws {
        let model = texts.mapValues { Set(FullTextTokenizer.words(of: $0.view).map { $0 as [UInt8]? }) }
        try check(root, model, scratch, place)
        let index = FullTextIndex(root: root, space: scratch.writes.space)
        for (word, objects) in WordIndexWriterTests.words(model) {
            #expect(try index.keys(with: word ?? []).all() == objects, "\(place)")
            let prefix = Array((word ?? []).prefix(3))
            let expected = model.filter { $0.value.contains { $0?.starts(with: prefix) == true } }.keys.sorted()
            #expect(try index.keys(withPrefix: prefix).all() == expected, "\(place)")
        }
    }

    // MARK: - Shapes

    @Test func `A word that a longer one continues moves to the end key`() throws {
        let scratch = try IndexScratch()
        let writer = WordIndexWriter(scratch.writes)
        var root = try writer.insert(Array("abcd".utf8), ObjectKey(1), into: try writer.makeEmpty())
        root = try writer.insert(Array("abcdef".utf8), ObjectKey(2), into: root)
        let below = IndexShape.level([0x5800_0000: .one(ObjectKey(1)), 0x6566_5800: .one(ObjectKey(2))])
        #expect(try IndexShape(root, scratch.writes.space, holdsWords: true, isTidy: false) == .level([0x6162_6364: below]))
        let rest = try #require(try writer.erase(Array("abcdef".utf8), ObjectKey(2), from: root))
        #expect(
            try IndexShape(rest, scratch.writes.space, holdsWords: true, isTidy: false)
                == .level([0x6162_6364: .one(ObjectKey(1))]))
    }

    @Test func `A word that is not where it should be stops a change before anything happened`() throws {
        let scratch = try IndexScratch()
        let writer = WordIndexWriter(scratch.writes)
        let words: [[UInt8]?] = ["one", "three", "four"].map { Array($0.utf8) }
        let root = try #require(try writer.replace([], by: words, ObjectKey(1), in: try writer.makeEmpty()))
        let before = try IndexShape(root, scratch.writes.space, holdsWords: true, isTidy: false)
        #expect(try writer.replace(words + [Array("two".utf8)], by: [], ObjectKey(1), in: root) == nil)
        #expect(try writer.replace(words, by: [], ObjectKey(2), in: root) == nil)
        #expect(try IndexShape(root, scratch.writes.space, holdsWords: true, isTidy: false) == before)
    }

    @Test(arguments: [201, 204, 300])
    func `A word longer than 200 bytes is refused and leaves the index usable`(length: Int) throws {
        let scratch = try IndexScratch()
        let writer = WordIndexWriter(scratch.writes)
        let root = try writer.insert([UInt8](repeating: 0x61, count: 200), ObjectKey(1), into: try writer.makeEmpty())
        let long = [UInt8](repeating: 0x61, count: length)
        #expect(throws: StorageError.self) { try writer.insert(long, ObjectKey(2), into: root) }
        #expect(throws: StorageError.self) { try writer.build([long: [ObjectKey(1)]]) }
        #expect(try writer.erase([UInt8](repeating: 0x61, count: 200), ObjectKey(1), from: root) != nil)
    }
}

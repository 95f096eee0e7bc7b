// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks an index of complete words against the words of the objects.
///
/// The words are read from the objects and crossed off while the index is walked; what remains on either side is an error.
struct WordIndexCheck {
    /// The objects, ascending, that have each word; nil means null.
    typealias Words = [[UInt8]?: [ObjectKey]]

    /// The beginning of messages: table and column.
    private let place: String
    /// The objects that must be filed under each word.
    private let words: Words

    /// Makes a check of one index against the words that its objects have.
    init(place: String, words: Words) {
        self.place = place
        self.words = words
    }

    /// Compares all entries below `root` with the words.
    ///
    /// - Parameters:
    ///   - walker: Visits the nodes.
    ///   - report: Gets what is wrong.
    /// - Throws: `.corrupt` for damage that keeps the index from being read.
    func run(_ root: Ref, _ walker: inout IndexWalker, _ report: inout VerifyReport) throws(StorageError) {
        var missing = words
        try walker.walk(root, &report) { (entry, report) throws(StorageError) in
            let filed = WordIndexCheck.word(endingWith: entry.path)
            checkOrder(entry, &report)
            guard missing[filed] != entry.objects else {
                missing[filed] = nil
                return
            }
            settle(entry, words: [filed, WordIndexCheck.longWord(endingWith: entry.path)], &missing, &report)
        }
        for (word, objects) in missing.sorted(by: { WordIndexCheck.precedes($0.key, $1.key) }) {
            for object in objects { report.error("\(place): object \(object.rawValue) is missing under \(text(word))") }
        }
    }

    /// Compares an entry that two words may lead to. The reference engine reads a word that ends in
    /// "X" as the word without it, so either of them, or both, may be filed there.
    ///
    /// - Parameters:
    ///   - entry: The entry, whose objects are not exactly those of its word.
    ///   - candidates: The words to which the path of the entry may lead.
    ///   - missing: The words that have not been found in the index yet, from which those of the
    ///     entry are removed.
    ///   - report: Gets an error for each object that has none of the words.
    private func settle(
        _ entry: IndexWalker.Entry, words candidates: [[UInt8]?], _ missing: inout Words, _ report: inout VerifyReport
    ) {
        var known: Set<ObjectKey> = []
        for word in Set(candidates) {
            known.formUnion(words[word] ?? [])
            missing[word]?.removeAll { entry.objects.contains($0) }
        }
        for object in entry.objects where !known.contains(object) {
            report.error("\(place): object \(object.rawValue) does not hold \(text(candidates[0])), under which it is filed")
        }
    }

    /// Reports a list whose objects are out of order.
    private func checkOrder(_ entry: IndexWalker.Entry, _ report: inout VerifyReport) {
        for (object, next) in zip(entry.objects, entry.objects.dropFirst()) where object >= next {
            return report.error("\(place): a list in node \(entry.node) is out of order at object \(next.rawValue)")
        }
    }

    /// Returns a word for messages, in quotes, or "null".
    private func text(_ word: [UInt8]?) -> String { word.map { "'\(String(decoding: $0, as: UTF8.self))'" } ?? "null" }

    /// Returns whether a word comes before another one in messages: null first, then by bytes.
    private static func precedes(_ left: [UInt8]?, _ right: [UInt8]?) -> Bool {
        guard let left, let right else { return left == nil && right != nil }
        return left.lexicographicallyPrecedes(right)
    }

    // MARK: - From keys to words

    /// Returns the word that ends with the last key of `path`; nil for null.
    static func word(endingWith path: [Int32]) -> [UInt8]? {
        var rest = path[...]
        // Below a key that reads as padded, 0 means the shorter word, which ended with that key.
        while let last = rest.last, last == 0 {
            rest.removeLast()
            if rest.isEmpty { return nil }
        }
        guard let last = rest.last else { return nil }
        return rest.dropLast().flatMap(bytes(of:)) + tail(of: last)
    }

    /// Returns the word that ends with all four bytes of the last key.
    private static func longWord(endingWith path: [Int32]) -> [UInt8] { path.flatMap(bytes(of:)) }

    /// Returns the four bytes of a key, the highest first.
    private static func bytes(of key: Int32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: UInt32(bitPattern: key) >> $0) }
    }

    /// Returns the bytes of a key in front of the end mark, or all four.
    private static func tail(of key: Int32) -> [UInt8] {
        guard WordIndexWriter.isPadded(key) else { return bytes(of: key) }
        return Array(bytes(of: key).reversed().drop { $0 == 0 }.dropFirst().reversed())
    }
}

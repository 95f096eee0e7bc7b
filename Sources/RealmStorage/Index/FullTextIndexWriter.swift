// SPDX-License-Identifier: Apache-2.0

/// Changes a full-text index: every word of an object's text once. Null has no words.
///
/// A text files its object under each of its distinct words. Changing a text takes out the words that are gone and adds those
/// that are new, and leaves the others alone. Source: docs/format.md, "Search indexes".
package struct FullTextIndexWriter {
    /// Changes the tree of words.
    private let words: WordIndexWriter

    /// A writer of full-text indexes.
    package init(_ writes: WriteSpace, capacity: IndexCapacity = .standard) {
        words = WordIndexWriter(writes, capacity: capacity)
    }

    /// An index of nothing.
    package func makeEmpty() throws(StorageError) -> Ref { try words.makeEmpty() }

    /// Files the words of `text`; returns the new root.
    package func insert(_ text: Value, _ object: ObjectKey, into root: Ref) throws(StorageError) -> Ref {
        try replace(.null, by: text, object, in: root) ?? root
    }

    /// Takes the words of `text` out; nil when one of them was not there: build the index anew then.
    package func erase(_ text: Value, _ object: ObjectKey, from root: Ref) throws(StorageError) -> Ref? {
        try replace(text, by: .null, object, in: root)
    }

    /// Moves `object` from the words of one text to those of another; nil when one was not there.
    package func replace(
        _ old: Value, by new: Value, _ object: ObjectKey, in root: Ref
    ) throws(StorageError) -> Ref? {
        try words.replace(FullTextIndexWriter.words(of: old), by: FullTextIndexWriter.words(of: new), object, in: root)
    }

    /// A new index of all `texts`.
    package func build(_ texts: [(text: Value, object: ObjectKey)], _ budget: WorkBudget? = nil) throws(StorageError) -> Ref {
        var objects: [[UInt8]?: [ObjectKey]] = [:]
        for (text, object) in texts {
            let found = Set(FullTextIndexWriter.words(of: text))
            try budget?.spend(16 + found.count)
            for word in found { objects[word, default: []].append(object) }
        }
        return try words.build(objects, budget)
    }

    /// The words of a text; none for null.
    private static func words(of text: Value) -> [[UInt8]?] {
        guard case .string(let bytes) = text else { return [] }
        return FullTextTokenizer.words(of: bytes)
    }
}

// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes a full-text index: each object is filed once under every word of its text. Null has no words.
///
/// Changing a text removes the object from the words that the text does not have any more and adds it to those that are new;
/// the entries of other words are not touched. Source: docs/format.md, "Search indexes".
package struct FullTextIndexWriter {
    /// The writer of the tree in which each word leads to its objects.
    private let words: WordIndexWriter

    /// Makes a writer of full-text indexes.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - capacity: The size of index nodes; other sizes than the standard are for tests.
    package init(_ writes: WriteSpace, capacity: IndexCapacity = .standard) {
        words = WordIndexWriter(writes, capacity: capacity)
    }

    /// Makes an index without words and returns its root.
    package func makeEmpty() throws(StorageError) -> Ref { try words.makeEmpty() }

    /// Files an object under the words of `text`, and returns the new root.
    ///
    /// - Parameters:
    ///   - text: A string, or null.
    ///   - object: The object, which must not have been filed before.
    ///   - root: The root of the index, which must not be used any more.
    package func insert(_ text: Value, _ object: ObjectKey, into root: Ref) throws(StorageError) -> Ref {
        try replace(.null, by: text, object, in: root) ?? root
    }

    /// Removes an object from the words of `text`.
    ///
    /// - Returns: The new root; nil when the object was not filed under one of them, in which case
    ///   the index has to be built again.
    /// - Parameters:
    ///   - text: The text under whose words the object was filed.
    ///   - root: The root of the index, which must not be used any more unless nil is returned.
    package func erase(_ text: Value, _ object: ObjectKey, from root: Ref) throws(StorageError) -> Ref? {
        try replace(text, by: .null, object, in: root)
    }

    /// Moves `object` from the words of one text to those of another.
    ///
    /// - Returns: The new root; nil when the object was not filed under a word of the old text.
    package func replace(
        _ old: Value, by new: Value, _ object: ObjectKey, in root: Ref
    ) throws(StorageError) -> Ref? {
        try words.replace(FullTextIndexWriter.words(of: old), by: FullTextIndexWriter.words(of: new), object, in: root)
    }

    /// Builds an index of all `texts` and returns its root.
    ///
    /// - Parameters:
    ///   - texts: The texts with their objects, in any order.
    ///   - budget: Limits the time; `.stopped` is thrown when it is used up.
    package func build(_ texts: [(text: Value, object: ObjectKey)], _ budget: WorkBudget? = nil) throws(StorageError) -> Ref {
        var objects: [[UInt8]?: [ObjectKey]] = [:]
        for (text, object) in texts {
            let found = Set(FullTextIndexWriter.words(of: text))
            try budget?.spend(16 + found.count)
            for word in found { objects[word, default: []].append(object) }
        }
        return try words.build(objects, budget)
    }

    /// Returns the words of a text; none for null.
    private static func words(of text: Value) -> [[UInt8]?] {
        guard case .string(let bytes) = text else { return [] }
        return FullTextTokenizer.words(of: bytes)
    }
}

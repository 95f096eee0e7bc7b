// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A full-text search in an indexed string property, possibly of linked objects, of which any may
/// match.
///
/// The index is read once, when the query is planned or at the first test; after that a test is a
/// look-up in a set of keys.
final class FullTextCondition: RowCondition {
    /// The result of searching the full-text index.
    private enum Found {
        /// The keys of the objects with all wanted words and none of the excluded ones.
        case only(Set<ObjectKey>)
        /// For a search without wanted words, the keys of the objects that do not match.
        case allBut(Set<ObjectKey>)
    }

    private let chain: LinkChain
    private let index: FullTextIndex
    private let search: FullTextSearch
    private let label: String
    /// The result of searching the index; nil until it is first needed.
    private var found: Found?

    /// Creates the condition for a search string; the index is not read yet.
    ///
    /// - Parameters:
    ///   - column: The string property, which has a full-text index.
    ///   - chain: The path to the objects whose property is searched; empty for the object itself.
    ///   - space: The nodes of the snapshot, from which the index is read.
    ///   - search: The words that are wanted and those that are excluded.
    ///   - label: The part of the query that the condition implements.
    init(_ column: Column, chain: LinkChain, space: NodeSpace, search: FullTextSearch, label: String) {
        self.chain = chain
        self.search = search
        self.label = label
        index = FullTextIndex(root: column.searchIndex, space: space)
    }

    /// 5: the look-up in a set of keys, which the index provided.
    var cost: Double { 5 }

    /// Returns whether an object that the path reaches has all wanted words and no excluded one.
    func matches(_ row: Row) throws(StorageError) -> Bool {
        let found = try lookUp()
        var isMatch = false
        try chain.forEachKey(from: row) { key in
            switch found {
            case .only(let keys): isMatch = keys.contains(key)
            case .allBut(let keys): isMatch = !keys.contains(key)
            }
            return !isMatch
        }
        return isMatch
    }

    /// Whether the index leads to all matches: the property belongs to the class itself, and at
    /// least one word is wanted.
    private var isIndexed: Bool { chain.isEmpty && !search.included.isEmpty }

    /// Returns the keys of all matches in ascending order; nil when the index only knows which
    /// objects do not match.
    ///
    /// - Complexity: O(n log n) for n matches, at the first call with the time to read the index.
    func indexedKeys() throws(StorageError) -> [ObjectKey]? {
        guard isIndexed, case .only(let keys) = try lookUp() else { return nil }
        return keys.sorted()
    }

    var outline: ConditionOutline { ConditionOutline("full text index", label: label) }

    /// Returns the result of the search. The first call reads the index, later ones return what it
    /// found.
    private func lookUp() throws(StorageError) -> Found {
        if let found { return found }
        let (included, excluded) = try search.objects(in: index, chain.cancellation)
        let result = included.map { Found.only(Set($0).subtracting(excluded)) } ?? .allBut(excluded)
        found = result
        return result
    }
}

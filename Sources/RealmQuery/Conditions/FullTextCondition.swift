// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A full-text search in an indexed string property, possibly of linked objects, of which any may match.
///
/// The index is read once, when the query is planned or at the first test; after that a test is a look-up among keys.
final class FullTextCondition: Condition {
    /// The result of searching the full-text index.
    private enum Found {
        /// The keys of the objects with all wanted words and none of the excluded ones.
        case only(KeyMembership)
        /// For a search without wanted words, the keys of the objects that do not match.
        case allBut(KeyMembership)
    }

    private let chain: LinkChain
    private let index: FullTextIndex
    private let search: FullTextSearch
    private let label: String
    /// The result of searching the index; nil until it is first needed.
    private var found: Found?
    /// The list of the index with all matches, if the plan has asked for them and no other list is needed. Lists in memory are not
    /// kept here: a query may have thousands of searches, each of which finds all objects.
    private var matches: IndexedKeys?

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

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        guard chain.isEmpty else {
            return try candidates.filter { row throws(StorageError) in try matches(Row(leaf: leaf, index: row)) }
        }
        switch try lookUp() {
        case .only(let keys): return candidates.filter { keys.contains(leaf.key(at: $0)) }
        case .allBut(let keys): return candidates.filter { !keys.contains(leaf.key(at: $0)) }
        }
    }

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

    /// Whether the index leads to all matches: the property belongs to the class itself, and at least one word is wanted.
    private var isIndexed: Bool { chain.isEmpty && !search.included.isEmpty }

    /// Returns the keys of all matches in ascending order; nil when the index only knows which
    /// objects do not match. They are counted at once if there is one word alone.
    ///
    /// - Throws: A storage error when the index is damaged, the check of the query asks to stop, or its conditions keep too much.
    func indexedKeys() throws(StorageError) -> IndexedKeys? {
        guard isIndexed else { return nil }
        if let matches { return matches }
        if case .only(let members)? = found { return members.list }
        let keys = try search.matches(in: index, chain.cancellation)
        if keys.areInMemory { try keep(keys) } else { matches = keys }
        return keys
    }

    var outline: ConditionOutline { ConditionOutline("full text index", label: label) }

    /// Returns the result of the search. The first call reads the index, later ones return what it found.
    private func lookUp() throws(StorageError) -> Found {
        if let found { return found }
        if let matches { return try keep(matches) }
        if search.included.isEmpty { return try keep(try search.excludedKeys(in: index, chain.cancellation)) }
        return try keep(try search.matches(in: index, chain.cancellation))
    }

    /// Keeps what was found, for tests of single objects.
    ///
    /// - Parameter keys: The keys of the matches; without wanted words those of the others.
    /// - Throws: A storage error when the index is damaged or the conditions of the query keep too much. Nothing is kept then.
    @discardableResult private func keep(_ keys: IndexedKeys) throws(StorageError) -> Found {
        let members = try KeyMembership(keys)
        try chain.cancellation?.keep(byteCount: members.byteCount)
        let result: Found = search.included.isEmpty ? .allBut(members) : .only(members)
        found = result
        return result
    }
}

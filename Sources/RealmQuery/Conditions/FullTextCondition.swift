// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A full text search in an indexed string property, possibly behind links, of which any object may match.
final class FullTextCondition: RowCondition {
    /// What the index says about a search, looked up once.
    private enum Found {
        /// The objects with all wanted words and none of the excluded ones.
        case only(Set<ObjectKey>)
        /// Without wanted words: the objects that are out.
        case allBut(Set<ObjectKey>)
    }

    private let chain: LinkChain
    private let index: FullTextIndex
    private let search: FullTextSearch
    private let label: String
    private var found: Found?

    /// `chain` leads from an object to those whose property is searched.
    init(_ column: Column, chain: LinkChain, space: NodeSpace, search: FullTextSearch, label: String) {
        self.chain = chain
        self.search = search
        self.label = label
        index = FullTextIndex(root: column.searchIndex, space: space)
    }

    var cost: Double { 5 }

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

    /// Whether the index leads to all matches: the property belongs to the class itself, and some word is wanted.
    var isIndexed: Bool { chain.isEmpty && !search.included.isEmpty }

    /// The keys of all matches, ascending; nil when the index only knows which objects do not match.
    func indexedKeys() throws(StorageError) -> [ObjectKey]? {
        guard isIndexed, case .only(let keys) = try lookUp() else { return nil }
        return keys.sorted()
    }

    var outline: ConditionOutline { ConditionOutline("full text index", label: label) }

    /// What the index says about the search; the first call reads it.
    private func lookUp() throws(StorageError) -> Found {
        if let found { return found }
        let (included, excluded) = try search.objects(in: index, chain.cancellation)
        let result = included.map { Found.only(Set($0).subtracting(excluded)) } ?? .allBut(excluded)
        found = result
        return result
    }
}

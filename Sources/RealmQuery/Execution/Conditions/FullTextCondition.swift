// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// A full text search in an indexed string property, possibly behind links, of which any object may match.
final class FullTextCondition: RowCondition {
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

    init(_ column: Column, chain: LinkChain, space: NodeSpace, search: FullTextSearch, label: String) {
        self.chain = chain
        self.search = search
        self.label = label
        index = FullTextIndex(root: column.searchIndex, space: space)
    }

    override var cost: Double { 5 }

    override func matches(_ row: Row) throws(StorageError) -> Bool {
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

    override var hasIndex: Bool { chain.isEmpty && !search.included.isEmpty }

    override func indexedKeys(_ table: Table) throws(StorageError) -> [ObjectKey]? {
        guard hasIndex, case .only(let keys) = try lookUp() else { return nil }
        return keys.sorted()
    }

    override func explain(_ depth: Int, into lines: inout [String]) {
        lines.appendPlan(depth, "full text index: \(label)")
    }

    private func lookUp() throws(StorageError) -> Found {
        if let found { return found }
        let (included, excluded) = try search.objects(in: index, chain.interrupt)
        let result = included.map { Found.only(Set($0).subtracting(excluded)) } ?? .allBut(excluded)
        found = result
        return result
    }
}

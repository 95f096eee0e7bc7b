// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A way to find the objects that may match through an index, instead of reading all objects.
indirect enum IndexLookup {
    /// The objects of some entries of a search index, one list per constant. The entries are looked
    /// up when the plan is made, and their keys are read when they are needed.
    case lists([IndexedKeys])
    /// The objects that link to given objects, by the incoming links of these.
    case backlinks(BacklinkLookup)
    /// The objects with the words of a search, by the full-text index.
    case fullText(FullTextCondition)
    /// The objects that any of several look-ups offers.
    case union([IndexLookup])

    /// Returns the number of objects that the look-up offers, exact for `lists` and `fullText`,
    /// otherwise an upper bound.
    ///
    /// - Throws: A storage error when an index is damaged.
    /// - Complexity: O(n) in the lists; a full-text search is executed.
    func count(in table: Table) throws(StorageError) -> Int {
        switch self {
        case .lists(let lists): return lists.reduce(0) { $0 + $1.count }
        case .backlinks(let backlinks): return try backlinks.count()
        case .fullText(let condition): return try condition.indexedKeys()?.count ?? 0
        case .union(let lookups):
            var count = 0
            for lookup in lookups { count += try lookup.count(in: table) }
            return count
        }
    }

    /// Returns the keys of the objects, ascending and each once.
    ///
    /// The keys of a few values are read from the index on demand; all others are collected and
    /// sorted first.
    ///
    /// - Parameters:
    ///   - table: The class of the objects.
    ///   - statistics: Counts the keys that are read.
    func candidates(in table: Table, _ statistics: QueryStatistics) throws(StorageError) -> CandidateKeys {
        if case .lists(let lists) = self, lists.count <= CandidateKeys.maximumStreams { return CandidateKeys(lists, statistics) }
        let keys = try allKeys(in: table)
        statistics.indexKeysRead += keys.count
        return CandidateKeys([IndexedKeys(keys)], nil)
    }

    /// Reads all keys of the look-up into memory, ascending and each once.
    private func allKeys(in table: Table) throws(StorageError) -> [ObjectKey] {
        switch self {
        case .lists(let lists):
            var keys: Set<ObjectKey> = []
            for list in lists { keys.formUnion(try list.all()) }
            return keys.sorted()
        case .backlinks(let backlinks): return try backlinks.origins()
        case .fullText(let condition): return try condition.indexedKeys() ?? []
        case .union(let lookups):
            var keys: Set<ObjectKey> = []
            for lookup in lookups { keys.formUnion(try lookup.allKeys(in: table)) }
            return keys.sorted()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A way to find the objects that may match through indexes, instead of reading all objects.
///
/// It offers the objects of some lists of keys, together with those that link to given objects.
struct IndexLookup {
    /// Ascending lists of keys, one for each constant or full-text search. An entry of a search
    /// index is looked up when the plan is made, and its keys are read when they are needed.
    private var lists: [IndexedKeys]
    /// The incoming links of given objects; the objects that these links come from are offered.
    private var backlinks: [BacklinkLookup]
    /// The number of objects that the look-up offers: exact for a single list and for lists without
    /// a common key, otherwise an upper bound.
    private(set) var count: Int

    /// Creates a look-up of lists of keys; without a list it offers no object.
    ///
    /// - Parameter lists: Ascending lists of keys, which may have keys in common.
    init(_ lists: [IndexedKeys] = []) {
        self.lists = lists
        backlinks = []
        count = lists.reduce(0) { $0 + $1.count }
    }

    /// Creates a look-up of the objects that link to given objects, and counts these links.
    ///
    /// - Throws: A storage error when one of the given objects cannot be read.
    init(_ backlinks: BacklinkLookup) throws(StorageError) {
        lists = []
        self.backlinks = [backlinks]
        count = try backlinks.count()
    }

    /// Adds the objects that another look-up offers.
    mutating func formUnion(_ other: IndexLookup) {
        lists += other.lists
        backlinks += other.backlinks
        count += other.count
    }

    /// Returns the keys of the objects, ascending and each once.
    ///
    /// The keys of a few lists are read on demand; all others are collected first.
    ///
    /// - Parameter statistics: Counts the keys that are read.
    /// - Throws: A storage error when an index is damaged.
    func candidates(_ statistics: QueryStatistics) throws(StorageError) -> CandidateKeys {
        if backlinks.isEmpty, lists.count <= CandidateKeys.maximumStreams { return CandidateKeys(lists, statistics) }
        if backlinks.isEmpty {
            let keys = try IndexedKeys.union(lists)
            statistics.indexKeysRead += keys.count
            return CandidateKeys([keys], nil)
        }
        var found: Set<ObjectKey> = []
        for list in lists { found.formUnion(try list.all()) }
        for links in backlinks { try links.addOrigins(to: &found) }
        statistics.indexKeysRead += found.count
        return CandidateKeys([IndexedKeys(found.sorted())], nil)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The newest change sets of a feed, from which clients resume, limited in number and bytes.
///
/// `ChangeFeed` guards it with its lock.
///
/// Invariants: the sets are in the order of their versions and do not overlap, and `base` is not
/// above the first `from`. There may be versions between two sets in which nothing changed.
struct ChangeRing: Sendable {
    /// The place at which a subscriber at some position continues in the ring of change sets.
    enum Place: Equatable {
        /// The index of the first set that the subscriber lacks, which is the number of sets when it lacks none.
        case known(Int)
        /// The sets between the position and the kept ones were dropped, or never existed.
        case lost
    }

    /// The sets that are kept.
    private(set) var sets: Deque<ChangeSet> = []
    /// The oldest position from which a client can resume with the sets in the ring.
    private(set) var base: UInt64
    /// The encoded size in bytes of the change sets that are kept.
    private(set) var byteCount = 0

    /// Makes an empty ring.
    ///
    /// - Parameter base: The version from which changes will be kept.
    init(base: UInt64) {
        self.base = base
    }

    /// Adds the newest set, and drops the oldest ones beyond the limits of retention.
    ///
    /// - Parameters:
    ///   - set: A set that begins at the end of the last one or later.
    ///   - limits: The limits of the server, of which `retentionSets` and `retentionBytes` count.
    /// - Complexity: O(1) on average.
    mutating func append(_ set: ChangeSet, limits: Limits) {
        sets.append(set)
        byteCount += set.byteCount
        while sets.count > limits.retentionSets || byteCount > limits.retentionBytes, let oldest = sets.popFirst() {
            base = oldest.to
            byteCount -= oldest.byteCount
        }
    }

    /// Drops all sets but the last, for clients that are up to date.
    mutating func keepLast() {
        guard sets.count > 1, let last = sets.last else { return }
        base = sets[sets.count - 2].to
        sets = [last]
        byteCount = last.byteCount
    }

    /// Drops all sets. Positions before `version` cannot be resumed after that.
    mutating func restart(at version: UInt64) { self = ChangeRing(base: version) }

    /// Finds where a subscriber at a position continues.
    ///
    /// A position within the range of a set is lost, because no client was ever given it as a position of this feed.
    ///
    /// - Parameter position: The version up to which the subscriber has everything.
    /// - Complexity: O(log n) in the number of sets.
    func place(after position: UInt64) -> Place {
        guard position >= base else { return .lost }
        let index = firstIndex(after: position)
        guard index < sets.count else { return .known(index) }
        return position <= sets[index].from ? .known(index) : .lost
    }

    /// Returns where the set begins that goes beyond a version, and begins before it; nil when there is none.
    func start(over version: UInt64) -> UInt64? {
        let index = firstIndex(after: version)
        guard index < sets.count, sets[index].from < version else { return nil }
        return sets[index].from
    }

    /// The index of the first set whose range ends after a position, by binary search.
    private func firstIndex(after position: UInt64) -> Int {
        // Most subscribers are up to date.
        if let last = sets.last, last.to <= position { return sets.count }
        var low = 0
        var high = sets.count
        while low < high {
            let middle = (low + high) / 2
            if sets[middle].to > position { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Returns the sets from an index on that end no later than a version.
    func sets(from index: Int, upTo version: UInt64) -> Deque<ChangeSet>.SubSequence {
        let slice = sets[index...]
        guard let last = slice.last, last.to > version else { return slice }
        return slice.prefix { $0.to <= version }
    }

    /// Returns the number of rows at a version, as the last set up to it states it; nil when there
    /// is no such set, or the rows have no number.
    func count(at version: UInt64) -> Int? {
        let index = firstIndex(after: version)
        return index > 0 ? sets[index - 1].count : nil
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The newest change sets of a feed: enough to resume from, and bounded.
///
/// Invariants: sets are in the order of their versions and do not overlap, and `base` is not above the first `from`.
struct ChangeRing: Sendable {
    /// Where a reader stands who asks for more.
    enum Place: Equatable {
        /// The index of the first set that it lacks; the count of sets when there is none.
        case known(Int)
        /// What was between its position and the sets that are kept is not known any more, or never was.
        case lost
    }

    private(set) var sets: [ChangeSet] = []
    /// The number of dropped sets at the beginning of `sets`.
    private var head = 0
    /// The oldest position that can be resumed.
    private(set) var base: UInt64
    private(set) var byteCount = 0

    init(base: UInt64) {
        self.base = base
    }

    var count: Int { sets.count - head }

    mutating func append(_ set: ChangeSet, limits: Limits) {
        sets.append(set)
        byteCount += set.byteCount
        while count > limits.retentionSets || byteCount > limits.retentionBytes, head < sets.count {
            base = sets[head].to
            byteCount -= sets[head].byteCount
            head += 1
        }
        guard head > 64, head * 2 > sets.count else { return }
        sets.removeFirst(head)
        head = 0
    }

    /// Forgets everything; positions before `version` cannot be resumed.
    mutating func restart(at version: UInt64) { self = ChangeRing(base: version) }

    /// Where a reader at `position` goes on.
    ///
    /// A position in the middle of a set's range is lost: nobody was ever told it as one of this feed.
    func place(after position: UInt64) -> Place {
        guard position >= base else { return .lost }
        let index = firstIndex(after: position)
        guard index < sets.count else { return .known(index) }
        return position <= sets[index].from ? .known(index) : .lost
    }

    /// The index of the first set whose range ends after `position`.
    private func firstIndex(after position: UInt64) -> Int {
        // Readers are mostly at the end.
        if let last = sets.last, head < sets.count, last.to <= position { return sets.count }
        var low = head
        var high = sets.count
        while low < high {
            let middle = (low + high) / 2
            if sets[middle].to > position { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The sets from `index` on that end no later than `version`.
    func sets(from index: Int, upTo version: UInt64) -> ArraySlice<ChangeSet> {
        let slice = sets[max(index, head)...]
        guard let last = slice.last, last.to > version else { return slice }
        return slice.prefix { $0.to <= version }
    }

    /// The size of the collection at `version`, as far as sets tell.
    func count(at version: UInt64) -> Int? {
        let index = firstIndex(after: version)
        return index > head ? sets[index - 1].count : nil
    }
}

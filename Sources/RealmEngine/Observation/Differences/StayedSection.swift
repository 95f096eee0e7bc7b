// SPDX-License-Identifier: Apache-2.0

/// What happened in a section that is there before and after. All rows are ascending.
struct StayedSection {
    /// Before.
    var deleted: [Int] = []
    /// After.
    var inserted: [Int] = []
    /// Rows before that were written.
    var writtenBefore: [Int] = []
    /// Rows after that were written.
    var writtenNow: [Int] = []
    /// Places at which the same row was and is, and was written.
    var same: [Int] = []

    /// Places that are reported as modified. A written row may be where another one was: a reader that reads its place again gets
    /// the right row there, as long as the rows that are not reported keep their order.
    var kept: [Int] {
        let now = Set(writtenNow)
        let both = writtenBefore.filter(now.contains)
        guard both.count > same.count else { return same }
        let deletions = deletions(keeping: both)
        let insertions = insertions(keeping: both)
        var nextDeletion = 0
        var nextInsertion = 0
        for row in both {
            while nextDeletion < deletions.count, deletions[nextDeletion] < row { nextDeletion += 1 }
            while nextInsertion < insertions.count, insertions[nextInsertion] < row { nextInsertion += 1 }
            if nextDeletion != nextInsertion { return same }
        }
        return both
    }

    /// Rows before that are reported as deleted, when the pairs in `kept` stay.
    func deletions(keeping kept: [Int]) -> [Int] { StayedSection.union(deleted, writtenBefore, without: kept) }
    /// Rows after that are reported as inserted, when the pairs in `kept` stay.
    func insertions(keeping kept: [Int]) -> [Int] { StayedSection.union(inserted, writtenNow, without: kept) }

    /// Both lists in ascending order, less the rows of `kept`.
    private static func union(_ rows: [Int], _ written: [Int], without kept: [Int]) -> [Int] {
        guard written.count > kept.count else { return rows }
        let kept = Set(kept)
        return (rows + written.filter { !kept.contains($0) }).sorted()
    }
}

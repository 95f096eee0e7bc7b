// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The changes in one section that exists before and after. All positions are positions of rows in the section, ascending.
struct StayedSection {
    /// The removed rows, by their position before the change.
    var deleted: [Int] = []
    /// The new rows, by their position after the change.
    var inserted: [Int] = []
    /// The written rows, by their position before the change.
    var writtenBefore: [Int] = []
    /// The written rows, by their position after the change.
    var writtenNow: [Int] = []
    /// The positions that the same written row has before and after.
    var same: [Int] = []

    /// The positions that are reported as modified.
    ///
    /// Another written row may be at the position of a written one: a client that reads this position
    /// again gets the right row, as long as the rows that are not reported keep their order.
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

    /// Returns the rows that are reported as deleted, by their position before, when the positions in
    /// `kept` are reported as modified.
    func deletions(keeping kept: [Int]) -> [Int] { StayedSection.union(deleted, writtenBefore, without: kept) }
    /// Returns the rows that are reported as inserted, by their position after, when the positions in
    /// `kept` are reported as modified.
    func insertions(keeping kept: [Int]) -> [Int] { StayedSection.union(inserted, writtenNow, without: kept) }

    /// Returns both lists in ascending order, without the rows of `kept`.
    private static func union(_ rows: [Int], _ written: [Int], without kept: [Int]) -> [Int] {
        guard written.count > kept.count else { return rows }
        let kept = Set(kept)
        return (rows + written.filter { !kept.contains($0) }).sorted()
    }
}

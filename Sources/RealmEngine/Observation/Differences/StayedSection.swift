// SPDX-License-Identifier: Apache-2.0

/// What happened in a section that is there before and after. All rows are ascending.
struct StayedSection {
    /// Before.
    var deleted: [Int] = []
    /// After.
    var inserted: [Int] = []
    var writtenBefore: [Int] = []
    var writtenNow: [Int] = []
    /// Places at which the same row that was written stood and stands.
    var same: [Int] = []

    /// Places that are told as modified. A written row may stand where another one stood: whoever makes its place anew has
    /// the right row there, as long as the rows that are not told stay in line.
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

    func deletions(keeping kept: [Int]) -> [Int] { StayedSection.union(deleted, writtenBefore, without: kept) }
    func insertions(keeping kept: [Int]) -> [Int] { StayedSection.union(inserted, writtenNow, without: kept) }

    private static func union(_ rows: [Int], _ written: [Int], without kept: [Int]) -> [Int] {
        guard written.count > kept.count else { return rows }
        let kept = Set(kept)
        return (rows + written.filter { !kept.contains($0) }).sorted()
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The difference between two states of a sequence: of a result, a list, a set.
///
/// To apply it, remove `deletions` from the highest to the lowest, insert the elements at `insertions` from the lowest to
/// the highest, and read those at `modificationsNew` again. All arrays are ascending.
package struct CollectionChanges: Sendable, Equatable {
    /// An element that was moved: `from` is among the deletions, `to` among the insertions.
    package struct Move: Sendable, Hashable {
        /// Where the element was before.
        package let from: Int
        /// Where it is after.
        package let to: Int

        /// A move of one element.
        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// Positions before.
    package var deletions: [Int] = []
    /// Positions after.
    package var insertions: [Int] = []
    /// Positions before of the elements that are changed.
    package var modifications: [Int] = []
    /// Positions after of the same elements, one to one.
    package var modificationsNew: [Int] = []
    /// Only lists have moves, ordered by `from`.
    package var moves: [Move] = []
    /// One operation removed everything, and nothing was inserted afterwards.
    package var isCleared = false
    /// The object that the collection belongs to is gone.
    package var isRootDeleted = false

    /// No difference.
    package init() {}

    /// Whether nothing is different.
    package var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && !isCleared && !isRootDeleted
    }

    /// All of `count` elements are gone with the object that had them.
    package static func rootDeleted(count: Int) -> CollectionChanges {
        var changes = CollectionChanges()
        changes.deletions = Array(0..<count)
        changes.isRootDeleted = true
        return changes
    }

    /// Changes without moves from positions of deleted, inserted and modified elements, the latter after the change;
    /// elements may be inserted and modified, they count as inserted.
    package init(deletions: [Int], insertions: [Int], modified: [Int]) {
        self.deletions = deletions
        self.insertions = insertions
        var nextInsertion = 0
        var nextDeletion = 0
        modifications.reserveCapacity(modified.count)
        modificationsNew.reserveCapacity(modified.count)
        for index in modified {
            while nextInsertion < insertions.count, insertions[nextInsertion] < index { nextInsertion += 1 }
            if nextInsertion < insertions.count, insertions[nextInsertion] == index { continue }
            // The rank among those that stayed leads to the position before.
            let rank = index - nextInsertion
            while nextDeletion < deletions.count, deletions[nextDeletion] - nextDeletion <= rank { nextDeletion += 1 }
            modifications.append(rank + nextDeletion)
            modificationsNew.append(index)
        }
    }
}

extension CollectionChanges {
    /// Whether it can lead from a sequence of `before` elements to one of `after`.
    func fits(before: Int, after: Int) -> Bool {
        before - deletions.count + insertions.count == after && (deletions.last ?? -1) < before
            && (insertions.last ?? -1) < after && (modifications.last ?? -1) < before && (modificationsNew.last ?? -1) < after
    }

    /// Where each of `count` elements is after the change, or nil when it is gone.
    func newPositions(of count: Int) -> [Int?] {
        var positions: [Int?] = Array(repeating: nil, count: count)
        var nextDeletion = 0
        var nextInsertion = 0
        var new = 0
        for old in 0..<count {
            if nextDeletion < deletions.count, deletions[nextDeletion] == old {
                nextDeletion += 1
                continue
            }
            while nextInsertion < insertions.count, insertions[nextInsertion] == new {
                nextInsertion += 1
                new += 1
            }
            positions[old] = new
            new += 1
        }
        for move in moves where move.from < count { positions[move.from] = move.to }
        return positions
    }
}

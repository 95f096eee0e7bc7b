// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The difference between two states of a sequence, such as a result, a list or a set, as positions.
///
/// To apply it, remove `deletions` from the highest to the lowest, insert the elements at `insertions`
/// from the lowest to the highest, and read those at `modificationsNew` again. All arrays are ascending.
package struct CollectionChanges: Sendable, Equatable {
    /// An element that was moved: `from` is among the deletions, and `to` among the insertions.
    package struct Move: Sendable, Hashable {
        /// The position of the element before the change.
        package let from: Int
        /// The position of the element after the change.
        package let to: Int

        /// Makes the move of an element from one position to another.
        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The positions of removed elements before the change.
    package var deletions: [Int] = []
    /// The positions of new elements after the change.
    package var insertions: [Int] = []
    /// The positions of modified elements before the change.
    package var modifications: [Int] = []
    /// The positions of the same modified elements after the change, in the same order.
    package var modificationsNew: [Int] = []
    /// The moved elements, ordered by `from`. Only lists have moves.
    package var moves: [Move] = []
    /// Whether one operation removed all elements, and nothing was inserted afterwards.
    package var isCleared = false
    /// Whether the object that the collection belongs to was deleted.
    package var isRootDeleted = false

    /// Makes an empty difference.
    package init() {}

    /// Whether nothing has changed.
    package var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && !isCleared && !isRootDeleted
    }

    /// Returns the difference of a collection that was deleted with its object.
    ///
    /// - Parameter count: The number of elements that it had.
    package static func rootDeleted(count: Int) -> CollectionChanges {
        var changes = CollectionChanges()
        changes.deletions = Array(0..<count)
        changes.isRootDeleted = true
        return changes
    }

    /// Returns the difference of a sequence whose elements are all replaced, because nothing is known of what happened to them.
    ///
    /// - Parameters:
    ///   - before: The number of elements before the change.
    ///   - after: The number of elements after it.
    static func replacement(of before: Int, with after: Int) -> CollectionChanges {
        CollectionChanges(deletions: Array(0..<before), insertions: Array(0..<after), modified: [])
    }

    /// Makes a difference without moves.
    ///
    /// - Parameters:
    ///   - deletions: The positions of removed elements before the change, ascending.
    ///   - insertions: The positions of new elements after the change, ascending.
    ///   - modified: The positions of modified elements after the change, ascending; new elements among
    ///     them only count as inserted.
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
            // The rank among the elements that stayed leads to the position before the change.
            let rank = index - nextInsertion
            while nextDeletion < deletions.count, deletions[nextDeletion] - nextDeletion <= rank { nextDeletion += 1 }
            modifications.append(rank + nextDeletion)
            modificationsNew.append(index)
        }
    }
}

extension CollectionChanges {
    /// Returns whether the difference can turn a sequence of `before` elements into one of `after` elements. It is a check
    /// against operations that do not fit the stored data.
    func fits(before: Int, after: Int) -> Bool {
        before - deletions.count + insertions.count == after && (deletions.last ?? -1) < before
            && (insertions.last ?? -1) < after && (modifications.last ?? -1) < before && (modificationsNew.last ?? -1) < after
    }

    /// Returns the position of each element after the change; nil for an element that was removed.
    ///
    /// - Parameter count: The number of elements before the change.
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

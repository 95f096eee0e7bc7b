// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Converts the operations on a list, in their order, to the difference between its states before and after.
///
/// The position in an operation is the one at its time; all positions that are kept here are updated with
/// each operation. Dictionaries and sets use it as well, with the positions of their order.
package struct ListChangeLog: Sendable {
    /// The positions of removed elements, before the first operation.
    var deletions = IndexRanges()
    /// The present positions of new elements.
    var insertions = IndexRanges()
    /// The present positions of modified elements, which may include new ones.
    var modifications = IndexRanges()
    /// The moved elements, from their position before the first operation to their present one.
    var moves: [CollectionChanges.Move] = []
    /// Whether all elements were removed by one operation, and nothing was added since.
    var isCleared = false
    /// Whether the object that has the list was deleted.
    var isRootDeleted = false

    /// Makes a log without operations.
    package init() {}

    /// Makes a log from a known difference. The ends of moves count as deleted and inserted.
    ///
    /// - Parameters:
    ///   - deletions: The positions of removed elements before the change.
    ///   - insertions: The positions of new elements after the change.
    ///   - modified: The positions of modified elements after the change, which may include new ones.
    ///   - moves: The moved elements.
    ///   - isCleared: Whether one operation removed all elements.
    package init(
        deletions: [Int], insertions: [Int], modified: [Int], moves: [CollectionChanges.Move], isCleared: Bool = false
    ) {
        self.deletions = IndexRanges((deletions + moves.map(\.from)).sorted())
        self.insertions = IndexRanges((insertions + moves.map(\.to)).sorted())
        modifications = IndexRanges(modified)
        self.moves = moves
        self.isCleared = isCleared
    }

    /// Whether the operations made no difference.
    var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && moves.isEmpty && !isCleared && !isRootDeleted
    }

    /// Adds the next operation on the list, and updates all positions accordingly.
    package mutating func add(_ change: CollectionChange) {
        switch change {
        case .insert(let index): insert(at: index)
        case .erase(let index): erase(at: index)
        case .set(let index): modifications.insert(index)
        case .move(let source, let target): move(from: source, to: target)
        case .clear(let count): clear(count: count)
        }
    }

    /// Follows the insertion of an element at `index`.
    private mutating func insert(at index: Int) {
        modifications.open(at: index, isMember: false)
        insertions.open(at: index, isMember: true)
        moves = moves.map { $0.to >= index ? CollectionChanges.Move(from: $0.from, to: $0.to + 1) : $0 }
        isCleared = false
    }

    /// Follows the removal of the element at `index`.
    private mutating func erase(at index: Int) {
        modifications.close(at: index)
        takeOut(at: index)
        moves = moves.compactMap { move in
            if move.to == index { return nil }
            return move.to > index ? CollectionChanges.Move(from: move.from, to: move.to - 1) : move
        }
    }

    /// Removes an element that was deleted or moved away.
    ///
    /// - Returns: Its position before the first operation; nil when it is a new element.
    @discardableResult
    private mutating func takeOut(at index: Int) -> Int? {
        let rank = insertions.unshifted(index)
        guard !insertions.close(at: index) else { return nil }
        let old = deletions.shifted(rank)
        deletions.insert(old)
        return old
    }

    /// Follows the move of an element; `target` is its position after the move.
    private mutating func move(from source: Int, to target: Int) {
        guard source != target else { return }
        var wasMoved = false
        moves = moves.map { move in
            if move.to == source {
                wasMoved = true
                return CollectionChanges.Move(from: move.from, to: target)
            }
            var end = move.to
            if end >= target, end < source { end += 1 } else if end <= target, end > source { end -= 1 }
            return CollectionChanges.Move(from: move.from, to: end)
        }
        let old = takeOut(at: source)
        insertions.open(at: target, isMember: true)
        if let old, !wasMoved { moves.append(CollectionChanges.Move(from: old, to: target)) }
        let isModified = modifications.close(at: source)
        modifications.open(at: target, isMember: isModified)
    }

    /// Follows the removal of all `count` elements by one operation.
    private mutating func clear(count: Int) {
        let before = count + deletions.count - insertions.count
        self = ListChangeLog()
        deletions = IndexRanges(below: before)
        isCleared = true
    }

    /// Marks the element at a present position as modified, because an object that it links to has changed.
    package mutating func modify(at index: Int) { modifications.insert(index) }

    // MARK: - The result

    /// Returns the difference that all operations so far make together.
    package func changes() -> CollectionChanges {
        var changes = CollectionChanges(
            deletions: deletions.indices, insertions: insertions.indices, modified: modifications.indices)
        changes.moves = moves.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
        changes.isCleared = isCleared
        changes.isRootDeleted = isRootDeleted
        return changes
    }

    /// Removes moves that did not change the place of an element relative to those that stayed. It is
    /// called after the last operation.
    package mutating func dropIdleMoves() {
        var kept: [CollectionChanges.Move] = []
        for move in moves {
            if deletions.unshifted(move.from) == insertions.unshifted(move.to) {
                deletions.remove(move.from)
                insertions.remove(move.to)
            } else {
                kept.append(move)
            }
        }
        moves = kept
    }
}

extension ListChangeLog {
    /// Adds the operations of a newer log, whose positions before are the positions after this one.
    package mutating func merge(_ newer: ListChangeLog) {
        guard !newer.isEmpty else { return }
        guard !isEmpty else {
            self = newer
            return
        }
        var newer = newer
        followMoves(&newer)
        // A new element that moved is still only new.
        newer.moves.removeAll { insertions.contains($0.from) }
        for move in newer.moves where modifications.contains(move.from) { newer.modifications.insert(move.to) }
        moves += newer.moves.map {
            CollectionChanges.Move(from: deletions.shifted(insertions.unshifted($0.from)), to: $0.to)
        }
        var old = deletions
        for index in newer.deletions.indices where !insertions.contains(index) {
            old.insert(deletions.shifted(insertions.unshifted(index)))
        }
        deletions = old
        insertions.close(at: newer.deletions)
        insertions.open(at: newer.insertions, areMembers: true)
        dropIdleMoves()
        modifications.close(at: newer.deletions)
        modifications.open(at: newer.insertions, areMembers: false)
        for index in newer.modifications.indices { modifications.insert(index) }
        isRootDeleted = isRootDeleted || newer.isRootDeleted
        isCleared = newer.isCleared
    }

    /// Updates the moves made so far to the positions after `newer`.
    ///
    /// A move of `newer` that continues one of them is joined with it and removed from `newer`.
    private mutating func followMoves(_ newer: inout ListChangeLog) {
        var kept: [CollectionChanges.Move] = []
        for move in moves {
            if let next = newer.moves.firstIndex(where: { $0.from == move.to }) {
                let end = newer.moves.remove(at: next)
                if modifications.contains(end.from) { newer.modifications.insert(end.to) }
                kept.append(CollectionChanges.Move(from: move.from, to: end.to))
            } else if !newer.deletions.contains(move.to) {
                kept.append(
                    CollectionChanges.Move(
                        from: move.from, to: newer.insertions.shifted(newer.deletions.unshifted(move.to))))
            }
        }
        moves = kept
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Computes the difference of two sequences of object keys.
///
/// Equal keys are paired; if an object is in a sequence several times, in the order of its positions.
/// Elements without a partner were deleted or inserted. Where the order may change, pairs that do not
/// keep it are reported as deleted and inserted (`MatchingBlocks`).
package enum SequenceDiff {
    /// Returns the difference between two sequences.
    ///
    /// - Parameters:
    ///   - before: The keys before the change; nil for an object that was deleted.
    ///   - after: The keys after the change.
    ///   - isModified: Returns whether the object at a position in `after` was modified; nil when none
    ///     was.
    ///   - canReorder: Whether keys that are in both sequences may have another order.
    ///   - isUnique: Whether no key occurs twice in a sequence.
    /// - Complexity: O(n) if the order is kept, otherwise that of `MatchingBlocks`.
    package static func changes(
        from before: [Int64?], to after: [Int64], isModified: ((Int) -> Bool)?, canReorder: Bool, isUnique: Bool = false
    ) -> CollectionChanges {
        let pairing = Pairing(before, after, isUnique: isUnique)
        var modified: [Int] = []
        if let isModified {
            for index in after.indices where pairing.oldOfNew(index) != nil && isModified(index) { modified.append(index) }
        }
        guard !pairing.isIdentity else { return CollectionChanges(deletions: [], insertions: [], modified: modified) }
        var deletions: [Int] = []
        var insertions: [Int] = []
        for index in pairing.oldRange where pairing.newOfOld(index) == nil { deletions.append(index) }
        for index in pairing.newRange where pairing.oldOfNew(index) == nil { insertions.append(index) }
        if canReorder, !pairing.isOrdered {
            let (gone, come) = reordered(before, after, pairing: pairing, modified: modified)
            deletions = (deletions + gone).sorted()
            insertions = (insertions + come).sorted()
        }
        return CollectionChanges(deletions: deletions, insertions: insertions, modified: modified)
    }

    /// Returns the old and new positions of pairs that have to be removed and inserted again to get the new order.
    private static func reordered(
        _ before: [Int64?], _ after: [Int64], pairing: Pairing, modified: [Int]
    ) -> (deletions: [Int], insertions: [Int]) {
        let old = before.indices.filter { pairing.newOfOld($0) != nil }
        let new = after.indices.filter { pairing.oldOfNew($0) != nil }
        var blocks = MatchingBlocks(
            old.map { before[$0] ?? 0 }, new.map { after[$0] }, modified: modified, count: after.count)
        blocks.find()
        return (
            blocks.isKeptOld.indices.filter { !blocks.isKeptOld[$0] }.map { old[$0] },
            blocks.isKeptNew.indices.filter { !blocks.isKeptNew[$0] }.map { new[$0] }
        )
    }
}

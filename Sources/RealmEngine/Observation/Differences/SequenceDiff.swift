// SPDX-License-Identifier: Apache-2.0

/// The difference of two sequences of object keys.
///
/// Equal keys are paired, those of an object that stands in a sequence several times in the order of their positions.
/// What has no partner was deleted or inserted. Where the order may change, the pairs that do not keep it are told as
/// deleted and inserted again (`MatchingBlocks`).
package enum SequenceDiff {
    /// - Parameters:
    ///   - before: nil stands for an object that is gone.
    ///   - isModified: by position in `after`; nil when nothing is.
    ///   - canReorder: false promises that the keys of both sequences that are in both have the same order.
    ///   - isUnique: promises that no key stands in a sequence twice.
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
            let (gone, come) = reordered(before, after, pairing, modified)
            deletions = (deletions + gone).sorted()
            insertions = (insertions + come).sorted()
        }
        return CollectionChanges(deletions: deletions, insertions: insertions, modified: modified)
    }

    /// Old and new positions of pairs that have to be taken out and put in again.
    private static func reordered(
        _ before: [Int64?], _ after: [Int64], _ pairing: Pairing, _ modified: [Int]
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

/// Which element of one sequence is which of the other. Common ends cost no memory.
private struct Pairing {
    private let prefix: Int
    /// How many elements at the end are paired one to one.
    private let suffix: Int
    private let oldCount: Int
    private let newCount: Int
    /// For the middle parts; -1 is none.
    private var toNew: [Int]
    private var toOld: [Int]

    init(_ before: [Int64?], _ after: [Int64], isUnique: Bool) {
        oldCount = before.count
        newCount = after.count
        let shorter = min(before.count, after.count)
        var start = 0
        while start < shorter, before[start] == after[start] { start += 1 }
        var end = 0
        if isUnique {
            while end < shorter - start, before[before.count - 1 - end] == after[after.count - 1 - end] { end += 1 }
        }
        prefix = start
        suffix = end
        toNew = Array(repeating: -1, count: before.count - start - end)
        toOld = Array(repeating: -1, count: after.count - start - end)
        guard !toNew.isEmpty, !toOld.isEmpty else { return }
        pair(before, after)
    }

    private mutating func pair(_ before: [Int64?], _ after: [Int64]) {
        // Positions of each key, the first one at the head.
        var heads: [Int64: Int] = [:]
        heads.reserveCapacity(toOld.count)
        var next = Array(repeating: -1, count: toOld.count)
        for index in toOld.indices.reversed() {
            let key = after[prefix + index]
            if let head = heads.updateValue(index, forKey: key) { next[index] = head }
        }
        for index in toNew.indices {
            guard let key = before[prefix + index], let head = heads[key], head >= 0 else { continue }
            toNew[index] = head
            toOld[head] = index
            heads[key] = next[head]
        }
    }

    /// Nothing came, went or changed its place.
    var isIdentity: Bool { toNew.isEmpty && toOld.isEmpty }

    /// Positions that may have no partner.
    var oldRange: Range<Int> { prefix..<(oldCount - suffix) }
    var newRange: Range<Int> { prefix..<(newCount - suffix) }

    func newOfOld(_ index: Int) -> Int? {
        if index < prefix { return index }
        if index >= oldCount - suffix { return index - oldCount + newCount }
        let partner = toNew[index - prefix]
        return partner < 0 ? nil : partner + prefix
    }

    func oldOfNew(_ index: Int) -> Int? {
        if index < prefix { return index }
        if index >= newCount - suffix { return index - newCount + oldCount }
        let partner = toOld[index - prefix]
        return partner < 0 ? nil : partner + prefix
    }

    /// Whether the pairs stand in the same order on both sides.
    var isOrdered: Bool {
        var last = -1
        for partner in toNew where partner >= 0 {
            if partner < last { return false }
            last = partner
        }
        return true
    }
}

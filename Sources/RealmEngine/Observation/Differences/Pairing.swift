// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Pairs the elements of a sequence with the equal elements of another one. A common beginning or end takes no memory.
struct Pairing {
    /// The number of elements that both sequences start with.
    private let prefix: Int
    /// The number of elements at the end that are paired one to one.
    private let suffix: Int
    /// The number of elements before the change.
    private let oldCount: Int
    /// The number of elements after the change.
    private let newCount: Int
    /// The partners of the elements in the middle of the old sequence, as indexes in its new middle; -1 for none.
    private var toNew: [Int]
    /// The partners of the elements in the middle of the new sequence, as indexes in its old middle; -1 for none.
    private var toOld: [Int]

    /// Pairs equal elements of both sequences, repeated ones in the order of their positions.
    ///
    /// - Parameters:
    ///   - before: The keys before the change; nil for an object that was deleted.
    ///   - after: The keys after the change.
    ///   - isUnique: Whether no key occurs twice, so that a common end needs no search either.
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

    /// Pairs the elements between the common beginning and end.
    private mutating func pair(_ before: [Int64?], _ after: [Int64]) {
        // The positions of each key as a linked list that starts with the first one.
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

    /// Whether no element was removed, added or moved.
    var isIdentity: Bool { toNew.isEmpty && toOld.isEmpty }

    /// The positions before the change that may have no partner.
    var oldRange: Range<Int> { prefix..<(oldCount - suffix) }
    /// The positions after the change that may have no partner.
    var newRange: Range<Int> { prefix..<(newCount - suffix) }

    /// Returns the position of an element after the change; nil when it was removed.
    func newOfOld(_ index: Int) -> Int? {
        if index < prefix { return index }
        if index >= oldCount - suffix { return index - oldCount + newCount }
        let partner = toNew[index - prefix]
        return partner < 0 ? nil : partner + prefix
    }

    /// Returns the position of an element before the change; nil when it is new.
    func oldOfNew(_ index: Int) -> Int? {
        if index < prefix { return index }
        if index >= newCount - suffix { return index - newCount + oldCount }
        let partner = toOld[index - prefix]
        return partner < 0 ? nil : partner + prefix
    }

    /// Whether the pairs have the same order on both sides.
    var isOrdered: Bool {
        var last = -1
        for partner in toNew where partner >= 0 {
            if partner < last { return false }
            last = partner
        }
        return true
    }
}

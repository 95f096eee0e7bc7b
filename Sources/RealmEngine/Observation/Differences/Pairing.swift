// SPDX-License-Identifier: Apache-2.0

/// Which element of one sequence is which of the other. Common ends cost no memory.
struct Pairing {
    /// How many elements both sequences begin with.
    private let prefix: Int
    /// How many elements at the end are paired one to one.
    private let suffix: Int
    /// How many elements there were.
    private let oldCount: Int
    /// How many elements there are.
    private let newCount: Int
    /// For the middle parts; -1 is none.
    private var toNew: [Int]
    /// The same the other way round.
    private var toOld: [Int]

    /// Pairs equal elements of both sequences. With `isUnique` none occurs twice, so that a
    /// common end can be left out of account as well.
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

    /// Pairs what is between the common beginning and end.
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
    /// The positions after that are not in the common beginning or end.
    var newRange: Range<Int> { prefix..<(newCount - suffix) }

    /// The position after of an element, or nil when it is gone.
    func newOfOld(_ index: Int) -> Int? {
        if index < prefix { return index }
        if index >= oldCount - suffix { return index - oldCount + newCount }
        let partner = toNew[index - prefix]
        return partner < 0 ? nil : partner + prefix
    }

    /// The position before of an element, or nil when it is new.
    func oldOfNew(_ index: Int) -> Int? {
        if index < prefix { return index }
        if index >= newCount - suffix { return index - newCount + oldCount }
        let partner = toOld[index - prefix]
        return partner < 0 ? nil : partner + prefix
    }

    /// Whether the pairs are in the same order on both sides.
    var isOrdered: Bool {
        var last = -1
        for partner in toNew where partner >= 0 {
            if partner < last { return false }
            last = partner
        }
        return true
    }
}

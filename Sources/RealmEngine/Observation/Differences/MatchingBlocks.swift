// SPDX-License-Identifier: Apache-2.0

/// Finds out which elements of a sequence may stay where they are when it becomes a permutation of itself.
///
/// The longest run that is contiguous on both sides stays, then the same is done with what is left of it and right of
/// it. Of runs of equal length the one with fewer modified elements stays, so that those are reported as moved; the details
/// agree with the reference engine to the bit.
/// Source: realm-core, collection_change_builder.cpp.
struct MatchingBlocks {
    /// Parts of both sequences that are still compared.
    private struct Window {
        /// Positions before.
        let old: Range<Int>
        /// Positions after.
        let new: Range<Int>
    }

    /// Elements that follow each other in both sequences.
    private struct Run {
        /// Where it begins before.
        var old: Int
        /// Where it begins after.
        var new: Int
        /// How many elements it has.
        var count: Int
        /// How many modified elements it counts for; nil until that is asked for.
        var modified: Int?
    }

    /// How many elements there were.
    private let oldCount: Int
    /// Which group of equal elements each element of the old side belongs to.
    private var groups: [Int] = []
    /// Positions on the new side, ascending in each group; those of group g from `starts[g]` on.
    private var positions: [Int] = []
    /// Where the positions of each group begin in `positions`.
    private var starts: [Int] = []
    /// How many modified elements there are below each position.
    private var modifiedBelow: [Int]
    /// The same elements on both sides from here on have other places.
    private var first = 0
    /// What the search may cost before a quicker one takes over.
    private var budget: Int

    /// Which positions before belong to a run that stays.
    private(set) var isKeptOld: [Bool]
    /// Which positions after belong to a run that stays.
    private(set) var isKeptNew: [Bool]

    /// `modified` are positions below `count`, as the caller counts them.
    init(_ old: [Int64], _ new: [Int64], modified: [Int], count: Int) {
        oldCount = old.count
        isKeptOld = Array(repeating: false, count: old.count)
        isKeptNew = Array(repeating: false, count: new.count)
        budget = 1 << 22 + 64 * old.count
        modifiedBelow = Array(repeating: 0, count: count + 1)
        for index in modified where index < count { modifiedBelow[index + 1] = 1 }
        for index in 0..<count { modifiedBelow[index + 1] += modifiedBelow[index] }
        while first < old.count, old[first] == new[first] { first += 1 }
        index(old, new)
    }

    /// Groups equal elements, and notes where those of each group are on the new side.
    private mutating func index(_ old: [Int64], _ new: [Int64]) {
        var heads: [Int64: Int] = [:]
        heads.reserveCapacity(new.count)
        var next = Array(repeating: -1, count: new.count)
        for index in new.indices.reversed() {
            if let head = heads.updateValue(index, forKey: new[index]) { next[index] = head }
        }
        positions.reserveCapacity(new.count)
        groups.reserveCapacity(old.count)
        var known: [Int64: Int] = [:]
        known.reserveCapacity(heads.count)
        for key in old {
            if let group = known[key] {
                groups.append(group)
                continue
            }
            known[key] = starts.count
            groups.append(starts.count)
            starts.append(positions.count)
            var place = heads[key] ?? -1
            while place >= 0 {
                positions.append(place)
                place = next[place]
            }
        }
        starts.append(positions.count)
    }

    /// Sets what is kept.
    mutating func find() {
        for index in 0..<first {
            isKeptOld[index] = true
            isKeptNew[index] = true
        }
        var pending = [Window(old: first..<oldCount, new: first..<isKeptNew.count)]
        while let window = pending.popLast() {
            guard budget > 0 else { return keepAscending() }
            let run = longestRun(in: window)
            guard run.count > 0 else { continue }
            for offset in 0..<run.count {
                isKeptOld[run.old + offset] = true
                isKeptNew[run.new + offset] = true
            }
            if run.old > window.old.lowerBound, run.new > window.new.lowerBound {
                pending.append(
                    Window(
                        old: window.old.lowerBound..<run.old, new: window.new.lowerBound..<run.new))
            }
            let end = window.new.upperBound
            // Both ends are compared with that of the new side.
            if run.old + run.count < end, run.new + run.count < end {
                pending.append(
                    Window(
                        old: (run.old + run.count)..<window.old.upperBound, new: (run.new + run.count)..<end))
            }
        }
    }

    /// The longest run in a window; empty when the sequences have nothing in common there.
    private mutating func longestRun(in window: Window) -> Run {
        var best = Run(old: window.old.lowerBound, new: window.new.lowerBound, count: 0, modified: 0)
        // Where the runs end that the element before belongs to.
        var previous: [(new: Int, count: Int)] = []
        var current: [(new: Int, count: Int)] = []
        for old in window.old {
            swap(&previous, &current)
            current.removeAll(keepingCapacity: true)
            for slot in starts[groups[old]]..<starts[groups[old] + 1] {
                let new = positions[slot]
                if new < window.new.lowerBound { continue }
                if new >= window.new.upperBound { break }
                budget -= 1 + previous.count
                let count = (previous.first { $0.new + 1 == new }?.count ?? 0) + 1
                current.append((new, count))
                consider(old: old, new: new, count: count, &best)
            }
            budget -= 1
        }
        return best
    }

    /// Makes the run that ends at a pair of positions the best one if it is longer, or as long and less modified.
    private func consider(old: Int, new: Int, count: Int, _ best: inout Run) {
        let run = Run(old: old - count + 1, new: new - count + 1, count: count, modified: nil)
        if count > best.count {
            best = run
        } else if count == best.count {
            let known = best.modified ?? modified(endingAt: best.new, count)
            best.modified = known
            let own = modified(endingAt: new, count)
            if own < known {
                best = run
                best.modified = own
            }
        }
    }

    /// How many elements of a run are modified.
    private func modified(endingAt end: Int, _ count: Int) -> Int {
        let start = end - count + 1
        guard start >= 0, end + 1 < modifiedBelow.count else { return 0 }
        return modifiedBelow[end + 1] - modifiedBelow[start]
    }

    // MARK: - Big differences

    /// Keeps a longest ascending selection instead: as correct for those who apply the difference, and never slow.
    private mutating func keepAscending() {
        for index in isKeptOld.indices { isKeptOld[index] = index < first }
        for index in isKeptNew.indices { isKeptNew[index] = index < first }
        let partners = partners()
        var tails: [Int] = []
        var before = Array(repeating: -1, count: partners.count)
        for (index, partner) in partners.enumerated() where index >= first {
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if partners[tails[middle]] < partner { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? tails[low - 1] : -1
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var index = tails.last ?? -1
        while index >= 0 {
            isKeptOld[index] = true
            isKeptNew[partners[index]] = true
            index = before[index]
        }
    }

    /// One position on the new side for each element, equal elements in order.
    private func partners() -> [Int] {
        var next = starts
        return groups.map { group in
            defer { next[group] += 1 }
            return positions[next[group]]
        }
    }
}

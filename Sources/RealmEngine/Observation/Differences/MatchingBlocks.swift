// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Determines which elements of a sequence can keep their place when the sequence becomes a permutation of itself.
///
/// The longest run that is contiguous on both sides is kept, and the same is repeated on its left and on its right. Of runs
/// with equal length the one with fewer modified elements is kept, so that modified elements are those reported as moved. The
/// details agree exactly with the reference engine, because clients may compare change sets.
///
/// Source: realm-core, collection_change_builder.cpp.
struct MatchingBlocks {
    /// The parts of both sequences that still have to be compared.
    private struct Window {
        /// The positions before the change.
        let old: Range<Int>
        /// The positions after the change.
        let new: Range<Int>
    }

    /// Elements that follow each other in both sequences.
    private struct Run {
        /// The position of its first element before the change.
        var old: Int
        /// The position of its first element after the change.
        var new: Int
        /// The number of elements of the run.
        var count: Int
        /// The number of modified elements that it is compared by, see `consider`; nil until it is needed.
        var modified: Int?
    }

    /// The number of elements, which is the same on both sides.
    private let oldCount: Int
    /// The group of equal elements that each element of the old side belongs to.
    private var groups: [Int] = []
    /// The positions on the new side, ascending in each group; those of group g start at `starts[g]`.
    private var positions: [Int] = []
    /// The index in `positions` at which each group starts.
    private var starts: [Int] = []
    /// The number of modified elements below each position.
    private var modifiedBelow: [Int]
    /// The length of the common beginning of both sequences, which is kept without a search.
    private var first = 0
    /// The remaining cost of the search; when it is used up, a faster method takes over.
    private var budget: Int

    /// For each position before the change, whether its element keeps its place.
    private(set) var isKeptOld: [Bool]
    /// For each position after the change, whether its element keeps its place.
    private(set) var isKeptNew: [Bool]

    /// Prepares the search.
    ///
    /// - Parameters:
    ///   - old: The keys before the change.
    ///   - new: The same keys in their new order.
    ///   - modified: The positions of the modified elements in the whole new sequence, inserted elements
    ///     included. As in the reference engine they are used as positions in `new`, although `new` lacks
    ///     the inserted elements.
    ///   - count: The number of elements of the whole new sequence, inserted ones included.
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

    /// Groups equal elements, and records the positions of each group on the new side.
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

    /// Determines which elements keep their place, and sets `isKeptOld` and `isKeptNew`.
    ///
    /// - Complexity: Up to quadratic, limited to 4 million steps and 64 for each element; then O(n log n).
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
            // Both ends are compared with the end of the new side, as the reference engine does.
            if run.old + run.count < end, run.new + run.count < end {
                pending.append(
                    Window(
                        old: (run.old + run.count)..<window.old.upperBound, new: (run.new + run.count)..<end))
            }
        }
    }

    /// Returns the longest run in a window; it is empty when the sequences have nothing in common there.
    private mutating func longestRun(in window: Window) -> Run {
        var best = Run(old: window.old.lowerBound, new: window.new.lowerBound, count: 0, modified: 0)
        // The ends of the runs that the previous element belongs to.
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

    /// Replaces the best run by the one that ends at a pair of positions, if that is longer, or as long
    /// with fewer modified elements.
    private func consider(old: Int, new: Int, count: Int, _ best: inout Run) {
        let run = Run(old: old - count + 1, new: new - count + 1, count: count, modified: nil)
        if count > best.count {
            best = run
        } else if count == best.count {
            // Counted up to the first element of the best run instead of its last, as the reference engine does.
            let known = best.modified ?? modified(endingAt: best.new, count)
            best.modified = known
            let own = modified(endingAt: new, count)
            if own < known {
                best = run
                best.modified = own
            }
        }
    }

    /// Returns the number of modified elements of a run that ends at a position; 0 when it would begin before
    /// the first element.
    private func modified(endingAt end: Int, _ count: Int) -> Int {
        let start = end - count + 1
        guard start >= 0, end + 1 < modifiedBelow.count else { return 0 }
        return modifiedBelow[end + 1] - modifiedBelow[start]
    }

    // MARK: - Big differences

    /// Keeps a longest ascending subsequence instead of blocks. The difference is as correct, and the time is limited.
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

    /// Returns one position on the new side for each element; equal elements are assigned in their order.
    private func partners() -> [Int] {
        var next = starts
        return groups.map { group in
            defer { next[group] += 1 }
            return positions[next[group]]
        }
    }
}

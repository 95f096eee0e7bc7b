// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds the operations that turn one sequence of elements into another.
///
/// The operations are few, but not always those that the writer made, because only the results are
/// known. An element that is replaced in its place counts as set.
struct ElementEdits<Element: Hashable> {
    /// The number of pairs up to which the fewest operations are searched; above it all of the differing middle is replaced.
    static var maximumPairs: Int { 1 << 22 }

    /// The operations in the order in which they apply.
    private(set) var changes: [CollectionChange] = []
    /// The pairs of positions, before and after, of elements that are equal.
    private(set) var kept: [(old: Int, new: Int)] = []

    /// Compares two sequences.
    ///
    /// - Complexity: Linear for equal beginnings and ends; up to quadratic between them, but limited to
    ///   four million steps.
    init(from old: [Element], to new: [Element]) {
        var start = 0
        while start < min(old.count, new.count), old[start] == new[start] {
            kept.append((start, start))
            start += 1
        }
        var end = 0
        while end < min(old.count, new.count) - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
        // It is unknown whether one element was removed or all; one operation is reported for many.
        if new.isEmpty, old.count > 1 {
            changes = [.clear(count: old.count)]
            return
        }
        let matches = ElementEdits.matches(old[start..<(old.count - end)], new[start..<(new.count - end)])
        kept += matches
        for offset in stride(from: end, to: 0, by: -1) { kept.append((old.count - offset, new.count - offset)) }
        write(matches, from: start, to: (old.count - end, new.count - end))
    }

    /// Finds equal elements in the same order on both sides; as many as possible if the sides are short.
    private static func matches(_ old: ArraySlice<Element>, _ new: ArraySlice<Element>) -> [(old: Int, new: Int)] {
        guard !old.isEmpty, !new.isEmpty else { return [] }
        guard old.count.multipliedReportingOverflow(by: new.count).partialValue <= maximumPairs,
            max(old.count, new.count) <= maximumPairs
        else { return [] }
        let difference = new.difference(from: old)
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        let stayed = (0..<old.count).filter { !removed.contains($0) }
        let arrived = (0..<new.count).filter { !inserted.contains($0) }
        return zip(stayed, arrived).map { (old.startIndex + $0, new.startIndex + $1) }
    }

    /// Writes the operations for the gaps between equal elements.
    ///
    /// - Parameters:
    ///   - matches: The pairs of equal elements in the middle.
    ///   - start: The number of equal elements at the beginning.
    ///   - end: The positions at which the equal end begins.
    private mutating func write(_ matches: [(old: Int, new: Int)], from start: Int, to end: (old: Int, new: Int)) {
        var next = (old: start, new: start)
        for match in matches + [end] {
            let replaced = min(match.old - next.old, match.new - next.new)
            for offset in 0..<replaced { changes.append(.set(next.new + offset)) }
            let place = next.new + replaced
            for _ in 0..<(match.old - next.old - replaced) { changes.append(.erase(place)) }
            for offset in 0..<(match.new - next.new - replaced) { changes.append(.insert(place + offset)) }
            next = (match.old + 1, match.new + 1)
        }
    }
}

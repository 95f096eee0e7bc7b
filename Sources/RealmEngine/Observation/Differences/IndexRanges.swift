// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A set of positions in a sequence that can follow insertions and removals in that sequence.
///
/// It is stored as ascending ranges that do not touch each other, so positions that were inserted or
/// removed together cost one range.
package struct IndexRanges: Sendable, Equatable {
    /// The ranges in ascending order; none is empty, and there are gaps between them.
    private var ranges: [Range<Int>] = []

    /// Makes an empty set.
    package init() {}

    /// Makes the set of the given positions, in any order.
    package init(_ indices: [Int]) {
        for index in indices { insert(index) }
    }

    /// Makes the set of all positions below `count`.
    package init(below count: Int) {
        if count > 0 { ranges = [0..<count] }
    }

    package var isEmpty: Bool { ranges.isEmpty }
    /// The number of positions in the set.
    package var count: Int { ranges.reduce(0) { $0 + $1.count } }

    /// The positions in ascending order.
    package var indices: [Int] { ranges.flatMap { $0 } }

    /// Returns the number of the first range that ends above `index`; a binary search.
    private func place(of index: Int) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= index { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns whether a position is in the set.
    ///
    /// - Complexity: O(log n) for n ranges.
    package func contains(_ index: Int) -> Bool {
        let place = place(of: index)
        return place < ranges.count && ranges[place].contains(index)
    }

    /// Returns the number of positions in the set that are below `index`.
    package func count(below index: Int) -> Int {
        var count = 0
        for range in ranges {
            guard range.lowerBound < index else { break }
            count += min(range.upperBound, index) - range.lowerBound
        }
        return count
    }

    // MARK: - Members

    /// Adds a position to the set.
    package mutating func insert(_ index: Int) {
        let place = place(of: index)
        if place < ranges.count, ranges[place].contains(index) { return }
        ranges.insert(index..<(index + 1), at: place)
        join(at: place + 1)
        join(at: place)
    }

    /// Removes a position from the set; the other positions remain as they are.
    package mutating func remove(_ index: Int) {
        let place = place(of: index)
        guard place < ranges.count, ranges[place].contains(index) else { return }
        let range = ranges[place]
        let parts = [range.lowerBound..<index, (index + 1)..<range.upperBound].filter { !$0.isEmpty }
        ranges.replaceSubrange(place...place, with: parts)
    }

    /// Joins a range with the one before it when they touch.
    private mutating func join(at place: Int) {
        guard place > 0, place < ranges.count, ranges[place - 1].upperBound == ranges[place].lowerBound else { return }
        ranges[place - 1] = ranges[place - 1].lowerBound..<ranges[place].upperBound
        ranges.remove(at: place)
    }

    // MARK: - Changes of the sequence

    /// Follows the insertion of an element into the sequence: positions from there on move up.
    ///
    /// - Parameters:
    ///   - index: The position of the new element.
    ///   - isMember: Whether the new position is added to the set.
    package mutating func open(at index: Int, isMember: Bool) {
        let place = place(of: index)
        for next in place..<ranges.count {
            let range = ranges[next]
            let start = range.lowerBound >= index ? range.lowerBound + 1 : range.lowerBound
            ranges[next] = start..<(range.upperBound + 1)
        }
        // A range that contains `index` has grown.
        if place < ranges.count, ranges[place].contains(index) {
            if !isMember { remove(index) }
        } else if isMember {
            insert(index)
        }
    }

    /// Follows the removal of an element from the sequence: positions after it move down.
    ///
    /// - Parameter index: The position of the removed element.
    /// - Returns: Whether that position was in the set.
    @discardableResult
    package mutating func close(at index: Int) -> Bool {
        let place = place(of: index)
        let isMember = place < ranges.count && ranges[place].contains(index)
        for next in place..<ranges.count {
            let range = ranges[next]
            let start = range.lowerBound > index ? range.lowerBound - 1 : range.lowerBound
            ranges[next] = start..<(range.upperBound - 1)
        }
        if place < ranges.count, ranges[place].isEmpty { ranges.remove(at: place) }
        join(at: place)
        return isMember
    }

    /// Follows the insertion of several elements.
    ///
    /// - Parameters:
    ///   - inserted: Their positions after all of them were inserted.
    ///   - areMembers: Whether the new positions are added to the set.
    package mutating func open(at inserted: IndexRanges, areMembers: Bool) {
        for index in inserted.indices { open(at: index, isMember: areMembers) }
    }

    /// Follows the removal of several elements, given by their positions before.
    package mutating func close(at removed: IndexRanges) {
        for index in removed.indices.reversed() { close(at: index) }
    }

    // MARK: - Positions among those that are no members

    /// Returns the position of the element with the given rank among those that are not in the set.
    ///
    /// - Parameter index: The rank, from 0.
    package func shifted(_ index: Int) -> Int {
        var index = index
        for range in ranges {
            guard range.lowerBound <= index else { break }
            index += range.count
        }
        return index
    }

    /// Returns the rank of an element among those that are not in the set.
    ///
    /// - Parameter index: The position of the element, which is not in the set.
    package func unshifted(_ index: Int) -> Int { index - count(below: index) }
}

// SPDX-License-Identifier: Apache-2.0

/// A set of positions in a sequence that can follow insertions and removals in that sequence.
///
/// Kept as ascending ranges that do not touch each other: what is inserted or removed in one go costs one range.
package struct IndexRanges: Sendable, Equatable {
    /// Ascending, not empty, with gaps between them.
    private var ranges: [Range<Int>] = []

    /// No positions.
    package init() {}

    /// These positions, in any order.
    package init(_ indices: [Int]) {
        for index in indices { insert(index) }
    }

    /// All positions below `count`.
    package init(below count: Int) {
        if count > 0 { ranges = [0..<count] }
    }

    /// Whether there is no position.
    package var isEmpty: Bool { ranges.isEmpty }
    /// How many positions there are.
    package var count: Int { ranges.reduce(0) { $0 + $1.count } }

    /// In ascending order.
    package var indices: [Int] { ranges.flatMap { $0 } }

    /// The first range that ends above `index`.
    private func place(of index: Int) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= index { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a position is a member.
    package func contains(_ index: Int) -> Bool {
        let place = place(of: index)
        return place < ranges.count && ranges[place].contains(index)
    }

    /// How many members are below `index`.
    package func count(below index: Int) -> Int {
        var count = 0
        for range in ranges {
            guard range.lowerBound < index else { break }
            count += min(range.upperBound, index) - range.lowerBound
        }
        return count
    }

    // MARK: - Members

    /// Makes a position a member.
    package mutating func insert(_ index: Int) {
        let place = place(of: index)
        if place < ranges.count, ranges[place].contains(index) { return }
        ranges.insert(index..<(index + 1), at: place)
        join(at: place + 1)
        join(at: place)
    }

    /// Makes a position no member; the others stay where they are.
    package mutating func remove(_ index: Int) {
        let place = place(of: index)
        guard place < ranges.count, ranges[place].contains(index) else { return }
        let range = ranges[place]
        let parts = [range.lowerBound..<index, (index + 1)..<range.upperBound].filter { !$0.isEmpty }
        ranges.replaceSubrange(place...place, with: parts)
    }

    /// Makes one of a range and the one before it when they touch.
    private mutating func join(at place: Int) {
        guard place > 0, place < ranges.count, ranges[place - 1].upperBound == ranges[place].lowerBound else { return }
        ranges[place - 1] = ranges[place - 1].lowerBound..<ranges[place].upperBound
        ranges.remove(at: place)
    }

    // MARK: - Changes of the sequence

    /// An element was put in at `index`: members from there on move up, and the element becomes one if `isMember`.
    package mutating func open(at index: Int, isMember: Bool) {
        let place = place(of: index)
        for next in place..<ranges.count {
            let range = ranges[next]
            let start = range.lowerBound >= index ? range.lowerBound + 1 : range.lowerBound
            ranges[next] = start..<(range.upperBound + 1)
        }
        // A range around `index` grew with it.
        if place < ranges.count, ranges[place].contains(index) {
            if !isMember { remove(index) }
        } else if isMember {
            insert(index)
        }
    }

    /// The element at `index` was taken out: members after it move down. Returns whether it was one.
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

    /// Elements were put in where `inserted` has them in the end.
    package mutating func open(at inserted: IndexRanges, areMembers: Bool) {
        for index in inserted.indices { open(at: index, isMember: areMembers) }
    }

    /// All elements of `removed` were taken out.
    package mutating func close(at removed: IndexRanges) {
        for index in removed.indices.reversed() { close(at: index) }
    }

    // MARK: - Positions among those that are no members

    /// The position of the element that is number `index` of those that are no members.
    package func shifted(_ index: Int) -> Int {
        var index = index
        for range in ranges {
            guard range.lowerBound <= index else { break }
            index += range.count
        }
        return index
    }

    /// Which number the element at `index`, no member, has among those that are no members.
    package func unshifted(_ index: Int) -> Int { index - count(below: index) }
}

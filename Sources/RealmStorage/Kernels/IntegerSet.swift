// SPDX-License-Identifier: Apache-2.0

/// The constants of an `IN {…}` condition, prepared once and compared with many leaves.
///
/// A few members are compared one by one with vector instructions; elements of one byte are looked up in a table of 256
/// entries; in all other cases the range of the members is tested first, and only elements inside of it are looked up.
package struct IntegerSet: Sendable {
    /// The members, distinct and ascending.
    package let values: [Int64]
    /// A table for elements of one byte, indexed by the element plus 128: 1 where it is a member.
    private let bytes: [UInt8]

    /// Makes a set of the distinct members of `values`, which may be in any order.
    ///
    /// - Complexity: O(n log n).
    package init(_ values: some Sequence<Int64>) {
        self.values = Set(values).sorted()
        var bytes = [UInt8](repeating: 0, count: 256)
        for value in self.values {
            if let byte = Int8(exactly: value) { bytes[Int(byte) + 128] = 1 }
        }
        self.bytes = bytes
    }

    /// Whether the set of constants has no members.
    package var isEmpty: Bool { values.isEmpty }

    /// Returns whether `value` is a member.
    ///
    /// - Complexity: O(log n).
    package func contains(_ value: Int64) -> Bool {
        let index = lowerBound(value)
        return index < values.count && values[index] == value
    }

    /// Returns the members in `range`, ascending.
    func members(in range: ClosedRange<Int64>) -> ArraySlice<Int64> {
        let first = lowerBound(range.lowerBound)
        let end = range.upperBound == .max ? values.count : lowerBound(range.upperBound + 1)
        return values[first..<end]
    }

    /// Returns the first index whose value is at least `value`.
    private func lowerBound(_ value: Int64) -> Int {
        var low = 0
        var high = values.count
        while low < high {
            let middle = (low + high) / 2
            if values[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns which of the `count` bytes at `run`, at most 256 and all readable, are members as signed numbers.
    fileprivate func byteMask(_ run: UnsafeRawPointer, _ count: Int) -> Mask {
        unsafe bytes.withUnsafeBufferPointer { table in
            var mask = Mask.none
            for group in 0..<4 {
                var word: UInt64 = 0
                for row in 0..<Swift.min(Swift.max(count &- group &<< 6, 0), 64) {
                    let byte = unsafe run.load(fromByteOffset: group &<< 6 &+ row, as: Int8.self)
                    // In bounds: a byte and 128 are below 256.
                    unsafe word |= UInt64(table[Int(byte) &+ 128]) &<< UInt64(truncatingIfNeeded: row)
                }
                mask.words[group] = word
            }
            return mask
        }
    }
}

/// A test of packed integers for membership in a set of constants.
extension PackedIntegers {
    /// Up to this many members are compared with the elements one by one.
    private static let comparedOneByOne = 8

    /// Returns which of the `count` elements from `start` on are members of `set`.
    ///
    /// - Parameters:
    ///   - start: The element that bit 0 of the result represents.
    ///   - count: How many elements are tested, at most 256; all of them must exist.
    package func isMember(of set: IntegerSet, start: Int = 0, count: Int) -> Mask {
        checkRun(start, count)
        let members = set.members(in: range)
        guard let least = members.first, let greatest = members.last else { return .none }
        if members.count <= PackedIntegers.comparedOneByOne || widthCode < 4 {
            return members.reduce(Mask.none) { $0 | compare(.equal, $1, start: start, count: count) }
        }
        // In bounds: the run exists and has elements of one byte.
        if widthCode == 4 { return unsafe set.byteMask(payload + start, count) }
        return isBetween(least, greatest, start: start, count: count).filter { set.contains(self[start &+ $0]) }
    }
}

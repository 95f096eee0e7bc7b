// SPDX-License-Identifier: Apache-2.0

/// The constants of an `IN {…}`, prepared once and asked for many leaves.
///
/// A few members are compared one by one with vector instructions; for elements of one byte a table of 256 entries answers; for
/// all other cases the range of the members is tested first and only what lies in it is looked up.
package struct IntegerSet: Sendable {
    /// Distinct, ascending.
    package let values: [Int64]
    /// For elements of 8 bits: 1 where -128...127, counted from -128, is a member.
    private let bytes: [UInt8]

    /// The distinct members of `values`, in any order. O(n log n).
    package init(_ values: some Sequence<Int64>) {
        self.values = Set(values).sorted()
        var bytes = [UInt8](repeating: 0, count: 256)
        for value in self.values {
            if let byte = Int8(exactly: value) { bytes[Int(byte) + 128] = 1 }
        }
        self.bytes = bytes
    }

    /// Whether there are no members.
    package var isEmpty: Bool { values.isEmpty }

    /// Whether `value` is a member; O(log n).
    package func contains(_ value: Int64) -> Bool {
        let index = lowerBound(value)
        return index < values.count && values[index] == value
    }

    /// The members in `range`.
    func members(in range: ClosedRange<Int64>) -> ArraySlice<Int64> {
        let first = lowerBound(range.lowerBound)
        let end = range.upperBound == .max ? values.count : lowerBound(range.upperBound + 1)
        return values[first..<end]
    }

    /// The first index whose value is at least `value`.
    private func lowerBound(_ value: Int64) -> Int {
        var low = 0
        var high = values.count
        while low < high {
            let middle = (low + high) / 2
            if values[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Which of `count` bytes, at most 256 and all readable, are members.
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

/// Membership of packed integers in a set of constants.
extension PackedIntegers {
    /// More members than this are not compared one by one.
    private static let comparedOneByOne = 8

    /// Which of the `count` elements from `start` on, at most 256, are members of `set`.
    ///
    /// Bit 0 of the answer is element `start`.
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

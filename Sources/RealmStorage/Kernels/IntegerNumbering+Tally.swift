// SPDX-License-Identifier: Apache-2.0

extension IntegerNumbering {
    /// Numbers the elements in the rows of a mask, and adds 1 to the counter of each number.
    ///
    /// It takes about a nanosecond for each row while the integers are small: less than numbering and counting one
    /// after the other.
    ///
    /// - Parameters:
    ///   - elements: The elements of a leaf.
    ///   - rows: The rows, whose first one is element `start`; all of them must exist.
    ///   - start: The element that row 0 represents.
    ///   - nulls: Which elements are null.
    ///   - counts: The counters. That of number `n` is `n + 1`, and the first one stays 0; new numbers get theirs.
    package mutating func tally(
        _ elements: PackedIntegers, _ rows: Mask, start: Int = 0, nulls: Nulls = .none, into counts: inout [Int]
    ) {
        guard let last = rows.last else { return }
        elements.checkRun(start, last &+ 1)
        let nulls = NullRange(nulls)
        var known = 0
        // Integers of the hash table are in no table that could be read without a branch.
        if hashedCount == 0 {
            known = count
            if counts.count <= known { counts += [Int](repeating: 0, count: known + 1 - counts.count) }
            tallyKnown(elements, from: start, rows, nulls: nulls, into: &counts)
            let unknown = counts[0]
            counts[0] = 0
            if unknown == 0 { return }
        }
        rows.forEach { row in
            let integer = elements[start &+ row]
            let number = Int(nulls.contains(integer) ? numberOfNull() : number(integer))
            guard number >= known else { return }
            if number &+ 1 >= counts.count { counts += [Int](repeating: 0, count: number &+ 2 &- counts.count) }
            counts[number &+ 1] &+= 1
        }
    }

    /// The elements that are null, as a range: one comparison finds them, whatever `Nulls` says.
    private struct NullRange {
        /// The first integer of the range.
        let first: Int64
        /// How many integers the range has.
        let count: UInt64

        init(_ nulls: Nulls) {
            switch nulls {
            case .none: (first, count) = (0, 0)
            case .equal(let null): (first, count) = (null, 1)
            case .below(let least): (first, count) = (.min, UInt64(bitPattern: least &- .min))
            }
        }

        @inline(__always) func contains(_ integer: Int64) -> Bool { UInt64(bitPattern: integer &- first) < count }
    }

    /// Adds 1 to the counters of those integers in the rows of a mask that have a number, and to the first counter for
    /// each of the others. Which of the two an integer is decides no branch.
    private func tallyKnown(
        _ elements: PackedIntegers, from start: Int, _ rows: Mask, nulls: NullRange, into counts: inout [Int]
    ) {
        unsafe counts.withUnsafeMutableBufferPointer { counts in
            // In bounds: there is a counter for each number, and one more.
            let counters = unsafe counts.baseAddress.unsafelyUnwrapped
            switch elements.widthCode {
            case 4: unsafe tallyKnown(Int8.self, elements.payload + start, rows, nulls: nulls, into: counters)
            case 5: unsafe tallyKnown(Int16.self, elements.payload + start &* 2, rows, nulls: nulls, into: counters)
            case 6: unsafe tallyKnown(Int32.self, elements.payload + start &* 4, rows, nulls: nulls, into: counters)
            case 7: unsafe tallyKnown(Int64.self, elements.payload + start &* 8, rows, nulls: nulls, into: counters)
            default:
                elements.withUnpacked(start: start, count: (rows.last ?? 0) &+ 1) { integers in
                    unsafe integers.withUnsafeBytes { bytes in
                        guard let first = bytes.baseAddress else { return }
                        unsafe tallyKnown(Int64.self, first, rows, nulls: nulls, into: counters)
                    }
                }
            }
        }
    }

    /// Counts the elements of one width in the rows of a mask, from the element of row 0 on.
    @inline(__always)
    private func tallyKnown<Element: PackedElement>(
        _: Element.Type, _ elements: UnsafeRawPointer, _ rows: Mask, nulls: NullRange, into counters: UnsafeMutablePointer<Int>
    ) {
        let counterOfNull = nullNumber.map { Int($0) &+ 1 } ?? 0
        let last = UInt64(direct.count &- 1)
        unsafe direct.withUnsafeBufferPointer { direct in
            let numbers = unsafe direct.baseAddress.unsafelyUnwrapped
            for word in 0..<4 {
                var bits = rows.words[word]
                while bits != 0 {
                    let row = word &* 64 &+ bits.trailingZeroBitCount
                    bits &= bits &- 1
                    // In bounds: the caller has checked the last row, and an index of `direct` is at most that of its last element.
                    let integer = unsafe Int64(
                        truncatingIfNeeded: elements.loadUnaligned(fromByteOffset: row &* Element.byteCount, as: Element.self))
                    let found = unsafe Int(numbers[Int(truncatingIfNeeded: min(UInt64(bitPattern: integer), last))])
                    unsafe counters[nulls.contains(integer) ? counterOfNull : found] &+= 1
                }
            }
        }
    }

    /// Adds 1 to a counter for each of some numbers.
    ///
    /// - Parameters:
    ///   - numbers: The numbers, all of which are below the length of `counts`.
    ///   - count: How many of them there are, from the beginning.
    package static func tally(_ numbers: [UInt32], count: Int, into counts: inout [Int]) {
        for index in 0..<count { counts[Int(numbers[index])] &+= 1 }
    }
}

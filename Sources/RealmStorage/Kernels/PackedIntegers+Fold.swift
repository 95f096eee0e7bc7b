// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Sums of packed integers, of whole runs and of the rows of a mask.
///
/// Sums are exact: 128 bits have room for the sum of 2^24 elements of 64 bits. A caller that needs
/// a sum modulo 2^64 takes the lower half.
extension PackedIntegers {
    /// Returns the sum of the `count` elements from `start` on, any number of them; all must exist.
    ///
    /// - Parameters:
    ///   - start: The first element of the run.
    ///   - count: How many elements the run has; a run that is not inside the array traps.
    /// - Returns: The exact sum.
    package func sum(start: Int = 0, count: Int) -> Int128 {
        var total: Int128 = 0
        forEachGroup(start, count) { first, rest in total &+= sum(first, Mask.low(rest)) }
        return total
    }

    /// Returns the sum of the elements in the rows of `mask`; row 0 is element `start`.
    ///
    /// - Parameters:
    ///   - mask: The rows to add, all of which must exist; otherwise the call traps.
    ///   - start: The element that row 0 represents.
    /// - Returns: The exact sum.
    package func sum(_ mask: Mask, start: Int = 0) -> Int128 {
        checkMask(mask, start)
        var total: Int128 = 0
        for group in 0..<4 where mask.words[group] != 0 { total &+= sum(start &+ group &<< 6, mask.words[group]) }
        return total
    }

    /// Returns the sum of the up to 64 elements from `first` on whose bit in `rows` is set.
    @inline(__always)
    private func sum(_ first: Int, _ rows: UInt64) -> Int128 {
        switch widthCode {
        case 0: return 0
        case 1, 2, 3: return Int128(narrowSum(first, rows))
        case 4: return Int128(sum(Int8.self, first, rows))
        case 5: return Int128(sum(Int16.self, first, rows))
        case 6: return Int128(sum(Int32.self, first, rows))
        default: return wideSum(first, rows)
        }
    }

    /// Returns the sum of elements of 1, 2 or 4 bits: for each bit of their width, the number of
    /// set rows with that bit, times its value.
    private func narrowSum(_ first: Int, _ rows: UInt64) -> Int64 {
        var total = 0
        for plane in 0..<width { total &+= (self.plane(plane, first) & rows).nonzeroBitCount &<< plane }
        return Int64(total)
    }

    /// Returns bit `plane` of each of 64 elements of width 1, 2 or 4, the first element in the lowest bit.
    func plane(_ plane: Int, _ first: Int) -> UInt64 {
        let width = self.width
        let shift = UInt64(truncatingIfNeeded: plane)
        if width == 1 { return fieldWord(atBit: first) }
        var bits: UInt64 = 0
        let lowest: UInt64 = width == 2 ? 0x5555_5555_5555_5555 : 0x1111_1111_1111_1111
        for part in 0..<width {
            let fields = fieldWord(atBit: first &* width &+ part &<< 6) &>> shift & lowest
            bits |= PackedIntegers.gathered(fields, width) &<< UInt64(truncatingIfNeeded: part &* 64 &>> (widthCode &- 1))
        }
        return bits
    }

    /// Returns the sum of at most 64 elements of up to 32 bits, which cannot overflow 64 bits.
    @inline(__always)
    private func sum<Element: PackedElement>(_: Element.Type, _ first: Int, _ rows: UInt64) -> Int64 {
        // In bounds: every set row exists; only a full group is read as a whole.
        let run = unsafe payload + first &* Element.byteCount
        var total: Int64 = 0
        if rows == .max {
            for index in 0..<64 {
                unsafe total &+= Int64(run.loadUnaligned(fromByteOffset: index &* Element.byteCount, as: Element.self))
            }
            return total
        }
        PackedIntegers.forEachRow(rows) { row in
            unsafe total &+= Int64(run.loadUnaligned(fromByteOffset: row &* Element.byteCount, as: Element.self))
        }
        return total
    }

    /// Returns the sum of elements of 64 bits in 128 bits, as two of them may overflow 64.
    private func wideSum(_ first: Int, _ rows: UInt64) -> Int128 {
        // In bounds: every set row exists; only a full group is read as a whole.
        let run = unsafe payload + first &* 8
        var total: Int128 = 0
        if rows == .max {
            for index in 0..<64 { unsafe total &+= Int128(run.loadUnaligned(fromByteOffset: index &* 8, as: Int64.self)) }
            return total
        }
        PackedIntegers.forEachRow(rows) { row in
            unsafe total &+= Int128(run.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self))
        }
        return total
    }
}

// MARK: - Least and greatest

/// The least and the greatest of packed integers, of whole runs and of the rows of a mask.
extension PackedIntegers {
    /// Returns the least of the `count` elements from `start` on, any number of them; nil when there are none.
    package func minimum(start: Int = 0, count: Int) -> Int64? { extreme(start, count, .least) }

    /// Returns the greatest of the `count` elements from `start` on, any number of them; nil when there are none.
    package func maximum(start: Int = 0, count: Int) -> Int64? { extreme(start, count, .greatest) }

    /// Returns the least element in the rows of `mask`; row 0 is element `start`. Nil for an empty mask.
    package func minimum(_ mask: Mask, start: Int = 0) -> Int64? { extreme(mask, start, .least) }

    /// Returns the greatest element in the rows of `mask`; row 0 is element `start`. Nil for an empty mask.
    package func maximum(_ mask: Mask, start: Int = 0) -> Int64? { extreme(mask, start, .greatest) }

    /// The end of the order of values that is searched.
    private enum Extreme {
        /// The least value is searched, or the greatest one.
        case least, greatest

        /// Returns the lesser or the greater of two numbers.
        @inline(__always)
        func better<Number: Comparable>(_ left: Number, _ right: Number) -> Number {
            self == .least ? Swift.min(left, right) : Swift.max(left, right)
        }
    }

    /// Returns the extreme of a run of any length; nil for an empty run.
    private func extreme(_ start: Int, _ count: Int, _ which: Extreme) -> Int64? {
        guard count > 0 else { return nil }
        var result = self[start]
        forEachGroup(start, count) { first, rest in
            result = which.better(result, extreme(first, Mask.low(rest), which))
        }
        return result
    }

    /// Returns the extreme of the rows of a mask; nil for an empty mask.
    private func extreme(_ mask: Mask, _ start: Int, _ which: Extreme) -> Int64? {
        checkMask(mask, start)
        var result: Int64?
        for group in 0..<4 where mask.words[group] != 0 {
            let found = extreme(start &+ group &<< 6, mask.words[group], which)
            result = result.map { which.better($0, found) } ?? found
        }
        return result
    }

    /// Returns the extreme of the up to 64 elements from `first` on whose bit in `rows` is set; at least one must be.
    private func extreme(_ first: Int, _ rows: UInt64, _ which: Extreme) -> Int64 {
        switch widthCode {
        case 0: return 0
        case 1, 2, 3: return narrowExtreme(first, rows, which)
        case 4: return extreme(as: Int8.self, first, rows, which)
        case 5: return extreme(as: Int16.self, first, rows, which)
        case 6: return extreme(as: Int32.self, first, rows, which)
        default: return extreme(as: Int64.self, first, rows, which)
        }
    }

    /// Returns the extreme of elements of 1, 2 or 4 bits. From the highest bit plane down, it keeps
    /// the rows whose bit is better, if there are any.
    private func narrowExtreme(_ first: Int, _ rows: UInt64, _ which: Extreme) -> Int64 {
        var candidates = rows
        var value: Int64 = 0
        for plane in stride(from: width &- 1, through: 0, by: -1) {
            let ones = self.plane(plane, first)
            let better = candidates & (which == .greatest ? ones : ~ones)
            if better != 0 { candidates = better }
            if (better != 0) == (which == .greatest) { value |= 1 << Int64(plane) }
        }
        return value
    }

    /// Returns the extreme of up to 64 elements of whole bytes.
    @inline(__always)
    private func extreme<Element: PackedElement>(
        as _: Element.Type, _ first: Int, _ rows: UInt64, _ which: Extreme
    ) -> Int64 {
        // In bounds: every set row exists; only a full group is read as a whole.
        let run = unsafe payload + first &* Element.byteCount
        // The x86-64 baseline has no vector instructions for the least of 64-bit numbers, so these are
        // compared one by one.
        if rows == .max, Element.bitWidth < 64 {
            return unsafe Int64(which == .least ? fullMinimum(run) as Element : fullMaximum(run) as Element)
        }
        var result = which == .least ? Element.max : Element.min
        PackedIntegers.forEachRow(rows) { row in
            result = unsafe which.better(result, run.loadUnaligned(fromByteOffset: row &* Element.byteCount, as: Element.self))
        }
        return Int64(result)
    }

    /// Returns the least of exactly 64 elements, in a loop that the compiler turns into vector instructions.
    @inline(__always)
    private func fullMinimum<Element: PackedElement>(_ run: UnsafeRawPointer) -> Element {
        var result = Element.max
        for index in 0..<64 {
            result = unsafe Swift.min(result, run.loadUnaligned(fromByteOffset: index &* Element.byteCount, as: Element.self))
        }
        return result
    }

    /// Returns the greatest of exactly 64 elements, in a loop that the compiler turns into vector instructions.
    @inline(__always)
    private func fullMaximum<Element: PackedElement>(_ run: UnsafeRawPointer) -> Element {
        var result = Element.min
        for index in 0..<64 {
            result = unsafe Swift.max(result, run.loadUnaligned(fromByteOffset: index &* Element.byteCount, as: Element.self))
        }
        return result
    }
}

// MARK: - Groups of 64

/// The division of runs and masks into groups of 64 elements.
extension PackedIntegers {
    /// Divides a run of any length into groups of up to 64 elements and calls `body` with each, in order.
    @inline(__always)
    func forEachGroup(_ start: Int, _ count: Int, _ body: (_ first: Int, _ count: Int) -> Void) {
        precondition(start >= 0 && count >= 0 && start <= self.count - count, "a run outside its packed array")
        var done = 0
        while done < count {
            body(start &+ done, Swift.min(count &- done, 64))
            done &+= 64
        }
    }

    /// Traps when a mask has rows after the end of the array, which would be a bug of the caller.
    @inline(__always)
    func checkMask(_ mask: Mask, _ start: Int) {
        let room = Swift.max(count &- start, 0)
        precondition(
            start >= 0 && (room >= Mask.capacity || mask.subtracting(Mask(first: room)).isEmpty),
            "rows outside their packed array")
    }

    /// Calls `body` with the position of each set bit, in ascending order.
    @inline(__always)
    static func forEachRow(_ rows: UInt64, _ body: (Int) -> Void) {
        var rest = rows
        while rest != 0 {
            body(rest.trailingZeroBitCount)
            rest &= rest &- 1
        }
    }
}

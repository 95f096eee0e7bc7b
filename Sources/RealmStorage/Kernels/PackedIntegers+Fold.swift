// SPDX-License-Identifier: Apache-2.0

/// Sums of packed integers, whole runs and rows of a mask.
///
/// Sums are exact: 128 bits hold the sum of 2^24 elements of 64 bits with room to spare. What wraps around at
/// 64 bits takes the lower half.
extension PackedIntegers {
    /// The sum of the `count` elements from `start` on; any number of them.
    package func sum(start: Int = 0, count: Int) -> Int128 {
        var total: Int128 = 0
        forEachGroup(start, count) { first, rest in total &+= sum(first, Mask.low(rest)) }
        return total
    }

    /// The sum of the elements in the rows of `mask`, row 0 being element `start`.
    package func sum(_ mask: Mask, start: Int = 0) -> Int128 {
        checkMask(mask, start)
        var total: Int128 = 0
        for group in 0..<4 where mask.words[group] != 0 { total &+= sum(start &+ group &<< 6, mask.words[group]) }
        return total
    }

    /// The sum of the up to 64 elements from `first` on whose bit is set.
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

    /// Every bit of the elements counts once in each set row.
    private func narrowSum(_ first: Int, _ rows: UInt64) -> Int64 {
        var total = 0
        for plane in 0..<width { total &+= (self.plane(plane, first) & rows).nonzeroBitCount &<< plane }
        return Int64(total)
    }

    /// Bit `plane` of 64 elements of width 1, 2 or 4.
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

    /// At most 64 elements of 32 bits: far from overflow.
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

    /// The sum of elements of 64 bits, of which two may overflow 64 bits already.
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

/// Sums of runs and of the rows of a mask.
extension PackedIntegers {
    /// The least of the `count` elements from `start` on, any number of them; nil when there are none.
    package func minimum(start: Int = 0, count: Int) -> Int64? { extreme(start, count, .least) }

    /// The greatest of the `count` elements from `start` on, any number of them; nil when there are none.
    package func maximum(start: Int = 0, count: Int) -> Int64? { extreme(start, count, .greatest) }

    /// The least element in the rows of `mask`, row 0 being element `start`; nil for an empty mask.
    package func minimum(_ mask: Mask, start: Int = 0) -> Int64? { extreme(mask, start, .least) }

    /// The greatest element in the rows of `mask`, row 0 being element `start`; nil for an empty mask.
    package func maximum(_ mask: Mask, start: Int = 0) -> Int64? { extreme(mask, start, .greatest) }

    /// Which end of the values is looked for.
    private enum Extreme {
        /// Which end of the values is looked for.
        case least, greatest

        /// The lesser or the greater of two numbers.
        @inline(__always)
        func better<Number: Comparable>(_ left: Number, _ right: Number) -> Number {
            self == .least ? Swift.min(left, right) : Swift.max(left, right)
        }
    }

    /// Of a run of any length; nil for none.
    private func extreme(_ start: Int, _ count: Int, _ which: Extreme) -> Int64? {
        guard count > 0 else { return nil }
        var result = self[start]
        forEachGroup(start, count) { first, rest in
            result = which.better(result, extreme(first, Mask.low(rest), which))
        }
        return result
    }

    /// Of the rows of a mask; nil for none.
    private func extreme(_ mask: Mask, _ start: Int, _ which: Extreme) -> Int64? {
        checkMask(mask, start)
        var result: Int64?
        for group in 0..<4 where mask.words[group] != 0 {
            let found = extreme(start &+ group &<< 6, mask.words[group], which)
            result = result.map { which.better($0, found) } ?? found
        }
        return result
    }

    /// Of the up to 64 elements from `first` on whose bit is set; at least one is.
    private func extreme(_ first: Int, _ rows: UInt64, _ which: Extreme) -> Int64 {
        switch widthCode {
        case 0: return 0
        case 1, 2, 3: return narrowExtreme(first, rows, which)
        case 4: return extreme(Int8.self, first, rows, which)
        case 5: return extreme(Int16.self, first, rows, which)
        case 6: return extreme(Int32.self, first, rows, which)
        default: return extreme(Int64.self, first, rows, which)
        }
    }

    /// From the highest plane down, keeps the rows whose bit is better, if there are any.
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

    /// Of up to 64 elements of whole bytes.
    @inline(__always)
    private func extreme<Element: PackedElement>(
        _: Element.Type, _ first: Int, _ rows: UInt64, _ which: Extreme
    ) -> Int64 {
        // In bounds: every set row exists; only a full group is read as a whole.
        let run = unsafe payload + first &* Element.byteCount
        // The x86-64 baseline has no vector instructions for the least of 64-bit numbers; one by one is faster there.
        if rows == .max, Element.bitWidth < 64 {
            return unsafe Int64(which == .least ? fullMinimum(run) as Element : fullMaximum(run) as Element)
        }
        var result = which == .least ? Element.max : Element.min
        PackedIntegers.forEachRow(rows) { row in
            result = unsafe which.better(result, run.loadUnaligned(fromByteOffset: row &* Element.byteCount, as: Element.self))
        }
        return Int64(result)
    }

    /// Of exactly 64 elements; a loop that the compiler turns into vector instructions.
    @inline(__always)
    private func fullMinimum<Element: PackedElement>(_ run: UnsafeRawPointer) -> Element {
        var result = Element.max
        for index in 0..<64 {
            result = unsafe Swift.min(result, run.loadUnaligned(fromByteOffset: index &* Element.byteCount, as: Element.self))
        }
        return result
    }

    /// Of exactly 64 elements; a loop that the compiler turns into vector instructions.
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

/// The least and the greatest of runs and of the rows of a mask.
extension PackedIntegers {
    /// Cuts a run of any length into groups of up to 64 elements.
    @inline(__always)
    func forEachGroup(_ start: Int, _ count: Int, _ body: (_ first: Int, _ count: Int) -> Void) {
        precondition(start >= 0 && count >= 0 && start <= self.count - count, "a run outside its packed array")
        var done = 0
        while done < count {
            body(start &+ done, Swift.min(count &- done, 64))
            done &+= 64
        }
    }

    /// Rows after the end of the array would be a bug of the caller.
    @inline(__always)
    func checkMask(_ mask: Mask, _ start: Int) {
        let room = Swift.max(count &- start, 0)
        precondition(
            start >= 0 && (room >= Mask.capacity || mask.subtracting(Mask(first: room)).isEmpty),
            "rows outside their packed array")
    }

    /// Calls `body` with the position of each set bit, ascending.
    @inline(__always)
    static func forEachRow(_ rows: UInt64, _ body: (Int) -> Void) {
        var rest = rows
        while rest != 0 {
            body(rest.trailingZeroBitCount)
            rest &= rest &- 1
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Comparison of one run of packed integers with another of the same length.
extension PackedIntegers {
    /// Returns which elements compare with the element of `other` at the same place as `op` demands.
    ///
    /// Element `start + i` of this array is compared with element `otherStart + i` of the other one, for `i` below `count`. The
    /// widths of the arrays may differ: both runs are widened to 64 bits, 64 elements at a time.
    ///
    /// - Parameters:
    ///   - op: The relation of this array's element to that of `other`.
    ///   - other: The other array.
    ///   - start: The element of this array that bit 0 of the result represents.
    ///   - otherStart: The element of the other array that bit 0 of the result represents.
    ///   - count: How many elements are compared, at most 256; all of them must exist.
    package func compare(
        _ op: Relation, with other: PackedIntegers, start: Int = 0, otherStart: Int = 0, count: Int
    ) -> Mask {
        checkRun(start, count)
        other.checkRun(otherStart, count)
        switch op {
        case .equal: return columns(other, from: start, otherStart: otherStart, count: count, Int64.equal)
        case .notEqual:
            return columns(other, from: start, otherStart: otherStart, count: count, Int64.equal).inverted(first: count)
        case .greater: return columns(other, from: start, otherStart: otherStart, count: count, Int64.greater)
        case .lessOrEqual:
            return columns(other, from: start, otherStart: otherStart, count: count, Int64.greater).inverted(first: count)
        case .less: return other.columns(self, from: otherStart, otherStart: start, count: count, Int64.greater)
        case .greaterOrEqual:
            return other.columns(self, from: otherStart, otherStart: start, count: count, Int64.greater).inverted(first: count)
        }
    }

    /// Compares 64 elements of both runs at a time with `test`.
    @inline(__always)
    private func columns(
        _ other: PackedIntegers, from start: Int, otherStart: Int, count: Int,
        _ test: (SIMD16<Int64>, SIMD16<Int64>) -> ByteLanes
    ) -> Mask {
        unsafe withUnsafeTemporaryAllocation(of: Int64.self, capacity: 128) { room in
            unsafe room.initialize(repeating: 0)
            let left = unsafe room.baseAddress.unsafelyUnwrapped
            // In bounds: 64 numbers for each side.
            let right = unsafe left + 64
            var words = SIMD4<UInt64>.zero
            for group in 0..<4 {
                let first = group &<< 6
                let rest = Swift.min(count &- first, 64)
                var word: UInt64 = 0
                if rest > 0 {
                    unsafe unpack(start &+ first, rest, into: left)
                    unsafe other.unpack(otherStart &+ first, rest, into: right)
                    word = unsafe LanePacking.word(
                        of: test(Int64.load(left, 0), Int64.load(right, 0)), test(Int64.load(left, 16), Int64.load(right, 16)),
                        test(Int64.load(left, 32), Int64.load(right, 32)), test(Int64.load(left, 48), Int64.load(right, 48)))
                }
                words = SIMD4(words[1], words[2], words[3], word)
            }
            return Mask(words: words) & Mask(first: count)
        }
    }

    /// Calls `body` with a run of elements, widened to 64 bits.
    ///
    /// - Parameters:
    ///   - start: The first element of the run.
    ///   - count: How many elements the run has, at most 256; all of them must exist.
    ///   - body: Uses the elements, which are valid only during the call.
    /// - Returns: The result of `body`, whose errors are rethrown.
    func withUnpacked<Result, Failure: Error>(
        start: Int, count: Int, _ body: (Span<Int64>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        checkRun(start, count)
        return try unsafe withUnsafeTemporaryAllocation(
            of: Int64.self, capacity: Mask.capacity
        ) { (room) throws(Failure) in
            unsafe room.initialize(repeating: 0)
            // In bounds: room for 256, and groups end with the run.
            let target = unsafe room.baseAddress.unsafelyUnwrapped
            for first in stride(from: 0, to: count, by: 64) {
                unsafe unpack(start &+ first, Swift.min(count &- first, 64), into: target + first)
            }
            return try unsafe body(UnsafeBufferPointer(start: target, count: count).span)
        }
    }

    /// Widens at most 64 elements from `start` on to 64 bits; they must exist, and `target` must have room for them.
    func unpack(_ start: Int, _ count: Int, into target: UnsafeMutablePointer<Int64>) {
        switch widthCode {
        case 0: unsafe target.update(repeating: 0, count: count)
        case 1, 2, 3: unsafe unpackNarrow(start, count, into: target)
        case 4: unsafe widen(Int8.self, start, count, into: target)
        case 5: unsafe widen(Int16.self, start, count, into: target)
        case 6: unsafe widen(Int32.self, start, count, into: target)
        default: unsafe widen(Int64.self, start, count, into: target)
        }
    }

    /// Widens `count` elements of 8, 16, 32 or 64 bits from `start` on to 64 bits each, and stores them from `target` on.
    @inline(__always)
    private func widen<Element: PackedElement>(
        _: Element.Type, _ start: Int, _ count: Int, into target: UnsafeMutablePointer<Int64>
    ) {
        // In bounds: the caller's elements exist, and this is their size.
        let source = unsafe payload + start &* Element.byteCount
        for index in 0..<count {
            unsafe target[index] = unsafe Int64(
                truncatingIfNeeded: source.loadUnaligned(
                    fromByteOffset: index &* Element.byteCount, as: Element.self))
        }
    }

    /// Widens `count` elements of 1, 2 or 4 bits from `start` on to 64 bits each, and stores them from
    /// `target` on. It reads the payload a word at a time.
    private func unpackNarrow(_ start: Int, _ count: Int, into target: UnsafeMutablePointer<Int64>) {
        let width = self.width
        let perWord = 64 &>> (widthCode &- 1)
        let ones = (1 as UInt64) &<< UInt64(truncatingIfNeeded: width) &- 1
        var index = 0
        while index < count {
            var word = fieldWord(atBit: (start &+ index) &* width)
            let end = Swift.min(index &+ perWord, count)
            while index < end {
                unsafe target[index] = Int64(bitPattern: word & ones)
                word &>>= UInt64(truncatingIfNeeded: width)
                index &+= 1
            }
        }
    }
}

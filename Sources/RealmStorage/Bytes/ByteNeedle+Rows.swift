// SPDX-License-Identifier: Apache-2.0

/// How a needle has to stand in a text.
package enum TextRelation: Sendable { case equal, prefix, suffix, part }

/// Searches over all texts of a leaf at once.
///
/// The texts of a leaf lie one after another in memory, so the needle is looked for in all of that memory, and only what
/// is found is traced back to its row. Needles are not empty here, and leaves have at most `Mask.capacity` rows.
extension ByteNeedle {
    /// The rows of short cells (see `StringLeaf`) whose text the needle relates to so.
    ///
    /// `cells` is a whole number of cells of `width` bytes, a power of two. A cell with an impossible padding count
    /// matches nothing.
    func rows(_ relation: TextRelation, cells: ByteView, width: Int) -> Mask {
        guard let base = cells.start, width > count else { return .none }
        assert(count > 0 && width.nonzeroBitCount == 1 && cells.count % width == 0 && cells.count / width <= Mask.capacity)
        if relation == .part { return rowsContaining(cells: base, cells.count, width) }
        var rows = Mask.none
        for row in 0..<cells.count / width {
            let cell = base + row * width
            let byteCount = width - 1 - Int(cell[width - 1])
            if relates(relation, cell, byteCount) { rows[row] = true }
        }
        return rows
    }

    /// The rows of a medium leaf (see `BlobLeaf`) whose text the needle relates to so, or nil when the offsets are not
    /// those of texts with a final zero byte each; then the rows have to be looked at one by one to find the damage.
    func rows(_ relation: TextRelation, blob: ByteView, ends: PackedIntegers, nulls: PackedIntegers) -> Mask? {
        assert(count > 0 && ends.count <= Mask.capacity && nulls.count == ends.count)
        guard let base = blob.start, ends.count > 0 else { return Mask.none }
        return withUnsafeTemporaryAllocation(of: Int32.self, capacity: ends.count) { offsets in
            guard ends.decode(into: offsets, limit: blob.count), ByteNeedle.areTerminated(base, offsets) else { return nil }
            var rows = relation == .part ? rowsContaining(blob: base, offsets) : rowsOneByOne(relation, base, offsets)
            rows.forEach { if nulls[$0] != 0 { rows[$0] = false } }
            return rows
        }
    }

    /// Does the needle stand so in the text of `byteCount` bytes at `text`?
    @inline(__always)
    private func relates(_ relation: TextRelation, _ text: UnsafePointer<UInt8>, _ byteCount: Int) -> Bool {
        switch relation {
        case .equal: return byteCount == count && fits(text)
        case .prefix: return byteCount >= count && fits(text)
        case .suffix: return byteCount >= count && fits(text + (byteCount - count))
        case .part: return isPart(of: ByteView(start: text, count: Swift.max(byteCount, 0)))
        }
    }

    private func rowsOneByOne(
        _ relation: TextRelation, _ base: UnsafePointer<UInt8>, _ ends: UnsafeMutableBufferPointer<Int32>
    ) -> Mask {
        var rows = Mask.none
        var first = 0
        for row in 0..<ends.count {
            let end = Int(ends[row])
            if relates(relation, base + first, end - 1 - first) { rows[row] = true }
            first = end
        }
        return rows
    }

    private func rowsContaining(cells base: UnsafePointer<UInt8>, _ byteCount: Int, _ width: Int) -> Mask {
        let shift = width.trailingZeroBitCount
        var rows = Mask.none
        forEachCandidate(base, byteCount) { position in
            let row = position >> shift
            let cellEnd = (row + 1) << shift
            // The text ends where the padding begins; what lies behind it is no match.
            guard position + count < cellEnd - Int(base[cellEnd - 1]) else { return cellEnd }
            guard fits(base + position) else { return position + 1 }
            rows[row] = true
            return cellEnd
        }
        return rows
    }

    private func rowsContaining(blob base: UnsafePointer<UInt8>, _ ends: UnsafeMutableBufferPointer<Int32>) -> Mask {
        var rows = Mask.none
        var row = 0
        forEachCandidate(base, Int(ends[ends.count - 1])) { position in
            // Ends: candidates lie before the last end.
            while Int(ends[row]) <= position { row += 1 }
            let end = Int(ends[row])
            guard position + count < end else { return end }
            guard fits(base + position) else { return position + 1 }
            rows[row] = true
            return end
        }
        return rows
    }

    /// Calls `body` with the positions in `text` at which both probes fit and the needle ends inside, ascending.
    /// It returns the position from which on it wants to hear of more.
    @inline(__always)
    private func forEachCandidate(_ text: UnsafePointer<UInt8>, _ byteCount: Int, _ body: (Int) -> Int) {
        let positions = byteCount - count + 1
        guard positions >= 64 else { return forEachCandidateInFew(text, positions, body) }
        var resume = 0
        var block = 0
        while block < positions {
            // The last block is one that ends with the last position; what came before is masked out. In bounds: the
            // last position plus the needle's length is the byte count, and probes lie inside the needle.
            let start = Swift.min(block, positions - 64)
            var word = candidateWord(text + start) & (.max &<< UInt64(truncatingIfNeeded: block - start))
            while word != 0 {
                let position = start + word.trailingZeroBitCount
                word &= word &- 1
                if position >= resume { resume = body(position) }
            }
            block += 64
        }
    }

    @inline(__always)
    private func forEachCandidateInFew(_ text: UnsafePointer<UInt8>, _ positions: Int, _ body: (Int) -> Int) {
        var position = 0
        while position < positions {
            let isCandidate = probe.fits(text + position) && secondProbe.fits(text + position)
            position = isCandidate ? body(position) : position + 1
        }
    }

    /// Bit `i`: do both probes fit `i` bytes behind `text`?
    @inline(__always) private func candidateWord(_ text: UnsafePointer<UInt8>) -> UInt64 {
        let a = lanes(text), b = lanes(text + 16), c = lanes(text + 32), d = lanes(text + 48)
        let any = unsafeBitCast((a | b) | (c | d), to: SIMD2<UInt64>.self)
        return any[0] | any[1] == 0 ? 0 : LanePacking.word(a, b, c, d)
    }

    /// Does each text end with a zero byte?
    private static func areTerminated(_ base: UnsafePointer<UInt8>, _ ends: UnsafeMutableBufferPointer<Int32>) -> Bool {
        // In bounds: decoded ends are above zero and inside the bytes.
        var bits: UInt8 = 0
        for end in ends { bits |= base[Int(end) - 1] }
        return bits == 0
    }
}

extension PackedIntegers {
    /// Copies all elements; false unless they ascend strictly from above 0 to at most `limit`.
    fileprivate func decode(into target: UnsafeMutableBufferPointer<Int32>, limit: Int) -> Bool {
        switch widthCode {
        case 4: return decode(Int8.self, into: target, limit: limit)
        case 5: return decode(Int16.self, into: target, limit: limit)
        case 6: return decode(Int32.self, into: target, limit: limit)
        default: return decodeOneByOne(into: target, limit: limit)
        }
    }

    /// In bounds: `count` elements of this size lie in the payload, and the target has room for them.
    private func decode<Number: FixedWidthInteger & SignedInteger>(
        _: Number.Type, into target: UnsafeMutableBufferPointer<Int32>, limit: Int
    ) -> Bool {
        var previous: Int32 = 0
        var isAscending = true
        for index in 0..<count {
            let offset = index &* MemoryLayout<Number>.size
            let end = Int32(truncatingIfNeeded: Number(littleEndian: payload.loadUnaligned(fromByteOffset: offset, as: Number.self)))
            isAscending = isAscending && previous < end
            target[index] = end
            previous = end
        }
        return isAscending && Int(previous) <= limit
    }

    private func decodeOneByOne(into target: UnsafeMutableBufferPointer<Int32>, limit: Int) -> Bool {
        var previous: Int32 = 0
        for index in 0..<count {
            guard let end = Int32(exactly: self[index]), previous < end, Int(end) <= limit else { return false }
            target[index] = end
            previous = end
        }
        return true
    }
}

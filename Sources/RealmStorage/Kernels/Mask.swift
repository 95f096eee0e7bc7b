// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A set of rows of a cluster leaf as one bit per row, 256 rows at most. Bit `i` is row `i`.
///
/// A query combines the masks of its conditions with and, or and not, and reads single rows only where a bit is set. Masks are
/// values of 32 bytes in a vector register; none of them is allocated.
package struct Mask: Equatable, Sendable {
    /// How many rows a mask can have.
    package static let capacity = 256

    /// The bits as four words of 64 rows each, the lowest rows first.
    package var words: SIMD4<UInt64>

    /// Makes a mask from its four words, the lowest rows first.
    @inlinable package init(words: SIMD4<UInt64>) { self.words = words }

    /// The mask in which no row is set.
    package static let none = Mask(words: .zero)

    /// Makes a mask of the first `count` rows; `count` is clamped to 0...256.
    @inlinable package init(first count: Int) {
        guard count < Mask.capacity else {
            words = SIMD4(repeating: .max)
            return
        }
        words = SIMD4(Mask.low(count), Mask.low(count &- 64), Mask.low(count &- 128), Mask.low(count &- 192))
    }

    /// Returns a word with its lowest `count` bits set; `count` is clamped to 0...64.
    @inlinable @inline(__always) static func low(_ count: Int) -> UInt64 {
        guard count < 64 else { return .max }
        return count <= 0 ? 0 : (1 &<< UInt64(truncatingIfNeeded: count)) &- 1
    }

    /// Whether no row is set in the mask.
    @inlinable @inline(__always) package var isEmpty: Bool { (words[0] | words[1] | words[2] | words[3]) == 0 }

    /// How many rows are set in the mask.
    @inlinable @inline(__always) package var count: Int {
        words[0].nonzeroBitCount &+ words[1].nonzeroBitCount &+ words[2].nonzeroBitCount &+ words[3].nonzeroBitCount
    }

    /// Whether a row is set. Only the lowest eight bits of `row` are used, so no row is out of range.
    @inlinable package subscript(row: Int) -> Bool {
        get { words[(row >> 6) & 3] >> UInt64(row & 63) & 1 == 1 }
        set {
            let bit: UInt64 = 1 << UInt64(row & 63)
            if newValue { words[(row >> 6) & 3] |= bit } else { words[(row >> 6) & 3] &= ~bit }
        }
    }

    /// Returns the rows that are set in both masks.
    @inlinable package static func & (left: Mask, right: Mask) -> Mask { Mask(words: left.words & right.words) }
    /// Returns the rows that are set in at least one of the masks.
    @inlinable package static func | (left: Mask, right: Mask) -> Mask { Mask(words: left.words | right.words) }
    /// Returns the rows that are set here and not in `other`.
    @inlinable package func subtracting(_ other: Mask) -> Mask { Mask(words: words & ~other.words) }

    /// Returns the mask in which each row is set whose lower neighbour is set here; the highest row is lost.
    func shiftedUp() -> Mask {
        let carried = SIMD4<UInt64>(0, words[0] &>> 63, words[1] &>> 63, words[2] &>> 63)
        return Mask(words: words &<< 1 | carried)
    }

    /// Returns the rows among the first `count` that are not set here.
    @inlinable package func inverted(first count: Int) -> Mask { Mask(first: count).subtracting(self) }
}

/// Loops over the rows of a mask, and search of a row by its rank.
extension Mask {
    /// Calls `body` with every set row in ascending order, and rethrows what it throws.
    ///
    /// - Complexity: O(number of set rows).
    @inlinable package func forEach<Failure: Error>(_ body: (Int) throws(Failure) -> Void) throws(Failure) {
        for index in 0..<4 {
            var word = words[index]
            while word != 0 {
                try body(index &<< 6 &+ word.trailingZeroBitCount)
                word &= word &- 1
            }
        }
    }

    /// Returns the set rows for which `predicate` is true; it is called in ascending order, and what it throws is rethrown.
    @inlinable package func filter<Failure: Error>(_ predicate: (Int) throws(Failure) -> Bool) throws(Failure) -> Mask {
        var result = self
        for index in 0..<4 {
            var word = words[index]
            var kept = word
            while word != 0 {
                let bit = word & (0 &- word)
                if try !predicate(index &<< 6 &+ word.trailingZeroBitCount) { kept ^= bit }
                word ^= bit
            }
            result.words[index] = kept
        }
        return result
    }

    /// Returns the set rows for which `predicate` is true, without a branch for its result. For
    /// cheap tests whose outcome cannot be predicted.
    @inlinable @inline(__always)
    package func filtered(_ predicate: (Int) -> Bool) -> Mask {
        var result = SIMD4<UInt64>.zero
        for index in 0..<4 {
            var word = words[index]
            var kept: UInt64 = 0
            while word != 0 {
                let row = word.trailingZeroBitCount
                kept |= (predicate(index &<< 6 &+ row) ? 1 : 0) &<< UInt64(truncatingIfNeeded: row)
                word &= word &- 1
            }
            // Shifting the words along keeps them in registers where a variable subscript would not.
            result = SIMD4(result[1], result[2], result[3], kept)
        }
        return Mask(words: result)
    }

    /// Returns whether `predicate` is true for all set rows; it is called for each of them.
    @inline(__always)
    func allSatisfy(_ predicate: (Int) -> Bool) -> Bool {
        var holds = true
        forEach { if !predicate($0) { holds = false } }
        return holds
    }

    /// The lowest set row, or nil for an empty mask.
    @inlinable package var first: Int? {
        for index in 0..<4 where words[index] != 0 { return index << 6 + words[index].trailingZeroBitCount }
        return nil
    }

    /// The highest set row, or nil for an empty mask.
    @inlinable package var last: Int? {
        for index in stride(from: 3, through: 0, by: -1) where words[index] != 0 {
            return index << 6 + 63 - words[index].leadingZeroBitCount
        }
        return nil
    }

    /// Returns the lowest `limit` set rows, or all when there are fewer.
    @inlinable package func prefix(_ limit: Int) -> Mask {
        guard let end = row(ofRank: limit) else { return self }
        return self & Mask(first: end)
    }

    /// Returns all set rows but the lowest `skipped`.
    @inlinable package func dropFirst(_ skipped: Int) -> Mask {
        guard skipped > 0 else { return self }
        guard let start = row(ofRank: skipped) else { return .none }
        return subtracting(Mask(first: start))
    }

    /// Returns the set row that has `rank` set rows below it, or nil when there are too few.
    @inlinable package func row(ofRank rank: Int) -> Int? {
        guard rank >= 0 else { return nil }
        var rest = rank
        for index in 0..<4 {
            var word = words[index]
            let count = word.nonzeroBitCount
            guard rest < count else {
                rest -= count
                continue
            }
            for _ in 0..<rest { word &= word &- 1 }
            return index << 6 + word.trailingZeroBitCount
        }
        return nil
    }
}

// SPDX-License-Identifier: Apache-2.0

/// One bit per row of a cluster leaf: 256 rows at most. Bit `i` is row `i`.
package struct Mask: Equatable, Sendable {
    package var words: SIMD4<UInt64>

    @inlinable package init(words: SIMD4<UInt64>) { self.words = words }

    package static let none = Mask(words: .zero)

    /// The first `count` rows, 0...256.
    @inlinable package init(first count: Int) {
        var words = SIMD4<UInt64>.zero
        for index in 0..<4 {
            let bits = min(max(count - index * 64, 0), 64)
            words[index] = bits == 64 ? .max : (1 << UInt64(bits)) - 1
        }
        self.words = words
    }

    @inlinable package var isEmpty: Bool { words == .zero }

    /// How many rows are set.
    @inlinable package var count: Int {
        words[0].nonzeroBitCount + words[1].nonzeroBitCount + words[2].nonzeroBitCount + words[3].nonzeroBitCount
    }

    @inlinable package subscript(row: Int) -> Bool {
        get { words[(row >> 6) & 3] >> UInt64(row & 63) & 1 == 1 }
        set {
            let bit: UInt64 = 1 << UInt64(row & 63)
            if newValue { words[(row >> 6) & 3] |= bit } else { words[(row >> 6) & 3] &= ~bit }
        }
    }

    @inlinable package static func & (left: Mask, right: Mask) -> Mask { Mask(words: left.words & right.words) }
    @inlinable package static func | (left: Mask, right: Mask) -> Mask { Mask(words: left.words | right.words) }
    @inlinable package func subtracting(_ other: Mask) -> Mask { Mask(words: words & ~other.words) }

    /// Calls `body` with every set row, ascending.
    @inlinable package func forEach<Failure: Error>(_ body: (Int) throws(Failure) -> Void) throws(Failure) {
        for index in 0..<4 {
            var word = words[index]
            while word != 0 {
                try body(index << 6 + word.trailingZeroBitCount)
                word &= word &- 1
            }
        }
    }

    /// The lowest set row, or nil.
    @inlinable package var first: Int? {
        for index in 0..<4 where words[index] != 0 { return index << 6 + words[index].trailingZeroBitCount }
        return nil
    }
}

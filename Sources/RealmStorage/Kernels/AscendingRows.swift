// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Collects rows that are added in ascending order into a mask, without writing to a vector for
/// each of them.
///
/// The word of the present group of 64 rows stays in a register until the next group begins;
/// setting bits of a vector by a variable index would cost several instructions for each row.
struct AscendingRows {
    /// The words of the groups of 64 rows that are complete.
    private var words = SIMD4<UInt64>.zero
    /// The word of the group that rows are added to.
    private var word: UInt64 = 0
    /// The number, 0 to 3, of the group of 64 rows that rows are added to.
    private var group = 0

    /// Adds a row.
    ///
    /// - Parameter row: A row below 256 that is not below any row added before.
    @inline(__always)
    mutating func insert(_ row: Int) {
        if row &>> 6 != group { close(row &>> 6) }
        word |= 1 &<< UInt64(truncatingIfNeeded: row)
    }

    /// Stores the word of the present group and begins group `next`.
    private mutating func close(_ next: Int) {
        words[group & 3] = word
        word = 0
        group = next
    }

    /// The mask of the rows that were added.
    ///
    /// Rows may still be added after it was read.
    var mask: Mask {
        var words = self.words
        words[group & 3] = word
        return Mask(words: words)
    }
}

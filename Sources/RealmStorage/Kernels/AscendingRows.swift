// SPDX-License-Identifier: Apache-2.0

/// Collects rows that come in ascending order, without touching a vector for each.
///
/// The word of the current group stays in a register until the next group begins; setting bits of a vector by a variable index
/// would cost several instructions for each row.
struct AscendingRows {
    /// The groups that are complete.
    private var words = SIMD4<UInt64>.zero
    /// The group that rows are added to.
    private var word: UInt64 = 0
    /// Which of the four groups that is.
    private var group = 0

    /// `row` is below 256 and not below any row added before.
    @inline(__always)
    mutating func insert(_ row: Int) {
        if row &>> 6 != group { close(row &>> 6) }
        word |= 1 &<< UInt64(truncatingIfNeeded: row)
    }

    /// Stores the present group and goes on with another.
    private mutating func close(_ next: Int) {
        words[group & 3] = word
        word = 0
        group = next
    }

    /// The rows that were added.
    var mask: Mask {
        var words = self.words
        words[group & 3] = word
        return Mask(words: words)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The positions in a run of bytes at which a pattern occurs, one bit each.
///
/// It is made by `BytePattern.withMatches` for all texts of a leaf together, and valid during that
/// call only. Whether one of the texts has a match is then a test of a few bits.
@safe struct TextMatches {
    /// The words with the bits, and one more word, which is 0.
    let words: UnsafeRawPointer
    /// The number of positions, which is that of the bytes that were searched.
    let count: Int

    /// Returns whether there is a match at one of `positions` positions from `first` on. Positions
    /// outside the run do not count.
    ///
    /// - Parameters:
    ///   - first: The first position that is tested.
    ///   - positions: How many positions are tested; a number below 1 has no match.
    @inline(__always)
    func contains(_ first: Int, _ positions: Int) -> Bool {
        var position = first
        var rest = Swift.min(positions, count &- first)
        guard position >= 0 else { return false }
        while rest > 0 {
            // In bounds: `position` is below the count, and a whole word follows the last one with bits.
            let word =
                unsafe words.loadUnaligned(fromByteOffset: position &>> 3, as: UInt64.self)
                &>> UInt64(truncatingIfNeeded: position & 7)
            // At least 57 bits of the word are left after shifting, which mostly is enough.
            let isFound = word & Mask.low(Swift.min(rest, 57)) != 0
            if rest <= 57 { return isFound }
            if isFound { return true }
            position &+= 57
            rest &-= 57
        }
        return false
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The rule of letter case for `[c]` in queries: simple, fixed and independent of any locale.
///
/// A–Z match a–z, and U+00C0–U+00DE match U+00E0–U+00FE, except × and ÷. In UTF-8 both pairs differ in one bit, 0x20, of one
/// byte: the letter itself, or the byte after 0xC3. So folding never changes a length, and whether a byte folds follows from it
/// and the one before. Source: realm-core `unicode.cpp`.
package enum CaseFolding {
    /// The bit in which the two cases of a letter differ.
    @usableFromInline static let caseBit: UInt8 = 0x20

    /// Returns whether `byte` has another letter case.
    ///
    /// - Parameters:
    ///   - byte: A byte of a UTF-8 text.
    ///   - previous: The byte before it; 0 at the start.
    @inlinable static func isLetter(_ byte: UInt8, after previous: UInt8) -> Bool {
        let lower = byte | caseBit
        if byte < 0x80 { return lower >= 0x61 && lower <= 0x7a }
        return previous == 0xc3 && lower >= 0xa0 && lower <= 0xbe && lower != 0xb7 && byte < 0xc0
    }

    /// Returns `byte` in lower case if it is part of a letter, else as it is. `previous` is the byte before it.
    @inlinable static func folded(_ byte: UInt8, after previous: UInt8) -> UInt8 {
        isLetter(byte, after: previous) ? byte | caseBit : byte
    }
}

/// The letter case of all bytes of a text.
extension CaseFolding {
    /// Returns a text in lower case. Two texts are equal without regard to letter case when their results are equal.
    package static func folded(_ text: ByteView) -> [UInt8] {
        var previous: UInt8 = 0
        return (0..<text.count).map { index in
            defer { previous = text[index] }
            return folded(text[index], after: previous)
        }
    }

    /// Returns for each byte of `text` the bits in which its two letter cases differ: 0x20 for letters, 0 for all other bytes.
    package static func caseBits(of text: ByteView) -> [UInt8] {
        var bits: [UInt8] = []
        bits.reserveCapacity(text.count)
        var previous: UInt8 = 0
        for index in 0..<text.count {
            bits.append(isLetter(text[index], after: previous) ? caseBit : 0)
            previous = text[index]
        }
        return bits
    }
}

/// Comparison of texts, byte by byte or with letter case ignored. Every row may have another pattern here.
extension ByteView {
    /// Returns whether two texts are equal, with letter case ignored if `ignoringCase` is true.
    package func equals(_ other: ByteView, ignoringCase: Bool) -> Bool {
        guard count == other.count else { return false }
        return ignoringCase ? matchesFolded(other, at: 0) : self == other
    }

    /// Returns whether this text begins with `pattern`.
    package func begins(with pattern: ByteView, ignoringCase: Bool) -> Bool {
        pattern.count <= count && matches(pattern, at: 0, ignoringCase: ignoringCase)
    }

    /// Returns whether this text ends with `pattern`.
    package func ends(with pattern: ByteView, ignoringCase: Bool) -> Bool {
        pattern.count <= count && matches(pattern, at: count - pattern.count, ignoringCase: ignoringCase)
    }

    /// Returns whether `pattern` occurs in this text. The empty pattern occurs in every text.
    ///
    /// It is meant for patterns that change from row to row; a constant one is searched faster with
    /// a `BytePattern`. Long pairs are searched in linear time.
    package func contains(_ pattern: ByteView, ignoringCase: Bool) -> Bool {
        guard pattern.count <= count, pattern.count > 0 else { return pattern.count == 0 }
        let positions = count - pattern.count + 1
        // Comparing at each position costs at most the product of the lengths; for long pairs the linear
        // search is faster.
        if positions > 1 << 16 / pattern.count { return LinearSearch(pattern, ignoringCase: ignoringCase).finds(in: self) }
        for position in 0..<positions where matches(pattern, at: position, ignoringCase: ignoringCase) { return true }
        return false
    }

    /// Returns whether the bytes from `position` on begin with `pattern`, which must end inside this view.
    private func matches(_ pattern: ByteView, at position: Int, ignoringCase: Bool) -> Bool {
        ignoringCase ? matchesFolded(pattern, at: position) : slice(position, position + pattern.count) == pattern
    }

    /// Returns whether the bytes from `position` on begin with `pattern`, with letter case ignored.
    private func matchesFolded(_ pattern: ByteView, at position: Int) -> Bool {
        guard pattern.count > 0 else { return true }
        // In bounds: the pattern ends inside this view, and neither is empty.
        let text = unsafe start.unsafelyUnwrapped + position
        let pattern = unsafe (bytes: pattern.start.unsafelyUnwrapped, count: pattern.count)
        var previous: UInt8 = 0
        for index in unsafe 0..<pattern.count {
            let byte = unsafe pattern.bytes[index]
            let difference = unsafe byte ^ text[index]
            guard difference == 0 || difference == CaseFolding.caseBit && CaseFolding.isLetter(byte, after: previous) else {
                return false
            }
            previous = byte
        }
        return true
    }
}

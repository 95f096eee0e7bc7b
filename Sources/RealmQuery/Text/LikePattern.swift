// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// A pattern of `LIKE`: `*` matches any bytes, also none, `?` matches one character, and everything else matches itself.
///
/// The pattern has to cover the whole text. Once the text is used up, the rest of the pattern may be nothing or one `*`, but
/// not two: `a**` does not match `a`. The reference engine behaves in the same way. Source: realm-core `string_data.cpp`.
package struct LikePattern: Sendable {
    /// The bytes of the pattern. Bits that do not count, because letter case is ignored, are set in it.
    private let bytes: [UInt8]
    /// For each byte of the pattern the bits that do not count, see `CaseFolding`; 0 when letter case counts.
    private let ignored: [UInt8]

    /// The number of bytes to try between two calls of the check.
    private static let bytesPerCheck = 1 << 14
    /// Attempts that end after so few bytes are not counted, as they cannot make any text slow.
    private static let fewBytes = 16
    /// The number of steps of a `CancellationCheck` that `bytesPerCheck` bytes count for.
    private static let stepsPerCheck = 1 << 11

    /// The byte `*`, which matches any sequence.
    private static let star = UInt8(ascii: "*")
    /// The byte `?`, which matches one character.
    private static let question = UInt8(ascii: "?")

    /// Prepares a pattern.
    ///
    /// - Parameters:
    ///   - pattern: The pattern in UTF-8. There is no escape character.
    ///   - ignoringCase: Whether letter case is ignored, by the rule of `CaseFolding`.
    package init(_ pattern: ByteView, ignoringCase: Bool) {
        ignored = ignoringCase ? CaseFolding.caseBits(of: pattern) : [UInt8](repeating: 0, count: pattern.count)
        bytes = (0..<pattern.count).map { [ignored] in pattern[$0] | ignored[$0] }
    }

    /// Returns whether a text matches the pattern as a whole. It cannot be stopped; see the other overload.
    package func matches(_ text: ByteView) -> Bool { matches(text, nil) }

    /// Returns whether a text matches the pattern as a whole.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8.
    ///   - cancellation: The check that is called meanwhile. When it asks to stop, the result is false
    ///     and meaningless.
    /// - Complexity: O(length of the text × length of the pattern) at worst.
    func matches(_ text: ByteView, _ cancellation: CancellationCheck?) -> Bool {
        var bytesUntilCheck = LikePattern.bytesPerCheck
        var textIndex = 0
        var patternIndex = 0
        // After the last star: where matching resumes in the pattern, and where the star takes one more byte of the text.
        var retry: (pattern: Int, text: Int)?
        while true {
            if textIndex == text.count { return endsAfterText(patternIndex) }
            if patternIndex < bytes.count, bytes[patternIndex] == LikePattern.star {
                patternIndex += 1
                retry = (patternIndex, textIndex)
            } else if let next = LikePattern.advance(text, textIndex, past: element(patternIndex)) {
                textIndex = next
                patternIndex += 1
            } else {
                // Only the last star needs another try: an earlier one could only leave less text for what follows.
                guard let star = retry else { return false }
                let tried = textIndex &- star.text
                if tried > LikePattern.fewBytes {
                    bytesUntilCheck &-= tried
                    guard bytesUntilCheck > 0 || cancellation?.continues(LikePattern.stepsPerCheck) ?? true else { return false }
                    if bytesUntilCheck <= 0 { bytesUntilCheck = LikePattern.bytesPerCheck }
                }
                retry = (star.pattern, star.text + 1)
                patternIndex = star.pattern
                textIndex = star.text + 1
            }
        }
    }

    /// Whether the text may end before this place in the pattern.
    private func endsAfterText(_ index: Int) -> Bool {
        index == bytes.count || index == bytes.count - 1 && bytes[index] == LikePattern.star
    }

    /// The byte of the pattern at an index with the bits to ignore; nil past its end.
    private func element(_ index: Int) -> (wanted: UInt8, ignored: UInt8)? {
        index < bytes.count ? (bytes[index], ignored[index]) : nil
    }

    /// Returns the index after the character that `element` matches at `index`; nil if it does not match there.
    private static func advance(_ text: ByteView, _ index: Int, past element: (wanted: UInt8, ignored: UInt8)?) -> Int? {
        guard let element else { return nil }
        guard element.wanted == question else { return text[index] | element.ignored == element.wanted ? index + 1 : nil }
        var next = index + 1
        if text[index] & 0x80 != 0 {
            while next < text.count, text[next] & 0xc0 == 0x80 { next += 1 }
        }
        return next
    }
}

extension LikePattern {
    /// A simpler test with the same result, for a pattern that has stars at its ends only; nil for other patterns.
    ///
    /// `part` is the range of the pattern that the simpler test compares with.
    var simplified: (TextPattern.Kind, part: Range<Int>)? {
        let isWild: (UInt8) -> Bool = { $0 == LikePattern.star || $0 == LikePattern.question }
        let startsWild = bytes.first == LikePattern.star
        let endsWild = bytes.count > 1 && bytes.last == LikePattern.star
        let part = (startsWild ? 1 : 0)..<(bytes.count - (endsWild ? 1 : 0))
        guard !bytes[part].contains(where: isWild) else { return nil }
        switch (startsWild, endsWild) {
        case (false, false): return (.equal, part)
        case (false, true): return (.beginsWith, part)
        case (true, false): return (.endsWith, part)
        // Two stars and nothing between them do not match the empty text.
        case (true, true): return part.isEmpty ? nil : (.contains, part)
        }
    }
}

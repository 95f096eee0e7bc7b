// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A pattern of `LIKE`: `*` stands for any bytes, also none, `?` for one character; everything else for itself.
///
/// The pattern has to cover the whole text. Once the text is used up, what is left of the pattern may be nothing or one
/// `*`, but not two: `a**` does not match `a`. That is how the reference engine has it.
/// Source: realm-core `string_data.cpp`.
package struct LikePattern: Sendable {
    private let bytes: [UInt8]
    /// The bits of each byte that do not count, see `CaseFolding`.
    private let ignored: [UInt8]

    private static let bytesPerCheck = 1 << 14
    /// Tries that end after so many bytes make no text take long.
    private static let fewBytes = 16
    /// What so many bytes are worth in steps of an `CancellationCheck`.
    private static let stepsPerCheck = 1 << 11

    private static let star = UInt8(ascii: "*")
    private static let question = UInt8(ascii: "?")

    package init(_ pattern: ByteView, ignoringCase: Bool) {
        ignored = ignoringCase ? CaseFolding.caseBits(of: pattern) : [UInt8](repeating: 0, count: pattern.count)
        bytes = (0..<pattern.count).map { [ignored] in pattern[$0] | ignored[$0] }
    }

    package func matches(_ text: ByteView) -> Bool { matches(text, nil) }

    /// Takes time up to the product of both lengths, so `cancellation` is asked meanwhile; when it says no, so is the answer.
    func matches(_ text: ByteView, _ cancellation: CancellationCheck?) -> Bool {
        var bytesUntilCheck = LikePattern.bytesPerCheck
        var textIndex = 0
        var patternIndex = 0
        // Behind the last star: the pattern goes on here, and the star may take one more byte from there.
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
                    guard bytesUntilCheck > 0 || cancellation?.goesOn(LikePattern.stepsPerCheck) ?? true else { return false }
                    if bytesUntilCheck <= 0 { bytesUntilCheck = LikePattern.bytesPerCheck }
                }
                retry = (star.pattern, star.text + 1)
                patternIndex = star.pattern
                textIndex = star.text + 1
            }
        }
    }

    /// May the text end before this place in the pattern?
    private func endsAfterText(_ index: Int) -> Bool {
        index == bytes.count || index == bytes.count - 1 && bytes[index] == LikePattern.star
    }

    private func element(_ index: Int) -> (wanted: UInt8, ignored: UInt8)? {
        index < bytes.count ? (bytes[index], ignored[index]) : nil
    }

    /// The index behind what `element` matches at `index`, or nil if it does not match there.
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
    /// A simpler test that does the same, if the pattern has stars at its ends only.
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

// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Splits text into the words that a full-text index files.
///
/// Words are runs of ASCII letters and digits and of U+00C0 to U+00FE; everything else separates. Letters are folded to lower
/// case without diacritics, but å æ ð ø þ ß stay letters of their own, and × and ÷ vanish inside a word. A word is cut after 64
/// bytes. Source: docs/format.md, "Search indexes".
package enum FullTextTokenizer {
    /// The length in bytes after which words are cut off.
    package static let maximumWordByteCount = 64

    /// Returns the words of `text` in order, with repetitions.
    ///
    /// Bytes that are not UTF-8 separate words.
    ///
    /// - Complexity: O(number of bytes).
    package static func words(of text: ByteView) -> [[UInt8]] {
        var words: [[UInt8]] = []
        forEachWord(of: text) { words.append($0) }
        return words
    }

    /// Calls `body` with the words of `text` in order, with repetitions.
    ///
    /// - Parameters:
    ///   - text: The text; bytes that are not UTF-8 separate words.
    ///   - body: Gets each word. The next one is made in the same memory, unless the word is kept.
    /// - Complexity: O(number of bytes).
    package static func forEachWord(of text: ByteView, _ body: ([UInt8]) -> Void) {
        var word: [UInt8] = []
        var index = 0
        var isInWord = false
        while index < text.count {
            let (kind, byteCount) = classify(text, index)
            index += byteCount
            switch kind {
            case .separator:
                if isInWord, !word.isEmpty { body(word) }
                word.removeAll(keepingCapacity: true)
                isInWord = false
            case .silent: isInWord = true
            case .letters(let first, let second):
                isInWord = true
                append(first, second, to: &word)
            }
        }
        if !word.isEmpty { body(word) }
    }

    /// The meaning of a character for words.
    private enum Kind {
        /// A character that ends a word.
        case separator
        /// A part of a word that adds no letter to it: × and ÷.
        case silent
        /// One or two bytes of folded text; the second is 0 when there is only one.
        case letters(UInt8, UInt8)
    }

    /// Adds one or two bytes to a word, unless it would exceed its greatest length.
    private static func append(_ first: UInt8, _ second: UInt8, to word: inout [UInt8]) {
        let byteCount = second == 0 ? 1 : 2
        guard word.count + byteCount <= maximumWordByteCount else { return }
        word.append(first)
        if second != 0 { word.append(second) }
    }

    /// Returns the kind of the character at `index`, and how many bytes it has.
    private static func classify(_ text: ByteView, _ index: Int) -> (Kind, byteCount: Int) {
        let byte = text[index]
        switch byte {
        case 0x30...0x39, 0x61...0x7a: return (.letters(byte, 0), 1)
        case 0x41...0x5a: return (.letters(byte | 0x20, 0), 1)
        case 0xc3 where index + 1 < text.count:
            let low = text[index + 1]
            guard low & 0xc0 == 0x80, low != 0xbf else { return (.separator, low & 0xc0 == 0x80 ? 2 : 1) }
            return (folded[Int(low & 0x1f)], 2)
        case 0xc0...0xdf: return (.separator, min(2, text.count - index))
        case 0xe0...0xef: return (.separator, min(3, text.count - index))
        case 0xf0...0xf7: return (.separator, min(4, text.count - index))
        default: return (.separator, 1)
        }
    }

    /// The folded letters of U+00C0 to U+00FE, by the low five bits of the code point: upper and
    /// lower case letters fold to the same, but ß (U+00DF) has no counterpart in this range.
    private static let folded: [Kind] = {
        var table: [Kind] = []
        for letter in "aaaaa" { table.append(plain(letter)) }
        table.append(.letters(0xc3, 0xa5))
        table.append(.letters(0xc3, 0xa6))
        for letter in "ceeeeiiii" { table.append(plain(letter)) }
        table.append(.letters(0xc3, 0xb0))
        for letter in "nooooo" { table.append(plain(letter)) }
        table.append(.silent)
        table.append(.letters(0xc3, 0xb8))
        for letter in "uuuuy" { table.append(plain(letter)) }
        table.append(.letters(0xc3, 0xbe))
        table.append(.letters(0xc3, 0x9f))
        return table
    }()

    /// Returns the kind of a letter that is folded to one byte.
    private static func plain(_ letter: Character) -> Kind { .letters(letter.asciiValue ?? 0, 0) }
}

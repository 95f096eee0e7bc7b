// SPDX-License-Identifier: Apache-2.0

/// Base64 of RFC 4648, strictly unless the caller asks for less: padding where it belongs, no
/// foreign characters, no stray bits.
///
/// Encoding writes into memory that the caller provides. `Strictness` states what decoding accepts.
package enum Base64 {
    /// The two sets of 64 characters that RFC 4648 defines.
    package enum Alphabet: Sendable {
        /// The characters of section 4, with padding.
        case standard
        /// The characters of section 5, for URLs and file names; without padding.
        case url

        /// The 64 characters in the order of their values.
        fileprivate var characters: StaticString {
            switch self {
            case .standard: return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
            case .url: return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            }
        }

        /// Returns the value of a character, 0 to 63; nil for one that is not in the alphabet.
        fileprivate func sextet(_ character: UInt8) -> UInt32? {
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): return UInt32(character - UInt8(ascii: "A"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): return UInt32(character - UInt8(ascii: "a")) + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): return UInt32(character - UInt8(ascii: "0")) + 52
            case UInt8(ascii: "+"), UInt8(ascii: "/"): return self == .standard ? (character == UInt8(ascii: "+") ? 62 : 63) : nil
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return self == .url ? (character == UInt8(ascii: "-") ? 62 : 63) : nil
            default: return nil
            }
        }
    }

    /// The tolerance of a decoder.
    package enum Strictness: Sendable {
        /// Takes only what encoding would have written, so that each sequence of bytes has exactly one text.
        case exact
        /// Takes texts whose final padding is left out, and ignores bits that the last group has to spare, as the query
        /// language does.
        case paddingOptional
    }

    // MARK: - Writing

    /// Returns the greatest length in bytes that the text of `byteCount` bytes can have, in either alphabet.
    package static func maximumTextByteCount(of byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

    /// Writes the text of `bytes` and returns its length in bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to encode.
    ///   - alphabet: The characters, and whether the text is padded.
    ///   - target: Room for `maximumTextByteCount(of:)` bytes.
    package static func write(
        _ bytes: ByteView, _ alphabet: Alphabet, to target: WritableBytes
    ) -> Int {
        // Indexes into the characters have six bits.
        let characters = unsafe alphabet.characters.utf8Start
        target.require(maximumTextByteCount(of: bytes.count))
        var written = 0
        var index = 0
        while index + 3 <= bytes.count {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            for position in 0..<4 {
                target[written + position] = unsafe characters[Int(group >> UInt32(18 - 6 * position) & 63)]
            }
            written += 4
            index += 3
        }
        guard index < bytes.count else { return written }
        let rest = bytes.count - index
        let group = UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
        for position in 0...rest {
            target[written + position] = unsafe characters[Int(group >> UInt32(18 - 6 * position) & 63)]
        }
        written += rest + 1
        guard alphabet == .standard else { return written }
        for position in 0..<3 - rest { target[written + position] = UInt8(ascii: "=") }
        return written + 3 - rest
    }

    /// Writes the lowest bits of `word` as characters of the URL alphabet, six bits each, the
    /// lowest first. `target` must have room for `digitCount` bytes.
    package static func write(digitsOf word: UInt64, digitCount: Int, to target: WritableBytes) {
        let characters = unsafe Alphabet.url.characters.utf8Start
        var rest = word
        target.require(digitCount)
        var index = 0
        while index &+ 2 <= digitCount {
            let first = unsafe UInt16(characters[Int(truncatingIfNeeded: rest & 63)])
            let second = unsafe UInt16(characters[Int(truncatingIfNeeded: rest >> 6 & 63)])
            target.store(first | second << 8, at: index)
            rest >>= 12
            index &+= 2
        }
        if index < digitCount { target[index] = unsafe characters[Int(truncatingIfNeeded: rest & 63)] }
    }

    /// Appends the text of `bytes` in the standard alphabet, with padding.
    package static func append(_ bytes: ByteView, to text: inout [UInt8]) {
        text.appendBytes(capacity: maximumTextByteCount(of: bytes.count)) { write(bytes, .standard, to: $0) }
    }

    /// Returns the text of `bytes` in an alphabet.
    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet) -> String {
        ByteView.withBytes(of: bytes) { view in
            String(capacity: maximumTextByteCount(of: bytes.count)) { write(view, alphabet, to: $0) }
        }
    }

    // MARK: - Reading

    /// Decodes a text.
    ///
    /// - Parameters:
    ///   - text: ASCII characters of the alphabet, and padding where the alphabet has it.
    ///   - alphabet: The characters, and whether the text is padded.
    ///   - strictness: Whether texts that encoding would not have written are decoded.
    /// - Returns: The decoded bytes, or nil when the text has other characters or not whole groups; with `.exact` also
    ///   when it lacks padding or has stray bits in the last group.
    package static func decode(
        _ text: ByteView, _ alphabet: Alphabet = .standard, _ strictness: Strictness = .exact
    ) -> [UInt8]? {
        let padding = alphabet == .standard ? paddingCount(text) : 0
        let hasWholeGroups = alphabet == .url || text.count % 4 == 0
        guard hasWholeGroups || (strictness == .paddingOptional && padding == 0), (text.count - padding) % 4 != 1 else {
            return nil
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var bitCount: UInt32 = 0
        for index in 0..<(text.count - padding) {
            guard let sextet = alphabet.sextet(text[index]) else { return nil }
            group = group << 6 | sextet
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> bitCount))
        }
        return strictness == .paddingOptional || group & (1 << bitCount - 1) == 0 ? bytes : nil
    }

    /// Decodes a Swift string, as the function for byte views does.
    ///
    /// - Returns: The bytes; nil when the text is not exactly base64 of that alphabet.
    package static func decode(_ text: some StringProtocol, _ alphabet: Alphabet = .standard) -> [UInt8]? {
        decode(Array(text.utf8), alphabet)
    }

    /// Decodes an array of bytes, as the function for byte views does.
    package static func decode(
        _ text: [UInt8], _ alphabet: Alphabet = .standard, _ strictness: Strictness = .exact
    ) -> [UInt8]? {
        let storage = ByteStorage(text)
        return withExtendedLifetime(storage) { decode(storage.view, alphabet, strictness) }
    }

    /// Whether `byte` can be part of a text in this alphabet, padding included.
    package static func isCharacter(_ byte: UInt8, of alphabet: Alphabet) -> Bool {
        alphabet.sextet(byte) != nil || byte == UInt8(ascii: "=") && alphabet == .standard
    }

    /// Returns how many `=` the text ends with: 0, 1 or 2.
    private static func paddingCount(_ text: ByteView) -> Int {
        guard text.count >= 2, text[text.count - 1] == UInt8(ascii: "=") else { return 0 }
        return text[text.count - 2] == UInt8(ascii: "=") ? 2 : 1
    }
}

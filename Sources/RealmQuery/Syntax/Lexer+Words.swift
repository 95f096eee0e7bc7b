// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension Lexer {
    /// Matches tokens that start with a letter, a dollar sign or a character beyond ASCII.
    ///
    /// These are identifiers, keywords, arguments, and literals with letters in front such as `uuid(…)` and `T12:0`. A literal
    /// wins over an identifier of the same length, and a keyword over an identifier.
    ///
    /// - Returns: The kind and the length in bytes; nil when the bytes are not well-formed UTF-8.
    func matchWord() -> (TokenKind, Int)? {
        let identifier = identifierLength()
        guard identifier > 0 else { return nil }
        var best = (kind: keyword(length: identifier) ?? .identifier, length: identifier)
        if let literal = literal(), literal.1 >= best.length { best = literal }
        return best
    }

    /// The length in bytes of the identifier at the current position, 0 when there is none.
    ///
    /// Digits and hyphens may follow the first character; a backslash may escape a space or come
    /// before `n`, `r` or `t`. The escapes are decoded later, by the parser.
    private func identifierLength() -> Int {
        var length = 0
        while true {
            let current = byte(length)
            if Lexer.isLetter(current) {
                length += 1
            } else if current >= 0x80, let width = multibyteLength(at: length) {
                length += width
            } else if length > 0, Lexer.isDigit(current) || current == ASCII.minus {
                length += 1
            } else if length > 0, current == ASCII.backslash, isIdentifierEscape(byte(length + 1)) {
                length += 2
            } else {
                return length
            }
        }
    }

    /// Whether the byte may follow a backslash in an identifier: a space, or the letter of a line feed, carriage return or tab.
    private func isIdentifierEscape(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == UInt8(ascii: "n") || byte == UInt8(ascii: "r") || byte == UInt8(ascii: "t")
    }

    /// The length in bytes of a UTF-8 sequence of two to four bytes; nil when it is malformed.
    ///
    /// - Parameter offset: The distance of its first byte from the current position.
    private func multibyteLength(at offset: Int) -> Int? {
        let count: Int
        switch byte(offset) {
        case 0xc2...0xdf: count = 2
        case 0xe0...0xef: count = 3
        case 0xf0...0xf7: count = 4
        default: return nil
        }
        return (1..<count).allSatisfy { byte(offset + $0) & 0xc0 == 0x80 } ? count : nil
    }

    /// The keyword that an identifier of `length` bytes spells; nil when it is an ordinary name.
    ///
    /// Some keywords are recognized in every letter case, others only when all letters are lower
    /// case or all are upper case, so that `Any` or `In` can name properties.
    private func keyword(length: Int) -> TokenKind? {
        guard length <= TokenKind.maximumWordLength, TokenKind.startsWord(byte(0), length: length) else { return nil }
        let word = bytes[position..<position + length]
        let text = String(decoding: word, as: UTF8.self)
        let lower = text.lowercasedASCII
        guard lower.utf8.count == length else { return nil }
        if let kind = TokenKind.caseInsensitiveWords[lower] { return word.allSatisfy { $0 < 0x80 } ? kind : nil }
        guard let kind = TokenKind.uniformCaseWords[lower] else { return nil }
        return text == lower || text == lower.uppercasedASCII ? kind : nil
    }

    /// The literal that starts at the current position with a letter: UUID, object id, base64 text, timestamp in seconds, link
    /// or argument. Nil when it is none. Letters are compared exactly, so `UUID(…)` is not a literal.
    private func literal() -> (kind: TokenKind, length: Int)? {
        switch byte(0) {
        case UInt8(ascii: "u"): return uuidLength().map { (.uuid, $0) }
        case UInt8(ascii: "o"): return objectIDLength().map { (.objectID, $0) }
        case UInt8(ascii: "B"): return base64Length().map { (.base64, $0) }
        case UInt8(ascii: "T"): return secondsLength().map { (.timestamp, $0) }
        case UInt8(ascii: "O"):
            let digits = digitCount(at: 1)
            return digits > 0 ? (.link, 1 + digits) : nil
        case UInt8(ascii: "L"): return typedLinkLength().map { (.typedLink, $0) }
        case ASCII.dollar: return argument()
        default: return nil
        }
    }

    /// Matches `$n` or `$Kn`, where `n` is a decimal number; nil for an identifier that starts with a dollar sign.
    private func argument() -> (kind: TokenKind, length: Int)? {
        let digits = digitCount(at: 1)
        if digits > 0 { return (.argument, 1 + digits) }
        guard byte(1) == UInt8(ascii: "K") else { return nil }
        let keyDigits = digitCount(at: 2)
        return keyDigits > 0 ? (.keyPathArgument, 2 + keyDigits) : nil
    }

    /// The length in bytes of `T` seconds `:` nanoseconds, either with a sign; nil when the text is different.
    private func secondsLength() -> Int? {
        func signed(_ offset: Int) -> Int? {
            let sign = byte(offset) == ASCII.plus || byte(offset) == ASCII.minus ? 1 : 0
            let digits = digitCount(at: offset + sign)
            return digits > 0 ? sign + digits : nil
        }
        guard let seconds = signed(1), byte(1 + seconds) == ASCII.colon, let nanoseconds = signed(2 + seconds) else {
            return nil
        }
        return 2 + seconds + nanoseconds
    }

    /// The length in bytes of `L`, a table key, a colon and an object key; nil when the text is different.
    private func typedLinkLength() -> Int? {
        let table = digitCount(at: 1)
        guard table > 0, byte(1 + table) == ASCII.colon else { return nil }
        let key = digitCount(at: 2 + table)
        return key > 0 ? 2 + table + key : nil
    }

    /// The length in bytes of `uuid(` 8-4-4-4-12 hexadecimal digits `)`; nil when the text is different.
    private func uuidLength() -> Int? {
        guard matches("uuid(") else { return nil }
        var offset = 5
        for (group, digits) in [8, 4, 4, 4, 12].enumerated() {
            if group > 0 {
                guard byte(offset) == ASCII.minus else { return nil }
                offset += 1
            }
            guard (0..<digits).allSatisfy({ Lexer.isHexDigit(byte(offset + $0)) }) else { return nil }
            offset += digits
        }
        return byte(offset) == UInt8(ascii: ")") ? offset + 1 : nil
    }

    /// The length in bytes of `oid(` 24 hexadecimal digits `)`, always 29; nil when the text is different.
    private func objectIDLength() -> Int? {
        guard matches("oid("), (4..<28).allSatisfy({ Lexer.isHexDigit(byte($0)) }), byte(28) == UInt8(ascii: ")") else {
            return nil
        }
        return 29
    }

    /// The length in bytes of `B64"…"`; nil when a character between the quotes is not of base64.
    /// Whether the text can be decoded is checked by the parser.
    private func base64Length() -> Int? {
        guard matches("B64\"") else { return nil }
        var length = 4
        while Base64.isCharacter(byte(length), of: .standard) { length += 1 }
        return byte(length) == ASCII.quote ? length + 1 : nil
    }
}

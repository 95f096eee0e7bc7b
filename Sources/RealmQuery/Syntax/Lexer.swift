// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Splits a query text into tokens, one at a time.
///
/// At each position the longest match wins; among rules that match the same length, keywords win over identifiers. White space
/// (space, tab, carriage return, line feed) separates tokens and is otherwise ignored. The parser owns the lexer and asks for a
/// token when it has consumed the one before, so an error is found only when the parser reaches it.
struct Lexer {
    /// The query text as UTF-8. All offsets of the lexer count its bytes.
    let bytes: [UInt8]
    /// The byte offset at which the next token is searched.
    private(set) var position = 0

    /// Creates a lexer at the beginning of a text.
    ///
    /// - Parameter text: The text of a query, a key path or a shape.
    init(_ text: String) { bytes = Array(text.utf8) }

    /// Reads the next token and advances the position past it.
    ///
    /// - Returns: The token; at the end of the text an empty one of kind `.end`, however often this
    ///   is called.
    /// - Throws: `QueryError.syntax` at a character that starts no token.
    mutating func next() throws(QueryError) -> Token {
        while position < bytes.count, Lexer.isWhiteSpace(bytes[position]) { position += 1 }
        let start = position
        guard start < bytes.count else { return Token(kind: .end, start: start, end: start) }
        guard let (kind, length) = match() else { throw failure(at: start) }
        position += length
        return Token(kind: kind, start: start, end: position)
    }

    /// Continues at a byte offset, without a token for the bytes before it.
    mutating func skip(to offset: Int) { position = offset }

    /// Returns the part of the query text that a token covers.
    func text(of token: Token) -> String { text(token.start, token.end) }

    /// The text between two byte offsets.
    ///
    /// - Parameters:
    ///   - start: The offset of the first byte.
    ///   - end: The offset after the last byte.
    func text(_ start: Int, _ end: Int) -> String { String(decoding: bytes[start..<end], as: UTF8.self) }

    /// Returns the byte at an offset from the current position, or 0 past the end of the text.
    ///
    /// No rule matches a zero byte, so rules can read ahead without checking for the end.
    func byte(_ offset: Int) -> UInt8 {
        let index = position + offset
        return index < bytes.count ? bytes[index] : 0
    }

    /// Converts a byte offset into an offset in Unicode scalars, the unit of positions in errors.
    ///
    /// - Complexity: O(offset). It is used for errors only.
    func scalarOffset(_ byteOffset: Int) -> Int {
        bytes[..<min(byteOffset, bytes.count)].reduce(0) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 }
    }

    /// The syntax error for a character that starts no token. A quote means that the string literal is faulty.
    private func failure(at start: Int) -> QueryError {
        let detail: String
        if bytes[start] == ASCII.quote || bytes[start] == ASCII.apostrophe {
            detail = "the string is not terminated or has an unknown escape sequence"
        } else {
            var end = start + 1
            while end < bytes.count, bytes[end] & 0xc0 == 0x80 { end += 1 }
            detail = "unexpected character '\(text(start, end))'" + SyntaxAdvice.hint(forCharacter: start, in: self)
        }
        return .syntax(position: scalarOffset(start), detail: detail, expected: [])
    }

    /// Returns the kind and the length in bytes of the token at the current position; nil when no rule matches.
    private func match() -> (TokenKind, Int)? {
        let first = byte(0)
        if Lexer.isDigit(first) || first == ASCII.plus || first == ASCII.minus || first == ASCII.dot {
            return matchNumeric()
        }
        if Lexer.isLetter(first) || first >= 0x80 { return matchWord() }
        switch first {
        case ASCII.quote, ASCII.apostrophe: return stringLength(at: 0).map { (.string, $0) }
        case ASCII.at: return matchOperatorWord()
        default: return matchPunctuation(first)
        }
    }

    /// Matches operators and punctuation of one to three characters.
    private func matchPunctuation(_ first: UInt8) -> (TokenKind, Int)? {
        let second = byte(1)
        switch (first, second) {
        case (UInt8(ascii: "="), UInt8(ascii: "=")): return (.equal, 2)
        case (UInt8(ascii: "="), UInt8(ascii: "<")): return (.lessOrEqual, 2)
        case (UInt8(ascii: "="), UInt8(ascii: ">")): return (.greaterOrEqual, 2)
        case (UInt8(ascii: "="), _): return (.equal, 1)
        case (UInt8(ascii: "!"), UInt8(ascii: "=")): return (.notEqual, 2)
        case (UInt8(ascii: "!"), _): return (.not, 1)
        case (UInt8(ascii: "<"), UInt8(ascii: ">")): return (.notEqual, 2)
        case (UInt8(ascii: "<"), UInt8(ascii: "=")): return (.lessOrEqual, 2)
        case (UInt8(ascii: "<"), _): return (.less, 1)
        case (UInt8(ascii: ">"), UInt8(ascii: "=")): return (.greaterOrEqual, 2)
        case (UInt8(ascii: ">"), _): return (.greater, 1)
        case (UInt8(ascii: "&"), UInt8(ascii: "&")): return (.and, 2)
        case (UInt8(ascii: "|"), UInt8(ascii: "|")): return (.or, 2)
        case (UInt8(ascii: "["), UInt8(ascii: "c")) where byte(2) == UInt8(ascii: "]"): return (.caseModifier, 3)
        case (UInt8(ascii: "["), _): return (.leftBracket, 1)
        case (UInt8(ascii: "]"), _): return (.rightBracket, 1)
        case (UInt8(ascii: "("), _): return (.leftParenthesis, 1)
        case (UInt8(ascii: ")"), _): return (.rightParenthesis, 1)
        case (UInt8(ascii: "{"), _): return (.leftBrace, 1)
        case (UInt8(ascii: "}"), _): return (.rightBrace, 1)
        case (UInt8(ascii: ","), _): return (.comma, 1)
        case (UInt8(ascii: "*"), _): return (.times, 1)
        case (UInt8(ascii: "/"), _): return (.divided, 1)
        default: return nil
        }
    }

    /// Matches a word that starts with an at sign, such as `@count`. The longest one wins.
    private func matchOperatorWord() -> (TokenKind, Int)? {
        var best: (TokenKind, Int)?
        for (word, kind) in TokenKind.atWords where word.utf8CodeUnitCount > best?.1 ?? 0 {
            if matches(word.description) { best = (kind, word.utf8CodeUnitCount) }
        }
        return best
    }

    /// Returns whether the text at an offset from the current position starts with a word, letter case included.
    ///
    /// - Parameters:
    ///   - word: The word to compare with.
    ///   - offset: The distance in bytes from the current position.
    func matches(_ word: String, at offset: Int = 0) -> Bool {
        bytes[min(position + offset, bytes.count)...].starts(with: word.utf8)
    }

    /// Returns the length in bytes of a string literal, quotes included.
    ///
    /// Escape sequences are checked but not decoded: the value of a string literal is its raw text.
    ///
    /// - Parameter offset: The distance of the opening quote from the current position.
    /// - Returns: Nil when the string is not terminated or has an unknown escape sequence.
    private func stringLength(at offset: Int) -> Int? {
        let quote = byte(offset)
        var length = 1
        while position + offset + length < bytes.count {
            let current = byte(offset + length)
            if current == quote { return length + 1 }
            guard current == ASCII.backslash else {
                length += 1
                continue
            }
            guard let escape = escapeLength(at: offset + length) else { return nil }
            length += escape
        }
        return nil
    }

    /// Returns the length in bytes of the escape sequence whose backslash is at `offset`; nil for an unknown one.
    private func escapeLength(at offset: Int) -> Int? {
        switch byte(offset + 1) {
        case ASCII.quote, ASCII.apostrophe, UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "0"), ASCII.backslash:
            return 2
        case UInt8(ascii: "u"):
            return (2..<6).allSatisfy { Lexer.isHexDigit(byte(offset + $0)) } ? 6 : nil
        default: return nil
        }
    }
}

extension Lexer {
    /// Whether the byte is a space, a tab, a carriage return or a line feed. No other character separates tokens.
    static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }

    /// Whether a byte is an ASCII decimal digit.
    static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    /// Whether the byte is a hexadecimal digit, in either letter case.
    static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "f"))
    }

    /// Whether the byte may start an identifier: a letter, an underscore or a dollar sign.
    /// Characters beyond ASCII, which may start one too, are checked elsewhere.
    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")) || byte == UInt8(ascii: "_")
            || byte == ASCII.dollar
    }
}

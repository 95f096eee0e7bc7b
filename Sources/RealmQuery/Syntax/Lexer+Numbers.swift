// SPDX-License-Identifier: Apache-2.0

extension Lexer {
    /// Tokens that start with a digit, a sign or a dot.
    func matchNumeric() -> (TokenKind, Int)? {
        let first = byte(0)
        if Lexer.isDigit(first), let length = calendarLength() { return (.timestamp, length) }
        var best: (TokenKind, Int)?
        func offer(_ kind: TokenKind, _ length: Int?) {
            if let length, length > best?.1 ?? 0 { best = (kind, length) }
        }
        let sign = first == ASCII.plus || first == ASCII.minus ? 1 : 0
        let digits = digitCount(at: sign)
        if digits > 0 { offer(sign == 0 ? .natural : .number, sign + digits) }
        if sign == 0 { offer(.number, hexadecimalLength()) }
        offer(.float, floatLength(sign: sign, digits: digits))
        if sign == 1 { offerSpecial(offer) }
        if let best { return best }
        switch first {
        case ASCII.plus: return (.plus, 1)
        case ASCII.minus: return (.minus, 1)
        case ASCII.dot: return (.dot, 1)
        default: return nil
        }
    }

    /// Infinities and NaN behind a sign.
    private func offerSpecial(_ offer: (TokenKind, Int?) -> Void) {
        for (word, kind) in [("infinity", TokenKind.infinity), ("inf", .infinity), ("nan", .nan)] {
            let length = word.utf8.count
            guard position + 1 + length <= bytes.count else { continue }
            let candidate = bytes[position + 1..<position + 1 + length].map { $0 | 0x20 }
            if candidate.elementsEqual(word.utf8) { offer(kind, 1 + length) }
        }
    }

    func digitCount(at offset: Int) -> Int {
        var count = 0
        while Lexer.isDigit(byte(offset + count)) { count += 1 }
        return count
    }

    private func hexadecimalLength() -> Int? {
        guard byte(0) == UInt8(ascii: "0"), byte(1) | 0x20 == UInt8(ascii: "x") else { return nil }
        var length = 2
        while Lexer.isHexDigit(byte(length)) { length += 1 }
        return length > 2 ? length : nil
    }

    /// A number with a point, an exponent or the suffix `f`.
    private func floatLength(sign: Int, digits: Int) -> Int? {
        var length = sign + digits
        var isFloat = false
        if byte(length) == ASCII.dot {
            let fraction = digitCount(at: length + 1)
            if digits > 0 || fraction > 0 {
                length += 1 + fraction
                isFloat = true
            }
        }
        guard isFloat || digits > 0 else { return nil }
        if byte(length) | 0x20 == UInt8(ascii: "e") {
            let signed = byte(length + 1) == ASCII.plus || byte(length + 1) == ASCII.minus ? 1 : 0
            let exponent = digitCount(at: length + 1 + signed)
            if exponent > 0 {
                length += 1 + signed + exponent
                isFloat = true
            }
        }
        if byte(length) == UInt8(ascii: "f") {
            length += 1
            isFloat = true
        }
        return isFloat ? length : nil
    }

    /// `Y-M-D@h:m:s`, with `T` for `@` and a fourth field after the time if there is one.
    private func calendarLength() -> Int? {
        var length = 0
        func field(_ separators: [UInt8]) -> Bool {
            let digits = digitCount(at: length)
            guard digits > 0 else { return false }
            guard separators.isEmpty || separators.contains(byte(length + digits)) else { return false }
            length += digits + (separators.isEmpty ? 0 : 1)
            return true
        }
        guard field([ASCII.minus]), field([ASCII.minus]), field([ASCII.at, UInt8(ascii: "T")]),
            field([ASCII.colon]), field([ASCII.colon]), field([])
        else { return nil }
        let nanoseconds = byte(length) == ASCII.colon ? digitCount(at: length + 1) : 0
        return nanoseconds > 0 ? length + 1 + nanoseconds : length
    }
}

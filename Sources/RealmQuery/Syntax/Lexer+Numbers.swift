// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension Lexer {
    /// Matches tokens that start with a digit, a sign or a dot: numbers, calendar dates, infinities
    /// and NaN with a sign, and otherwise the characters `+`, `-` and `.` themselves.
    ///
    /// A sign belongs to the number whenever a digit follows directly, so `i -2` is two operands in a row.
    ///
    /// - Returns: The kind and the length in bytes of the longest match; nil when none fits.
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

    /// Offers the infinities and NaN after a sign, in any letter case.
    ///
    /// - Parameter offer: Takes the kind and the length in bytes of a candidate.
    private func offerSpecial(_ offer: (TokenKind, Int?) -> Void) {
        for (word, kind) in [("infinity", TokenKind.infinity), ("inf", .infinity), ("nan", .nan)] {
            let length = word.utf8.count
            guard position + 1 + length <= bytes.count else { continue }
            let candidate = bytes[position + 1..<position + 1 + length].map { $0 | 0x20 }
            if candidate.elementsEqual(word.utf8) { offer(kind, 1 + length) }
        }
    }

    /// Counts the consecutive decimal digits at an offset from the current position.
    func digitCount(at offset: Int) -> Int {
        var count = 0
        while Lexer.isDigit(byte(offset + count)) { count += 1 }
        return count
    }

    /// The length in bytes of `0x` or `0X` and at least one hexadecimal digit; nil when the text is different.
    private func hexadecimalLength() -> Int? {
        guard byte(0) == UInt8(ascii: "0"), byte(1) | 0x20 == UInt8(ascii: "x") else { return nil }
        var length = 2
        while Lexer.isHexDigit(byte(length)) { length += 1 }
        return length > 2 ? length : nil
    }

    /// The length in bytes of a number with a decimal point, an exponent or the suffix `f`.
    ///
    /// - Parameters:
    ///   - sign: The length of the sign, 0 or 1.
    ///   - digits: The number of digits after the sign, which the caller has counted.
    /// - Returns: Nil when the number has none of the three, and so is an integer.
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

    /// The length in bytes of a calendar date `Y-M-D@h:m:s`, or with `T` instead of `@`.
    ///
    /// An optional fourth field after the time counts nanoseconds. The ranges of the fields are not checked here.
    ///
    /// - Returns: Nil when the text is not such a date.
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

// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

extension OutputBuffer {
    /// Decimal digits of `number`, with `-` where it is negative.
    @inline(__always) package func append(decimal number: Int64) {
        // Twenty characters hold every 64-bit number with its sign.
        let target = reserve(20)
        var magnitude = number.magnitude
        if magnitude < 10 {
            var length = 0
            if number < 0 {
                target[0] = UInt8(ascii: "-")
                length = 1
            }
            target[length] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: magnitude)
            advance(length + 1)
            return
        }
        let isNegative = number < 0
        let length = OutputBuffer.digitCount(magnitude) + (isNegative ? 1 : 0)
        var position = length
        while magnitude >= 100 {
            let (quotient, pair) = magnitude.quotientAndRemainder(dividingBy: 100)
            magnitude = quotient
            position -= 2
            OutputBuffer.put(pair: pair, at: target + position)
        }
        if magnitude >= 10 {
            position -= 2
            OutputBuffer.put(pair: magnitude, at: target + position)
        } else {
            position -= 1
            target[position] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: magnitude)
        }
        if isNegative { target[0] = UInt8(ascii: "-") }
        advance(length)
    }

    /// `number` in exactly `width` digits (1 to 19), with leading zeros; higher digits are cut.
    package func append(padded number: Int, width: Int) {
        let target = reserve(width)
        var rest = number.magnitude
        for position in stride(from: width - 1, through: 0, by: -1) {
            target[position] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        advance(width)
    }

    @inline(__always) private static func put(pair: UInt64, at target: UnsafeMutablePointer<UInt8>) {
        let tens = pair / 10
        target[0] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: tens)
        target[1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: pair &- tens &* 10)
    }

    @inline(__always) private static func digitCount(_ number: UInt64) -> Int {
        var limit: UInt64 = 10
        var digits = 1
        while digits < 20, number >= limit {
            digits += 1
            let (next, overflow) = limit.multipliedReportingOverflow(by: 10)
            if overflow { break }
            limit = next
        }
        return digits
    }

    /// The shortest text that reads back as `number`; false, and nothing written, when it is not finite.
    package func append(shortest number: Double) -> Bool {
        guard number.isFinite else { return false }
        append(number.description)
        return true
    }

    /// The shortest text that reads back as the same 32-bit `number`; false when it is not finite.
    package func append(shortest number: Float) -> Bool {
        guard number.isFinite else { return false }
        append(number.description)
        return true
    }

    /// Lower-case hex digits of the `byteCount` low bytes of `word`, most significant first.
    package func append(hex word: UInt64, byteCount: Int) {
        let target = reserve(byteCount * 2)
        for index in 0..<byteCount {
            let byte = UInt8(truncatingIfNeeded: word >> UInt64((byteCount - 1 - index) * 8))
            target[index * 2] = OutputBuffer.hexDigit(byte >> 4)
            target[index * 2 + 1] = OutputBuffer.hexDigit(byte & 15)
        }
        advance(byteCount * 2)
    }

    @inline(__always) static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") &+ nibble : UInt8(ascii: "a") &+ nibble &- 10
    }

    package func append(_ id: ObjectID) {
        append(hex: id.first, byteCount: 8)
        append(hex: UInt64(id.last), byteCount: 4)
    }

    /// The canonical form in five groups.
    package func append(_ uuid: UUIDValue) {
        append(hex: uuid.first >> 32, byteCount: 4)
        append(UInt8(ascii: "-"))
        append(hex: uuid.first >> 16 & 0xffff, byteCount: 2)
        append(UInt8(ascii: "-"))
        append(hex: uuid.first & 0xffff, byteCount: 2)
        append(UInt8(ascii: "-"))
        append(hex: uuid.last >> 48, byteCount: 2)
        append(UInt8(ascii: "-"))
        append(hex: uuid.last & 0xffff_ffff_ffff, byteCount: 6)
    }
}

extension OutputBuffer {
    /// `"NaN"`, `"Infinity"` or `"-Infinity"` with quotes.
    package func append(special number: Double) {
        append(number.isNaN ? "\"NaN\"" as StaticString : number < 0 ? "\"-Infinity\"" : "\"Infinity\"")
    }
}

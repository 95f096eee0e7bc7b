// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The text of a decimal: the scientific string of General Decimal Arithmetic.
///
/// Every digit and the exponent are kept, so that reading the text gives the same number with the
/// same exponent. Examples: `12.50`, `1E+3`, `-0`, `1.2E-9`, `NaN`, `-Infinity`.
extension Decimal128: CustomStringConvertible {
    /// The scientific string of the number; see the extension.
    package var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the scientific string, at most 43 bytes.
    package func append(to text: inout [UInt8]) {
        guard isFinite else { return appendSpecial(to: &text) }
        if isNegative { text.append(UInt8(ascii: "-")) }
        let start = text.count
        text.append(digitsOf: coefficient)
        let digitCount = text.count - start
        let exponent = exponent
        // The exponent that the number has with one digit before the point.
        let scientific = exponent + digitCount - 1
        guard exponent <= 0, scientific >= -6 else {
            if digitCount > 1 { text.insert(UInt8(ascii: "."), at: start + 1) }
            return Decimal128.append(exponent: scientific, to: &text)
        }
        guard exponent < 0 else { return }
        if scientific >= 0 {
            text.insert(UInt8(ascii: "."), at: start + scientific + 1)
        } else {
            let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: -scientific - 1)
            text.insert(contentsOf: [UInt8(ascii: "0"), UInt8(ascii: ".")] + zeros, at: start)
        }
    }

    /// The number of bytes that `writeShort` needs room for.
    package static let shortByteCount = 48

    /// Writes the same text as `append` for a number of at most 19 digits and 19 decimals, such as amounts are; returns its length in bytes,
    /// or nil for any other number.
    ///
    /// - Parameter target: Room for `shortByteCount` bytes.
    package func writeShort(to target: WritableBytes) -> Int? {
        target.require(Decimal128.shortByteCount)
        let exponent = exponent
        guard isFinite, exponent <= 0, exponent > -20, coefficient >> 64 == 0 else { return nil }
        let digits = UInt64(truncatingIfNeeded: coefficient)
        guard exponent == 0 || exponent + DigitWriter.digitCount(digits) - 1 >= -6 else { return nil }
        if isNegative { target[0] = UInt8(ascii: "-") }
        let start = isNegative ? 1 : 0
        guard exponent < 0 else { return start + DigitWriter.write(digits, to: target.suffix(from: start)) }
        let (whole, fraction) = digits.quotientAndRemainder(dividingBy: RealWriter.powersOfTen[-exponent])
        let point = start + DigitWriter.write(whole, to: target.suffix(from: start))
        target[point] = UInt8(ascii: ".")
        DigitWriter.write(fraction, digitCount: -exponent, to: target.suffix(from: point + 1))
        return point + 1 - exponent
    }

    /// Appends the words for NaN and the infinities.
    private func appendSpecial(to text: inout [UInt8]) {
        if isNaN { return text.append(contentsOf: "NaN".utf8) }
        text.append(contentsOf: (isNegative ? "-Infinity" : "Infinity").utf8)
    }

    /// Appends the exponent with its sign.
    private static func append(exponent: Int, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "E"))
        text.append(exponent < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        text.append(digitsOf: UInt64(exponent.magnitude))
    }
}

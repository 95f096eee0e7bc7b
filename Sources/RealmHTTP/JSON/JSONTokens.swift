// SPDX-License-Identifier: Apache-2.0

/// A look over JSON text before it is parsed: how deep it nests, how many values it has, and which number tokens jansson
/// cannot hold.
///
/// It checks no grammar; that is the parser's business.
struct JSONTokens {
    /// Number tokens whose value may not fit 64 bits, by the range of their bytes.
    private(set) var longNumbers: [Range<Int>] = []
    private(set) var maximumDepth = 0
    /// Arrays, objects, strings, numbers and words; names of members are none.
    private(set) var valueCount = 0
    /// Where the value stands that is one too many, and the text was not looked at any further.
    private(set) var excess: Int?

    /// Integers of at most 18 characters always fit; so do reals without a large exponent.
    private static let safeLength = 18

    /// Goes over a text once, and counts until `valueLimit` is passed. The text need not be valid JSON.
    init(_ bytes: UnsafeBufferPointer<UInt8>, valueLimit: Int = .max) {
        var index = 0
        var depth = 0
        while index < bytes.count {
            guard valueCount <= valueLimit else {
                excess = index
                return
            }
            switch unsafe bytes[index] {
            case UInt8(ascii: "\""):
                valueCount += 1
                index = unsafe JSONTokens.endOfString(bytes, index)
            case UInt8(ascii: ":"):
                // The string before was a name.
                valueCount -= 1
                index += 1
            case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
                valueCount += 1
                unsafe index += bytes[index] == UInt8(ascii: "f") ? 5 : 4
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                valueCount += 1
                maximumDepth = max(maximumDepth, depth)
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                index += 1
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let end = unsafe JSONTokens.endOfNumber(bytes, index)
                valueCount += 1
                if unsafe JSONTokens.isLong(bytes, index..<end) { longNumbers.append(index..<end) }
                index = end
            default:
                index += 1
            }
        }
        if valueCount > valueLimit { excess = bytes.count }
    }

    /// The index after the closing quote, or the end of the text.
    private static func endOfString(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            if unsafe bytes[index] == UInt8(ascii: "\"") { return index + 1 }
            unsafe index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return bytes.count
    }

    private static func endOfNumber(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var index = start + 1
        while index < bytes.count, unsafe isNumberByte(bytes[index]) { index += 1 }
        return index
    }

    private static func isNumberByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"):
            return true
        default: return false
        }
    }

    private static func isLong(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
        if range.count > safeLength { return true }
        // Two-digit exponents cannot leave the range of a double with so few digits before them.
        guard let exponent = range.first(where: { unsafe bytes[$0] | 0x20 == UInt8(ascii: "e") }) else { return false }
        return range.upperBound - exponent > 3
    }

    /// The token's grammar in JSON: `-? int frac? exp?`.
    static func isNumber(_ token: Substring.UTF8View) -> Bool {
        var rest = token
        func digits(_ rest: inout Substring.UTF8View) -> Int {
            let run = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            rest = rest.dropFirst(run.count)
            return run.count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = digits(&rest)
        guard whole > 0, !(startsWithZero && whole > 1) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits(&rest) > 0 else { return false }
        }
        if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits(&rest) > 0 else { return false }
        }
        return rest.isEmpty
    }
}

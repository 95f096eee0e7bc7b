// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A first pass over a JSON text before it is parsed: its depth, its number of values, and the number tokens that are too long
/// for jansson.
///
/// It does not check the grammar; the parser does that afterwards.
struct JSONTokens {
    /// The places of number tokens whose value may not fit into 64 bits, as byte ranges in ascending order.
    private(set) var longNumbers: [Range<Int>] = []
    /// The greatest number of arrays and objects that are open at the same time.
    private(set) var maximumDepth = 0
    /// The number of arrays, objects, strings, numbers and words in the text. Member names do not count.
    private(set) var valueCount = 0
    /// The byte offset at which the pass ended because the text has too many values; nil when the whole text was read.
    private(set) var excess: Int?

    /// The length up to which a number token is always read exactly enough by jansson: integers of
    /// at most 18 characters fit into 64 bits, and so do reals without a large exponent.
    private static let safeLength = 18

    /// Reads a text once. It need not be valid JSON.
    ///
    /// - Parameters:
    ///   - bytes: The text; it is used during the call only.
    ///   - valueLimit: The pass ends as soon as more values than this were counted.
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

    /// Returns the index after the closing quote of the string that begins at `start`, or the end of the text.
    private static func endOfString(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            if unsafe bytes[index] == UInt8(ascii: "\"") { return index + 1 }
            unsafe index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return bytes.count
    }

    /// Returns the index after the run of bytes that can belong to a number.
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

    /// Whether a number token may be beyond 64 bits: it is long, or its exponent has more than two characters.
    private static func isLong(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
        if range.count > safeLength { return true }
        // Two-digit exponents cannot leave the range of a double with so few digits before them.
        guard let exponent = range.first(where: { unsafe bytes[$0] | 0x20 == UInt8(ascii: "e") }) else { return false }
        return range.upperBound - exponent > 3
    }

    /// Returns whether a whole text is a number by the grammar of JSON: an optional minus sign,
    /// digits without leading zeros, an optional fraction and an optional exponent.
    ///
    /// - Parameter token: The bytes of the text.
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

// SPDX-License-Identifier: Apache-2.0

internal import CJansson
internal import RealmPlatform
internal import RealmStorage

/// Reads JSON. Duplicate member names, invalid UTF-8, lone surrogates and trailing data are errors.
///
/// Most texts are read with the library simdjson (`JSONTape`). Texts that it does not accept are read with jansson, which decides
/// on errors, and on numbers that simdjson does not represent.
///
/// jansson holds integers of 64 bits and doubles. Number tokens beyond these are handed to it as strings that begin with a
/// mark, and come out as `JSONValue.longInteger` and `JSONValue.longReal`. The mark is random and drawn once per process, so a
/// request cannot contain it.
package enum JSONParser {
    /// Parses one document.
    ///
    /// Number of values and depth are checked in a first pass, before any memory is used for the values.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - bounds: The limits that apply.
    ///   - expects: Called once with the number of values in the text; returning false refuses the
    ///     text.
    /// - Returns: The value that the document consists of.
    /// - Throws: `JSONError`; `unwanted` when `expects` returned false.
    package static func parse(
        _ bytes: [UInt8], _ bounds: JSONBounds, expects: (Int) -> Bool = { _ in true }
    ) throws(JSONError) -> JSONValue {
        guard !bytes.isEmpty else { throw .empty }
        var names = JSONNames(isUsed: bytes.count >= longText)
        return try unsafe bytes.withUnsafeBufferPointer {
            unsafe parse($0, bounds, &names, isCounted: true, expects)
        }.get()
    }

    /// Parses one of several documents that are parts of an array.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - bounds: The limits that apply.
    ///   - names: The names of members in documents before this one, to which those of this one are added.
    /// - Returns: The value that the document consists of.
    /// - Throws: `JSONError`.
    package static func parse(
        _ bytes: ArraySlice<UInt8>, _ bounds: JSONBounds, _ names: inout JSONNames
    ) throws(JSONError) -> JSONValue {
        guard !bytes.isEmpty else { throw .empty }
        return try unsafe bytes.withUnsafeBufferPointer {
            unsafe parse($0, bounds, &names, isCounted: false) { _ in true }
        }.get()
    }

    /// Counts the values of a text, whether it is valid JSON or not.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - limit: Counting ends shortly after this number is exceeded.
    /// - Returns: The number of values; some number above `limit` when there are more.
    package static func valueCount(of bytes: [UInt8], upTo limit: Int) -> Int {
        unsafe bytes.withUnsafeBufferPointer { unsafe JSONTokens($0, valueLimit: limit).valueCount }
    }

    /// Parses a document with any number of values.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - depthLimit: The greatest number of nested arrays and objects.
    /// - Returns: The value that the document consists of.
    /// - Throws: `JSONError`.
    package static func parse(_ bytes: [UInt8], depthLimit: Int) throws(JSONError) -> JSONValue {
        try parse(bytes, JSONBounds(depth: depthLimit))
    }

    /// Parses a document with any number of values.
    ///
    /// - Parameters:
    ///   - text: The text of the document.
    ///   - depthLimit: The greatest number of nested arrays and objects.
    /// - Returns: The value that the document consists of.
    /// - Throws: `JSONError`.
    package static func parse(_ text: String, depthLimit: Int) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), depthLimit: depthLimit)
    }

    /// The beginning of a string that takes the place of a long number in the text for jansson: a
    /// control character, some 25 random characters, and a colon.
    private static let mark: String = {
        var generator = SystemRandomNumberGenerator()
        return "\u{1}" + String(generator.next(), radix: 36) + String(generator.next(), radix: 36) + ":"
    }()

    /// The length in bytes from which on a text may have so many objects that their names are worth being kept.
    private static let longText = 1 << 10

    /// Parses a text with one library or the other.
    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, _ bounds: JSONBounds, _ names: inout JSONNames, isCounted: Bool,
        _ expects: (Int) -> Bool
    ) -> Result<JSONValue, JSONError> {
        switch unsafe JSONTape.read(bytes, bounds, names: &names, isCounted: isCounted, expects) {
        case .value(let value): return .success(value)
        case .unwanted: return .failure(.unwanted)
        case .undecided(isExpected: true): return unsafe parseExactly(bytes, bounds) { _ in true }
        case .undecided(isExpected: false): return unsafe parseExactly(bytes, bounds, expects)
        }
    }

    /// Parses a text with jansson.
    ///
    /// - Parameters:
    ///   - bytes: The text; it is used during the call only.
    ///   - bounds: The limits that apply.
    ///   - expects: Called once with the number of values in the text.
    package static func parseExactly(
        _ bytes: UnsafeBufferPointer<UInt8>, _ bounds: JSONBounds, _ expects: (Int) -> Bool
    ) -> Result<JSONValue, JSONError> {
        let tokens = unsafe JSONTokens(bytes, valueLimit: bounds.values)
        guard expects(tokens.valueCount) else { return .failure(.unwanted) }
        if let excess = tokens.excess { return .failure(.tooManyValues(limit: bounds.values, offset: excess)) }
        guard tokens.maximumDepth <= bounds.depth else {
            return .failure(.tooDeep(depth: tokens.maximumDepth, limit: bounds.depth))
        }
        guard !tokens.longNumbers.isEmpty else { return unsafe load(bytes, hasMarks: false) }
        let marked = unsafe markLongNumbers(bytes, tokens.longNumbers)
        return unsafe marked.withUnsafeBufferPointer { unsafe load($0, hasMarks: true) }
    }

    /// Returns the text with each long number replaced by a marked string. Tokens that are no valid
    /// numbers stay as they are, for jansson to reject.
    private static func markLongNumbers(_ bytes: UnsafeBufferPointer<UInt8>, _ ranges: [Range<Int>]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + ranges.count * (mark.utf8.count + 8))
        let escapedMark = "\"\\u0001" + mark.dropFirst()
        var next = 0
        for range in ranges {
            unsafe text.append(contentsOf: bytes[next..<range.lowerBound])
            next = range.upperBound
            let token = unsafe String(decoding: bytes[range], as: UTF8.self)
            if JSONTokens.isNumber(token[...].utf8), unsafe !isName(bytes, endingAt: range.upperBound) {
                text.append(contentsOf: (escapedMark + token + "\"").utf8)
            } else {
                unsafe text.append(contentsOf: bytes[range])
            }
        }
        unsafe text.append(contentsOf: bytes[next...])
        return text
    }

    /// Whether a token is followed by a colon, and so is in the place of a member name: an error
    /// that a marked string would hide.
    private static func isName(_ bytes: UnsafeBufferPointer<UInt8>, endingAt end: Int) -> Bool {
        unsafe bytes[end...].first { $0 > 0x20 } == UInt8(ascii: ":")
    }

    /// Parses a text with jansson, and copies the result into values of this program.
    ///
    /// - Parameters:
    ///   - bytes: The text, in which long numbers were replaced by marked strings.
    ///   - hasMarks: Whether there are such strings, which become numbers again.
    /// - Returns: The value, or `JSONError.malformed` with the place and the reason.
    private static func load(_ bytes: UnsafeBufferPointer<UInt8>, hasMarks: Bool) -> Result<JSONValue, JSONError> {
        let flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL
        var failure = json_error_t()
        let root = unsafe bytes.withMemoryRebound(to: CChar.self) { text in
            unsafe json_loadb(text.baseAddress, text.count, Int(flags), &failure)
        }
        guard let root = unsafe root else { return .failure(malformed(failure)) }
        defer { unsafe json_decref(root) }
        return unsafe .success(value(root, hasMarks))
    }

    /// Converts the error report of jansson, whose text is a C string of fixed size.
    private static func malformed(_ failure: json_error_t) -> JSONError {
        var failure = failure
        let reason = unsafe withUnsafeBytes(of: &failure.text) { text in
            unsafe String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
        return .malformed(line: Int(failure.line), column: Int(failure.column), reason: reason)
    }

    /// Copies a value of jansson and everything in it. The recursion is bounded, because the depth was checked before.
    private static func value(_ node: UnsafeMutablePointer<json_t>, _ hasMarks: Bool) -> JSONValue {
        switch unsafe realm_rest_json_type(node) {
        case JSON_TRUE: return .bool(true)
        case JSON_FALSE: return .bool(false)
        case JSON_INTEGER: return unsafe .integer(json_integer_value(node))
        case JSON_REAL: return unsafe .real(json_real_value(node))
        case JSON_STRING:
            let text = unsafe string(node)
            guard hasMarks, let digits = text.dropping(prefix: mark) else { return .string(text) }
            return number(String(digits))
        case JSON_ARRAY: return unsafe .array(elements(node, hasMarks))
        case JSON_OBJECT: return unsafe .object(JSONObject(members(node, hasMarks)))
        default: return .null
        }
    }

    private static func string(_ node: UnsafeMutablePointer<json_t>) -> String {
        guard let text = unsafe json_string_value(node) else { return "" }
        return unsafe text.withMemoryRebound(to: UInt8.self, capacity: json_string_length(node)) {
            unsafe String(decoding: UnsafeBufferPointer(start: $0, count: json_string_length(node)), as: UTF8.self)
        }
    }

    /// Makes a value of a number token that was carried in a marked string.
    private static func number(_ token: String) -> JSONValue {
        guard token.utf8.contains(where: { ".eE".utf8.contains($0) }) else {
            return Int64(token).map(JSONValue.integer) ?? .longInteger(token)
        }
        guard let number = Double(token), number.isFinite else { return .longReal(token) }
        return .real(number)
    }

    private static func elements(_ node: UnsafeMutablePointer<json_t>, _ hasMarks: Bool) -> [JSONValue] {
        unsafe (0..<json_array_size(node)).compactMap { index in
            unsafe json_array_get(node, index).map { unsafe value($0, hasMarks) }
        }
    }

    private static func members(_ node: UnsafeMutablePointer<json_t>, _ hasMarks: Bool) -> [(name: String, value: JSONValue)] {
        var members: [(name: String, value: JSONValue)] = []
        unsafe members.reserveCapacity(json_object_size(node))
        var iterator = unsafe json_object_iter(node)
        while let current = unsafe iterator {
            if let name = unsafe json_object_iter_key(current), let child = unsafe json_object_iter_value(current) {
                unsafe members.append((String(cString: name), value(child, hasMarks)))
            }
            unsafe iterator = unsafe json_object_iter_next(node, current)
        }
        return members
    }
}

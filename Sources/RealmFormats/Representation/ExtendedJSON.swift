// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Reads values that state their own type: objects with one member, such as `{"$oid":"…"}`.
///
/// Request bodies, imports and arguments of queries may have them wherever a plain value is
/// possible; `ValueWriter` writes them.
///
/// Source: MongoDB Extended JSON, canonical and relaxed, and three wrappers of our own:
/// `$numberFloat`, `$instant` and `$bytes`.
package enum ExtendedJSON {
    /// The reason why the contents of a wrapper are not a value of its type.
    package enum InputError: Error {
        /// The contents do not have the form of the type, such as digits that are missing from an object id.
        case unreadable
        /// The contents are a number that the type cannot represent; with a sentence for the client.
        case outOfRange(String)
        /// A decimal was given as a JSON number with fraction or exponent, whose digits may be lost in parsing.
        case decimalNeedsString

        /// Returns the sentence for the client.
        ///
        /// - Parameter name: The name of the wrapper, such as `$oid`.
        package func detail(_ name: String) -> String {
            switch self {
            case .unreadable: return "the value of '\(name)' must be \(ExtendedJSON.form(of: name))"
            case .outOfRange(let detail): return detail
            case .decimalNeedsString: return "a decimal with fraction or exponent must be given as a text"
            }
        }
    }

    /// The contents that a wrapper takes, as messages name them.
    private static func form(of name: String) -> String {
        switch name {
        case "$numberInt": return "a whole number of 32 bits, as a number or a text"
        case "$numberLong": return "a whole number of 64 bits, as a number or a text"
        case "$numberDouble", "$numberFloat": return #"a number, or a text such as "12.5", "Infinity" or "NaN""#
        case "$numberDecimal": return #"a whole number, or a text such as "12.50" with up to 34 digits"#
        case "$oid": return "24 hexadecimal digits"
        case "$uuid": return #"a UUID such as "3b241101-e2bb-4255-8caf-4136c566a962""#
        case "$binary": return #"base64 such as "AAEC", or an object such as {"base64":"AAEC","subType":"00"}"#
        case "$bytes": return #"base64 such as "AAEC""#
        case "$date": return #"a date such as "2024-05-17T09:30:00Z", or {"$numberLong":"…"} with milliseconds since 1970"#
        case "$instant": return "an object with 'seconds' and 'nanoseconds', the latter below 10^9"
        case "$link": return #"an object such as {"class":"Person","key":"7"}"#
        case "$expr": return "the text of an expression"
        default: return "of its type"
        }
    }

    /// Reads the value in a wrapper.
    ///
    /// - Parameters:
    ///   - name: The name of the wrapper.
    ///   - json: Its contents.
    /// - Returns: The value; nil when no wrapper for plain values has this name.
    /// - Throws: The reason why the contents are not a value of the type.
    package static func value(_ name: String, _ json: JSONValue) throws(InputError) -> TypedInput? {
        let read: TypedInput?
        switch name {
        case "$numberInt": read = try integer(json).map { number throws(InputError) in .int(Int64(try narrow(number))) }
        case "$numberLong": read = try integer(json).map { .int($0) }
        case "$numberDouble": read = try real(json).map { .double($0) }
        case "$numberFloat": read = try float(json).map { .float($0) }
        case "$numberDecimal": read = try decimal(json).map { .decimal($0) }
        case "$oid": read = json.string.flatMap { ObjectID($0) }.map { .objectID($0) }
        case "$uuid": read = json.string.flatMap { UUIDValue($0) }.map { .uuid($0) }
        case "$binary": read = binary(json)
        case "$bytes": read = json.string.flatMap { Base64.decode($0) }.map { .stringBytes($0) }
        case "$date": read = try date(json).map { .timestamp($0) }
        case "$instant": read = try instant(json).map { .timestamp($0) }
        default: return nil
        }
        guard let read else { throw .unreadable }
        return read
    }

    /// Reads the contents of a link stub, `{"class":…,"key":…}`.
    ///
    /// - Parameter json: The contents of `$link`.
    /// - Returns: The class and the text of the key; nil for any other value.
    package static func stub(_ json: JSONValue) -> (className: String, key: String)? {
        guard let object = json.object, object.count == 2, let name = object["class"]?.string, let key = object["key"]?.string
        else { return nil }
        return (name, key)
    }

    // MARK: - Numbers

    /// The error of a number beyond the range of its type.
    private static let tooLarge = InputError.outOfRange("the number is beyond the range of its type")

    /// Returns a number as one of 32 bits, or throws when it does not fit.
    private static func narrow(_ number: Int64) throws(InputError) -> Int32 {
        guard let narrow = Int32(exactly: number) else { throw tooLarge }
        return narrow
    }

    /// Reads a number from its text, with errors of this type.
    ///
    /// - Parameters:
    ///   - read: Reads the text; returns nil when it is not a number.
    private static func number<Number>(
        _ text: String, _ read: (String) throws(NumberText.OutOfRange) -> Number?
    ) throws(InputError) -> Number? {
        do throws(NumberText.OutOfRange) { return try read(text) } catch { throw .outOfRange(error.detail) }
    }

    /// Returns a 64-bit integer, given as a JSON number or as a string of digits; nil for anything else.
    private static func integer(_ json: JSONValue) throws(InputError) -> Int64? {
        switch json {
        case .integer(let integer): return integer
        case .string(let digits), .longInteger(let digits): return try number(digits, NumberText.integer)
        default: return nil
        }
    }

    /// Returns a double, given as a JSON number, as its text, or as `NaN`, `Infinity` or `-Infinity`; nil for anything else.
    ///
    /// - Throws: `outOfRange` for a finite number beyond the range of doubles.
    private static func real(_ json: JSONValue) throws(InputError) -> Double? {
        switch json {
        case .integer(let number): return Double(number)
        case .real(let number): return number
        case .longInteger(let digits): return try finite(Double(digits))
        case .longReal: throw tooLarge
        case .string(let text):
            if let special = NumberText.special(text) { return special }
            return JSONTokens.isNumber(text[...].utf8) ? try finite(Double(text)) : nil
        default: return nil
        }
    }

    /// Returns the float that is nearest to a number; nil for anything that is not a number.
    ///
    /// A text is converted directly, because rounding to a double first could give a neighbour.
    private static func float(_ json: JSONValue) throws(InputError) -> Float? {
        if case .string(let text) = json, JSONTokens.isNumber(text[...].utf8) { return try finite(Float(text)) }
        guard let number = try real(json) else { return nil }
        return number.isFinite ? try finite(Float(number)) : Float(number)
    }

    /// Returns a number that was converted, or throws when it became infinite.
    private static func finite<Number: FloatingPoint>(_ number: Number?) throws(InputError) -> Number {
        guard let number, number.isFinite else { throw tooLarge }
        return number
    }

    /// Returns a decimal, given as a text or as an integer.
    ///
    /// - Throws: `decimalNeedsString` for a JSON number with fraction or exponent, `outOfRange` for
    ///   too many digits or too large an exponent.
    private static func decimal(_ json: JSONValue) throws(InputError) -> Decimal128? {
        switch json {
        case .string(let text), .longInteger(let text): return try number(text, NumberText.decimal)
        case .integer(let number): return Decimal128(number)
        case .real, .longReal: throw .decimalNeedsString
        default: return nil
        }
    }

    // MARK: - Bytes and times

    /// Returns data, given as base64 or as an object of base64 and a subtype of one or two hexadecimal digits.
    ///
    /// Subtype 4 is a UUID, which has to have 16 bytes. Other subtypes are not kept, since the file has no place for them.
    private static func binary(_ json: JSONValue) -> TypedInput? {
        if let text = json.string { return Base64.decode(text).map { .binary($0) } }
        guard let object = json.object, object.count == 2, let bytes = object["base64"]?.string.flatMap({ Base64.decode($0) }),
            let subtype = object["subType"]?.string, (1...2).contains(subtype.utf8.count), let kind = UInt8(subtype, radix: 16)
        else { return nil }
        guard kind == 4 else { return .binary(bytes) }
        let storage = ByteStorage(bytes)
        return withExtendedLifetime(storage) { UUIDValue(bytes: storage.view).map { .uuid($0) } }
    }

    /// Returns a date, given as RFC 3339 text or as `$numberLong` with milliseconds since 1970.
    private static func date(_ json: JSONValue) throws(InputError) -> Timestamp? {
        if let text = json.string { return Timestamp(rfc3339: text) }
        guard let (name, inner) = json.object?.single, name == "$numberLong", let milliseconds = try integer(inner) else {
            return nil
        }
        return Timestamp(seconds: milliseconds / 1000, nanoseconds: Int32(milliseconds % 1000) * 1_000_000)
    }

    /// Returns a date, given as seconds since 1970 and nanoseconds of the same sign, for years that RFC 3339 does not have.
    private static func instant(_ json: JSONValue) throws(InputError) -> Timestamp? {
        guard let object = json.object, object.count == 2, let first = object["seconds"], let second = object["nanoseconds"],
            let seconds = try integer(first), let nanoseconds = try integer(second), nanoseconds.magnitude < 1_000_000_000
        else { return nil }
        // In the file both parts have the same sign. Others might be meant in one way or another.
        guard seconds == 0 || nanoseconds == 0 || (seconds < 0) == (nanoseconds < 0) else {
            throw .outOfRange("the seconds and the nanoseconds of '$instant' must have the same sign")
        }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }
}

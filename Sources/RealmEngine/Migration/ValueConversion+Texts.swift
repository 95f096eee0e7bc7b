// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Values as texts, dates, bytes and ids.
extension ValueConversion {
    /// The number of nanoseconds in a second.
    private static let perSecond = 1_000_000_000.0

    // MARK: - Texts

    /// Returns a value as the text in which it is shown; nil for a date beyond the years 1 to 9999, and
    /// for bytes that are no UTF-8 where the conversion asks for it.
    func string(_ value: Value) -> OwnedValue? {
        switch value {
        case .string: return OwnedValue(copying: value)
        case .bool(let flag): return .string(flag ? "true" : "false")
        case .int(let number): return .string(String(number))
        case .float(let number): return ValueConversion.text { $0.append(shortest: number) }
        case .double(let number): return ValueConversion.text { $0.append(shortest: number) }
        case .decimal(let number): return .string(number.description)
        case .timestamp(let date): return date.rfc3339.map { .string($0) }
        case .objectID(let id): return .string(id.description)
        case .uuid(let id): return .string(id.description)
        case .binary(let bytes):
            guard form == .utf8 else { return ValueConversion.text { Base64.append(bytes, to: &$0) } }
            return bytes.validatedString.map { .string($0) }
        case .null, .link, .list, .dictionary: return nil
        }
    }

    /// Returns the string value of a text that a closure appends.
    private static func text(_ write: (inout [UInt8]) -> Void) -> OwnedValue {
        var text: [UInt8] = []
        write(&text)
        return .string(text)
    }

    // MARK: - Dates

    /// Returns a value as a date; nil for texts that are no dates, and for numbers that are none or may
    /// not be rounded to nanoseconds.
    func date(_ value: Value, _ rounding: PropertyChange.Rounding) -> Timestamp? {
        switch (value, form) {
        case (.timestamp(let date), .usual): return date
        case (.string(let bytes), .usual): return bytes.validatedString.flatMap(ValueConversion.date)
        case (.int(let seconds), .seconds): return Timestamp(seconds: seconds, nanoseconds: 0)
        case (.int(let milliseconds), .milliseconds):
            let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
            return Timestamp(seconds: seconds, nanoseconds: Int32(rest) * 1_000_000)
        case (.double(let seconds), .seconds): return ValueConversion.date(seconds, rounding)
        default: return nil
        }
    }

    /// Returns the date of a text in the form of RFC 3339; a date without a time is midnight UTC.
    private static func date(_ text: String) -> Timestamp? {
        Timestamp(rfc3339: text.utf8.count == 10 ? text + "T00:00:00Z" : text)
    }

    /// Returns the date at a number of seconds since 1970, with the nearest nanosecond.
    ///
    /// - Parameters:
    ///   - rounding: With `exact`, the seconds of the date have to be this number again.
    /// - Returns: Nil for numbers beyond 64 bits and for those that are not finite.
    static func date(_ seconds: Double, _ rounding: PropertyChange.Rounding) -> Timestamp? {
        guard var whole = Int64(exactly: seconds.rounded(.towardZero)) else { return nil }
        var rest = ((seconds - Double(whole)) * perSecond).rounded(.toNearestOrEven)
        if rest.magnitude >= perSecond {
            whole += rest < 0 ? -1 : 1
            rest = 0
        }
        guard rounding != .exact || Double(whole) + rest / perSecond == seconds else { return nil }
        return Timestamp(seconds: whole, nanoseconds: Int32(rest))
    }

    // MARK: - Bytes and ids

    /// Returns a value as bytes: those of an id, those that a base64 text describes, or those of the text
    /// itself where the conversion asks for it.
    func data(_ value: Value) -> OwnedValue? {
        switch value {
        case .binary: return OwnedValue(copying: value)
        case .string(let bytes): return form == .utf8 ? .binary(bytes.array) : Base64.decode(bytes).map { .binary($0) }
        case .objectID(let id): return .binary(id.bytes)
        case .uuid(let id): return .binary(id.bytes)
        default: return nil
        }
    }

    /// Returns a value as an object id: of 24 hexadecimal digits, or of 12 bytes.
    static func objectID(_ value: Value) -> ObjectID? {
        switch value {
        case .objectID(let id): return id
        case .string(let bytes): return bytes.validatedString.flatMap { ObjectID($0) }
        case .binary(let bytes): return ObjectID(bytes: bytes)
        default: return nil
        }
    }

    /// Returns a value as a UUID: of a text in the canonical form, or of 16 bytes.
    static func uuid(_ value: Value) -> UUIDValue? {
        switch value {
        case .uuid(let id): return id
        case .string(let bytes): return bytes.validatedString.flatMap { UUIDValue($0) }
        case .binary(let bytes): return UUIDValue(bytes: bytes)
        default: return nil
        }
    }
}

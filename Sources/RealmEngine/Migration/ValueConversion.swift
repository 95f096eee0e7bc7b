// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A conversion of values from one type to another, as `double-to-int`.
///
/// A value is converted when the new type can hold it without loss: when the result, converted back, is equal to it. Every
/// other value fails, and `PropertyChange.Failure` decides what becomes of it; `PropertyChange.Rounding` lets numbers pass that
/// have to be rounded. Texts have the form in which the interface shows the values.
struct ValueConversion: Equatable {
    /// The part of a name that follows the types, where there are several ways from one to the other.
    enum Form: String {
        /// The usual way, which the name does not mention.
        case usual = ""
        /// Seconds since 1970.
        case seconds = "-seconds"
        /// Milliseconds since 1970.
        case milliseconds = "-milliseconds"
        /// Text as the bytes of its UTF-8.
        case utf8 = "-utf8"
    }

    /// The type that the conversion starts from; nil when it accepts any type.
    let source: PropertyType?
    /// The type that the conversion results in.
    let target: PropertyType
    /// Which of several ways is meant.
    let form: Form

    /// The name in migrations, for example `int-to-date-seconds`.
    var name: String { (source.map { $0.rawValue + "-" } ?? "") + "to-" + target.rawValue + form.rawValue }

    /// All conversions in the order of their types.
    static let all: [ValueConversion] =
        pairs.flatMap { source, targets in
            targets.map { ValueConversion(source: source, target: $0.0, form: $0.1) }
        } + [ValueConversion(source: nil, target: .mixed, form: .usual)]

    private static let byName = [ByteText: ValueConversion](
        texts: all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns the conversion with a name; nil when there is none.
    static func named(_ name: String) -> ValueConversion? { byName[name] }

    /// The types with what each can be converted to, other than mixed.
    private static let pairs: [(PropertyType, [(PropertyType, Form)])] = [
        (
            .int,
            [
                (.bool, .usual), (.float, .usual), (.double, .usual), (.decimal128, .usual), (.string, .usual),
                (.date, .seconds), (.date, .milliseconds),
            ]
        ),
        (.bool, [(.int, .usual), (.float, .usual), (.double, .usual), (.decimal128, .usual), (.string, .usual)]),
        (.float, [(.int, .usual), (.bool, .usual), (.double, .usual), (.decimal128, .usual), (.string, .usual)]),
        (
            .double,
            [(.int, .usual), (.bool, .usual), (.float, .usual), (.decimal128, .usual), (.string, .usual), (.date, .seconds)]
        ),
        (.decimal128, [(.int, .usual), (.bool, .usual), (.float, .usual), (.double, .usual), (.string, .usual)]),
        (
            .string,
            [
                (.int, .usual), (.bool, .usual), (.float, .usual), (.double, .usual), (.decimal128, .usual), (.date, .usual),
                (.data, .usual), (.data, .utf8), (.objectId, .usual), (.uuid, .usual),
            ]
        ),
        (.date, [(.string, .usual), (.int, .seconds), (.int, .milliseconds), (.double, .seconds)]),
        (.data, [(.string, .usual), (.string, .utf8), (.objectId, .usual), (.uuid, .usual)]),
        (.objectId, [(.string, .usual), (.data, .usual)]), (.uuid, [(.string, .usual), (.data, .usual)]),
        (.mixed, scalars.map { ($0, .usual) }),
    ]

    /// The types of single values other than mixed and links.
    private static let scalars: [PropertyType] = [
        .int, .bool, .float, .double, .decimal128, .string, .date, .data, .objectId, .uuid,
    ]

    /// Converts one value. Null remains null.
    ///
    /// - Parameters:
    ///   - value: The stored value of the old property. A conversion from mixed accepts every value that
    ///     has the new type or is converted to it in the usual way.
    ///   - rounding: Whether numbers may be rounded.
    /// - Returns: The converted value, with bytes of its own; nil when it cannot be converted, as for a
    ///   string without digits.
    func convert(_ value: Value, _ rounding: PropertyChange.Rounding) -> OwnedValue? {
        if value.isNull { return OwnedValue(.null) }
        switch target {
        case .int: return integer(value, rounding).map { OwnedValue(.int($0)) }
        case .bool: return ValueConversion.flag(value).map { OwnedValue(.bool($0)) }
        case .float: return ValueConversion.float(value, rounding).map { OwnedValue(.float($0)) }
        case .double: return double(value, rounding).map { OwnedValue(.double($0)) }
        case .decimal128: return ValueConversion.decimal(value, rounding).map { OwnedValue(.decimal($0)) }
        case .string: return string(value)
        case .date: return date(value, rounding).map { OwnedValue(.timestamp($0)) }
        case .data: return data(value)
        case .objectId: return ValueConversion.objectID(value).map { OwnedValue(.objectID($0)) }
        case .uuid: return ValueConversion.uuid(value).map { OwnedValue(.uuid($0)) }
        case .mixed: return OwnedValue(copying: value)
        case .object: return nil
        }
    }
}

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

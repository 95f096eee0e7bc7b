// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A conversion of values from one type to another, as `double-to-int`.
///
/// A value is converted when the new type can hold it without loss: when the result, converted back, is
/// equal to it. Every other value fails, and `PropertyChange.Failure` decides what becomes of it;
/// `PropertyChange.Rounding` lets numbers pass that have to be rounded. Texts have the form in which the interface
/// shows the values.
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

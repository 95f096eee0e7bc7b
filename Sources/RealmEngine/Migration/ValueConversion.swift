// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The conversions of values from one type to another, under the names that migrations use.
package enum ValueConversion: String, Sendable, CaseIterable {
    /// An int as the nearest double.
    case intToDouble = "int-to-double"
    /// An int as its decimal digits.
    case intToString = "int-to-string"
    /// A string of decimal digits as an int.
    case stringToInt = "string-to-int"
    /// A double as the decimal of its shortest text.
    case doubleToDecimal128 = "double-to-decimal128"
    /// A string of 24 hex digits as an id.
    case stringToObjectId = "string-to-objectId"
    /// A string in the canonical form as a UUID.
    case stringToUuid = "string-to-uuid"
    /// Any value as the same value in a mixed property.
    case toMixed = "to-mixed"
    /// An int as seconds since 1970.
    case intToDateSeconds = "int-to-date-seconds"
    /// An int as milliseconds since 1970.
    case intToDateMilliseconds = "int-to-date-milliseconds"

    /// The type that the conversion starts from; nil when it accepts any type.
    var source: PropertyType? {
        switch self {
        case .intToDouble, .intToString, .intToDateSeconds, .intToDateMilliseconds: return .int
        case .stringToInt, .stringToObjectId, .stringToUuid: return .string
        case .doubleToDecimal128: return .double
        case .toMixed: return nil
        }
    }

    /// The type that the conversion results in.
    var target: PropertyType {
        switch self {
        case .intToDouble: return .double
        case .intToString: return .string
        case .stringToInt: return .int
        case .doubleToDecimal128: return .decimal128
        case .stringToObjectId: return .objectId
        case .stringToUuid: return .uuid
        case .toMixed: return .mixed
        case .intToDateSeconds, .intToDateMilliseconds: return .date
        }
    }

    /// Converts one value. Null remains null.
    ///
    /// - Parameter value: The stored value of the old property.
    /// - Returns: The converted value, with bytes of its own; nil when it cannot be converted, as for a
    ///   string without digits.
    func convert(_ value: Value) -> OwnedValue? {
        switch (self, value) {
        case (_, .null): return OwnedValue(.null)
        case (.intToDouble, .int(let number)): return OwnedValue(.double(Double(number)))
        case (.intToString, .int(let number)): return .string(String(number))
        case (.stringToInt, .string(let bytes)):
            return bytes.validatedString.flatMap { Int64($0) }.map { OwnedValue(.int($0)) }
        case (.doubleToDecimal128, .double(let number)): return OwnedValue(.decimal(Decimal128(number)))
        case (.stringToObjectId, .string(let bytes)):
            return bytes.validatedString.flatMap { ObjectID($0) }.map { OwnedValue(.objectID($0)) }
        case (.stringToUuid, .string(let bytes)):
            return bytes.validatedString.flatMap { UUIDValue($0) }.map { OwnedValue(.uuid($0)) }
        case (.intToDateSeconds, .int(let seconds)):
            return OwnedValue(.timestamp(Timestamp(seconds: seconds, nanoseconds: 0)))
        case (.intToDateMilliseconds, .int(let milliseconds)):
            let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
            return OwnedValue(.timestamp(Timestamp(seconds: seconds, nanoseconds: Int32(rest) * 1_000_000)))
        case (.toMixed, _): return OwnedValue(copying: value)
        default: return nil
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// Ways from one type to another, by the names that migrations use.
package enum ValueConversion: String, Sendable, CaseIterable {
    case intToDouble = "int-to-double"
    case intToString = "int-to-string"
    case stringToInt = "string-to-int"
    case doubleToDecimal128 = "double-to-decimal128"
    case stringToObjectId = "string-to-objectId"
    case stringToUuid = "string-to-uuid"
    case toMixed = "to-mixed"
    case intToDateSeconds = "int-to-date-seconds"
    case intToDateMilliseconds = "int-to-date-milliseconds"

    /// Nil: any.
    var source: PropertyType? {
        switch self {
        case .intToDouble, .intToString, .intToDateSeconds, .intToDateMilliseconds: return .int
        case .stringToInt, .stringToObjectId, .stringToUuid: return .string
        case .doubleToDecimal128: return .double
        case .toMixed: return nil
        }
    }

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

    /// Nil when the value cannot be converted.
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

// SPDX-License-Identifier: Apache-2.0

/// A parsed JSON value. Number tokens keep what a 64-bit number cannot say.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A token without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// A token without fraction and exponent that does not fit 64 bits.
    case longInteger(String)
    /// A token with `.` or `e`.
    case real(Double)
    /// A token with `.` or `e` beyond the range of a double.
    case longReal(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// What to call it in an error text.
    package var kind: String {
        switch self {
        case .null: return "null"
        case .bool: return "a boolean"
        case .integer, .longInteger, .real, .longReal: return "a number"
        case .string: return "a string"
        case .array: return "an array"
        case .object: return "an object"
        }
    }

    /// The object; nil for any other value.
    package var object: JSONObject? {
        if case .object(let object) = self { return object }
        return nil
    }

    /// The elements of an array; nil for any other value.
    package var array: [JSONValue]? {
        if case .array(let array) = self { return array }
        return nil
    }

    /// The text of a string; nil for any other value.
    package var string: String? {
        if case .string(let string) = self { return string }
        return nil
    }
}

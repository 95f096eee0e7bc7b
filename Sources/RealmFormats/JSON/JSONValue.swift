// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A parsed JSON value. Numbers that 64 bits cannot represent keep the text of their token, so that
/// decimals and large integers lose nothing.
package enum JSONValue: Sendable, Equatable {
    /// The word `null`.
    case null
    /// One of the words `true` and `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits into 64 bits.
    case integer(Int64)
    /// A number without fraction and exponent that does not fit into 64 bits, as its token.
    case longInteger(String)
    /// A number with a fraction or an exponent.
    case real(Double)
    /// A number with a fraction or an exponent beyond the range of a double, as its token.
    case longReal(String)
    /// A string, with its escapes resolved.
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The name of such a value in an error text, with an article: "a number".
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

    /// The object that this value is; nil for every other kind.
    package var object: JSONObject? {
        if case .object(let object) = self { return object }
        return nil
    }

    /// The elements of the array that this value is; nil for every other kind.
    package var array: [JSONValue]? {
        if case .array(let array) = self { return array }
        return nil
    }

    /// The text of the string that this value is; nil for every other kind.
    package var string: String? {
        if case .string(let string) = self { return string }
        return nil
    }
}

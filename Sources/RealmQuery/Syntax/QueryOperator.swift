// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// An operator that compares two operands: equality, order, and the string operators.
///
/// The raw values are the spellings that error messages and plans use. `BETWEEN` and `geoWithin` are not part of this type
/// because their right sides are not operands; they have syntax nodes of their own.
enum QueryOperator: String, Sendable {
    /// `==` or `=`: the values are equal, numbers by value across types; null equals null.
    case equal = "=="
    /// `!=` or `<>`: the negation of `==` for two single values.
    case notEqual = "!="
    /// `IN`: like `==`, except that the right side must be multi-valued.
    case `in` = "IN"
    /// `<`: false when one of the values is null, except for strings of the base class, where null is the smallest.
    case less = "<"
    /// `<=` or `=<`: the left value is less than the right one, or both are equal, or both are null.
    case lessOrEqual = "<="
    /// `>`: the left value is greater than the right one; false when one of them is null.
    case greater = ">"
    /// `>=` or `=>`: the left value is greater than the right one, or both are equal, or both are null.
    case greaterOrEqual = ">="
    /// `BEGINSWITH`: the bytes on the left start with those on the right.
    case beginsWith = "BEGINSWITH"
    /// `ENDSWITH`: the bytes on the left end with those on the right.
    case endsWith = "ENDSWITH"
    /// `CONTAINS`: the bytes on the right occur within those on the left.
    case contains = "CONTAINS"
    /// `LIKE`: the whole text on the left fits the pattern on the right, in which `*` is any
    /// sequence and `?` one Unicode scalar.
    case like = "LIKE"
    /// `TEXT`: a full-text search for the terms on the right. It needs a full-text index.
    case text = "TEXT"

    /// Whether this is `==`, `!=` or `IN`, the operators that are also defined for links, lists and `@type`.
    var isEquality: Bool { self == .equal || self == .notEqual || self == .in }

    /// Whether this operator asks for an order: `<`, `<=`, `>` or `>=`.
    var isRelational: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return true
        default: return false
        }
    }

    /// Whether this is one of the four string operators that take `[c]`. Full-text search is not among them.
    var isPattern: Bool {
        switch self {
        case .beginsWith, .endsWith, .contains, .like: return true
        default: return false
        }
    }
}

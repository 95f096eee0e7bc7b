// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

enum QueryOperator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case `in` = "IN"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"
    case text = "TEXT"

    var isEquality: Bool { self == .equal || self == .notEqual || self == .in }

    var isRelational: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return true
        default: return false
        }
    }

    /// The operators between two strings, full text search aside.
    var isPattern: Bool {
        switch self {
        case .beginsWith, .endsWith, .contains, .like: return true
        default: return false
        }
    }
}

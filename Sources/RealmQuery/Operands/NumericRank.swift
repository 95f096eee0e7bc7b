// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The numeric types from narrow to wide.
enum NumericRank: Int, Comparable {
    case int, float, double, decimal

    static func < (left: NumericRank, right: NumericRank) -> Bool { left.rawValue < right.rawValue }
}

extension Value {
    /// Nil for values that are no numbers.
    var numericRank: NumericRank? {
        switch self {
        case .int: return .int
        case .float: return .float
        case .double: return .double
        case .decimal: return .decimal
        default: return nil
        }
    }

    var asFloat: Float {
        switch self {
        case .int(let number): return Float(number)
        case .float(let number): return number
        default: return .nan
        }
    }

    var asDouble: Double {
        switch self {
        case .int(let number): return Double(number)
        case .float(let number): return Double(number)
        case .double(let number): return number
        default: return .nan
        }
    }
}

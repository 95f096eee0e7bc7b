// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The numeric types from narrow to wide. Arithmetic on two numbers has the wider of their types.
enum NumericRank: Int, Comparable {
    case int, float, double, decimal

    /// Whether the type on the left is narrower than the one on the right.
    static func < (left: NumericRank, right: NumericRank) -> Bool { left.rawValue < right.rawValue }
}

extension Value {
    /// The rank of a number's type; nil for values that are not numbers.
    var numericRank: NumericRank? {
        switch self {
        case .int: return .int
        case .float: return .float
        case .double: return .double
        case .decimal: return .decimal
        default: return nil
        }
    }

    /// An int or a float as a float, rounded to the nearest one; NaN for every other value.
    var asFloat: Float {
        switch self {
        case .int(let number): return Float(number)
        case .float(let number): return number
        default: return .nan
        }
    }

    /// An int, a float or a double as a double, rounded to the nearest one; NaN for every other value.
    var asDouble: Double {
        switch self {
        case .int(let number): return Double(number)
        case .float(let number): return Double(number)
        case .double(let number): return number
        default: return .nan
        }
    }
}

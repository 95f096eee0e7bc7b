// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// An arithmetic operator between two operands. The raw values are the spellings in a query.
enum ArithmeticOperator: String, Sendable {
    /// The sum of two numbers.
    case plus = "+"
    /// The difference of two numbers.
    case minus = "-"
    /// The product of two numbers.
    case times = "*"
    /// The quotient of two numbers, which is truncated towards zero if both are integers.
    case divided = "/"

    /// The precedence: 2 for multiplication and division, 1 for the others.
    var precedence: Int { self == .plus || self == .minus ? 1 : 2 }
}

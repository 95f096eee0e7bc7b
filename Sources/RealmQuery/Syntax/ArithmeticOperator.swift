// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// An arithmetic operator between two operands. The raw values are the spellings in a query.
enum ArithmeticOperator: String, Sendable {
    /// Addition.
    case plus = "+"
    /// Subtraction.
    case minus = "-"
    /// Multiplication.
    case times = "*"
    /// Division, which truncates between two integers.
    case divided = "/"

    /// How tightly the operator binds: 2 for multiplication and division, 1 for the others.
    var precedence: Int { self == .plus || self == .minus ? 1 : 2 }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

enum ArithmeticOperator: String, Sendable {
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divided = "/"

    var precedence: Int { self == .plus || self == .minus ? 1 : 2 }
}

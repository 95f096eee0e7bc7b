// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension Value {
    /// Whether the value is a NaN: a float, a double or a decimal.
    var isNaN: Bool {
        switch self {
        case .float(let number): return number.isNaN
        case .double(let number): return number.isNaN
        case .decimal(let number): return number.isNaN
        default: return false
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

extension Value {
    /// Whether the value is a NaN: a float, a double or a decimal.
    package var isNaN: Bool {
        switch self {
        case .float(let number): return number.isNaN
        case .double(let number): return number.isNaN
        case .decimal(let number): return number.isNaN
        default: return false
        }
    }
}

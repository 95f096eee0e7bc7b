// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
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

    /// Whether the value is a float or double that is not a number.
    var isBinaryNaN: Bool {
        if case .decimal = self { return false }
        return isNaN
    }
}

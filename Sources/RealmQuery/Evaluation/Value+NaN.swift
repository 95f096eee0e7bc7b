// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension Value {
    /// Is it a NaN of whatever type?
    var isNaN: Bool {
        switch self {
        case .float(let number): return number.isNaN
        case .double(let number): return number.isNaN
        case .decimal(let number): return number.isNaN
        default: return false
        }
    }
}

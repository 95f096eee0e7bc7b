// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

extension Value {
    /// Represents the value at the end of a path that passes a null link.
    ///
    /// It sorts after everything, unlike a value that is null. No property holds it, because the
    /// links of properties lead to tables.
    static let missing = Value.link(.null, .null)

    /// Whether the value is a link, also one that leads nowhere.
    var isLink: Bool {
        if case .link = self { return true }
        return false
    }

    /// Whether the value represents the end of a path that passes a null link.
    var isMissing: Bool {
        if case .link(.null, .null) = self { return true }
        return false
    }
}

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

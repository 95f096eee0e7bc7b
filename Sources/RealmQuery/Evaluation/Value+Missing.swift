// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

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

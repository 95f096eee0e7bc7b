// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A step from a property into the collection it holds.
enum PathStep {
    case key(String, ByteView)
    case index(Int)
    case last
    case all

    var isAll: Bool {
        if case .all = self { return true }
        return false
    }

    /// As it would be written in a query.
    var label: String {
        switch self {
        case .key(let name, _): return "['\(name)']"
        case .index(let index): return "[\(index)]"
        case .last: return "[LAST]"
        case .all: return "[*]"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A step from a property into its collection, or from there into a nested one.
enum PathStep {
    /// The entry of a dictionary with this key, as text for messages and as bytes for the look-up.
    case key(String, ByteView)
    /// Takes the element at a zero-based index of a list.
    case index(Int)
    /// Takes the last element of a list.
    case last
    /// Takes every element of a list, or every entry of a dictionary.
    case all

    /// Whether the step takes every element of its collection.
    var isAll: Bool {
        if case .all = self { return true }
        return false
    }

    /// The step in the notation of queries, with its brackets, for error messages.
    var label: String {
        switch self {
        case .key(let name, _): return "['\(name)']"
        case .index(let index): return "[\(index)]"
        case .last: return "[LAST]"
        case .all: return "[*]"
        }
    }
}

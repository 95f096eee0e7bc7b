// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Members by names that come from elsewhere.
extension JSONObject {
    /// Returns the value of a member whose name has exactly these bytes; nil when there is none.
    ///
    /// Texts count as equal in Swift when they look the same, which is too little where a name decides about rights.
    func member(exactly name: some StringProtocol) -> JSONValue? {
        members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Returns the value at a path of names with dots between them; nil when there is none.
    ///
    /// A member whose own name has dots, such as `https://example.com/roles`, is found too, and comes first.
    ///
    /// - Complexity: O(n) for each of the names, for objects of n members.
    func value(at path: some StringProtocol) -> JSONValue? {
        if let value = member(exactly: path) { return value }
        guard let dot = path.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        return member(exactly: path[..<dot])?.object?.value(at: path[path.utf8.index(after: dot)...])
    }
}

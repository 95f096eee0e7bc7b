// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The members of a JSON object in the order in which they were written. The names are unique.
package struct JSONObject: Sendable, Equatable {
    /// The members in their order.
    package let members: [(name: String, value: JSONValue)]

    /// Makes an object of its members.
    ///
    /// - Parameter members: Names and values. The caller ensures that the names differ.
    package init(_ members: [(name: String, value: JSONValue)]) { self.members = members }

    package var count: Int { members.count }
    /// The names of the members in their order.
    package var names: [String] { members.map(\.name) }

    /// The value of a member; nil when the object does not have it.
    ///
    /// - Complexity: O(n) for n members: the objects of requests are small, or are walked in order.
    package subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    /// The only member of an object such as `{"$link": …}`; nil when there are none or several.
    package var single: (name: String, value: JSONValue)? { members.count == 1 ? members[0] : nil }

    /// Returns whether two objects have equal members in the same order. Objects that differ only in order are not equal.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.elementsEqual(right.members) { $0.name == $1.name && $0.value == $1.value }
    }
}

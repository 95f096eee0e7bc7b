// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON object in the order they were written; names are unique.
package struct JSONObject: Sendable, Equatable {
    /// The members in their order.
    package let members: [(name: String, value: JSONValue)]

    /// An object of these members. The names have to differ.
    package init(_ members: [(name: String, value: JSONValue)]) { self.members = members }

    /// How many members there are.
    package var count: Int { members.count }
    /// The names in their order.
    package var names: [String] { members.map(\.name) }

    /// The value of a member; linear, as objects in requests are small or walked in order.
    package subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    /// The only member, or nil when there are none or several.
    package var single: (name: String, value: JSONValue)? { members.count == 1 ? members[0] : nil }

    /// Whether both have the same members in the same order.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.elementsEqual(right.members) { $0.name == $1.name && $0.value == $1.value }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The members of an object or dictionary in the order in which they were given, without duplicates.
///
/// Names are as written. The `MemberNaming` of the session decides what they mean for an object of a class.
package struct InputObject: Sendable, ExpressibleByDictionaryLiteral {
    /// The members in the order in which they were given.
    package let members: [(name: String, value: InputValue)]
    /// The number of members that were given; those after them are defaults of the class.
    let givenCount: Int
    /// Whether a null is the value of an entry, also where a merge would remove the entry. So it is in dictionaries that a
    /// migration has copied or computed as a whole.
    let keepsNulls: Bool

    /// Makes an object with members of which no two have the same name.
    package init(_ members: [(name: String, value: InputValue)]) { self.init(members, keepsNulls: false) }

    /// Makes an object whose nulls may be entries of a dictionary.
    init(_ members: [(name: String, value: InputValue)], keepsNulls: Bool) {
        self.init(members, givenCount: members.count, keepsNulls: keepsNulls)
    }

    /// Makes an object whose last members may be defaults.
    private init(_ members: [(name: String, value: InputValue)], givenCount: Int, keepsNulls: Bool) {
        self.members = members
        self.givenCount = givenCount
        self.keepsNulls = keepsNulls
    }

    /// Returns the object with defaults of its class after its members.
    func adding(_ defaults: [(name: String, value: InputValue)]) -> InputObject {
        defaults.isEmpty ? self : InputObject(members + defaults, givenCount: givenCount, keepsNulls: keepsNulls)
    }

    /// Makes an object with the members of a literal, in its order.
    package init(dictionaryLiteral elements: (String, InputValue)...) {
        self.init(elements.map { (name: $0.0, value: $0.1) })
    }

    /// The value of the member with the given name, or nil.
    ///
    /// - Complexity: Linear in the number of members.
    package subscript(name: String) -> InputValue? { members.first { $0.name == name }?.value }
}

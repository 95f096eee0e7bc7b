// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Members in the order given, without duplicates.
///
/// Names are as written; what they mean for an object of a class is up to the `MemberNaming` of the session.
package struct InputObject: Sendable, ExpressibleByDictionaryLiteral {
    /// The members, as they were given.
    package let members: [(name: String, value: InputValue)]

    /// An object with these members, no two of the same name.
    package init(_ members: [(name: String, value: InputValue)]) { self.members = members }

    /// The members in the order of the literal.
    package init(dictionaryLiteral elements: (String, InputValue)...) {
        members = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The member of that name, or nil.
    package subscript(name: String) -> InputValue? { members.first { $0.name == name }?.value }
}

// SPDX-License-Identifier: Apache-2.0

/// The members of an object or dictionary in the order in which they were given, without duplicates.
///
/// Names are as written. What they mean for an object of a class is decided by the `MemberNaming` of the
/// session.
package struct InputObject: Sendable, ExpressibleByDictionaryLiteral {
    /// The members in the order in which they were given.
    package let members: [(name: String, value: InputValue)]

    /// Makes an object with members of which no two have the same name.
    package init(_ members: [(name: String, value: InputValue)]) { self.members = members }

    /// Makes an object with the members of a literal, in its order.
    package init(dictionaryLiteral elements: (String, InputValue)...) {
        members = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The value of the member with the given name, or nil.
    ///
    /// - Complexity: Linear in the number of members.
    package subscript(name: String) -> InputValue? { members.first { $0.name == name }?.value }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Members in the order given, without duplicates.
///
/// Names are as written; what they mean for an object of a class is up to the `MemberNaming` of the session.
package struct InputObject: Sendable, ExpressibleByDictionaryLiteral {
    package let members: [(name: String, value: InputValue)]

    package init(_ members: [(name: String, value: InputValue)]) { self.members = members }

    package init(dictionaryLiteral elements: (String, InputValue)...) {
        members = elements.map { (name: $0.0, value: $0.1) }
    }

    package subscript(name: String) -> InputValue? { members.first { $0.name == name }?.value }
}

// SPDX-License-Identifier: Apache-2.0

/// How the members of inputs name the properties of a class.
///
/// Properties may have any name, but a format of documents may want members of its own beside them. It then has an escape:
/// a property whose name begins with the escape is written with the escape twice, and any other member that begins with it
/// is no property.
package struct MemberNaming: Sendable {
    /// Nil where members have the names of their properties.
    private let escape: UInt8?
    /// A member that begins with the escape and is left out of account.
    private let ignored: String

    /// Members have the names of their properties.
    package static let plain = MemberNaming(escape: nil, ignored: "")

    /// `escape` is an ASCII character.
    package init(escape: UInt8?, ignored: String) {
        self.escape = escape
        self.ignored = ignored
    }

    /// Whether the member is not simply the name of a property.
    @inline(__always) func isEscaped(_ member: String) -> Bool {
        guard let escape else { return false }
        return member.utf8.first == escape
    }

    /// Whether the member is left out of account.
    package func ignores(_ member: String) -> Bool { isEscaped(member) && member == ignored }

    /// The property that a member stands for; the member itself when it stands for none.
    package func property(_ member: String) -> String {
        isEscapedProperty(member) ? String(member.dropFirst()) : member
    }

    /// Whether the member begins with two escapes.
    func isEscapedProperty(_ member: String) -> Bool { isEscaped(member) && member.utf8.dropFirst().first == escape }

    /// The member that a property is written as.
    package func member(_ property: String) -> String {
        guard let escape, isEscaped(property) else { return property }
        return String(UnicodeScalar(escape)) + property
    }
}

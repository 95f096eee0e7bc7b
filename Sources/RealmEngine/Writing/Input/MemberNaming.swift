// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Describes how the member names of inputs refer to the properties of a class.
///
/// Properties may have any name, but a document format may want members of its own in addition, such as `$key`. It then has an
/// escape character: a property whose name starts with the escape is written with the escape twice, and any other member that
/// starts with it is no property.
package struct MemberNaming: Sendable {
    /// The escape character; nil when members always have the names of their properties.
    private let escape: UInt8?
    /// The name of an escaped member that is ignored in inputs.
    private let ignored: String

    /// The naming without an escape: members have the names of their properties.
    package static let plain = MemberNaming(escape: nil, ignored: "")

    /// Makes a naming with an escape.
    ///
    /// - Parameters:
    ///   - escape: An ASCII character; nil for no escape.
    ///   - ignored: The escaped member that inputs may contain although it is not written.
    package init(escape: UInt8?, ignored: String) {
        self.escape = escape
        self.ignored = ignored
    }

    /// Returns whether a member starts with the escape, so that it is not simply the name of a property.
    @inline(__always) func isEscaped(_ member: String) -> Bool {
        guard let escape else { return false }
        return member.utf8.first == escape
    }

    /// Returns whether a member is ignored in inputs.
    package func ignores(_ member: String) -> Bool { isEscaped(member) && member == ignored }

    /// Returns the name of the property that a member refers to; the member's own name when it refers to none.
    package func property(_ member: String) -> String {
        isEscapedProperty(member) ? String(member.dropFirst()) : member
    }

    /// Returns whether a member starts with two escapes and so refers to a property.
    func isEscapedProperty(_ member: String) -> Bool { isEscaped(member) && member.utf8.dropFirst().first == escape }

    /// Returns the member name that a property is written under.
    package func member(_ property: String) -> String {
        guard let escape, isEscaped(property) else { return property }
        return String(UnicodeScalar(escape)) + property
    }
}

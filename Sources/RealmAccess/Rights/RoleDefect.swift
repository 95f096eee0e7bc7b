// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A part of a role that does not fit the schema of a realm. The role has no rights in the class because of it.
package struct RoleDefect: Sendable, Equatable, CustomStringConvertible {
    package let role: String
    package let realm: String
    /// The name of the class that the role loses.
    package let className: String
    /// The place in the configuration as a JSON Pointer.
    package let pointer: String
    /// What is wrong, as a sentence without a final period.
    package let text: String

    /// The defect as one line for logs.
    package var description: String { "role '\(role)' loses class '\(className)' of realm '\(realm)': \(text)" }
}

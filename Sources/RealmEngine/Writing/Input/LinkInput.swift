// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The object that a link in an input refers to.
package enum LinkInput: Sendable {
    /// An object of a class, which is named without the prefix of its table.
    case stub(className: String, key: ObjectName)
    /// The object that was created under this name earlier in the same session.
    case reference(String)
}

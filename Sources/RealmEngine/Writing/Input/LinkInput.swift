// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What a link leads to.
package enum LinkInput: Sendable {
    /// An object of a class, named without prefix.
    case stub(className: String, key: ObjectName)
    /// An object made under this name earlier in the same session.
    case reference(String)
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One change of a set.
package enum SetEdit: Sendable {
    /// Adds a member, if it is not there.
    case insert(InputValue)
    /// Removes a member, if it is there.
    case remove(InputValue)
    /// Removes all members.
    case clear
    /// Adds all that are not there.
    case union([InputValue])
    /// Removes all that are not given.
    case intersect([InputValue])
    /// Removes all that are given.
    case minus([InputValue])
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One change of a set, as an element operation of a request asks for it.
package enum SetEdit: Sendable {
    /// Adds a member; an equal member is no error.
    case insert(InputValue)
    /// Removes a member; a missing one is no error.
    case remove(InputValue)
    /// Removes all members.
    case clear
    /// Adds all given members that are missing.
    case union([InputValue])
    /// Removes all members that are not among those given.
    case intersect([InputValue])
    /// Removes all members that are among those given.
    case minus([InputValue])
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One change of a set.
package enum SetEdit: Sendable {
    case insert(InputValue)
    case remove(InputValue)
    case clear
    case union([InputValue])
    case intersect([InputValue])
    case minus([InputValue])
}

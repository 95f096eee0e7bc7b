// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// How far the roles of a principal reach at the path of a request.
package enum RoleReach: Sendable {
    /// The principal may read and change a part of the realm.
    case part
    /// The principal may read and change everything in the realm.
    case writes
    /// The principal may do everything.
    case administers
}

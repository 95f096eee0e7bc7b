// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Provides the newest version of a database to layers that do not know databases.
package protocol VersionSource: AnyObject, Sendable {
    /// The newest version. All threads may read it.
    var current: Version { get }
}

// SPDX-License-Identifier: Apache-2.0

/// Something that can be asked for its newest version: a database, for layers that are below databases.
package protocol VersionSource: AnyObject, Sendable {
    /// The newest version. May be asked from any thread.
    var current: Version { get }
}

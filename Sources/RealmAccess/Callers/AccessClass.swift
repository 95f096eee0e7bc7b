// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A level of permission, needed by a request or held by a client. Each level includes those before it.
package enum AccessClass: Int, Sendable, Comparable, CaseIterable {
    /// Asking whether the server works; granted to all clients.
    case health
    /// Requests that change no realm: queries, exports, streams and long-polls.
    ///
    /// Snapshots and registrations belong here as well, because they expire automatically.
    case read
    /// Changing objects.
    case write
    /// Attaching and detaching realms, changing and emptying their classes, and operating the server.
    case administer

    /// Returns whether `one` permits less than `other`.
    package static func < (one: AccessClass, other: AccessClass) -> Bool { one.rawValue < other.rawValue }
}

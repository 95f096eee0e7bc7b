// SPDX-License-Identifier: Apache-2.0

/// What a request does, and what a client may do. Each includes those before it.
package enum AccessClass: Int, Sendable, Comparable, CaseIterable {
    /// Asking whether the server works.
    case health
    /// Everything that changes no realm: queries, exports, streams, long-polls, and the snapshots and registrations that
    /// reading takes, which end by themselves.
    case read
    /// Changing objects.
    case write
    /// Deciding which realms there are, what their classes are, emptying them, and looking after the server.
    case administer

    /// Whether `one` allows less than `other`.
    package static func < (one: AccessClass, other: AccessClass) -> Bool { one.rawValue < other.rawValue }
}

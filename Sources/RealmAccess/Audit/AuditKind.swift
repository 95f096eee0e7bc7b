// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// What a line of the audit log is about.
package enum AuditKind: String, Sendable, CaseIterable {
    /// A change of objects or of their schema, also inside a transaction that is not committed yet.
    case write
    /// A realm or class that was given out as a whole.
    case export
    /// A copy of a file that was made, given out, deleted or put in the place of another.
    case backup
    /// A change of the server: its realms, keys, leases or configuration.
    case administration
    /// A session of a browser that began or ended.
    case session
    /// A request that was refused for who sent it.
    case refusal
    /// A transaction that has ended although no request asked for that.
    case transaction
    /// Lines that are missing because too many were waiting.
    case lost
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What comes of a request to the log.
package enum LogReply: Sendable, Hashable {
    /// The head; nil when the log does not know the realm. For a barrier it is durable.
    case head(LogHead?)
    /// The claim has succeeded, durably; the head as it is now.
    case claimed(LogHead)
    /// The request was carried out, durably.
    case stored
    /// The condition of the request did not hold when it was carried out; it has changed nothing.
    case conflict
    /// The checksum of the record; nil when the log has it no more.
    case checksum(LogChecksum?)
    /// The request has not left this process, and never will. The text says why.
    case unsent(String)
    /// It is unknown whether the request was, or will be, carried out.
    case lost
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A request of an owner to the log.
package enum LogRequest: Sendable, Hashable {
    /// The head, as it is visible now. It may be lost again if the log fails over, so nothing may be concluded from it.
    case head
    /// Commit something elsewhere, and return the head: it includes everything that was durable in the log when the request was
    /// sent. The head does not change.
    case confirm
    /// Become the owner if the epoch is still the given one; the epoch grows by one.
    case claim(over: UInt64)
    /// Commit something, and return the head: everything visible in it is durable then. If the sender is the owner the epoch
    /// grows by one, so nothing that it sent before is stored any more.
    case barrier
    /// Store a record and move the head to it, in one step, if the head is still the given one.
    case append(after: LogHead, LogRequest.Entry)
    /// The checksum of the record that made a version.
    case checksum(lineage: String, version: UInt64)
    /// Be the owner no longer. The epoch stays.
    case release

    /// Whether a record has to be sent with it.
    package var isAppend: Bool {
        if case .append = self { return true }
        return false
    }
}

extension LogRequest {
    /// The version of a record and the checksum that identifies it; the log needs both to store it.
    package struct Entry: Sendable, Hashable {
        /// The number of the version that the record makes.
        package let version: UInt64
        /// The checksum of the history that the record ends.
        package let checksum: LogChecksum

        package init(version: UInt64, checksum: LogChecksum) {
            self.version = version
            self.checksum = checksum
        }
    }
}

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

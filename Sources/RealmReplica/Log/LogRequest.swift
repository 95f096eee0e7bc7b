// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What an owner asks of the log.
package enum LogRequest: Sendable, Hashable {
    /// The head, as it is visible now. It may be lost again if the log fails over, so nothing may be concluded from it.
    case head
    /// Commit something elsewhere, and tell the head: whatever was durable in the log when it was sent is in it. The head does not change.
    case confirm
    /// Become the owner if the epoch is still the given one; the epoch grows by one.
    case claim(over: UInt64)
    /// Commit something, and tell the head: everything that is visible in it is durable then. If the sender is the owner the
    /// epoch grows by one, so nothing that it sent before is stored any more.
    case barrier
    /// Store a record and move the head to it, in one step, if the head is still the given one.
    case append(after: LogHead, LogEntry)
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

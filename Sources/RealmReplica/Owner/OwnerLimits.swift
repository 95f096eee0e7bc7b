// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// How long an owner waits for the log, and how much it sends.
package struct OwnerLimits: Sendable {
    /// The number of seconds that a write waits for the log.
    package var appendSeconds = 3.0
    /// The number of seconds that a claim waits for the log.
    package var claimSeconds = 10.0
    /// The greatest number of bytes of a record. A longer commit is refused before anything is sent.
    package var recordBytes = 256 << 20

    /// Makes the usual limits.
    package init() {}
}

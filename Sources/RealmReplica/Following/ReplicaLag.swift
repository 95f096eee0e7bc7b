// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// How far a realm is behind its log, as far as that is known.
package struct ReplicaLag: Sendable, Equatable {
    /// The number of commits in the log, when it was last seen, that the realm has not.
    package let commits: UInt64
    /// The number of seconds since the log was asked for what it last answered.
    package let seconds: Double
}

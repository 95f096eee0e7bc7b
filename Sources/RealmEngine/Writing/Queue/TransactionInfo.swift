// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The description of an interactive transaction that clients receive.
package struct TransactionInfo: Sendable {
    /// Whether a transaction is open, or how it ended.
    package enum State: String, Sendable { case open, aborted, committed, rolledBack, expired }

    /// The id that its client uses.
    package let id: String
    /// The principal that owns the transaction.
    package let owner: String
    /// The version that the transaction started from.
    /// It is only a token, because the transaction is remembered longer than the version is kept.
    package let version: VersionToken
    /// The time for which it may remain unused before it ends.
    package let idleTime: Duration
    /// The time at which it ends in any case.
    package let expires: WallClock
    /// Whether it is open, or how it ended.
    package internal(set) var state: State
    /// The version that its commit made; nil unless it was committed.
    package internal(set) var committed: VersionToken?
}

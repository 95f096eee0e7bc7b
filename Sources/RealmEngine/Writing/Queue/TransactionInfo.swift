// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// What a client is shown of an interactive transaction.
package struct TransactionInfo: Sendable {
    /// What became of it.
    package enum State: String, Sendable { case open, aborted, committed, rolledBack, expired }

    /// The name that its client uses.
    package let id: String
    /// Whose transaction it is.
    package let owner: String
    /// The version it started from. Only its name: the transaction is remembered long after the version is gone.
    package let version: VersionToken
    /// How long it may be unused before it ends.
    package let idleTime: Duration
    /// When it ends whatever happens.
    package let expires: WallClock
    /// Whether it is open, or how it ended.
    package internal(set) var state: State
    /// The version it was committed as.
    package internal(set) var committed: VersionToken?
}

// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// What is told about an interactive transaction.
package struct TransactionInfo: Sendable {
    package enum State: String, Sendable { case open, aborted, committed, rolledBack, expired }

    package let id: String
    package let owner: String
    /// The version it started from. Only its name: this is told of long after the version is gone.
    package let version: VersionToken
    package let idleTime: Duration
    package let expires: WallClock
    package internal(set) var state: State
    /// The version it was committed as.
    package internal(set) var committed: VersionToken?
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One request inside an interactive transaction.
struct TransactionStep: Sendable {
    /// What a request may do, and what its failure means.
    enum Kind: Sendable {
        /// Reads the uncommitted state; its failure changes nothing.
        case read
        /// Changes something; its failure ends the transaction.
        case write
        /// Is undone whatever happens.
        case dryRun
    }

    /// What a request wants.
    enum Action: Sendable {
        case run(Kind, deadline: Instant, body: @Sendable (WriteSession) throws -> Void)
        case commit(mark: CommitMark?)
        /// Undoes everything.
        case rollBack
        /// A write failed before it came here.
        case abort
    }

    /// What is wanted.
    let action: Action
    /// Called on the writer thread; with the new version after a commit.
    let completion: @Sendable (Result<Version?, WriteError>) -> Void
}

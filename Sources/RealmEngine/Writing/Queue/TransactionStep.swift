// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One request inside an interactive transaction, passed from the thread of the request to the writer's
/// thread.
struct TransactionStep: Sendable {
    /// What a request may do, and what its failure means.
    enum Kind: Sendable {
        /// It reads the uncommitted state; its failure changes nothing.
        case read
        /// It changes data; its failure ends the transaction, unless the error says that the request is malformed.
        case write(isMalformed: @Sendable (WriteError) -> Bool)
        /// It changes data and is rolled back in any case.
        case dryRun

        /// Whether it changes nothing.
        var isRead: Bool { if case .read = self { true } else { false } }

        /// Whether the transaction ends with an error of the request.
        func endsTransaction(_ error: WriteError) -> Bool {
            if case .write(let isMalformed) = self { !isMalformed(error) } else { false }
        }
    }

    /// The operation that a request asks for.
    enum Action: Sendable {
        /// Runs `body` in the transaction, on the writer's thread. It is stopped at the deadline; the kind
        /// decides what becomes of its changes, and of the transaction if it throws.
        case run(Kind, deadline: Instant, body: @Sendable (WriteSession) throws -> Void)
        /// Commits the transaction, with a mark for the round of notifications.
        case commit(mark: CommitMark?, source: CommittedRequest?)
        /// Rolls back all changes.
        case rollBack
    }

    /// The operation that is requested.
    let action: Action
    /// Receives the result on the writer's thread: the new version after a commit, otherwise nil.
    let completion: @Sendable (Result<Version?, WriteError>) -> Void
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The options of a request for the commit of an interactive transaction.
package struct TransactionCommit: Sendable {
    /// The action after observers were notified of the commit; nil for none.
    var mark: CommitMark?
    /// The request by whose repetition the commit is recognized; nil for none.
    var source: CommittedRequest?
    /// Returns why the request must not commit any more, as the transaction may have kept it waiting; nil when it may. The transaction
    /// stays open then.
    var refusal: (@Sendable () -> (any Error)?)?

    /// Makes a commit of which all is as the properties say.
    package init(
        mark: CommitMark? = nil, source: CommittedRequest? = nil, refusal: (@Sendable () -> (any Error)?)? = nil
    ) {
        self.mark = mark
        self.source = source
        self.refusal = refusal
    }
}

/// One request inside an interactive transaction, passed from the thread of the request to the writer's thread.
struct TransactionStep: Sendable {
    /// The rights of a request, and the effect of its failure.
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
        case commit(TransactionCommit)
        /// Rolls back all changes.
        case rollBack
    }

    /// The operation that is requested.
    let action: Action
    /// Receives the result on the writer's thread: the new version after a commit, otherwise nil.
    let completion: @Sendable (Result<Version?, WriteError>) -> Void
}

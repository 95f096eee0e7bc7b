// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The evaluations of a hub on other threads, with the changes since they began. It is used on the thread of the hub only.
struct PendingEvaluations {
    /// The evaluations by the identities of their targets.
    private var byIdentity: [ByteText: PendingEvaluation] = [:]
    /// The changes since the earliest version that one of them is made at.
    private var history = CommitHistory()

    /// Whether there is none.
    var isEmpty: Bool { byIdentity.isEmpty }

    /// The evaluation of a target; nil for none.
    subscript(identity: String) -> PendingEvaluation? { byIdentity[identity] }

    /// Adds the evaluation of a target at the position of the hub.
    mutating func add(_ evaluation: PendingEvaluation) { byIdentity[evaluation.target.identity] = evaluation }

    /// Keeps the changes of a commit. After a change of the schema, or too many changes, the targets have to be evaluated again.
    ///
    /// - Parameters:
    ///   - commit: The commit, or several that are delivered as one.
    ///   - hasNewSchema: Whether it may have changed the schema.
    ///   - limit: How many changes are kept at the most.
    mutating func keep(_ commit: WaitingCommit, hasNewSchema: Bool, atMost limit: Int) {
        guard !isEmpty else { return }
        history.append(commit)
        guard commit.isLost || hasNewSchema || history.changeCount > limit else { return }
        for evaluation in byIdentity.values { evaluation.isOutdated = true }
        history = CommitHistory()
    }

    /// Returns the changes since the version of an evaluation that is not outdated.
    func changes(since evaluation: PendingEvaluation) -> [[ObjectChange]] {
        history.changes(after: evaluation.version.token.version)
    }

    /// Removes an evaluation, and the changes that were kept for it alone.
    mutating func remove(_ evaluation: PendingEvaluation) {
        guard byIdentity[evaluation.target.identity] === evaluation else { return }
        byIdentity[evaluation.target.identity] = nil
        if let oldest = byIdentity.values.map({ $0.version.token.version }).min() {
            history.drop(upTo: oldest)
        } else {
            history = CommitHistory()
        }
    }

    /// Removes all evaluations.
    ///
    /// - Returns: What others wait for who want to attach to their targets.
    mutating func removeAll() -> [@Sendable () -> Void] {
        var waiting: [@Sendable () -> Void] = []
        for evaluation in byIdentity.values {
            waiting += evaluation.waiting
            evaluation.waiting = []
        }
        byIdentity = [:]
        history = CommitHistory()
        return waiting
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The evaluations of a hub on other threads, with the changes since they began. It is used on the thread of the hub only.
struct PendingEvaluations {
    /// The evaluations by the identities of their targets.
    private var byIdentity: [ByteText: PendingEvaluation] = [:]
    /// The changes since the earliest version at which one of them has begun.
    private(set) var history = CommitHistory()

    var isEmpty: Bool { byIdentity.isEmpty }
    /// The versions that the file keeps for those that have begun.
    var heldVersions: Set<UInt64> { isEmpty ? [] : Set(byIdentity.values.compactMap(\.heldVersion)) }

    /// The evaluation of a target; nil for none.
    subscript(identity: String) -> PendingEvaluation? { byIdentity[identity] }

    /// Whether an evaluation was not removed.
    func contains(_ evaluation: PendingEvaluation) -> Bool { byIdentity[evaluation.target.identity] === evaluation }

    /// Adds the evaluation of a target at the position of the hub.
    mutating func add(_ evaluation: PendingEvaluation) { byIdentity[evaluation.target.identity] = evaluation }

    /// Keeps the changes of a commit for the evaluations that have begun, and has the others made at its version. After a change of the
    /// schema, or too many changes, the targets of the former have to be evaluated again.
    ///
    /// - Parameters:
    ///   - commit: The commit, or several that are delivered as one.
    ///   - hasNewSchema: Whether it may have changed the schema.
    ///   - limit: The maximum number of kept changes.
    mutating func keep(_ commit: WaitingCommit, hasNewSchema: Bool, atMost limit: Int) {
        guard !isEmpty else { return }
        let begun = follow(commit.version).filter { !$0.isOutdated }
        guard !begun.isEmpty else {
            history = CommitHistory()
            return
        }
        history.append(commit)
        guard commit.isLost || hasNewSchema || history.changeCount > limit else { return }
        for evaluation in begun { evaluation.invalidate() }
        history = CommitHistory()
    }

    /// Has the evaluations that have not begun made at a version.
    ///
    /// - Returns: The evaluations that have begun.
    @discardableResult
    func follow(_ version: Version) -> [PendingEvaluation] { byIdentity.values.filter { !$0.follow(version) } }

    /// Returns the changes since the version of an evaluation that is not outdated.
    func changes(since version: Version) -> [[ObjectChange]] { history.changes(after: version.token.version) }

    /// Removes an evaluation, and the changes that were kept for it alone.
    mutating func remove(_ evaluation: PendingEvaluation) {
        guard contains(evaluation) else { return }
        byIdentity[evaluation.target.identity] = nil
        if let oldest = byIdentity.values.compactMap({ $0.version?.token.version }).min() {
            history.drop(upTo: oldest)
        } else {
            history = CommitHistory()
        }
    }

    /// Ends and removes all evaluations.
    ///
    /// - Returns: The calls that waited for them.
    mutating func removeAll() -> [Attachment.Call] {
        let calls = byIdentity.values.flatMap { $0.end() }
        byIdentity = [:]
        history = CommitHistory()
        return calls
    }
}

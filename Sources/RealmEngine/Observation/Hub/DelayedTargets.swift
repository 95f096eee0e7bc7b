// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The targets of a hub that other threads advance, in the order in which they wait, with the changes that they have not been advanced over.
/// It is used on the thread of the hub only.
struct DelayedTargets {
    /// The targets in their order.
    private var queue: [DelayedTarget] = []
    /// The targets by the numbers of their observations.
    private var byNumber: [Int: DelayedTarget] = [:]
    /// The clients for whom a target is evaluated, or waits for the turn of its client. Each has one at a time.
    private var busy: Set<ByteText> = []
    /// The last version at which a step of each active target of a client ends, so that a reader of several finds a common one.
    private var common: [ByteText: UInt64] = [:]
    /// The changes since the earliest version that a target is at.
    private var history = CommitHistory()

    /// The target of an observation; nil if the hub advances it.
    subscript(observation: Observation) -> DelayedTarget? { byNumber[observation.number] }

    /// The versions that the file keeps for them.
    var heldVersions: Set<UInt64> { Set(queue.flatMap(\.heldVersions)) }

    /// The observations without listeners and waiting calls.
    var unused: [Observation] { queue.filter { $0.waiters.isEmpty && $0.observation.listeners.isEmpty }.map(\.observation) }

    /// The next instant at which a version will have been kept for too long, a call will have waited for too long or may not be wanted any
    /// more, or a target has rested.
    var deadline: Instant {
        let now = Instant.now()
        var deadline = Instant.distantFuture
        for target in queue {
            if let end = target.deadline { deadline = min(deadline, end) }
            for waiter in target.waiters { deadline = min(deadline, waiter.admission.looked) }
            if target.step == nil, target.rest > now { deadline = min(deadline, target.rest) }
        }
        return deadline
    }

    // MARK: - Targets

    /// Adds a target.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - changes: The changes since its version.
    mutating func add(_ target: DelayedTarget, _ changes: CommitHistory) {
        if let needed = target.needed, !queue.contains(where: { $0.needed.map { $0 <= needed } ?? false }) { history = changes }
        queue.append(target)
        byNumber[target.observation.number] = target
    }

    /// Removes the target of an observation, if there is one. A thread that makes a step keeps the turns until it has ended.
    ///
    /// - Returns: The calls that wait for it.
    mutating func remove(_ observation: Observation) -> [DelayedTarget.Waiter] {
        guard let target = byNumber.removeValue(forKey: observation.number) else { return [] }
        queue.removeAll { $0 === target }
        target.end()
        if !target.hasBegun { free(target) }
        trim()
        defer { target.waiters = [] }
        return target.waiters
    }

    /// Puts a target behind all others.
    mutating func requeue(_ target: DelayedTarget) {
        queue.removeAll { $0 === target }
        queue.append(target)
        trim()
    }

    /// Gives the turns of a target back.
    mutating func free(_ target: DelayedTarget) {
        busy.subtract(target.turns)
        target.turns = []
    }

    // MARK: - Commits

    /// Keeps the changes of a commit. Targets drop their versions if the changes are unknown or too many.
    ///
    /// - Parameters:
    ///   - commit: The commit, or several that are delivered as one.
    ///   - from: The position of the hub before it.
    ///   - isForAll: Whether no step of any target may lead over it together with others.
    ///   - named: The observations whose steps may not do so either.
    ///   - limit: How many changes are kept at the most.
    /// - Returns: Those of `named` that get its changes together with others, as too many such commits wait.
    mutating func keep(
        _ commit: WaitingCommit, from: Version, isForAll: Bool, named: [Observation], atMost limit: Int
    ) -> [Observation] {
        guard !queue.isEmpty else { return [] }
        history.append(commit)
        let missed = named.filter { observation in
            guard let target = byNumber[observation.number] else { return false }
            return !(target.stop(at: from, .mark) && target.stop(at: commit.version, .mark))
        }
        for target in queue
        where commit.isLost || isForAll && !(target.stop(at: from, .schema) && target.stop(at: commit.version, .schema)) {
            target.lose(to: commit.version)
        }
        while history.changeCount > limit, let oldest = queue.compactMap(\.needed).min() {
            for target in queue where target.needed == oldest { target.lose(to: commit.version) }
            trim()
        }
        trim()
        return missed
    }

    /// Removes the changes that no target needs.
    private mutating func trim() {
        guard let oldest = queue.compactMap(\.needed).min() else { return history = CommitHistory() }
        history.drop(upTo: oldest)
    }

    // MARK: - Turns

    /// Has the targets drop the versions that have expired.
    ///
    /// - Parameter position: The position of the hub.
    /// - Returns: The calls whose deadline has passed, or whose client has left.
    mutating func takeLate(at position: Version) -> [DelayedTarget.Waiter] {
        guard !queue.isEmpty else { return [] }
        let now = Instant.now()
        var late: [DelayedTarget.Waiter] = []
        for target in queue {
            if let deadline = target.deadline, deadline <= now { target.lose(to: position) }
            let index = target.waiters.partition { !$0.admission.mayGoOn }
            late += target.waiters[index...]
            target.waiters.removeSubrange(index...)
        }
        trim()
        return late
    }

    /// Chooses the targets that are advanced next, one for each client, takes the turns of their clients and prepares the steps.
    ///
    /// - Parameter position: The position of the hub.
    /// - Returns: The targets with what requests a thread for them.
    mutating func next(to position: Version) -> [(target: DelayedTarget, threads: [EvaluationThread.Run])] {
        stopTogether(at: position)
        guard !queue.isEmpty else { return [] }
        let now = Instant.now()
        var next: [(DelayedTarget, [EvaluationThread.Run])] = []
        for target in queue where target.step == nil {
            guard target.rest <= now || target.observation.isActive || !target.waiters.isEmpty else { continue }
            var free: [ByteText: EvaluationThread.Run] = [:]
            let threads = target.observation.threads
            for thread in threads where !busy.contains(thread.client) { free[thread.client] = thread.run }
            var runs = Array(free.values)
            // A call that waits for a first evaluation has no listener yet.
            if threads.isEmpty { runs = target.waiters.compactMap(\.admission.runElsewhere) }
            guard !runs.isEmpty || threads.isEmpty else { continue }
            busy.formUnion(free.keys)
            target.turns = Array(free.keys)
            target.prepare(to: position, history)
            next.append((target, runs))
        }
        return next
    }

    /// Has the active targets of each client stop at the position of the hub, once they have reached the version of the last time.
    private mutating func stopTogether(at position: Version) {
        var byClient: [ByteText: [DelayedTarget]] = [:]
        for target in queue where target.observation.isActive {
            for client in Set(target.observation.threads.map(\.client)) { byClient[client, default: []].append(target) }
        }
        common = common.filter { byClient[$0.key] != nil }
        for (client, targets) in byClient where targets.count > 1 {
            let last = common[client] ?? 0
            guard targets.allSatisfy({ $0.from.map { $0.token.version >= last } ?? true }) else { continue }
            common[client] = position.token.version
            for target in targets { _ = target.stop(at: position, .meeting) }
        }
    }
}

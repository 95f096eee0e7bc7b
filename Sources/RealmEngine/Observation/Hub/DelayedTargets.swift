// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

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
    /// The version to which idle targets are advanced one after another, so that they keep few versions; nil for none.
    private var meeting: (version: Version, since: Instant)?
    /// The next instant at which such a target may be advanced, as far as that is known.
    private var idleTime = Instant.distantFuture
    /// The changes since the earliest version that a target is at.
    private var history = CommitHistory()

    /// The target of an observation; nil if the hub advances it.
    subscript(observation: Observation) -> DelayedTarget? { byNumber[observation.number] }

    /// The versions that the file keeps for them.
    var heldVersions: Set<UInt64> {
        Set(queue.flatMap(\.heldVersions) + (meeting.map { [$0.version.token.version] } ?? []))
    }

    /// The observations without listeners and waiting calls.
    var unused: [Observation] { queue.filter { $0.waiters.isEmpty && $0.observation.listeners.isEmpty }.map(\.observation) }

    /// The next instant at which a version or a waiting call expires, a waiting call is checked for its client, or an idle target
    /// may be advanced.
    var deadline: Instant {
        var deadline = idleTime
        for target in queue {
            if let end = target.deadline { deadline = min(deadline, end) }
            for waiter in target.waiters { deadline = min(deadline, waiter.admission.looked) }
        }
        return deadline
    }

    // MARK: - Targets

    /// Adds a target.
    ///
    /// - Parameters:
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

    /// Has a step of a target end at a version at which others are to be as well.
    ///
    /// - Returns: False if that is not possible any more.
    func meet(_ target: DelayedTarget, at version: Version, position: Version) -> Bool {
        let number = version.token.version
        return target.meet(at: version, isKnown: number == position.token.version || history.covers(number))
    }

    // MARK: - Commits

    /// Keeps the changes of a commit. Targets drop their versions if the changes are unknown or too many.
    ///
    /// - Parameters:
    ///   - commit: The commit, or several that are delivered as one.
    ///   - from: The position of the hub before it.
    ///   - isForAll: Whether no step of any target may lead over it together with others.
    ///   - named: The observations whose steps may not do so either.
    ///   - limit: The maximum number of kept changes.
    /// - Returns: The observations of `named` that get its changes together with others, as too many such commits wait.
    mutating func keep(
        _ commit: WaitingCommit, from: Version, isForAll: Bool, named: [Observation], atMost limit: Int
    ) -> [Observation] {
        guard !queue.isEmpty else { return [] }
        history.append(commit)
        let missed = named.filter { observation in
            guard let target = byNumber[observation.number] else { return false }
            return !target.stop(from: from, for: commit)
        }
        for target in queue
        where commit.isLost || isForAll && !(target.stop(at: from, .schema) && target.stop(at: commit.version, .schema)) {
            drop(target, at: commit.version)
        }
        while history.changeCount > limit, let oldest = queue.compactMap(\.needed).min() {
            for target in queue where target.needed == oldest { drop(target, at: commit.version) }
            trim()
        }
        trim()
        return missed
    }

    /// Removes the changes that no target needs.
    private mutating func trim() {
        guard let oldest = queue.compactMap(\.needed).min() else {
            meeting = nil
            if queue.isEmpty { history = CommitHistory() } else { history.keepRecent() }
            return
        }
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
            if let deadline = target.deadline, deadline <= now { drop(target, at: position, keeping: target.ends) }
            let index = target.waiters.partition { !$0.admission.mayContinue }
            late += target.waiters[index...]
            target.waiters.removeSubrange(index...)
        }
        trim()
        return late
    }

    /// Chooses the targets that are advanced next, one for each client, takes the turns of their clients and prepares the steps.
    ///
    /// - Parameters:
    ///   - position: The position of the hub.
    ///   - limits: The limits of idle targets.
    /// - Returns: The targets with what requests a thread for them.
    mutating func next(
        to position: Version, _ limits: ObservationLimits
    ) -> [(target: DelayedTarget, threads: [EvaluationThread.Run])] {
        stopTogether(at: position)
        var next: [(DelayedTarget, [EvaluationThread.Run])] = []
        for target in queue where target.step == nil && !target.isIdle {
            if let runs = prepare(target, to: position, limits) { next.append((target, runs)) }
        }
        if let target = nextIdle(to: position, limits), let runs = prepare(target, to: position, limits) {
            next.append((target, runs))
        }
        return next
    }

    /// Prepares the step of a target and takes the turns of its clients; nil when all of them are taken.
    private mutating func prepare(
        _ target: DelayedTarget, to position: Version, _ limits: ObservationLimits
    ) -> [EvaluationThread.Run]? {
        var free: [ByteText: EvaluationThread.Run] = [:]
        let threads = target.observation.threads
        for thread in threads where !busy.contains(thread.client) { free[thread.client] = thread.run }
        var runs = Array(free.values)
        // A call that waits for a first evaluation has no listener yet.
        if threads.isEmpty { runs = target.waiters.compactMap(\.admission.runElsewhere) }
        guard !runs.isEmpty || threads.isEmpty else { return nil }
        busy.formUnion(free.keys)
        target.turns = Array(free.keys)
        target.dropMarks(at: position, limits.roundTime)
        target.prepare(to: position, history)
        return runs
    }

    // MARK: - Idle targets

    /// The time after which an idle step without a thread is replaced by another one.
    private static let idlePatience = Duration.seconds(1)

    /// Chooses an idle target that may be advanced now; nil for none. Idle steps are made one at a time, and `DelayedTargets.IdleRest` separates those
    /// of the whole server. A target that takes very long, or has dropped its version, is not advanced while it is idle.
    private mutating func nextIdle(to position: Version, _ limits: ObservationLimits) -> DelayedTarget? {
        idleTime = .distantFuture
        dropOldest(atMost: limits.passiveVersions * 8, at: position)
        let idle = queue.filter {
            $0.step == nil && $0.from != nil && $0.isIdle && $0.observation.usualTime <= limits.evaluationTime / 20
        }
        guard !idle.isEmpty else {
            meeting = nil
            return nil
        }
        let now = Instant.now()
        meet(idle, at: position, now, atMost: limits.evaluationTime / 2)
        guard let goal = meeting?.version, mayAdvanceIdle(now) else { return nil }
        let late = idle.filter { $0.isBefore(goal) }.sorted { $0.since < $1.since }
        guard let first = late.first else { return nil }
        let age = min(limits.passiveTime, limits.evaluationTime / 2)
        idleTime = max(first.since.adding(age), DelayedTargets.IdleRest.shared.end)
        guard idleTime <= now else { return nil }
        idleTime = now.adding(age)
        let next = late.first { target in
            target.since.adding(age) <= now && target.observation.threads.contains { !busy.contains($0.client) }
        }
        _ = next?.stop(at: goal, .meeting)
        return next
    }

    /// Sets the version where targets meet, when all of them have reached the last one, or that is old.
    private mutating func meet(_ targets: [DelayedTarget], at position: Version, _ now: Instant, atMost limit: Duration) {
        if let meeting, meeting.since.adding(limit) > now, targets.contains(where: { $0.isBefore(meeting.version) }) { return }
        meeting = (position, now)
    }

    /// Whether no idle step is made or has just been prepared.
    private mutating func mayAdvanceIdle(_ now: Instant) -> Bool {
        let steps = queue.filter { $0.step != nil && $0.isIdleStep }
        guard !steps.contains(where: \.hasBegun) else { return false }
        let end = steps.map { $0.prepared.adding(DelayedTargets.idlePatience) }.max() ?? now
        if end > now { idleTime = end }
        return end <= now
    }

    /// Drops versions of idle targets, the oldest first, when they keep too many.
    private mutating func dropOldest(atMost limit: Int, at position: Version) {
        let idle = queue.filter { $0.isIdle && $0.step == nil && $0.from != nil }
        guard Set(idle.compactMap(\.needed)).count + idle.reduce(0, { $0 + $1.stops.count }) > limit else { return }
        var kept: Set<UInt64> = []
        for target in idle.sorted(by: { $0.needed ?? 0 > $1.needed ?? 0 }) {
            kept.formUnion(target.heldVersions)
            if kept.count > limit { drop(target, at: position) }
        }
        trim()
    }

    /// Drops the version of a target. The next listener or call has its contents read again.
    private mutating func drop(_ target: DelayedTarget, at position: Version, keeping versions: [Version] = []) {
        if target.isIdle, target.withdraw() { free(target) }
        target.lose(to: position, keeping: versions)
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

extension DelayedTargets {
    /// The pause after each evaluation of an idle target, for the whole server: these evaluations take a tenth of one processor at most, for
    /// any number of realms, clients and definitions.
    ///
    /// Any thread may use it.
    final class IdleRest: Sendable {
        /// The pause of the server.
        static let shared = DelayedTargets.IdleRest()

        private let state = RankedMutex(.leaf, Instant.now())

        /// The instant before which no such evaluation begins.
        var end: Instant { state.withLock { $0 } }

        /// Adds the pause after an evaluation.
        ///
        /// - Parameter time: The duration of the evaluation.
        func add(_ time: Duration) { state.withLock { $0 = max($0, Instant.now()).adding(time * 10) } }
    }
}

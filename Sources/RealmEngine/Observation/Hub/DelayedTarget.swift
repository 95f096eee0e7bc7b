// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An observed target whose evaluation takes so long that another thread than that of the hub advances it. It is behind the hub meanwhile.
///
/// One step at a time leads over commits. The hub prepares it when it is the turn of a client, and a thread takes and makes it.
///
/// `@unchecked Sendable`: a lock guards `state`. The thread that has taken a step has the observer of the observation and `outcome` for itself
/// until the hub takes the outcome; the monitor of the inbox guards the transfer. All else is used on the thread of the hub.
final class DelayedTarget: @unchecked Sendable {
    /// The listeners of a target, by the numbers of their attachments.
    typealias Listeners = [(number: Int, listener: any ObservationListener)]

    /// A step over commits.
    struct Step {
        /// The version at which it begins; nil to read the contents again.
        let from: Version?
        /// The version at which it ends.
        let to: Version
        /// The changes in between.
        let changes: [[ObjectChange]]
        /// Whether the observer has to be adapted to the schema of `to`.
        let isOutdated: Bool
        /// The listeners to prepare the event for.
        let listeners: Listeners
        /// The instant at which it ends at the latest, because the file keeps its versions.
        let deadline: Instant
    }

    /// The result of a step.
    struct Outcome {
        /// The instant at which it began.
        var begin = Instant.now()
        /// Whether the target was evaluated, or the changes do not concern it.
        var isEvaluated = false
        var time = Duration.zero
        /// The event; nil when nothing has changed.
        var event: ObservationEvent?
        /// The calls that report it to the listeners, by the numbers of their attachments.
        var calls: [Int: @Sendable () -> Void] = [:]
        /// Why it has failed.
        var error: ObservationError?
    }

    /// A call that waits until the target has reached a version.
    struct Waiter {
        let version: UInt64
        /// Until when it waits, and who evaluates the target if that has no listeners yet.
        let admission: ObservedMemory.Admission
        /// The call, with the reason if the version was not reached.
        let call: @Sendable (ObservationError?) -> Void
    }

    /// Why a step has to end at a version. There are a few stops at the most for each reason, so that one takes no room from another.
    enum Reason {
        /// The schema has changed there, or others are to be at the same version.
        case schema, meeting
        /// A commit that is delivered in a change of its own begins or ends there.
        case mark
    }

    /// The shared state, guarded by the lock.
    private struct State {
        /// The step that a thread may take; nil when there is none, or a thread has taken it.
        var step: Step?
        /// Whether the observation has ended.
        var isOver = false
    }

    let observation: Observation
    /// The version that the target is at; nil when its contents have to be read again.
    private(set) var from: Version?
    /// Versions at which a step has to end, in their order.
    private(set) var stops: [(version: Version, reason: Reason)] = []
    /// The marks of the commits for which it stops, oldest first.
    private var marks: [(version: UInt64, mark: CommitMark)] = []
    /// Whether a commit that is not part of a step may concern the target.
    var isConcerned = true
    /// The last version with a changed schema that no step has led to; nil for none.
    private var schema: UInt64?
    /// Whether its contents have to be read again after the present step.
    private var isLost = false
    /// The step that was prepared; nil when there is none.
    private(set) var step: Step?
    /// The instant from which on the file keeps `from`, or the end of a prepared step that reads the contents.
    private(set) var since = Instant.now()
    /// The instant at which the last step was prepared.
    private(set) var prepared = Instant.now()
    /// Whether the target was idle when the last step was prepared.
    private(set) var isIdleStep = false
    /// The calls that wait for the target.
    var waiters: [Waiter] = []
    /// The clients whose turn was requested for the present step.
    var turns: [ByteText] = []
    /// The maximum duration of an evaluation, and of keeping a version in the file for the target.
    private let limit: Duration
    /// The configured names of linking objects.
    private let names: BacklinkNames
    /// The result of the step, from its end until the hub takes it.
    private var outcome = Outcome()
    private let state = RankedMutex(.leaf, State())

    /// Has other threads advance a target.
    ///
    /// - Parameters:
    ///   - from: The version that it is at; nil to read the contents again.
    ///   - limit: The maximum duration of an evaluation.
    ///   - names: The configured names of linking objects.
    init(_ observation: Observation, from: Version?, limit: Duration, names: BacklinkNames) {
        self.observation = observation
        self.from = from
        self.limit = limit
        self.names = names
    }

    // MARK: - The thread that evaluates

    /// Makes the step that was prepared, unless another thread has taken it. Any thread may call it.
    ///
    /// - Returns: Whether this call made it. The hub has to take the outcome then.
    func run() -> Bool {
        guard let step = takeStep() else { return false }
        var outcome = Outcome()
        let clock = observation.clock
        clock.start(until: step.deadline, isWanted: { [self] in state.withLock { !$0.isOver } })
        defer { clock.handOver() }
        do throws(ObservationError) { try make(step, &outcome) } catch { outcome.error = error }
        outcome.time = Instant.now().duration(since: outcome.begin)
        self.outcome = outcome
        return true
    }

    /// Takes the step that was prepared; nil for none.
    private func takeStep() -> Step? {
        state.withLock { state in
            defer { state.step = nil }
            return state.step
        }
    }

    /// Advances the observer by a step, and prepares its event.
    private func make(_ step: Step, _ outcome: inout Outcome) throws(ObservationError) {
        let observer = observation.observer
        let snapshot = step.to.snapshot
        guard !observer.isGone else { return }
        if step.isOutdated { try observer.adapt(to: snapshot, observation.target.filter.resolved(in: snapshot, names)) }
        var change: ObservedChange? = .unknown
        if let from = step.from {
            let range = ObservedRange(
                from: from, to: step.to, log: RangeLog(step.changes), graph: LinkGraph(snapshot), clock: observation.clock)
            guard observer.mayChange(over: range) else { return }
            outcome.isEvaluated = true
            change = try observer.advance(over: range)
        }
        outcome.isEvaluated = true
        if case .unknown? = change { try observer.restart(at: snapshot) }
        guard let change else { return }
        let event = ObservationEvent(
            from: step.from ?? step.to, to: step.to, change: change, byteCount: observation.presentByteCount)
        outcome.event = event
        for (number, listener) in step.listeners { outcome.calls[number] = listener.prepare(event) }
    }

    // MARK: - The thread of the hub

    /// The maximum number of stops for one reason.
    private static let stopLimit = 8

    /// Whether the target has neither active listeners nor waiting calls.
    var isIdle: Bool { !observation.isActive && waiters.isEmpty }
    /// Whether it keeps an earlier version than the given one.
    func isBefore(_ version: Version) -> Bool { from.map { $0.token.version < version.token.version } ?? false }
    /// Whether a thread has taken the present step.
    var hasBegun: Bool { step != nil && state.withLock { $0.step == nil } }
    /// The instant at which a version has been kept for too long; nil when none is kept, or a thread makes a step.
    var deadline: Instant? {
        // A call that waits for contents at a version keeps that version.
        let keepsNone = from == nil && step == nil && (stops.isEmpty || !waiters.isEmpty)
        return keepsNone || hasBegun ? nil : since.adding(limit)
    }
    /// The version from which on the changes are needed; nil when they are not.
    var needed: UInt64? { ((isLost ? nil : step?.to ?? from) ?? (isRestarting ? stops.first?.version : nil))?.token.version }
    /// Whether its contents have to be read again, and no step does that yet.
    var isRestarting: Bool { from == nil && (step == nil || isLost) }
    /// The versions at which the present step ends and later ones have to.
    var ends: [Version] { (step.map { [$0.to] } ?? []) + stops.map(\.version) }
    /// The versions that the file keeps for it.
    var heldVersions: [UInt64] { ([from, step?.from, step?.to] + stops.map(\.version)).compactMap { $0?.token.version } }

    /// Whether nothing is left to do, so that the target is at the position of the hub.
    func isDone(at position: Version) -> Bool {
        guard step == nil, let from else { return false }
        return from.token.version == position.token.version || !isConcerned && stops.isEmpty
    }

    /// Prepares the next step, which a thread may take from now on.
    ///
    /// - Parameters:
    ///   - position: The position of the hub.
    ///   - history: The changes up to it.
    func prepare(to position: Version, _ history: CommitHistory) {
        let to = stops.first?.version ?? position
        let now = Instant.now()
        if from == nil { since = now }
        let changes = from.map { history.changes(after: $0.token.version, upTo: to.token.version) } ?? []
        let step = Step(
            from: from, to: to, changes: changes, isOutdated: from == nil || schema.map { $0 <= to.token.version } ?? false,
            listeners: observation.listeners.sorted { $0.key < $1.key }.map { ($0.key, $0.value.listener) },
            deadline: since.adding(limit))
        if step.isOutdated { schema = nil }
        if !stops.isEmpty { stops.removeFirst() }
        if to.token.version == position.token.version { isConcerned = false }
        marks.removeAll { $0.version <= to.token.version }
        (self.step, prepared, isIdleStep, isLost) = (step, now, isIdle, false)
        state.withLock { $0.step = step }
    }

    /// Takes what the present step has led to. Its end is the version of the target then, unless that was dropped.
    func takeOutcome() -> (step: Step, outcome: Outcome)? {
        guard let step else { return nil }
        defer { outcome = Outcome() }
        if !isLost { (from, since) = (step.to, prepared) }
        self.step = nil
        return (step, outcome)
    }

    /// Whether a step may have failed only because its version had been kept for a while.
    func isShort(_ step: Step, _ outcome: Outcome) -> Bool { step.deadline < outcome.begin.adding(limit / 10 * 9) }

    /// Takes the present step back, unless a thread has taken it. The target has to drop its version then.
    ///
    /// - Returns: Whether there was one to take back.
    func withdraw() -> Bool {
        guard takeStep() != nil else { return false }
        step = nil
        return true
    }

    /// Has a step end at a version.
    ///
    /// - Returns: False if that is not possible any more, or there are too many for the reason.
    func stop(at version: Version, _ reason: Reason) -> Bool {
        let number = version.token.version
        guard let needed, number >= needed else { return false }
        if number == needed { return true }
        if let index = stops.firstIndex(where: { $0.version.token.version == number }) {
            // A stop that only marked commits need may move on with them.
            if stops[index].reason == .mark { stops[index].reason = reason }
            return true
        }
        guard stops.reduce(0, { $0 + ($1.reason == reason ? 1 : 0) }) < DelayedTarget.stopLimit else { return false }
        stops.insert((version, reason), at: stops.firstIndex { $0.version.token.version > number } ?? stops.count)
        return true
    }

    /// Has a step end at a version at which others are to be as well. Contents that have to be read again are read there.
    ///
    /// - Parameters:
    ///   - isKnown: Whether the changes since then are kept.
    /// - Returns: False if that is not possible any more, or there are too many.
    func meet(at version: Version, isKnown: Bool) -> Bool {
        guard isRestarting, stops.isEmpty else { return stop(at: version, .meeting) }
        guard isKnown else { return false }
        (stops, since) = ([(version, .meeting)], .now())
        return true
    }

    /// Has a marked commit be a change of its own, or one with the marked commits directly before it that skip the same: each of them
    /// would need an evaluation, although no client receives the difference.
    ///
    /// - Parameters:
    ///   - from: The version before it.
    /// - Returns: False if that is not possible any more, or too many wait.
    func stop(from: Version, for commit: WaitingCommit) -> Bool {
        if let last = stops.last, last.reason == .mark, last.version.token.version == from.token.version,
            let before = marks.last, before.version == from.token.version, commit.marks.count == 1,
            before.mark.skipsSame(as: commit.marks[0].mark)
        {
            stops[stops.count - 1].version = commit.version
        } else {
            guard stop(at: from, .mark), stop(at: commit.version, .mark) else { return false }
        }
        marks += commit.marks
        return true
    }

    /// Drops the stops at marked commits if other readers of the target would have to wait too long. The writers learn that these
    /// commits are joined with others.
    ///
    /// - Parameters:
    ///   - position: The position of the hub.
    ///   - limit: The maximum time they may wait.
    func dropMarks(at position: Version, _ limit: Duration) {
        let count = stops.count { $0.reason == .mark && $0.version.token.version < position.token.version }
        guard count > 0, !isIdle, observation.usualTime * count > limit, observation.threads.count > 1 else { return }
        stops.removeAll { $0.reason == .mark }
        let listeners = Set(observation.listeners.values.map { ObjectIdentifier($0.listener) })
        for (version, mark) in marks { mark.didNotify(version, listeners) }
        marks = []
    }

    /// Notes a change of the schema.
    func noteSchema(_ version: Version) { (schema, isConcerned) = (version.token.version, true) }

    /// Drops the version, so that the contents are read again. A thread that has taken a step makes it nevertheless.
    ///
    /// - Parameters:
    ///   - position: The position of the hub.
    ///   - versions: Versions since which all changes are kept. The contents are read at the first one that a call waits for.
    func lose(to position: Version, keeping versions: [Version] = []) {
        let goal = versions.first { version in waiters.contains { $0.version == version.token.version } }
        (from, marks, isConcerned) = (nil, [], true)
        stops = goal.map { [($0, .meeting)] } ?? []
        // No thread uses the observer. After a step that one makes, the listeners learn it by the event.
        if step == nil, !observation.observer.isGone { for listener in observation.listenersInOrder { listener.willRestart() } }
        // A thread whose turn comes always finds a step.
        let now = Instant.now()
        let old = state.withLock { state -> Step? in
            guard let old = state.step else { return nil }
            state.step = Step(
                from: nil, to: goal ?? position, changes: [], isOutdated: true, listeners: old.listeners,
                deadline: now.adding(limit))
            step = state.step
            return old
        }
        guard old == nil else { return (since, prepared, stops, isConcerned) = (now, now, [], goal != nil) }
        isLost = step != nil
    }

    /// Ends the steps, because the observation has ended. A thread that makes one stops soon.
    func end() {
        let old = state.withLock { state in
            defer { state = State(isOver: true) }
            return state.step
        }
        if old != nil { step = nil }
    }
}

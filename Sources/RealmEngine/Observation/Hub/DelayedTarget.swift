// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// An observed target whose evaluation takes so long that another thread than that of the hub advances it. It is behind the hub meanwhile.
///
/// It has the changes since its version, and one step at a time leads over them. Until a thread begins a step, the step ends at the position
/// of the hub. A commit that is delivered by itself has a step of its own. After too long a time, or too many changes, the version is given
/// up, and the next step reads the contents again.
///
/// `@unchecked Sendable`: a lock guards `state`. From `run` on until `takeOutcome` its thread has the observer of the observation and
/// `outcome` for itself; the monitor of the inbox guards the transfer. All else is used on the thread of the hub.
final class DelayedTarget: @unchecked Sendable {
    /// The way to the position of the hub, guarded by the lock.
    private struct State {
        /// The version that the target is at, or reaches with the present step; nil when its contents have to be read again.
        var from: Version?
        /// The position of the hub.
        var position: Version
        /// The steps that end before the last one, each with its end.
        var steps: [(end: Version, changes: [[ObjectChange]])] = []
        /// The changes of the last step.
        var changes: [[ObjectChange]] = []
        /// The number of changes of all steps.
        var changeCount = 0
        /// Whether a commit after `from` may concern the target.
        var isConcerned = true
        /// Whether the schema has changed, so that the observer has to be adapted to it.
        var isOutdated = false
        /// Whether a thread makes a step.
        var isRunning = false
        /// Whether the observation has ended.
        var isOver = false
        /// The instant from which on the file keeps `from` for the target.
        var since = Instant.now()
        /// The listeners that the thread prepares events for, by the numbers of their attachments.
        var listeners: [(number: Int, listener: any ObservationListener)] = []
    }

    /// A step that a thread makes.
    private struct Step {
        /// The version at which it begins; nil to read the contents again.
        let from: Version?
        /// The version at which it ends.
        let to: Version
        /// The changes in between.
        let changes: [[ObjectChange]]
        /// Whether the observer has to be adapted to the schema of `to`.
        let isOutdated: Bool
        /// The instant from which on the file keeps `from`.
        let since: Instant
        /// The listeners to prepare the event for.
        let listeners: [(number: Int, listener: any ObservationListener)]
    }

    /// What a step has led to.
    struct Outcome {
        /// The instant at which it began.
        var begin = Instant.now()
        /// Whether the target was evaluated, or the changes do not concern it.
        var isEvaluated = false
        /// Whether the contents were read again.
        var isFull = false
        /// Whether it had less than the whole time, because its version had been kept for a while.
        var isShort = false
        /// How long it took.
        var time = Duration.zero
        /// The event; nil when nothing has changed.
        var event: ObservationEvent?
        /// The calls that tell the listeners of it, by the numbers of their attachments.
        var calls: [Int: @Sendable () -> Void] = [:]
        /// Why it has failed.
        var error: ObservationError?
    }

    /// A call that waits until the target has reached a version.
    struct Waiter {
        /// The version.
        let version: UInt64
        /// Has another thread do work for the caller.
        let runElsewhere: (@Sendable (_ work: @escaping @Sendable () -> Void) -> Bool)?
        /// Whether the hub makes the remaining steps itself.
        let isUrgent: Bool
        /// The call, with whether the version was reached before the observation has ended.
        let call: @Sendable (_ isReached: Bool) -> Void
    }

    /// How many steps may wait.
    private static let stepLimit = 8

    /// The observation of the target.
    let observation: Observation
    /// The calls that wait for the target.
    var waiters: [Waiter] = []
    /// The clients whose turn was requested for the present step; nil when none was.
    var turns: [ByteText]?
    /// The instant before which no step is made that nobody waits for.
    var rest = Instant.now()
    /// How long an evaluation may take, and the file may keep a version for the target.
    private let limit: Duration
    /// The configured names of linking objects.
    private let names: BacklinkNames
    /// What the step has led to, from its end until the hub takes it.
    private var outcome = Outcome()
    private let state: RankedMutex<State>

    /// Has other threads advance a target.
    ///
    /// - Parameters:
    ///   - observation: The observation of the target.
    ///   - from: The version that it is at; nil to read the contents again.
    ///   - position: The position of the hub.
    ///   - changes: The changes in between.
    ///   - limit: How long an evaluation may take.
    ///   - names: The configured names of linking objects.
    init(
        _ observation: Observation, from: Version?, to position: Version, _ changes: [[ObjectChange]], limit: Duration,
        names: BacklinkNames
    ) {
        self.observation = observation
        self.limit = limit
        self.names = names
        var state = State(from: from, position: position)
        state.changes = from == nil ? [] : changes
        state.changeCount = DelayedTarget.count(state.changes)
        self.state = RankedMutex(.leaf, state)
    }

    // MARK: - The thread that evaluates

    /// Makes the next step, unless another thread makes it or there is none. Any thread may call it.
    ///
    /// - Returns: Whether this call made it. The hub has to take the outcome then.
    func run() -> Bool {
        guard let step = begin() else { return false }
        var outcome = Outcome()
        let end = step.since.adding(limit)
        outcome.isFull = step.from == nil
        outcome.isShort = end < outcome.begin.adding(limit / 10 * 9)
        let clock = observation.clock
        clock.start(until: end, isWanted: { [self] in state.withLock { !$0.isOver } })
        defer { clock.handOver() }
        do throws(ObservationError) { try make(step, &outcome) } catch { outcome.error = error }
        outcome.time = Instant.now().duration(since: outcome.begin)
        self.outcome = outcome
        return true
    }

    /// Returns the number of changes of some commits.
    private static func count(_ changes: [[ObjectChange]]) -> Int {
        changes.reduce(0) { $0 + $1.reduce(0) { $0 + $1.objectCount } }
    }

    /// Takes the next step; nil when a thread makes it or there is none.
    private func begin() -> Step? {
        state.withLock { state in
            guard !state.isRunning, !state.isOver, state.isConcerned || !state.steps.isEmpty || state.from == nil else {
                return nil
            }
            let step: Step
            let now = Instant.now()
            let since = state.from == nil ? now : state.since
            if state.from != nil, let first = state.steps.first {
                state.steps.removeFirst()
                step = Step(
                    from: state.from, to: first.end, changes: first.changes, isOutdated: false, since: since,
                    listeners: state.listeners)
            } else {
                step = Step(
                    from: state.from, to: state.position, changes: state.changes, isOutdated: state.isOutdated, since: since,
                    listeners: state.listeners)
                (state.changes, state.isConcerned, state.isOutdated) = ([], false, false)
            }
            state.changeCount -= DelayedTarget.count(step.changes)
            (state.from, state.since, state.isRunning) = (step.to, now, true)
            return step
        }
    }

    /// Makes a step.
    private func make(_ step: Step, _ outcome: inout Outcome) throws(ObservationError) {
        let observer = observation.observer
        guard let change = try change(by: step, observer, &outcome) else { return }
        let event = ObservationEvent(
            from: step.from ?? step.to, to: step.to, change: change, byteCount: observation.presentByteCount)
        outcome.event = event
        for (number, listener) in step.listeners { outcome.calls[number] = listener.prepare(event) }
    }

    /// Advances the observer by a step.
    ///
    /// - Returns: The change; nil when there is none.
    private func change(
        by step: Step, _ observer: any TargetObserver, _ outcome: inout Outcome
    ) throws(ObservationError) -> ObservedChange? {
        let snapshot = step.to.snapshot
        if step.isOutdated { try observer.adapt(to: snapshot, observation.target.filter.resolved(in: snapshot, names)) }
        guard let from = step.from else {
            outcome.isEvaluated = true
            try observer.restart(at: snapshot)
            return .unknown
        }
        let range = ObservedRange(
            from: from, to: step.to, log: RangeLog(step.changes), graph: LinkGraph(snapshot), clock: observation.clock)
        guard !observer.isGone, observer.mayChange(over: range) else { return nil }
        outcome.isEvaluated = true
        let change = try observer.advance(over: range)
        if case .unknown? = change { try observer.restart(at: snapshot) }
        return change
    }

    // MARK: - The thread of the hub

    /// The version that the target is at, or reaches with the present step; nil when its contents have to be read again.
    var from: Version? { state.withLock { $0.from } }
    /// Whether a thread makes a step.
    var isRunning: Bool { state.withLock { $0.isRunning } }
    /// Whether the observation has ended.
    var isOver: Bool { state.withLock { $0.isOver } }
    /// Whether nothing is left to do, so that the target is at the position of the hub.
    var isDone: Bool { state.withLock { $0.from != nil && !$0.isConcerned && $0.steps.isEmpty && !$0.isRunning } }
    /// The instant at which the version has been kept for too long; nil when none is kept, or a thread makes a step.
    var deadline: Instant? { state.withLock { $0.from == nil || $0.isRunning || $0.isOver ? nil : $0.since.adding(limit) } }

    /// Adds a commit to the way.
    ///
    /// - Parameters:
    ///   - commit: The commit, or several that are delivered as one.
    ///   - from: The position of the hub before it.
    ///   - isAlone: Whether it is delivered by itself.
    ///   - limit: How many changes are kept at the most.
    func append(_ commit: WaitingCommit, from: Version, isAlone: Bool, atMost limit: Int) {
        update { state in
            state.position = commit.version
            guard let start = state.from else { return }
            let last = state.steps.last?.end ?? start
            if isAlone, last.token.version < from.token.version {
                state.steps.append((from, state.changes))
                state.changes = []
            }
            state.changes += commit.changes
            state.changeCount += DelayedTarget.count(commit.changes)
            if isAlone {
                state.steps.append((commit.version, state.changes))
                state.changes = []
                state.isConcerned = false
            }
            if state.changeCount > limit || state.steps.count > DelayedTarget.stepLimit { DelayedTarget.lose(&state) }
        }
    }

    /// Notes that the last commits may concern the target.
    func noteConcerned() { state.withLock { $0.isConcerned = $0.isConcerned || !$0.changes.isEmpty || $0.from == nil } }

    /// Uses another object for the position of the hub.
    func move(to version: Version) { update { $0.position = version } }

    /// Gives up the version, so that the contents are read again.
    ///
    /// - Parameter isOutdated: Whether the schema has changed.
    func lose(isOutdated: Bool = false) {
        update { state in
            DelayedTarget.lose(&state)
            if isOutdated { state.isOutdated = true }
        }
    }

    /// Gives up the version.
    private static func lose(_ state: inout State) {
        (state.from, state.steps, state.changes, state.changeCount) = (nil, [], [], 0)
        state.isConcerned = true
    }

    /// Ends the steps, because the observation has ended. A thread that makes one stops soon.
    func end() {
        update { state in
            state.isOver = true
            DelayedTarget.lose(&state)
            state.listeners = []
        }
    }

    /// Sets the listeners for whom the next step prepares its event.
    func setListeners(_ listeners: [(number: Int, listener: any ObservationListener)]) {
        update { $0.listeners = listeners }
    }

    /// Takes what the last step has led to.
    func takeOutcome() -> Outcome {
        state.withLock { $0.isRunning = false }
        defer { outcome = Outcome() }
        return outcome
    }

    /// Changes the state; what it has held before is released after the lock.
    private func update(_ body: (inout State) -> Void) {
        let old = state.withLock { state -> State in
            let old = state
            body(&state)
            return old
        }
        withExtendedLifetime(old) {}
    }
}

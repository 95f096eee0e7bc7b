// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery

/// Advances the observed targets of one database from version to version.
///
/// All active targets are advanced together: a *round* takes them over one commit, or over several if commits are faster than
/// rounds. Each target is evaluated once per round, whatever the number of its listeners. A target without an active listener
/// is passive: it remains at its version until its state is requested or it is too far behind, and then catches up in one
/// range. While nothing is observed, commits cost nothing here.
///
/// The *thread of the hub* is the one of `SharedThreads.observers` that works for it at the moment; there is
/// one at most, and none while nothing waits. The methods may be called from any thread and return at once,
/// except `close`. Completions, listeners and observers of rounds are called on the thread of the hub,
/// without a lock; they must not wait. A call that comes after the hub was closed, or for which there is no thread, is
/// answered at once by its own thread. A database makes its hub when it is opened and closes it when it is closed.
package final class ObservationHub: Sendable {
    /// The limits of what is observed and of how much may wait.
    package let limits: ObservationLimits
    /// The work for the thread. Commits are added on the writer's thread, calls on any thread.
    private let inbox = Monitor(ObservationInbox(), rank: .observationInbox)
    private let threads: SharedThreads
    /// The state, which is used on the hub's thread.
    private let core: ObservationCore

    /// Makes a hub; `serve` must be called before anything is observed.
    ///
    /// - Parameters:
    ///   - feed: The source of commits.
    ///   - backlinkNames: The configured names of linking objects.
    ///   - scope: The view of the listeners; nil for everything.
    ///   - threads: The threads of all hubs.
    ///   - didEvaluate: Called on the thread of the hub after each evaluation of a target, with the
    ///     instant at which it began.
    init(
        _ feed: EventFeed<Commit>, backlinkNames: BacklinkNames, limits: ObservationLimits = ObservationLimits(),
        scope: (any VersionScope)? = nil, threads: SharedThreads = .observers,
        didEvaluate: @escaping @Sendable (_ begin: Instant) -> Void = { _ in }
    ) {
        self.limits = limits
        self.threads = threads
        core = ObservationCore(feed, backlinkNames, limits, scope: scope, didEvaluate: didEvaluate)
    }

    /// The database whose commits are observed; set before anything is observed.
    private let source = RankedMutex(.leaf, WeakSource(value: nil))

    /// Sets the database whose commits the feed publishes. The hub has only a weak reference to it.
    func serve(_ source: any VersionSource) { self.source.withLock { $0 = WeakSource(value: source) } }

    // MARK: - Targets

    /// Attaches a listener to a target.
    ///
    /// All commits up to the call are delivered to other listeners first. The first evaluation of a target is made on another thread if
    /// the admission has one. Several callers with the same target share it: the thread that comes first makes it, and each of them waits
    /// until its own deadline.
    ///
    /// - Parameters:
    ///   - listener: Receives the events after the returned state.
    ///   - isActive: Whether the listener waits for events from the beginning.
    ///   - admission: The limits for beginning an observation.
    ///   - completion: Receives the attachment with the state of the target, or an error. It is called on
    ///     the hub's thread, before the first event; with `closed` it may be called at once on this thread.
    package func attach(
        _ target: ObservedTarget, _ listener: any ObservationListener, isActive: Bool,
        _ admission: ObservedMemory.Admission = .init(),
        completion: @escaping @Sendable (Result<Attached, ObservationError>) -> Void
    ) {
        run(refused: { completion(.failure(.closed)) }) { [self] in
            begin(
                Attachment.Call(
                    target: target, listener: listener, isActive: isActive, admission: admission, completion: completion))
        }
    }

    /// The number of evaluations on another thread before the hub waits for one.
    private static let attempts = 3

    /// Attaches a listener, or has its target evaluated on another thread before. Called on the hub's thread.
    private func begin(_ call: Attachment.Call) {
        guard let source = source.withLock({ $0.value }) else { return call.completion(.failure(.closed)) }
        core.begin(source.current) { [weak self] commit in self?.add(commit) }
        guard case .elsewhere(let evaluation) = core.place(of: call) else { return attach(call) }
        watch(evaluation)
        let isTaken = call.admission.runElsewhere?({ [self] in
            if evaluation.run() { keep { [self] in end(evaluation) } }
        })
        // Without another thread, as the server stops, this one does it.
        if isTaken != true, evaluation.run() { end(evaluation) }
    }

    /// Attaches all listeners that have waited for an evaluation. Called on the hub's thread.
    private func end(_ evaluation: PendingEvaluation) {
        let (result, calls) = core.take(evaluation)
        for call in calls {
            switch result {
            case .observed: attach(call)
            case .failed(let error): call.completion(.failure(error))
            case .lapsed where call.isWanted: begin(call)
            case .lapsed: call.completion(.failure(.query(.cancelled)))
            case .outdated:
                var call = call
                call.attempts += 1
                if call.attempts == ObservationHub.attempts { call.admission.runElsewhere = nil }
                begin(call)
            }
        }
    }

    /// Sets a timer for the deadlines of the calls that wait for an evaluation. Called on the hub's thread.
    private func watch(_ evaluation: PendingEvaluation) {
        guard let deadline = evaluation.setTimer() else { return }
        TimerQueue.engine.set(at: deadline) { [weak self, weak evaluation] in
            guard let self, let evaluation else { return }
            keep { [self] in dismiss(evaluation) }
        }
    }

    /// Answers the calls whose deadline has passed while they wait for an evaluation. Called on the hub's thread.
    private func dismiss(_ evaluation: PendingEvaluation) {
        for call in evaluation.takeLate() { call.completion(.failure(.query(.cancelled))) }
        core.abandon(evaluation)
        watch(evaluation)
    }

    /// Attaches a listener to a target that is observed, or is evaluated now. Called on the hub's thread.
    private func attach(_ call: Attachment.Call) {
        core.whenReached(call) { [self] error in
            if let error { return call.completion(.failure(error)) }
            call.completion(core.attach(call.target, call.listener, isActive: call.isActive, call.admission))
        }
    }

    /// Sets whether a listener waits for events.
    ///
    /// The hub evaluates `isActive` on its thread, so the last state counts, whatever the order of the calls.
    package func setActive(_ attachment: Attachment, _ isActive: @escaping @Sendable () -> Bool) {
        run(refused: {}) { [self] in core.setActive(attachment, isActive()) }
    }

    /// Delivers all events up to a version that is at least the newest one at the time of the call, and
    /// then returns the state at that version.
    ///
    /// - Parameters:
    ///   - attachment: The attachment of the listener.
    ///   - stop: An earlier version that is sufficient, if the target takes long and can be evaluated there; nil for none.
    ///   - admission: Until when the caller waits if the target takes long.
    ///   - completion: Receives the state, or an error: `closed` when the attachment has ended, `outdated` when it has ended meanwhile,
    ///     and `cancelled` when the time is over. It is called on the hub's thread.
    package func contents(
        of attachment: Attachment, at stop: Version? = nil, _ admission: ObservedMemory.Admission = .init(),
        completion: @escaping @Sendable (Result<Attached, ObservationError>) -> Void
    ) {
        run(refused: { completion(.failure(.closed)) }) { [self] in
            core.whenReached(attachment, at: stop, admission) { [self] error in
                completion(error.map { .failure($0) } ?? core.contents(of: attachment))
            }
        }
    }

    /// Delivers all events like `contents`, and returns the version without the state.
    ///
    /// - Parameters:
    ///   - attachment: The attachment of the listener.
    ///   - stop: An earlier version that is sufficient, if the target takes long and can be evaluated there; nil for none.
    ///   - admission: Until when the caller waits if the target takes long.
    ///   - completion: Receives the version, or an error like that of `contents`. It is called on the hub's thread.
    package func catchUp(
        _ attachment: Attachment, at stop: Version? = nil, _ admission: ObservedMemory.Admission = .init(),
        completion: @escaping @Sendable (Result<Version, ObservationError>) -> Void
    ) {
        run(refused: { completion(.failure(.closed)) }) { [self] in
            core.whenReached(attachment, at: stop, admission) { [self] error in
                completion(error.map { .failure($0) } ?? core.catchUp(attachment))
            }
        }
    }

    /// Ends an attachment. Events may still arrive until the hub processes the call.
    package func detach(_ attachment: Attachment) {
        run(refused: {}) { [self] in core.detach(attachment) }
    }

    /// Ends an attachment at once, so that its memory is free before the next target is advanced. A listener or a completion calls it,
    /// on the hub's thread; the attachment may have ended.
    package func detachNow(_ attachment: Attachment) { core.detach(attachment) }

    /// Runs a closure on the hub's thread, after everything that is committed by now was delivered. It is
    /// dropped if the hub is closed.
    package func perform(_ body: @escaping @Sendable () -> Void) { run(refused: {}, body) }

    /// Releases the newest version for the same one in another file, which has replaced the first.
    ///
    /// - Parameter version: The version in the file that is used from now on.
    func move(to version: Version) {
        guard inbox.withLock({ $0.isUsed }) else { return }
        run(refused: {}) { [self] in core.move(to: version) }
    }

    /// Adds an observer that is called on the hub's thread at the end of every round, while anything is observed.
    ///
    /// - Returns: The token for `removeRoundObserver`.
    package func onRound(_ observer: @escaping @Sendable (Version) -> Void) -> Int { core.rounds.add(observer) }

    package func removeRoundObserver(_ token: Int) { core.rounds.remove(token) }

    /// The present metrics of the hub. All threads may read them.
    package var metrics: ObservationMetrics {
        var metrics = core.metrics.withLock { $0 }
        metrics.waitingCommits = inbox.withLock { $0.commitCount }
        return metrics
    }

    /// Ends all attachments with `closed`. Blocks until that is done.
    package func close() {
        core.clock.stop()
        let isUsed = inbox.withLock { inbox in
            inbox.isClosed = true
            return inbox.isUsed
        }
        guard isUsed else { return }
        if !inbox.withLock({ schedule(&$0) }) { takeOver() }
        _ = inbox.wait { inbox -> Bool? in inbox.isStopped ? true : nil }
    }

    /// Does the remaining work on the calling thread, as the system provides no other.
    private func takeOver() {
        let isFree = inbox.withLock { inbox in
            defer { inbox.isScheduled = true }
            return !inbox.isScheduled
        }
        if isFree { work() }
    }

    // MARK: - The thread

    /// Passes a call to the thread, and requests one if there is none.
    ///
    /// - Parameters:
    ///   - refused: Called at once, on the caller's thread, when the hub is closed or the system provides
    ///     no thread.
    ///   - call: The call, which the thread makes when all commits up to now were delivered.
    private func run(refused: () -> Void, _ call: @escaping @Sendable () -> Void) {
        guard enqueue(call, unlessRefused: true) != .scheduled else { return }
        HeldLocks.assertNone()
        refused()
    }

    /// The outcomes of adding a call to the inbox.
    private enum Enqueued { case scheduled, withoutThread, closed }

    /// Adds a call to the inbox, and requests a thread if there is none.
    ///
    /// - Parameters:
    ///   - unlessRefused: Whether the call is not added when the system provides no thread.
    private func enqueue(_ call: @escaping @Sendable () -> Void, unlessRefused: Bool) -> Enqueued {
        let newest = source.withLock { $0.value }?.current.token.version ?? 0
        return inbox.withLock { inbox in
            guard !inbox.isClosed else { return .closed }
            let isScheduled = schedule(&inbox)
            guard isScheduled || !unlessRefused else { return .withoutThread }
            inbox.isUsed = true
            inbox.add(call, atLeast: newest)
            return isScheduled ? .scheduled : .withoutThread
        }
    }

    /// Passes a call to the thread like `run`. If the system provides no thread now, the call is made later. A closed hub drops it, because
    /// closing has answered all calls.
    private func keep(_ call: @escaping @Sendable () -> Void) {
        if enqueue(call, unlessRefused: false) == .withoutThread { retry() }
    }

    /// Requests a thread again a little later, after the system has provided none. The next commit or call does so too.
    private func retry() {
        TimerQueue.engine.set(at: Instant.now().adding(ObservationHub.timeToRetry)) { [weak self] in self?.wake() }
    }

    /// The time after which a thread is requested again.
    private static let timeToRetry = Duration.seconds(1)

    /// Passes a commit to the thread. If the system provides no thread now, the next commit or call does.
    private func add(_ commit: Commit) {
        inbox.withLock { inbox in
            inbox.add(WaitingCommit(commit), limits)
            _ = schedule(&inbox)
        }
    }

    /// Requests a thread unless there is one; false when the system provides none.
    private func schedule(_ inbox: inout ObservationInbox) -> Bool {
        guard !inbox.isScheduled else { return true }
        inbox.isScheduled = (try? threads.submit { [self] in work() }) != nil
        return inbox.isScheduled
    }

    /// Does all work that waits, and leaves the thread then, or when other realms need it.
    private func work() {
        while let items = next() {
            for item in items {
                switch item {
                case .commit(let commit): core.process(commit)
                case .call(let version, let call): core.call(call, atLeast: version)
                }
            }
            core.catchUpLate()
            core.settle()
            if threads.isCrowded, (try? threads.submit { [self] in work() }) != nil { return }
        }
    }

    /// Takes the work that waits; nil when there is none and the thread does not work for the hub any more.
    private func next() -> [ObservationInbox.Item]? {
        if core.passiveDeadline <= Instant.now() { core.catchUpAll() }
        advanceDelayed()
        let deadline = core.deadline
        let next = inbox.withLock { inbox -> Next in
            if !inbox.items.isEmpty { return .work(inbox.dequeue()) }
            guard !inbox.isClosed else { return .end }
            inbox.isScheduled = false
            return .leave(setsTimer: inbox.setTimer(for: deadline))
        }
        switch next {
        case .work(let items): return items
        case .end:
            core.end()
            inbox.broadcast { $0.isStopped = true }
        case .leave(let timer):
            if let timer { TimerQueue.engine.set(at: timer) { [weak self] in self?.wake() } }
        }
        return nil
    }

    /// Has other threads advance targets that take long, one for each client at a time.
    private func advanceDelayed() {
        // A closed hub ends all observations instead.
        while !inbox.withLock({ $0.isClosed }), case let next = core.nextDelayed(), !next.isEmpty {
            for (target, threads) in next {
                // A turn that comes when the observation has ended keeps none of its memory.
                let work: @Sendable () -> Void = { [self, weak target] in
                    if let target, target.run() { keep { [self] in core.take(target) } }
                }
                let isTaken = threads.reduce(false) { $1(work) || $0 }
                // Without another thread, as the server stops, this one does it.
                if !isTaken, target.run() { core.take(target) }
            }
        }
    }

    private enum Next {
        /// It does the work that waited.
        case work([ObservationInbox.Item])
        /// It ends all attachments, as the hub is closed.
        case end
        case leave(setsTimer: Instant?)
    }

    /// Requests a thread for passive targets that are late, and for waiting calls.
    private func wake() {
        let isScheduled = inbox.withLock { inbox -> Bool in
            inbox.timer = nil
            return inbox.isClosed || schedule(&inbox)
        }
        if !isScheduled { retry() }
    }
}

private struct WeakSource: Sendable { weak let value: (any VersionSource)? }

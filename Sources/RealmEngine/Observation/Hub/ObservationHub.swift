// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Advances the observed targets of one database from version to version, on a thread of its own.
///
/// All active targets are advanced together: a *round* takes them over one commit, or over several if
/// commits are faster than rounds. Each target is evaluated once per round, whatever the number of its
/// listeners. A target without an active listener is passive: it remains at its version until its state
/// is requested or it is too far behind, and then catches up in one range. While nothing is observed,
/// commits cost nothing here.
///
/// The methods may be called from any thread and return at once, except `close`. Completions, listeners
/// and observers of rounds are called on the thread of the hub, without a lock; they must not wait. A
/// database makes its hub when it is opened and closes it when it is closed.
package final class ObservationHub: Sendable {
    /// The limits of what is observed and of how much may wait.
    package let limits: ObservationLimits
    /// The work for the thread. Commits are added on the writer's thread, calls on any thread.
    private let inbox = Monitor(ObservationInbox(), rank: .observationInbox)
    /// The name of the realm, which is part of the thread's name.
    private let name: String
    /// The state, which is used on the hub's thread.
    private let core: ObservationCore

    /// Makes a hub without a thread; `serve` must be called before anything is observed.
    ///
    /// - Parameters:
    ///   - feed: The source of commits.
    ///   - name: The name of the realm, for the name of the thread.
    ///   - backlinkNames: The configured names of linking objects.
    ///   - limits: The limits of the hub.
    ///   - didEvaluate: Called on the thread of the hub after each evaluation of a target, with the
    ///     instant at which it began.
    init(
        _ feed: CommitFeed, name: String, backlinkNames: BacklinkNames, limits: ObservationLimits = ObservationLimits(),
        didEvaluate: @escaping @Sendable (_ begin: Instant) -> Void = { _ in }
    ) {
        self.limits = limits
        self.name = name
        core = ObservationCore(feed, backlinkNames, limits, didEvaluate: didEvaluate)
    }

    /// The database whose commits are observed; set before anything is observed.
    private let source = WeakVersionSource()

    /// Sets the database whose commits the feed publishes. The hub has only a weak reference to it.
    func serve(_ source: any VersionSource) { self.source.set(source) }

    // MARK: - Targets

    /// Attaches a listener to a target.
    ///
    /// All commits up to the call are delivered to other listeners first.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - listener: Receives the events after the returned state.
    ///   - isActive: Whether the listener waits for events from the beginning.
    ///   - completion: Receives the attachment with the state of the target, or an error. It is called on
    ///     the hub's thread, before the first event.
    package func attach(
        _ target: ObservedTarget, _ listener: any ObservationListener, isActive: Bool,
        completion: @escaping @Sendable (Result<Attached, ObservationError>) -> Void
    ) {
        run(refused: { completion(.failure(.closed)) }) { [self] in
            guard let source = source.value else { return completion(.failure(.closed)) }
            core.begin(source.current) { [inbox, limits] commit in
                inbox.signal { $0.add(WaitingCommit(commit), limits) }
            }
            completion(core.attach(target, listener, isActive: isActive))
        }
    }

    /// Sets whether a listener waits for events.
    ///
    /// The hub evaluates `isActive` on its thread, so the last state counts, whatever the order of the
    /// calls.
    package func setActive(_ attachment: Attachment, _ isActive: @escaping @Sendable () -> Bool) {
        run(refused: {}) { [self] in core.setActive(attachment, isActive()) }
    }

    /// Delivers all events up to a version that is at least the newest one at the time of the call, and
    /// then returns the state at that version.
    ///
    /// - Parameters:
    ///   - attachment: The attachment of the listener.
    ///   - completion: Receives the state, or the error `closed` when the attachment has ended. It is
    ///     called on the hub's thread.
    package func contents(
        of attachment: Attachment, completion: @escaping @Sendable (Result<Attached, ObservationError>) -> Void
    ) {
        run(refused: { completion(.failure(.closed)) }) { [self] in completion(core.contents(of: attachment)) }
    }

    /// Delivers all events like `contents`, and returns the version without the state.
    ///
    /// - Parameters:
    ///   - attachment: The attachment of the listener.
    ///   - completion: Receives the version, or nil when the attachment has ended. It is called on the
    ///     hub's thread.
    package func catchUp(_ attachment: Attachment, completion: @escaping @Sendable (Version?) -> Void) {
        run(refused: { completion(nil) }) { [self] in completion(core.catchUp(attachment)) }
    }

    /// Ends an attachment. Events may still arrive until the hub processes the call.
    package func detach(_ attachment: Attachment) {
        run(refused: {}) { [self] in core.detach(attachment) }
    }

    /// Runs a closure on the hub's thread, after everything that is committed by now was delivered. It is
    /// dropped if the hub is closed.
    package func perform(_ body: @escaping @Sendable () -> Void) { run(refused: {}, body) }

    /// Releases the newest version for the same one in another file, which has replaced the first.
    ///
    /// - Parameter version: The version in the file that is used from now on.
    func move(to version: Version) {
        guard inbox.withLock({ $0.hasThread }) else { return }
        run(refused: {}) { [self] in core.move(to: version) }
    }

    /// Adds an observer that is called on the hub's thread at the end of every round, while anything is
    /// observed.
    ///
    /// - Returns: The token for `removeRoundObserver`.
    package func onRound(_ observer: @escaping @Sendable (ObservationRound) -> Void) -> Int { core.rounds.add(observer) }

    /// Removes an observer of rounds.
    package func removeRoundObserver(_ token: Int) { core.rounds.remove(token) }

    /// The present metrics of the hub. All threads may read them.
    package var metrics: ObservationMetrics {
        var metrics = core.metrics.withLock { $0 }
        metrics.waitingCommits = inbox.withLock { $0.commitCount }
        return metrics
    }

    /// Ends all attachments with `closed`, and then the thread. Blocks until both are done.
    package func close() {
        core.clock.stop()
        let hasThread = inbox.broadcast { inbox in
            inbox.isClosed = true
            return inbox.hasThread
        }
        if hasThread { _ = inbox.wait { inbox -> Bool? in inbox.isStopped ? true : nil } }
    }

    // MARK: - The thread

    /// Passes a call to the thread, and starts one if there is none.
    ///
    /// - Parameters:
    ///   - refused: Called at once, on the caller's thread, when the hub is closed or the system provides
    ///     no thread.
    ///   - call: The call, which the thread makes when all commits up to now were delivered.
    private func run(refused: () -> Void, _ call: @escaping @Sendable () -> Void) {
        let newest = source.value?.current.token.version ?? 0
        let isTaken = inbox.signal { inbox -> Bool in
            guard !inbox.isClosed, inbox.hasThread || startThread() else { return false }
            inbox.hasThread = true
            inbox.add(call, atLeast: newest)
            return true
        }
        guard !isTaken else { return }
        HeldLocks.assertNone()
        refused()
    }

    /// Starts the thread; returns false when the system provides none.
    private func startThread() -> Bool {
        do throws(Threads.Failure) {
            try Threads.start("observe-\(name)") { [self] in loop() }
            return true
        } catch {
            return false
        }
    }

    /// The body of the thread, which runs until the hub is closed.
    private func loop() {
        while true {
            let deadline = core.passiveDeadline
            let items = inbox.wait(until: deadline) { inbox -> [ObservationInbox.Item]? in
                if !inbox.items.isEmpty { return inbox.take() }
                return inbox.isClosed ? [] : nil
            }
            guard let items else {
                core.catchUpAll()
                continue
            }
            if items.isEmpty {
                core.end()
                inbox.broadcast { $0.isStopped = true }
                return
            }
            for item in items {
                switch item {
                case .commit(let commit): core.process(commit)
                case .call(let version, let call): core.call(call, atLeast: version)
                }
            }
            core.catchUpLate()
            core.settle()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Advances the observed targets of one database from version to version, on a thread of its own.
///
/// All active targets go together: a *round* takes them over one commit, or over several when those come faster than they
/// are delivered. Each target is evaluated once per round, however many listen. A target without a listener that waits is
/// passive: it keeps its version until it is asked for or has fallen too far behind, and then catches up in one range. While
/// nothing is observed, commits cost nothing here.
///
/// Threads: the calls here may be made from any thread and return at once. Completions, listeners and observers of rounds are
/// called on the thread of the hub, with no lock held; they must not wait.
package final class ObservationHub: Sendable {
    /// Bounds of what is observed.
    package let limits: ObservationLimits
    /// What waits for the thread. Commits are added on the writer thread, calls on any.
    private let inbox = Monitor(ObservationInbox(), rank: .observationInbox)
    /// The name of the realm, after which the thread is named.
    private let name: String
    /// The state, which belongs to the thread.
    private let core: ObservationCore

    /// A hub for the commits of `feed`; `serve` has to be called before anything is observed. `didEvaluate` is
    /// called on the thread of the hub after each evaluation of a target, with the time when it began.
    init(
        _ feed: CommitFeed, name: String, backlinkNames: BacklinkNames, limits: ObservationLimits = ObservationLimits(),
        didEvaluate: @escaping @Sendable (_ begin: Instant) -> Void = { _ in }
    ) {
        self.limits = limits
        self.name = name
        core = ObservationCore(feed, backlinkNames, limits, didEvaluate: didEvaluate)
    }

    /// The database whose commits these are; set before anything is observed.
    private let source = WeakVersionSource()

    /// Sets the database whose commits the feed publishes. The hub does not keep it.
    func serve(_ source: any VersionSource) { self.source.set(source) }

    // MARK: - Targets

    /// Observes a target. Commits up to now are delivered to others first; `completion` has the state from which events go on.
    /// It is called on the hub's thread, before the first event.
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

    /// Has the hub ask, on its thread, whether a listener waits for events. The last answer counts,
    /// in whatever order the calls were made.
    package func setActive(_ attachment: Attachment, _ isActive: @escaping @Sendable () -> Bool) {
        run(refused: {}) { [self] in core.setActive(attachment, isActive()) }
    }

    /// Tells a listener everything up to a version that was the newest at the time of the call, or a later one, then
    /// gives the state at that version.
    package func contents(
        of attachment: Attachment, completion: @escaping @Sendable (Result<Attached, ObservationError>) -> Void
    ) {
        run(refused: { completion(.failure(.closed)) }) { [self] in completion(core.contents(of: attachment)) }
    }

    /// As `contents`, without the state: nil when the attachment is over.
    package func catchUp(_ attachment: Attachment, completion: @escaping @Sendable (Version?) -> Void) {
        run(refused: { completion(nil) }) { [self] in completion(core.catchUp(attachment)) }
    }

    /// Ends an attachment. Events that are on their way may still come until the hub gets to it.
    package func detach(_ attachment: Attachment) {
        run(refused: {}) { [self] in core.detach(attachment) }
    }

    /// Runs something on the hub's thread, after everything that is committed by now was delivered.
    package func perform(_ body: @escaping @Sendable () -> Void) { run(refused: {}, body) }

    /// `observer` is called at the end of every round while anything is observed, on the hub's thread.
    package func onRound(_ observer: @escaping @Sendable (ObservationRound) -> Void) -> Int { core.rounds.add(observer) }

    /// Ends the calls of an observer of rounds.
    package func removeRoundObserver(_ token: Int) { core.rounds.remove(token) }

    /// Counts of the hub. May be asked from any thread.
    package var metrics: ObservationMetrics {
        var metrics = core.metrics.withLock { $0 }
        metrics.waitingCommits = inbox.withLock { $0.commitCount }
        return metrics
    }

    /// Ends all attachments with `closed`, and the thread. Blocks until both are done.
    package func close() {
        core.clock.stop()
        let hasThread = inbox.broadcast { inbox in
            inbox.isClosed = true
            return inbox.hasThread
        }
        if hasThread { _ = inbox.wait { inbox -> Bool? in inbox.isStopped ? true : nil } }
    }

    // MARK: - The thread

    /// Hands a call to the thread, and makes one if there is none; calls `refused` when the hub is closed.
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

    /// False when the system gives no further thread.
    private func startThread() -> Bool {
        do throws(Threads.Failure) {
            try Threads.start("observe-\(name)") { [self] in loop() }
            return true
        } catch {
            return false
        }
    }

    /// What the thread does until the hub is closed.
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

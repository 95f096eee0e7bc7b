// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The state of an `ObservationHub`, with the work of its thread.
///
/// A round advances all active targets over one commit, or over several that were joined, and publishes
/// its end. Only the targets that the changes may concern are looked at; all others are at the new version
/// by that. Between rounds every active target is at `position`. Passive targets may be at earlier
/// versions; `history` has the changes since then, which are combined for each distinct version when they
/// catch up. So may targets that take long, active or not, which other threads advance (`DelayedTarget`).
///
/// `@unchecked Sendable`: it is used on the thread of the hub only, except `rounds`, `metrics` and
/// `clock`, which are thread-safe.
final class ObservationCore: @unchecked Sendable {
    /// Publishes the end of each round to the observers of rounds.
    let rounds = EventFeed<Version>()
    /// The metrics of the hub; all threads may read them.
    let metrics = RankedMutex(.leaf, ObservationMetrics())
    /// The feed of the database, whose commits the hub observes.
    private let feed: EventFeed<Commit>
    /// The configured names of linking objects, for queries and key paths.
    let names: BacklinkNames
    /// The limits of passive targets and evaluations.
    let limits: ObservationLimits
    /// The view of the listeners; nil for everything.
    private let scope: (any VersionScope)?
    /// Called after each evaluation with the instant at which it began.
    let didEvaluate: @Sendable (_ begin: Instant) -> Void
    /// Limits the time of each evaluation; all threads may stop it.
    let clock: EvaluationClock

    /// The token of the subscription to `feed`; nil while nothing is observed.
    private var token: Int?
    /// The version that all active targets are at; nil while nothing is observed.
    var position: Version?
    /// Whether the hub is closed, so that nothing is observed any more.
    private(set) var hasEnded = false
    var registry = ObservationRegistry()
    /// The changes that passive targets have not been advanced over.
    private var history = CommitHistory()
    /// The time that it took to advance all passive targets the last time.
    private var catchUpTime = Duration.zero
    /// The links between classes; nil until they are needed, and after a change of the schema.
    private var graph: LinkGraph?
    /// The evaluations on other threads.
    private var pending = PendingEvaluations()
    /// The targets that other threads advance.
    var delayed = DelayedTargets()
    /// The time that the evaluations of the present round have taken.
    var roundTime = Duration.zero
    /// The calls that wait until a version has been delivered.
    private var deferred: [(atLeast: UInt64, call: @Sendable () -> Void)] = []

    /// Makes the state of a hub, which observes the commits of `feed` as long as there is an attachment.
    ///
    /// - Parameters:
    ///   - feed: The source of commits.
    ///   - names: The configured names of linking objects.
    ///   - limits: The limits of the hub.
    ///   - scope: The view of the listeners; nil for everything.
    ///   - didEvaluate: Called after each evaluation with the instant at which it began.
    init(
        _ feed: EventFeed<Commit>, _ names: BacklinkNames, _ limits: ObservationLimits, scope: (any VersionScope)? = nil,
        didEvaluate: @escaping @Sendable (_ begin: Instant) -> Void
    ) {
        self.feed = feed
        self.names = names
        self.limits = limits
        self.scope = scope
        self.didEvaluate = didEvaluate
        clock = EvaluationClock(limit: limits.evaluationTime)
    }

    // MARK: - Listening

    /// Starts to observe commits, if the hub does not do so yet.
    ///
    /// - Parameters:
    ///   - current: The newest version, evaluated after the observer was added.
    ///   - observer: Receives each commit on the writer's thread.
    func begin(_ current: @autoclosure () -> Version, _ observer: @escaping EventFeed<Commit>.Observer) {
        guard token == nil, !hasEnded else { return }
        token = feed.add(observer)
        // The version is read after the observer was added: commits in between are delivered and then
        // skipped.
        position = current().shown(by: scope)
    }

    /// Stops observing commits when there are no observations left.
    func settle() {
        updateCounts()
        if registry.isEmpty, pending.isEmpty, token != nil { rest() }
    }

    /// Ends all observations with the error `closed`, when the hub closes. Callers that wait for an evaluation get it too, and
    /// calls that still wait for a version find none.
    func end() {
        hasEnded = true
        for observation in registry.inOrder { fail(observation, .closed) }
        let waiting = pending.removeAll()
        updateCounts()
        rest()
        for call in waiting { call.completion(.failure(.closed)) }
    }

    /// Stops observing commits, and runs the calls that wait for one.
    private func rest() {
        if let token { feed.remove(token) }
        token = nil
        position = nil
        history = CommitHistory()
        graph = nil
        runDeferred()
    }

    /// Runs a call when all commits up to a version have been delivered; a commit may be durable and still on its way.
    ///
    /// - Parameters:
    ///   - call: The call, made on the hub's thread.
    ///   - version: The version that must have been delivered.
    func call(_ call: @escaping @Sendable () -> Void, atLeast version: UInt64) {
        if let position, token != nil, position.token.version < version {
            deferred.append((version, call))
        } else {
            call()
        }
    }

    /// Runs the deferred calls whose version has been delivered.
    private func runDeferred() {
        guard !deferred.isEmpty else { return }
        let reached = token == nil ? UInt64.max : position?.token.version ?? .max
        let ready = deferred.filter { $0.atLeast <= reached }
        deferred.removeAll { $0.atLeast <= reached }
        for entry in ready { entry.call() }
    }

    // MARK: - Attachments

    /// Attaches a listener to a target. Listeners of the same target share one observation.
    ///
    /// - Parameters:
    ///   - listener: The object that is called with events.
    ///   - isActive: Whether the listener waits for events.
    ///   - admission: The limits for beginning an observation.
    /// - Returns: The attachment with the state of the target, or an error when the target does not exist
    ///   or cannot be evaluated.
    func attach(
        _ target: ObservedTarget, _ listener: any ObservationListener, isActive: Bool, _ admission: ObservedMemory.Admission
    ) -> Result<Attached, ObservationError> {
        guard let position else { return .failure(.closed) }
        do throws(ObservationError) {
            let observation = try observation(of: target, at: position, admission)
            let attachment = registry.attach(listener, to: observation, isActive: isActive)
            if delayed[observation] != nil { listener.isBehind(at: observation.since) }
            return .success(attached(attachment, observation, version(of: observation, position)))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the observation of a target: an existing one, advanced to the present position, or a new one.
    private func observation(
        of target: ObservedTarget, at position: Version, _ admission: ObservedMemory.Admission
    ) throws(ObservationError) -> Observation {
        if let known = registry[target.identity] {
            bringUp(known)
            if registry.contains(known) { return known }
        }
        guard ObservedMemory.shared.byteCount < admission.byteLimit else { throw .noRoom(limit: admission.byteLimit) }
        let clock = newClock
        clock.start(until: admission.deadline, isWanted: admission.isWanted)
        // The caller is not asked about later evaluations.
        defer { clock.handOver() }
        guard clock.mayContinue else { throw .query(.cancelled) }
        let begin = Instant.now()
        let observer = try target.observer(at: position.snapshot, names: names, clock)
        let time = Instant.now().duration(since: begin)
        guard observer.byteCount <= admission.byteLimit - ObservedMemory.shared.byteCount else {
            throw .noRoom(limit: admission.byteLimit)
        }
        return registry.add(target, observer, clock, time: time, at: position)
    }

    /// The version that a target is at between two steps.
    private func version(of observation: Observation, _ position: Version) -> Version { delayed[observation]?.from ?? position }

    /// A clock for one target, which ends with that of the hub.
    private var newClock: EvaluationClock { EvaluationClock(limit: limits.evaluationTime, followedBy: clock) }

    /// Returns what a listener gets of an observation.
    private func attached(_ attachment: Attachment, _ observation: Observation, _ version: Version) -> Attached {
        Attached(
            attachment: attachment, version: version, contents: observation.observer.contents, byteCount: observation.byteCount)
    }

    /// Sets whether a listener waits for events. The target is advanced first, so that its events remain in order.
    func setActive(_ attachment: Attachment, _ isActive: Bool) {
        guard let observation = registry[attachment] else { return }
        // Active targets are advanced together, so this one has to be at the position of the others, or on its way there.
        bringUp(observation)
        registry.setActive(attachment, isActive)
    }

    /// Returns the state of an attachment's target at the version that it is at; an error when the attachment has ended.
    func contents(of attachment: Attachment) -> Result<Attached, ObservationError> {
        catchUp(attachment).flatMap { version in
            guard let observation = registry[attachment] else { return .failure(.closed) }
            return .success(attached(attachment, observation, version))
        }
    }

    /// Advances a target to the present position, unless other threads do, and returns the version that it is at then; an error when the
    /// attachment has ended.
    func catchUp(_ attachment: Attachment) -> Result<Version, ObservationError> {
        if let observation = registry[attachment] { bringUp(observation) }
        guard let observation = registry[attachment], let position else { return .failure(.closed) }
        return .success(version(of: observation, position))
    }

    /// Ends an attachment; the observation ends with its last attachment.
    func detach(_ attachment: Attachment) {
        let observation = registry[attachment]
        guard registry.detach(attachment) else { return }
        trimHistory()
        if let observation, !registry.contains(observation) { endDelay(of: observation, .outdated) }
    }

    // MARK: - Evaluations on other threads

    /// Where a target is evaluated before a listener is attached to it.
    enum Place {
        /// On the thread of the hub, or it is evaluated already.
        case here
        /// On another thread, which the caller requests like all others who wait for this evaluation. The first one makes it.
        case elsewhere(PendingEvaluation)
    }

    /// Decides where a target is evaluated. If that is elsewhere, the call waits for the evaluation.
    func place(of call: Attachment.Call) -> Place {
        let target = call.target
        guard let position, call.admission.runElsewhere != nil, registry[target.identity] == nil,
            ObservedMemory.shared.byteCount < call.admission.byteLimit
        else { return .here }
        let evaluation = pending[target.identity] ?? newEvaluation(of: target, at: position, call.admission.byteLimit)
        evaluation.add(call)
        return .elsewhere(evaluation)
    }

    /// Prepares the evaluation of a target on another thread.
    private func newEvaluation(of target: ObservedTarget, at position: Version, _ byteLimit: Int) -> PendingEvaluation {
        let evaluation = PendingEvaluation(
            target, at: position, byteLimit: byteLimit, names: names, clock: newClock)
        pending.add(evaluation)
        return evaluation
    }

    /// The outcome of an evaluation on another thread.
    enum Evaluated {
        /// The target is observed, so that listeners attach to it at once.
        case observed
        /// The schema or too many objects have changed since it began, so the target has to be evaluated again.
        case outdated
        /// It was cancelled because no client waited for it.
        case lapsed
        /// The target cannot be evaluated.
        case failed(ObservationError)
    }

    /// Ends an evaluation: advances its observer to the present position and observes the target.
    ///
    /// - Parameter evaluation: The evaluation, which was made.
    /// - Returns: Its outcome, and the calls that waited for it; none if it was ended before.
    func take(_ evaluation: PendingEvaluation) -> (result: Evaluated, calls: [Attachment.Call]) {
        let evaluated = observe(evaluation)
        pending.remove(evaluation)
        return (evaluated, evaluation.end())
    }

    /// Observes the target of an evaluation at the present position.
    private func observe(_ evaluation: PendingEvaluation) -> Evaluated {
        let result = evaluation.takeResult()
        guard let position, let version = evaluation.version, pending.contains(evaluation) else { return .failed(.closed) }
        guard registry[evaluation.target.identity] == nil else { return .observed }
        guard !evaluation.isOutdated else { return .outdated }
        guard !evaluation.isUnused else { return .lapsed }
        do throws(ObservationError) {
            let observer = try result.get()
            let range = range(since: version, to: position)
            let isHeavy = evaluation.time > limits.delayedTime && range.map { observer.mayChange(over: $0) } ?? false
            if !isHeavy, let range {
                guard try bringUp(observer, of: evaluation, over: range) else { return .outdated }
            }
            guard observer.byteCount <= evaluation.byteLimit - ObservedMemory.shared.byteCount else {
                throw ObservationError.noRoom(limit: evaluation.byteLimit)
            }
            let observation = registry.add(
                evaluation.target, observer, evaluation.clock, time: evaluation.time,
                at: isHeavy ? version : position)
            if isHeavy { delay(observation, from: version, pending.history) }
            return .observed
        } catch {
            return evaluation.hasLapsed ? .lapsed : .failed(error)
        }
    }

    /// Returns the range from the version of an evaluation to the present position; nil when nothing has changed in between.
    private func range(since version: Version, to position: Version) -> ObservedRange? {
        let changes = pending.changes(since: version)
        guard !changes.isEmpty else { return nil }
        return ObservedRange(
            from: version, to: position, log: RangeLog(changes), graph: currentGraph(position.snapshot), clock: clock)
    }

    /// Advances the observer of an evaluation over the changes since the version at which it was made.
    ///
    /// - Returns: False when it would have to be evaluated anew for that.
    private func bringUp(
        _ observer: any TargetObserver, of evaluation: PendingEvaluation, over range: ObservedRange
    ) throws(ObservationError) -> Bool {
        clock.start(isWanted: { evaluation.isWanted })
        defer { clock.start() }
        guard observer.mayChange(over: range) else { return true }
        if case .unknown? = try observer.advance(over: range) { return false }
        if observer.isGone { throw .notFound }
        return true
    }

    /// Ends an evaluation without waiting calls, unless it has begun. Its thread cancels it then.
    func abandon(_ evaluation: PendingEvaluation) {
        guard evaluation.isUnused, evaluation.heldVersion == nil else { return }
        pending.remove(evaluation)
        _ = evaluation.end()
    }

    // MARK: - Commits

    /// Advances targets over a commit and publishes the round.
    ///
    /// A lost commit, or one that changes the schema, concerns all targets, and one with a mark those that it names. Otherwise passive
    /// targets remain at their versions.
    ///
    /// - Parameter whole: The commit, or several that are delivered as one, with all of its changes.
    func process(_ whole: WaitingCommit) {
        defer { runDeferred() }
        guard token != nil, let from = position, whole.version.token.version > from.token.version else { return }
        let start = Instant.now()
        clock.start()
        let commit = scope == nil ? whole : whole.shown(from: from, to: whole.version.shown(by: scope), clock)
        let round = Round(commit, from)
        pending.keep(commit, hasNewSchema: round.mayChangeSchema, atMost: limits.passiveChanges)
        let goesAll = commit.isLost || round.isAdditive != nil
        if goesAll { catchUpAll() }
        let listeners = registry.observations(of: commit.listeners)
        let named = commit.commitCount == 1 ? listeners : []
        for observation in named { bringUp(observation) }
        let late = delayed.keep(commit, from: from, isForAll: goesAll, named: named, atMost: limits.passiveChanges)
        let missed = commit.commitCount == 1 ? late : listeners
        guard adaptToSchema(round) else {
            // All observations have ended; their listeners attach again, and so do the calls that wait for evaluations.
            finish(round, missed, start)
            for call in pending.removeAll() { call.completion(.failure(.outdated)) }
            return
        }
        let range = ObservedRange(
            from: from, to: commit.version, log: RangeLog(commit.changes), graph: currentGraph(commit.version.snapshot),
            clock: clock)
        let present = registry.count - registry.lagging.count
        let all = commit.isLost ? registry.inOrder : concerned(by: range)
        for observation in all { delayed[observation]?.isConcerned = true }
        let shown = all.filter { $0.behind == nil && delayed[$0] == nil }
        roundTime = .zero
        for observation in shown {
            let goesAlone = goesAll || named.contains { $0 === observation }
            if goesAlone || observation.isActive, isHeavy(observation, isLost: commit.isLost) {
                var changes = CommitHistory()
                changes.append(commit)
                delay(observation, from: commit.isLost ? nil : from, changes)
                if goesAll { _ = delayed[observation]?.stop(at: commit.version, .schema) }
                if named.contains(where: { $0 === observation }) { _ = delayed[observation]?.stop(from: from, for: commit) }
            } else if goesAlone || observation.isActive || observation.observer.isGone {
                advance(observation, over: range, isLost: commit.isLost)
            } else {
                registry.leave(observation, at: from)
            }
        }
        // No later event of these begins before the commit.
        for observation in named where delayed[observation] == nil { observation.since = commit.version.token.version }
        if !registry.lagging.isEmpty { history.append(commit) }
        metrics.withLock { $0.passedOver += UInt64(max(0, present - shown.count)) }
        finish(round, missed, start)
    }

    /// Returns the observations that the changes of a range may concern, in the order of events.
    private func concerned(by range: ObservedRange) -> [Observation] {
        clock.start()
        return registry.index.concerned(by: range, clock)
    }

    /// Uses another object for the present position: the same version in another file. The old file
    /// disappears when its last version is released.
    func move(to whole: Version) {
        let version = whole.shown(by: scope)
        guard token != nil, let position, position.token.version == version.token.version else { return }
        self.position = version
        pending.follow(version)
        rounds.publish(version)
    }

    /// One commit during its delivery to the observed targets.
    private struct Round {
        /// The commit, or several that are delivered as one.
        let commit: WaitingCommit
        /// The version that all active targets are at before the round.
        let from: Version
        /// Whether the commit may have changed classes or properties.
        let mayChangeSchema: Bool
        /// Whether the commit only added classes and properties; nil when the visible schema is the same.
        /// Links in mixed values add hidden columns only, which observers do not notice.
        let isAdditive: Bool?

        /// Makes a round, and compares the schemas when they may differ.
        init(_ commit: WaitingCommit, _ from: Version) {
            self.commit = commit
            self.from = from
            mayChangeSchema = commit.hasSchemaChanges || commit.isLost
            isAdditive = mayChangeSchema ? SchemaComparison.isAdditive(from: from.snapshot, to: commit.version.snapshot) : nil
        }
    }

    /// Ends a round: updates the metrics, calls the marks of the commit and publishes the new position.
    ///
    /// - Parameters:
    ///   - missed: The observations that the commit names and that get its changes together with others.
    ///   - start: The instant at which it began.
    private func finish(_ round: Round, _ missed: [Observation], _ start: Instant) {
        position = round.commit.version
        let time = Instant.now().duration(since: start)
        metrics.withLock { metrics in
            metrics.rounds += 1
            metrics.joinedCommits += UInt64(round.commit.commitCount - 1)
            if round.commit.isLost { metrics.lostRanges += 1 }
            metrics.lastRound = time
        }
        let listeners = Set(missed.flatMap { $0.listeners.values.map { ObjectIdentifier($0.listener) } })
        for (version, mark) in round.commit.marks { mark.didNotify(version, listeners) }
        rounds.publish(round.commit.version)
    }

    /// Returns the graph of links between classes, made when it is first needed.
    private func currentGraph(_ snapshot: Snapshot) -> LinkGraph {
        let graph = graph ?? LinkGraph(snapshot)
        self.graph = graph
        return graph
    }

    /// Advances one target over a range, and delivers the event to its listeners, if there is one.
    ///
    /// An evaluation that fails ends the observation.
    ///
    /// - Parameters:
    ///   - observation: The observation of the target.
    ///   - range: The versions and the changes between them.
    ///   - isLost: Whether the changes are unknown, so that the contents have to be read again.
    private func advance(_ observation: Observation, over range: ObservedRange, isLost: Bool = false) {
        let from = observation.behind ?? range.from
        defer { registry.advanced(observation, to: range.to) }
        metrics.withLock { $0.visited += 1 }
        guard !observation.observer.isGone, isLost || observation.observer.mayChange(over: range) else { return }
        let begin = Instant.now()
        clock.start()
        defer { didEvaluate(begin) }
        defer {
            let time = Instant.now().duration(since: begin)
            observation.note(time, isFull: isLost)
            roundTime += time
        }
        do throws(ObservationError) {
            let change = try change(of: observation, over: range, isLost: isLost)
            metrics.withLock { metrics in
                metrics.evaluations += 1
                if change != nil { metrics.events += 1 }
            }
            // Listeners may end the observation because of what it takes now.
            observation.count()
            guard let change else { return }
            let event = ObservationEvent(from: from, to: range.to, change: change, byteCount: observation.byteCount)
            for listener in observation.listenersInOrder { listener.didChange(event) }
            if observation.observer.isGone, registry.contains(observation) { registry.file(observation) }
        } catch {
            fail(observation, error)
        }
    }

    /// Returns the change of a target over a range; if the changes are unknown, its contents are read again.
    private func change(
        of observation: Observation, over range: ObservedRange, isLost: Bool
    ) throws(ObservationError) -> ObservedChange? {
        guard isLost else {
            let change = try observation.observer.advance(over: range)
            if case .unknown? = change { try observation.observer.restart(at: range.to.snapshot) }
            return change
        }
        try observation.observer.restart(at: range.to.snapshot)
        return .unknown
    }

    /// Ends an observation, and calls each of its listeners with the error.
    func fail(_ observation: Observation, _ error: ObservationError) {
        for listener in observation.listenersInOrder { listener.didFail(error) }
        remove(observation, error)
    }

    /// Removes an observation with all its attachments.
    func remove(_ observation: Observation, _ error: ObservationError) {
        registry.remove(observation)
        endDelay(of: observation, error)
    }

    // MARK: - Schema

    /// Adapts all observations to a change of the schema, and notifies their listeners of it.
    ///
    /// - Returns: False when the change is not additive, so that all observations have ended.
    private func adaptToSchema(_ round: Round) -> Bool {
        guard round.mayChangeSchema else { return true }
        graph = nil
        let from = round.from.snapshot
        let to = round.commit.version.snapshot
        let isAdditive = round.isAdditive
        if let isAdditive {
            let change = SchemaChange(oldVersion: from.schemaVersion, newVersion: to.schemaVersion, isAdditive: isAdditive)
            for observation in registry.inOrder {
                for listener in observation.listenersInOrder {
                    listener.didChange(change, from: round.from, to: round.commit.version)
                }
            }
        }
        for observation in registry.inOrder {
            if isAdditive == false { remove(observation, .outdated) } else { adapt(observation, to: round.commit.version) }
        }
        return isAdditive != false
    }

    /// Adapts an observer to a schema with additions, even when every added column is hidden.
    private func adapt(_ observation: Observation, to version: Version) {
        if let target = delayed[observation] { return target.noteSchema(version) }
        let snapshot = version.snapshot
        clock.start()
        do throws(ObservationError) {
            try observation.observer.adapt(to: snapshot, observation.target.filter.resolved(in: snapshot, names))
            registry.file(observation)
        } catch {
            fail(observation, error)
        }
    }

    // MARK: - Passive targets

    /// The instant at which passive targets have to catch up, even without another commit.
    var passiveDeadline: Instant {
        history.since.map { $0.adding(max(limits.passiveTime, restTime)) } ?? .distantFuture
    }

    /// The time between two advances of the passive targets.
    /// No client waits for passive targets, so advancing them takes a tenth of the thread's time at most.
    private var restTime: Duration { min(limits.maximumPassiveTime, catchUpTime * 10) }

    /// Advances all passive targets to the present position.
    func catchUpAll() {
        guard !history.isEmpty else { return }
        let start = Instant.now()
        roundTime = .zero
        var ranges: [UInt64: ObservedRange] = [:]
        for observation in registry.laggingInOrder { bringUp(observation, &ranges) }
        history = CommitHistory()
        catchUpTime = Instant.now().duration(since: start)
        if let position { rounds.publish(position) }
    }

    /// Advances the passive targets if they are too far behind, because the file keeps the versions they are at.
    func catchUpLate() {
        guard let since = history.since else { return }
        let now = Instant.now()
        let isFarBehind = history.commitCount > limits.passiveCommits || registry.versionsBehind.count > limits.passiveVersions
        if history.changeCount > limits.passiveChanges || now >= passiveDeadline
            || isFarBehind && now >= since.adding(restTime)
        {
            catchUpAll()
        }
    }

    /// Advances one passive target to the present position.
    func bringUp(_ observation: Observation) {
        var ranges: [UInt64: ObservedRange] = [:]
        guard let position, delayed[observation] == nil else { return }
        guard observation.behind != nil else {
            // The caller reports the position, so no later event may begin before it.
            return registry.advanced(observation, to: position)
        }
        roundTime = .zero
        bringUp(observation, &ranges)
        trimHistory()
        rounds.publish(position)
    }

    /// Advances one of many passive targets; those at the same version share the range.
    ///
    /// - Parameters:
    ///   - observation: The observation of the target.
    ///   - ranges: The ranges made so far, by the version at which they start.
    private func bringUp(_ observation: Observation, _ ranges: inout [UInt64: ObservedRange]) {
        guard let position, let behind = observation.behind else { return }
        let start = behind.token.version
        if isHeavy(observation) {
            return delay(observation, from: behind, history)
        }
        let range =
            ranges[start]
            ?? ObservedRange(
                from: behind, to: position, log: RangeLog(history.changes(after: start)),
                graph: currentGraph(position.snapshot), clock: clock)
        ranges[start] = range
        advance(observation, over: range)
    }

    /// Removes the changes that all passive targets have been advanced over.
    private func trimHistory() {
        guard let oldest = registry.oldestVersion else {
            history = CommitHistory()
            return
        }
        history.drop(upTo: oldest)
    }

    /// Updates the numbers of targets in the metrics.
    private func updateCounts() {
        // The position is kept as the newest version.
        let evaluated = pending.heldVersions.union(delayed.heldVersions).filter { $0 != position?.token.version }
        let held = evaluated.isEmpty ? registry.versionsBehind : registry.versionsBehind.union(evaluated)
        metrics.withLock { metrics in
            metrics.active = registry.activeCount
            metrics.passive = registry.count - registry.activeCount
            metrics.held = held
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import OrderedCollections
internal import RealmStorage

/// The state of a hub.
///
/// `@unchecked Sendable`: used on the thread of the hub only, but for `rounds` and `metrics`, which are guarded.
///
/// A round takes all active targets over one commit, or over several that were joined, and publishes its end. Between rounds
/// every active target is at `position`. Passive targets may be at earlier versions; the changes since then are in `history`,
/// which is summed up for each distinct version when they catch up.
final class ObservationCore: @unchecked Sendable {
    /// Publishes the end of each round.
    let rounds = RoundFeed()
    /// Counts of the hub; any thread may read them.
    let metrics = RankedMutex(.leaf, ObservationMetrics())
    /// Where commits come from.
    private let feed: CommitFeed
    /// Names of linking objects, for queries and key paths.
    private let names: BacklinkNames
    /// Bounds of passive targets and evaluations.
    private let limits: ObservationLimits
    /// Called after each evaluation.
    private let didEvaluate: @Sendable (_ begin: Instant) -> Void
    /// Bounds each evaluation; any thread may stop it.
    let clock: EvaluationClock

    /// Under which commits are heard of; nil while nothing is observed.
    private var token: Int?
    /// Where all active targets are.
    private var position: Version?
    /// By identity, in the order in which they began, which is the order of events.
    private var observations: OrderedDictionary<String, Observation> = [:]
    /// Observations by the numbers of their attachments.
    private var byNumber: [Int: Observation] = [:]
    /// The number of the attachment that was made last.
    private var nextNumber = 0
    /// The commits that passive targets have not been advanced over, oldest first.
    private var history = CommitHistory()
    /// How long it took to lead all passive targets on, the last time.
    private var catchUpTime = Duration.zero
    /// Which classes link to which; nil until it is needed, and after a change of the schema.
    private var graph: LinkGraph?
    /// Calls that wait for a version to be delivered.
    private var deferred: [(atLeast: UInt64, call: @Sendable () -> Void)] = []

    /// Observes the commits of `feed`, as long as there is an attachment.
    init(
        _ feed: CommitFeed, _ names: BacklinkNames, _ limits: ObservationLimits,
        didEvaluate: @escaping @Sendable (_ begin: Instant) -> Void
    ) {
        self.feed = feed
        self.names = names
        self.limits = limits
        self.didEvaluate = didEvaluate
        clock = EvaluationClock(limit: limits.evaluationTime)
    }

    // MARK: - Listening

    /// Hears of commits from now on.
    func begin(_ current: @autoclosure () -> Version, _ observer: @escaping CommitFeed.Observer) {
        guard token == nil else { return }
        token = feed.add(observer)
        // Read after the feed knows of us: what is committed in between is heard of and passed over.
        position = current()
    }

    /// Stops hearing of commits when nothing is observed any more.
    func settle() {
        updateCounts()
        guard observations.isEmpty, let token else { return }
        feed.remove(token)
        self.token = nil
        position = nil
        history = CommitHistory()
        graph = nil
        runDeferred()
    }

    /// Ends all observations with `closed`.
    func end() {
        if let token { feed.remove(token) }
        token = nil
        for observation in observations.values { fail(observation, .closed) }
        settle()
    }

    /// Runs a call when everything up to a version was delivered: the writer may be about to publish it.
    func call(_ call: @escaping @Sendable () -> Void, atLeast version: UInt64) {
        if let position, token != nil, position.token.version < version {
            deferred.append((version, call))
        } else {
            call()
        }
    }

    /// Runs the calls whose version was reached.
    private func runDeferred() {
        guard !deferred.isEmpty else { return }
        let reached = token == nil ? UInt64.max : position?.token.version ?? .max
        let ready = deferred.filter { $0.atLeast <= reached }
        deferred.removeAll { $0.atLeast <= reached }
        for entry in ready { entry.call() }
    }

    // MARK: - Attachments

    /// Adds a listener to a target. Fails when the target is not there, or cannot be evaluated.
    func attach(
        _ target: ObservedTarget, _ listener: any ObservationListener, isActive: Bool
    ) -> Result<Attached, ObservationError> {
        guard let position else { return .failure(.closed) }
        do throws(ObservationError) {
            let observation = try observation(of: target, at: position)
            nextNumber += 1
            let attachment = Attachment(target.identity, nextNumber)
            observation.listeners[nextNumber] = Observation.Listener(listener: listener, isActive: isActive)
            byNumber[nextNumber] = observation
            return .success(
                Attached(attachment: attachment, version: observation.version, contents: observation.observer.contents))
        } catch {
            return .failure(error)
        }
    }

    /// The observation of a target: a known one, brought to the present position, or a new one.
    private func observation(of target: ObservedTarget, at position: Version) throws(ObservationError) -> Observation {
        if let known = observations[target.identity] {
            bringUp(known)
            if observations[target.identity] === known { return known }
        }
        clock.start()
        let observation = Observation(target, try target.observer(at: position.snapshot, names: names, clock), position)
        observations[target.identity] = observation
        return observation
    }

    /// Notes whether a listener waits for events; the target is advanced first, so that its events stay in order.
    func setActive(_ attachment: Attachment, _ isActive: Bool) {
        guard let observation = byNumber[attachment.number] else { return }
        // Active targets go together, so it has to catch up with the others.
        bringUp(observation)
        observation.listeners[attachment.number]?.isActive = isActive
    }

    /// The state of an attachment at the newest position.
    func contents(of attachment: Attachment) -> Result<Attached, ObservationError> {
        guard catchUp(attachment) != nil, let observation = byNumber[attachment.number] else { return .failure(.closed) }
        return .success(Attached(attachment: attachment, version: observation.version, contents: observation.observer.contents))
    }

    /// Leads a target on and returns where it is; nil when the attachment is over.
    func catchUp(_ attachment: Attachment) -> Version? {
        guard let observation = byNumber[attachment.number] else { return nil }
        bringUp(observation)
        return byNumber[attachment.number] == nil ? nil : position
    }

    /// Ends an attachment, and the observation with its last one.
    func detach(_ attachment: Attachment) {
        guard let observation = byNumber.removeValue(forKey: attachment.number) else { return }
        observation.listeners[attachment.number] = nil
        guard observation.listeners.isEmpty else { return }
        forget(observation)
        trimHistory()
    }

    // MARK: - Commits

    /// Leads targets over a commit and publishes the round.
    func process(_ commit: WaitingCommit) {
        defer { runDeferred() }
        guard token != nil, let from = position, commit.version.token.version > from.token.version else { return }
        let start = Instant.now()
        let round = Round(commit, from)
        // A commit with a mark, a lost one, or one that changes the schema is a round by itself.
        let goesAll = commit.mark != nil || commit.isLost || round.isAdditive != nil
        if goesAll { catchUpAll() }
        guard adaptToSchema(round) else {
            // All observations have ended; listeners attach again.
            finish(round, start)
            return
        }
        let range = ObservedRange(
            from: from, to: commit.version, log: RangeLog(commit.changes), graph: currentGraph(commit.version.snapshot))
        for observation in observations.values
        where goesAll || observation.isActive || observation.observer.isGone {
            advance(observation, over: range, isLost: commit.isLost)
        }
        if observations.values.contains(where: { $0.version !== commit.version }) { history.append(commit) }
        finish(round, start)
    }

    /// One commit on its way to the targets.
    private struct Round {
        /// The commit, or several as one.
        let commit: WaitingCommit
        /// Where all active targets are.
        let from: Version
        /// Whether classes or properties may be others afterwards.
        let mayChangeSchema: Bool
        /// Nil when the visible schema is the same: links in mixed values add hidden columns only.
        let isAdditive: Bool?

        /// Compares the schemas when they may differ.
        init(_ commit: WaitingCommit, _ from: Version) {
            self.commit = commit
            self.from = from
            mayChangeSchema = commit.hasSchemaChanges || commit.isLost
            isAdditive = mayChangeSchema ? SchemaComparison.isAdditive(from: from.snapshot, to: commit.version.snapshot) : nil
        }
    }

    /// Ends a round: notes its figures, calls the mark of the commit and publishes the new position.
    private func finish(_ round: Round, _ start: Instant) {
        position = round.commit.version
        let time = Instant.now().duration(since: start)
        metrics.withLock { metrics in
            metrics.rounds += 1
            metrics.joinedCommits += UInt64(round.commit.commitCount - 1)
            if round.commit.isLost { metrics.lostRanges += 1 }
            metrics.lastRound = time
        }
        round.commit.mark?.didNotify(round.commit.version.token.version)
        rounds.publish(ObservationRound(version: round.commit.version))
    }

    /// The graph of links, made when it is first needed.
    private func currentGraph(_ snapshot: Snapshot) -> LinkGraph {
        let graph = graph ?? LinkGraph(snapshot)
        self.graph = graph
        return graph
    }

    /// Advances one target over a range and delivers the event, if there is one.
    private func advance(_ observation: Observation, over range: ObservedRange, isLost: Bool = false) {
        defer { observation.version = range.to }
        guard !observation.observer.isGone, isLost || observation.observer.mayChange(over: range) else { return }
        let begin = Instant.now()
        clock.start()
        defer { didEvaluate(begin) }
        do throws(ObservationError) {
            let change = try change(of: observation, over: range, isLost: isLost)
            metrics.withLock { metrics in
                metrics.evaluations += 1
                if change != nil { metrics.events += 1 }
            }
            guard let change else { return }
            let event = ObservationEvent(from: observation.version, to: range.to, change: change)
            for listener in observation.listenersInOrder { listener.didChange(event) }
        } catch {
            fail(observation, error)
        }
    }

    /// The difference that a range makes to a target; when it is not known what happened, its contents are read again.
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

    /// Ends an observation; each of its listeners is called with the reason.
    private func fail(_ observation: Observation, _ error: ObservationError) {
        for listener in observation.listenersInOrder { listener.didFail(error) }
        remove(observation)
    }

    /// Forgets an observation with all its attachments.
    private func remove(_ observation: Observation) {
        for number in observation.listeners.keys { byNumber[number] = nil }
        forget(observation)
    }

    /// Takes an observation out, unless another one has its place by now.
    private func forget(_ observation: Observation) {
        guard observations[observation.target.identity] === observation else { return }
        observations[observation.target.identity] = nil
    }

    // MARK: - Schema

    /// Returns false when everything observed is over because classes or properties are gone or changed.
    private func adaptToSchema(_ round: Round) -> Bool {
        guard round.mayChangeSchema else { return true }
        graph = nil
        let from = round.from.snapshot
        let to = round.commit.version.snapshot
        let isAdditive = round.isAdditive
        if let isAdditive {
            let change = SchemaChange(oldVersion: from.schemaVersion, newVersion: to.schemaVersion, isAdditive: isAdditive)
            for observation in observations.values {
                for listener in observation.listenersInOrder {
                    listener.didChange(change, from: round.from, to: round.commit.version)
                }
            }
        }
        for observation in observations.values {
            if isAdditive == false { remove(observation) } else { adapt(observation, to) }
        }
        return isAdditive != false
    }

    /// Needed for hidden columns as well.
    private func adapt(_ observation: Observation, _ snapshot: Snapshot) {
        do throws(ObservationError) {
            try observation.observer.adapt(to: snapshot, observation.target.filter.resolved(in: snapshot, names))
        } catch {
            fail(observation, error)
        }
    }

    // MARK: - Passive targets

    /// When passive targets have to catch up, whatever happened.
    var passiveDeadline: Instant {
        history.since.map { $0.adding(max(limits.passiveTime, restTime)) } ?? .distantFuture
    }

    /// Nobody waits for passive targets, so they get a tenth of the thread's time at the most.
    private var restTime: Duration { min(limits.maximumPassiveTime, catchUpTime * 10) }

    /// Leads all passive targets to where the others are.
    func catchUpAll() {
        guard !history.isEmpty else { return }
        let start = Instant.now()
        var ranges: [UInt64: ObservedRange] = [:]
        for observation in observations.values { bringUp(observation, &ranges) }
        history = CommitHistory()
        catchUpTime = Instant.now().duration(since: start)
        if let position { rounds.publish(ObservationRound(version: position)) }
    }

    /// Advances passive targets that have fallen too far behind: their versions are kept in the file.
    func catchUpLate() {
        guard let since = history.since else { return }
        let now = Instant.now()
        let isFarBehind = history.commitCount > limits.passiveCommits || versionsBehind > limits.passiveVersions
        if history.changeCount > limits.passiveChanges || now >= passiveDeadline
            || isFarBehind && now >= since.adding(restTime)
        {
            catchUpAll()
        }
    }

    /// At how many versions passive targets are.
    private var versionsBehind: Int {
        guard let position else { return 0 }
        return Set(observations.values.lazy.filter { $0.version !== position }.map { $0.version.token.version }).count
    }

    /// Advances one passive target to the position of the others.
    private func bringUp(_ observation: Observation) {
        var ranges: [UInt64: ObservedRange] = [:]
        let isBehind = observation.version !== position
        bringUp(observation, &ranges)
        if isBehind {
            trimHistory()
            if let position { rounds.publish(ObservationRound(version: position)) }
        }
    }

    /// The same for many: targets at the same version share the range.
    private func bringUp(_ observation: Observation, _ ranges: inout [UInt64: ObservedRange]) {
        guard let position, observation.version !== position else { return }
        let start = observation.version.token.version
        let range =
            ranges[start]
            ?? ObservedRange(
                from: observation.version, to: position, log: RangeLog(history.changes(after: start)),
                graph: currentGraph(position.snapshot))
        ranges[start] = range
        advance(observation, over: range)
    }

    /// Forgets the commits that all passive targets were advanced over.
    private func trimHistory() {
        let behind = observations.values.filter { $0.version !== position }
        guard let oldest = behind.map(\.version.token.version).min() else {
            history = CommitHistory()
            return
        }
        history.drop(upTo: oldest)
    }

    /// Notes how many targets there are for the metrics.
    private func updateCounts() {
        let active = observations.values.count { $0.isActive }
        metrics.withLock { metrics in
            metrics.active = active
            metrics.passive = observations.count - active
            metrics.heldVersions = versionsBehind
        }
    }
}

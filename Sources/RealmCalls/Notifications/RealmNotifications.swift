// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The notifications of one realm: its feeds, their subscribers, and the version up to which changes are published.
///
/// The observation hub of the realm delivers changes to the feeds. At the end of each round this publishes the version, and
/// notifies the subscribers of the feeds that have changed. A feed whose evaluation takes long is behind that version for a
/// while, and its readers wait there. So a client never sees a change set of a version while another of its feeds lacks its
/// changes of the same version.
///
/// `ChangeService` makes one for each realm that is observed. Any thread may call it; one lock guards the state, and nothing is
/// called under it.
package final class RealmNotifications: Sendable {
    /// The feeds, the subscribers and the changes of the current round, guarded by the lock.
    private struct State {
        /// The feeds of the realm by identity. One that has failed is removed.
        var feeds: [ByteText: ChangeFeed] = [:]
        /// The feeds by definition: one for each object that the names of the definition have referred to.
        var byNames: [ByteText: [ChangeFeed]] = [:]
        /// The streams and polls of the realm, by identity.
        var subscribers: [ObjectIdentifier: any ChangeSubscriber] = [:]
        /// The feeds that have a new change set since the last round.
        var changed: [ChangeFeed] = []
        /// The newest changes of the schema, the oldest first.
        var schemaChanges: [SchemaNotice] = []
        /// The version of the last change of the schema that was more than additions. Positions before it cannot be resumed.
        var lastBreak: UInt64 = 0
        /// Whether the schema has changed in the current round, so that all subscribers are notified.
        var hasNewSchema = false
        /// The token of the observer of rounds; nil after the realm is closed.
        var roundToken: Int?
        /// Whether the realm is closed, so that no feed or subscriber is added.
        var isClosed = false
        /// Whether a timer is set that evicts unused feeds.
        var willDrop = false

        /// Removes a feed from the lists by identity and by definition.
        mutating func remove(_ feed: ChangeFeed) {
            if feeds[feed.identity] === feed { feeds[feed.identity] = nil }
            byNames[feed.nameIdentity]?.removeAll { $0 === feed }
            if byNames[feed.nameIdentity]?.isEmpty == true { byNames[feed.nameIdentity] = nil }
        }

        /// Removes the feeds that no client uses, as far as they satisfy a condition.
        ///
        /// - Returns: The feeds, which the caller closes after the lock is released.
        mutating func takeUnused(where condition: (ChangeFeed) -> Bool = { _ in true }) -> [ChangeFeed] {
            let unused = feeds.values.filter { $0.unusedSince != nil && condition($0) }
            for feed in unused { remove(feed) }
            return unused
        }
    }

    /// The number of changes of the schema that are remembered, so that streams can report them.
    private static let schemaChangeLimit = 100

    /// The open realm that the notifications are about.
    package let database: Database
    /// The readable part of the realm; nil for everything.
    let scope: (any VersionScope)?
    /// Advances the observed targets of the subscribers from commit to commit.
    let hub: ObservationHub
    /// The limits of the server for streams, polls and kept change sets.
    let liveLimits: LiveLimits
    /// The limits in force.
    var limits: Limits { liveLimits.current }
    /// The counts of change sets, resets and overflows of all realms.
    private let metrics: NotificationMetrics
    /// The timer that evicts unused feeds.
    private let timers: TimerQueue
    /// Gives a job to a worker in the share of a client, and returns false when the server stops.
    private let submit: @Sendable (_ client: String, @escaping WorkerPool.Job) -> Bool
    /// Called when the last feed was removed and there is no subscriber.
    private let didRunEmpty: @Sendable () -> Void
    /// Evicts unused feeds of all realms when there are too many.
    private let dropExcess: @Sendable () -> Void
    /// Evicts the unused feeds of all realms.
    let makeRoom: @Sendable () -> Void
    /// Schedules the eviction of the unused feeds of all realms, once for any number of calls.
    let makeRoomSoon: @Sendable () -> Void
    private let state = RankedMutex(.realmNotifications, State())

    /// The epochs of the realm, of which there are several only for a followed file.
    private struct Epochs {
        /// The present epoch.
        var present: String
        /// The epoch before; the same one when there was none.
        var former: String
        /// The version with which the present epoch began; 0 for the first one.
        var start: UInt64 = 0
        /// Whether an epoch has begun since the last round, so that all subscribers are notified.
        var isNew = false
    }

    /// The number of unused feeds that are kept for the realm.
    private let idleCount = Atomic<Int>(0)

    /// Guards the epochs, which are read under the locks of streams and feeds.
    private let epochs: RankedMutex<Epochs>
    /// The version up to which all feeds of the realm have their changes, except those that are behind it.
    private let publishedVersion: Atomic<UInt64>

    /// Makes the notifications of a realm, and begins to observe the rounds of its hub.
    ///
    /// - Parameters:
    ///   - database: The open realm.
    ///   - scope: The readable part of the realm; nil for everything.
    ///   - limits: The limits of the server.
    ///   - metrics: The counts of all realms.
    ///   - timers: The timer that evicts unused feeds.
    ///   - submit: Gives a job to a worker in the share of a client.
    ///   - didRunEmpty: Called when the last feed was removed and there is no subscriber.
    ///   - dropExcess: Evicts unused feeds of all realms when there are too many.
    ///   - makeRoom: Evicts the unused feeds of all realms.
    ///   - makeRoomSoon: Evicts them on a worker.
    init(
        _ database: Database, scope: (any VersionScope)?, limits: LiveLimits, metrics: NotificationMetrics, timers: TimerQueue,
        submit: @escaping @Sendable (_ client: String, @escaping WorkerPool.Job) -> Bool,
        didRunEmpty: @escaping @Sendable () -> Void,
        dropExcess: @escaping @Sendable () -> Void, makeRoom: @escaping @Sendable () -> Void,
        makeRoomSoon: @escaping @Sendable () -> Void
    ) {
        self.dropExcess = dropExcess
        self.makeRoom = makeRoom
        self.makeRoomSoon = makeRoomSoon
        self.database = database
        self.scope = scope
        hub = database.observations(for: scope)
        self.didRunEmpty = didRunEmpty
        liveLimits = limits
        self.metrics = metrics
        self.timers = timers
        self.submit = submit
        let current = database.current.token
        epochs = RankedMutex(.leaf, Epochs(present: current.epoch, former: current.epoch))
        publishedVersion = Atomic(current.version)
        let token = hub.onRound { [weak self] version in self?.endRound(version) }
        state.withLock { $0.roundToken = token }
    }

    /// A failure when another program has changed the file. Data read from it must not be delivered then.
    var soundness: Result<Void, Problem> {
        database.health.failure.map { .failure(Problem(unavailable: $0)) } ?? .success(())
    }

    /// The version up to which all feeds have their changes, except those that lag. Subscribers do not read beyond it.
    var published: UInt64 { publishedVersion.load(ordering: .acquiring) }
    /// The version of the last change of the schema that was more than additions; 0 when there was none.
    var lastBreak: UInt64 { state.withLock { $0.lastBreak } }
    /// The version with which the present epoch began, which positions before it cannot be resumed from; 0 when the
    /// realm was opened with it.
    var epochStart: UInt64 { epochs.withLock { $0.start } }
    /// Returns the token of a version of this realm, which clients send back as their position.
    func token(_ version: UInt64) -> String {
        let epoch = epochs.withLock { version < $0.start ? $0.former : $0.present }
        return epoch + "." + String(version)
    }

    /// Gives a job to a worker, in the share of the realm, so that subscribers of one realm do not delay those of another.
    ///
    /// - Returns: False when the server stops. The job is then never called.
    func work(_ job: @escaping @Sendable () -> Void) -> Bool { submit("realm " + database.name.text, job) }

    /// Counts a feed that is no longer used by any client (1), or one that is used again or was evicted (-1).
    func noteIdle(_ difference: Int) {
        idleCount.add(difference, ordering: .relaxed)
        metrics.idleFeeds.add(difference, ordering: .relaxed)
    }
    /// Counts a reset of subscriptions.
    func noteReset(_ reason: ResetNotice.Reason) { metrics.noteReset(reason) }
    /// Counts a stream that was reset because its client was too far behind.
    func noteOverflow() { metrics.overflows.add(1, ordering: .relaxed) }
    /// Counts a change set that was encoded.
    func noteEncoding() { metrics.encodings.add(1, ordering: .relaxed) }
    /// Counts change sets that were delivered from memory to a client that resumed.
    func noteReplayed(_ count: Int) { metrics.replayed.add(count, ordering: .relaxed) }

    /// Whether there is neither a feed nor a subscriber.
    var isUnused: Bool { state.withLock { $0.feeds.isEmpty && $0.subscribers.isEmpty } }

    /// The number of definitions that are observed, with those that are kept although no client reads them.
    var feedCount: Int { state.withLock { $0.feeds.count } }
    /// The number of open streams of the realm.
    var streamCount: Int { state.withLock { $0.subscribers.values.count(where: \.isStream) } }
    /// The number of polls of the realm that are not answered yet.
    var pollCount: Int { state.withLock { $0.subscribers.values.count { !$0.isStream } } }

    // MARK: - Feeds

    /// Throws `forbidden` where the sender of a request knows of the class of a definition, but may not observe it.
    ///
    /// - Parameters:
    ///   - call: The request that asks for it.
    package func requireObservable(_ definition: SubscriptionDefinition, for call: Call) throws(Problem) {
        guard let className = definition.className else { return }
        let snapshot = database.current.shown(by: scope).snapshot
        guard snapshot.classTable(named: className) == nil else { return }
        try call.requireNoOtherRights(on: className, in: snapshot)
    }

    /// Returns the feed of a definition, resolved in the newest version. An existing feed is shared.
    ///
    /// - Parameters:
    ///   - budget: The budget of the request that asks for it, which limits the time for its queries.
    /// - Returns: The feed, with a hold for the caller, to be released with `release`.
    /// - Throws: The problem of a definition that names something unknown, `deadline_exceeded`, or `realm_unavailable` when the
    ///   realm is being closed.
    package func feed(_ definition: SubscriptionDefinition, within budget: WorkBudget) throws(Problem) -> ChangeFeed {
        try feed(definition, nameIdentity: ChangeFeed.nameIdentity(definition), within: budget)
    }

    /// Returns the feed of a definition, as for a client without a position.
    private func feed(
        _ definition: SubscriptionDefinition, nameIdentity: String, within budget: WorkBudget
    ) throws(Problem) -> ChangeFeed {
        let resolved = try DefinitionResolver(
            definition: definition, version: database.current.shown(by: scope), database: database, budget: budget
        ).resolve()
        let identity = ChangeFeed.identity(resolved, nameIdentity)
        if let known = hold(identity) { return known }
        let new = ChangeFeed(resolved, definition, identity: identity, nameIdentity: nameIdentity, self)
        guard let feed = hold(identity, orAdd: new) else { throw Problem(observing: .closed) }
        return feed
    }

    /// Takes a hold on the feed of an identity.
    ///
    /// - Parameters:
    ///   - new: The feed to add where there is none, or it has failed; nil for none.
    /// - Returns: The feed; nil when there is none, or the realm is closed.
    private func hold(_ identity: String, orAdd new: ChangeFeed? = nil) -> ChangeFeed? {
        state.withLock { state -> ChangeFeed? in
            guard !state.isClosed else { return nil }
            if let known = state.feeds[identity], known.failure == nil {
                known.retain()
                return known
            }
            guard let new else { return nil }
            new.retain()
            state.feeds[identity] = new
            state.byNames[new.nameIdentity, default: []].append(new)
            return new
        }
    }

    /// Returns the feed of a definition for a client that resumes at a position.
    ///
    /// The object that the client observed may have been deleted, and another one may have its key.
    /// So the feed is chosen that has change sets from the position on.
    ///
    /// - Parameters:
    ///   - start: The position of the client.
    ///   - budget: The budget of the request that asks for it.
    /// - Returns: The feed, with a hold for the caller, and the position to start from. It is
    ///   `unclear` when it cannot be known which object the client has observed.
    /// - Throws: As for a client without a position.
    package func feed(
        _ definition: SubscriptionDefinition, from start: StartPosition, within budget: WorkBudget
    ) throws(Problem) -> (feed: ChangeFeed, start: StartPosition) {
        guard case .version(let version) = start else { return (try feed(definition, within: budget), start) }
        let nameIdentity = ChangeFeed.nameIdentity(definition)
        let known = state.withLock { state -> [ChangeFeed]? in
            let all = state.byNames[nameIdentity] ?? []
            // A client at the version of a deletion knows of that, and of nothing that was created since.
            guard !all.contains(where: { $0.end == version }) else { return nil }
            let known = all.filter { $0.failure == nil && !$0.isOver(at: version) && $0.next(after: version).0 != .lost }
            if known.count == 1 { known[0].retain() }
            return known
        }
        if let known, known.count == 1 { return (known[0], start) }
        let feed = try feed(definition, nameIdentity: nameIdentity, within: budget)
        return (feed, known?.isEmpty == true ? start : .unclear)
    }

    /// Releases a hold on a feed.
    ///
    /// A feed without holds is kept for a while, so that clients can resume; beyond the limit, the feeds of the server that were
    /// unused for longest are evicted.
    package func release(_ feed: ChangeFeed) {
        guard feed.release() else { return }
        if dropAbandoned(feed) { return }
        let sets = state.withLock { state -> Bool in
            defer { state.willDrop = true }
            return !state.willDrop
        }
        // One timer at a time: clients may come and go by the hundred.
        if sets { setDropTimer(at: Instant.now()) }
        dropExcess()
    }

    /// Sets the timer that evicts unused feeds, for feeds that became unused at a time.
    private func setDropTimer(at time: Instant) {
        timers.set(at: time.adding(seconds: Double(limits.retentionSeconds) + 0.01)) { [weak self] in self?.dropUnused() }
    }

    /// Evicts feeds that have been unused for the time of retention, and sets the next timer.
    private func dropUnused() {
        let limit = Instant.now().earlier(bySeconds: Double(limits.retentionSeconds))
        let (unused, next) = state.withLock { state -> ([ChangeFeed], Instant?) in
            let unused = state.takeUnused { $0.isUnused(since: limit) }
            let next = state.feeds.values.compactMap(\.unusedSince).min()
            state.willDrop = next != nil
            return (unused, next)
        }
        for feed in unused { feed.close() }
        if let next { setDropTimer(at: next) } else if isUnused { didRunEmpty() }
    }

    /// Evicts all feeds that no client uses, without waiting for the time of retention, if there is no subscriber.
    func dropAllUnused() {
        closeEvicted(state.withLock { state -> [ChangeFeed] in state.subscribers.isEmpty ? state.takeUnused() : [] })
    }

    /// Evicts all feeds that no client uses at the moment.
    func dropIdle() { closeEvicted(state.withLock { $0.takeUnused() }) }

    /// The feeds that no client uses, each with the time at which its last user left.
    var unusedFeeds: [(feed: ChangeFeed, since: Instant)] {
        guard idleCount.load(ordering: .relaxed) > 0 else { return [] }
        return state.withLock { state in
            state.feeds.values.compactMap { feed in feed.unusedSince.map { (feed: feed, since: $0) } }
        }
    }

    /// Evicts one of the feeds that no client uses, unless one uses it again.
    func drop(_ feed: ChangeFeed) {
        closeEvicted(
            state.withLock { state -> [ChangeFeed] in
                guard feed.unusedSince != nil, state.feeds[feed.identity] === feed else { return [] }
                state.remove(feed)
                return [feed]
            })
    }

    private func closeEvicted(_ feeds: [ChangeFeed]) {
        for feed in feeds { feed.close() }
        if !feeds.isEmpty, isUnused { didRunEmpty() }
    }

    /// Removes an unused feed whose observation never began. No client can resume from it.
    ///
    /// - Returns: Whether it was removed.
    @discardableResult
    func dropAbandoned(_ feed: ChangeFeed) -> Bool {
        let isAbandoned = state.withLock { state in
            guard feed.isAbandoned else { return false }
            state.remove(feed)
            return true
        }
        guard isAbandoned else { return false }
        feed.close()
        if isUnused { didRunEmpty() }
        return true
    }

    /// Removes a feed that has failed. Its subscribers find the failure when they read from it.
    func forget(_ feed: ChangeFeed) { state.withLock { $0.remove(feed) } }

    // MARK: - Subscribers

    /// Adds a subscriber and activates its feeds.
    ///
    /// - Returns: False when the realm is closed, and nothing was done.
    func add(_ subscriber: any ChangeSubscriber) -> Bool {
        let isOpen = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            state.subscribers[ObjectIdentifier(subscriber)] = subscriber
            return true
        }
        if isOpen { for sub in subscriber.reader.subs { sub.feed.activate() } }
        return isOpen
    }

    /// Removes a subscriber from its feeds, and deactivates them for it if it was added and not removed before.
    func remove(_ subscriber: any ChangeSubscriber) {
        for sub in subscriber.reader.subs { sub.feed.remove(subscriber) }
        let removed = state.withLock { $0.subscribers.removeValue(forKey: ObjectIdentifier(subscriber)) }
        guard removed != nil else { return }
        for sub in subscriber.reader.subs { sub.feed.deactivate() }
    }

    /// Brings subscriptions to one version, at least that of the newest commit, and publishes that version.
    ///
    /// - Parameters:
    ///   - subs: The subscriptions, whose feeds have to be active.
    ///   - wantsContents: Whether the rows at the version are needed, for snapshots.
    ///   - client: The client for whom workers evaluate definitions that are not observed yet.
    ///   - share: Counts the memory of the definitions for their client; nil when it is counted elsewhere.
    ///   - deadline: The end of the wait for evaluations, if earlier than the time limit of a read.
    ///   - isWanted: Returns whether the client still waits. Called on workers and on the thread of the hub.
    ///   - completion: Receives the version and the rows, on the thread of the hub, or at once on this one when a feed has failed
    ///     or the hub is closed.
    package func align(
        _ subs: [ReadSubscription], wantsContents: Bool, for client: String, countedIn share: ObservedShare?,
        until deadline: Instant = .distantFuture, isWanted: @escaping @Sendable () -> Bool,
        _ completion: @escaping @Sendable (Result<AlignedSubscriptions, Problem>) -> Void
    ) {
        var admission = ObservedMemory.Admission()
        admission.byteLimit = limits.observedBytes
        admission.deadline = min(Instant.now().adding(seconds: Double(limits.readSeconds)), deadline)
        admission.isWanted = isWanted
        admission.runElsewhere = { [weak self] work in self?.evaluate(for: client, work) ?? false }
        let alignment = SubscriptionAlignment(
            subs, wantsContents: wantsContents, countedIn: share, admission,
            newest: { [self] in database.current.shown(by: scope) }
        ) { [self] result in
            guard case .success(let aligned) = result else { return completion(result) }
            publish(aligned.version.token)
            completion(result)
        }
        alignment.begin()
    }

    /// Gives the evaluation of a definition to a worker, in the share that a client has for these. They take turns apart from the reads of
    /// the client, so that others who wait for the same definition do not wait for those.
    ///
    /// - Returns: False when the server stops. The work is then never done.
    func evaluate(for client: String, _ work: @escaping @Sendable () -> Void) -> Bool { submit("observe " + client, work) }

    // MARK: - Rounds

    /// Records that a feed has a new change set, so that its subscribers are notified at the end of the round.
    func noteChange(_ feed: ChangeFeed) {
        state.withLock { state in
            if state.changed.last !== feed { state.changed.append(feed) }
        }
    }

    /// Notes a change of the schema. Every feed reports the same change, and only the first report counts.
    ///
    /// - Parameters:
    ///   - version: The version that it is part of.
    func noteSchema(_ change: SchemaChange, _ version: Version) {
        let notice = SchemaNotice(
            commit: version.token.version, oldVersion: change.oldVersion, newVersion: change.newVersion,
            version: version.tokenText, isAdditive: change.isAdditive)
        state.withLock { state in
            // Every feed notes the same change.
            guard state.schemaChanges.last.map({ $0.commit < notice.commit }) ?? true else { return }
            state.schemaChanges.append(notice)
            if state.schemaChanges.count > RealmNotifications.schemaChangeLimit { state.schemaChanges.removeFirst() }
            if !notice.isAdditive { state.lastBreak = notice.commit }
            state.hasNewSchema = true
        }
    }

    /// Returns the first change of the schema after a version; nil when there is none. Only the newest 100 changes are known.
    func schemaChange(after version: UInt64) -> SchemaNotice? {
        state.withLock { state in
            guard let last = state.schemaChanges.last, last.commit > version else { return nil }
            return state.schemaChanges.first { $0.commit > version }
        }
    }

    /// Makes a version the one up to which subscribers may read, unless a later one is published already.
    private func publish(_ token: VersionToken) {
        epochs.withLock { epochs in
            guard token.epoch != epochs.present, token.version > max(epochs.start, published) else { return }
            epochs = Epochs(present: token.epoch, former: epochs.present, start: token.version, isNew: true)
        }
        publishedVersion.max(token.version, ordering: .acquiringAndReleasing)
    }

    /// Ends a round: publishes its version, and notifies the subscribers of the feeds that have
    /// changed, or all of them after a change of the schema or at the beginning of an epoch.
    private func endRound(_ version: Version) {
        publish(version.token)
        let isNewEpoch = epochs.withLock { epochs in
            defer { epochs.isNew = false }
            return epochs.isNew
        }
        let (changed, all) = state.withLock { state in
            defer {
                state.changed.removeAll(keepingCapacity: true)
                state.hasNewSchema = false
            }
            return (state.changed, state.hasNewSchema || isNewEpoch ? Array(state.subscribers.values) : nil)
        }
        let subscribers = all ?? changed.flatMap(\.subscribers)
        subscribers.notify()
    }

    // MARK: - The end

    /// Forgets the hub, which is about to be closed. Later observers of the scope get a new one.
    func forgetHub() {
        if let scope { database.forgetObservations(hub, for: scope) }
    }

    /// Ends all streams, and answers all polls.
    ///
    /// - Parameter cause: The reason for the end.
    func end(_ cause: SubscriptionEnd) { state.withLock { Array($0.subscribers.values) }.end(cause) }

    /// Ends the streams of clients whose credential is no longer valid or whose rights have changed, and answers their polls.
    func endOutdated() {
        state.withLock { Array($0.subscribers.values) }.filter { !$0.standing.isInForce }.end(.unauthenticated)
    }

    /// Ends all subscribers and all observations, because the realm is closed.
    ///
    /// - Parameter problem: The reason why the realm cannot be served at present, so that clients may return; nil when it was
    ///   detached.
    func close(failing problem: Problem? = nil) {
        let (feeds, token) = state.withLock { state in
            state.isClosed = true
            defer {
                state.feeds = [:]
                state.byNames = [:]
                state.roundToken = nil
            }
            return (Array(state.feeds.values), state.roundToken)
        }
        end(.realmClosed(problem))
        for feed in feeds { feed.close() }
        if let token { hub.removeRoundObserver(token) }
    }
}

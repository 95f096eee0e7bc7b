// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// The notifications of one realm: its feeds and their subscribers.
///
/// The hub of the realm delivers changes to the feeds; at the end of a round this publishes the version, and notifies the subscribers of
/// the feeds that changed. Any thread may call it.
final class RealmNotifications: Sendable {
    private struct State {
        var feeds: [String: ChangeFeed] = [:]
        /// The feeds of a definition: one for each object that its names have referred to.
        var byNames: [String: [ChangeFeed]] = [:]
        var subscribers: [ObjectIdentifier: any ChangeSubscriber] = [:]
        /// Channels with something new since the last round.
        var changed: [ChangeFeed] = []
        var schemaChanges: [SchemaNotice] = []
        var lastBreak: UInt64 = 0
        var hasNewSchema = false
        var roundToken: Int?
        var isClosed = false
        /// Whether a time is set at which unused feeds are evicted.
        var willDrop = false

        mutating func remove(_ feed: ChangeFeed) {
            if feeds[feed.identity] === feed { feeds[feed.identity] = nil }
            byNames[feed.nameIdentity]?.removeAll { $0 === feed }
            if byNames[feed.nameIdentity]?.isEmpty == true { byNames[feed.nameIdentity] = nil }
        }

        /// Removes the feeds that have been unused for longest when more than `limit` are unused; an eighth more, so that this is not
        /// done at each release.
        mutating func takeExcess(_ limit: Int) -> [ChangeFeed] {
            guard feeds.count > limit else { return [] }
            let unused = feeds.values.compactMap { feed in feed.unusedSince.map { (feed, $0) } }
            guard unused.count > limit else { return [] }
            let excess = unused.sorted { $0.1 < $1.1 }.prefix(unused.count - limit + limit / 8).map(\.0)
            for feed in excess { remove(feed) }
            return excess
        }
    }

    /// Changes of the schema that are remembered.
    private static let schemaChangeLimit = 100

    let database: Database
    let limits: Limits
    private let metrics: NotificationMetrics
    private let alarm: Alarm
    private let submit: @Sendable (@escaping WorkerPool.Job) -> Bool
    private let state = RankedMutex(.realmNotifications, State())
    /// The feeds have the changes of all versions up to this one.
    private let publishedVersion: Atomic<UInt64>

    init(
        _ database: Database, limits: Limits, metrics: NotificationMetrics, alarm: Alarm,
        submit: @escaping @Sendable (@escaping WorkerPool.Job) -> Bool
    ) {
        self.database = database
        self.limits = limits
        self.metrics = metrics
        self.alarm = alarm
        self.submit = submit
        publishedVersion = Atomic(database.current.token.version)
        let token = database.observations.onRound { [weak self] round in self?.endRound(round) }
        state.withLock { $0.roundToken = token }
    }

    /// A problem when the file was changed by another program, so that what was read from it may not be delivered.
    var soundness: Result<Void, Problem> {
        database.health.failure.map { .failure(Problem(unavailable: $0)) } ?? .success(())
    }

    var published: UInt64 { publishedVersion.load(ordering: .acquiring) }
    var lastBreak: UInt64 { state.withLock { $0.lastBreak } }
    func token(_ version: UInt64) -> String { VersionToken(epoch: database.epoch, version: version).text }

    /// Gives a job to a worker; false when the server stops.
    func work(_ job: @escaping @Sendable () -> Void) -> Bool { submit(job) }

    func noteReset(_ reason: ResetNotice.Reason) { metrics.noteReset(reason) }
    func noteOverflow() { metrics.overflows.add(1, ordering: .relaxed) }
    func noteEncoding() { metrics.encodings.add(1, ordering: .relaxed) }
    func noteReplayed(_ count: Int) { metrics.replayed.add(count, ordering: .relaxed) }

    var feedCount: Int { state.withLock { $0.feeds.count } }
    var streamCount: Int { state.withLock { $0.subscribers.values.count(where: \.isStream) } }
    var pollCount: Int { state.withLock { $0.subscribers.values.count { !$0.isStream } } }

    // MARK: - Channels

    /// The feed of a definition in the newest version, held for the caller.
    func feed(_ definition: SubscriptionDefinition) throws(Problem) -> ChangeFeed {
        let resolved = try DefinitionResolver(definition: definition, version: database.current, database: database).resolve()
        let identity = ChangeFeed.identity(resolved, definition)
        let feed = state.withLock { state -> ChangeFeed? in
            guard !state.isClosed else { return nil }
            if let known = state.feeds[identity], known.failure == nil {
                known.retain()
                return known
            }
            let feed = ChangeFeed(resolved, definition, identity: identity, self)
            feed.retain()
            state.feeds[identity] = feed
            state.byNames[feed.nameIdentity, default: []].append(feed)
            return feed
        }
        guard let feed else { throw ChangeFeed.problem(.closed) }
        return feed
    }

    /// The same for a client that resumes at a version: the object that it reads may be deleted by now, or another may have its key.
    func feed(
        _ definition: SubscriptionDefinition, from start: StartPosition
    ) throws(Problem) -> (feed: ChangeFeed, start: StartPosition) {
        guard case .version(let version) = start else { return (try feed(definition), start) }
        let known = state.withLock { state -> [ChangeFeed]? in
            let all = state.byNames[ChangeFeed.nameIdentity(definition)] ?? []
            // A client at the version of a deletion knows of that, and of nothing that was created since.
            guard !all.contains(where: { $0.end == version }) else { return nil }
            let known = all.filter { $0.failure == nil && !$0.isOver(at: version) && $0.next(after: version).0 != .lost }
            if known.count == 1 { known[0].retain() }
            return known
        }
        if let known, known.count == 1 { return (known[0], start) }
        return (try feed(definition), known?.isEmpty == true ? start : .unclear)
    }

    func release(_ feed: ChangeFeed) {
        guard feed.release() else { return }
        let (excess, sets) = state.withLock { state -> ([ChangeFeed], Bool) in
            defer { state.willDrop = true }
            return (state.takeExcess(limits.idleDefinitions), !state.willDrop)
        }
        for feed in excess { feed.close() }
        // One timer at a time: clients may come and go by the hundred.
        if sets { setDropAlarm(at: Instant.now()) }
    }

    private func setDropAlarm(at time: Instant) {
        alarm.set(at: time.adding(seconds: Double(limits.retentionSeconds) + 0.01)) { [weak self] in self?.dropUnused() }
    }

    /// Evicts feeds that have been unused for the time of retention.
    private func dropUnused() {
        let limit = Instant.now().adding(seconds: -Double(limits.retentionSeconds))
        let (unused, next) = state.withLock { state -> ([ChangeFeed], Instant?) in
            let unused = state.feeds.values.filter { $0.isUnused(since: limit) }
            for feed in unused { state.remove(feed) }
            let next = state.feeds.values.compactMap(\.unusedSince).min()
            state.willDrop = next != nil
            return (unused, next)
        }
        for feed in unused { feed.close() }
        if let next { setDropAlarm(at: next) }
    }

    /// Removes a feed that has failed. Its readers see the failure when they look.
    func forget(_ feed: ChangeFeed) { state.withLock { $0.remove(feed) } }

    // MARK: - Subscribers

    /// Adds a reader, and makes its feeds active. False when the realm is closed; it has to be removed all the same.
    func add(_ subscriber: any ChangeSubscriber) -> Bool {
        let isOpen = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            state.subscribers[ObjectIdentifier(subscriber)] = subscriber
            return true
        }
        for sub in subscriber.reader.subs { sub.feed.activate() }
        return isOpen
    }

    /// Removes a reader, and gives up its holds on the feeds.
    func remove(_ subscriber: any ChangeSubscriber) {
        let removed = state.withLock { $0.subscribers.removeValue(forKey: ObjectIdentifier(subscriber)) }
        withExtendedLifetime(removed) {}
        for sub in subscriber.reader.subs {
            sub.feed.remove(subscriber)
            sub.feed.deactivate()
            release(sub.feed)
        }
    }

    /// Brings subscriptions to one version, that of the newest commit at least. Their feeds have to be active.
    func align(
        _ subs: [ReadSubscription], wantsContents: Bool,
        _ completion: @escaping @Sendable (Result<AlignedSubscriptions, Problem>) -> Void
    ) {
        let alignment = SubscriptionAlignment(subs, wantsContents: wantsContents) { [self] result in
            if case .success(let aligned) = result { publish(aligned.version.token.version) }
            completion(result)
        }
        alignment.begin()
    }

    // MARK: - Rounds

    func noteChange(_ feed: ChangeFeed) { state.withLock { $0.changed.append(feed) } }

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

    /// The first change of the schema after a version.
    func schemaChange(after version: UInt64) -> SchemaNotice? {
        state.withLock { state in
            guard let last = state.schemaChanges.last, last.commit > version else { return nil }
            return state.schemaChanges.first { $0.commit > version }
        }
    }

    private func publish(_ version: UInt64) { publishedVersion.max(version, ordering: .acquiringAndReleasing) }

    /// The feeds have all changes up to a version: publishes it, and notifies the subscribers of those that changed. A change of the
    /// schema is delivered to all.
    private func endRound(_ round: ObservationRound) {
        let version = round.version.token.version
        publish(version)
        let (changed, all) = state.withLock { state in
            defer {
                state.changed.removeAll(keepingCapacity: true)
                state.hasNewSchema = false
            }
            return (state.changed, state.hasNewSchema ? Array(state.subscribers.values) : nil)
        }
        if let all { return all.notify() }
        changed.flatMap(\.subscribers).notify()
    }

    // MARK: - The end

    /// Ends all streams, and answers all polls.
    func end(_ cause: SubscriptionEnd) { state.withLock { Array($0.subscribers.values) }.end(cause) }

    /// The realm is closed: ends all subscribers and all observations. `problem` says why when it may be served again later.
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
        if let token { database.observations.removeRoundObserver(token) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The changes of one definition: one observation in the engine, one encoding of each change set, any number of readers.
///
/// The engine delivers changes on the thread of its hub. Readers take them from the feed on their own threads.
final class ChangeFeed: Sendable {
    private struct State {
        var resolved: ResolvedSubscription
        var attachment: Attachment?
        var isAttaching = false
        /// What to do once the observation is there, for those who came before that.
        var waiting: [@Sendable () -> Void] = []
        var ring = ChangeRing(base: 0)
        /// Why the observation ended early.
        var failure: Problem?
        /// The version that deleted the observed object or collection.
        var end: UInt64?
        /// The number of rows at the version at which the ring began.
        var firstCount: Int?
        /// The number of streams, polls and registrations that hold the feed.
        var users = 0
        /// The number of streams and waiting polls among them.
        var activeUsers = 0
        var unusedSince: Instant?
        /// Those that wait for more.
        var subscribers: [ObjectIdentifier: any ChangeSubscriber] = [:]
    }

    /// Distinguishes the feed from the others of its realm.
    let identity: String
    /// The same for all feeds of one definition, whatever objects its names have referred to.
    let nameIdentity: String
    let definition: SubscriptionDefinition
    let names: BacklinkNames
    private let hub: ObservationHub
    private let limits: Limits
    private let notifications: RealmNotifications
    private let state: RankedMutex<State>

    init(
        _ resolved: ResolvedSubscription, _ definition: SubscriptionDefinition, identity: String,
        _ notifications: RealmNotifications
    ) {
        self.identity = identity
        nameIdentity = ChangeFeed.nameIdentity(definition)
        self.definition = definition
        names = notifications.database.backlinkNames
        hub = notifications.database.observations
        limits = notifications.limits
        self.notifications = notifications
        state = RankedMutex(.changeFeed, State(resolved: resolved))
    }

    static func nameIdentity(_ definition: SubscriptionDefinition) -> String {
        definition.representation.code + definition.document.text
    }

    static func identity(_ resolved: ResolvedSubscription, _ definition: SubscriptionDefinition) -> String {
        resolved.target.identity + "\u{0}" + nameIdentity(definition)
    }

    var shape: ResolvedSubscription.Shape { state.withLock { $0.resolved.shape } }
    var failure: Problem? { state.withLock { $0.failure } }
    private var encoder: ChangeEncoder { ChangeEncoder(definition: definition, shape: shape, names: names, budget: newBudget()) }

    /// What one change set, or one part of a snapshot, may cost.
    func newBudget() -> WorkBudget { limits.budgetOfDocument() }

    /// The time that one of them may take.
    var secondsOfPart: Double { Double(limits.readSeconds) }

    // MARK: - Holds and readers

    /// Takes a hold, which keeps the feed in memory.
    func retain() {
        state.withLock { state in
            state.users += 1
            state.unusedSince = nil
        }
    }

    /// Gives up one hold; returns whether it was the last.
    func release() -> Bool {
        state.withLock { state in
            state.users -= 1
            if state.users == 0 { state.unusedSince = .now() }
            return state.users == 0
        }
    }

    /// When the last hold was given up; nil while there is one.
    var unusedSince: Instant? { state.withLock { $0.unusedSince } }

    /// Whether the last hold was given up at `time` or before.
    func isUnused(since time: Instant) -> Bool { state.withLock { $0.unusedSince.map { $0 <= time } ?? false } }

    /// Counts a reader that waits for changes. While there is one, the hub evaluates the definition at every commit.
    func activate() {
        let attachment = state.withLock { state -> Attachment? in
            state.activeUsers += 1
            return state.activeUsers == 1 ? state.attachment : nil
        }
        if let attachment { updateActivity(of: attachment) }
    }

    /// Counts one such reader less. Without any, the hub may put several commits into one evaluation.
    func deactivate() {
        let attachment = state.withLock { state -> Attachment? in
            state.activeUsers -= 1
            return state.activeUsers == 0 ? state.attachment : nil
        }
        if let attachment { updateActivity(of: attachment) }
    }

    /// The hub asks when it gets to it, so the last answer is right in whatever order readers come and go.
    private func updateActivity(of attachment: Attachment) {
        hub.setActive(attachment) { [self] in state.withLock { $0.activeUsers > 0 } }
    }

    /// Notifies a subscriber of what the feed publishes from now on.
    func add(_ subscriber: any ChangeSubscriber) {
        state.withLock { $0.subscribers[ObjectIdentifier(subscriber)] = subscriber }
    }

    func remove(_ subscriber: any ChangeSubscriber) {
        // The last reference may go with it, so it goes after the lock.
        let removed = state.withLock { $0.subscribers.removeValue(forKey: ObjectIdentifier(subscriber)) }
        withExtendedLifetime(removed) {}
    }

    /// Those that wait for changes of this feed.
    var subscribers: [any ChangeSubscriber] { state.withLock { Array($0.subscribers.values) } }

    /// Ends the observation.
    func close() {
        let attachment = state.withLock { state -> Attachment? in
            defer { state.attachment = nil }
            return state.attachment
        }
        if let attachment { hub.detach(attachment) }
    }

    // MARK: - Catching up

    /// Brings the observation to the newest version. `completion` gets that version and, if wanted, the contents at it; it is called
    /// on the hub's thread, or at once when the feed has failed.
    func catchUp(
        wantsContents: Bool, _ completion: @escaping @Sendable (Result<(Version, ObservedContents?), Problem>) -> Void
    ) {
        enum Action {
            case fail(Problem)
            case wait
            case attach(ObservedTarget, isActive: Bool)
            case use(Attachment)
        }
        let action = state.withLock { state -> Action in
            if let failure = state.failure { return .fail(failure) }
            if let attachment = state.attachment { return .use(attachment) }
            guard !state.isAttaching else {
                state.waiting.append { [self] in catchUp(wantsContents: wantsContents, completion) }
                return .wait
            }
            state.isAttaching = true
            return .attach(state.resolved.target, isActive: state.activeUsers > 0)
        }
        HeldLocks.assertNone()
        switch action {
        case .wait: break
        case .fail(let problem): completion(.failure(problem))
        case .attach(let target, let isActive): attach(target, isActive: isActive, completion)
        case .use(let attachment) where wantsContents:
            hub.contents(of: attachment) { result in
                completion(result.map { ($0.version, $0.contents) }.mapError(ChangeFeed.problem))
            }
        case .use(let attachment):
            hub.catchUp(attachment) { version in
                completion(version.map { .success(($0, nil)) } ?? .failure(ChangeFeed.problem(.closed)))
            }
        }
    }

    private func attach(
        _ target: ObservedTarget, isActive: Bool,
        _ completion: @escaping @Sendable (Result<(Version, ObservedContents?), Problem>) -> Void
    ) {
        hub.attach(target, self, isActive: isActive) { [self] result in
            let (waiting, hasChanged) = state.withLock { state in
                state.isAttaching = false
                switch result {
                case .success(let attached):
                    state.attachment = attached.attachment
                    state.ring.restart(at: attached.version.token.version)
                    state.firstCount = attached.contents.count
                case .failure(let error): state.failure = ChangeFeed.problem(error)
                }
                defer { state.waiting = [] }
                return (state.waiting, (state.activeUsers > 0) != isActive)
            }
            HeldLocks.assertNone()
            switch result {
            case .success(let attached):
                // Users have come or gone meanwhile.
                if hasChanged { updateActivity(of: attached.attachment) }
                completion(.success((attached.version, attached.contents)))
            case .failure(let error):
                notifications.forget(self)
                completion(.failure(ChangeFeed.problem(error)))
            }
            for action in waiting { action() }
        }
    }

    /// Has the subscribers of the feed notified at the end of the round.
    func noteChange() { notifications.noteChange(self) }

    static func problem(_ error: ObservationError) -> Problem {
        switch error {
        case .notFound: return Problem(.objectNotFound, "what was observed is not there any more")
        case .invalidSection(let detail): return .invalidParameter("sectionBy", detail)
        case .query(let error): return Problem(error, parameter: "where")
        case .storage(let error): return Problem(serving: error)
        case .closed: return Problem(.realmUnavailable, "the realm is being closed")
        }
    }

    // MARK: - Reading

    /// Where a reader at `position` goes on, and the set at that place.
    func next(after position: UInt64) -> (ChangeRing.Place, ChangeSet?) {
        state.withLock { state in
            let place = state.ring.place(after: position)
            guard case .known(let index) = place, index < state.ring.sets.count else { return (place, nil) }
            return (place, state.ring.sets[index])
        }
    }

    /// The number and the bytes of the sets that wait for a reader at `position`.
    func backlog(after position: UInt64, upTo end: UInt64) -> (sets: Int, bytes: Int) {
        state.withLock { state in
            guard case .known(let index) = state.ring.place(after: position) else { return (0, 0) }
            let sets = state.ring.sets(from: index, upTo: end)
            guard sets.count > 1 else { return (sets.count, sets.first?.byteCount ?? 0) }
            return (sets.count, sets.reduce(0) { $0 + $1.byteCount })
        }
    }

    /// The version that deleted the observed object or collection; nil while it exists.
    var end: UInt64? { state.withLock { $0.end } }

    /// Whether the observed object or collection was deleted at `version` or before.
    func isOver(at version: UInt64) -> Bool { state.withLock { $0.end.map { $0 <= version } ?? false } }

    /// The set that is delivered in place of the changes of a version that the subscription skips.
    func skippedSet(at version: UInt64) -> ChangeSet {
        let count = state.withLock { $0.ring.count(at: version) ?? $0.firstCount }
        let tail = encoder.skipped(notifications.token(version), count: count)
        return ChangeSet(from: version, to: version, tail: tail, count: count, isLast: false)
    }
}

// MARK: - From the hub

extension ChangeFeed: ObservationListener {
    func didChange(_ event: ObservationEvent) {
        let version = event.to.token.version
        do throws(Problem) {
            if case .unknown = event.change { return reset(at: version) }
            guard !event.change.isSilent else { return state.withLock { $0.end = version } }
            let encoded = try encoder.encode(event)
            try notifications.soundness.get()
            notifications.noteEncoding()
            let set = ChangeSet(
                from: event.from.token.version, to: version, tail: encoded.tail, count: encoded.count, isLast: encoded.isLast)
            state.withLock { state in
                state.ring.append(set, limits: limits)
                if encoded.isLast { state.end = version }
            }
        } catch {
            // A change that cannot be encoded, because the file is damaged there, costs readers their position: they read the contents
            // again, and get the error if it is still there.
            return reset(at: version)
        }
        notifications.noteChange(self)
    }

    /// Drops the sets: no reader can go on from a position before `version`.
    private func reset(at version: UInt64) {
        state.withLock { $0.ring.restart(at: version) }
        notifications.noteChange(self)
    }

    func didChange(_ schema: SchemaChange, from: Version, to version: Version) {
        notifications.noteSchema(schema, version)
        guard !schema.isAdditive else { return }
        let outcome = Result { () throws(Problem) in
            try DefinitionResolver(definition: definition, version: version, database: notifications.database).resolve()
        }
        let old = state.withLock { state -> ResolvedSubscription in
            state.attachment = nil
            state.ring.restart(at: version.token.version)
            let old = state.resolved
            switch outcome {
            case .success(let resolved): state.resolved = resolved
            case .failure(let problem): state.failure = problem
            }
            return old
        }
        withExtendedLifetime(old) {}
        notifications.noteChange(self)
    }

    func didFail(_ error: ObservationError) {
        state.withLock { state in
            state.attachment = nil
            state.failure = ChangeFeed.problem(error)
            state.ring.restart(at: .max)
        }
        notifications.forget(self)
        notifications.noteChange(self)
    }
}

extension ObservedContents {
    /// The number of rows or entries; nil for what has none.
    var count: Int? {
        switch self {
        case .rows(_, let keys): return keys.count
        case .values(let count, _), .dictionary(let count): return count
        case .sections(_, let sections): return sections.reduce(0) { $0 + $1.rows.count }
        case .object, .realm: return nil
        case .gone: return 0
        }
    }
}

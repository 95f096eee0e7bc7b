// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import MicroHTTP
internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The change sets of one definition in one representation: it is observed once, and each change
/// set is encoded once, for any number of subscribers.
///
/// `RealmNotifications` makes a feed when the first client asks for the definition, and keeps it for a while after the last one
/// has left, so that clients can resume. The observation hub delivers changes on its thread, and the feed appends them to a
/// bounded ring. Streams and polls take them from the ring on their own threads, by position. All state is guarded by one lock,
/// and nothing is called under it.
package final class ChangeFeed: Sendable {
    /// The state of the observation and the change sets, guarded by the lock.
    private struct State {
        /// The definition with its names resolved in the newest schema.
        var resolved: ResolvedSubscription
        /// The observation at the hub; nil before it has begun and after it has ended.
        var attachment: Attachment?
        /// The number of callers for whom the hub was called to begin the observation, and who have no answer yet.
        var attaching = 0
        /// Whether there was an observation, so that clients may resume.
        var hasBegun = false
        /// Whether the feed was closed, so that it begins no observation.
        var isClosed = false
        /// The newest change sets of the feed, from which clients resume.
        var ring = ChangeRing(base: 0)
        /// The problem that ended the observation early; nil while there is none.
        var failure: Problem?
        /// The version up to which the change sets are complete; nil for the published one.
        var behind: UInt64?
        /// Whether the feed was behind the published version ever.
        var takesLong = false
        /// The version that deleted the observed object or collection; nil while it exists.
        var end: UInt64?
        /// The memory in bytes that the observation takes.
        var observedBytes = 0
        /// The counters of that memory for the clients that read the feed.
        var shares: [WeakShare] = []
        /// The memory in bytes that is counted for the ring.
        var ringBytes = 0
        /// The number of rows at the version at which the observation began.
        var firstCount: Int?
        /// The number of holds: streams, polls and registrations that use the feed.
        var users = 0
        /// The number of streams and waiting polls among the users of the feed.
        var activeUsers = 0
        /// The time at which the last user of the feed left; nil while it has users.
        var unusedSince: Instant?
        /// Whether the feed is counted among those that no client uses.
        var isCountedIdle = false
        /// The streams and polls that are notified of new change sets, by identity.
        var subscribers: [ObjectIdentifier: any ChangeSubscriber] = [:]
    }

    /// Text that distinguishes the feed from the others of its realm. It contains the observed
    /// object, so a new object with the same primary key gets another feed.
    let identity: String
    /// Text that is the same for all feeds of one definition, even if its names have referred to different objects.
    let nameIdentity: String
    /// The definition that the feed observes, as its clients wrote it.
    let definition: SubscriptionDefinition
    /// The names of linking objects that the configuration of the realm gives, used in change sets.
    let names: BacklinkNames
    /// The hub that advances the observed definitions of the realm.
    private let hub: ObservationHub
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }
    private let notifications: RealmNotifications
    /// The memory in bytes that is counted for the definition, regardless of its observation.
    private let definitionBytes: Int
    private let state: RankedMutex<State>

    /// Makes a feed that does not observe anything yet. The first call of `catchUp` begins the observation.
    ///
    /// - Parameters:
    ///   - definition: The definition as the client wrote it.
    ///   - identity: The identity of the feed, from `identity(_:_:)`.
    ///   - nameIdentity: The identity of the definition, from `nameIdentity(_:)`.
    init(
        _ resolved: ResolvedSubscription, _ definition: SubscriptionDefinition, identity: String, nameIdentity: String,
        _ notifications: RealmNotifications
    ) {
        self.identity = identity
        self.nameIdentity = nameIdentity
        definitionBytes = definition.byteCount(textBytes: nameIdentity.utf8.count)
        self.definition = definition
        names = notifications.database.backlinkNames
        hub = notifications.hub
        liveLimits = notifications.liveLimits
        self.notifications = notifications
        state = RankedMutex(.changeFeed, State(resolved: resolved))
        ObservedMemory.shared.add(definitionBytes)
    }

    /// Text that is equal for equal definitions in the same representation.
    static func nameIdentity(_ definition: SubscriptionDefinition) -> String {
        definition.representation.code + definition.identity
    }

    /// Text that is equal for equal definitions that refer to the same objects.
    static func identity(_ resolved: ResolvedSubscription, _ nameIdentity: String) -> String {
        resolved.target.identity + "\u{0}" + nameIdentity
    }

    /// The kind of rows of the feed. A migration may change it.
    var shape: ResolvedSubscription.Shape { state.withLock { $0.resolved.shape } }
    /// The problem that ended the observation early; nil while there is none.
    var failure: Problem? { state.withLock { $0.failure } }
    /// A new encoder for the next change set of the feed.
    private var encoder: ChangeEncoder { ChangeEncoder(definition: definition, shape: shape, names: names, budget: newBudget()) }

    /// Returns the limits for the cost of one change set, or of one part of a snapshot.
    func newBudget() -> WorkBudget { limits.budgetOfDocument() }

    /// The seconds that the work on one change set, or on one part of a snapshot, may take.
    var secondsPerPart: Double { Double(limits.readSeconds) }

    // MARK: - Holds and readers

    /// Takes a hold, which keeps the feed in memory until `release`.
    func retain() {
        state.withLock { state in
            state.users += 1
            state.unusedSince = nil
            countIdle(&state)
        }
    }

    /// Releases one hold.
    ///
    /// - Returns: Whether it was the last. The feed then stays in memory until `RealmNotifications` evicts it.
    func release() -> Bool {
        state.withLock { state in
            state.users -= 1
            if state.users == 0 { state.unusedSince = .now() }
            countIdle(&state)
            return state.users == 0
        }
    }

    /// Counts the feed as idle, or no longer so, after its users have changed or it was closed.
    private func countIdle(_ state: inout State) {
        let isIdle = state.unusedSince != nil && !state.isClosed
        guard isIdle != state.isCountedIdle else { return }
        state.isCountedIdle = isIdle
        notifications.noteIdle(isIdle ? 1 : -1)
    }

    /// The memory in bytes that the definition, the observation and the change sets take, about.
    var byteCount: Int { definitionBytes + state.withLock { $0.observedBytes + $0.ringBytes } }

    /// Counts the definition and its observation in a share, once and until that is released. Change sets count for the server alone.
    ///
    /// - Throws: `too_many_streams` when the client of the share would exceed its limit; nothing is counted then.
    func join(_ share: ObservedShare) throws(Problem) {
        let problem = state.withLock { state -> Problem? in
            guard !state.shares.contains(where: { $0.share === share }) else { return nil }
            state.shares.removeAll { $0.share == nil }
            if let problem = share.take(definitionBytes + state.observedBytes) { return problem }
            state.shares.append(WeakShare(share: share))
            return nil
        }
        if let problem { throw problem }
    }

    /// Sets the memory in bytes that the observation takes, and counts the difference in all shares.
    ///
    /// - Returns: The difference; and the problem if that is growth, and all clients that read the feed exceed their limit.
    @discardableResult
    private func setObserved(_ bytes: Int) -> (growth: Int, problem: Problem?) {
        let (growth, shares) = state.withLock { state in
            defer { state.observedBytes = bytes }
            return (bytes - state.observedBytes, state.shares.compactMap(\.share))
        }
        guard growth != 0 else { return (0, nil) }
        let problems = shares.compactMap { $0.add(growth) }
        return (growth, growth > 0 && problems.count == shares.count ? problems.first : nil)
    }

    /// Updates the counted memory of the observation, after a change.
    ///
    /// - Throws: `too_many_streams` for a definition that has grown beyond the limit of the server, or of every client that reads
    ///   it.
    private func count(_ bytes: Int) throws(Problem) {
        let (growth, problem) = setObserved(bytes)
        guard growth > 0 else { return }
        makeRoomIfScarce()
        let limit = limits.observedBytes
        if ObservedMemory.shared.byteCount > limit { throw Problem(observing: .noRoom(limit: limit)) }
        if let problem { throw problem }
    }

    /// Asks unused definitions to make room when all definitions take more than three quarters of the memory limit.
    private func makeRoomIfScarce() {
        if ObservedMemory.shared.byteCount > limits.observedBytes / 4 * 3 { notifications.makeRoomSoon() }
    }

    /// Updates the counted memory of the ring.
    private static func countRing(_ state: inout State) {
        let bytes = state.ring.byteCount + state.ring.sets.count * MemoryLayout<ChangeSet>.stride
        ObservedMemory.shared.add(bytes - state.ringBytes)
        state.ringBytes = bytes
    }

    deinit {
        let (bytes, isCountedIdle) = state.withLock { ($0.ringBytes, $0.isCountedIdle) }
        ObservedMemory.shared.add(-definitionBytes - bytes)
        if isCountedIdle { notifications.noteIdle(-1) }
    }

    /// The time of the release of the last hold; nil while the feed is in use.
    var unusedSince: Instant? { state.withLock { $0.unusedSince } }

    /// Whether the last user of the feed left at the given time or before it.
    func isUnused(since time: Instant) -> Bool { state.withLock { $0.unusedSince.map { $0 <= time } ?? false } }

    /// Whether the definition is observed, so that the feed catches up without a first evaluation.
    var isObserved: Bool { state.withLock { $0.attachment != nil } }

    /// Whether the feed has no user, and its observation was aborted before it began.
    var isAbandoned: Bool {
        state.withLock { $0.users == 0 && !$0.hasBegun && $0.attaching == 0 && $0.failure == nil }
    }

    /// Counts a subscriber that waits for changes.
    ///
    /// While there is one, the hub evaluates the definition at every commit, or at every few
    /// commits when they follow each other too quickly.
    package func activate() {
        let attachment = state.withLock { state -> Attachment? in
            state.activeUsers += 1
            return state.activeUsers == 1 ? state.attachment : nil
        }
        if let attachment { updateActivity(of: attachment) }
    }

    /// Counts one waiting subscriber less.
    ///
    /// Without any, the hub evaluates the definition only every few commits, or about once a second.
    package func deactivate() {
        let attachment = state.withLock { state -> Attachment? in
            state.activeUsers -= 1
            return state.activeUsers == 0 ? state.attachment : nil
        }
        if let attachment { updateActivity(of: attachment) }
    }

    /// Makes the hub check again whether a subscriber waits. It does so when it processes the call, so the last result is right
    /// in any order of subscribers.
    private func updateActivity(of attachment: Attachment) {
        hub.setActive(attachment) { [self] in state.withLock { $0.activeUsers > 0 } }
    }

    /// Notifies a subscriber of all change sets that are published from now on. The feed holds it until `remove`.
    func add(_ subscriber: any ChangeSubscriber) {
        state.withLock { $0.subscribers[ObjectIdentifier(subscriber)] = subscriber }
    }

    /// Stops to notify a subscriber of the feed's change sets.
    func remove(_ subscriber: any ChangeSubscriber) {
        // This may be the last reference, so it is released after the lock.
        let removed = state.withLock { $0.subscribers.removeValue(forKey: ObjectIdentifier(subscriber)) }
        withExtendedLifetime(removed) {}
    }

    /// The streams and polls that wait for changes of this feed.
    var subscribers: [any ChangeSubscriber] { state.withLock { Array($0.subscribers.values) } }

    /// Ends the observation for good. Change sets that are in the ring stay readable.
    func close() {
        let attachment = state.withLock { state -> Attachment? in
            state.isClosed = true
            countIdle(&state)
            defer { state.attachment = nil }
            return state.attachment
        }
        if let attachment { hub.detach(attachment) }
    }

    // MARK: - Catching up

    /// Brings the observation to the newest version, or begins it there.
    ///
    /// - Parameters:
    ///   - wantsContents: Whether the caller needs the rows at that version, for a snapshot.
    ///   - stop: An earlier version that is sufficient if the observation is behind it and can reach it; nil for none.
    ///   - admission: Until when, and whether, the caller waits.
    ///   - completion: Receives the version, which includes every commit made before this call unless it is `stop`, and
    ///     the rows if they are wanted. It is called on the hub's thread, or at once on this thread
    ///     when the feed has failed or the hub is closed.
    func catchUp(
        wantsContents: Bool, at stop: Version? = nil, _ admission: ObservedMemory.Admission,
        _ completion: @escaping @Sendable (Result<(Version, ObservedContents?), Problem>) -> Void
    ) {
        enum Action {
            case fail(Problem)
            case attach
            case use(Attachment)
        }
        let action = state.withLock { state -> Action in
            if let failure = state.failure { return .fail(failure) }
            if state.isClosed { return .fail(Problem(observing: .closed)) }
            if let attachment = state.attachment { return .use(attachment) }
            state.attaching += 1
            return .attach
        }
        HeldLocks.assertNone()
        switch action {
        case .fail(let problem): completion(.failure(problem))
        case .attach: attach(admission, completion)
        case .use(let attachment):
            let continuation: @Sendable (Result<(Version, ObservedContents?), ObservationError>) -> Void = { [self] result in
                // The observation that it has waited for has ended, because of the schema; there may be another.
                if case .failure(.outdated) = result { return catchUp(wantsContents: wantsContents, admission, completion) }
                completion(result.mapError { failure ?? Problem(observing: $0) })
            }
            if wantsContents {
                hub.contents(of: attachment, at: stop, admission) { continuation($0.map { ($0.version, $0.contents) }) }
            } else {
                hub.catchUp(attachment, at: stop, admission) { continuation($0.map { ($0, nil) }) }
            }
        }
    }

    /// Begins the observation. Callers of `catchUp` that come before it has begun do so as well, each in its own time and with
    /// its own share of the workers; the hub makes one evaluation for all of them.
    ///
    /// - Parameters:
    ///   - retry: The measures of earlier attempts.
    ///   - admission: The deadline of the caller, and whether it still waits.
    ///   - completion: Receives the version and the rows, or the problem.
    private func attach(
        after retry: Retry = Retry(), _ admission: ObservedMemory.Admission,
        _ completion: @escaping @Sendable (Result<(Version, ObservedContents?), Problem>) -> Void
    ) {
        let (target, isActive) = state.withLock { ($0.resolved.target, $0.activeUsers > 0) }
        hub.attach(target, self, isActive: isActive, admission) { [self] result in
            switch result {
            case .failure(.noRoom) where !retry.hasMadeRoom:
                // Unused feeds make room for one that a client wants to read.
                notifications.makeRoom()
                attach(after: Retry(hasMadeRoom: true, hasResolved: retry.hasResolved), admission, completion)
            case .failure(let error) where error.mayComeFromOtherSchema && !retry.hasResolved:
                guard case .success = resolveAgain() else { return answer(result, isActive: isActive, completion) }
                // Each later change of the schema is another reason.
                let isOutdated = if case .outdated = error { true } else { false }
                attach(after: Retry(hasMadeRoom: retry.hasMadeRoom, hasResolved: !isOutdated), admission, completion)
            default: answer(result, isActive: isActive, completion)
            }
        }
    }

    /// The measures that were taken after failures to begin an observation.
    private struct Retry {
        /// Whether feeds that no client uses were evicted.
        var hasMadeRoom = false
        /// Whether the definition was resolved again, although the hub knows of no change of the schema.
        var hasResolved = false
    }

    /// Resolves the definition in the newest version, after its schema may have changed. A definition that no longer fits it
    /// fails the feed. Called on the hub's thread.
    private func resolveAgain() -> Result<ResolvedSubscription, Problem> {
        let outcome = resolved(in: notifications.database.current.shown(by: notifications.scope))
        use(outcome)
        return outcome
    }

    /// Resolves the definition in a version.
    private func resolved(in version: Version) -> Result<ResolvedSubscription, Problem> {
        Result { () throws(Problem) in
            try DefinitionResolver(
                definition: definition, version: version, database: notifications.database,
                budget: WorkBudget(deadline: Instant.now().adding(seconds: secondsPerPart))
            ).resolve()
        }
    }

    /// Observes the resolved definition from now on, or fails the feed.
    ///
    /// - Parameters:
    ///   - outcome: The definition as it was resolved in a new schema, or why it does not fit it.
    ///   - version: The version at which the hub has ended the observation; nil when there was none.
    private func use(_ outcome: Result<ResolvedSubscription, Problem>, endingAt version: UInt64? = nil) {
        let old = state.withLock { state -> ResolvedSubscription in
            if let version {
                state.attachment = nil
                state.behind = nil
                state.ring.restart(at: version)
                ChangeFeed.countRing(&state)
            }
            let old = state.resolved
            switch outcome {
            case .success(let resolved): state.resolved = resolved
            case .failure(let problem): state.failure = state.failure ?? problem
            }
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Ends the beginning of an observation for one caller.
    ///
    /// - Parameters:
    ///   - result: The result from the hub.
    ///   - isActive: Whether the hub knows of a waiting subscriber.
    ///   - completion: Receives the version and the rows, or the problem.
    private func answer(
        _ result: Result<Attached, ObservationError>, isActive: Bool,
        _ completion: @escaping @Sendable (Result<(Version, ObservedContents?), Problem>) -> Void
    ) {
        let (isUsed, hasChanged, isClosed) = state.withLock { state -> (Bool, Bool, Bool) in
            state.attaching -= 1
            var isFirst = false
            switch result {
            case .success(let attached):
                isFirst = !state.isClosed && state.failure == nil && state.attachment == nil
                if isFirst { ChangeFeed.begin(attached, &state) }
            // Other callers begin the observation in their own time.
            case .failure(.query(.cancelled)): break
            case .failure(let error): state.failure = state.failure ?? Problem(observing: error)
            }
            return (isFirst, (state.activeUsers > 0) != isActive, state.isClosed)
        }
        HeldLocks.assertNone()
        switch result {
        case .success(let attached) where isUsed:
            // Users have come or gone since the call.
            if hasChanged { updateActivity(of: attached.attachment) }
            if let problem = setObserved(attached.byteCount).problem {
                end(problem)
                completion(.failure(problem))
            } else {
                completion(.success((attached.version, attached.contents)))
            }
        case .success(let attached):
            // Another caller has begun the observation already, or it has ended.
            hub.detachNow(attached.attachment)
            if let problem = isClosed ? Problem(observing: .closed) : failure {
                completion(.failure(problem))
            } else {
                completion(.success((attached.version, attached.contents)))
            }
        case .failure(let error):
            let problem = failure
            if problem != nil { notifications.forget(self) } else { notifications.dropAbandoned(self) }
            completion(.failure(problem ?? Problem(observing: error)))
        }
    }

    /// Begins the change sets at the version of an observation.
    private static func begin(_ attached: Attached, _ state: inout State) {
        state.attachment = attached.attachment
        state.hasBegun = true
        state.ring.restart(at: attached.version.token.version)
        countRing(&state)
        state.firstCount = attached.contents.count
    }

    /// Records that the feed has changed, so that its subscribers are notified when the current round of the hub ends.
    func noteChange() { notifications.noteChange(self) }

    // MARK: - Reading

    /// Finds the change set that a subscriber at a position needs next.
    ///
    /// - Parameter position: The version up to which the subscriber has everything.
    /// - Returns: The place of the set in the ring, and the set. Without a set the subscriber is up
    ///   to date, or its position is lost.
    /// - Complexity: O(log n) in the number of sets that are kept, O(1) for a subscriber at the
    ///   end.
    func next(after position: UInt64) -> (ChangeRing.Place, ChangeSet?) {
        state.withLock { state in
            let place = state.ring.place(after: position)
            guard case .known(let index) = place, index < state.ring.sets.count else { return (place, nil) }
            return (place, state.ring.sets[index])
        }
    }

    /// Returns where the change set begins that goes beyond a version, and begins before it; nil when there is none.
    func start(over version: UInt64) -> UInt64? { state.withLock { $0.ring.start(over: version) } }

    /// Returns the number of change sets that wait for a subscriber, and their size in bytes.
    ///
    /// - Parameters:
    ///   - position: The version up to which the subscriber has everything.
    ///   - end: The newest published version.
    func backlog(after position: UInt64, upTo end: UInt64) -> (sets: Int, bytes: Int) {
        state.withLock { state in
            guard case .known(let index) = state.ring.place(after: position) else { return (0, 0) }
            let sets = state.ring.sets(from: index, upTo: end)
            guard sets.count > 1 else { return (sets.count, sets.first?.byteCount ?? 0) }
            return (sets.count, sets.reduce(0) { $0 + $1.byteCount })
        }
    }

    /// The version up to which the change sets are complete, as the hub has not evaluated later ones yet; nil for the published one.
    var behind: UInt64? { state.withLock { $0.behind } }
    /// Whether other threads than that of the hub have evaluated it, so that the next evaluation may take long.
    var takesLong: Bool { state.withLock { $0.takesLong } }

    /// The version that deleted the observed object or collection; nil while it exists.
    var end: UInt64? { state.withLock { $0.end } }

    /// Whether the observed object or collection was deleted at a version or before it.
    func isOver(at version: UInt64) -> Bool { state.withLock { $0.end.map { $0 <= version } ?? false } }

    /// Returns the empty change set that replaces the changes of a version which the subscription asked to skip.
    ///
    /// - Parameters:
    ///   - version: The version of the skipped write, or of the last of several.
    ///   - from: The version before which no position is that the set leads on from.
    func skippedSet(at version: UInt64, from: UInt64) -> ChangeSet {
        let count = state.withLock { $0.ring.count(at: version) ?? $0.firstCount }
        let tail = encoder.skipped(notifications.token(version), count: count)
        return ChangeSet(from: from, to: version, tail: tail, count: count, isLast: false)
    }
}

// MARK: - From the hub

/// The calls of the observation hub, all on its thread.
extension ChangeFeed: ObservationListener {
    /// Encodes a change and appends it to the ring. A change that cannot be encoded resets the feed, so that subscribers read the
    /// contents again.
    func didChange(_ event: ObservationEvent) { take(event, encoded(event)) }

    /// Encodes a change that another thread has found, on that thread.
    func prepare(_ event: ObservationEvent) -> @Sendable () -> Void {
        let set = encoded(event)
        return { [self] in take(event, set) }
    }

    /// Encodes a change; nil for one that has no change set.
    private func encoded(_ event: ObservationEvent) -> Result<ChangeSet?, Problem> {
        Result { () throws(Problem) in
            if case .unknown = event.change { return nil }
            guard !event.change.isSilent else { return nil }
            let encoded = try encoder.encode(event)
            try notifications.soundness.get()
            notifications.noteEncoding()
            return ChangeSet(
                from: event.from.token.version, to: event.to.token.version, tail: encoded.tail, count: encoded.count,
                isLast: encoded.isLast)
        }
    }

    /// Appends a change that was encoded.
    private func take(_ event: ObservationEvent, _ encoded: Result<ChangeSet?, Problem>) {
        let version = event.to.token.version
        do throws(Problem) {
            try count(event.byteCount)
        } catch {
            return end(error)
        }
        do throws(Problem) {
            if case .unknown = event.change { return reset(at: version) }
            guard let set = try encoded.get() else { return state.withLock { $0.end = version } }
            state.withLock { state in
                state.ring.append(set, limits: limits)
                ChangeFeed.countRing(&state)
                if ObservedMemory.shared.byteCount > limits.observedBytes {
                    state.ring.keepLast()
                    ChangeFeed.countRing(&state)
                }
                // Subscribers read the contents again, so that no single set exceeds the limit.
                if ObservedMemory.shared.byteCount > limits.observedBytes, !set.isLast {
                    state.ring.restart(at: version)
                    ChangeFeed.countRing(&state)
                }
                if set.isLast { state.end = version }
            }
            makeRoomIfScarce()
        } catch {
            // A change that cannot be encoded, because the file is damaged there, costs subscribers their position:
            // they read the contents again, and get the error if it still occurs.
            return reset(at: version)
        }
        notifications.noteChange(self)
    }

    /// The threads of the clients that read the feed, which take turns like first evaluations.
    var threads: [EvaluationThread] {
        let clients = state.withLock { $0.shares.compactMap { $0.share?.name } }
        return (clients.isEmpty ? [""] : clients).map { client in
            EvaluationThread(client: client) { [notifications] work in notifications.evaluate(for: client.text, work) }
        }
    }

    /// Notes up to which version the change sets are complete. Subscribers that have waited for this feed are notified at the end of the
    /// round.
    func isBehind(at version: UInt64?) {
        let hasMoved = state.withLock { state in
            defer { state.behind = version }
            if version != nil { state.takesLong = true }
            return state.behind != nil && state.behind != version
        }
        if hasMoved { notifications.noteChange(self) }
    }

    /// Restarts all subscribers. They get the contents by the next evaluation, instead of waiting for it and then needing another
    /// one.
    func willRestart() { reset(at: .max) }

    /// Drops all change sets, so that no subscriber can continue from a position before `version`.
    private func reset(at version: UInt64) {
        state.withLock { state in
            state.ring.restart(at: version)
            ChangeFeed.countRing(&state)
        }
        notifications.noteChange(self)
    }

    /// Records a change of the schema. Unless it only adds classes and properties, the definition is resolved again in the new
    /// schema, and all subscribers restart.
    func didChange(_ schema: SchemaChange, from: Version, to version: Version) {
        notifications.noteSchema(schema, version)
        guard !schema.isAdditive else { return }
        use(resolved(in: version), endingAt: version.token.version)
        // The hub has ended the observation.
        setObserved(0)
        notifications.noteChange(self)
    }

    /// Ends the feed with a problem, and loses the positions of all subscribers so that they notice it.
    func didFail(_ error: ObservationError) { end(Problem(observing: error)) }

    /// Ends the feed and its observation with a problem, which its readers get. Called on the hub's thread.
    private func end(_ problem: Problem) {
        let attachment = state.withLock { state -> Attachment? in
            defer { state.attachment = nil }
            state.behind = nil
            state.failure = problem
            state.ring.restart(at: .max)
            ChangeFeed.countRing(&state)
            return state.attachment
        }
        setObserved(0)
        if let attachment { hub.detachNow(attachment) }
        notifications.forget(self)
        notifications.noteChange(self)
    }
}

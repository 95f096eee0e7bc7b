// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// What is observed in one form: one observation of the engine, one encoding of its changes, any number of readers.
///
/// What the engine tells comes on the thread of its hub; readers look from theirs.
final class Channel: Sendable {
    private struct State {
        var resolved: ResolvedSubscription
        var attachment: Attachment?
        var isAttaching = false
        /// Those who came while it was being attached.
        var waiting: [@Sendable () -> Void] = []
        var ring = ChangeRing(base: 0)
        /// Why nothing can be observed any more.
        var failure: Problem?
        /// The version at which what is observed was deleted.
        var end: UInt64?
        /// The size when the ring began.
        var firstCount: Int?
        /// Streams, polls and registrations that hold it.
        var users = 0
        /// Streams and waiting polls among them.
        var activeUsers = 0
        var unusedSince: Instant?
        var lines: [ObjectIdentifier: any EventLine] = [:]
        var polls: [ObjectIdentifier: LongPoll] = [:]
    }

    /// What tells it from others of its realm.
    let identity: String
    /// The same without the objects that its names stood for.
    let nameIdentity: String
    let definition: SubscriptionDefinition
    let names: BacklinkNames
    private let hub: ObservationHub
    private let limits: Limits
    private let center: ChangeCenter
    private let state: RankedMutex<State>

    init(_ resolved: ResolvedSubscription, _ definition: SubscriptionDefinition, identity: String, _ center: ChangeCenter) {
        self.identity = identity
        nameIdentity = Channel.nameIdentity(definition)
        self.definition = definition
        names = center.database.backlinkNames
        hub = center.database.observations
        limits = center.limits
        self.center = center
        state = RankedMutex(.channel, State(resolved: resolved))
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

    // MARK: - Users

    func retain() {
        state.withLock { state in
            state.users += 1
            state.unusedSince = nil
        }
    }

    /// True when nobody is left.
    func release() -> Bool {
        state.withLock { state in
            state.users -= 1
            if state.users == 0 { state.unusedSince = .now() }
            return state.users == 0
        }
    }

    /// Since when nobody has held it; nil while somebody does.
    var unusedSince: Instant? { state.withLock { $0.unusedSince } }

    /// Whether nobody has held it since then.
    func isUnused(since time: Instant) -> Bool { state.withLock { $0.unusedSince.map { $0 <= time } ?? false } }

    /// Somebody waits for changes: from now on they are told at once.
    func activate() {
        let attachment = state.withLock { state -> Attachment? in
            state.activeUsers += 1
            return state.activeUsers == 1 ? state.attachment : nil
        }
        if let attachment { updateActivity(of: attachment) }
    }

    func deactivate() {
        let attachment = state.withLock { state -> Attachment? in
            state.activeUsers -= 1
            return state.activeUsers == 0 ? state.attachment : nil
        }
        if let attachment { updateActivity(of: attachment) }
    }

    /// The hub looks for itself when it gets to it: in whatever order users come and go, the last look is right.
    private func updateActivity(of attachment: Attachment) {
        hub.setActive(attachment) { [self] in state.withLock { $0.activeUsers > 0 } }
    }

    func add(_ line: any EventLine, of stream: EventStream) { state.withLock { $0.lines[ObjectIdentifier(stream)] = line } }
    func remove(_ stream: EventStream) { state.withLock { $0.lines[ObjectIdentifier(stream)] = nil } }
    func add(_ poll: LongPoll) { state.withLock { $0.polls[ObjectIdentifier(poll)] = poll } }
    func remove(_ poll: LongPoll) { state.withLock { $0.polls[ObjectIdentifier(poll)] = nil } }

    /// Adds those who wait for changes of this channel.
    func collectReaders(_ lines: inout [any EventLine], _ polls: inout [LongPoll]) {
        state.withLock { state in
            lines.append(contentsOf: state.lines.values)
            polls.append(contentsOf: state.polls.values)
        }
    }

    /// Lets the observation go.
    func close() {
        let attachment = state.withLock { state -> Attachment? in
            defer { state.attachment = nil }
            return state.attachment
        }
        if let attachment { hub.detach(attachment) }
    }

    // MARK: - Attaching

    /// Brings the observation to the newest version, and tells it and, if wanted, what is there. On the hub's thread.
    func bring(
        wantsContents: Bool, _ completion: @escaping @Sendable (Result<(Database.Version, ObservedContents?), Problem>) -> Void
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
                state.waiting.append { [self] in bring(wantsContents: wantsContents, completion) }
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
                completion(result.map { ($0.version, $0.contents) }.mapError(Channel.problem))
            }
        case .use(let attachment):
            hub.catchUp(attachment) { version in
                completion(version.map { .success(($0, nil)) } ?? .failure(Channel.problem(.closed)))
            }
        }
    }

    private func attach(
        _ target: ObservedTarget, isActive: Bool,
        _ completion: @escaping @Sendable (Result<(Database.Version, ObservedContents?), Problem>) -> Void
    ) {
        hub.attach(target, self, isActive: isActive) { [self] result in
            let (waiting, hasChanged) = state.withLock { state in
                state.isAttaching = false
                switch result {
                case .success(let attached):
                    state.attachment = attached.attachment
                    state.ring.restart(at: attached.version.token.version)
                    state.firstCount = attached.contents.count
                case .failure(let error): state.failure = Channel.problem(error)
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
                center.forget(self)
                completion(.failure(Channel.problem(error)))
            }
            for action in waiting { action() }
        }
    }

    static func problem(_ error: ObservationError) -> Problem {
        switch error {
        case .notFound: return Problem(.objectNotFound, "what was observed is not there any more")
        case .invalid(let error): return error as? Problem ?? Problem(.invalidQuery, "the definition cannot be observed")
        case .query(let error): return Problem(error, parameter: "where")
        case .storage(let error): return Problem(serving: error)
        case .closed: return Problem(.realmUnavailable, "the realm is being closed")
        }
    }

    // MARK: - Reading

    /// Where a reader at `position` goes on, and the set that is there.
    func next(after position: UInt64) -> (ChangeRing.Place, ChangeSet?) {
        state.withLock { state in
            let place = state.ring.place(after: position)
            guard case .known(let index) = place, index < state.ring.sets.count else { return (place, nil) }
            return (place, state.ring.sets[index])
        }
    }

    /// How much waits for a reader at `position`.
    func backlog(after position: UInt64, upTo end: UInt64) -> (sets: Int, bytes: Int) {
        state.withLock { state in
            guard case .known(let index) = state.ring.place(after: position) else { return (0, 0) }
            let sets = state.ring.sets(from: index, upTo: end)
            guard sets.count > 1 else { return (sets.count, sets.first?.byteCount ?? 0) }
            return (sets.count, sets.reduce(0) { $0 + $1.byteCount })
        }
    }

    /// The version at which what is observed was deleted.
    var end: UInt64? { state.withLock { $0.end } }

    /// Whether what is observed was gone by then.
    func isOver(at version: UInt64) -> Bool { state.withLock { $0.end.map { $0 <= version } ?? false } }

    /// What is told instead of the changes of a version that is skipped.
    func skippedSet(at version: UInt64) -> ChangeSet {
        let count = state.withLock { $0.ring.count(at: version) ?? $0.firstCount }
        let tail = encoder.skipped(center.token(version), count: count)
        return ChangeSet(from: version, to: version, tail: tail, count: count, isLast: false)
    }
}

// MARK: - From the hub

extension Channel: ObservationListener {
    func didChange(_ event: ObservationEvent) {
        let version = event.to.token.version
        do throws(Problem) {
            if case .unknown = event.change { return lose(at: version) }
            guard !event.change.isSilent else { return state.withLock { $0.end = version } }
            let encoded = try encoder.encode(event)
            try center.soundness.get()
            center.noteEncoding()
            let set = ChangeSet(
                from: event.from.token.version, to: version, tail: encoded.tail, count: encoded.count, isLast: encoded.isLast)
            state.withLock { state in
                state.ring.append(set, limits: limits)
                if encoded.isLast { state.end = version }
            }
        } catch {
            // What cannot be told, because the file is damaged there, is read again by whoever can.
            return lose(at: version)
        }
        center.noteChange(self)
    }

    /// Nobody can go on from before `version`.
    private func lose(at version: UInt64) {
        state.withLock { $0.ring.restart(at: version) }
        center.noteChange(self)
    }

    func didChange(_ schema: SchemaChange, from: Database.Version, to version: Database.Version) {
        center.noteSchema(schema, version)
        guard !schema.isAdditive else { return }
        let outcome = Result { () throws(Problem) in
            try DefinitionResolver(definition: definition, version: version, database: center.database).resolve()
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
        center.noteChange(self)
    }

    func didFail(_ error: ObservationError) {
        state.withLock { state in
            state.attachment = nil
            state.failure = Channel.problem(error)
            state.ring.restart(at: .max)
        }
        center.forget(self)
        center.noteChange(self)
    }
}

extension ObservedContents {
    /// How many rows there are; nil where there are none.
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

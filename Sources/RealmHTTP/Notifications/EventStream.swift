// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmEngine
internal import RealmStorage

/// One stream of events: the subscriptions of one client, read from the client's position on.
///
/// A stream has a position, and takes what follows it from the rings of its feeds when its connection has room. It keeps a few frames
/// itself at most. An `id` is written when the changes of all subscriptions up to it were delivered, so one position is enough for all.
///
/// `next`, `hasMore`, `heartbeat` and `ageOut` are called by the connection, `notify` and `end` by the feeds' threads; the lock guards
/// the state, and what has to be called is called after it is released.
final class EventStream: EventSource, ChangeSubscriber {
    /// What the client asked for beside the subscriptions.
    struct Options: Sendable {
        var start = StartPosition.beginning
        var wantsSnapshots = true
        /// Heartbeats are events instead of comments.
        var sendsHeartbeatEvents = false
    }

    private enum Phase {
        /// The subscriptions are brought to one version; `StartPlan` then decides how the stream begins.
        case opening
        /// Snapshots are being written.
        case snapshots
        /// The change sets of the feeds are delivered.
        case following
        /// The last frame is queued.
        case over
    }

    private struct State {
        var phase = Phase.opening
        var connection: (any EventConnection)?
        /// Frames that are ready to be sent. One with `isHead` is the head of an event, and its tail follows.
        var queue: Deque<(frame: OutputBuffer, isHead: Bool)> = []
        var queuedBytes = 0
        /// The last id that was delivered, or the position that the client brought.
        var position: UInt64 = 0
        /// The published version up to which nothing more was found.
        var seen: UInt64 = 0
        /// Commits up to this version are history that the client missed: the bound of the backlog does not count them.
        var historyEnd: UInt64 = 0
        /// `ready` is due at this version.
        var readyAt: UInt64?
        var heartbeatIsDue = false
        /// The newest change of the schema that was delivered.
        var schemaSeen: UInt64 = 0
        var production: SnapshotProduction?
        var isProducing = false
        var isClosed = false
        /// What has to be done after the lock is released.
        var tasks: [Task] = []

        /// Whether the head of an event was taken, and its tail is next.
        var isInsideEvent = false

        mutating func push(_ frame: OutputBuffer, isHead: Bool = false) {
            queue.append((frame, isHead))
            queuedBytes += frame.count
        }

        mutating func push(_ head: OutputBuffer, tail: OutputBuffer) {
            push(head, isHead: true)
            push(tail)
        }

        mutating func pop() -> OutputBuffer? {
            guard let (frame, isHead) = queue.popFirst() else { return nil }
            isInsideEvent = isHead
            queuedBytes -= frame.count
            return frame
        }

        mutating func dropProduction() {
            if let production { tasks.append(.release(production)) }
            production = nil
        }

        /// Drops all frames but the tail of an event whose head was sent: a client must get an event whole or not at all, as it keeps
        /// the id.
        mutating func clearQueue() {
            let tail = isInsideEvent ? queue.first?.frame : nil
            queue = []
            queuedBytes = 0
            if let tail { push(tail) }
        }
    }

    /// Work that is found under the lock and done after it is released, because it calls others, who may call back.
    private enum Task {
        /// The subscriptions are aligned again, because some lost the position of the stream.
        case align(position: UInt64, lost: [Int], ResetNotice.Reason)
        case produce(SnapshotProduction)
        /// Drops the last reference, and with it the version that was read.
        case release(SnapshotProduction)
    }

    /// Frames of snapshots are made in advance up to so many bytes.
    private static let bytesInAdvance = 128 << 10

    let reader: ChangeReader
    private let notifications: RealmNotifications
    private let options: Options
    private let requestID: RequestID
    /// The stream's share of the limits, held until it is closed.
    private let slot: StreamSlots.Slot
    /// The registration that is read, which must not be deallocated before the stream.
    private let registration: Registration?
    private let didEnd: @Sendable () -> Void
    private let state = RankedMutex(.eventStream, State())

    init(
        _ reader: ChangeReader, _ notifications: RealmNotifications, _ options: Options, slot: StreamSlots.Slot,
        registration: Registration?,
        requestID: RequestID, didEnd: @escaping @Sendable () -> Void
    ) {
        self.reader = reader
        self.notifications = notifications
        self.options = options
        self.slot = slot
        self.registration = registration
        self.requestID = requestID
        self.didEnd = didEnd
    }

    var isStream: Bool { true }

    /// Its connection, from `didOpen` to `didClose`.
    private var connection: (any EventConnection)? { state.withLock { $0.connection } }

    /// Changes the state under the lock, then performs the tasks that this added.
    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, tasks) = state.withLock { state -> (Result, [Task]) in
            let result = body(&state)
            guard !state.tasks.isEmpty else { return (result, []) }
            defer { state.tasks = [] }
            return (result, state.tasks)
        }
        for task in tasks { perform(task) }
        return result
    }

    private func perform(_ task: Task) {
        switch task {
        case .align(let position, let indexes, let reason):
            notifications.align(reader.subs, wantsContents: true) { [self] result in
                start(result, from: .version(position), because: .lost(indexes, reason))
            }
        case .produce(let production):
            guard !notifications.work({ [self] in produce(production) }) else { return }
            let connection = withState { state -> (any EventConnection)? in
                state.isProducing = false
                fail(Problem(.overloaded, "the server is ending"), &state)
                return state.connection
            }
            connection?.wake()
        case .release: break
        }
    }

    // MARK: - Connection

    func didOpen(_ connection: any EventConnection) {
        state.withLock { state in
            state.connection = connection
            state.push(EventText.opening)
        }
        registration?.open(self)
        guard notifications.add(self) else {
            _ = end(.realmClosed(nil))
            return
        }
        for sub in reader.subs { sub.feed.add(self) }
        notifications.align(reader.subs, wantsContents: true) { [self] result in
            start(result, from: options.start, because: .beginning)
        }
    }

    func notify() -> (any EventConnection)? { connection }

    /// Breaks the connection, whatever is being sent.
    func hangUp() { connection?.hangUp() }

    func didClose(_ reason: EventCloseReason) {
        withState { state in
            state.isClosed = true
            state.phase = .over
            state.clearQueue()
            state.dropProduction()
            state.connection = nil
        }
        notifications.remove(self)
        registration?.close(self)
        didEnd()
    }

    var hasMore: Bool {
        state.withLock { state in
            if !state.queue.isEmpty || state.heartbeatIsDue || state.phase == .over { return true }
            return state.phase == .following && (state.readyAt != nil || notifications.published > state.seen)
        }
    }

    func next() -> EventPiece {
        withState { state in
            if let frame = state.pop() {
                produceMore(&state)
                return .bytes(frame)
            }
            switch state.phase {
            case .over: return .end
            case .following: follow(&state)
            case .opening, .snapshots: produceMore(&state)
            }
            if let frame = state.pop() { return .bytes(frame) }
            return heartbeatFrame(&state).map { .bytes($0) } ?? (state.phase == .over ? .end : .nothing)
        }
    }

    func heartbeat() { state.withLock { $0.heartbeatIsDue = true } }

    private func heartbeatFrame(_ state: inout State) -> OutputBuffer? {
        guard state.heartbeatIsDue else { return nil }
        state.heartbeatIsDue = false
        // Everything up to `seen` was delivered, so the client's position may move there.
        let seen = reader.lastPosition(upTo: state.seen)
        let hasMoved = state.phase == .following && state.readyAt == nil && seen > state.position
        if hasMoved { state.position = seen }
        guard options.sendsHeartbeatEvents, state.phase == .following, state.readyAt == nil else {
            return EventText.heartbeat(hasMoved ? notifications.token(state.position) : nil)
        }
        return EventText.position("heartbeat", notifications.token(state.position))
    }

    // MARK: - The end

    func ageOut() { _ = end(with: EventText.end("age")) }

    func end(_ cause: SubscriptionEnd) -> (any EventConnection)? {
        switch cause {
        case .shutdown: return end(with: EventText.end("shutdown"))
        case .registrationDeleted, .realmClosed(nil): return end(with: EventText.end("deleted"))
        case .realmClosed(let problem?): return end(with: EventText.error(problem, requestID))
        }
    }

    /// Replaces what is queued by the last frame. Returns the connection, which the caller wakes.
    private func end(with frame: OutputBuffer) -> (any EventConnection)? {
        withState { state in
            guard state.phase != .over else { return state.connection }
            state.phase = .over
            state.dropProduction()
            state.clearQueue()
            state.push(frame)
            return state.connection
        }
    }

    /// Ends with an `error` event after what is queued.

    private func fail(_ problem: Problem, _ state: inout State) {
        guard state.phase != .over else { return }
        state.phase = .over
        state.dropProduction()
        state.push(EventText.error(problem, requestID))
    }

    // MARK: - From the beginning to the newest version

    /// Decides what is delivered first. Called when all subscriptions are at one version.
    private func start(
        _ result: Result<AlignedSubscriptions, Problem>, from start: StartPosition, because cause: StartCause
    ) {
        let connection = withState { state -> (any EventConnection)? in
            guard !state.isClosed, state.phase != .over else { return nil }
            switch result {
            case .failure(let problem): fail(problem, &state)
            case .success(let aligned):
                var plan = StartPlan(
                    start, reader, newest: aligned.version.token.version, lastBreak: notifications.lastBreak,
                    wantsSnapshots: options.wantsSnapshots)
                if case .lost(let indexes, let reason) = cause {
                    // Others may have lost their position since then.
                    plan.snapshots = reader.subs.indices.filter { indexes.contains($0) || plan.snapshots.contains($0) }
                    plan.reset = reason
                }
                begin(plan, aligned, &state)
            }
            return state.connection
        }
        connection?.wake()
    }

    /// Why a stream starts: it was opened, or subscriptions lost their position while it was read.
    private enum StartCause {
        case beginning
        case lost([Int], ResetNotice.Reason)
    }

    private func begin(_ plan: StartPlan, _ aligned: AlignedSubscriptions, _ state: inout State) {
        let newest = aligned.version.token.version
        state.historyEnd = newest
        state.schemaSeen = max(state.schemaSeen, plan.reset == nil && plan.snapshots.isEmpty ? plan.position : newest)
        guard !plan.snapshots.isEmpty || plan.reset != nil else {
            state.position = plan.position
            state.seen = plan.position
            state.readyAt = newest
            state.phase = .following
            return
        }
        if let reason = plan.reset {
            pushSets(except: plan.snapshots, from: plan.position, upTo: newest, &state)
            state.push(
                EventText.reset(
                    ResetNotice(
                        subs: plan.snapshots.map { reader.subs[$0].name }, reason: reason, version: aligned.version.tokenText)))
        }
        state.production = SnapshotProduction(plan.snapshots.map { (reader.subs[$0], aligned.contents[$0]) }, aligned.version)
        state.phase = .snapshots
        state.position = newest
        produceMore(&state)
    }

    /// Queues the sets of the subscriptions that kept their position. They get no id, as the others are not at that version yet.
    private func pushSets(except lost: [Int], from position: UInt64, upTo end: UInt64, _ state: inout State) {
        for index in reader.subs.indices where !lost.contains(index) {
            let reader = ChangeReader(subs: [reader.subs[index]])
            var position = position
            while case .batch(let batch) = reader.next(after: position, upTo: end) {
                for entry in batch.sets {
                    let head = entry.set.eventHead(
                        sub: reader.subs[0].name, position: entry.from, isLastOfVersion: false, notifications.token)
                    state.push(head, tail: entry.set.tail)
                }
                position = batch.version
            }
        }
    }

    // MARK: - Snapshots

    /// Has a worker write more as long as there is room.
    private func produceMore(_ state: inout State) {
        guard state.phase == .snapshots, !state.isProducing, state.queuedBytes < EventStream.bytesInAdvance,
            let production = state.production
        else { return }
        state.isProducing = true
        state.tasks.append(.produce(production))
    }

    private func produce(_ production: SnapshotProduction) {
        let part = Result { () throws(Problem) in
            defer { _ = notifications.database.health.lookIfDue(.now()) }
            return try production.next()
        }.flatMap { frame in notifications.soundness.map { _ in frame } }
        let connection = withState { state -> (any EventConnection)? in
            state.isProducing = false
            guard state.phase == .snapshots, state.production === production else { return state.connection }
            switch part {
            case .failure(let problem): fail(problem, &state)
            case .success(let frame?):
                state.push(frame)
                produceMore(&state)
            case .success(nil):
                state.dropProduction()
                state.phase = .following
                state.seen = state.position
                state.readyAt = state.position
                state.historyEnd = max(state.historyEnd, notifications.published)
            }
            return state.connection
        }
        connection?.wake()
    }

    // MARK: - Following

    /// Queues the next batch of the feeds, or what has to come before it.
    private func follow(_ state: inout State) {
        let end = notifications.published
        guard end > state.seen || state.readyAt != nil else { return }
        let schema = notifications.schemaChange(after: max(state.schemaSeen, state.position)).flatMap {
            $0.commit <= end ? $0 : nil
        }
        if let schema, !schema.isAdditive { return push(schema, &state) }
        if isOverflowing(upTo: end, state) { return reset(Array(reader.subs.indices), .overflow, &state) }
        let step = reader.next(after: state.position, upTo: end)
        if let schema, !step.isBefore(schema.commit) { return push(schema, &state) }
        switch step {
        case .lost(let indexes):
            // An observation that fails takes all positions with it.
            if let problem = failure { return fail(problem, &state) }
            reset(indexes, state.position < state.historyEnd ? .retention : .overflow, &state)
        case .nothing:
            state.seen = max(state.seen, end)
            pushReady(&state)
        case .batch(let batch):
            if let ready = state.readyAt, batch.version > ready { pushReady(&state) }
            if batch.version <= state.historyEnd { notifications.noteReplayed(batch.sets.count) }
            push(batch, &state)
        }
    }

    /// Queues `ready` if it is due.
    private func pushReady(_ state: inout State) {
        guard let version = state.readyAt else { return }
        state.readyAt = nil
        state.position = max(state.position, reader.lastPosition(upTo: version))
        state.seen = max(state.seen, state.position)
        state.push(EventText.position("ready", notifications.token(state.position)))
    }

    private func push(_ batch: ChangeReader.Batch, _ state: inout State) {
        for (place, entry) in batch.sets.enumerated() {
            let head = entry.set.eventHead(
                sub: reader.subs[entry.index].name, position: entry.from,
                isLastOfVersion: place == batch.sets.count - 1, notifications.token)
            state.push(head, tail: entry.set.tail)
        }
        state.position = batch.version
        state.seen = max(state.seen, batch.version)
    }

    /// Whether the client is further behind than the limits of the backlog allow.
    private func isOverflowing(upTo end: UInt64, _ state: State) -> Bool {
        let backlog = reader.backlog(after: max(state.position, state.historyEnd), upTo: end)
        return backlog.sets > notifications.limits.queueEvents || backlog.bytes > notifications.limits.queueBytes
    }

    /// Queues a change of the schema. Unless it only adds classes or properties, all subscriptions start anew.
    private func push(_ schema: SchemaNotice, _ state: inout State) {
        state.schemaSeen = schema.commit
        state.push(EventText.schema(schema))
        guard !schema.isAdditive else { return }
        if let failure {
            fail(failure, &state)
        } else {
            reset(Array(reader.subs.indices), .schema, &state)
        }
    }

    /// Why one of its feeds has failed; nil when none has.
    private var failure: Problem? { reader.subs.lazy.compactMap { $0.feed.failure }.first }

    /// Starts these subscriptions anew from the newest version.
    private func reset(_ indexes: [Int], _ reason: ResetNotice.Reason, _ state: inout State) {
        state.phase = .opening
        state.readyAt = nil
        notifications.noteReset(reason)
        if reason == .overflow { notifications.noteOverflow() }
        state.tasks.append(.align(position: state.position, lost: indexes, reason))
    }
}

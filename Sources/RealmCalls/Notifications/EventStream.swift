// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import MicroHTTP
internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// One stream of server-sent events: the subscriptions of one client, delivered from the client's position on.
///
/// A stream has a position, and takes later changes from the rings of its feeds when its connection has room to send. It keeps
/// few frames itself, so a client that reads slowly costs little memory. An `id` is written when the changes of all subscriptions
/// up to it were delivered, so one position is enough for all of them.
///
/// `ChangeEndpoints` makes one per request. It lives until its connection is closed.
///
/// `next`, `hasMore`, `heartbeat` and `ageOut` are called by the connection, and `notify` and `end` by the threads of the
/// feeds. One lock guards the state. Whatever has to be called is called after the lock is released.
package final class EventStream: EventSource, ChangeSubscriber {
    /// The options of a stream in addition to its subscriptions.
    package struct Options: Sendable {
        package var start: StartPosition = .beginning
        /// Whether a client without a position gets snapshots of the current state.
        package var wantsSnapshots = true
        /// Whether the heartbeats of the stream are events instead of comments.
        package var sendsHeartbeatEvents = false

        package init(start: StartPosition = .beginning, wantsSnapshots: Bool = true, sendsHeartbeatEvents: Bool = false) {
            self.start = start
            self.wantsSnapshots = wantsSnapshots
            self.sendsHeartbeatEvents = sendsHeartbeatEvents
        }
    }

    /// The steps in the life of a stream. A lost position leads back to the first one.
    private enum Phase {
        /// The subscriptions are being brought to one version. After that `StartPlan` decides how the stream begins.
        case opening
        /// Snapshots of the start version are being written and sent.
        case snapshots
        /// The stream delivers the change sets of its feeds as they are published.
        case following
        /// The last frame of the stream is queued, and nothing follows it.
        case over
    }

    /// The position, the frames that are ready, and the events that are due, guarded by the lock.
    private struct State {
        /// The step in its life that the stream has reached.
        var phase = Phase.opening
        /// The connection of the stream, from `didOpen` to `didClose`.
        var connection: (any EventConnection)?
        /// The frames that are ready to be sent. One with `isHead` is the beginning of an event, whose tail is the next frame.
        var queue: Deque<(frame: OutputBuffer, isHead: Bool)> = []
        /// The bytes of the frames that are ready to be sent.
        var queuedBytes = 0
        /// The version of the last id that was queued, or the position that the client brought.
        var position: UInt64 = 0
        /// The published version up to which the stream has found all changes of its subscriptions.
        var seen: UInt64 = 0
        /// Whether the client has everything, apart from changes of feeds that are behind the published version.
        var waitsForFeed = false
        /// The last version that the client missed before it connected. The limits of the backlog
        /// do not count the changes up to it.
        var historyEnd: UInt64 = 0
        /// The version at which the event `ready` is due; nil when it is not due.
        var readyAt: UInt64?
        /// Whether a heartbeat has to be sent when nothing else is ready.
        var heartbeatIsDue = false
        /// The version of the newest change of the schema that was delivered.
        var schemaSeen: UInt64 = 0
        /// The snapshots that are being written; nil when there are none.
        var production: SnapshotProduction?
        /// Whether a worker is writing a part of a snapshot.
        var isProducing = false
        /// Whether the connection of the stream is closed.
        var isClosed = false
        /// The work that has to be done after the lock is released.
        var tasks: [Task] = []

        /// Whether the beginning of an event was sent and its tail is the next frame.
        var isInsideEvent = false

        /// Queues a frame to be sent.
        ///
        /// - Parameters:
        ///   - frame: The bytes of the frame.
        ///   - isHead: Whether it is the beginning of an event, whose tail is queued next.
        mutating func push(_ frame: OutputBuffer, isHead: Bool = false) {
            queue.append((frame, isHead))
            queuedBytes += frame.count
        }

        /// Queues an event whose tail is shared with other subscribers.
        mutating func push(_ head: OutputBuffer, tail: OutputBuffer) {
            push(head, isHead: true)
            push(tail)
        }

        /// Removes the next frame to send from the queue; nil when none is ready.
        mutating func pop() -> OutputBuffer? {
            guard let (frame, isHead) = queue.popFirst() else { return nil }
            isInsideEvent = isHead
            queuedBytes -= frame.count
            return frame
        }

        /// Drops the snapshots that are being written. The version that they hold is released after the lock.
        mutating func dropProduction() {
            if let production { tasks.append(.release(production)) }
            production = nil
        }

        /// Drops all frames except the tail of an event whose beginning was sent. A client must get
        /// an event completely or not at all, because it keeps the id.
        mutating func clearQueue() {
            let tail = isInsideEvent ? queue.first?.frame : nil
            queue = []
            queuedBytes = 0
            if let tail { push(tail) }
        }
    }

    /// Work that is found under the lock and done after it is released, because it calls other objects, which may call back.
    private enum Task {
        /// Aligns the subscriptions again, because those of the given indexes have lost the position.
        case align(position: UInt64, lost: [Int], ResetNotice.Reason)
        /// Lets a worker write the next part of a snapshot.
        case produce(SnapshotProduction)
        /// Drops the last reference to the snapshots, and with it the version that they hold.
        case release(SnapshotProduction)
    }

    /// The bytes of snapshots that may be written before the client has received them.
    private static let bytesInAdvance = 128 << 10

    /// The subscriptions of the stream, with a hold on each feed.
    private let holds: FeedHolds
    /// Reads the change sets of the subscriptions of the stream.
    let reader: ChangeReader
    /// The notifications of the realm that the stream is about.
    private let notifications: RealmNotifications
    private let options: Options
    /// The id of the request that opened the stream, for problem documents.
    private let requestID: RequestID
    /// The principal that opened the stream. The stream ends when the credential does, or when its rights change.
    let standing: Standing
    /// The place of the stream among those that the limits allow, held as long as the stream exists.
    private let slot: StreamSlots.Slot
    /// Counts the memory of the definitions; nil when the registration does.
    private var share: ObservedShare? { registration == nil ? slot.share : nil }
    /// The registration that is read, which the stream keeps in memory; nil for a definition in the request.
    private let registration: Registration?
    /// Called once after the connection of the stream was closed, or when the stream is released without having had one, to remove its
    /// entry from the list of leases.
    private let didEnd: @Sendable () -> Void
    private let state = RankedMutex(.eventStream, State())

    /// Makes a stream, which begins when it gets its connection.
    ///
    /// - Parameters:
    ///   - holds: The subscriptions, with a hold on each feed that the stream releases at its end.
    ///   - options: The other options of the request.
    ///   - slot: The place of the stream among those that the limits allow.
    ///   - registration: The registration that is read; nil for a definition in the request.
    ///   - call: The request, with its id and its principal.
    ///   - didEnd: Called once after the connection was closed, or when the stream is released without having had one.
    package init(
        _ holds: FeedHolds, _ options: Options, slot: StreamSlots.Slot, registration: Registration?, _ call: Call,
        didEnd: @escaping @Sendable () -> Void
    ) {
        self.holds = holds
        reader = ChangeReader(subs: holds.subs)
        notifications = holds.notifications
        self.options = options
        self.slot = slot
        self.registration = registration
        requestID = call.request.id
        standing = call.standing
        self.didEnd = didEnd
    }

    /// Removes the entry of a stream whose response was never sent, because its client had left before or another response took its
    /// place.
    deinit {
        if !state.withLock({ $0.isClosed }) { didEnd() }
    }

    /// Always true, since this subscriber is a stream and not a poll.
    var isStream: Bool { true }

    /// The connection; nil before it is opened and after it is closed.
    private var connection: (any EventConnection)? { state.withLock { $0.connection } }

    /// Changes the state under the lock, then performs the tasks that this has added.
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

    /// Performs work that was found under the lock, after the lock was released.
    private func perform(_ task: Task) {
        switch task {
        case .align(let position, let indexes, let reason):
            align { [self] result in start(result, from: .version(position), because: .lost(indexes, reason)) }
        case .produce(let production):
            guard !notifications.work({ [self] in produce(production) }) else { return }
            let connection = withState { state -> (any EventConnection)? in
                state.isProducing = false
                fail(Problem(.overloaded, "the server is shutting down"), &state)
                return state.connection
            }
            connection?.wake()
        case .release: break
        }
    }

    // MARK: - Connection

    /// Begins the stream: adds it to the notifications and to its feeds, and aligns the subscriptions.
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
        // Before it was added, a reload could not end it.
        guard standing.isInForce else {
            _ = end(.unauthenticated)
            return
        }
        for sub in reader.subs { sub.feed.add(self) }
        align { [self] result in start(result, from: options.start, because: .beginning) }
    }

    /// Brings the subscriptions to the newest version, with their contents, as long as the stream is open.
    private func align(_ completion: @escaping @Sendable (Result<AlignedSubscriptions, Problem>) -> Void) {
        notifications.align(
            reader.subs, wantsContents: true, for: slot.client, countedIn: share,
            isWanted: { [self] in state.withLock { $0.phase != .over } }, completion)
    }

    /// Returns the connection of the stream to wake, which then calls `next` for the published changes.
    func notify() -> (any EventConnection)? { connection }

    /// Breaks the connection, even in the middle of a frame. Called when an administrator ends the stream.
    package func hangUp() { connection?.hangUp() }

    /// Removes the stream from everything that it was added to, and releases its holds on the feeds.
    ///
    /// - Parameter reason: The reason why the connection was closed, which makes no difference here.
    func didClose(_ reason: EventCloseReason) {
        withState { state in
            state.isClosed = true
            state.phase = .over
            state.clearQueue()
            state.dropProduction()
            state.connection = nil
        }
        notifications.remove(self)
        holds.release()
        registration?.close(self)
        didEnd()
    }

    /// Whether `next` would return something to send now. Called after the connection was put to sleep, to notice changes
    /// published just before.
    var hasMore: Bool {
        state.withLock { state in
            if !state.queue.isEmpty || state.heartbeatIsDue || state.phase == .over { return true }
            return state.phase == .following && (state.readyAt != nil || reader.end(notifications.published) > state.seen)
        }
    }

    /// Returns the next frame to send, the end of the stream, or nothing when the client is up to date.
    func next() -> EventPiece {
        if standing.principal.isOver { _ = end(.unauthenticated) }
        return withState { state in
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

    /// Records that a heartbeat is due, which the next call of `next` sends if nothing else is ready.
    func heartbeat() { state.withLock { $0.heartbeatIsDue = true } }

    /// Returns the heartbeat that is due; nil when none is. It has an id when the position has
    /// moved without an event, so that a client does not resume from an old position.
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

    /// Ends the stream because it has reached its maximum age. The client reconnects.
    func ageOut() { _ = end(with: EventText.end("age")) }

    /// Ends the stream with the event that fits the cause.
    ///
    /// - Parameter cause: The reason for the end.
    /// - Returns: The connection, which the caller wakes.
    func end(_ cause: SubscriptionEnd) -> (any EventConnection)? {
        switch cause {
        case .shutdown: return end(with: EventText.end("shutdown"))
        case .unauthenticated: return end(with: EventText.end("unauthenticated"))
        case .registrationDeleted, .realmClosed(nil): return end(with: EventText.end("deleted"))
        case .realmClosed(let problem?): return end(with: EventText.error(problem, requestID))
        }
    }

    /// Replaces the queued frames by the last one.
    ///
    /// - Parameter frame: The last event of the stream.
    /// - Returns: The connection, which the caller wakes.
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

    /// Ends the stream with an `error` event after the queued frames.
    private func fail(_ problem: Problem, _ state: inout State) {
        guard state.phase != .over else { return }
        state.phase = .over
        state.dropProduction()
        state.push(EventText.error(problem, requestID))
    }

    // MARK: - From the beginning to the newest version

    /// Decides on the first delivery. Called when all subscriptions have reached one version, on the thread of the hub or of a
    /// caller.
    ///
    /// - Parameters:
    ///   - result: The version and, for snapshots, the contents of the subscriptions; or the problem that ends the stream.
    ///   - start: The position of the client.
    ///   - cause: The reason for the start or restart.
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
                    epochStart: notifications.epochStart, wantsSnapshots: options.wantsSnapshots)
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

    /// The reason for the start of a stream: it was opened, or some of its subscriptions lost their position while it was read.
    private enum StartCause {
        /// The stream was opened by its client.
        case beginning
        /// Subscriptions of the given indexes have lost the position of the stream, for the given reason.
        case lost([Int], ResetNotice.Reason)
    }

    /// Carries out a plan: queues the reset, begins the snapshots, or follows the feeds from the position of the client.
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

    /// Queues the change sets of the subscriptions that have kept their position. The events get no
    /// id, because the other subscriptions are not at that version yet.
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

    /// Lets a worker write the next part of a snapshot, unless enough bytes are queued.
    private func produceMore(_ state: inout State) {
        guard state.phase == .snapshots, !state.isProducing, state.queuedBytes < EventStream.bytesInAdvance,
            let production = state.production
        else { return }
        state.isProducing = true
        state.tasks.append(.produce(production))
    }

    /// Writes the next part of a snapshot, on a worker, and queues it.
    private func produce(_ production: SnapshotProduction) {
        let part = Result { () throws(Problem) in
            defer { _ = notifications.database.health.checkFileIfDue(.now()) }
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

    /// Queues the next batch of the feeds, or an event that has to come before it: a change of the schema, a reset, or `ready`.
    private func follow(_ state: inout State) {
        let published = notifications.published
        let end = reader.end(published)
        guard end > state.seen || state.readyAt != nil else { return }
        if state.waitsForFeed, end > state.seen {
            // A client that was up to date has not read too slowly.
            state.historyEnd = max(state.historyEnd, end)
            state.waitsForFeed = false
        }
        if state.position < notifications.epochStart { return reset(Array(reader.subs.indices), .epoch, &state) }
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
            // One that skipped writes has lost it by these.
            let hasRead = state.position >= state.historyEnd && !indexes.contains { reader.subs[$0].isLost(at: state.position) }
            reset(indexes, hasRead ? .overflow : .retention, &state)
        case .nothing:
            state.seen = max(state.seen, end)
            state.waitsForFeed = published > end
            pushReady(&state)
        case .batch(let batch):
            if let ready = state.readyAt, batch.version > ready { pushReady(&state) }
            if batch.version <= state.historyEnd { notifications.noteReplayed(batch.sets.count) }
            push(batch, &state)
        }
    }

    /// Queues the event `ready` if it is due: the client has everything up to its id.
    private func pushReady(_ state: inout State) {
        guard let version = state.readyAt else { return }
        state.readyAt = nil
        state.position = max(state.position, reader.lastPosition(upTo: version))
        state.seen = max(state.seen, state.position)
        state.push(EventText.position("ready", notifications.token(state.position)))
    }

    /// Queues the change sets of a batch. The last one gets the id, so that a client can only resume after the whole batch.
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

    /// Whether the lag of the client exceeds the limits of the backlog.
    private func isOverflowing(upTo end: UInt64, _ state: State) -> Bool {
        let backlog = reader.backlog(after: max(state.position, state.historyEnd), upTo: end)
        return backlog.sets > notifications.limits.queueEvents || backlog.bytes > notifications.limits.queueBytes
    }

    /// Queues a change of the schema. Unless it only adds classes or properties, all subscriptions restart.
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

    /// The problem that has ended one of the feeds; nil while there is none.
    private var failure: Problem? { reader.subs.lazy.compactMap { $0.feed.failure }.first }

    /// Restarts subscriptions from the newest version, because their position is lost.
    ///
    /// - Parameters:
    ///   - indexes: The subscriptions, as indexes of the reader.
    ///   - reason: The reason, which the client and the metrics get.
    ///   - state: The state, under the lock.
    private func reset(_ indexes: [Int], _ reason: ResetNotice.Reason, _ state: inout State) {
        state.phase = .opening
        state.readyAt = nil
        notifications.noteReset(reason)
        if reason == .overflow { notifications.noteOverflow() }
        state.tasks.append(.align(position: state.position, lost: indexes, reason))
    }
}

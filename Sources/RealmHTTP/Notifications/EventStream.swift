// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// One stream of events: the subscriptions of one client, from where it stands.
///
/// It has a position, and takes what is behind it from the rings of its channels when its connection has room. What it
/// holds itself are a few frames at the most. `id`s are written when all subscriptions have been told up to them, so a
/// single position is enough for all.
final class EventStream: EventSource {
    /// What the client asked for beside the subscriptions.
    struct Wishes: Sendable {
        var start = StartPosition.beginning
        var wantsSnapshots = true
        /// Signs of life are events instead of comments.
        var beatsAsEvents = false
    }

    private enum Phase {
        /// Subscriptions are being attached; what comes then is decided by `CatchUp`.
        case opening
        /// Snapshots are being written.
        case snapshots
        /// Following the channels.
        case following
        /// The last frame is queued.
        case over
    }

    private struct State {
        var phase = Phase.opening
        var line: (any EventLine)?
        /// Frames that are ready, the next one at `queueHead`. `isHead` tells of one that is only the head of an event.
        var queue: [(frame: OutputBuffer, isHead: Bool)] = []
        var queueHead = 0
        var queuedBytes = 0
        /// The last id that was told, or where the client began.
        var position: UInt64 = 0
        /// The published version up to which nothing more was found.
        var seen: UInt64 = 0
        /// Commits up to here are told as history: the bound of the queue does not count them.
        var historyEnd: UInt64 = 0
        /// `ready` is due at this version.
        var readyAt: UInt64?
        var wantsBeat = false
        /// The newest change of the schema that was told.
        var schemaSeen: UInt64 = 0
        var production: SnapshotProduction?
        var isProducing = false
        var isClosed = false
        /// What is due as soon as the lock is open again.
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
            guard queueHead < queue.count else { return nil }
            let (frame, isHead) = queue[queueHead]
            isInsideEvent = isHead
            queueHead += 1
            queuedBytes -= frame.count
            if queueHead == queue.count {
                queue = []
                queueHead = 0
            }
            return frame
        }

        mutating func dropProduction() {
            if let production { tasks.append(.letGo(production)) }
            production = nil
        }

        /// Drops what was not begun: an event is told whole or not at all, as its id is believed.
        mutating func clearQueue() {
            let tail = isInsideEvent && queueHead < queue.count ? queue[queueHead].frame : nil
            queue = []
            queueHead = 0
            queuedBytes = 0
            if let tail { push(tail) }
        }
    }

    /// What is found to be due under the lock and done afterwards: it calls others, who may call back.
    private enum Task {
        /// The subscriptions are attached again, because some lost the position that the stream was at.
        case attach(position: UInt64, lost: [Int], ResetNotice.Reason)
        case produce(SnapshotProduction)
        case letGo(SnapshotProduction)
    }

    /// Frames of snapshots are made in advance up to so many bytes.
    private static let bytesInAdvance = 128 << 10

    let reader: ChangeReader
    private let center: ChangeCenter
    private let wishes: Wishes
    private let requestID: RequestID
    /// Held until the stream is closed.
    private let slot: StreamSlots.Slot
    /// The registration that is read; it lives as long as this.
    private let registration: Registration?
    private let didEnd: @Sendable () -> Void
    private let state = RankedMutex(.eventStream, State())

    init(
        _ reader: ChangeReader, _ center: ChangeCenter, _ wishes: Wishes, slot: StreamSlots.Slot, registration: Registration?,
        requestID: RequestID, didEnd: @escaping @Sendable () -> Void
    ) {
        self.reader = reader
        self.center = center
        self.wishes = wishes
        self.slot = slot
        self.registration = registration
        self.requestID = requestID
        self.didEnd = didEnd
    }

    /// Its connection, once there is one.
    var line: (any EventLine)? { state.withLock { $0.line } }

    /// Changes the state, then does what turned out to be due.
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
        case .attach(let position, let indexes, let reason):
            center.attach(reader.subs, wantsContents: true) { [self] result in
                settle(result, .version(position), .lost(indexes, reason))
            }
        case .produce(let production):
            guard !center.work({ [self] in produce(production) }) else { return }
            let line = withState { state -> (any EventLine)? in
                state.isProducing = false
                fail(Problem(.overloaded, "the server is ending"), &state)
                return state.line
            }
            line?.wake()
        // Its version goes with it.
        case .letGo: break
        }
    }

    // MARK: - Connection

    func didOpen(_ line: any EventLine) {
        state.withLock { state in
            state.line = line
            state.push(EventText.opening)
        }
        registration?.open(self)
        center.add(self)
        center.attach(reader.subs, wantsContents: true) { [self] result in settle(result, wishes.start, .beginning) }
    }

    func didClose(_ reason: EventCloseReason) {
        withState { state in
            state.isClosed = true
            state.phase = .over
            state.clearQueue()
            state.dropProduction()
            state.line = nil
        }
        center.remove(self)
        registration?.close(self)
        didEnd()
    }

    var hasMore: Bool {
        state.withLock { state in
            if state.queueHead < state.queue.count || state.wantsBeat || state.phase == .over { return true }
            return state.phase == .following && (state.readyAt != nil || center.published > state.seen)
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
            return beatFrame(&state).map { .bytes($0) } ?? (state.phase == .over ? .end : .nothing)
        }
    }

    func beat() { state.withLock { $0.wantsBeat = true } }

    private func beatFrame(_ state: inout State) -> OutputBuffer? {
        guard state.wantsBeat else { return nil }
        state.wantsBeat = false
        // Everything up to `seen` was looked through and told.
        let seen = reader.lastPosition(upTo: state.seen)
        let hasMoved = state.phase == .following && state.readyAt == nil && seen > state.position
        if hasMoved { state.position = seen }
        guard wishes.beatsAsEvents, state.phase == .following, state.readyAt == nil else {
            return EventText.beat(hasMoved ? center.token(state.position) : nil)
        }
        return EventText.position("heartbeat", center.token(state.position))
    }

    // MARK: - The end

    func ageOut() { end("age") }

    /// Says why and ends; the line is not woken.
    func end(_ reason: StaticString) {
        withState { state in
            guard state.phase != .over else { return }
            state.phase = .over
            state.dropProduction()
            state.clearQueue()
            state.push(EventText.end(reason))
        }
    }

    /// Tells a problem and ends; the line is not woken.
    func end(failing problem: Problem) {
        withState { state in
            guard state.phase != .over else { return }
            state.clearQueue()
            fail(problem, &state)
        }
    }

    private func fail(_ problem: Problem, _ state: inout State) {
        guard state.phase != .over else { return }
        state.phase = .over
        state.dropProduction()
        state.push(EventText.error(problem, requestID))
    }

    // MARK: - From the beginning to the newest version

    /// Decides what is told first. Called when all subscriptions are at one version.
    private func settle(_ result: Result<AttachedSubscriptions, Problem>, _ start: StartPosition, _ again: ResetCause) {
        let line = withState { state -> (any EventLine)? in
            guard !state.isClosed, state.phase != .over else { return nil }
            switch result {
            case .failure(let problem): fail(problem, &state)
            case .success(let attached):
                var plan = CatchUp(
                    start, reader, newest: attached.version.token.version, lastBreak: center.lastBreak,
                    wantsSnapshots: wishes.wantsSnapshots)
                if case .lost(let indexes, let reason) = again {
                    // Others may have lost their position since.
                    plan.snapshots = reader.subs.indices.filter { indexes.contains($0) || plan.snapshots.contains($0) }
                    plan.reset = reason
                }
                begin(plan, attached, &state)
            }
            return state.line
        }
        line?.wake()
    }

    /// Why subscriptions are attached again in the middle of a stream.
    private enum ResetCause {
        case beginning
        case lost([Int], ResetNotice.Reason)
    }

    private func begin(_ plan: CatchUp, _ attached: AttachedSubscriptions, _ state: inout State) {
        let newest = attached.version.token.version
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
            tellOthers(except: plan.snapshots, from: plan.position, upTo: newest, &state)
            state.push(
                EventText.reset(
                    ResetNotice(
                        subs: plan.snapshots.map { reader.subs[$0].name }, reason: reason, version: attached.version.tokenText)))
        }
        state.production = SnapshotProduction(plan.snapshots.map { (reader.subs[$0], attached.contents[$0]) }, attached.version)
        state.phase = .snapshots
        state.position = newest
        produceMore(&state)
    }

    /// Sets of the subscriptions that did not lose their position. No id is told before all are at one version.
    private func tellOthers(except lost: [Int], from position: UInt64, upTo end: UInt64, _ state: inout State) {
        for index in reader.subs.indices where !lost.contains(index) {
            let reader = ChangeReader(subs: [reader.subs[index]])
            var position = position
            while case .batch(let batch) = reader.next(after: position, upTo: end) {
                for entry in batch.sets {
                    let head = entry.set.eventHead(
                        sub: reader.subs[0].name, position: entry.from, isLastOfVersion: false, center.token)
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
            defer { _ = center.database.health.lookIfDue(.now()) }
            return try production.next()
        }.flatMap { frame in center.soundness.map { _ in frame } }
        let line = withState { state -> (any EventLine)? in
            state.isProducing = false
            guard state.phase == .snapshots, state.production === production else { return state.line }
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
                state.historyEnd = max(state.historyEnd, center.published)
            }
            return state.line
        }
        line?.wake()
    }

    // MARK: - Following

    /// Queues what is next of the channels, one step at a time.
    private func follow(_ state: inout State) {
        let end = center.published
        guard end > state.seen || state.readyAt != nil else { return }
        let schema = center.schemaChange(after: max(state.schemaSeen, state.position)).flatMap { $0.commit <= end ? $0 : nil }
        if let schema, !schema.isAdditive { return tell(schema, &state) }
        if isOverflowing(upTo: end, state) { return lose(Array(reader.subs.indices), .overflow, &state) }
        let step = reader.next(after: state.position, upTo: end)
        if let schema, !step.isBefore(schema.commit) { return tell(schema, &state) }
        switch step {
        case .lost(let indexes):
            // An observation that fails takes all positions with it.
            if let problem = failure { return fail(problem, &state) }
            lose(indexes, state.position < state.historyEnd ? .retention : .overflow, &state)
        case .nothing:
            state.seen = max(state.seen, end)
            tellReady(&state)
        case .batch(let batch):
            if let ready = state.readyAt, batch.version > ready { tellReady(&state) }
            if batch.version <= state.historyEnd { center.noteReplayed(batch.sets.count) }
            push(batch, &state)
        }
    }

    private func tellReady(_ state: inout State) {
        guard let version = state.readyAt else { return }
        state.readyAt = nil
        state.position = max(state.position, reader.lastPosition(upTo: version))
        state.seen = max(state.seen, state.position)
        state.push(EventText.position("ready", center.token(state.position)))
    }

    private func push(_ batch: ChangeReader.Batch, _ state: inout State) {
        for (place, entry) in batch.sets.enumerated() {
            let head = entry.set.eventHead(
                sub: reader.subs[entry.index].name, position: entry.from,
                isLastOfVersion: place == batch.sets.count - 1, center.token)
            state.push(head, tail: entry.set.tail)
        }
        state.position = batch.version
        state.seen = max(state.seen, batch.version)
    }

    /// Whether more waits than a slow client is owed.
    private func isOverflowing(upTo end: UInt64, _ state: State) -> Bool {
        let backlog = reader.backlog(after: max(state.position, state.historyEnd), upTo: end)
        return backlog.sets > center.limits.queueEvents || backlog.bytes > center.limits.queueBytes
    }

    /// Tells of a new schema. Nothing of the old goes on unless there is only more of it.
    private func tell(_ schema: SchemaNotice, _ state: inout State) {
        state.schemaSeen = schema.commit
        state.push(EventText.schema(schema))
        guard !schema.isAdditive else { return }
        if let failure {
            fail(failure, &state)
        } else {
            lose(Array(reader.subs.indices), .schema, &state)
        }
    }

    /// Why something that it reads cannot be observed any more.
    private var failure: Problem? { reader.subs.lazy.compactMap { $0.channel.failure }.first }

    /// Starts these subscriptions anew, from the newest version.
    private func lose(_ indexes: [Int], _ reason: ResetNotice.Reason, _ state: inout State) {
        state.phase = .opening
        state.readyAt = nil
        center.noteReset(reason)
        if reason == .overflow { center.noteOverflow() }
        state.tasks.append(.attach(position: state.position, lost: indexes, reason))
    }
}

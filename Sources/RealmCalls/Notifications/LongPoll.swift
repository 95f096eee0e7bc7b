// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
internal import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// One long poll: a request for changes that gets a single response.
///
/// The response is sent at once when there is something to deliver; otherwise at the first commit that changes one of the
/// subscriptions, or when the requested time has passed. It states the position from which the client polls next.
///
/// `ChangeEndpoints` makes one per request. The feeds notify it on their threads, the timer ends
/// its wait, and a worker writes snapshots. A lock ensures that it is answered once.
package final class LongPoll: ChangeSubscriber {
    /// The options of a poll in addition to its subscriptions.
    package struct Options: Sendable {
        var start: StartPosition = .beginning
        /// Whether a client without a position gets snapshots of the current state.
        var wantsSnapshots = true
        /// The seconds that the poll waits for a change; 0 does not wait.
        var seconds = 0
        /// The representation of the response to the poll.
        var representation: Representation = Representation()

        package init(
            start: StartPosition = .beginning, wantsSnapshots: Bool = true, seconds: Int = 0,
            representation: Representation = Representation()
        ) {
            self.start = start
            self.wantsSnapshots = wantsSnapshots
            self.seconds = seconds
            self.representation = representation
        }
    }

    /// The progress of a poll, guarded by its lock.
    private struct State {
        /// The position after which changes are delivered; nil before the subscriptions are aligned.
        var position: UInt64?
        /// The lowest position that the response may state as the next one: the version at which
        /// the subscriptions were aligned.
        var newest: UInt64 = 0
        /// Whether the response to the poll was sent, or is being sent.
        var isAnswered = false
        /// Whether the wait has ended, because of a timeout, a client that left, or a shutdown. The poll then responds with the
        /// available changes.
        var isUrgent = false
    }

    /// The number of change sets at which a response ends. The client gets the rest with its next poll.
    private static let setLimit = 1000
    /// The bytes at which a response ends. A batch of change sets that would exceed them is left to
    /// the next poll, unless the response would be almost empty without it.
    private static let byteLimit = 1 << 20

    /// The subscriptions of the poll, with a hold on each feed.
    private let holds: FeedHolds
    /// Reads the change sets of the subscriptions of the poll.
    let reader: ChangeReader
    /// The notifications of the realm that the poll is about.
    private let notifications: RealmNotifications
    private let options: Options
    /// The place of the poll among those that the limits allow, held as long as the poll exists.
    private let slot: StreamSlots.Slot
    /// The registration that is read; nil for a definition in the request.
    private let registration: Registration?
    /// The request that the poll answers.
    private let call: Call
    /// The timer that ends the wait of the poll.
    private let timers: TimerQueue
    /// Receives the response to the poll, once.
    private let promise: any ResponsePromise
    private let state = RankedMutex(.leaf, State())

    /// Makes a poll, which does nothing before `begin`.
    ///
    /// - Parameters:
    ///   - holds: The subscriptions, with a hold on each feed that the poll releases at its end.
    ///   - options: The other options of the request.
    ///   - slot: The place of the poll among those that the limits allow.
    ///   - registration: The registration that is read; nil for a definition in the request.
    ///   - call: The request.
    ///   - timers: The timer that ends the wait.
    ///   - promise: Receives the response.
    package init(
        _ holds: FeedHolds, _ options: Options, slot: StreamSlots.Slot, registration: Registration?, _ call: Call,
        _ timers: TimerQueue, _ promise: any ResponsePromise
    ) {
        self.holds = holds
        reader = ChangeReader(subs: holds.subs)
        notifications = holds.notifications
        self.options = options
        self.slot = slot
        self.registration = registration
        self.call = call
        standing = call.standing
        self.timers = timers
        self.promise = promise
    }

    let standing: Standing

    /// Always false, since this subscriber is a poll, which is answered once.
    var isStream: Bool { false }

    // MARK: - Flow

    /// Aligns the subscriptions, and then answers or waits for changes. Returns at once.
    package func begin() {
        registration?.open(self)
        guard notifications.add(self) else { return fail(Problem(observing: .closed)) }
        // Before it was added, a reload could not end it.
        guard standing.isInForce else { return fail(.credentialEnded) }
        // A poll that ended before it was added is not removed yet.
        guard !isAnswered else { return leave() }
        align(wantsContents: needsContents)
    }

    /// Whether the poll begins with snapshots, as far as that is known before its subscriptions are aligned.
    private var needsContents: Bool {
        switch options.start {
        case .beginning: options.wantsSnapshots
        case .now: false
        case .elsewhere, .unclear: true
        case .version(let version): !reader.lost(at: version).isEmpty
        }
    }

    /// Brings the subscriptions to the newest version, with their contents where snapshots may be needed.
    private func align(wantsContents: Bool) {
        notifications.align(
            reader.subs, wantsContents: wantsContents, for: slot.client, countedIn: registration == nil ? slot.share : nil,
            isWanted: { [self] in !isAnswered && call.request.isWanted }
        ) { [self] result in
            switch result {
            case .failure(let problem): fail(problem)
            case .success(let aligned): start(aligned, hasContents: wantsContents)
            }
        }
    }

    /// Answers if there are snapshots, a reset or a new position to deliver; otherwise waits for changes.
    ///
    /// - Parameters:
    ///   - aligned: The version that the subscriptions have reached.
    ///   - hasContents: Whether the contents at that version are included.
    private func start(_ aligned: AlignedSubscriptions, hasContents: Bool) {
        let newest = aligned.version.token.version
        let plan = StartPlan(
            options.start, reader, newest: newest, lastBreak: notifications.lastBreak, epochStart: notifications.epochStart,
            wantsSnapshots: options.wantsSnapshots)
        guard plan.snapshots.isEmpty || hasContents else { return align(wantsContents: true) }
        if !plan.snapshots.isEmpty || plan.reset != nil || options.start == .beginning || options.start == .now {
            return answer(plan, aligned)
        }
        state.withLock { state in
            state.position = plan.position
            state.newest = newest
        }
        for sub in reader.subs { sub.feed.add(self) }
        // The same is true of its feeds, which would keep it, and its place among the streams.
        guard !isAnswered else { return leave() }
        // The server may have begun to stop before there was anything to answer.
        if !answerIfReady(), options.seconds > 0, !state.withLock({ $0.isUrgent }) {
            guard !isAnswered else { return }
            timers.set(at: call.request.arrival.adding(seconds: Double(options.seconds))) { [weak self] in
                self?.finish()
            }
            // A client that disconnects gives its share of the limits back.
            promise.onDisconnect { [weak self] in self?.finish() }
        } else {
            finish()
        }
    }

    /// Answers if there is something to deliver.
    ///
    /// - Returns: nil, because a poll has no connection to wake.
    func notify() -> (any EventConnection)? {
        _ = answerIfReady()
        return nil
    }

    /// Ends the wait: the response has the available changes, or is `subscription_expired` when its registration was deleted.
    ///
    /// - Returns: nil, because a poll has no connection to wake.
    func end(_ cause: SubscriptionEnd) -> (any EventConnection)? {
        switch cause {
        case .shutdown, .realmClosed: finish()
        case .registrationDeleted: fail(Registration.expired)
        case .unauthenticated: fail(.credentialEnded)
        }
        return nil
    }

    /// Answers if there is something to deliver, or begins to.
    ///
    /// - Returns: Whether there is nothing left to wait for.
    private func answerIfReady() -> Bool {
        if let problem = reader.subs.lazy.compactMap({ $0.feed.failure }).first {
            fail(problem)
            return true
        }
        let position = state.withLock { state in state.isAnswered ? nil : state.position }
        guard let position else { return false }
        if position < notifications.epochStart {
            alignAgain()
            return true
        }
        let end = reader.end(notifications.published)
        let schema = notifications.schemaChange(after: position).flatMap { $0.commit <= end ? $0 : nil }
        if let schema, !schema.isAdditive {
            alignAgain()
            return true
        }
        switch reader.next(after: position, upTo: end) {
        case .lost:
            alignAgain()
            return true
        case .nothing where schema == nil: return false
        case .nothing, .batch:
            answer(from: position, upTo: end, schema)
            return true
        }
    }

    /// Starts again with contents, once, because the position was lost while the poll waited.
    private func alignAgain() {
        let isFirst = state.withLock { state -> Bool in
            defer { state.position = nil }
            return state.position != nil
        }
        if isFirst { align(wantsContents: true) }
    }

    /// Ends the wait of the poll, and answers with the changes that there are, possibly none.
    private func finish() {
        let (position, newest) = state.withLock { state -> (UInt64?, UInt64) in
            state.isUrgent = true
            return (state.isAnswered ? nil : state.position, state.newest)
        }
        guard let position else { return }
        guard !answerIfReady() else { return }
        answer(from: position, upTo: reader.end(max(newest, notifications.published)), nil)
    }

    /// Answers the poll with a problem.
    private func fail(_ problem: Problem) {
        complete(Response(problem, for: call))
    }

    /// Sends the response, removes the poll from everything that it was added to, and releases its holds. Only the first call has an
    /// effect.
    private func complete(_ response: Response) {
        let isFirst = state.withLock { state -> Bool in
            defer { state.isAnswered = true }
            return !state.isAnswered
        }
        guard isFirst else { return }
        HeldLocks.assertNone()
        leave()
        holds.release()
        // The credential may have ended, or got other rights, while the poll waited or while its answer was written.
        promise.complete(standing.isInForce ? response : Response(.credentialEnded, for: call))
    }

    /// Removes the poll from everything that it was added to.
    private func leave() {
        notifications.remove(self)
        registration?.close(self)
    }

    /// Whether the response to the poll was sent, or is being sent.
    private var isAnswered: Bool { state.withLock { $0.isAnswered } }

    // MARK: - Answers

    /// Answers with the change sets after a position.
    ///
    /// - Parameters:
    ///   - position: The position of the client.
    ///   - end: The newest published version.
    ///   - schema: A change of the schema since the position that only adds to it; nil for none.
    private func answer(from position: UInt64, upTo end: UInt64, _ schema: SchemaNotice?) {
        let body = OutputBuffer(capacity: 1024)
        body.append("{\"changes\":[" as StaticString)
        let next = writeSets(from: position, upTo: end, to: body)
        body.append("],\"snapshots\":[],\"reset\":null,\"schema\":" as StaticString)
        respond(body, schema.flatMap { $0.commit <= next ? $0 : nil }, next)
    }

    /// Writes as many change sets as a response may hold.
    ///
    /// - Returns: The position after them, from which the client polls next.
    private func writeSets(from start: UInt64, upTo end: UInt64, to body: OutputBuffer) -> UInt64 {
        var count = 0
        var position = start
        var positions = Array(repeating: start, count: reader.subs.count)
        while true {
            let batch: ChangeReader.Batch
            switch reader.next(after: position, upTo: end) {
            case .nothing: return reader.lastPosition(upTo: end)
            // The next poll from here restarts.
            case .lost: return position
            case .batch(let next): batch = next
            }
            if count > 0, count + batch.sets.count > LongPoll.setLimit { return position }
            let length = body.count
            for entry in batch.sets {
                if count > 0 { body.append(UInt8(ascii: ",")) }
                write(entry.set, reader.subs[entry.index].name, from: positions[entry.index], to: body)
                positions[entry.index] = entry.set.to
                count += 1
            }
            if body.count > LongPoll.byteLimit, length > 1024 {
                body.truncate(to: length)
                return position
            }
            position = batch.version
        }
    }

    /// Writes one change set as JSON, without the line break that ends an event.
    private func write(_ set: ChangeSet, _ name: String, from position: UInt64, to body: OutputBuffer) {
        EventText.setHead(sub: name, from: notifications.token(position), in: body)
        body.append(set.tail)
        body.truncate(to: body.count - ChangeSet.lineEnd.utf8CodeUnitCount)
    }

    /// Answers with snapshots, and with the change sets of the subscriptions that have kept their
    /// position. A worker writes snapshots, because they may be long.
    private func answer(_ plan: StartPlan, _ aligned: AlignedSubscriptions) {
        if let reason = plan.reset { notifications.noteReset(reason) }
        guard !plan.snapshots.isEmpty else { return write(plan, aligned) }
        guard notifications.work({ [self] in write(plan, aligned) }) else {
            return fail(Problem(.shuttingDown, "the server is shutting down"))
        }
    }

    /// Writes the response of a poll that begins with snapshots or a reset, and sends it.
    private func write(_ plan: StartPlan, _ aligned: AlignedSubscriptions) {
        let body = OutputBuffer(capacity: 4096)
        let newest = aligned.version.token.version
        body.append("{\"changes\":[" as StaticString)
        // Sets that were kept when the plan was made may have been dropped since then.
        if plan.reset != nil, !writeOthers(plan, upTo: newest, to: body) { return align(wantsContents: true) }
        body.append("],\"snapshots\":[" as StaticString)
        do throws(Problem) {
            try writeSnapshots(plan, aligned, to: body)
        } catch {
            return fail(error)
        }
        body.append("],\"reset\":" as StaticString)
        if let reason = plan.reset {
            var writer = JSONWriter(body)
            ResetNotice(
                subs: plan.snapshots.map { reader.subs[$0].name }, reason: reason, version: aligned.version.tokenText
            ).write(to: &writer)
        } else {
            body.append("null" as StaticString)
        }
        body.append(",\"schema\":" as StaticString)
        let schema = plan.reset == .schema ? lastSchema(upTo: newest) : nil
        respond(body, schema, newest)
    }

    /// The change of the schema that made the client's position unusable; nil when the client had none.
    private func lastSchema(upTo version: UInt64) -> SchemaNotice? {
        guard case .version(let start) = options.start else { return nil }
        return notifications.schemaChange(after: start).flatMap { $0.commit <= version ? $0 : nil }
    }

    /// Writes the change sets of the subscriptions that have kept their position.
    ///
    /// - Returns: False when one of the sets was dropped in the meantime. The poll then starts again.
    private func writeOthers(_ plan: StartPlan, upTo end: UInt64, to body: OutputBuffer) -> Bool {
        var isFirst = true
        for index in reader.subs.indices where !plan.snapshots.contains(index) {
            let sub = ChangeReader(subs: [reader.subs[index]])
            var position = plan.position
            steps: while true {
                switch sub.next(after: position, upTo: end) {
                case .nothing: break steps
                case .lost: return false
                case .batch(let batch):
                    for entry in batch.sets {
                        if !isFirst { body.append(UInt8(ascii: ",")) }
                        isFirst = false
                        write(entry.set, sub.subs[0].name, from: entry.from, to: body)
                    }
                    position = batch.version
                }
            }
        }
        return true
    }

    /// Writes the snapshots of the plan, each as a whole. All of them together share one work budget.
    private func writeSnapshots(_ plan: StartPlan, _ aligned: AlignedSubscriptions, to body: OutputBuffer) throws(Problem) {
        var isFirst = true
        let budget = call.limits.budgetOfDocument()
        for index in plan.snapshots {
            guard let contents = aligned.contents[index],
                let snapshot = try SnapshotWriter(reader.subs[index], contents, aligned.version, ofDocument: budget)
            else { continue }
            if !isFirst { body.append(UInt8(ascii: ",")) }
            isFirst = false
            var writer = JSONWriter(body)
            try snapshot.writePart(to: &writer)
        }
    }

    /// Writes the rest of the document, from the value of `schema` on, and sends the response.
    ///
    /// - Parameters:
    ///   - body: The document up to `"schema":`.
    ///   - schema: The change of the schema to report; nil for none.
    ///   - next: The position from which the client polls next.
    private func respond(_ body: OutputBuffer, _ schema: SchemaNotice?, _ next: UInt64) {
        let token = notifications.token(next)
        var writer = JSONWriter(body)
        if let schema { schema.write(to: &writer) } else { body.append("null" as StaticString) }
        body.append(",\"next\":" as StaticString)
        body.append(jsonString: token)
        body.append(UInt8(ascii: "}"))
        var response = Response(type: options.representation.mediaType, body)
        response.add("Realm-Version", token)
        response.add("Cache-Control", constant: "no-store")
        call.versionToken = token
        complete(response)
    }
}

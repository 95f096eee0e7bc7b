// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// One request for changes that is answered once: at once, at the first commit that concerns it, or when its time is
/// over.
final class LongPoll: Sendable {
    struct Wishes: Sendable {
        var start = StartPosition.beginning
        var wantsSnapshots = true
        /// How long to wait for something to tell.
        var seconds = 0
        var representation = Representation()
    }

    private struct State {
        /// Where the answer begins, once all is at one version.
        var position: UInt64?
        /// Nothing older than this is answered as the next position.
        var newest: UInt64 = 0
        var isAnswered = false
        /// The server ends, or the time is over: whatever there is is the answer.
        var isUrgent = false
    }

    /// An answer stops at the version at which it gets longer than this.
    private static let setLimit = 1000
    private static let byteLimit = 1 << 20

    let reader: ChangeReader
    private let center: ChangeCenter
    private let wishes: Wishes
    private let slot: StreamSlots.Slot
    private let registration: Registration?
    private let call: Call
    private let promise: any ResponsePromise
    private let state = RankedMutex(.leaf, State())

    init(
        _ reader: ChangeReader, _ center: ChangeCenter, _ wishes: Wishes, slot: StreamSlots.Slot, registration: Registration?,
        _ call: Call, _ promise: any ResponsePromise
    ) {
        self.reader = reader
        self.center = center
        self.wishes = wishes
        self.slot = slot
        self.registration = registration
        self.call = call
        self.promise = promise
    }

    // MARK: - Flow

    func begin() {
        registration?.open(self)
        guard center.add(self) else { return fail(Channel.problem(.closed)) }
        let isFirst = wishes.start == .beginning && wishes.wantsSnapshots
        attach(wantsContents: isFirst || wishes.start == .elsewhere || wishes.start == .unclear)
    }

    private func attach(wantsContents: Bool) {
        center.attach(reader.subs, wantsContents: wantsContents) { [self] result in
            switch result {
            case .failure(let problem): fail(problem)
            case .success(let attached): settle(attached, hasContents: wantsContents)
            }
        }
    }

    private func settle(_ attached: AttachedSubscriptions, hasContents: Bool) {
        let newest = attached.version.token.version
        let plan = CatchUp(
            wishes.start, reader, newest: newest, lastBreak: center.lastBreak, wantsSnapshots: wishes.wantsSnapshots)
        guard plan.snapshots.isEmpty || hasContents else { return attach(wantsContents: true) }
        if !plan.snapshots.isEmpty || plan.reset != nil || wishes.start == .beginning || wishes.start == .now {
            return answer(plan, attached)
        }
        state.withLock { state in
            state.position = plan.position
            state.newest = newest
        }
        for sub in reader.subs { sub.channel.add(self) }
        // The server may have begun to end before there was anything to answer.
        if !look(), wishes.seconds > 0, !state.withLock({ $0.isUrgent }) {
            let isOver = state.withLock { $0.isAnswered }
            guard !isOver else { return }
            call.application.alarm.set(at: call.request.arrival.adding(seconds: Double(wishes.seconds))) { [weak self] in
                self?.finish()
            }
            // Whoever leaves gives its place back at once.
            promise.onLeave { [weak self] in self?.finish() }
        } else {
            finish()
        }
    }

    /// Answers if there is something to tell.
    @discardableResult
    func look() -> Bool {
        if let problem = reader.subs.lazy.compactMap({ $0.channel.failure }).first {
            fail(problem)
            return true
        }
        let position = state.withLock { state in state.isAnswered ? nil : state.position }
        guard let position else { return false }
        let end = center.published
        let schema = center.schemaChange(after: position).flatMap { $0.commit <= end ? $0 : nil }
        if let schema, !schema.isAdditive {
            attachAgain()
            return true
        }
        switch reader.next(after: position, upTo: end) {
        case .lost:
            attachAgain()
            return true
        case .nothing where schema == nil: return false
        case .nothing, .batch:
            answer(from: position, upTo: end, schema)
            return true
        }
    }

    /// The position was lost while waiting. What was waited for is decided anew, once.
    private func attachAgain() {
        let isFirst = state.withLock { state -> Bool in
            defer { state.position = nil }
            return state.position != nil
        }
        if isFirst { attach(wantsContents: true) }
    }

    /// Answers with whatever there is.
    func finish() {
        let (position, newest) = state.withLock { state -> (UInt64?, UInt64) in
            state.isUrgent = true
            return (state.isAnswered ? nil : state.position, state.newest)
        }
        guard let position else { return }
        guard !look() else { return }
        answer(from: position, upTo: max(newest, center.published), nil)
    }

    func fail(_ problem: Problem) {
        complete(call.application.response(to: problem, for: call.request))
    }

    private func complete(_ response: Response) {
        let isFirst = state.withLock { state -> Bool in
            defer { state.isAnswered = true }
            return !state.isAnswered
        }
        guard isFirst else { return }
        HeldLocks.assertNone()
        center.remove(self)
        registration?.close(self)
        promise.complete(response)
    }

    // MARK: - Answers

    /// Sets since a position.
    private func answer(from position: UInt64, upTo end: UInt64, _ schema: SchemaNotice?) {
        let body = OutputBuffer(capacity: 1024)
        body.append("{\"changes\":[" as StaticString)
        let next = writeSets(from: position, upTo: end, to: body)
        body.append("],\"snapshots\":[],\"reset\":null,\"schema\":" as StaticString)
        respond(body, schema.flatMap { $0.commit <= next ? $0 : nil }, next)
    }

    /// Writes as much as an answer takes, and tells the position behind it.
    private func writeSets(from start: UInt64, upTo end: UInt64, to body: OutputBuffer) -> UInt64 {
        var count = 0
        var position = start
        var positions = Array(repeating: start, count: reader.subs.count)
        while true {
            let batch: ChangeReader.Batch
            switch reader.next(after: position, upTo: end) {
            case .nothing: return reader.lastPosition(upTo: end)
            // Whoever asks from here is told anew.
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

    private func write(_ set: ChangeSet, _ name: String, from position: UInt64, to body: OutputBuffer) {
        EventText.setHead(sub: name, from: center.token(position), in: body)
        body.append(set.tail)
        body.truncate(to: body.count - ChangeSet.lineEnd.utf8CodeUnitCount)
    }

    /// A beginning, or a new one: snapshots, and the sets of those that kept their position. Long, so a worker does it.
    private func answer(_ plan: CatchUp, _ attached: AttachedSubscriptions) {
        if let reason = plan.reset { center.noteReset(reason) }
        guard !plan.snapshots.isEmpty else { return write(plan, attached) }
        guard center.work({ [self] in write(plan, attached) }) else {
            return fail(Problem(.shuttingDown, "the server is shutting down"))
        }
    }

    private func write(_ plan: CatchUp, _ attached: AttachedSubscriptions) {
        let body = OutputBuffer(capacity: 4096)
        let newest = attached.version.token.version
        body.append("{\"changes\":[" as StaticString)
        // What was there when this was decided may have been dropped since.
        if plan.reset != nil, !writeOthers(plan, upTo: newest, to: body) { return attach(wantsContents: true) }
        body.append("],\"snapshots\":[" as StaticString)
        do throws(Problem) {
            try writeSnapshots(plan, attached, to: body)
        } catch {
            return fail(error)
        }
        body.append("],\"reset\":" as StaticString)
        if let reason = plan.reset {
            var writer = JSONWriter(body)
            ResetNotice(
                subs: plan.snapshots.map { reader.subs[$0].name }, reason: reason, version: attached.version.tokenText
            ).write(to: &writer)
        } else {
            body.append("null" as StaticString)
        }
        body.append(",\"schema\":" as StaticString)
        let schema = plan.reset == .schema ? lastSchema(upTo: newest) : nil
        respond(body, schema, newest)
    }

    private func lastSchema(upTo version: UInt64) -> SchemaNotice? {
        guard case .version(let start) = wishes.start else { return nil }
        return center.schemaChange(after: start).flatMap { $0.commit <= version ? $0 : nil }
    }

    /// False when a set is not there any more.
    private func writeOthers(_ plan: CatchUp, upTo end: UInt64, to body: OutputBuffer) -> Bool {
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

    private func writeSnapshots(_ plan: CatchUp, _ attached: AttachedSubscriptions, to body: OutputBuffer) throws(Problem) {
        var isFirst = true
        let budget = call.limits.budgetOfDocument()
        for index in plan.snapshots {
            guard let contents = attached.contents[index],
                let snapshot = try SnapshotWriter(reader.subs[index], contents, attached.version, ofDocument: budget)
            else { continue }
            if !isFirst { body.append(UInt8(ascii: ",")) }
            isFirst = false
            var writer = JSONWriter(body)
            try snapshot.writePart(to: &writer)
        }
    }

    /// Ends the document behind `"schema":` and answers.
    private func respond(_ body: OutputBuffer, _ schema: SchemaNotice?, _ next: UInt64) {
        let token = center.token(next)
        var writer = JSONWriter(body)
        if let schema { schema.write(to: &writer) } else { body.append("null" as StaticString) }
        body.append(",\"next\":" as StaticString)
        body.append(jsonString: token)
        body.append(UInt8(ascii: "}"))
        var response = Response(type: wishes.representation.mediaType, body)
        response.add("Realm-Version", token)
        response.add("Cache-Control", constant: "no-store")
        call.request.version = token
        complete(response)
    }
}

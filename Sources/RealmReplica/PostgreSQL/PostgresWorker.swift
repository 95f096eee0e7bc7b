// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One connection with a thread of its own, which carries out the requests of all owners of a process: those that wait at the same
/// time go out together, as one transaction in one round trip.
///
/// A request is durable when its transaction is, so no caller gets an answer before that. An unknown outcome of a transaction is
/// unknown for all its requests; each owner resolves its own.
final class PostgresWorker: Sendable {
    /// A request that waits, or was sent.
    private struct Job {
        /// The request.
        let call: LogCall
        /// When its sender stops to wait.
        let deadline: Instant
        var reply: LogReply?
    }

    /// The requests.
    private struct State {
        /// The number of the next request.
        var next = 0
        /// All requests whose senders wait, by number.
        var jobs: [Int: Job] = [:]
        /// The numbers of those that were not sent, in order.
        var waiting: [Int] = []
        var isRunning = false
        var isStopped = false
        var counts = PostgresLog.Counts()
    }

    /// The most bytes and requests that go out together.
    private static let batch = (bytes: 8 << 20, count: 64)
    /// The number of bytes of a part of a record.
    private static let partByteCount = 1 << 20
    /// The number of seconds after which an idle thread ends.
    private static let idleSeconds = 30.0

    private let monitor = Monitor(State())
    private let options: PostgresOptions

    /// Makes a worker without a thread; the first request starts it.
    init(_ options: PostgresOptions) { self.options = options }

    /// Use of the log since this object was made.
    var counts: PostgresLog.Counts {
        monitor.withLock { state in
            var counts = state.counts
            counts.waiting = state.jobs.count
            return counts
        }
    }

    /// Ends the thread when it has nothing to do. A request that comes later starts another one.
    func stop() { monitor.broadcast { $0.isStopped = true } }

    /// Carries out a request; see `RealmLog`.
    func perform(_ call: LogCall, until deadline: Instant, meanwhile work: () -> Void) -> LogReply {
        let number = monitor.broadcast { state -> (Int, Bool)? in
            guard state.jobs.count < options.maximumWaiting else { return nil }
            let number = state.next
            state.next += 1
            state.jobs[number] = Job(call: call, deadline: deadline)
            state.waiting.append(number)
            let starts = !state.isRunning
            state.isRunning = true
            state.isStopped = false
            return (number, starts)
        }
        if let (_, starts) = number, starts { start() }
        work()
        guard let (number, _) = number else { return .unsent("too many requests wait for the log") }
        if let reply = monitor.wait(until: deadline, { $0.jobs[number]?.reply }) {
            monitor.withLock { state in _ = state.jobs.removeValue(forKey: number) }
            return reply
        }
        return monitor.withLock { state in
            defer { state.jobs.removeValue(forKey: number) }
            if let reply = state.jobs[number]?.reply { return reply }
            guard let index = state.waiting.firstIndex(of: number) else { return .lost }
            state.waiting.remove(at: index)
            return .unsent("there was no answer in time")
        }
    }

    /// Starts the thread, which keeps this object until it ends.
    private func start() {
        do throws(Threads.Failure) {
            try Threads.start("log", stackBytes: 1 << 20) { [self] in run() }
        } catch {
            monitor.withLock { $0.isRunning = false }
            failWaiting("\(error)")
        }
    }

    /// The loop of the thread.
    private func run() {
        var connection: PostgresConnection?
        while awaitWork() {
            if connection?.isBroken != false {
                do throws(PostgresFailure) {
                    connection = try PostgresWorker.connect(options)
                } catch {
                    connection = nil
                    failWaiting(error.text)
                }
            }
            guard let connection else { continue }
            let batch = takeBatch()
            guard !batch.isEmpty else { continue }
            let begin = Instant.now()
            let replies = PostgresWorker.send(batch.map(\.job.call), connection, until: latest(batch.map(\.job.deadline)))
            monitor.broadcast { state in
                state.counts.rounds += 1
                state.counts.lostRounds += replies.first == .lost ? 1 : 0
                state.counts.requests += batch.count
                state.counts.byteCount += batch.reduce(0) { $0 + $1.job.call.bytes.count }
                state.counts.seconds += Instant.now().seconds(since: begin)
                for (entry, reply) in zip(batch, replies) { state.jobs[entry.number]?.reply = reply }
            }
        }
    }

    /// Waits for a request; false when the thread is not needed any more.
    private func awaitWork() -> Bool {
        let end = Instant.now().adding(seconds: PostgresWorker.idleSeconds)
        let found = monitor.wait(until: end) { state -> Bool? in
            if !state.waiting.isEmpty { return true }
            return state.isStopped ? false : nil
        }
        if found == true { return true }
        return monitor.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning
        }
    }

    /// Fails all requests that were not sent.
    private func failWaiting(_ reason: String) {
        monitor.broadcast { state in
            for number in state.waiting { state.jobs[number]?.reply = .unsent(reason) }
            state.waiting = []
        }
    }

    /// Takes the requests that go out together. Rows are locked in the same order everywhere, so that no two transactions wait
    /// for each other.
    private func takeBatch() -> [(number: Int, job: Job)] {
        let batch = monitor.withLock { state in
            var batch: [(number: Int, job: Job)] = []
            var byteCount = 0
            while let number = state.waiting.first, batch.count < PostgresWorker.batch.count {
                guard let job = state.jobs[number] else {
                    state.waiting.removeFirst()
                    continue
                }
                byteCount += job.call.bytes.count
                guard batch.isEmpty || byteCount <= PostgresWorker.batch.bytes else { break }
                state.waiting.removeFirst()
                batch.append((number, job))
            }
            return batch
        }
        return batch.enumerated().sorted { left, right in
            (left.element.job.call.realm, left.offset) < (right.element.job.call.realm, right.offset)
        }.map(\.element)
    }

    /// The latest of some deadlines.
    private func latest(_ deadlines: [Instant]) -> Instant { deadlines.max() ?? .now() }

    // MARK: - Requests as statements

    /// Connects to a server, and checks that it may keep a log.
    static func connect(_ options: PostgresOptions) throws(PostgresFailure) -> PostgresConnection {
        let deadline = Instant.now().adding(seconds: options.connectSeconds)
        let connection = try PostgresConnection.connect(to: options.address, until: deadline)
        let answers: [PostgresAnswer]
        do throws(PostgresFailure) {
            answers = try connection.run([PostgresStep(.facts), PostgresStep(.settings)], until: deadline)
        } catch {
            // Whatever failed, no request was sent.
            throw .unsent(error.text)
        }
        if let defect = PostgresWorker.defect(answers.first?.rows.first, options) { throw .unsent(defect) }
        return connection
    }

    /// Returns why a server cannot keep a log; nil when it can.
    private static func defect(_ facts: PostgresRow?, _ options: PostgresOptions) -> String? {
        guard let facts, let commit = facts.text(0), let standbys = facts.text(1) else { return "the server is not PostgreSQL" }
        guard facts.text(2) == "false" else { return "the server is a standby, which takes no writes" }
        guard commit == "on" || commit == "remote_apply" else {
            return "the server has synchronous_commit = \(commit), so it would lose what it has acknowledged"
        }
        guard facts.text(3) == "on" else { return "the server has fsync = off, so it would lose what it has acknowledged" }
        guard !options.requiresStandby || !standbys.isEmpty else {
            return "the server has no synchronous_standby_names, so it alone would have the log"
        }
        return nil
    }

    /// Carries out requests in one transaction.
    ///
    /// - Returns: Their replies; all are `.lost` when anything is in doubt.
    private static func send(
        _ calls: [LogCall], _ connection: PostgresConnection, until deadline: Instant
    ) -> [LogReply] {
        let groups = calls.map { steps(of: $0) }
        let all = [PostgresStep(.begin)] + groups.flatMap { $0 } + [PostgresStep(.commit)]
        guard let answers = try? connection.run(all, until: deadline), answers.count == all.count,
            answers.last?.tag == "COMMIT", !connection.hasWarned
        else {
            connection.abort()
            return calls.map { _ in .lost }
        }
        var index = 1
        return zip(calls, groups).map { call, steps in
            defer { index += steps.count }
            let changedCount = answers[index..<index + steps.count].reduce(0) { $0 + $1.changedCount }
            // The statement about requests changes one row for each of them.
            let wanted = steps.count + (call.requests.isEmpty ? 0 : call.requests.count - 1)
            return reply(to: call.request, answers[index], wanted == changedCount)
        }
    }

    /// Returns the statements of a request.
    private static func steps(of call: LogCall) -> [PostgresStep] {
        let realm = PostgresValue.text(call.realm)
        let token = PostgresValue.text(call.owner.token)
        switch call.request {
        case .head: return [PostgresStep(.head, [realm])]
        // The head comes first, because its answer is the one that is read.
        case .confirm: return [PostgresStep(.head, [realm]), PostgresStep(.touch, [.text(call.owner.node)])]
        case .claim(let epoch): return [PostgresStep(.claim, [realm, .text(call.owner.node), token, .number(epoch)])]
        case .barrier: return [PostgresStep(.barrier, [realm, token])]
        case .release: return [PostgresStep(.release, [realm, token])]
        case .checksum(let lineage, let version):
            return [PostgresStep(.checksum, [realm, .text(lineage), .number(version)])]
        case .append(let head, let entry): return append(entry, after: head, call)
        }
    }

    /// Returns the statements of an append: the first one moves the head, the others store what of the record is behind its first part.
    private static func append(_ entry: LogRequest.Entry, after head: LogHead, _ call: LogCall) -> [PostgresStep] {
        let realm = PostgresValue.text(call.realm)
        let token = PostgresValue.text(call.owner.token)
        let version = PostgresValue.number(entry.version)
        let checksum = PostgresValue.bytes(entry.checksum.bytes)
        var steps = parts(of: call.bytes).enumerated().map { number, part in
            guard number == 0 else {
                return PostgresStep(
                    .appendPart,
                    [realm, version, checksum, token, .number(Int64(number)), .bytes(part), .number(head.epoch)])
            }
            return PostgresStep(
                .append,
                [
                    realm, .number(head.version), .bytes(head.checksum.bytes), .number(head.epoch), token, version, checksum,
                    .bytes(part),
                ])
        }
        guard !call.requests.isEmpty else { return steps }
        steps.append(
            PostgresStep(
                .appendRequests,
                [
                    realm, version, checksum, token, .number(head.epoch), .texts(call.requests.map(\.name)),
                    .texts(call.requests.map(\.digest)),
                ]))
        return steps
    }

    /// Cuts a record into parts.
    private static func parts(of bytes: [UInt8]) -> [[UInt8]] {
        guard bytes.count > partByteCount else { return [bytes] }
        return stride(from: 0, to: bytes.count, by: partByteCount).map { start in
            Array(bytes[start..<min(start + partByteCount, bytes.count)])
        }
    }

    /// Returns the reply to a request that was carried out.
    ///
    /// - Parameters:
    ///   - answer: The answer to its first statement.
    ///   - isWhole: Whether each of its statements has changed one row.
    private static func reply(to request: LogRequest, _ answer: PostgresAnswer, _ isWhole: Bool) -> LogReply {
        let row = answer.rows.first
        switch request {
        case .head, .barrier, .confirm:
            guard let row, !row.isDropped else { return .head(nil) }
            return row.head.map { .head($0) } ?? .lost
        case .claim:
            guard let row else { return .conflict }
            return row.head.map { .claimed($0) } ?? .lost
        case .release: return .stored
        case .checksum: return .checksum(row?.bytes(0).flatMap { LogChecksum($0) })
        case .append:
            guard answer.changedCount > 0 else { return .conflict }
            return isWhole ? .stored : .lost
        }
    }
}

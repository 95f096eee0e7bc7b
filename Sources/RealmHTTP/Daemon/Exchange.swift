// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmStorage
internal import Synchronization

/// One request and its answer on a connection.
///
/// `@unchecked Sendable`: everything but `outcome` and `spooling` belongs to the daemon's thread of the connection. `outcome`
/// is set by whoever completes the answer and read after the connection was resumed. While `spooling` is `.writing` the
/// body belongs to the thread that writes it to a file.
@safe final class Exchange: @unchecked Sendable {
    private enum Stage { case head, body, answering, sent }

    private enum Outcome {
        case pending
        case done(Response)
    }

    private enum Waiter {
        case none
        case watched(UInt64)
        case over
    }

    /// What becomes of the bytes that go to a file.
    private enum Spooling {
        case idle
        case writing
        /// With what went wrong.
        case written(Problem?)
    }

    private let server: HTTPServer
    private let connection: OpaquePointer
    fileprivate let record: ConnectionRecord
    private let targetBytes: [UInt8]
    /// Where the target lies in the daemon's memory; only compared.
    private let targetAddress: UInt
    private let arrival = Instant.now()
    private var request: Request?
    private var stage = Stage.head
    private var bodyLimit = 0
    private var spoolFolders: [String] = []
    private let spooling = RankedMutex(.leaf, Spooling.idle)
    /// What the daemon had received already when the connection was suspended to write to a file.
    private var early: [UInt8] = []
    /// Whether the connection was put to sleep for a file and not called since, although the file may be written by now.
    private var isAsleep = false
    private var bytesReceived = 0
    private var isBodyTooLarge = false
    /// An answer that was found before the body was there; sent after it.
    private var refusal: Response?
    private let outcome = RankedMutex(.leaf, Outcome.pending)
    /// Under which the client is watched while it waits.
    private let waiter = RankedMutex<Waiter>(.exchange, .none)
    fileprivate var status = 0
    /// What the answer takes of the memory for answers while it is made.
    private var answerHolding: ByteHolding?
    private var transmission: Transmission?

    /// An exchange that begins with the first line of a request. Called on the daemon's thread of the connection.
    init(server: HTTPServer, connection: OpaquePointer, record: ConnectionRecord, target: [UInt8], targetAddress: UInt) {
        self.server = server
        unsafe self.connection = unsafe connection
        self.record = record
        targetBytes = target
        self.targetAddress = targetAddress
        record.setReading(true)
        server.inFlight.add(1, ordering: .relaxed)
    }

    /// Parameters in the target.
    static let parameterLimit = 200

    /// Answers a target with too many parameters, and ends the connection: nothing else can be done so early.
    func refuseTarget() {
        let problem = Problem.overLimit(
            .uriTooLong, "the target has too many parameters; send long queries with POST to /query",
            limit: Exchange.parameterLimit)
        record.refuse(problem)
        shutdown(record.descriptor, Int32(SHUT_RDWR))
    }

    /// Goes on with the exchange; false makes the daemon close the connection.
    func advance(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>?, piece: UnsafeRawBufferPointer) -> Bool {
        switch stage {
        case .head:
            return unsafe beginBody(
                HeadLayout(method: method, target: targetAddress, targetByteCount: targetBytes.count, version: version))
        case .body: return unsafe receive(piece)
        case .answering: return sendOutcome()
        case .sent: return true
        }
    }

    // MARK: - Head and body

    private func beginBody(_ layout: HeadLayout) -> Bool {
        guard record.beganBody(arrival) else { return false }
        var layout = layout
        let headers = unsafe RequestHeaders.read(from: connection, &layout)
        let request = Request(
            methodName: layout.method, target: RequestTarget(targetBytes), headers: headers,
            id: headers[.requestID].flatMap(RequestID.init(client:)) ?? RequestID(), arrival: arrival,
            clientAddress: record.address, client: record.client, isFromThisMachine: record.isFromThisMachine,
            isHTTP10: layout.isHTTP10,
            entrance: server.configuration.entrance)
        request.spool = server.spool
        self.request = request
        stage = .body
        switch earlyAdmission(request, layout) {
        case .accept(let limit, let folders):
            bodyLimit = limit
            spoolFolders = folders
            guard let length = headers[.contentLength].flatMap({ Int($0) }), length > limit else { return true }
            return send(tooLarge(request))
        case .refuse(let response):
            refusal = response
            return response.closesConnection || announcesLongBody(headers) ? send(response) : true
        }
    }

    /// What the daemon itself has to say comes before the application.
    private func earlyAdmission(_ request: Request, _ layout: HeadLayout) -> Admission {
        var problem = layout.problem(of: request)
        switch record.excess {
        case .some where request.target.isAboutServer: break
        case .total:
            problem = .overLimit(
                .overloaded, "too many connections", limit: server.configuration.limits.connections)
        case .perAddress:
            problem = .overLimit(
                .rateLimited, "too many connections from this address",
                limit: server.configuration.limits.connectionsPerAddress)
        case nil:
            if problem == nil, server.isDraining { problem = Problem(.shuttingDown, "the server is shutting down") }
        }
        guard let problem else { return server.handler.admit(request) }
        var response = finished(Response(problem, for: request), request)
        response.closesConnection = true
        return .refuse(response)
    }

    /// Whether it is better to refuse at once, and give the connection up, than to read the body first.
    private func announcesLongBody(_ headers: RequestHeaders) -> Bool {
        if headers[.expect] != nil { return true }
        guard let length = headers[.contentLength].flatMap({ Int($0) }) else { return false }
        return length > 256 << 10
    }

    private func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        switch spooling.withLock({ $0 }) {
        case .idle: break
        case .writing: return unsafe keep(piece)
        case .written(let problem):
            isAsleep = false
            guard record.enter(.body), goOn(after: problem) else { return false }
            if isAsleep { return unsafe keep(piece) }
        }
        return unsafe piece.isEmpty ? answer() : take(piece)
    }

    /// A suspended connection is called for what was received before, and once more when the server ends.
    private func keep(_ piece: UnsafeRawBufferPointer) -> Bool {
        unsafe early.append(contentsOf: piece)
        return outcome.withLock { outcome -> Bool in
            if case .done = outcome { return false }
            return true
        }
    }

    /// Takes the bytes that had to wait for the file.
    private func goOn(after problem: Problem?) -> Bool {
        spooling.withLock { $0 = .idle }
        if let problem, let request { refuse(with: problem, request) }
        guard !early.isEmpty else { return true }
        let bytes = early
        early = []
        return unsafe bytes.withUnsafeBytes(take)
    }

    private func refuse(with problem: Problem, _ request: Request) {
        request.forgetBody()
        request.bodyFile = nil
        refusal = finished(Response(problem, for: request), request)
    }

    private func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard let request else { return false }
        bytesReceived += piece.count
        record.noteBody(byteCount: bytesReceived, Instant.now())
        let count = (request.bodyFile?.byteCount ?? 0) + request.body.count
        if refusal != nil || isBodyTooLarge || count + piece.count > bodyLimit {
            isBodyTooLarge = true
            request.body = []
            request.bodyFile = nil
            return goesOnReading(request)
        }
        return unsafe store(piece, request)
    }

    /// The daemon lets nobody answer in the middle of a body. A little more is read to be able to answer after it; then the
    /// answer is written past the daemon, and what still comes is thrown away until the client has read it.
    private func goesOnReading(_ request: Request) -> Bool {
        guard bytesReceived > bodyLimit + Exchange.readBeyondLimit else { return true }
        if status == 0 {
            let problem = Problem.overLimit(.bodyTooLarge, "the body is larger than \(bodyLimit) bytes", limit: bodyLimit)
            status = refusal?.status ?? problem.status
            record.sendLast(LastWords.bytes(problem, request.id))
        }
        return bytesReceived <= bodyLimit + 4 * Exchange.readBeyondLimit
    }

    private static let readBeyondLimit = 4 << 20

    /// Bodies up to here stay in memory, and longer ones go to their files in pieces of about this length.
    private static let spoolByteCount = 256 << 10

    private func store(_ piece: UnsafeRawBufferPointer, _ request: Request) -> Bool {
        do throws(Problem) { try request.holding?.require(piece.count) } catch {
            refuse(with: error, request)
            return true
        }
        unsafe request.body.append(contentsOf: piece)
        guard !spoolFolders.isEmpty, request.body.count > Exchange.spoolByteCount else { return true }
        return spool(request)
    }

    /// Moves what is there of the body to a file. The connection sleeps meanwhile: no thread of the daemon waits for a disk.
    private func spool(_ request: Request) -> Bool {
        guard record.enter(.busy) else { return false }
        spooling.withLock { $0 = .writing }
        isAsleep = true
        guard unsafe server.suspensions.suspend(connection, for: self) else {
            isAsleep = false
            return goOn(after: Problem(.shuttingDown, "the server is shutting down"))
        }
        let isQueued = server.spoolers.submitContinuation(for: record.client) { [self] in didSpool(write(request)) }
        if !isQueued { didSpool(Problem(.shuttingDown, "the server is shutting down")) }
        return true
    }

    private func write(_ request: Request) -> Problem? {
        do throws(StorageError) {
            let file: BodyFile
            if let known = request.bodyFile {
                file = known
            } else {
                file = try BodyFile.make(inOneOf: spoolFolders, try server.spool.open(for: record.client))
                request.bodyFile = file
            }
            try file.append(request.body)
            request.forgetBody()
            return nil
        } catch {
            return Problem(spooling: error)
        }
    }

    private func didSpool(_ problem: Problem?) {
        spooling.withLock { $0 = .written(problem) }
        unsafe server.suspensions.resume(connection, for: self)
    }

    private func tooLarge(_ request: Request) -> Response {
        let problem = Problem.overLimit(
            .bodyTooLarge, "the body is larger than \(bodyLimit) bytes", limit: bodyLimit)
        return finished(Response(problem, for: request), request)
    }

    // MARK: - Answer

    private func answer() -> Bool {
        record.setReading(false)
        // Nothing is sent after an answer that was written past the daemon.
        guard status == 0, let request, record.enter(.busy) else { return false }
        if let refusal { return send(refusal) }
        if isBodyTooLarge { return send(tooLarge(request)) }
        if request.bodyFile != nil, !request.body.isEmpty { return spoolRest(request) }
        switch server.handler.reply(to: request) {
        case .now(let response): return sendSoon(response, request)
        case .work(let work): return hand(work, to: server.workers, request)
        case .attend(let work): return hand(work, to: server.attendant, request)
        case .later(let begin):
            stage = .answering
            guard unsafe server.suspensions.suspend(connection, for: self) else { return send(shuttingDown(request)) }
            holdAnswer(of: request)
            begin(self)
            return true
        }
    }

    /// Sends an answer that is there but for its packing, which may take a worker.
    private func sendSoon(_ response: consuming Response, _ request: Request) -> Bool {
        guard server.handler.finishesQuickly(response, for: request) else {
            let response = response
            return hand({ response }, to: server.workers, request)
        }
        return send(finished(response, request))
    }

    /// The answer comes when the end of the body is in its file, too.
    private func spoolRest(_ request: Request) -> Bool {
        guard spool(request) else { return false }
        return isAsleep || refusal.map(send) ?? false
    }

    private func finished(_ response: consuming Response, _ request: Request) -> Response {
        server.handler.finish(response, for: request)
    }

    private func shuttingDown(_ request: Request) -> Response {
        let problem = Problem(.shuttingDown, "the server is shutting down")
        var response = finished(Response(problem, for: request), request)
        response.closesConnection = true
        return response
    }

    private func hand(_ work: @escaping @Sendable () -> Response, to workers: WorkerPool, _ request: Request) -> Bool {
        stage = .answering
        guard unsafe server.suspensions.suspend(connection, for: self) else { return send(shuttingDown(request)) }
        holdAnswer(of: request)
        request.budget.isStillWanted = { [record, arrival] in
            !record.hasLeft(requestSeconds: Instant.now().seconds(since: arrival))
        }
        workers.submit(for: request, to: self) { [self] in complete(work()) }
        return true
    }

    /// What is made elsewhere takes its memory while it grows: many long answers at a time would else be there before one of
    /// them is refused.
    private func holdAnswer(of request: Request) {
        let holding = ByteHolding(server.unsentBytes, record.client)
        answerHolding = holding
        request.budget.takesRoom = { [ledger = server.unsentBytes] byteCount in holding.grow(by: byteCount).map(ledger.stop) }
    }

    private func sendOutcome() -> Bool {
        let response = outcome.withLock { outcome -> Response? in
            if case .done(let response) = outcome { return response }
            return nil
        }
        guard let response else { return false }
        return send(response)
    }

    private func send(_ response: consuming Response) -> Bool {
        guard let request else { return false }
        stage = .sent
        record.setReading(false)
        _ = record.enter(.busy)
        let holding = afford(&response, request)
        status = response.status
        // What the request brought is done with, or somebody else's by now.
        request.forgetBody()
        request.holding = nil
        let transmission = Transmission(response, to: request, server: server, holding: holding)
        // The library takes sizes of chunks and trailers that others understand differently, and tells nobody. So what comes
        // after such a body is never taken for a request.
        if record.excess != nil || request.headers[.transferEncoding] != nil { transmission.closeAfterwards() }
        self.transmission = transmission
        return unsafe transmission.queue(on: connection)
    }

    /// Shorter answers are sent however many wait.
    private static let smallAnswer = 64 << 10

    /// A long answer takes its bytes of the memory for what clients have not read yet; where there is none left it is not sent.
    /// Answers that are kept for others, too, take none of their own.
    private func afford(_ response: inout Response, _ request: Request) -> ByteHolding? {
        if case .stream = response.body { return answerHolding }
        guard case .bytes(let buffer) = response.body, buffer.count > Exchange.smallAnswer, response.packed == nil else {
            _ = answerHolding?.adjust(to: 0)
            return nil
        }
        let holding = answerHolding ?? ByteHolding(server.unsentBytes, record.client)
        guard let excess = holding.adjust(to: buffer.count) else { return holding }
        _ = holding.adjust(to: 0)
        let problem = Problem(server.unsentBytes.stop(excess))
        response = finished(Response(problem, for: request), request)
        return nil
    }

    /// The answer left, or the connection is gone.
    func end(isComplete: Bool) {
        endWatch()
        server.inFlight.subtract(1, ordering: .relaxed)
        record.becameIdle()
        guard let request else { return }
        request.budget.cancel()
        server.handler.didEnd(
            request, status: finalStatus(isComplete: isComplete), bytesSent: transmission?.bytesSent ?? 0,
            bytesReceived: bytesReceived, isComplete: isComplete)
    }
}

extension Exchange {
    /// What metrics and log tell: 499 for clients that left.
    fileprivate func finalStatus(isComplete: Bool) -> Int {
        if record.statusOfLastWords != 0 { return record.statusOfLastWords }
        return status == 0 || !isComplete ? 499 : status
    }
}

extension Exchange: ResponsePromise, Suspended {
    /// Finishes the answer on the calling thread and resumes the connection, whose thread sends it. Only the first call
    /// counts.
    func complete(_ response: Response) {
        HeldLocks.assertNone()
        guard let request else { return }
        let response = finished(response, request)
        let isFirst = outcome.withLock { outcome -> Bool in
            guard case .pending = outcome else { return false }
            outcome = .done(response)
            return true
        }
        guard isFirst else { return }
        // While the connection still sleeps: afterwards its socket may be closed.
        endWatch()
        unsafe server.suspensions.resume(connection, for: self)
    }

    /// Watches the client while the connection sleeps. One action at a time; none after the answer.
    func onDisconnect(_ action: @escaping @Sendable () -> Void) {
        // Under the lock, so that nothing is watched that has been answered.
        waiter.withLock { waiter in
            guard case .none = waiter else { return }
            waiter = .watched(server.streams.addWaiter(record.descriptor, action))
        }
    }

    private func endWatch() {
        waiter.withLock { waiter in
            if case .watched(let number) = waiter { server.streams.removeWaiter(number) }
            waiter = .over
        }
    }

    /// The server stops while the connection sleeps: the client is told so.
    func abandon() {
        guard let request else { return }
        complete(shuttingDown(request))
    }
}

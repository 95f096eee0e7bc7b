// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmStorage
internal import Synchronization

/// One request and its answer on a connection.
///
/// `@unchecked Sendable`: everything but `outcome` belongs to the daemon's thread of the connection. `outcome` is set
/// by whoever completes the answer and read after the connection was resumed.
final class Exchange: @unchecked Sendable {
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
    private var bytesReceived = 0
    private var isBodyTooLarge = false
    /// An answer that was found before the body was there; sent after it.
    private var refusal: Response?
    private let outcome = RankedMutex(.leaf, Outcome.pending)
    /// Under which the client is watched while it waits.
    private let waiter = RankedMutex<Waiter>(.exchange, .none)
    fileprivate var status = 0
    private var transmission: Transmission?

    init(server: HTTPServer, connection: OpaquePointer, record: ConnectionRecord, target: [UInt8], targetAddress: UInt) {
        self.server = server
        self.connection = connection
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
            .uriTooLong, "the target has too many parameters; send long queries with POST to /query", limit: Exchange.parameterLimit)
        record.refuse(problem)
        shutdown(record.descriptor, Int32(SHUT_RDWR))
    }

    /// Goes on with the exchange; false makes the daemon close the connection.
    func advance(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>?, piece: UnsafeRawBufferPointer) -> Bool {
        switch stage {
        case .head: return beginBody(HeadLayout(method, targetAddress, targetBytes.count, version))
        case .body: return piece.isEmpty ? answer() : take(piece)
        case .answering: return sendOutcome()
        case .sent: return true
        }
    }

    // MARK: - Head and body

    private func beginBody(_ layout: HeadLayout) -> Bool {
        guard record.beganBody(arrival) else { return false }
        var layout = layout
        let headers = RequestHeaders.read(from: connection, &layout)
        let request = Request(
            methodName: layout.method, target: RequestTarget(targetBytes), headers: headers,
            id: headers[.requestID].flatMap(RequestID.init(client:)) ?? RequestID(), arrival: arrival,
            clientAddress: record.address, client: record.client, isHTTP10: layout.isHTTP10,
            entrance: server.configuration.entrance)
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
        var response = finished(server.handler.response(to: problem, for: request), request)
        response.closesConnection = true
        return .refuse(response)
    }

    /// Whether it is better to refuse at once, and give the connection up, than to read the body first.
    private func announcesLongBody(_ headers: RequestHeaders) -> Bool {
        if headers[.expect] != nil { return true }
        guard let length = headers[.contentLength].flatMap({ Int($0) }) else { return false }
        return length > 256 << 10
    }

    private func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard let request else { return false }
        bytesReceived += piece.count
        record.noteBody(byteCount: bytesReceived, Instant.now())
        let count = request.bodyFile?.byteCount ?? request.body.count
        if refusal != nil || isBodyTooLarge || count + piece.count > bodyLimit {
            isBodyTooLarge = true
            request.body = []
            request.bodyFile = nil
            return goesOnReading(request)
        }
        store(piece, request)
        return true
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

    /// Bodies up to here stay in memory.
    private static let spoolByteCount = 256 << 10

    private func store(_ piece: UnsafeRawBufferPointer, _ request: Request) {
        let isLong = !spoolFolders.isEmpty && request.body.count + piece.count > Exchange.spoolByteCount
        guard isLong || request.bodyFile != nil else { return request.body.append(contentsOf: piece) }
        do throws(StorageError) {
            let file: BodyFile
            if let known = request.bodyFile {
                file = known
            } else {
                file = try BodyFile.make(inOneOf: spoolFolders, try server.spool.open(for: record.client))
                try file.append(request.body)
                request.body = []
                request.bodyFile = file
            }
            try file.append(piece)
        } catch {
            request.body = []
            request.bodyFile = nil
            let problem = Problem(spooling: error)
            refusal = finished(server.handler.response(to: problem, for: request), request)
        }
    }

    private func tooLarge(_ request: Request) -> Response {
        let problem = Problem.overLimit(
            .bodyTooLarge, "the body is larger than \(bodyLimit) bytes", limit: bodyLimit)
        return finished(server.handler.response(to: problem, for: request), request)
    }

    // MARK: - Answer

    private func answer() -> Bool {
        record.setReading(false)
        // Nothing is sent after an answer that was written past the daemon.
        guard status == 0, let request, record.enter(.busy) else { return false }
        if let refusal { return send(refusal) }
        if isBodyTooLarge { return send(tooLarge(request)) }
        switch server.handler.reply(to: request) {
        case .now(let response):
            guard server.handler.finishesQuickly(response, for: request) else {
                return hand({ response }, to: server.workers, request)
            }
            return send(finished(response, request))
        case .work(let work): return hand(work, to: server.workers, request)
        case .attend(let work): return hand(work, to: server.attendant, request)
        case .later(let begin):
            stage = .answering
            guard server.suspensions.suspend(connection, for: self) else { return send(shuttingDown(request)) }
            begin(self)
            return true
        }
    }

    private func finished(_ response: consuming Response, _ request: Request) -> Response {
        server.handler.finish(response, for: request)
    }

    private func shuttingDown(_ request: Request) -> Response {
        let problem = Problem(.shuttingDown, "the server is shutting down")
        var response = finished(server.handler.response(to: problem, for: request), request)
        response.closesConnection = true
        return response
    }

    private func hand(_ work: @escaping @Sendable () -> Response, to workers: WorkerPool, _ request: Request) -> Bool {
        stage = .answering
        guard server.suspensions.suspend(connection, for: self) else { return send(shuttingDown(request)) }
        request.budget.isStillWanted = { [record, arrival] in !record.hasLeft(requestSeconds: Instant.now().seconds(since: arrival)) }
        let isQueued = workers.submit(for: record.client) { [self] in complete(work()) }
        if !isQueued {
            let problem = Problem.noWorker
            complete(server.handler.response(to: problem, for: request))
        }
        return true
    }

    private func sendOutcome() -> Bool {
        let response = outcome.withLock { outcome -> Response? in
            if case .done(let response) = outcome { return response }
            return nil
        }
        guard let response else { return false }
        return send(response)
    }

    private func send(_ response: Response) -> Bool {
        guard let request else { return false }
        stage = .sent
        record.setReading(false)
        _ = record.enter(.busy)
        status = response.status
        let transmission = Transmission(response, request, server)
        if record.excess != nil { transmission.closeAfterwards() }
        self.transmission = transmission
        return transmission.queue(on: connection)
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
        server.suspensions.resume(connection, for: self)
    }

    func onLeave(_ action: @escaping @Sendable () -> Void) {
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

    func abandon() {
        guard let request else { return }
        complete(shuttingDown(request))
    }
}

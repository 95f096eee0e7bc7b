// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
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
    private let record: ConnectionRecord
    private let targetBytes: [UInt8]
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
    private var status = 0
    private var transmission: Transmission?

    init(server: HTTPServer, connection: OpaquePointer, record: ConnectionRecord, target: [UInt8]) {
        self.server = server
        self.connection = connection
        self.record = record
        targetBytes = target
        server.inFlight.add(1, ordering: .relaxed)
    }

    /// Goes on with the exchange; false makes the daemon close the connection.
    func advance(method: UnsafePointer<CChar>, isHTTP10: Bool, piece: UnsafeRawBufferPointer) -> Bool {
        switch stage {
        case .head: return beginBody(method: String(cString: method), isHTTP10: isHTTP10)
        case .body: return piece.isEmpty ? answer() : take(piece)
        case .answering: return sendOutcome()
        case .sent: return true
        }
    }

    // MARK: - Head and body

    private func beginBody(method: String, isHTTP10: Bool) -> Bool {
        guard record.enter(.body) else { return false }
        record.noteProgress(arrival)
        let headers = RequestHeaders.read(from: connection, countLimit: server.configuration.limits.headerFields)
        let request = Request(
            methodName: method, target: RequestTarget(targetBytes), headers: headers,
            id: headers[.requestID].flatMap(RequestID.init(client:)) ?? RequestID(), arrival: arrival,
            clientAddress: record.address, isHTTP10: isHTTP10, entrance: server.configuration.entrance)
        self.request = request
        stage = .body
        switch earlyAdmission(request) {
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
    private func earlyAdmission(_ request: Request) -> Admission {
        var problem: Problem?
        switch record.excess {
        case .total:
            problem = .overLimit(
                .overloaded, "too many connections", limit: server.configuration.limits.connections)
        case .perAddress:
            problem = .overLimit(
                .rateLimited, "too many connections from this address",
                limit: server.configuration.limits.connectionsPerAddress)
        case nil:
            if server.isDraining { problem = Problem(.shuttingDown, "the server is shutting down") }
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
        record.noteProgress(Instant.now())
        let count = request.bodyFile?.byteCount ?? request.body.count
        if refusal != nil || isBodyTooLarge || count + piece.count > bodyLimit {
            isBodyTooLarge = true
            request.body = []
            request.bodyFile = nil
            // The daemon lets nobody answer in the middle of a body. A little more is read to be able to; then it ends.
            return bytesReceived <= bodyLimit + (4 << 20)
        }
        store(piece, request)
        return true
    }

    /// Bodies up to here stay in memory.
    private static let spoolByteCount = 256 << 10

    private func store(_ piece: UnsafeRawBufferPointer, _ request: Request) {
        do throws(Problem) { try request.holding?.require(piece.count) } catch {
            request.forgetBody()
            refusal = finished(server.handler.response(to: error, for: request), request)
            return
        }
        let isLong = !spoolFolders.isEmpty && request.body.count + piece.count > Exchange.spoolByteCount
        guard isLong || request.bodyFile != nil else { return request.body.append(contentsOf: piece) }
        do throws(StorageError) {
            let file: BodyFile
            if let known = request.bodyFile {
                file = known
            } else {
                file = try BodyFile.make(inOneOf: spoolFolders)
                try file.append(request.body)
                request.forgetBody()
                request.bodyFile = file
            }
            try file.append(piece)
            request.holding?.shrink(by: piece.count)
        } catch {
            request.body = []
            request.bodyFile = nil
            let problem = Problem(.insufficientStorage, "there is no room for the body of this request")
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
        guard let request, record.enter(.busy) else { return false }
        if let refusal { return send(refusal) }
        if isBodyTooLarge { return send(tooLarge(request)) }
        switch server.handler.reply(to: request) {
        case .now(let response): return send(finished(response, request))
        case .work(let work): return hand(work, to: server.workers, request)
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
        let isQueued = workers.submit { [self] in complete(work()) }
        if !isQueued {
            let problem = Problem(.overloaded, "too many requests are waiting for a worker")
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
        _ = record.enter(.busy)
        let (response, holding) = affordable(response, request)
        status = response.status
        // What the request brought is done with, or somebody else's by now.
        request.forgetBody()
        request.holding = nil
        let transmission = Transmission(response, request, server, holding)
        self.transmission = transmission
        return transmission.queue(on: connection)
    }

    /// Shorter answers are sent however many wait.
    private static let smallAnswer = 64 << 10

    /// A long answer takes its bytes of the memory for what clients have not read yet; where there is none left it is not sent.
    /// Answers that are kept for others, too, take none of their own.
    private func affordable(_ response: Response, _ request: Request) -> (Response, ByteHolding?) {
        guard case .bytes(let buffer) = response.body, buffer.count > Exchange.smallAnswer, response.packed == nil else {
            return (response, nil)
        }
        let holding = ByteHolding(server.unsentBytes, "")
        guard holding.grow(by: buffer.count) != nil else { return (response, holding) }
        let problem = Problem.overLimit(
            .overloaded, "answers that clients have not read yet take all the memory that there is for them",
            limit: server.configuration.limits.unsentBytes
        ).with("limitName", "unsent-bytes")
        return (finished(server.handler.response(to: problem, for: request), request), nil)
    }

    /// The answer left, or the connection is gone.
    func end(isComplete: Bool) {
        endWatch()
        server.inFlight.subtract(1, ordering: .relaxed)
        record.becameIdle()
        guard let request else { return }
        request.budget.cancel()
        server.handler.didEnd(
            request, status: status == 0 || !isComplete ? 499 : status, bytesSent: transmission?.bytesSent ?? 0,
            bytesReceived: bytesReceived, isComplete: isComplete)
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

// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// One request and its response on a connection.
///
/// The daemon calls `advance` for the header section, for each piece of the body, at the end of the body, and each time after the
/// connection was resumed; `stage` states the progress of the exchange. It is made with the first line of the request, and ends
/// with `end`.
///
/// `@unchecked Sendable`: everything but `outcome`, `waiter` and `spooling`, which have locks, belongs to the daemon's thread
/// of the connection. `outcome` is set by the thread that completes the response, and read after the connection was resumed.
/// While `spooling` is `writing` the body belongs to the thread that writes it to a file.
@safe final class Exchange: @unchecked Sendable {
    /// The subject of the next call of the daemon: the complete header section, a piece or the end of the body, the awaited
    /// response, or nothing more.
    private enum Stage { case head, body, answering, sent }

    /// Whether the response that the connection is suspended for exists.
    private enum Outcome {
        /// The response is being made.
        case pending
        /// The finished response, which the daemon's thread sends when the connection was resumed.
        case done(Response)
    }

    /// Whether the client is watched while it waits, with the number of the watch; `over` once the response exists.
    private enum Waiter {
        /// No action was registered.
        case none
        /// The client is watched under this number of the `StreamWatch`.
        case watched(UInt64)
        /// The response exists, and the client is not watched again.
        case over
    }

    /// The state of writing the body to a temporary file.
    private enum Spooling {
        /// No part of the body is being written.
        case idle
        /// Another thread writes, and the connection is suspended.
        case writing
        /// A part was written, or could not be for the given problem; the daemon has not been called since.
        case written(Problem?)
    }

    private let server: HTTPServer
    /// The connection in the library.
    private let connection: OpaquePointer
    fileprivate let record: ConnectionRecord
    /// The request target as it was sent.
    private let targetBytes: [UInt8]
    /// The address of the target in the memory of the library. It is only compared, to find out how
    /// the request line was written.
    private let targetAddress: UInt
    /// The arrival of the first line of the request.
    private let arrival = Instant.now()
    /// The task of the request; nil before its header section is complete.
    private var task: (any RequestTask)?
    private var stage = Stage.head
    /// The largest number of bytes that the body may have.
    private var bodyLimit = 0
    /// The folders for a temporary file of a long body; empty when the body stays in memory.
    private var spoolFolders: [String] = []
    /// The progress of the current part of the body on its way to the file.
    private let spooling = RankedMutex(.leaf, Spooling.idle)
    /// Bytes of the body that the library had received before the connection was suspended, and
    /// delivers although a part is still being written to a file.
    private var early: [UInt8] = []
    /// Whether the connection was suspended to write to a file and the daemon has not called since,
    /// although the file may be written already.
    private var isAsleep = false
    /// The number of received pieces of the body.
    private var pieceCount = 0
    /// Whether the body had too many small pieces, and is refused.
    private var hasSmallPieces = false
    /// The number of received bytes of the body, including dropped ones.
    private var bytesReceived = 0
    /// Whether the body is larger than `bodyLimit`, or is not wanted; the rest of it is dropped.
    private var isBodyTooLarge = false
    /// A response that was decided before the body was complete, and is sent after it.
    private var refusal: Response?
    /// The response, as far as it is made elsewhere.
    private let outcome = RankedMutex(.leaf, Outcome.pending)
    /// The watch over the client while the connection is suspended.
    private let waiter = RankedMutex<Waiter>(.exchange, .none)
    /// The status of the response that was sent; 0 before.
    fileprivate var status = 0
    /// The memory for unsent responses that the response uses while it is being made.
    private var answerHolding: ByteHolding?
    /// The response once it was given to the daemon.
    private var transmission: Transmission?

    /// Begins an exchange with the first line of a request. It runs on the daemon's thread of the connection.
    ///
    /// - Parameters:
    ///   - connection: The connection in the library, which outlives the exchange.
    ///   - record: The record of the connection in the table.
    ///   - target: The request target.
    ///   - targetAddress: Its address in the memory of the library.
    init(server: HTTPServer, connection: OpaquePointer, record: ConnectionRecord, target: [UInt8], targetAddress: UInt) {
        self.server = server
        unsafe self.connection = unsafe connection
        self.record = record
        targetBytes = target
        self.targetAddress = targetAddress
        record.setReading(true)
        server.inFlight.add(1, ordering: .relaxed)
    }

    /// The number of parameters that a request target may have: the library reserves memory for each of them.
    static let parameterLimit = 200

    /// Answers a request whose target has too many parameters, and breaks the connection. The
    /// library cannot be given a response so early.
    func refuseTarget() {
        let problem = Problem.overLimit(
            .uriTooLong, "the target has too many parameters; send long queries with POST to /query",
            limit: Exchange.parameterLimit)
        record.refuse(problem)
        shutdown(record.descriptor, Int32(SHUT_RDWR))
    }

    /// Continues the exchange when the daemon calls; see the type for when that is.
    ///
    /// - Parameters:
    ///   - method: The method, in the memory of the library.
    ///   - version: The version of HTTP, in the memory of the library; nil when the request line
    ///     has none.
    ///   - piece: The bytes of the body that were received; empty at its end.
    /// - Returns: False to have the daemon close the connection.
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

    /// Makes the request from its header section, and decides on the handling of its body.
    private func beginBody(_ layout: HeadLayout) -> Bool {
        guard record.beganBody(arrival) else { return false }
        var layout = layout
        let believesProxy = server.isTrustedProxy(record.address)
        let headers = unsafe RequestHeaders.read(from: connection, &layout, believesProxy: believesProxy)
        let sender = server.configuration.trustedProxies.sender(headers, isTrusted: believesProxy)
        let request = Request(
            methodName: layout.method, target: RequestTarget(targetBytes), headers: headers,
            id: headers[.requestID].flatMap(RequestID.init(client:)) ?? RequestID(), arrival: arrival,
            clientAddress: sender.address(otherwise: record.address),
            client: sender.name(otherwise: believesProxy ? record.address : record.client),
            isFromThisMachine: record.isFromThisMachine, listenerKind: server.configuration.listenerKind,
            isSecure: record.tls != nil, clientCertificate: record.tls?.clientCertificate(), memo: record.memo,
            isHTTP10: layout.isHTTP10, body: RequestBody(spool: server.spool))
        let task = server.handler.begin(request)
        self.task = task
        stage = .body
        switch earlyAdmission(task, layout) {
        case .accept(let limit, let folders, let bodyRefusal):
            bodyLimit = limit
            spoolFolders = folders
            if let bodyRefusal, headers.announcesBody { record.setBodyRefusal(bodyRefusal) }
            guard let length = headers[.contentLength].flatMap({ Int($0) }), length > limit else { return true }
            return send(tooLarge(task))
        case .refuse(let response):
            refusal = response
            return response.closesConnection || announcesLongBody(headers) ? send(response) : true
        }
    }

    /// Decides about a request: first for reasons of the connection and the form of its header
    /// section, and then by the handler.
    private func earlyAdmission(_ task: any RequestTask, _ layout: HeadLayout) -> Admission {
        var problem = layout.problem(of: task.request)
        switch record.excess {
        case .some where task.request.target.isAboutServer: break
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
        guard let problem else { return task.admit() }
        var response = finished(Response(problem, for: task), task)
        response.closesConnection = true
        return .refuse(response)
    }

    /// Whether it is better to refuse a request at once, and to lose the connection, than to read its body first: the body is
    /// longer than 256 KiB, or the client waits for permission to send it.
    private func announcesLongBody(_ headers: RequestHeaders) -> Bool {
        if headers[.expect] != nil { return true }
        guard let length = headers[.contentLength].flatMap({ Int($0) }) else { return false }
        return length > 256 << 10
    }

    /// Takes a piece of the body, or answers at its end. While a part of the body is being written
    /// to a file, pieces are kept aside.
    private func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        switch spooling.withLock({ $0 }) {
        case .idle: break
        case .writing: return unsafe keep(piece)
        case .written(let problem):
            isAsleep = false
            guard record.enter(.body), continueBody(after: problem) else { return false }
            if isAsleep { return unsafe keep(piece) }
        }
        return unsafe piece.isEmpty ? answer() : take(piece)
    }

    /// Keeps a piece for later. The daemon calls for a suspended connection to deliver data received before, and once more when
    /// the server ends; false in the latter case.
    private func keep(_ piece: UnsafeRawBufferPointer) -> Bool {
        unsafe early.append(contentsOf: piece)
        return outcome.withLock { outcome -> Bool in
            if case .done = outcome { return false }
            return true
        }
    }

    /// Continues with the body after a part of it was written to a file, beginning with the pieces that were kept for later.
    ///
    /// - Parameter problem: The reason why the part could not be written, if so.
    /// - Returns: False to have the daemon close the connection.
    private func continueBody(after problem: Problem?) -> Bool {
        spooling.withLock { $0 = .idle }
        // The stored part is released now, and the connection soon.
        if let problem = problem ?? record.refusedBody?.problem, let task { refuse(with: problem, task) }
        guard !early.isEmpty else { return true }
        let bytes = early
        early = []
        return unsafe bytes.withUnsafeBytes(take)
    }

    /// Decides the response before the body is complete. The stored part of the body is released.
    private func refuse(with problem: Problem, _ task: any RequestTask) {
        task.request.body.forget()
        task.request.body.file = nil
        refusal = finished(Response(problem, for: task), task)
    }

    /// Counts a piece of the body, and stores it unless the body is too large or not wanted.
    private func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard let task else { return false }
        bytesReceived += piece.count
        pieceCount += 1
        if pieceCount > Exchange.smallPieceLimit, bytesReceived < pieceCount * Exchange.leastPieceByteCount {
            hasSmallPieces = true
        }
        if hasSmallPieces { return refuseSmallPieces(task) }
        record.noteBody(byteCount: bytesReceived, Instant.now())
        let count = (task.request.body.file?.byteCount ?? 0) + task.request.body.bytes.count
        if refusal != nil || isBodyTooLarge || count + piece.count > bodyLimit {
            isBodyTooLarge = true
            task.request.body.bytes = []
            task.request.body.file = nil
            return continuesReading(task)
        }
        return unsafe store(piece, task)
    }

    /// Answers a body of many tiny chunks, each of which takes the thread as long as a large one. A few more of them are dropped, to
    /// give the client time to read the answer.
    private func refuseSmallPieces(_ task: any RequestTask) -> Bool {
        isBodyTooLarge = true
        task.request.body.bytes = []
        task.request.body.file = nil
        if status == 0 {
            let problem = Problem(
                .malformedRequest,
                "the chunks of the body are too small: after \(Exchange.smallPieceLimit) they must have \(Exchange.leastPieceByteCount) bytes on average"
            )
            status = refusal?.status ?? problem.status
            record.sendLast(FinalResponse.bytes(problem, task.request.id))
        }
        return pieceCount <= 4 * Exchange.smallPieceLimit
    }

    /// Decides whether more of an unwanted body is read.
    ///
    /// The library sends no response in the middle of a body. So up to 4 MiB over the limit are read, to be able to respond after
    /// the body; then the response is written past the library, and later data is dropped for a while, to give the client time to
    /// read it.
    private func continuesReading(_ task: any RequestTask) -> Bool {
        guard bytesReceived > bodyLimit + Exchange.readBeyondLimit else { return true }
        if status == 0 {
            let problem = Problem.overLimit(.bodyTooLarge, "the body is larger than \(bodyLimit) bytes", limit: bodyLimit)
            status = refusal?.status ?? problem.status
            record.sendLast(FinalResponse.bytes(problem, task.request.id))
        }
        return bytesReceived <= bodyLimit + 4 * Exchange.readBeyondLimit
    }

    /// The number of pieces of a body that may be small, and the average length that more of them must have.
    private static let smallPieceLimit = 16_384
    private static let leastPieceByteCount = 16

    /// The number of bytes over the limit of the body that are read before the response is written past the library.
    private static let readBeyondLimit = 4 << 20

    /// The length up to which bodies stay in memory. Longer ones are written to their files in pieces of about this length.
    private static let spoolByteCount = 256 << 10

    /// Appends a piece to the body in memory, and has it moved to a file when there is enough of it.
    private func store(_ piece: UnsafeRawBufferPointer, _ task: any RequestTask) -> Bool {
        do throws(Problem) { try task.request.body.holding?.require(piece.count) } catch {
            refuse(with: error, task)
            return true
        }
        unsafe task.request.body.bytes.append(contentsOf: piece)
        guard !spoolFolders.isEmpty, task.request.body.bytes.count > Exchange.spoolByteCount else { return true }
        return spool(task)
    }

    /// Makes another thread write the part of the body in memory to the file, and suspends the connection in the meantime: no
    /// thread of the daemon waits for a disk.
    private func spool(_ task: any RequestTask) -> Bool {
        guard record.enter(.busy) else { return false }
        spooling.withLock { $0 = .writing }
        isAsleep = true
        guard unsafe server.suspensions.suspend(connection, for: self) else {
            isAsleep = false
            return continueBody(after: Problem(.shuttingDown, "the server is shutting down"))
        }
        let isQueued = server.spoolers.submitContinuation(for: task.account) { [self] in didSpool(write(task)) }
        if !isQueued { didSpool(Problem(.shuttingDown, "the server is shutting down")) }
        return true
    }

    /// Writes the part of the body in memory to the file, and makes the file at the first time. It runs on a spooling thread.
    private func write(_ task: any RequestTask) -> Problem? {
        do throws(StorageError) {
            let file: BodyFile
            if let known = task.request.body.file {
                file = known
            } else {
                file = try BodyFile.make(inOneOf: spoolFolders, try server.spool.open(for: task.account))
                task.request.body.file = file
            }
            try file.append(task.request.body.bytes)
            task.request.body.forget()
            return nil
        } catch {
            return Problem(spooling: error)
        }
    }

    /// Resumes the connection after a part was written. Called on any thread.
    private func didSpool(_ problem: Problem?) {
        spooling.withLock { $0 = .written(problem) }
        unsafe server.suspensions.resume(connection, for: self)
    }

    /// Makes the 413 for a body over its limit.
    private func tooLarge(_ task: any RequestTask) -> Response {
        let problem = Problem.overLimit(
            .bodyTooLarge, "the body is larger than \(bodyLimit) bytes", limit: bodyLimit)
        return finished(Response(problem, for: task), task)
    }

    // MARK: - Answer

    /// Passes the complete request to the handler, and sends the response or suspends the connection until it exists.
    private func answer() -> Bool {
        record.setReading(false)
        // Nothing is sent after a response that was written past the daemon.
        guard status == 0, let task, record.enter(.busy) else { return false }
        if let refusal { return send(refusal) }
        if isBodyTooLarge { return send(tooLarge(task)) }
        if task.request.body.file != nil, !task.request.body.bytes.isEmpty { return spoolRest(task) }
        switch task.reply() {
        case .now(let response): return sendSoon(response, task)
        case .work(let work): return hand(work, to: server.workers, task)
        case .attend(let work): return hand(work, to: server.attendant, task)
        case .later(let begin):
            stage = .answering
            guard unsafe server.suspensions.suspend(connection, for: self) else { return send(shuttingDown(task)) }
            holdAnswer(of: task)
            // A write continues without its client.
            if task.isForItsClient { watchClient(of: task) }
            begin(self)
            return true
        }
    }

    /// Sends a response that only needs to be finished. A worker does that when there is much to compress.
    private func sendSoon(_ response: consuming Response, _ task: any RequestTask) -> Bool {
        guard task.finishesQuickly(response) else {
            let response = response
            return hand({ response }, to: server.workers, task)
        }
        return send(finished(response, task))
    }

    /// Writes the rest of the body to its file. The response is made after that.
    private func spoolRest(_ task: any RequestTask) -> Bool {
        guard spool(task) else { return false }
        return isAsleep || refusal.map(send) ?? false
    }

    /// Lets the handler add the common parts of all responses.
    private func finished(_ response: consuming Response, _ task: any RequestTask) -> Response {
        task.finish(response)
    }

    /// Makes the 503 for requests that meet the end of the server; it closes the connection.
    private func shuttingDown(_ task: any RequestTask) -> Response {
        let problem = Problem(.shuttingDown, "the server is shutting down")
        var response = finished(Response(problem, for: task), task)
        response.closesConnection = true
        return response
    }

    /// Suspends the connection and has a worker make the response. The work is stopped when the client is found to have left.
    private func hand(_ work: @escaping @Sendable () -> Response, to workers: WorkerPool, _ task: any RequestTask) -> Bool {
        stage = .answering
        guard unsafe server.suspensions.suspend(connection, for: self) else { return send(shuttingDown(task)) }
        holdAnswer(of: task)
        watchClient(of: task)
        workers.submit(for: task, to: self) { [self] in complete(work()) }
        return true
    }

    /// Lets the work detect whether the client has left. The connection is suspended until the response exists, so its socket is
    /// open.
    private func watchClient(of task: any RequestTask) {
        task.request.budget.isStillWanted = { [record, arrival] in
            !record.hasLeft(requestSeconds: Instant.now().seconds(since: arrival))
        }
    }

    /// Charges the growing output of the work to the memory for unsent responses. Otherwise many long responses could exist at
    /// the same time before one of them is refused.
    private func holdAnswer(of task: any RequestTask) {
        let holding = ByteHolding(server.unsentBytes, task.account)
        answerHolding = holding
        task.request.budget.takesRoom = { [ledger = server.unsentBytes] byteCount in holding.grow(by: byteCount).map(ledger.stop)
        }
    }

    /// Sends the response that the connection was suspended for; false when there is none, which closes the connection.
    private func sendOutcome() -> Bool {
        record.resumptions.resumeWaiting()
        let response = outcome.withLock { outcome -> Response? in
            if case .done(let response) = outcome { return response }
            return nil
        }
        guard let response else { return false }
        return send(response)
    }

    /// Gives a finished response to the daemon, and releases the resources of the request. It is called once per exchange.
    private func send(_ response: consuming Response) -> Bool {
        guard let task else { return false }
        stage = .sent
        record.setReading(false)
        _ = record.enter(.busy)
        let holding = chargeMemory(&response, task)
        status = response.status
        // The body is no longer needed, or belongs to other work.
        task.request.body.forget()
        task.request.body.holding = nil
        let transmission = Transmission(response, to: task, server: server, record, holding: holding)
        // The library accepts chunk sizes and trailers that a proxy may interpret differently. So data after such a body on the
        // connection is never read as a request.
        if record.excess != nil || task.request[.transferEncoding] != nil { transmission.closeAfterwards() }
        self.transmission = transmission
        return unsafe transmission.queue(on: connection)
    }

    /// The number of bytes up to which a response is sent without being charged to the memory for unsent responses.
    private static let smallAnswer = 64 << 10

    /// Charges a long response to the memory for unsent responses, and replaces it by a problem when memory is short. A response
    /// that reports a write is sent without its document then.
    ///
    /// Responses that are cached are not charged: their memory is counted by the cache.
    ///
    /// - Returns: The memory that the response holds until it is sent; nil when it is not charged.
    private func chargeMemory(_ response: inout Response, _ task: any RequestTask) -> ByteHolding? {
        if case .stream = response.body { return answerHolding }
        guard case .bytes(let buffer) = response.body, buffer.count > Exchange.smallAnswer, response.packed == nil else {
            _ = answerHolding?.adjust(to: 0)
            return nil
        }
        let holding = answerHolding ?? ByteHolding(server.unsentBytes, task.account)
        guard let excess = holding.adjust(to: buffer.count) else { return holding }
        _ = holding.adjust(to: 0)
        guard !response.standsWithoutBody else {
            response.removeDocument()
            return nil
        }
        let problem = Problem(server.unsentBytes.stop(excess))
        response = finished(Response(problem, for: task), task)
        return nil
    }

    /// Ends the exchange: the response was sent, or the connection is gone. It runs on the daemon's thread of the connection.
    ///
    /// - Parameter isComplete: Whether the response was sent completely.
    func end(isComplete: Bool) {
        record.resumptions.resumeWaiting()
        endWatch()
        server.inFlight.subtract(1, ordering: .relaxed)
        record.becameIdle()
        guard let task else { return }
        task.request.budget.cancel()
        task.end(
            status: finalStatus(isComplete: isComplete), bytesSent: transmission?.bytesSent ?? 0,
            bytesReceived: bytesReceived, isComplete: isComplete)
    }
}

extension Exchange {
    /// Returns the status for the log and the metrics: 499 when the client left before it had the response.
    fileprivate func finalStatus(isComplete: Bool) -> Int {
        if record.statusOfFinalResponse != 0 { return record.statusOfFinalResponse }
        return status == 0 || !isComplete ? 499 : status
    }
}

extension Exchange: ResponsePromise, Suspended {
    /// Finishes the response on the calling thread, and resumes the connection, whose thread sends
    /// it. Only the first call has an effect.
    ///
    /// - Parameter response: The response, not yet finished by the handler.
    func complete(_ response: Response) {
        HeldLocks.assertNone()
        guard let task else { return }
        let response = finished(response, task)
        let isFirst = outcome.withLock { outcome -> Bool in
            guard case .pending = outcome else { return false }
            outcome = .done(response)
            return true
        }
        guard isFirst else { return }
        // The watch ends while the connection is still suspended, because its socket may be closed
        // afterwards.
        endWatch()
        unsafe server.suspensions.resume(connection, for: self, through: record.resumptions)
    }

    /// Calls an action if the client closes its side while the connection is suspended. Only the first action is registered, and
    /// none after the response.
    ///
    /// - Parameter action: Called at most once, on the thread of the `StreamWatch`.
    func onDisconnect(_ action: @escaping @Sendable () -> Void) {
        // This happens under the lock, so that no task is watched after its response.
        waiter.withLock { waiter in
            guard case .none = waiter else { return }
            waiter = .watched(server.streams.addWaiter(record.descriptor, action))
        }
    }

    /// Ends the watch over the client for good.
    private func endWatch() {
        waiter.withLock { waiter in
            if case .watched(let number) = waiter { server.streams.removeWaiter(number) }
            waiter = .over
        }
    }

    /// Answers 503 because the server stops while the connection is suspended.
    func abandon() {
        guard let task else { return }
        complete(shuttingDown(task))
    }
}

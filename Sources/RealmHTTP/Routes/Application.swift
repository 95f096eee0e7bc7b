// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmStorage
internal import Synchronization

/// The interface over HTTP: checks what is common to all requests, finds the endpoint, dresses the answer.
package final class Application: Sendable {
    package struct Configuration: Sendable {
        package var limits = Limits()
        package var hosts: HostPolicy
        /// Every realm is served for reading only.
        package var isReadOnly = false
        /// Whether files are looked through before they are written to.
        package var verification = FileStore.Verification.auto
        package var origins = OriginPolicy()
        package var access = AccessPolicy()
        /// Whether answers tell where their time went.
        package var showsTiming = false
        /// Where new realms are made.
        package var dataFolder: String?
        /// The same, as a place: files in it are the server's own.
        package var dataRoot: AttachRoots?
        /// Where paths in requests may lead; nil for nowhere.
        package var attachRoots: AttachRoots?
        /// How many copies are kept that were made before migrations.
        package var keptCopyCount = 1
        /// How many realms there may be.
        package var realmLimit = 2000
        /// Whether clients may hold transactions over several requests.
        package var allowsTransactions = true
        /// Classes, as `realm.Class`, whose objects are only written under a condition.
        package var conditionalClasses: Set<String> = []

        package init(hosts: HostPolicy) { self.hosts = hosts }
    }

    package let configuration: Configuration
    package let catalog: Catalog
    package let metrics = MetricsRegistry()
    let requestMetrics = RequestMetrics()
    let refusals = RefusalMetrics()
    let answers: AnswerCache
    package let leases = LeaseRegistry()
    let idempotency = IdempotencyStore()
    /// Memory that bodies of requests take.
    let waitingBytes: ByteLedger
    private let memory: MemoryReturn
    /// Versions that clients hold for later reads.
    let pinned: PinnedVersions
    let alarm: Alarm
    let notifications: ChangeService
    /// Closes realms whose file changes underneath, and opens them again.
    let caretaker: RealmCaretaker
    /// Threads for what takes longer; those of the daemon that serves this application.
    let workers = RankedMutex<WorkerPool?>(.leaf, nil)
    /// Realms that requests have asked for and that are being opened, by name.
    let openings = RankedMutex<[String: Attaching]>(.leaf, [:])
    /// What realms were attached with, by name, as JSON without keys.
    let attachedOptions = RankedMutex<[String: String]>(.leaf, [:])
    let logLevel: AccessLog.LevelSwitch
    private let rates: RateLimiter?
    private let accessLog: AccessLog?
    private let isStopping = Atomic<Bool>(false)

    package init(catalog: Catalog, configuration: Configuration, accessLog: AccessLog?) {
        self.catalog = catalog
        self.configuration = configuration
        self.accessLog = accessLog
        logLevel = accessLog?.level ?? AccessLog.LevelSwitch()
        rates = RateLimiter(rate: configuration.limits.rate)
        answers = AnswerCache(byteLimit: configuration.limits.answerCacheBytes)
        alarm = Alarm()
        waitingBytes = ByteLedger(
            limit: configuration.limits.waitingBytes, limitOfPrincipal: configuration.limits.waitingBytesPerPrincipal)
        memory = MemoryReturn(alarm)
        pinned = PinnedVersions(configuration.limits, leases, alarm)
        metrics.addSnapshots(pinned)
        notifications = ChangeService(configuration.limits, alarm)
        caretaker = RealmCaretaker(catalog, pinned, notifications, accessLog)
        metrics.add { [answers] text in
            let figures = answers.figures
            text.single(
                "known_answers_total", .counter, "Answers that were sent again for the same version.", Double(figures.hits))
            text.single("known_answers", .gauge, "Answers that are kept.", Double(figures.entries))
            text.single("known_answer_bytes", .gauge, "Memory for answers that are kept.", Double(figures.bytes))
        }
        metrics.add { [waitingBytes] text in
            let figures = waitingBytes.figures
            text.single(
                "waiting_bytes", .gauge, "Memory for bodies of requests that are received, parsed or waiting.",
                Double(figures.bytes))
            text.single(
                "waiting_bytes_refused_total", .counter, "Requests refused because bodies took too much memory.",
                Double(figures.refusals))
        }
        metrics.add { [requestMetrics] text in requestMetrics.write(to: &text) }
        metrics.add { [refusals] text in refusals.write(to: &text) }
        metrics.add { [notifications] text in notifications.write(to: &text) }
        metrics.add { [caretaker] text in caretaker.write(to: &text) }
        if let accessLog {
            metrics.add { text in
                text.single(
                    "log_lines_dropped_total", .counter, "Log lines lost because nobody read them in time.",
                    Double(accessLog.droppedLines))
            }
        }
    }

    package var limits: Limits { configuration.limits }

    /// From now on the server says that it is not ready.
    package func beginStopping() { isStopping.store(true, ordering: .relaxed) }

    var isReady: Bool { !isStopping.load(ordering: .relaxed) && catalog.unready.isEmpty }
    var isEnding: Bool { isStopping.load(ordering: .relaxed) }
}

extension Application: RequestHandler {
    package func admit(_ request: Request) -> Admission {
        do throws(Problem) {
            try checkBeforeRouting(request)
            let match = request.match
            request.route = match.template
            try checkRate(request)
            try checkRoute(match, request)
            if request.headers.announcesBody { request.holding = ByteHolding(waitingBytes, request.client) }
            return .accept(
                bodyLimit: bodyLimit(of: request), spoolFolders: request.route == .import ? spoolFolders : [])
        } catch {
            refusals.count(error.code)
            var response = finish(self.response(to: error, for: request), for: request)
            // The rest of a request that is too long to be taken in is not worth reading either.
            if [413, 414, 431].contains(error.status) { response.closesConnection = true }
            return .refuse(response)
        }
    }

    private func checkBeforeRouting(_ request: Request) throws(Problem) {
        // First of all, and without a look at what the request is about: nobody shall learn from this what there is.
        try configuration.hosts.check(request)
        try configuration.origins.check(request)
        if let repeated = request.headers.repeated {
            throw .invalidHeader(repeated.name.description, "the header field is given more than once")
        }
        guard request.headers.byteCount <= limits.headerBytes else {
            throw .overLimit(.headersTooLarge, "the header section is too large", limit: limits.headerBytes)
        }
        guard request.headers.fieldCount <= limits.headerFields else {
            throw .overLimit(.headersTooLarge, "the header section has too many fields", limit: limits.headerFields)
        }
        guard request.target.bytes.count <= limits.targetBytes else {
            let detail = "the request target is too long; send long queries with the QUERY method or POST to /query"
            throw .overLimit(.uriTooLong, detail, limit: limits.targetBytes)
        }
        guard request.method != nil else {
            throw Problem(.notImplemented, "this server does not know the method of this request")
        }
    }

    /// Every client has a rate of its own; who watches over the server's health or administers it is not held up by it.
    private func checkRate(_ request: Request) throws(Problem) {
        guard let rates, request.entrance == .main, request.route != .healthz, request.route != .readyz,
            let seconds = rates.secondsToWait(request.client, request.arrival)
        else { return }
        var problem = Problem.overLimit(.rateLimited, "too many requests from this address", limit: rates.rate)
        problem.retryAfterSeconds = max(1, Int(seconds.rounded(.up)))
        throw problem
    }

    private func checkRoute(_ match: RouteMatch, _ request: Request) throws(Problem) {
        try configuration.access.check(request)
        guard match.template.isServed else { throw Problem(.notFound, "there is nothing at this path") }
        request.realm = checked(try realmState(match), request)
        try checkMethod(match, request)
    }

    /// The state of the realm that the path names; nil for paths outside realms.
    private func realmState(_ match: RouteMatch) throws(Problem) -> Catalog.State? {
        guard match.target.segments.count > 2, match.target.segment(0, is: "v1") else { return nil }
        guard let name = match.realmName, let state = catalog[name] else {
            throw Problem(.realmNotFound, "there is no realm of this name")
        }
        return state
    }

    private func checkMethod(_ match: RouteMatch, _ request: Request) throws(Problem) {
        guard let method = request.method, method != .options else { return }
        guard !allowed(match.template, request.realm).contains(method) else { return }
        let allowed = self.allowed(match.template, request.realm, for: request)
        let code: ProblemCode = match.template.writeMethods.contains(method) ? .readOnly : .methodNotAllowed
        let detail =
            code == .readOnly
            ? Application.readOnlyDetail(request.realm) : "the method \(method.rawValue) is not available here"
        throw Problem(code, detail).with(header: HeaderField("Allow", text: allowed.allow))
    }

    /// What this client may do at a path, `OPTIONS` included.
    private func allowed(_ template: RouteTemplate, _ realm: Catalog.State?, for request: Request) -> MethodSet {
        let granted = configuration.access.grant(request)
        let served = HTTPMethod.allCases.filter { template.access(of: $0) <= granted }
        return allowed(template, realm).intersection(MethodSet(served))
    }

    /// What may be done at a path by those who may do everything.
    private func allowed(_ template: RouteTemplate, _ realm: Catalog.State?) -> MethodSet {
        let reads = template.readMethods.union(.options)
        guard !configuration.isReadOnly else { return reads }
        // What cannot be opened is told so, whatever the method; a realm that is only read can be let go of.
        if case .ready(let database)? = realm, !database.isWritable, template != .realm { return reads }
        return reads.union(template.writeMethods)
    }

    private func bodyLimit(of request: Request) -> Int {
        request.route == .import ? limits.importBytes : limits.bodyBytes
    }

    /// Where long bodies are kept until they are read.
    var spoolFolders: [String] { [configuration.dataFolder, System.temporaryFolder].compactMap { $0 } }

    /// Bodies above this are read by a worker, not by the daemon's thread.
    private static let longBody = 32 << 10

    package func reply(to request: Request) -> Reply {
        let hasLongBody = request.bodyFile != nil || request.body.count > Application.longBody
        guard hasLongBody || (isPacked(request) && !request.body.isEmpty) else { return readReply(to: request) }
        return .later { [self] promise in
            let isQueued = workers.withLock { $0 }?.submit(for: request.client) { self.readReply(to: request).resolve(promise) }
            guard isQueued != true else { return }
            promise.complete(response(to: .noWorker, for: request))
        }
    }

    /// Reads a request that is complete, and answers it or tells who will.
    private func readReply(to request: Request) -> Reply {
        do throws(Problem) {
            try inflateBody(of: request)
            if request.method == .options { return .now(options(request)) }
            if configuration.showsTiming { request.timing = ServerTiming() }
            request.deadline = request.arrival.adding(seconds: Double(limits.readSeconds))
            request.budget.byteLimit = limits.answerBytes
            request.budget.objectLimit = limits.expandedObjects
            return try dispatch(Call(request: request, application: self))
        } catch {
            return .now(response(to: error, for: request))
        }
    }

    func isPacked(_ request: Request) -> Bool {
        request.headers[.contentEncoding].map { $0 != "identity" } ?? false
    }

    private func inflateBody(of request: Request) throws(Problem) {
        guard isPacked(request) else { return }
        guard request.headers[.contentEncoding]?.lowercased() == "gzip" else {
            throw Problem(.unsupportedMediaType, "the only content coding of requests is gzip")
                .with(header: HeaderField("Accept-Encoding", "gzip"))
        }
        // A body in a file is unpacked by whoever reads it; a short one may become as long as any.
        if request.route == .import, request.bodyFile == nil { try spool(request) }
        guard request.bodyFile == nil else { return }
        do throws(Gzip.Failure) {
            let plain = try Gzip.inflate(request.body, limit: bodyLimit(of: request))
            request.holding?.shrink(by: request.body.count)
            request.body = plain
        } catch .tooLarge {
            throw .overLimit(
                .bodyTooLarge, "the body is larger than \(bodyLimit(of: request)) bytes", limit: bodyLimit(of: request))
        } catch {
            throw Problem(.invalidBody, "the body is no gzip stream")
        }
        try request.holding?.require(request.body.count)
    }

    private func spool(_ request: Request) throws(Problem) {
        do throws(StorageError) {
            let file = try BodyFile.make(inOneOf: spoolFolders, try request.spool?.open(for: request.client))
            try file.append(request.body)
            request.bodyFile = file
            request.forgetBody()
        } catch {
            throw Problem(spooling: error)
        }
    }

    private func options(_ request: Request) -> Response {
        var response = Response(status: 204)
        let available = HTTPMethod.allCases.filter { $0 != .trace && $0 != .connect }
        let allowed = request.route == .asterisk ? MethodSet(available) : self.allowed(request.route, request.realm, for: request)
        response.add("Allow", allowed.allow)
        if allowed.contains(.query) { response.add("Accept-Query", constant: "application/json, application/ejson") }
        if allowed.contains(.patch) { response.add("Accept-Patch", constant: request.route.patchTypes) }
        if case .ready(let database)? = request.realm {
            response.add("Realm-Version", database.current.tokenText)
        }
        configuration.origins.addPreflight(to: &response, request, allowed)
        return response
    }

    package func response(to problem: Problem, for request: Request) -> Response {
        var writer = JSONWriter()
        problem.write(to: &writer, requestID: request.id)
        var response = Response(
            status: problem.status, type: "application/problem+json", writer.buffer, headers: problem.headers)
        response.add("Cache-Control", constant: "no-store")
        if problem.code.hasRetryAfter {
            // A second more for some, so that clients refused together do not come back together.
            response.add("Retry-After", String(problem.retryAfterSeconds + Int.random(in: 0...1)))
        }
        return response
    }

    package func finish(_ response: consuming Response, for request: Request) -> Response {
        replaceUnsound(&response, request)
        compress(&response, for: request)
        response.removeAddresses(longerThan: limits.targetBytes)
        response.add("X-Request-Id", request.id.text)
        if let timing = request.timing { response.add("Server-Timing", timing.text) }
        configuration.origins.addRules(to: &response, request)
        return response
    }

    package func finishesQuickly(_ response: Response, for request: Request) -> Bool {
        guard case .bytes(let buffer) = response.body, buffer.count > Application.quicklyPacked, Application.takesGzip(request),
            response.status != 304, response.isCompressible
        else { return true }
        return response.packed?.isKnown ?? false
    }

    /// Longer answers are packed by a worker.
    private static let quicklyPacked = 32 << 10

    package func didEnd(_ request: Request, status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool) {
        let seconds = Instant.now().seconds(since: request.arrival)
        requestMetrics.count(
            route: request.route, status: status, seconds: seconds, bytesReceived: bytesReceived, bytesSent: bytesSent)
        if let workers = workers.withLock({ $0 }) {
            memory.note(bytesReceived: bytesReceived, bytesSent: bytesSent, seconds: seconds, workers)
        }
        accessLog?.write(
            AccessLog.Entry(
                id: request.id.text, method: request.methodName, route: request.route.template, status: status,
                bytes: bytesSent, seconds: seconds, principal: nil, version: request.version,
                traceparent: request.headers[.traceparent], query: request.query))
    }
}

extension Application {
    /// Answers above 1 KiB are packed for clients that take gzip.
    private func compress(_ response: inout Response, for request: Request) {
        guard response.status != 304, Application.takesGzip(request), response.isCompressible else { return }
        switch response.body {
        case .none, .events: return
        case .bytes(let buffer):
            guard buffer.count > 1024, let packed = response.packed.map({ $0.packed(buffer) }) ?? Gzip.deflate(buffer) else {
                return
            }
            response.body = .bytes(packed)
        case .stream(let producer):
            guard let packed = GzipProducer(producer) else { return }
            response.body = .stream(packed)
        }
        response.add("Content-Encoding", constant: "gzip")
        response.tagAsPacked()
    }

    static func takesGzip(_ request: Request) -> Bool {
        guard let accepted = request.headers[.acceptEncoding] else { return false }
        for part in accepted.split(separator: ",") {
            let pieces = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let coding = pieces.first, coding == "gzip" || coding == "x-gzip" else { continue }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            return weight > 0
        }
        return false
    }
}

extension Response {
    /// A packed representation has a tag of its own: that of the plain one with `z` behind it.
    fileprivate mutating func tagAsPacked() {
        headers = headers.map { field in
            guard field.name.description == "ETag" else { return field }
            return HeaderField("ETag", text: EntityTag.packed(field.text))
        }
    }

    /// Text of some kind; raw data may be anything.
    fileprivate var isCompressible: Bool {
        guard let type = header("Content-Type") else { return false }
        return !type.hasPrefix("application/octet-stream") && !type.hasPrefix("text/event-stream")
    }
}

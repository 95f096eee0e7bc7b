// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

extension Application {
    /// Answers a call: from what is known, or by its endpoint.
    func dispatch(_ call: Call) throws(Problem) -> Reply {
        if call.isWrite { return try writeReply(call) }
        if case .ready(let database)? = call.request.realm, let other = try otherVersion(call, database) { return other }
        guard call.match.template.isRepeatable, case .ready(let database)? = call.request.realm else {
            return try briefReply(to: call)
        }
        let version = database.current.tokenText
        if let known = answers.answer(to: call.request, version: version) {
            call.request.version = version
            return .now(known)
        }
        switch try briefReply(to: call) {
        case .now(let response):
            answers.note(response, to: call.request)
            return .now(response)
        case .work(let work):
            return .work { [answers] in
                let response = work()
                answers.note(response, to: call.request)
                return response
            }
        case .attend(let work): return .attend(work)
        case .later(let begin): return .later(begin)
        }
    }

    // MARK: - On the daemon's thread, but not for long

    /// What a read may take of the daemon's thread, in seconds; less for clients that have work at the workers already.
    private static let briefSeconds = 0.002
    private static let briefSecondsOfBusyClients = 0.0003
    /// The longest answer that is made there.
    private static let briefBytes = 256 << 10

    /// The answer of the endpoint of a call that reads, begun here and now: most are done in well under a millisecond.
    ///
    /// One that is not done by then, or makes a long answer, is given up and begun anew by a worker. Reads change nothing,
    /// so nobody notices.
    private func briefReply(to call: Call) throws(Problem) -> Reply {
        guard call.match.template.readsContents, let workers = workers.withLock({ $0 }) else { return try reply(of: call) }
        let budget = call.request.budget
        let seconds = workers.isBusy(for: call.request.client) ? Application.briefSecondsOfBusyClients : Application.briefSeconds
        budget.handOverAt = Instant.now().adding(seconds: seconds)
        budget.byteLimit = min(limits.answerBytes, Application.briefBytes)
        let result = Result { () throws(Problem) in try reply(of: call) }
        let stop = budget.stop
        budget.beginAnew()
        budget.byteLimit = limits.answerBytes
        guard isTooLong(stop) else { return try result.get() }
        return .work { [self] in
            do throws(Problem) {
                try call.request.checkDeadline()
                return try answerOfWorker(call)
            } catch {
                return response(to: error, for: call.request)
            }
        }
    }

    private func isTooLong(_ stop: WorkStop?) -> Bool {
        switch stop {
        case .handOver: return true
        case .tooManyBytes(let limit): return limit < limits.answerBytes
        default: return false
        }
    }

    private func answerOfWorker(_ call: Call) throws(Problem) -> Response {
        switch try reply(of: call) {
        case .now(let response): return response
        case .work(let work), .attend(let work): return work()
        case .later: throw Problem(.internalError, "the read has no answer of a worker")
        }
    }

    /// Has an endpoint work out its answer on a worker.
    private func onWorker(_ call: Call, _ endpoint: @escaping @Sendable () throws(Problem) -> Reply) -> Reply {
        .later { [self] promise in
            let isQueued = workers.withLock { $0 }?.submit(for: call.request.client) {
                do throws(Problem) {
                    try endpoint().resolve(promise)
                } catch {
                    promise.complete(self.response(to: error, for: call.request))
                }
            }
            if isQueued != true { promise.complete(response(to: .noWorker, for: call.request)) }
        }
    }

    /// A read that asks for another state than the newest version as it is now.
    private func otherVersion(_ call: Call, _ database: Database) throws(Problem) -> Reply? {
        if let id = call.request.headers[.realmTransaction], call.match.template.readsContents {
            return readInTransaction(call, id, database)
        }
        guard let text = call.request.headers[.realmMinVersion], database.isWritable, let wanted = VersionToken(text),
            wanted.epoch == database.epoch.text, wanted.version > database.current.token.version
        else { return nil }
        return readWhenReached(wanted.version, call, database)
    }

    /// Finds the endpoint of a call that reads.
    func reply(of call: Call) throws(Problem) -> Reply {
        switch call.match.template {
        case .healthz: return .now(try health(call))
        case .readyz: return .now(try readiness(call))
        case .metrics:
            try QueryParameters(call.request.target).requireKnown([])
            return .attend { [self] in metricsText() }
        case .adminLeases: return .now(try leases(call))
        case .adminLease: return .now(try endLease(call))
        case .adminConfig: return .now(try adminConfiguration(call))
        case .realms: return try reply(isShort: catalog.count <= 20, call) { () throws(Problem) in try self.realms(call) }
        case .realm: return .now(try realm(call))
        case .schema, .schemaClass: return try described(call) { call throws(Problem) in try self.schema(call) }
        case .openAPI: return try reply(isShort: false, call) { () throws(Problem) in try self.openAPI(call) }
        case .realmOpenAPI: return try described(call) { call throws(Problem) in try self.realmOpenAPI(call) }
        case .object: return .now(try object(call))
        case .property: return .now(try property(call))
        case .links: return .now(try links(call))
        case .objects, .query: return try list(call)
        case .aggregate: return try aggregate(call)
        case .export: return try exportReply(call)
        case .snapshots: return .now(try snapshots(call))
        case .snapshot: return .now(try snapshot(call))
        case .transaction: return try transaction(call)
        case .write: return .now(try asyncWrite(call))
        case .changes:
            // Reading and binding long queries takes its time.
            guard call.request.target.bytes.count + call.request.body.count > 1024 else { return try changes(call) }
            return onWorker(call) { () throws(Problem) in try self.changes(call) }
        case .subscriptions: return onWorker(call) { () throws(Problem) in try self.registerSubscriptions(call) }
        case .subscription: return .now(try subscription(call))
        default: throw Problem(.notFound, "there is nothing at this path")
        }
    }
}

extension RouteTemplate {
    /// Whether a read shows what is in a realm.
    fileprivate var readsContents: Bool {
        switch self {
        case .schema, .schemaClass, .realmOpenAPI, .object, .objects, .property, .links, .query, .aggregate, .export:
            return true
        default: return false
        }
    }

    /// Whether an answer depends on nothing but the request and the version it was made from.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .object, .objects, .property, .links, .aggregate: return true
        default: return false
        }
    }
}

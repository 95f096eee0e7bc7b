// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// A write that was read, and checked as far as that is possible without the data.
///
/// It runs on the writer's thread, and its answer is given from there when its changes are durable. No thread of the
/// daemon waits.
struct PreparedWrite: Sendable {
    let call: WriteCall
    let database: Database
    let options: WriteOptions
    /// Whether a failed condition tells the object of the path.
    var isAboutObject = false
    /// Whether it shares its commit with no other.
    var isAlone = false
    /// How long it may take; nil for the limit of the server.
    var seconds: Double?
    let work: @Sendable (WriteContext) throws(Problem) -> WriteDraft

    init(
        call: WriteCall, database: Database, options: WriteOptions, isAboutObject: Bool = false, isAlone: Bool = false,
        work: @escaping @Sendable (WriteContext) throws(Problem) -> WriteDraft
    ) {
        self.call = call
        self.database = database
        self.options = options
        self.isAboutObject = isAboutObject
        self.isAlone = isAlone
        self.work = work
    }

    private var request: Request { call.request }

    func reply() throws(Problem) -> Reply {
        if let transaction = options.transaction { return .later { promise in self.run(in: transaction, promise) } }
        try checkEpoch()
        if options.preferences.isAsynchronous, !options.isDryRun { return .now(runAsynchronously()) }
        return .later { promise in self.run(promise) }
    }

    /// A version of another epoch can never be the newest.
    private func checkEpoch() throws(Problem) {
        guard let wanted = options.condition.version, wanted.epoch != database.epoch.text else { return }
        throw stale(in: database.current)
    }

    /// `precondition_failed` for a version that is not the newest, with the object as it is now.
    private func stale(in version: Version) -> Problem {
        let problem = Problem(.preconditionFailed, "the realm has another version than the request was made for")
        guard isAboutObject else { return problem }
        return problem.with("current", .json((try? ObjectLookup(call, version, options).document()) ?? Array("null".utf8)))
    }

    private var deadline: RealmStorage.Instant { .now().adding(seconds: seconds ?? Double(call.limits.writeSeconds)) }

    private var writeRequest: WriteRequest {
        var request = WriteRequest(
            deadline: deadline, ifVersion: options.condition.version?.version,
            isDryRun: options.isDryRun, isAlone: isAlone || options.skipped != nil)
        request.mark = options.skipped?.commitMark
        return request
    }

    private func problem(_ error: WriteError) -> Problem {
        // The queue compares versions, and knows no objects.
        error.code == .preconditionFailed ? stale(in: database.current) : Problem(error).allowing(call)
    }

    // MARK: - By itself

    private func run(_ promise: any ResponsePromise) {
        database.write(
            writeRequest,
            { session in
                try self.work(WriteContext(session, self, base: nil))
            }, completion: { result in self.hand(self.response(result), to: promise) })
    }

    /// Gives an answer from the writer's thread. Packing a long one would hold the next write up, so a worker does it.
    private func hand(_ response: Response, to promise: any ResponsePromise) {
        guard case .bytes(let buffer) = response.body, buffer.count > 1024, request.takesGzip,
            call.services.workers.submitContinuation(for: request.client, { promise.complete(response) })
        else { return promise.complete(response) }
    }

    private func response(_ result: Result<WriteReceipt<WriteDraft>, WriteError>) -> Response {
        switch result {
        case .success(let receipt):
            let outcome = WriteDraft.Outcome(version: receipt.version.tokenText, isCommitted: receipt.isCommitted)
            request.version = outcome.version
            return receipt.value.response(outcome, options)
        case .failure(let error): return Response(problem(error), for: request)
        }
    }

    // MARK: - In a transaction

    private func run(in id: String, _ promise: any ResponsePromise) {
        let base = database.transaction(id, owner: Principal.none)?.version ?? database.current.token
        database.perform(
            in: id, owner: Principal.none, options.isDryRun ? .dryRun : .write,
            deadline: deadline,
            { session in
                let context = WriteContext(session, self, base: base)
                if !self.options.condition.concernsObject { try context.check(self.options.condition, nil) }
                return try self.work(context)
            },
            completion: { (result: Result<WriteDraft, WriteError>) in
                switch result {
                case .success(let draft):
                    self.request.version = base.text
                    self.hand(draft.response(.init(version: base.text, isCommitted: false), self.options), to: promise)
                case .failure(let error): promise.complete(Response(Problem(error).allowing(self.call), for: self.request))
                }
            })
    }

    // MARK: - Answered before it is done

    private func runAsynchronously() -> Response {
        // The write keeps what it was made from until it is done, long after its request was answered.
        let holding = request.holding
        let id = database.writeAsynchronously(
            owner: Principal.none, writeRequest,
            { session in try self.work(WriteContext(session, self, base: nil)) },
            completion: { result in withExtendedLifetime(holding) { self.fate(result) } })
        var response = Response(status: 202, type: "application/json", AsyncWriteDocument.text(id, .queued))
        if let state = database.asyncWrites.state(id, owner: Principal.none) {
            response = Response(status: 202, type: "application/json", AsyncWriteDocument.text(id, state))
        }
        response.addLocation(ObjectAddress.write(database.name.text, id))
        let version = database.current.tokenText
        request.version = version
        response.add("Realm-Version", version)
        response.add("Cache-Control", constant: "no-store")
        if let applied = options.preferenceApplied { response.add("Preference-Applied", applied) }
        return response
    }

    /// What is remembered of a write that nobody waits for.
    private func fate(_ result: Result<WriteReceipt<WriteDraft>, WriteError>) -> [UInt8] {
        switch result {
        case .success(let receipt):
            let outcome = WriteDraft.Outcome(version: receipt.version.tokenText, isCommitted: receipt.isCommitted)
            return AsyncWriteDocument.committed(
                version: outcome.version, status: receipt.value.status, body: receipt.value.body(outcome))
        case .failure(let error): return AsyncWriteDocument.failed(problem(error), requestID: request.id)
        }
    }
}

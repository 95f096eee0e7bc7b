// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A parsed write, checked as far as possible without the transaction.
///
/// An endpoint makes it on the daemon's thread or on a worker, and returns `reply()`. The closure `work` then runs on the
/// writer's thread, and the response is completed from there when the changes are durable. No thread of the daemon waits in the
/// meantime; the connection is suspended.
package struct PreparedWrite: Sendable {
    /// The request that asks for the write, with its route and realm.
    package let call: Call
    /// The open realm that the write is for.
    package let database: Database
    /// The demands of the request in addition to its changes: conditions, dry run, representation, transaction.
    package let options: WriteOptions
    /// Whether the path names one object, which the problem of a failed version condition then shows as `current`.
    package var isAboutObject = false
    /// Whether the write shares its commit, and so its version, with no other. Migrations do.
    package var isAlone = false
    /// The time limit in seconds, including the wait for its turn; nil for the limit `write-seconds`.
    package var seconds: Double?
    /// Makes the changes and returns the response, which lacks only the version.
    ///
    /// It runs on the writer's thread, inside the transaction. An error becomes the response, and rolls its changes back.
    package let work: WriteDraft.Maker

    /// Creates a write that is ready to be handed to the writer.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - database: The realm that is written to.
    ///   - options: The demands of the request in addition to its changes.
    ///   - isAboutObject: Whether the path names one object.
    ///   - isAlone: Whether the write shares its commit with no other.
    ///   - work: Makes the changes; see the property.
    package init(
        call: Call, database: Database, options: WriteOptions, isAboutObject: Bool = false, isAlone: Bool = false,
        work: @escaping WriteDraft.Maker
    ) {
        self.call = call
        self.database = database
        self.options = options
        self.isAboutObject = isAboutObject
        self.isAlone = isAlone
        self.work = work
    }

    /// The request that asks for the write, as received.

    /// Whether the request is answered before the write is done.
    package var isAsynchronous: Bool { options.preferences.isAsynchronous && !options.isDryRun }

    /// Returns how the request is answered: by the writer later on, or at once for `Prefer: respond-async`.
    ///
    /// - Throws: `precondition_failed` when the demanded version has another epoch than the open
    ///   file. Such a version can never be the newest, so the write need not wait for its turn.
    package func reply() throws(Problem) -> Reply {
        if options.isDryRun { call.audit?.noteDryRun() }
        if let transaction = options.transaction {
            guard isAsynchronous else { return .later { promise in self.run(in: transaction, promise) } }
            return .now(try runAsynchronously(behind: transaction))
        }
        try checkEpoch()
        if isAsynchronous { return .now(runAsynchronously()) }
        return .later { promise in self.run(promise) }
    }

    /// Throws `precondition_failed` when `If-Match` names a version of another epoch.
    private func checkEpoch() throws(Problem) {
        guard let wanted = options.condition.version, wanted.epoch != database.epoch.text else { return }
        throw stale(in: database.current)
    }

    /// Makes the problem of a write whose demanded version is not the newest.
    ///
    /// For a write about one object it has the member `current`: the object in the given version, or null.
    private func stale(in version: Version) -> Problem {
        let problem = WriteCondition.stale
        guard isAboutObject else { return problem }
        return problem.with(
            "current",
            .json((try? ObjectLookup(call, version.shown(by: call.scope), options).document()) ?? Array("null".utf8)))
    }

    /// The time at which the writer aborts and rolls back, counted from now.
    private var deadline: RealmPlatform.Instant { .now().adding(seconds: seconds ?? Double(call.limits.writeSeconds)) }

    /// The deadline and the conditions of the write, in the form that the engine's queue takes.
    private var writeRequest: WriteRequest {
        var write = WriteRequest(
            deadline: deadline, ifVersion: options.condition.version?.version,
            isDryRun: options.isDryRun, isAlone: isAlone || seconds != nil || options.commitMark != nil)
        write.client = call.account
        write.refusal = { [standing = call.standing] in standing.problem }
        write.mark = options.commitMark
        write.source = options.isDryRun ? nil : call.source
        return write
    }

    /// Returns the problem of an error. A failed version condition gets the current object, which the queue does not know.
    private func problem(_ error: WriteError) -> Problem {
        // The queue compares versions only, so the object is added here.
        error.code == .preconditionFailed ? stale(in: database.current) : Problem(error).allowing(call)
    }

    /// Makes the changes, and checks their result.
    private func perform(_ context: WriteContext) throws(Problem) -> WriteDraft {
        // It may have waited.
        try call.standing.require()
        let draft = try work(context)
        try context.requireRoom(for: draft.byteCount)
        context.session.resultBytes = draft.byteCount
        try Problem.written(context.session.checkResults())
        // The work may have taken long, and rights may have changed in the meantime.
        try call.standing.require()
        return draft
    }

    // MARK: - Standalone

    /// Hands the write to the queue as a separate transaction, and completes the promise with its response.
    private func run(_ promise: any ResponsePromise) {
        database.write(
            writeRequest,
            { session in
                try self.perform(WriteContext(session, self, base: nil))
            },
            completion: { result in
                let response = self.response(result)
                call.endAudit(response, version: PreparedWrite.committed(result))
                self.hand(response, to: promise)
            })
    }

    /// Returns the version that a write has made; nil for none.
    private static func committed(_ result: Result<WriteReceipt<WriteDraft>, WriteError>) -> String? {
        guard case .success(let receipt) = result, receipt.isCommitted else { return nil }
        return receipt.version.tokenText
    }

    /// Completes the promise with a response that was made on the writer's thread.
    ///
    /// Compressing a response of more than 1 KiB would delay the next write, so a worker completes
    /// it then. When the pool of workers is closed, the writer's thread does it after all.
    private func hand(_ response: Response, to promise: any ResponsePromise) {
        guard case .bytes(let buffer) = response.body, buffer.count > 1024, call.request.coding != nil,
            call.services.workers.submitContinuation(for: call.account, { promise.complete(response) })
        else { return promise.complete(response) }
    }

    /// Returns the response to a finished write, and notes the version for the log line of the request.
    private func response(_ result: Result<WriteReceipt<WriteDraft>, WriteError>) -> Response {
        switch result {
        case .success(let receipt):
            let outcome = WriteDraft.Outcome(version: receipt.version.tokenText, isCommitted: receipt.isCommitted)
            call.versionToken = outcome.version
            return receipt.value.response(outcome, options)
        case .failure(let error): return Response(problem(error), for: call)
        }
    }

    // MARK: - In a transaction

    /// Runs the write inside an interactive transaction, and completes the promise with its response.
    ///
    /// The version in the response is the one from which the transaction began, because nothing is
    /// committed yet. A condition that demands a version is compared with that version.
    ///
    /// - Parameters:
    ///   - id: The id of the transaction, from the header field `Realm-Transaction`.
    private func run(in id: String, _ promise: any ResponsePromise) {
        let base = database.transaction(id, owner: call.ownerScope)?.version ?? database.current.token
        database.perform(
            in: id, owner: call.ownerScope, options.isDryRun ? .dryRun : .write,
            // A client that gets a new token after the last one has expired continues the transaction.
            deadline: deadline, isMalformed: { [Problem($0)].contains { $0.isMalformedRequest || $0.status == 401 } },
            { session in
                let context = WriteContext(session, self, base: base)
                if !self.options.condition.concernsObject { try context.check(self.options.condition, nil) }
                return try self.perform(context)
            },
            completion: { (result: Result<WriteDraft, WriteError>) in
                let response: Response
                switch result {
                case .success(let draft):
                    call.versionToken = base.text
                    response = draft.response(.init(version: base.text, isCommitted: false), self.options)
                case .failure(let error): response = Response(Problem(error).allowing(self.call), for: self.call)
                }
                call.endAudit(response, version: nil)
                self.hand(response, to: promise)
            })
    }

    // MARK: - Answered before it is done

    /// Queues the write behind the open interactive transaction that the request names, which stays as it is.
    ///
    /// - Throws: The problem of a transaction that is not open, or is not the sender's.
    private func runAsynchronously(behind transaction: String) throws(Problem) -> Response {
        if let refusal = database.refusal(ofTransaction: transaction, owner: call.ownerScope) { throw Problem(refusal) }
        try checkEpoch()
        let lease = database.transaction(transaction, owner: call.ownerScope)
            .map { max(0, Double($0.expires.nanoseconds - WallClock.now().nanoseconds) / 1e9) }
        return runAsynchronously(afterSeconds: lease ?? 0)
    }

    /// Hands the write to the queue and returns 202 with the state that the write has by then.
    ///
    /// The response has the path of the write in `Location`, where its outcome can be read later.
    ///
    /// - Parameter lease: The seconds that a transaction may hold the writer before, at most.
    private func runAsynchronously(afterSeconds lease: Double = 0) -> Response {
        // The write keeps the parsed body until it is done, long after its request was answered.
        let holding = call.request.body.holding
        call.audit?.noteEarlyResponse()
        var job = writeRequest
        if lease > 0 {
            job.deadline = job.deadline.adding(seconds: lease)
            job.lockWait = .seconds(lease + Double(call.limits.writeSeconds))
        }
        let id = database.writeAsynchronously(
            owner: call.owner, job,
            { session in try self.perform(WriteContext(session, self, base: nil)) },
            completion: { result in withExtendedLifetime(holding) { self.outcome(result) } })
        return AsyncWriteDocument.accepted(id, in: database, call, applied: options.preferenceApplied)
    }

    /// Returns the remembered part of a finished asynchronous write: a part of its document, as bytes.
    private func outcome(_ result: Result<WriteReceipt<WriteDraft>, WriteError>) -> AsyncWrites.Outcome {
        switch result {
        case .success(let receipt):
            let outcome = WriteDraft.Outcome(version: receipt.version.tokenText, isCommitted: receipt.isCommitted)
            call.audit?.end(status: receipt.value.status, version: PreparedWrite.committed(result))
            return AsyncWriteDocument.committed(
                version: outcome.version, status: receipt.value.status, body: receipt.value.body(outcome))
        case .failure(let error):
            let problem = problem(error)
            call.audit?.end(status: problem.status, code: problem.code.rawValue)
            call.onLateRefusal?(problem)
            return AsyncWriteDocument.failed(problem, requestID: call.request.id)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

extension Call {
    /// Whether the request changes a realm, or what realms there are.
    var isWrite: Bool {
        guard let method = request.method else { return false }
        return match.template.writeMethods.contains(method)
    }
}

extension Application {
    /// Whose transactions and writes they are as long as there are no credentials.
    static let nobody = ""

    /// Answers a call that writes. Everything that is wrong with it ends the transaction it belongs to.
    func writeReply(_ call: Call) throws(Problem) -> Reply {
        let ticket: IdempotencyStore.Ticket?
        switch try idempotency.begin(call.request) {
        case .none: ticket = nil
        case .first(let first): ticket = first
        case .known(let response): return .now(response)
        }
        return answer(call, ticket)
    }

    /// The answer of the endpoint, which is kept for a repetition.
    private func answer(_ call: Call, _ ticket: IdempotencyStore.Ticket?) -> Reply {
        let reply: Reply
        do throws(Problem) {
            reply = try endpoint(of: call)
        } catch {
            reply = endTransaction(of: call, response(to: error, for: call.request), error)
        }
        guard let ticket else { return reply }
        switch reply {
        case .now(let response): return .now(ticket.keep(response))
        case .work(let work): return .work { ticket.keep(work()) }
        case .attend(let work): return .attend { ticket.keep(work()) }
        case .later(let begin): return .later { promise in begin(KeepingPromise(promise, ticket)) }
        }
    }

    /// A write that failed before it came to its transaction ends it all the same, and is answered then.
    private func endTransaction(of call: Call, _ response: Response, _ problem: Problem) -> Reply {
        guard let id = call.request.headers[.realmTransaction], problem.code != .transactionBusy,
            case .ready(let database)? = call.request.realm,
            (try? QueryParameters(call.request.target))?["dryRun"] != "true"
        else { return .now(response) }
        return .later { promise in
            database.abortTransaction(id, owner: Application.nobody) { promise.complete(response) }
        }
    }

    /// Finds the endpoint of a call that writes.
    private func endpoint(of call: Call) throws(Problem) -> Reply {
        switch (call.match.template, call.request.method) {
        case (.objects, .post): return try createObjects(call)
        case (.objects, .patch): return try patchObjects(call)
        case (.objects, .delete): return try deleteObjects(call)
        case (.object, .put): return try putObject(call)
        case (.object, .patch): return try patchObject(call)
        case (.object, .delete): return try deleteObject(call)
        case (.property, .put): return try putProperty(call)
        case (.objectsAll, .delete): return try deleteAllObjects(call)
        case (.batch, .post): return try batch(call)
        case (.realms, .post): return try attachRealm(call)
        case (.realm, .delete): return try detachRealm(call)
        case (.import, .post): return try importObjects(call)
        case (.migrations, .post): return try migrate(call)
        case (.transactions, .post): return try beginTransaction(call)
        case (.transactionCommit, .post): return try commitTransaction(call)
        default: throw Problem(.notFound, "there is nothing at this path")
        }
    }
}

extension Reply {
    /// Sees the answer through to where it is waited for.
    func resolve(_ promise: any ResponsePromise) {
        switch self {
        case .now(let response): promise.complete(response)
        case .work(let work), .attend(let work): promise.complete(work())
        case .later(let begin): begin(promise)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Interactive transactions: leases on the one writer of a realm, which span several requests.
struct TransactionEndpoints: Sendable {
    let server: ServerState

    /// Answers `POST …/transactions`: waits for the writer, then begins a transaction.
    ///
    /// - Parameter call: The call, with the requested durations in its body.
    /// - Returns: A reply with 201 and the transaction, completed when the writer is free; a
    ///   problem when it was not free in time, or the realm has another version by then than `If-Match` demands. With
    ///   `respond-async` 202 before that.
    /// - Throws: `transactions_disabled`, `transaction_busy` inside another transaction,
    ///   `precondition_failed`, or the `Problem` of a wrong body.
    func begin(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        guard server.options.allowsTransactions else {
            throw Problem(.transactionsDisabled, "interactive transactions are disabled; send a batch")
        }
        try call.checkQueryNames()
        guard call.request[.realmTransaction] == nil else {
            throw Problem(.transactionBusy, "a transaction cannot begin inside another one")
        }
        let options = try WriteOptions(call)
        let condition = options.condition
        let durations = try TransactionOptions(call, database.limits)
        try condition.require(database.current.token)
        let deferred = DeferredOperation(call: call, database: database, preferences: options.preferences)
        return deferred.reply { operation, completion in
            database.beginTransaction(
                owner: call.owner, client: call.account, limit: call.caller.roleLimits?[.transactions],
                wait: durations.wait, idleTime: durations.idle, lifetime: durations.lifetime,
                ended: { [audit = call.audit] info in audit?.transactionEnded(info.id, info.state.rawValue) }
            ) { result in
                completion(
                    Result { () throws(Problem) in
                        let info: TransactionInfo
                        do throws(WriteError) { info = try result.get() } catch { throw Problem(error) }
                        do throws(Problem) {
                            guard operation?.begin() ?? true else { throw TransactionEndpoints.cancelled }
                            try call.standing.require()
                            try condition.require(info.version)
                            addLease(info, database, call)
                            // Before it was among the leases, a reload could not end it.
                            try call.standing.require()
                        } catch {
                            server.leases.remove(info.id)
                            database.rollBackTransaction(info.id, owner: nil) { _ in }
                            throw error
                        }
                        call.audit?.setTarget(info.id)
                        return outcome(201, info, showsState: false, at: ObjectAddress.transaction(database.name.text, info.id))
                    })
            }
        }
    }

    /// The problem of a transaction that was cancelled before it began, which no response shows.
    private static let cancelled = Problem(.alreadyCommitted, "the transaction was cancelled before it began")

    /// Answers `POST …/transactions/{id}/commit`: makes the changes durable and ends the transaction.
    ///
    /// - Parameter call: The call. `Realm-Without-Notifying` excludes registrations from the
    ///   notifications of this commit.
    /// - Returns: A reply with the new version, completed when the changes are durable; with `respond-async` 202 before
    ///   that.
    /// - Throws: The `Problem` of a wrong parameter or header field, of an unknown or ended transaction, or
    ///   `precondition_failed` when it began with another version than `If-Match` demands.
    func commit(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        try call.checkQueryNames()
        let id = try call.match[.id]
        let mark = try call.services.commitMark(call, database).get()
        let condition = try WriteCondition(call.request)
        if let error = database.refusal(ofTransaction: id, owner: call.ownerScope) { throw Problem(error) }
        if !condition.isEmpty { try condition.require(database.transaction(id, owner: call.ownerScope)?.version) }
        let deferred = DeferredOperation(
            call: call, database: database, preferences: Preferences(call.request))
        return deferred.reply { operation, completion in
            // A commit that was asked for is not cancelled: the transaction would wait for its end.
            _ = operation?.begin()
            let commit = TransactionCommit(
                mark: mark, source: call.source, refusal: { [standing = call.standing] in standing.problem })
            database.commitTransaction(id, owner: call.ownerScope, commit) { result in
                switch result {
                case .success(let version):
                    server.leases.remove(id)
                    var writer = JSONWriter(reservingCapacity: 64)
                    writer.beginObject()
                    writer.member("version", text: version.tokenText)
                    writer.endObject()
                    completion(.success(.init(status: 200, version: version.token, body: writer.buffer)))
                case .failure(let error): completion(.failure(Problem(error)))
                }
            }
        }
    }

    /// Answers `GET` and `DELETE …/transactions/{id}`: describes a transaction, or rolls it back.
    ///
    /// - Throws: `not_found` for an unknown id. Problems of rolling back are in the reply.
    func transaction(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        try call.checkQueryNames()
        let id = try call.match[.id]
        guard call.request.method == .delete else {
            guard let info = database.transaction(id, owner: call.ownerScope) else {
                throw Problem(.notFound, "there is no transaction of this id")
            }
            return .now(DeferredOperation.response(outcome(200, info, showsState: true), to: call))
        }
        return .later { promise in
            database.rollBackTransaction(id, owner: call.ownerScope) { result in
                switch result {
                case .success:
                    server.leases.remove(id)
                    var answer = Response(status: 204)
                    answer.add("Realm-Version", database.current.tokenText)
                    answer.add("Cache-Control", constant: "no-store")
                    promise.complete(answer)
                case .failure(let error): promise.complete(Response(Problem(error), for: call))
                }
            }
        }
    }

    /// Returns the outcome that describes a transaction.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - info: The transaction. Its version is the one that it began with, or its own once it
    ///     is committed.
    ///   - showsState: Whether the document has the state; a new transaction is always open.
    ///   - location: The path for `Location`; nil for none.
    private func outcome(
        _ status: Int, _ info: TransactionInfo, showsState: Bool, at location: String? = nil
    ) -> DeferredOperation.Outcome {
        let version = info.committed ?? info.version
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.member("id", text: info.id)
        writer.member("version", text: version.text)
        writer.member("idleTimeout", text: DurationText.text(info.idleTime))
        writer.member("expiresAt", time: info.expires)
        if showsState { writer.member("state", text: info.state.rawValue) }
        writer.endObject()
        return .init(status: status, version: version, body: writer.buffer, location: location)
    }

    /// Registers a transaction as a lease, which administrators can end by rolling it back.
    private func addLease(_ info: TransactionInfo, _ database: Database, _ call: Call) {
        server.leases.add(
            // A lease may stay in the list after its transaction has ended, and must not keep the realm open.
            LeaseRegistry.Lease(
                id: info.id, kind: .transaction, realm: database.name.text, principal: call.caller.principal.logName,
                mayStay: { [standing = call.standing] in standing.mayKeep }
            ) { [weak database] in
                database?.rollBackTransaction(info.id, owner: nil) { _ in }
            })
    }
}

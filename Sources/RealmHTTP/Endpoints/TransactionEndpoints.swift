// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Interactive transactions: leases on the one writer of a realm, which span several requests.
struct TransactionEndpoints: Sendable {
    /// Whether interactive transactions are enabled on this server.
    let allowsTransactions: Bool
    /// The registry in which administrators see and end transactions.
    let leases: LeaseRegistry

    /// Answers `POST …/transactions`: waits for the writer, then begins a transaction.
    ///
    /// - Parameter call: The call, with the requested durations in its body.
    /// - Returns: A reply with 201 and the transaction, completed when the writer is free; a
    ///   problem when it was not free in time.
    /// - Throws: `transactions_disabled`, `transaction_busy` inside another transaction, or the
    ///   `Problem` of a wrong body.
    func begin(_ call: WriteCall) throws(Problem) -> Reply {
        let database = try call.database()
        guard allowsTransactions else {
            throw Problem(.transactionsDisabled, "this server has no interactive transactions; send a batch")
        }
        try QueryParameters(call.request.target).requireKnown([])
        let options = try WriteOptions(call)
        guard options.transaction == nil else {
            throw Problem(.transactionBusy, "a transaction cannot begin inside another one")
        }
        let durations = try TransactionOptions(call, database.limits)
        return .later { promise in
            database.beginTransaction(
                owner: Principal.none, client: call.request.client, wait: durations.wait, idleTime: durations.idle,
                lifetime: durations.lifetime
            ) { result in
                switch result {
                case .success(let info):
                    addLease(info, database)
                    var response = transactionResponse(201, info, showsState: false, call.request)
                    response.addLocation(ObjectAddress.transaction(database.name.text, info.id))
                    promise.complete(response)
                case .failure(let error): promise.complete(Response(Problem(error), for: call.request))
                }
            }
        }
    }

    /// Answers `POST …/transactions/{id}/commit`: makes the changes durable and ends the
    /// transaction.
    ///
    /// - Parameter call: The call. `Realm-Without-Notifying` excludes registrations from the
    ///   notifications of this commit.
    /// - Returns: A reply with the new version, completed when the changes are durable.
    /// - Throws: The `Problem` of a wrong parameter or header field. An unknown or expired
    ///   transaction is reported in the reply.
    func commit(_ call: WriteCall) throws(Problem) -> Reply {
        let database = try call.database()
        try QueryParameters(call.request.target).requireKnown([])
        let id = try call.match[.id]
        let mark = try SkipMark(call.request, database, call.services.registrations)?.commitMark
        return .later { promise in
            database.commitTransaction(id, owner: Principal.none, mark: mark) { result in
                switch result {
                case .success(let version):
                    leases.remove(id)
                    var writer = JSONWriter(reservingCapacity: 64)
                    writer.beginObject()
                    writer.member("version", text: version.tokenText)
                    writer.endObject()
                    var answer = Response(unstored: writer.buffer, status: 200)
                    call.request.version = version.tokenText
                    answer.add("Realm-Version", version.tokenText)
                    promise.complete(answer)
                case .failure(let error): promise.complete(Response(Problem(error), for: call.request))
                }
            }
        }
    }

    /// Answers `GET` and `DELETE …/transactions/{id}`: describes a transaction, or rolls it back.
    ///
    /// - Throws: `not_found` for an unknown id. Problems of rolling back are in the reply.
    func transaction(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        try QueryParameters(call.request.target).requireKnown([])
        let id = try call.match[.id]
        guard call.request.method == .delete else {
            guard let info = database.transaction(id, owner: Principal.none) else {
                throw Problem(.notFound, "there is no transaction of this id")
            }
            return .now(transactionResponse(200, info, showsState: true, call.request))
        }
        return .later { promise in
            database.rollBackTransaction(id, owner: Principal.none) { result in
                switch result {
                case .success:
                    leases.remove(id)
                    var answer = Response(status: 204)
                    answer.add("Realm-Version", database.current.tokenText)
                    answer.add("Cache-Control", constant: "no-store")
                    promise.complete(answer)
                case .failure(let error): promise.complete(Response(Problem(error), for: call.request))
                }
            }
        }
    }

    /// Returns a response that describes a transaction.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - info: The transaction. Its version is the one that it began with, or its own once it
    ///     is committed.
    ///   - showsState: Whether the response has the state; a new transaction is always open.
    ///   - request: The request, whose log line gets the version.
    private func transactionResponse(_ status: Int, _ info: TransactionInfo, showsState: Bool, _ request: Request) -> Response {
        let version = (info.committed ?? info.version).text
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.member("id", text: info.id)
        writer.member("version", text: version)
        writer.member("idleTimeout", text: DurationText.text(info.idleTime))
        writer.member("expiresAt", time: info.expires)
        if showsState { writer.member("state", text: info.state.rawValue) }
        writer.endObject()
        var response = Response(unstored: writer.buffer, status: status)
        request.version = version
        response.add("Realm-Version", version)
        return response
    }

    /// Registers a transaction as a lease, which administrators can end by rolling it back.
    private func addLease(_ info: TransactionInfo, _ database: Database) {
        leases.add(
            // A lease may stay in the list after its transaction has ended, and must not keep the realm open.
            LeaseRegistry.Lease(id: info.id, kind: .transaction, realm: database.name.text, principal: nil) { [weak database] in
                database?.rollBackTransaction(info.id, owner: nil) { _ in }
            })
    }
}

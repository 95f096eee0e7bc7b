// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Interactive transactions: leases on the one writer of a realm.
struct TransactionEndpoints: Sendable {
    /// Whether the server has interactive transactions at all.
    let allowsTransactions: Bool
    /// Where open transactions are shown to administrators.
    let leases: LeaseRegistry

    /// `POST …/transactions`
    func begin(_ call: WriteCall) throws(Problem) -> Reply {
        let database = try call.database()
        guard allowsTransactions else {
            throw Problem(.transactionsDisabled, "this server has no interactive transactions; send a batch")
        }
        let options = try WriteOptions(call, types: WriteOptions.json)
        guard options.transaction == nil else {
            throw Problem(.transactionBusy, "a transaction cannot begin inside another one")
        }
        let wishes = try TransactionWishes(call, database.limits)
        return .later { promise in
            database.beginTransaction(
                owner: Principal.none, client: call.request.client, wait: wishes.wait, idleTime: wishes.idle,
                lifetime: wishes.lifetime
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

    /// `POST …/transactions/{id}/commit`
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

    /// `GET` and `DELETE …/transactions/{id}`
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

    private func transactionResponse(_ status: Int, _ info: TransactionInfo, showsState: Bool, _ request: Request) -> Response {
        let version = (info.committed ?? info.version).text
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.member("id", text: info.id)
        writer.member("version", text: version)
        writer.member("idleTimeout", text: DurationText.text(info.idleTime))
        writer.key("expiresAt")
        writer.value { buffer in
            buffer.append(UInt8(ascii: "\""))
            buffer.append(logTime: WallClock(nanoseconds: info.expires.nanoseconds))
            buffer.append(UInt8(ascii: "\""))
        }
        if showsState { writer.member("state", text: info.state.rawValue) }
        writer.endObject()
        var response = Response(unstored: writer.buffer, status: status)
        request.version = version
        response.add("Realm-Version", version)
        return response
    }

    private func addLease(_ info: TransactionInfo, _ database: Database) {
        leases.add(
            LeaseRegistry.Lease(id: info.id, kind: .transaction, realm: database.name.text, principal: nil) {
                database.rollBackTransaction(info.id, owner: nil) { _ in }
            })
    }
}

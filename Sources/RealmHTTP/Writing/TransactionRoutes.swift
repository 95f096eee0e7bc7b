// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Interactive transactions: leases on the one writer of a realm.
extension Application {
    /// `POST …/transactions`
    func beginTransaction(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        guard configuration.allowsTransactions else {
            throw Problem(.transactionsDisabled, "this server has no interactive transactions; send a batch")
        }
        let options = try WriteOptions(call, types: WriteOptions.json)
        guard options.transaction == nil else {
            throw Problem(.transactionBusy, "a transaction cannot begin inside another one")
        }
        let wishes = try TransactionWishes(call, database.limits)
        return .later { [self] promise in
            database.beginTransaction(
                owner: Application.nobody, client: call.request.client, wait: wishes.wait, idleTime: wishes.idle,
                lifetime: wishes.lifetime
            ) { result in
                switch result {
                case .success(let info):
                    self.addLease(info, database)
                    var response = self.transactionResponse(201, info, showsState: false, call)
                    response.addLocation(ObjectAddress.transaction(database.name.text, info.id))
                    promise.complete(response)
                case .failure(let error): promise.complete(self.response(to: Problem(error), for: call.request))
                }
            }
        }
    }

    /// `POST …/transactions/{id}/commit`
    func commitTransaction(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        try QueryParameters(call.request.target).requireKnown([])
        let id = try call.match.required(4, "id")
        let mark = try SkipMark(call, database)?.commitMark
        return .later { [self] promise in
            database.commitTransaction(id, owner: Application.nobody, mark: mark) { result in
                switch result {
                case .success(let version):
                    self.leases.remove(id)
                    var writer = JSONWriter(reservingCapacity: 64)
                    writer.beginObject()
                    writer.member("version", text: version.tokenText)
                    writer.endObject()
                    var answer = self.unstored(200, writer.buffer)
                    call.request.version = version.tokenText
                    answer.add("Realm-Version", version.tokenText)
                    promise.complete(answer)
                case .failure(let error): promise.complete(self.response(to: Problem(error), for: call.request))
                }
            }
        }
    }

    /// `GET` and `DELETE …/transactions/{id}`
    func transaction(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        try QueryParameters(call.request.target).requireKnown([])
        let id = try call.match.required(4, "id")
        guard call.request.method == .delete else {
            guard let info = database.transaction(id, owner: Application.nobody) else {
                throw Problem(.notFound, "there is no transaction of this id")
            }
            return .now(transactionResponse(200, info, showsState: true, call))
        }
        return .later { [self] promise in
            database.rollBackTransaction(id, owner: Application.nobody) { result in
                switch result {
                case .success:
                    self.leases.remove(id)
                    var answer = Response(status: 204)
                    answer.add("Realm-Version", database.current.tokenText)
                    answer.add("Cache-Control", constant: "no-store")
                    promise.complete(answer)
                case .failure(let error): promise.complete(self.response(to: Problem(error), for: call.request))
                }
            }
        }
    }

    private func transactionResponse(_ status: Int, _ info: TransactionInfo, showsState: Bool, _ call: Call) -> Response {
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
        var response = unstored(status, writer.buffer)
        call.request.version = version
        response.add("Realm-Version", version)
        return response
    }

    func unstored(_ status: Int, _ buffer: OutputBuffer) -> Response {
        Response(status: status, type: "application/json", buffer, headers: [HeaderField("Cache-Control", "no-store")])
    }

    private func addLease(_ info: TransactionInfo, _ database: Database) {
        leases.add(
            LeaseRegistry.Lease(id: info.id, kind: .transaction, realm: database.name.text, principal: nil) {
                database.rollBackTransaction(info.id, owner: nil) { _ in }
            })
    }

    /// Forgets leases of transactions that ended by themselves.
    func forgetEndedTransactions() {
        for lease in leases.all where lease.kind == .transaction {
            guard case .ready(let database)? = catalog[lease.realm], database.openTransaction?.id == lease.id else {
                leases.remove(lease.id)
                continue
            }
        }
    }
}

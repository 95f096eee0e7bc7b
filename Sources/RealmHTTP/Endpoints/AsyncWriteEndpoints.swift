// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Writes that were answered before they were done.
struct AsyncWriteEndpoints: Sendable {
    /// `GET` and `DELETE …/writes/{id}`: what became of a write that was answered before it was done.
    func write(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        try QueryParameters(call.request.target).requireKnown([])
        let id = try call.match[.id]
        let version = database.current.tokenText
        call.request.version = version
        guard call.request.method == .delete else {
            guard let state = database.asyncWrites.state(id, owner: Principal.none) else { throw AsyncWriteEndpoints.unknown }
            var response = Response(unstored: AsyncWriteDocument.text(id, state))
            response.add("Realm-Version", version)
            return .now(response)
        }
        switch database.asyncWrites.cancel(id, owner: Principal.none) {
        case nil: throw AsyncWriteEndpoints.unknown
        case false?: throw Problem(.alreadyCommitted, "the write has begun")
        case true?:
            return .now(
                Response(
                    status: 204, headers: [HeaderField("Realm-Version", text: version), HeaderField("Cache-Control", "no-store")])
            )
        }
    }

    private static let unknown = Problem(.notFound, "there is no write of this id")
}

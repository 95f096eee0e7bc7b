// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension Application {
    /// `GET` and `DELETE …/writes/{id}`: what became of a write that was answered before it was done.
    func asyncWrite(_ call: Call) throws(Problem) -> Response {
        let database = try call.database()
        try QueryParameters(call.request.target).requireKnown([])
        let id = try call.match.required(4, "id")
        let version = database.current.tokenText
        call.request.version = version
        guard call.request.method == .delete else {
            guard let state = database.asyncWrites.state(id, owner: Application.nobody) else { throw Application.noWrite }
            var response = unstored(200, AsyncWriteDocument.text(id, state))
            response.add("Realm-Version", version)
            return response
        }
        switch database.asyncWrites.cancel(id, owner: Application.nobody) {
        case nil: throw Application.noWrite
        case false?: throw Problem(.alreadyCommitted, "the write has begun")
        case true?:
            return Response(
                status: 204, headers: [HeaderField("Realm-Version", text: version), HeaderField("Cache-Control", "no-store")])
        }
    }

    private static let noWrite = Problem(.notFound, "there is no write of this id")
}

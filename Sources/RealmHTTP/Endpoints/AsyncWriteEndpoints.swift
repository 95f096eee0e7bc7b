// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes that were answered with 202 before they were done, because the client preferred `respond-async`.
///
/// The state of such a write is kept in memory for a limited time after its end.
enum AsyncWriteEndpoints {
    /// Answers `GET` and `DELETE …/writes/{id}`.
    ///
    /// `GET` returns the state of the write, and its response once it has one. `DELETE` cancels a
    /// write that has not begun, with 204.
    ///
    /// - Throws: `not_found` for an unknown id, `already_committed` when the write has begun and
    ///   cannot be cancelled.
    static func write(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        try call.checkQueryNames()
        let id = try call.match[.id]
        let version = database.current.tokenText
        call.versionToken = version
        guard call.request.method == .delete else {
            guard let state = database.asyncWrites.state(id, owner: call.ownerScope) else {
                throw AsyncWriteEndpoints.unknown
            }
            var response = Response(unstored: AsyncWriteDocument.text(id, state))
            response.add("Realm-Version", version)
            return .now(response)
        }
        switch database.asyncWrites.cancel(id, owner: call.ownerScope) {
        case nil: throw AsyncWriteEndpoints.unknown
        case false?: throw Problem(.alreadyCommitted, "the write has begun")
        case true?:
            return .now(
                Response(
                    status: 204, headers: [HeaderField("Realm-Version", text: version), HeaderField("Cache-Control", "no-store")])
            )
        }
    }

    /// The problem of an id that is unknown, or whose write ended long ago.
    private static let unknown = Problem(.notFound, "there is no write of this id")
}

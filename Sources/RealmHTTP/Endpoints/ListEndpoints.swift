// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Lists of the objects of a class.
struct ListEndpoints: Sendable {
    /// `GET` and `QUERY …/objects/{class}`, `POST …/query/{class}`
    func list(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(ofBodyAnd: call, .list, formats: [.documents, .rows])
        let context = try ReadContext(call, snapshot: parameters.snapshot)
        let table = try context.table()
        let etag = context.versionTag(parameters.code)
        if call.isCurrent(etag) { return .now(context.unchanged(etag)) }
        let list = ObjectList(context: context, parameters: parameters, table: table, etag: etag)
        if let response = try list.answerFromIndex() { return .now(response) }
        return try Reply.reading(call.request, isShort: list.isShort) { () throws(Problem) in try list.answer() }
    }
}

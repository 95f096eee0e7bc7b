// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Lists of the objects of a class: filtered, sorted, and page by page.
enum ListEndpoints {
    /// Answers `GET` and `QUERY …/objects/{class}`, and `POST …/query/{class}`.
    ///
    /// A page that an index answers directly is made at once; otherwise the query runs on this
    /// thread when the class is small, or on a worker.
    ///
    /// - Parameter call: The call, with the parameters in its URL or its body.
    /// - Returns: A page in the requested representation, or 304 when the client has that already.
    /// - Throws: The `Problem` of a wrong parameter or query, or of an unknown class.
    static func list(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(ofBodyAnd: call, formats: [.documents, .rows])
        let context = try ReadContext(call, snapshot: parameters.snapshot, version: parameters.version)
        let table = try context.table()
        let etag = context.versionTag(parameters.code)
        if call.isCurrent(etag) { return .now(context.unchanged(etag)) }
        let list = ObjectList(context: context, parameters: parameters, table: table, etag: etag)
        if let response = try list.answerFromIndex() { return .now(response) }
        return try Reply.reading(call, isShort: list.isShort) { () throws(Problem) in try list.answer() }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

extension Application {
    /// `GET` and `QUERY …/objects/{class}`, `POST …/query/{class}`
    func list(_ call: Call) throws(Problem) -> Reply {
        let parameters = try readParameters(call, .list, formats: [.documents, .rows])
        let context = try ReadContext(call, snapshot: parameters.snapshot)
        let table = try context.table()
        let etag = context.versionTag(parameters.code)
        if call.isCurrent(etag) { return .now(context.unchanged(etag)) }
        let list = ObjectList(context: context, parameters: parameters, table: table, etag: etag)
        if let response = try list.answerFromIndex() { return .now(response) }
        return try reply(isShort: list.isShort, call) { () throws(Problem) in try list.answer() }
    }

    /// Parameters from the URL, and from the body where the method has one.
    func readParameters(
        _ call: Call, _ kind: ReadParameters.Kind, formats: ResponseFormat.Choice
    ) throws(Problem) -> ReadParameters {
        guard call.request.method == .query || call.request.method == .post else {
            return try ReadParameters(call, kind, formats: formats)
        }
        try RequestBody.requireJSON(call.request)
        _ = try ResponseFormat.negotiate(
            call.request, parameter: (try? QueryParameters(call.request.target))?["format"], among: formats)
        let body = try RequestBody.object(call.request, limits)
        return try ReadParameters(call, kind, formats: formats, body: body)
    }

    /// Short work is done on the daemon's thread, everything else by a worker.
    func reply(
        isShort: Bool, _ call: Call, _ work: @escaping @Sendable () throws(Problem) -> Response
    ) throws(Problem) -> Reply {
        if isShort { return .now(try work()) }
        let begin = Instant.now()
        return .work { [self] in
            call.request.timing?.queue += Instant.now().seconds(since: begin)
            do throws(Problem) {
                try call.request.checkDeadline()
                return try work()
            } catch {
                return response(to: error, for: call.request)
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The last lines of the log, for administrators.
struct LogEndpoints: Sendable {
    let server: ServerState

    /// The number of lines that are answered unless the request says otherwise.
    private static let usualLimit = 200

    /// Answers `GET /admin/log` with the last lines, or with those after a line that the client has seen, as text or as JSON with their
    /// numbers.
    ///
    /// - Throws: `not_found` when the server writes no log, `not_acceptable`, and the problem of a parameter.
    func tail(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ParameterSet(QueryParameters(call.request.target), urlNames: ["since", "limit"])
        let since = try parameters.int("since", in: 0...Int.max)
        let limit = try parameters.int("limit", in: 1...LogTail.lineLimit) ?? LogEndpoints.usualLimit
        let isText = try LogEndpoints.prefersText(call)
        guard let log = server.accessLog else { throw Problem(.notFound, "this server writes no log") }
        return .work {
            let (lines, last) = log.tail(after: since, limit: limit)
            // Lines between the client's position and the first line: forgotten, or beyond the limit.
            let missing = max(0, (lines.first?.number ?? last + 1) - 1 - (since ?? 0))
            guard isText else { return Response(unstored: LogEndpoints.document(lines, last: last, missing: missing)) }
            let text = OutputBuffer.text(lines.map { $0.text + "\n" }.joined())
            var response = Response(type: "text/plain; charset=utf-8", text, headers: [HeaderField("Cache-Control", "no-store")])
            if missing > 0 { response.add("Realm-Partial", constant: "lines") }
            return response
        }
    }

    /// Whether a client takes text rather than JSON.
    private static func prefersText(_ call: Call) throws(Problem) -> Bool {
        guard let accept = call.request[.accept], !accept.isEmpty else { return true }
        guard let isText = AcceptHeader(accept).preferred([("text/plain", true), ("application/json", false)]) else {
            throw Problem(.notAcceptable, "'Accept' permits neither text/plain nor application/json, the forms of the log")
        }
        return isText
    }

    /// Returns lines as JSON. `next` is the `since` of the next request, `missing` the number of omitted lines before these.
    private static func document(_ lines: [LogTail.Line], last: Int, missing: Int) -> OutputBuffer {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        for line in lines {
            writer.beginObject()
            writer.member("number", int: line.number)
            writer.member("line", text: line.text)
            writer.endObject()
        }
        writer.endArray()
        writer.member("next", int: lines.last?.number ?? last)
        writer.member("missing", int: missing)
        writer.endObject()
        return writer.buffer
    }
}

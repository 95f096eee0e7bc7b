// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// The answer to a write as far as it is known before the commit: all but the version.
struct WriteDraft: Sendable {
    var status: Int
    var location: String?
    var etag: String?
    var content: Content
    var notes = RepresentationNotes()
    /// The media type of the content.
    var type: StaticString = "application/json"

    enum Content: Sendable {
        case none
        /// A whole document.
        case document(OutputBuffer)
        /// The members of an object that lacks its version.
        case members(OutputBuffer)
        /// The results of a batch.
        case results(OutputBuffer)
    }

    /// What became of it.
    struct Outcome: Sendable {
        /// The text of the version token.
        let version: String
        /// Whether it is durable: no dry run, and not inside a transaction.
        let isCommitted: Bool
    }

    /// The document; nil when there is none.
    func body(_ outcome: Outcome) -> OutputBuffer? {
        switch content {
        case .none: return nil
        case .document(let buffer): return buffer
        case .members(let members):
            let writer = JSONWriter(reservingCapacity: members.count + 64)
            writer.buffer.append(UInt8(ascii: "{"))
            writer.buffer.append(members)
            if !members.isEmpty { writer.buffer.append(UInt8(ascii: ",")) }
            writer.buffer.append("\"version\":" as StaticString)
            writer.buffer.append(jsonString: outcome.version)
            writer.buffer.append(UInt8(ascii: "}"))
            return writer.buffer
        case .results(let results):
            var writer = JSONWriter(reservingCapacity: results.count + 96)
            writer.beginObject()
            writer.member("committed", bool: outcome.isCommitted)
            writer.member("version", text: outcome.version)
            writer.key("results")
            writer.value { $0.append(results) }
            writer.endObject()
            return writer.buffer
        }
    }

    /// The answer.
    func response(_ outcome: Outcome, _ options: WriteOptions) -> Response {
        if options.isDryRun { return rehearsal(outcome, options) }
        var response = Response(status: status)
        if let body = body(outcome) { response = Response(status: status, type: type, body) }
        if let location { response.addLocation(location) }
        if let etag { response.add("ETag", etag) }
        addCommon(to: &response, outcome, options)
        return response
    }

    /// What a dry run answers: the status and the document it would have had. A batch tells of itself that it was none.
    private func rehearsal(_ outcome: Outcome, _ options: WriteOptions) -> Response {
        var response: Response
        let body = body(outcome)
        if case .results = content, let body {
            response = Response(status: 200, type: type, body)
        } else {
            var writer = JSONWriter(reservingCapacity: (body?.count ?? 0) + 64)
            writer.beginObject()
            writer.member("committed", bool: false)
            writer.member("status", int: status)
            writer.key("body")
            if let body { writer.value { $0.append(body) } } else { writer.null() }
            writer.endObject()
            response = Response(status: 200, type: type, writer.buffer)
        }
        addCommon(to: &response, outcome, options)
        return response
    }

    private func addCommon(to response: inout Response, _ outcome: Outcome, _ options: WriteOptions) {
        response.add("Realm-Version", outcome.version)
        response.add("Cache-Control", constant: "no-store")
        if let applied = options.preferenceApplied { response.add("Preference-Applied", applied) }
        if notes.hasUnsafeIntegers { response.add("Realm-Unsafe-Integers", constant: "1") }
        if notes.hasLossyDates { response.add("Realm-Lossy", constant: "date") }
    }
}

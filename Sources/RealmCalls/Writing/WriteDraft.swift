// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The response to a write before the commit: everything but the version.
///
/// `PreparedWrite.work` returns it. It shows the state after this write, even when other writes join the same commit.
package struct WriteDraft: Sendable {
    /// Makes the changes of a write, on the writer's thread.
    package typealias Maker = @Sendable (WriteContext) throws(Problem) -> WriteDraft

    /// The HTTP status of the response when the write succeeds, for example 201.
    package var status: Int
    /// The path of an object that was created, for `Location`; nil for none.
    package var location: String?
    /// The entity tag of the object that was written, for `ETag`; nil for none.
    package var etag: String?
    /// The body of the response, perhaps still without the version.
    package var content: Content
    /// Notes on values that could not be represented exactly, for header fields.
    package var notes: RepresentationNotes = RepresentationNotes()
    /// The media type of the body.
    package var type: StaticString = "application/json"

    package init(
        status: Int, location: String? = nil, etag: String? = nil, content: Content,
        notes: RepresentationNotes = RepresentationNotes(), type: StaticString = "application/json"
    ) {
        self.status = status
        self.location = location
        self.etag = etag
        self.content = content
        self.notes = notes
        self.type = type
    }

    /// The forms of a body, which differ in where the version is added.
    package enum Content: Sendable {
        /// The response has no body, as one with the status 204.
        case none
        /// A whole JSON document, to which no version is added.
        case document(OutputBuffer)
        /// The members of a JSON object without its braces; the member `version` is added at the end.
        case members(OutputBuffer)
        /// The JSON array of a batch's results; `committed` and `version` are written in front of it.
        case results(OutputBuffer)
    }

    /// The length of the body in bytes.
    package var byteCount: Int {
        switch content {
        case .none: return 0
        case .document(let buffer), .members(let buffer), .results(let buffer): return buffer.count
        }
    }

    /// The result of the write, which is known after the commit only.
    package struct Outcome: Sendable {
        /// The text of the version token: of the commit; of the newest version when nothing was
        /// committed; inside an interactive transaction, of the version from which it began.
        let version: String
        /// Whether the changes are durable; false for a dry run and inside an interactive transaction.
        let isCommitted: Bool

        package init(version: String, isCommitted: Bool) {
            self.version = version
            self.isCommitted = isCommitted
        }
    }

    /// Returns the whole JSON document, with the version where it belongs; nil when the response has no body.
    package func body(_ outcome: Outcome) -> OutputBuffer? {
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

    /// Returns the response to the client: the status, the body, and the header fields of a write. For a dry run it is the
    /// response that the write would have got, inside an envelope.
    package func response(_ outcome: Outcome, _ options: WriteOptions) -> Response {
        if options.isDryRun { return dryRun(outcome, options) }
        var response = Response(status: status)
        if let body = body(outcome) { response = Response(status: status, type: type, body) }
        if let location { response.addLocation(location) }
        if let etag { response.add("ETag", etag) }
        response.standsWithoutBody = true
        addCommon(to: &response, outcome, options)
        return response
    }

    /// Returns the response to a dry run: `committed`, and the status and body that the write would have had.
    ///
    /// A batch states in its own document that it was not committed, so it is answered as usual.
    /// `Location` and `ETag` are left out, because the state that they name does not exist.
    private func dryRun(_ outcome: Outcome, _ options: WriteOptions) -> Response {
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

    /// Adds the header fields that every answer to a write has: version, caching, preferences and notes.
    private func addCommon(to response: inout Response, _ outcome: Outcome, _ options: WriteOptions) {
        response.add("Realm-Version", outcome.version)
        response.add("Cache-Control", constant: "no-store")
        if let applied = options.preferenceApplied { response.add("Preference-Applied", applied) }
        if notes.hasUnsafeIntegers { response.add("Realm-Unsafe-Integers", constant: "1") }
        if notes.hasLossyDates { response.add("Realm-Lossy", constant: "date") }
    }
}

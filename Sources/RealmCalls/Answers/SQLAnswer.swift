// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parameters of a statement of SQL, from the URL or the body.
package struct SQLParameters: Sendable {
    /// The text of the statement.
    package let text: String
    let args: [JSONValue]
    /// Whether the result is the plan of the statement.
    let explains: Bool
    /// The id of the snapshot to read; nil for the newest version.
    package let snapshot: String?
    let format: ResponseFormat
    let representation: Representation

    /// Reads the parameters of a call.
    ///
    /// - Throws: `not_acceptable` before anything else; then the problems of the body and of the parameters.
    package init(_ call: Call) throws(Problem) {
        let takesBody = call.request.method == .post || call.request.method == .query
        let body: JSONObject? = takesBody ? try call.bodyObject() : nil
        let url = Result { () throws(Problem) in try QueryParameters(call.request.target) }
        let wanted = (try? url.get())?["format"] ?? body?["format"]?.string
        format = try ResponseFormat.negotiate(call.request, parameter: wanted, among: [.documents, .rows])
        let names = call.queryNames
        let set = try ParameterSet(try url.get(), urlNames: names, body: body, bodyNames: body == nil ? [] : names)
        guard let text = try set.text("sql") else { throw .invalidParameter("sql", "'sql' is missing; it must be a statement") }
        self.text = text
        args = try SelectionParameters.args(try set.json("args", depthLimit: call.limits.jsonDepth), call.limits)
        explains = try set.flag("explain")
        snapshot = try set.text("snapshot")
        _ = try set.text("format")
        var representation = Representation()
        representation.intsAsStrings = try set.choice("ints", ["number", "string"]) == "string"
        if case .ejson(let isRelaxed) = format { representation.format = .ejson(isRelaxed: isRelaxed) }
        self.representation = representation
    }
}

/// Answers a statement of SQL over the version that a request reads.
package struct SQLAnswer {
    private let parameters: SQLParameters
    private let context: ReadContext

    package init(_ parameters: SQLParameters, _ context: ReadContext) {
        self.parameters = parameters
        self.context = context
    }

    /// Runs the statement.
    ///
    /// - Returns: One document, or a stream of rows that are found while they are sent.
    /// - Throws: `invalid_query` for a statement that cannot be run, or the problem of a bound that it exceeds.
    package func response() throws(Problem) -> Response {
        let (call, limits) = (context.call, context.limits)
        let budget = call.request.budget
        call.query = parameters.text
        let tables = LiveTables(of: context.snapshot, budget: budget, sortedValues: limits.sortedValues)
        let query = try SQLQuery(
            parameters.text, arguments: try SQLQuery.Argument.list(parameters.args, in: context.snapshot),
            explains: parameters.explains, of: tables,
            limits: .init(byteLimit: limits.sqlBytes, textLimit: limits.queryBytes))
        switch parameters.format {
        case .ndjson: return stream(query, .ndjson)
        case .csv: return stream(query, .csv)
        case .json, .ejson, .octets: return try document(query)
        }
    }

    private func document(_ query: SQLQuery) throws(Problem) -> Response {
        let budget = context.call.request.budget
        var rows = SQLRows(query, parameters.representation, budget: budget)
        var writer = JSONWriter(reservingCapacity: 4096)
        writer.beginObject()
        writer.key("columns")
        rows.writeColumns(to: &writer)
        writer.key("rows")
        writer.beginArray()
        while try query.next() {
            do throws(StorageError) {
                try rows.writeArray(to: &writer)
                try budget.requireRoom(for: writer.count)
            } catch {
                throw Problem(serving: error)
            }
        }
        writer.endArray()
        context.writeVersion(to: &writer)
        writer.endObject()
        return context.answer(
            writer.buffer, type: parameters.representation.mediaType, etag: etag, notes: rows.values.notes)
    }

    private func stream(_ query: SQLQuery, _ form: SQLRows.Form) -> Response {
        var response = Response(status: 200)
        response.add("Content-Type", constant: (form == .csv ? ExportFormat.csv : .ndjson).mediaType)
        context.addReadHeaders(to: &response, etag: etag)
        response.body = .stream(
            SQLStream(
                query, form, parameters.representation, budget: context.call.request.budget,
                secondsPerChunk: context.limits.readSeconds))
        return response
    }

    /// The entity tag, which says the version; a statement may read the clock, so that no response is compared by it.
    private var etag: String { context.versionTag("sql") }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Exports of a whole realm, or of the objects of one class.
struct ExportEndpoints: Sendable {
    /// Answers `GET …/export` with a stream: all objects of one version, or those of a class that
    /// match a predicate.
    ///
    /// On the daemon's thread it only throws that a long step begins; a worker then calls it again.
    ///
    /// - Parameter call: The call.
    /// - Returns: A streamed response as NDJSON, JSON or CSV. It is read from one version, however
    ///   long the client takes.
    /// - Throws: The `Problem` of a wrong parameter or query, or of an unknown class or snapshot.
    func get(_ call: Call) throws(Problem) -> Reply {
        // Queries are parsed and bound before the first line, which may take long.
        try Problem.mapping { () throws(StorageError) in try call.request.budget.beginLongStep() }
        return try export(call)
    }

    /// Reads the parameters, chooses the version and makes the stream.
    ///
    /// The stream checks its deadline and sizes part by part, so a long export is not limited as a
    /// whole.
    private func export(_ call: Call) throws(Problem) -> Reply {
        let url = try QueryParameters(call.request.target)
        let parameters = try ParameterSet(url, urlNames: ["format", "class", "where", "args", "snapshot", "csv"])
        let format = try exportFormat(call, try parameters.text("format"))
        let name = try parameters.text("class")
        if name == nil {
            for other in ["where", "args"] where parameters.has(other) {
                throw .conflict("'\(other)' needs 'class'", parameter: other)
            }
            if format == .csv { throw .conflict("the format csv needs 'class'", parameter: "class") }
        }
        let isForExcel = try self.isForExcel(try parameters.text("csv"), format)
        let args = try SelectionParameters.args(try parameters.json("args", depthLimit: call.limits.jsonDepth), call.limits)
        let query =
            try parameters.text("where").map { text throws(Problem) in try SelectionParameters.query(text, call.limits) } ?? .all
        let context = try ReadContext(call, snapshot: try parameters.text("snapshot"))
        let stream: ExportStream
        if let name {
            guard let table = context.snapshot.classTable(named: name) else {
                throw Problem.noClass(name, in: context.snapshot).with("parameter", "class")
            }
            stream = try .some(
                query, of: table, arguments: try ArgumentDecoder(context.snapshot).decode(args), in: context.snapshot,
                version: context.version.tokenText, format: format, budget: call.request.budget, limits: call.limits)
        } else {
            stream = try .all(
                of: context.snapshot, version: context.version.tokenText, format: format, budget: call.request.budget,
                limits: call.limits)
        }
        if isForExcel { stream.guardFormulas() }
        var response = Response(status: 200, body: .stream(stream))
        response.add("Content-Type", constant: stream.mediaType)
        context.addReadHeaders(to: &response, etag: context.versionTag((isForExcel ? "excel" : "x") + format.rawValue))
        response.add("Content-Disposition", "attachment; filename=\"\(context.database.name.text).\(format.rawValue)\"")
        return .now(response)
    }

    /// Returns whether cells that a spreadsheet would evaluate as formulas are marked as text
    /// (`csv=excel`).
    ///
    /// - Throws: `invalid_parameter` for another value, `conflicting_parameters` for a format other
    ///   than CSV.
    private func isForExcel(_ text: String?, _ format: ExportStream.Format) throws(Problem) -> Bool {
        guard let text else { return false }
        guard text == "excel" else { throw .invalidParameter("csv", "'csv' takes excel") }
        guard format == .csv else { throw .conflict("'csv' needs the format csv", parameter: "csv") }
        return true
    }

    /// Returns the format of an export, from the parameter `format` or else from `Accept`.
    ///
    /// Without either it is NDJSON. Where `Accept` admits several formats equally, NDJSON comes
    /// before JSON and CSV.
    ///
    /// - Throws: `invalid_parameter` for an unknown name, `not_acceptable` when `Accept` admits
    ///   none of them.
    private func exportFormat(_ call: Call, _ name: String?) throws(Problem) -> ExportStream.Format {
        if let name {
            if let format = ExportStream.Format(rawValue: name) { return format }
            let names = ExportStream.Format.allCases.map(\.rawValue)
            let hint = Suggestion.hint(for: name, in: names)
            throw .invalidParameter("format", "an export has the formats ndjson, json and csv\(hint)")
        }
        guard let text = call.request.headers[.accept], !text.isEmpty else { return .ndjson }
        let offers: [(String, ExportStream.Format)] = [
            ("application/x-ndjson", .ndjson), ("application/json", .json), ("text/csv", .csv),
        ]
        guard let format = AcceptHeader(text).preferred(offers) else {
            throw Problem(.notAcceptable, "an export is NDJSON, JSON or CSV")
        }
        return format
    }
}

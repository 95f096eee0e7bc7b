// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Exports of whole realms, or of classes.
struct ExportEndpoints: Sendable {
    /// `GET …/export`: the whole of one version, or what of a class matches.
    func get(_ call: Call) throws(Problem) -> Reply {
        // Queries are read and bound before the first line, which may take its time.
        try Problem.mapping { () throws(StorageError) in try call.request.budget.beginLongStep() }
        return try export(call)
    }

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
                throw Problem(.classNotFound, "there is no class of this name")
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

    /// `csv=excel`: cells that a spreadsheet would take for formulas are told from them.
    private func isForExcel(_ text: String?, _ format: ExportStream.Format) throws(Problem) -> Bool {
        guard let text else { return false }
        guard text == "excel" else { throw .invalidParameter("csv", "'csv' takes excel") }
        guard format == .csv else { throw .conflict("'csv' needs the format csv", parameter: "csv") }
        return true
    }

    private func exportFormat(_ call: Call, _ name: String?) throws(Problem) -> ExportStream.Format {
        if let name {
            if let format = ExportStream.Format(rawValue: name) { return format }
            throw .invalidParameter("format", "an export has the formats ndjson, json and csv")
        }
        guard let text = call.request.headers[.accept], !text.isEmpty else { return .ndjson }
        let accept = AcceptHeader(text)
        let offers: [(String, ExportStream.Format)] = [
            ("application/x-ndjson", .ndjson), ("application/json", .json), ("text/csv", .csv),
        ]
        guard let best = offers.map({ (format: $0.1, weight: accept.weight(of: $0.0)) }).max(by: { $0.weight < $1.weight }),
            best.weight > 0
        else { throw Problem(.notAcceptable, "an export is NDJSON, JSON or CSV") }
        return offers.first { accept.weight(of: $0.0) == best.weight }?.1 ?? .ndjson
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Exports of a whole realm, or of the objects of one class.
struct ExportEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET …/export`: all objects of one version, or those of a class that match a predicate.
    ///
    /// On the daemon's thread it only throws that a long step begins; a worker then calls it again.
    ///
    /// - Returns: A response that is read from one version, however long the client takes. Texts are
    ///   streamed; databases and workbooks are complete before they are sent.
    /// - Throws: The `Problem` of a wrong parameter or query, or of an unknown class or snapshot.
    func get(_ call: Call) throws(Problem) -> Reply {
        // Queries are parsed and bound before the first line, which may take long.
        try Problem.stored(call.request.budget.beginLongStep())
        return .now(try export(call))
    }

    /// Reads the parameters, chooses the version and makes the response.
    ///
    /// A stream checks its deadline and sizes part by part, so a long export is not limited as a whole.
    private func export(_ call: Call) throws(Problem) -> Response {
        let parameters = try ParameterSet(call)
        let format = try exportFormat(call, try parameters.text("format"))
        let separator = try spreadsheetSeparator(try parameters.text("csv"), format)
        let geometry = try parameters.text("geometry")
        if geometry != nil, format != .geojson { throw .conflict("'geometry' needs the format geojson", parameter: "geometry") }
        let selection = try SelectionParameters(parameters, call.limits)
        if !parameters.has("class") {
            for other in ["where", "args", "sort"] where parameters.has(other) {
                throw .conflict("'\(other)' needs 'class'", parameter: other)
            }
            if format.needsClass { throw .conflict("the format \(format.rawValue) needs 'class'", parameter: "class") }
        }
        let context = try ReadContext(call, snapshot: try parameters.text("snapshot"), version: try parameters.text("version"))
        let rows = try rows(try parameters.text("class"), selection, context)
        let (body, isCut) = try body(rows, format, separator: separator, geometry: geometry, context)
        var response = Response(status: 200, body: .stream(body))
        if isCut { response.add("Realm-Lossy", constant: "text") }
        response.add("Content-Type", constant: format.mediaType)
        context.addReadHeaders(
            to: &response, etag: context.versionTag((separator == nil ? "x" : "excel") + format.rawValue))
        // A file outlives its header fields, so its name says it too.
        let name = context.database.name.text + (context.missingParts.isEmpty ? "" : "-part")
        response.add("Content-Disposition", "attachment; filename=\"\(name).\(format.suffix)\"")
        context.addMissingParts(to: &response)
        return response
    }

    private func rows(
        _ name: String?, _ selection: SelectionParameters, _ context: ReadContext
    ) throws(Problem) -> StreamRows {
        let budget = context.call.request.budget
        let seconds = context.limits.readSeconds
        guard let name else { return try StreamRows(allOf: context.snapshot, budget: budget, secondsPerChunk: seconds) }
        guard let table = context.snapshot.classTable(named: name) else {
            try context.call.requireNoOtherRights(on: name, in: context.snapshot)
            throw Problem.noClass(name, in: context.snapshot).with("parameter", "class")
        }
        let query =
            try selection.predicate.map { text throws(Problem) in try SelectionParameters.query(text, context.limits) } ?? .all
        if query.hasDescriptors, !selection.sort.isEmpty {
            throw .conflict("'sort' cannot be combined with SORT, DISTINCT or LIMIT in 'where'", parameter: "sort")
        }
        return try StreamRows(
            query, of: table,
            .init(
                arguments: try ArgumentDecoder(context.snapshot).decode(selection.args),
                order: ResultOrder(sort: selection.sort.map { .init(path: $0.path, isAscending: $0.isAscending) }),
                mapping: context.database.backlinkNames.mapping),
            in: context.snapshot, budget: budget, sortedValues: context.limits.sortedValues, secondsPerChunk: seconds)
    }

    /// Returns the content to send, and whether texts are truncated in it.
    private func body(
        _ rows: StreamRows, _ format: ExportFormat, separator: UInt8?, geometry: String?, _ context: ReadContext
    ) throws(Problem) -> (body: any ChunkProducer, isCut: Bool) {
        let version = context.version.tokenText
        switch format {
        case .ndjson, .json, .csv:
            let stream = ExportStream(rows, version: version, format: format, isPartial: !context.missingParts.isEmpty)
            if let separator { stream.fitSpreadsheets(separator: separator) }
            return (stream, false)
        case .postgresql: return (try SQLScriptStream(rows, version: version), false)
        case .ejson: return (LineStream(mongo: rows), false)
        case .geojson: return (try GeoJSONStream(rows, geometry: geometry), false)
        case .sqlite, .xlsx:
            let (file, isCut) = try file(rows, format, context)
            return (FileProducer(file), isCut)
        }
    }

    /// Makes the file of an export, and returns whether texts are truncated in it.
    private func file(
        _ rows: StreamRows, _ format: ExportFormat, _ context: ReadContext
    ) throws(Problem) -> (file: BodyFile, isCut: Bool) {
        let file: BodyFile
        do throws(StorageError) {
            file = try BodyFile.make(
                inOneOf: server.spoolFolders, try context.call.request.body.spool?.open(for: context.call.account))
        } catch {
            throw Problem(keepingCopy: error)
        }
        let limit = context.limits.spool.bytesPerClient
        let end = Instant.now().adding(seconds: Double(context.limits.http.answerSeconds))
        return try endingWithRealm(context) { () throws(Problem) in
            guard format == .xlsx else {
                try TableFile.writeSQLite(rows, to: file, byteLimit: limit, until: end)
                return (file, false)
            }
            return (file, try TableFile.writeWorkbook(rows, to: file, byteLimit: limit, until: end))
        }
    }

    /// Makes a file, and ends the work when the realm is deleted, or the scope of its sender has changed. A stream is examined
    /// while it is sent, and a file has to be while it is made.
    private func endingWithRealm<Result>(_ context: ReadContext, _ body: () throws(Problem) -> Result) throws(Problem) -> Result {
        let (budget, database, standing) = (context.call.request.budget, context.database, context.call.standing)
        let isWanted = budget.isStillWanted
        budget.isStillWanted = {
            (isWanted?() ?? true) && standing.problem == nil && database.health.checkFileIfDue(.now()) == nil
        }
        defer { budget.isStillWanted = isWanted }
        do throws(Problem) {
            return try body()
        } catch {
            try standing.require()
            if let failure = database.health.failure { throw Problem(unavailable: failure) }
            throw error
        }
    }

    /// Returns the separator of cells in CSV for a spreadsheet (`csv=excel`); nil for CSV as it is imported again.
    ///
    /// - Throws: `invalid_parameter` for another value, `conflicting_parameters` for a format other
    ///   than CSV.
    private func spreadsheetSeparator(_ text: String?, _ format: ExportFormat) throws(Problem) -> UInt8? {
        guard let text else { return nil }
        guard let separator = ExportEndpoints.separators[text] else {
            throw .invalidParameter("csv", "'csv' takes excel or excel-semicolon")
        }
        guard format == .csv else { throw .conflict("'csv' needs the format csv", parameter: "csv") }
        return separator
    }

    /// The separators by the values of `csv`.
    private static let separators: [ByteText: UInt8] = ["excel": UInt8(ascii: ","), "excel-semicolon": UInt8(ascii: ";")]

    /// Returns the format of an export, from the parameter `format` or else from `Accept`.
    ///
    /// Without either it is NDJSON. Where `Accept` admits several formats equally, NDJSON comes
    /// first, and the others follow in the order in which they are listed.
    ///
    /// - Throws: `invalid_parameter` for an unknown name, `not_acceptable` when `Accept` admits
    ///   none of them.
    private func exportFormat(_ call: Call, _ name: String?) throws(Problem) -> ExportFormat {
        if let name {
            if let format = ExportFormat(rawValue: name) { return format }
            let hint = Suggestion.hint(for: name, in: ExportFormat.allCases.map(\.rawValue))
            throw .invalidParameter("format", "an export has the formats \(ExportFormat.list)\(hint)")
        }
        guard let text = call.request[.accept], !text.isEmpty else { return .ndjson }
        let offers = ExportFormat.allCases.map { format in
            (String(format.mediaType.description.prefix { $0 != ";" }), format)
        }
        guard let format = AcceptHeader(text).preferred(offers) else {
            throw Problem(.notAcceptable, "'Accept' permits no format of an export: \(ExportFormat.list)")
        }
        return format
    }
}

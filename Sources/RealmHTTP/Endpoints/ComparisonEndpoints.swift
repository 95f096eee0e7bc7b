// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Comparisons of two versions of a realm.
struct ComparisonEndpoints: Sendable {
    /// The number of classes that a request may name.
    private static let classLimit = 1000

    let server: ServerState

    /// Answers `GET …/diff`: the differences of a version that is held, and another one or the newest.
    ///
    /// A worker answers, as two schemas may take long to pair.
    func get(_ call: Call) throws(Problem) -> Reply {
        .work {
            do throws(Problem) {
                return try compare(call)
            } catch {
                return Response(error, for: call)
            }
        }
    }

    /// Makes the response, which is streamed.
    ///
    /// - Throws: The `Problem` of a wrong parameter, or of an unknown version or class.
    private func compare(_ call: Call) throws(Problem) -> Response {
        try call.request.checkDeadline()
        let parameters = try ParameterSet(call)
        let format = try format(call, try parameters.text("format"))
        let classes = try parameters.list("class", atMost: ComparisonEndpoints.classLimit)
        guard let from = try parameters.text("from") else {
            throw .invalidParameter("from", "'from' has to name a snapshot, or a version that the file has or a snapshot holds")
        }
        let old = try context(call, from, "from")
        let to = try parameters.text("to")
        let new = try context(call, to, "to")
        for name in classes ?? []
        where old.snapshot.classTable(named: name) == nil && new.snapshot.classTable(named: name) == nil {
            try call.requireNoOtherRights(on: name, in: new.snapshot)
        }
        // The answer lasts no longer than either snapshot does.
        call.readsSnapshot = true
        let options = ComparisonOptions(
            identity: .objectKey, classes: classes,
            sharesNodes: new.database.isWritable && old.version.token.epoch == new.version.token.epoch)
        let stream = try ComparisonStream(
            from: side(old, from), to: side(new, to), options, format: format, budget: call.request.budget,
            secondsPerChunk: new.limits.readSeconds)
        return response(stream, format, from: old, to: new)
    }

    private func response(
        _ stream: ComparisonStream, _ format: ComparisonFormat, from old: ReadContext, to new: ReadContext
    ) -> Response {
        var response = Response(status: 200, body: .stream(stream))
        response.add("Content-Type", constant: format.mediaType)
        new.addReadHeaders(to: &response, etag: new.versionTag("d\(format.rawValue).\(old.version.tokenText)"))
        new.addMissingParts(to: &response)
        guard format == .html else { return response }
        response.headers += ComparisonEndpoints.pageRules
        response.isPage = true
        return response
    }

    /// The policy for browsers that show the page: its own style, and nothing else.
    private static let pageRules: [HeaderField] = [
        HeaderField(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"),
        HeaderField("Cross-Origin-Opener-Policy", "same-origin"),
        HeaderField("Referrer-Policy", "same-origin"),
    ]

    private func side(_ context: ReadContext, _ text: String?) -> ComparedVersion {
        ComparedVersion(
            context.snapshot, version: context.version.tokenText, lease: text.flatMap { VersionName($0) == nil ? $0 : nil },
            isPartial: !context.missingParts.isEmpty)
    }

    /// Returns the version that a parameter names, as the sender sees it.
    ///
    /// - Parameters:
    ///   - text: The id of a snapshot, the token of the newest version or of one that a snapshot of the sender holds, or the name
    ///     of a version that the file has; nil for the newest version.
    ///   - name: The name of the parameter.
    /// - Throws: `not_found` for a version that is not held, and what a read of the snapshot throws.
    private func context(_ call: Call, _ text: String?, _ name: String) throws(Problem) -> ReadContext {
        guard let text, let named = VersionName(text) else { return try ReadContext(call, snapshot: text) }
        guard case .token(let token) = named else { return try ReadContext(call, version: text) }
        let database = try call.database()
        if database.current.token == token { return try ReadContext(call) }
        let owner = call.ownerScope
        let held = server.pinned.all(of: database).first { $0.version.token == token && owner ?? $0.owner == $0.owner }
        if held == nil, call.scope == nil, let former = try? ReadContext(call, version: text) { return former }
        guard let held else {
            throw Problem(.notFound, "no snapshot of yours holds the version \(text.truncated)").with("parameter", name)
        }
        return try ReadContext(call, snapshot: held.id)
    }

    /// Returns the form of a comparison, from the parameter `format` or else from `Accept`; lines without either.
    ///
    /// - Throws: `invalid_parameter` for an unknown name, `not_acceptable` when `Accept` admits none of them.
    private func format(_ call: Call, _ name: String?) throws(Problem) -> ComparisonFormat {
        if let name {
            if let format = ComparisonFormat(rawValue: name) { return format }
            let hint = Suggestion.hint(for: name, in: ComparisonFormat.allCases.map(\.rawValue))
            throw .invalidParameter("format", "a comparison has the formats \(ComparisonFormat.list)\(hint)")
        }
        guard let text = call.request.headers[.accept], !text.isEmpty else { return .ndjson }
        let offers = ComparisonFormat.allCases.map { (String($0.mediaType.description.prefix { $0 != ";" }), $0) }
        guard let format = AcceptHeader(text).preferred(offers) else {
            throw Problem(.notAcceptable, "'Accept' permits no format of a comparison: \(ComparisonFormat.list)")
        }
        return format
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Schemas in several forms, and the API descriptions.
struct SchemaEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET …/schema` and `…/schema/{class}`, on this thread for small schemas and by a worker for large ones.
    ///
    /// - Returns: The schema in the requested form, or 304 when the client has that already.
    /// - Throws: The `Problem` of a wrong parameter, or `class_not_found`.
    func schema(_ call: Call) throws(Problem) -> Reply {
        try Reply.reading(call, isShort: hasShortSchema(call)) { () throws(Problem) in try document(call) }
    }

    /// Answers `GET …/openapi.json` with the API description of one realm, derived from its current
    /// schema. A worker answers, as making the description takes milliseconds.
    func realmOpenAPI(_ call: Call) throws(Problem) -> Reply {
        try Reply.reading(call, isShort: false) { () throws(Problem) in try realmDescription(call) }
    }

    /// Answers `GET /v1/openapi.json` with the description of the whole interface. A worker
    /// answers, since the text may have to be made first.
    func openAPI(_ call: Call) throws(Problem) -> Reply {
        try Reply.reading(call, isShort: false) { () throws(Problem) in
            description(
                call,
                OutputBuffer.text(
                    server.api.text(try integers(try ParameterSet(call)))),
                epoch: "api")
        }
    }

    /// Returns the response with a schema, whose entity tag depends on the text and on the epoch of the file.
    private func document(_ call: Call) throws(Problem) -> Response {
        let parameters = try QueryParameters(call.request.target)
        try parameters.requireKnown(call.queryNames)
        let format = try schemaFormat(call, parameters["format"])
        let context = try ReadContext(call, snapshot: parameters["snapshot"], version: parameters["version"])
        let schema = RealmSchema(context.snapshot, context.database.backlinkNames).adding(context.database.defaults)
        let text = try schemaText(call, schema, format)
        let version = schema.version.map(String.init) ?? "none"
        let etag = "\"s.\(context.version.token.epoch).\(version).\(SchemaEndpoints.hash(text))\""
        var response = call.isCurrent(etag) ? Response(status: 304) : Response(type: format.mediaType, text)
        response.add("ETag", etag)
        response.add("Realm-Version", context.version.tokenText)
        context.addMissingParts(to: &response)
        response.add("Cache-Control", constant: "private, no-cache")
        return response
    }

    /// Returns whether describing the schema takes well under a millisecond: at most 50 classes with 500 properties together.
    private func hasShortSchema(_ call: Call) -> Bool {
        guard case .ready(let database)? = call.realm else { return true }
        let classes = database.current.snapshot.classes
        return classes.count <= 50 && classes.reduce(0) { $0 + $1.columns.count } <= 500
    }

    /// Returns a hash of a text for entity tags. It is the same in every process.
    private static func hash(_ text: OutputBuffer) -> String {
        var hash = StableHash()
        unsafe text.withBytes { unsafe hash.add($0) }
        return String(hash.value, radix: 36)
    }

    /// Returns the text of a schema, or of the class that the path names.
    ///
    /// - Throws: `class_not_found`, or the problem of a text longer than a response may be.
    private func schemaText(_ call: Call, _ schema: RealmSchema, _ format: SchemaFormat) throws(Problem) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: 4096)
        guard call.match.pattern.position(of: .class) != nil else {
            try Problem.stored(format.write(schema, to: buffer, call.request.budget))
            return buffer
        }
        let name = try call.match[.class]
        guard let one = schema.classes.first(where: { $0.name == name }) else {
            let names = schema.classes.lazy.map(\.name)
            throw Problem(.classNotFound, "there is no class of this name\(Suggestion.hint(for: name, in: names))")
        }
        buffer.append(format.text(one, of: schema))
        try Problem.stored(call.request.budget.requireRoom(for: buffer.count))
        return buffer
    }

    /// Returns the form of the schema, from the parameter `format` or else from `Accept`.
    ///
    /// - Throws: `invalid_parameter` for an unknown name, `not_acceptable` when `Accept` admits
    ///   neither JSON nor JSON Schema.
    private func schemaFormat(_ call: Call, _ name: String?) throws(Problem) -> SchemaFormat {
        if let name {
            guard let format = SchemaFormat(rawValue: name) else {
                let names = SchemaFormat.allCases.map(\.rawValue)
                throw .invalidParameter(
                    "format",
                    "there is no schema format '\(name.truncated)'; the formats are \(names.joined(separator: ", "))"
                        + Suggestion.hint(for: name, in: names))
            }
            return format
        }
        guard let text = call.request[.accept], !text.isEmpty else { return .json }
        let offers: [(String, SchemaFormat)] = [
            ("application/json", .json), ("application/ejson", .json), ("application/schema+json", .jsonSchema),
        ]
        guard let format = AcceptHeader(text).preferred(offers) else {
            throw Problem(
                .notAcceptable,
                "none of the media types of this path is acceptable to the client; there are \(offers.map(\.0).joined(separator: ", "))"
            )
        }
        return format
    }

    /// Returns the form of integers that the parameter `ints` requests; numbers by default.
    private func integers(_ set: ParameterSet) throws(Problem) -> OpenAPIDocument.Integers {
        try set.choice("ints", ["number", "string"]) == "string" ? .string : .number
    }

    /// Returns the response with the API description of one realm.
    private func realmDescription(_ call: Call) throws(Problem) -> Response {
        let set = try ParameterSet(call)
        let ints = try integers(set)
        let profile = try set.choice("profile", OpenAPIDocument.Profile.allCases.map(\.rawValue))
        let context = try ReadContext(call)
        let text = OutputBuffer(capacity: 64 << 10)
        let description = OpenAPIRealm(
            realm: context.database.name.text, snapshot: context.snapshot, ints: ints,
            profile: OpenAPIDocument.Profile(rawValue: profile) ?? .full, limits: call.limits, defaults: context.database.defaults
        )
        try Problem.stored(description.write(version: Build.version, to: text, call.request.budget))
        var response = self.description(call, text, epoch: context.version.token.epoch)
        response.add("Realm-Version", context.version.tokenText)
        context.addMissingParts(to: &response)
        return response
    }

    /// Returns a response with an API description and an entity tag, or 304.
    ///
    /// - Parameters:
    ///   - call: The call, with the tags that the client has.
    ///   - epoch: The prefix of the tag: the epoch of the realm, or `api`.
    private func description(_ call: Call, _ text: OutputBuffer, epoch: String) -> Response {
        let etag = "\"o.\(epoch).\(SchemaEndpoints.hash(text))\""
        var response = call.isCurrent(etag) ? Response(status: 304) : Response(type: "application/json", text)
        response.add("ETag", etag)
        response.add("Cache-Control", constant: "private, no-cache")
        return response
    }
}

/// The API description of one server as JSON text, in both forms of integers.
///
/// Each form is assembled when a request first needs it, and kept until the limits change,
/// which are all that it depends on. Any thread may use it.
final class APIDescription: Sendable {
    /// The limits of the server; which the description states.
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }
    /// The texts made so far, by the form of integers, each with the limits that it states.
    private let texts = RankedMutex<[OpenAPIDocument.Integers: (limits: Limits, text: String)]>(.leaf, [:])

    /// Creates the description of a server; no text is made yet.
    ///
    /// - Parameter limits: The limits that the description states.
    init(_ limits: LiveLimits) { liveLimits = limits }

    /// Returns the document as JSON.
    ///
    /// Two requests that come first at the same time may both assemble the text; the lock is not held while they do, and the
    /// results are equal.
    ///
    /// - Parameter ints: The form of integers in the responses that are described.
    /// - Complexity: O(1) after the first call for a form.
    func text(_ ints: OpenAPIDocument.Integers) -> String {
        let limits = limits
        if let known = texts.withLock({ $0[ints] }), known.limits == limits { return known.text }
        let text = OpenAPIDocument.api(version: Build.version, ints: ints, limits: limits).json
        texts.withLock { $0[ints] = (limits, text) }
        return text
    }
}

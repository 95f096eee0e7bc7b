// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Schemas, and descriptions of the interface.
struct SchemaEndpoints: Sendable {
    /// The description of the whole interface, as text, for the two ways to write integers.
    let apiText: @Sendable (OpenAPIDocument.Integers) -> String

    /// `GET …/schema` and `…/schema/{class}`
    func schema(_ call: Call) throws(Problem) -> Reply {
        try Reply.reading(call.request, isShort: hasShortSchema(call)) { () throws(Problem) in try document(call) }
    }

    /// `GET …/openapi.json`: made from the live schema.
    func realmOpenAPI(_ call: Call) throws(Problem) -> Reply {
        try Reply.reading(call.request, isShort: hasShortSchema(call)) { () throws(Problem) in try realmDescription(call) }
    }

    /// `GET /v1/openapi.json`
    func openAPI(_ call: Call) throws(Problem) -> Reply {
        try Reply.reading(call.request, isShort: false) { () throws(Problem) in
            description(call, OutputBuffer.text(apiText(try integers(call))), epoch: "api")
        }
    }

    private func document(_ call: Call) throws(Problem) -> Response {
        let parameters = try QueryParameters(call.request.target)
        try parameters.requireKnown(["format", "snapshot"])
        let format = try schemaFormat(call, parameters["format"])
        let context = try ReadContext(call, snapshot: parameters["snapshot"])
        let schema = RealmSchema(context.snapshot, context.database.backlinkNames)
        let text = try schemaText(call, schema, format)
        let version = schema.version.map(String.init) ?? "none"
        let etag = "\"s.\(context.version.token.epoch).\(version).\(SchemaEndpoints.hash(text))\""
        var response = call.isCurrent(etag) ? Response(status: 304) : Response(type: format.mediaType, text)
        response.add("ETag", etag)
        response.add("Realm-Version", context.version.tokenText)
        response.add("Cache-Control", constant: "no-cache")
        return response
    }

    /// Whether the description of a schema takes well under a millisecond.
    private func hasShortSchema(_ call: Call) -> Bool {
        guard case .ready(let database)? = call.request.realm else { return true }
        let classes = database.current.snapshot.classes
        return classes.count <= 50 && classes.reduce(0) { $0 + $1.columns.count } <= 500
    }

    private static func hash(_ text: OutputBuffer) -> String {
        var hash = StableHash()
        unsafe text.withBytes { unsafe hash.add($0) }
        return String(hash.value, radix: 36)
    }

    private func schemaText(_ call: Call, _ schema: RealmSchema, _ format: SchemaFormat) throws(Problem) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: 4096)
        guard call.match.pattern.position(of: .class) != nil else {
            try Problem.mapping { () throws(StorageError) in try format.write(schema, to: buffer, call.request.budget) }
            return buffer
        }
        let name = try call.match[.class]
        guard let one = schema.classes.first(where: { $0.name == name }) else {
            throw Problem(.classNotFound, "there is no class of this name")
        }
        buffer.append(format.text(one))
        try Problem.mapping { () throws(StorageError) in try call.request.budget.requireRoom(for: buffer.count) }
        return buffer
    }

    private func schemaFormat(_ call: Call, _ name: String?) throws(Problem) -> SchemaFormat {
        if let name {
            guard let format = SchemaFormat(rawValue: name) else {
                throw .invalidParameter("format", "there is no schema format '\(name)'")
            }
            return format
        }
        guard let text = call.request.headers[.accept], !text.isEmpty else { return .json }
        let accept = AcceptHeader(text)
        let offers = [
            ("application/json", SchemaFormat.json), ("application/ejson", .json), ("application/schema+json", .jsonSchema),
        ]
        let best = offers.map { (format: $0.1, weight: accept.weight(of: $0.0)) }.max { $0.weight < $1.weight }
        guard let best, best.weight > 0 else {
            throw Problem(.notAcceptable, "none of the media types of this path is acceptable to the client")
        }
        return accept.weight(of: "application/json") >= best.weight ? .json : best.format
    }

    private func integers(_ call: Call) throws(Problem) -> OpenAPIDocument.Integers {
        let set = try ParameterSet(try QueryParameters(call.request.target), urlNames: ["ints"])
        return try set.choice("ints", ["number", "string"]) == "string" ? .string : .number
    }

    private func realmDescription(_ call: Call) throws(Problem) -> Response {
        let ints = try integers(call)
        let context = try ReadContext(call)
        let text = OutputBuffer(capacity: 64 << 10)
        let description = OpenAPIRealm(
            realm: context.database.name.text, snapshot: context.snapshot, ints: ints, limits: call.limits)
        try Problem.mapping { () throws(StorageError) in
            try description.write(version: Build.version, to: text, call.request.budget)
        }
        var response = self.description(call, text, epoch: context.version.token.epoch)
        response.add("Realm-Version", context.version.tokenText)
        return response
    }

    private func description(_ call: Call, _ text: OutputBuffer, epoch: String) -> Response {
        let etag = "\"o.\(epoch).\(SchemaEndpoints.hash(text))\""
        var response = call.isCurrent(etag) ? Response(status: 304) : Response(type: "application/json", text)
        response.add("ETag", etag)
        response.add("Cache-Control", constant: "no-cache")
        return response
    }
}

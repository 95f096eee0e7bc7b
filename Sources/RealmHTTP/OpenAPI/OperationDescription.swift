// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The entry of the API description for one method at a path.
///
/// A `RouteOperation` has one of these next to its function. The path, its variables and the method are not repeated here: they
/// come from the route, so that the document and the router cannot disagree.
struct OperationDescription: Sendable {
    /// The `operationId`, which generators use as the name of a function. It is unique in a document.
    let id: String
    /// One sentence about the operation, for people who read the document.
    let summary: String
    /// The text beyond the summary.
    let details: String
    /// A sentence about the body of a request.
    let bodyText: String
    /// The group under which documentation shows the operation, such as `objects`; in the document
    /// of a realm the name of a class.
    let tag: String
    /// The names of the shared parameters besides those of the path variables, in the order of the document.
    let parameters: [String]
    /// The media types that the body of a request may have; the empty set for an operation without one.
    let bodyTypes: BodyTypes
    /// The schema of the JSON forms of the body; nil when no body is described, as for reads that `QUERY` shares with `GET`.
    let body: DocumentValue?
    /// Whether lines in a body are described as bytes, which all clients send as they are.
    var sendsLinesAsBytes = false
    /// Whether a request without a body is an error.
    let requiresBody: Bool
    /// The responses of success by status, as an object.
    let responses: DocumentValue
    /// The codes of all problems that a request can be answered with.
    let problems: Set<ProblemCode>

    /// Creates the description of an operation.
    ///
    /// - Parameters:
    ///   - id: The `operationId`, unique in a document.
    ///   - summary: One sentence for people.
    ///   - details: The text beyond the summary; nil for that of `OpenAPITexts` under the id.
    ///   - tag: The group under which the operation is shown.
    ///   - parameters: The names of shared parameters in addition to those of path variables.
    ///   - types: The media types that the body may have.
    ///   - body: The schema of the JSON forms of the body; nil when none is described.
    ///   - bodyText: A sentence about the body; nil for that of `OpenAPITexts` under the id.
    ///   - requiresBody: Whether a request without a body is an error.
    ///   - responses: The responses of success by status, as an object.
    ///   - problems: The codes of the operation in addition to those that any request, and any body, can have.
    init(
        _ id: String, _ summary: String, details: String? = nil, tag: String, parameters: [String] = [],
        taking types: BodyTypes = [], body: DocumentValue? = nil, bodyText: String? = nil, requiresBody: Bool = true,
        responses: DocumentValue, problems: Set<ProblemCode>...
    ) {
        self.id = id
        self.summary = summary
        self.details = details ?? OpenAPITexts.operations[id]?.details ?? summary
        self.bodyText = bodyText ?? OpenAPITexts.operations[id]?.body ?? "The body is one document of the schema."
        self.tag = tag
        self.parameters = parameters
        bodyTypes = types
        self.body = body
        self.requiresBody = requiresBody
        self.responses = responses
        self.problems = problems.reduce(types.isEmpty ? .ofAnyRequest : Set.ofAnyRequest.union(Set.ofBodies)) { $0.union($1) }
    }

    /// Returns the operation object for the document.
    ///
    /// - Parameter variables: The variables of the path, whose parameters come first.
    /// - Returns: An OpenAPI operation object; members without a value are left out.
    ///   `x-problem-codes` lists the codes of problems, except those that any request can have:
    ///   these are listed at the shared response `Problem`.
    func document(variables: [PathVariable]) -> DocumentValue {
        let names = variables.map { OpenAPIParts.parameterName(of: $0) } + parameters
        return OpenAPIExamples.illustrated(
            .members(
                ("operationId", .string(id)), ("summary", .string(summary)), ("description", .string(details)),
                ("tags", [.string(tag)]), ("parameters", names.isEmpty ? nil : .array(names.map(OpenAPIParts.parameter))),
                ("requestBody", bodyDocument),
                ("responses", tried.adding(problemResponses)),
                ("x-problem-codes", problems.subtracting(.ofAnyRequest).document)))
    }

    /// Returns the description of `QUERY` (RFC 10008) at the path, as an extension, since OpenAPI 3.0 has no such method.
    ///
    /// - Parameter body: The name of the schema of the body.
    func queryDocument(body: String) -> DocumentValue {
        OpenAPIExamples.illustrated([
            "summary": .string(summary),
            "description": "Does the same as GET, with the parameters as members of the body.",
            "tags": [.string(tag)],
            "requestBody": [
                "description": "The body has the parameters of GET as members.", "required": false,
                "content": .object(bodyTypes.all.map { .init($0.rawValue, ["schema": OpenAPIParts.schema(body)]) }),
            ],
            "responses": responses.adding([.init("default", OpenAPIParts.response("Problem"))]),
        ])
    }

    /// The request body with its media types; nil when none is described.
    private var bodyDocument: DocumentValue? {
        body.map { schema in
            [
                "description": .string(bodyText), "required": .bool(requiresBody),
                "content": .object(bodyTypes.all.map { .init($0.rawValue, ["schema": mediaSchema($0, schema)]) }),
            ]
        }
    }

    private func mediaSchema(_ type: BodyType, _ schema: DocumentValue) -> DocumentValue {
        (type == .ndjson && sendsLinesAsBytes ? .bytes : type).schema(schema)
    }

    /// The responses. 200 is also the response to a write with `dryRun=true`, where that is possible.
    private var tried: DocumentValue {
        guard parameters.contains("DryRun") else { return responses }
        return .object(responses.members.map { $0.name == "200" ? .init("200", OperationDescription.tried($0.value)) : $0 })
    }

    /// Returns a response of status 200 that is also the one to a write with `dryRun=true`.
    ///
    /// A batch has a member for that in its own result.
    private static func tried(_ response: DocumentValue) -> DocumentValue {
        guard let schema = response["content"]?["application/json"]?["schema"], let name = schema["$ref"]?.text,
            let text = response["description"]?.text, !name.hasSuffix("/DryRun"), !name.hasSuffix("BatchResult")
        else { return response }
        let described = String(text.dropLast()) + ", or with dryRun=true the response that the write would have had."
        let either: DocumentValue = ["schema": ["anyOf": [schema, OpenAPIParts.schema("DryRun")]]]
        return .object(
            response.members.map { member in
                switch member.name {
                case "description": return .init("description", .string(described))
                case "content": return .init("content", ["application/json": either])
                default: return member
                }
            })
    }

    /// A reference to the problem document for each status that the problems have, in ascending order, and one for all others.
    private var problemResponses: [DocumentValue.Member] {
        let statuses = Set(problems.map(\.status)).sorted().map(String.init)
        return (statuses + ["default"]).map { .init($0, OpenAPIParts.response("Problem")) }
    }
}

/// Lists of codes in the API description.
extension Set<ProblemCode> {
    /// The codes as an array of the API description, sorted; nil for none.
    var document: DocumentValue? { isEmpty ? nil : .array(map(\.rawValue).sorted().map { .string($0) }) }
}

extension BodyType {
    /// Returns the schema of a body of this type in the API description.
    ///
    /// - Parameter schema: The schema of the JSON forms of the body. Lines, tables, bytes and a JSON Patch have separate schemas.
    func schema(_ schema: DocumentValue) -> DocumentValue {
        switch self {
        case .json, .ejson, .mergePatch: return schema
        case .jsonPatch: return OpenAPIParts.schema("JSONPatch")
        case .ndjson: return OpenAPIParts.schema("Lines")
        case .csv: return OpenAPIParts.schema("Table")
        case .bytes, .sqlite: return ["type": "string", "format": "binary"]
        }
    }
}

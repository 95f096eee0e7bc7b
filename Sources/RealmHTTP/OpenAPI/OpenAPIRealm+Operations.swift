// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The operations of a realm: those of each class, and those of the realm as a whole.
extension OpenAPIRealm {
    // MARK: - Classes

    /// Returns the paths of a class with their operations.
    ///
    /// Objects of embedded classes are changed through their owners, so these classes have reads only.
    func paths(_ table: Table) -> [DocumentValue.Member] {
        let name = identifier(table)
        let label = table.className ?? ""
        let prefix = "/v1/realms/\(realm)"
        let word = PercentDecoding.encode(label)
        let path = "\(prefix)/objects/\(word)"
        let operations = ClassOperations(name: name, label: label, profile: profile, ints: ints)
        let isChanged = table.kind != .embedded
        let list = [("get", operations.list)] + (isChanged ? operations.changesOfMany : [])
        let object = [("get", operations.object)] + (isChanged ? operations.changesOfOne : [])
        let common = [
            member(path, list, variables: []), member("\(path)/{key}", object, variables: [.key]),
        ]
        guard profile == .full else { return common }
        let query = DocumentValue.Member("x-query", operations.list.queryDocument(body: "QueryBody"))
        return [.init(path, common[0].value.adding([query])), common[1]] + [
            member("\(prefix)/query/\(word)", [("post", operations.query)], variables: []),
            member(
                "\(prefix)/aggregate/\(word)", [("get", operations.aggregate), ("post", operations.aggregateByBody)],
                variables: []),
            member("\(prefix)/changes/\(word)", [("get", operations.poll)], variables: []),
        ] + (isChanged ? [member("\(prefix)/batch/\(word)", [("post", operations.batch)], variables: [])] : [])
    }

    /// Returns one path with its operations.
    ///
    /// - Parameters:
    ///   - path: The path, with variables in braces.
    ///   - operations: The names of methods in lower case, with the operations.
    ///   - variables: The variables of the path that are parameters. The realm and the class are
    ///     fixed words here.
    private func member(
        _ path: String, _ operations: [(String, OperationDescription)], variables: [PathVariable]
    ) -> DocumentValue.Member {
        .init(path, .object(operations.map { DocumentValue.Member($0, $1.document(variables: variables)) }))
    }

    // MARK: - Realm

    /// The paths that concern several classes, as in the description of the whole interface but for this realm.
    var sharedPaths: [DocumentValue.Member] {
        shared.map { path in
            member(
                path.pattern.replacing("{realm}", with: realm),
                path.operations.map { method, operation in (method, operation.inPlainJSON(ints)) },
                variables: path.variables.filter { $0 != .realm })
        }
    }

    /// The tags of these paths.
    var sharedTags: Set<ByteText> { Set(texts: shared.flatMap { $0.operations.map(\.1.tag) }) }
}

/// A path of a description with its operations.
struct OpenAPIPath {
    /// The path, with variables in braces.
    let pattern: String
    let variables: [PathVariable]
    /// The names of methods in lower case, with the operations.
    let operations: [(String, OperationDescription)]
}

/// The operations on the objects of one class.
struct ClassOperations {
    /// The name of the class in ids and schemas.
    let name: String
    /// The name of the class.
    let label: String
    /// The level of detail.
    let profile: OpenAPIDocument.Profile
    /// The form of integers in the responses.
    let ints: OpenAPIDocument.Integers

    /// The parameters of a read in the form that is described; few of them in the simple description.
    private func parameters(_ full: [String], simple: [String]) -> [String] {
        (profile == .simple ? simple : full) + (ints == .string ? ["Ints"] : [])
    }

    /// The parameters that writes of objects have in common.
    private static let common = ["Nested", "Meta", "IfMatch", "Prefer", "RealmTransaction", "RealmWithoutNotifying", "RequestId"]

    /// Returns a response with a JSON document.
    private func answer(
        _ status: String, _ description: String, _ schema: String, headers: DocumentValue
    ) -> DocumentValue.Member {
        .init(
            status,
            [
                "description": .string(description), "headers": headers,
                "content": ["application/json": ["schema": OpenAPIParts.schema(schema)]],
            ])
    }

    /// The header fields of a response that shows one object.
    private static let objectHeaders = OpenAPIParts.readHeaders
    /// The header fields of a response to a creation.
    private static let createdHeaders = OpenAPIParts.readHeaders.adding([.init("Location", OpenAPIParts.header("Location"))])

    /// The response to a write that is done later.
    private static let queued = DocumentValue.Member(
        "202",
        [
            "description": "The write is queued; the header field Location names the path that reports its state.",
            "headers": ["X-Request-Id": OpenAPIParts.header("RequestId"), "Location": OpenAPIParts.header("Location")],
            "content": ["application/json": ["schema": OpenAPIParts.schema("WriteState")]],
        ])

    /// Returns responses of a write, with that of a write which is done later where a client can ask for it.
    private func written(_ members: DocumentValue.Member...) -> DocumentValue {
        .object(members + (profile == .full ? [ClassOperations.queued] : []))
    }

    /// Returns the responses of a read.
    private func read(_ description: String, _ schema: String) -> DocumentValue {
        let success = answer("200", description, schema, headers: OpenAPIParts.readHeaders)
        return .object([success] + (profile == .full ? [.init("304", OpenAPIParts.response("NotModified"))] : []))
    }

    /// `GET …/objects/NAME`.
    var list: OperationDescription {
        OperationDescription(
            "list\(name)", "Lists objects of \(label), filtered and sorted, page by page.",
            details: OpenAPITexts.operations["listObjects"]?.details, tag: name,
            parameters: parameters(
                ClassOperations.selection + ["IfNoneMatch"] + ClassOperations.version,
                simple: ["Where", "Args", "Sort", "Limit", "After", "Count"]),
            taking: BodyTypes(.json), responses: read("The body is one page of \(label).", "\(name)Page"),
            problems: .ofReads, .ofQueries)
    }

    /// The parameters that select, sort and shape a list.
    private static let selection = [
        "Where", "Args", "Sort", "Distinct", "Limit", "After", "Offset", "Count", "Fields", "Expand", "Meta", "At", "IndexOf",
        "IndexOfWhere", "Explain", "SectionBy", "Section", "Facets",
    ]
    /// The parameters that choose the version of a read.
    private static let version = ["Snapshot", "ReadVersion", "RealmTransaction", "RealmMinVersion", "RealmRead", "RequestId"]

    /// `GET …/objects/NAME/KEY`.
    var object: OperationDescription {
        OperationDescription(
            "get\(name)", "Returns one object of \(label).", details: OpenAPITexts.operations["getObject"]?.details, tag: name,
            parameters: parameters(["Fields", "Expand", "Meta", "IfNoneMatch"] + ClassOperations.version, simple: []),
            responses: read("The body is the object of \(label).", name), problems: .ofReads, .ofObjects, [.unknownKeyPath])
    }

    /// `POST …/query/NAME`.
    var query: OperationDescription {
        byBody(
            "query\(name)", "Lists objects of \(label), with the parameters in the body.",
            text: "queryObjects", takes: "QueryBody", "The body selects and sorts objects of \(label).", gives: "\(name)Page",
            "The body is one page of the objects of \(label) that match.")
    }

    /// Returns a read whose parameters are in the body.
    ///
    /// - Parameters:
    ///   - id: The `operationId`.
    ///   - summary: A sentence about the operation.
    ///   - text: The id of the operation of any class, which has the same details.
    ///   - body: The name of the schema of the body.
    ///   - bodyText: A sentence about the body.
    ///   - answer: The name of the schema of the response.
    ///   - answerText: A sentence about the response.
    private func byBody(
        _ id: String, _ summary: String, text: String, takes body: String, _ bodyText: String, gives answer: String,
        _ answerText: String
    ) -> OperationDescription {
        OperationDescription(
            id, summary, details: OpenAPITexts.operations[text]?.details, tag: name,
            parameters: parameters(["RealmTransaction", "RealmMinVersion", "RealmRead", "RequestId"], simple: []),
            taking: BodyTypes(.json),
            body: OpenAPIParts.schema(body), bodyText: bodyText,
            responses: .object([self.answer("200", answerText, answer, headers: OpenAPIParts.readHeaders)]),
            problems: .ofReads, .ofQueries)
    }

    /// `GET …/aggregate/NAME`.
    var aggregate: OperationDescription {
        OperationDescription(
            "aggregate\(name)", "Computes count, minimum, maximum, sum and average of objects of \(label).",
            details: OpenAPITexts.operations["aggregate"]?.details, tag: name,
            parameters: parameters(
                ["Where", "Args", "Operations", "GroupBy", "GroupSort", "Limit", "Offset", "Count", "IfNoneMatch"]
                    + ClassOperations.version, simple: []),
            responses: read("The body holds one result per operation on \(label).", "Aggregates"), problems: .ofReads, .ofQueries)
    }

    /// `POST …/aggregate/NAME`.
    var aggregateByBody: OperationDescription {
        byBody(
            "aggregate\(name)ByBody", "Computes aggregates of objects of \(label), with the parameters in the body.",
            text: "aggregateByBody", takes: "AggregateBody", "The body names the operations on \(label).", gives: "Aggregates",
            "The body holds the results of the operations on \(label).")
    }

    /// `GET …/changes/NAME`.
    var poll: OperationDescription {
        OperationDescription(
            "poll\(name)", "Waits for changes of objects of \(label).", details: OpenAPITexts.operations["pollClass"]?.details,
            tag: name,
            parameters: parameters(OpenAPIChanges.pollParameters, simple: []),
            responses: .object([
                answer("200", "The body lists the changes of \(label).", "\(name)Changes", headers: OpenAPIChanges.answerHeaders)
            ]), problems: .ofChanges)
    }

    /// `POST …/batch/NAME`.
    var batch: OperationDescription {
        OperationDescription(
            "batch\(name)", "Runs operations on objects of \(label) in order, as a unit.",
            details: OpenAPITexts.operations["batchClass"]?.details, tag: name,
            parameters: parameters(["IdempotencyKey", "DryRun"] + ClassOperations.common.filter { $0 != "Nested" }, simple: []),
            taking: BodyTypes(.json), body: OpenAPIParts.schema("\(name)Batch"),
            bodyText:
                "The body lists the operations on objects of \(label), each an object with one member named after what it does.",
            responses: written(
                answer(
                    "200", "The body holds one result per operation on \(label).", "\(name)BatchResult",
                    headers: OpenAPIChanges.answerHeaders)),
            problems: .ofWrites, .ofValues, .ofQueries, .ofBatches)
    }

    /// The operations that change a class as a whole.
    var changesOfMany: [(String, OperationDescription)] {
        let created = [
            answer("201", "The body is the new object of \(label).", name, headers: ClassOperations.createdHeaders),
            answer("200", "The object of \(label) existed, and upsert changed it.", name, headers: ClassOperations.objectHeaders),
        ]
        let create = OperationDescription(
            "create\(name)", "Creates an object of \(label).",
            details:
                "An object with a key that exists is 409\(profile == .full ? " unless upsert is given" : ""). Several objects at once are created by a batch, an import, or an array as the body, which is answered with counts and keys.",
            tag: name, parameters: parameters(["Upsert"] + ClassOperations.common + ["IdempotencyKey"], simple: []),
            taking: BodyTypes(.json), body: OpenAPIParts.schema("\(name)Create"),
            bodyText: "The body is the new object of \(label).",
            responses: profile == .full ? written(created[0], created[1]) : written(created[0]), problems: .ofWrites, .ofValues)
        guard profile == .full else { return [("post", create)] }
        return [("post", create), ("patch", updateMatches), ("delete", deleteMatches)]
    }

    /// `PATCH …/objects/NAME`.
    private var updateMatches: OperationDescription {
        OperationDescription(
            "bulkUpdate\(name)", "Merges a patch into every object of \(label) that matches.",
            details: OpenAPITexts.operations["updateObjects"]?.details, tag: name,
            parameters: parameters(
                ["RequiredWhere", "Args", "MaxAffected"] + ClassOperations.common + ["IdempotencyKey"], simple: []),
            taking: BodyTypes(.mergePatch, .json), body: OpenAPIParts.schema("\(name)Patch"),
            bodyText: "The body is a merge patch for the objects of \(label).",
            responses: written(
                answer(
                    "200", "The body states how many objects of \(label) matched.", "Matched",
                    headers: OpenAPIChanges.answerHeaders)),
            problems: .ofWrites, .ofValues, .ofQueries, [.missingWhere, .tooManyAffected])
    }

    /// `DELETE …/objects/NAME`.
    private var deleteMatches: OperationDescription {
        OperationDescription(
            "bulkDelete\(name)", "Deletes every object of \(label) that matches.",
            details: OpenAPITexts.operations["deleteObjects"]?.details, tag: name,
            parameters: parameters(
                ["RequiredWhere", "Args", "MaxAffected"] + ClassOperations.common.filter { $0 != "Nested" }, simple: []),
            responses: written(
                answer(
                    "200", "The body states how many objects of \(label) were deleted.", "Matched",
                    headers: OpenAPIChanges.answerHeaders)),
            problems: .ofWrites, .ofQueries, [.missingWhere, .tooManyAffected])
    }

    /// The operations that change one object.
    var changesOfOne: [(String, OperationDescription)] {
        let empty = DocumentValue.Member(
            "204", ["description": "The write succeeded and the body is empty.", "headers": OpenAPIChanges.answerHeaders])
        let isFull = profile == .full
        let written = { (members: [DocumentValue.Member]) in
            DocumentValue.object(members + (isFull ? [empty, ClassOperations.queued] : []))
        }
        let replace = OperationDescription(
            "replace\(name)", "Creates or replaces an object of \(label).",
            details: OpenAPITexts.operations["replaceObject"]?.details, tag: name,
            parameters: parameters(ClassOperations.common + ["IfNoneMatchWrite"], simple: ["IfMatch"]), taking: BodyTypes(.json),
            body: OpenAPIParts.schema("\(name)Create"), bodyText: "The body is the whole object of \(label).",
            responses: written([
                answer("200", "The body is the object of \(label) as it is now.", name, headers: ClassOperations.objectHeaders),
                answer(
                    "201", "The body is the object of \(label) that was created.", name, headers: ClassOperations.createdHeaders),
            ]), problems: .ofWrites, .ofValues)
        let update = OperationDescription(
            "update\(name)", "Changes some properties of an object of \(label).",
            details: OpenAPITexts.operations["updateObject"]?.details, tag: name,
            parameters: parameters(ClassOperations.common + ["IdempotencyKey"], simple: ["IfMatch"]),
            // A JSON Patch is a list. Clients of some generators fail where a body may be an object or a list, by its media type.
            taking: BodyTypes(.mergePatch, .json),
            body: OpenAPIParts.schema("\(name)Patch"),
            bodyText: "The body is a merge patch for the object of \(label).",
            responses: written([
                answer(
                    "200", "The body is the object of \(label) with its changes.", name, headers: ClassOperations.objectHeaders)
            ]), problems: .ofWrites, .ofValues, [.patchTestFailed])
        let delete = OperationDescription(
            "delete\(name)", "Deletes an object of \(label) and what it owns.",
            details: OpenAPITexts.operations["deleteObject"]?.details, tag: name,
            parameters: parameters(
                ["IfMatch", "RealmTransaction", "RealmWithoutNotifying", "RequestId"], simple: ["IfMatch"]),
            responses: [
                "204": ["description": .string("The object of \(label) is deleted."), "headers": OpenAPIChanges.answerHeaders]
            ],
            problems: .ofWrites, .ofObjects)
        return [("put", replace), ("patch", update), ("delete", delete)]
    }
}

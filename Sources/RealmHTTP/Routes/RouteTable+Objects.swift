// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The schema of a request body with any object.
    private static let body = OpenAPIParts.schema("AnyProperties")
    /// The traits of reads whose responses may be kept.
    private static let kept: Route.Traits = [.readsContents, .isRepeatable, .showsVisible]

    /// The routes of objects and their properties, queries and aggregates.
    static let objectRoutes: [Route] = [
        Route(
            "/v1/realms/{realm}/objects/{class}", kept,
            operations: [
                .read(
                    [.get, .query], for: .read,
                    .list(
                        "listObjects", "Lists the objects of a class, filtered and sorted, page by page.", tag: "objects",
                        page: "ObjectPage")
                ) { _ in ListEndpoints.list },
                .write(.post, for: .write, .create("createObjects", tag: "objects", body: body)) { _ in
                    ClassWriteEndpoints.create
                },
                .write(.patch, for: .write, .updateMatches("updateObjects", tag: "objects", body: body)) { _ in
                    ClassWriteEndpoints.patch
                },
                .write(.delete, for: .write, .deleteMatches("deleteObjects", tag: "objects")) { _ in ClassWriteEndpoints.delete },
            ]),
        Route(
            "/v1/realms/{realm}/objects/{class}/{key}", kept,
            operations: [
                .read(.get, for: .read, .object("getObject", "Returns one object.", tag: "objects", schema: "RealmObject")) { _ in
                    ObjectEndpoints.get
                },
                .write(.put, for: .write, .replace("replaceObject", tag: "objects", schema: "RealmObject", body: body)) { _ in
                    ObjectWriteEndpoints.put
                },
                .write(.patch, for: .write, .update("updateObject", tag: "objects", schema: "RealmObject", body: body)) { _ in
                    ObjectWriteEndpoints.patch
                },
                .write(.delete, for: .write, .delete("deleteObject", tag: "objects")) { _ in ObjectWriteEndpoints.delete },
            ]),
        Route(
            "/v1/realms/{realm}/objects/{class}/{key}/{property}", kept,
            operations: [
                .read(
                    [.get, .query], for: .read,
                    .init(
                        "getProperty", "Returns one property: its value, or one page of a collection.", tag: "objects",
                        parameters: OpenAPIDocument.propertyParameters, taking: .json,
                        responses: OpenAPIDocument.propertyResponses,
                        problems: .ofReads, .ofQueries, .ofObjects, [.rangeNotSatisfiable])
                ) { _ in PropertyEndpoints.get },
                .write(
                    .put, for: .write,
                    .init(
                        "setProperty", "Sets one property.", tag: "objects", parameters: ["Nested"] + OpenAPIWrites.common,
                        taking: .value,
                        body: OpenAPIParts.anything.describing("Is the value in the form that the property needs."),
                        responses: OpenAPIWrites.responses(
                            ("200", "With dryRun=true the body is the response that the write would have had.", "DryRun"),
                            ("204", "The property is set.", nil)),
                        problems: .ofWrites, .ofValues)
                ) { _ in ObjectWriteEndpoints.setProperty },
            ]),
        Route(
            "/v1/realms/{realm}/objects/{class}/{key}/@links/{originClass}/{originProperty}", kept,
            operations: [
                .read(
                    [.get, .query], for: .read,
                    .init(
                        "getLinkingObjects", "Lists the objects that link to one object.", tag: "objects",
                        parameters: OpenAPIDocument.listParameters, taking: .json, responses: OpenAPIDocument.list("ObjectPage"),
                        problems: .ofReads, .ofQueries, .ofObjects)
                ) { _ in PropertyEndpoints.links }
            ]),
        Route(
            "/v1/realms/{realm}/objects/{class}/{key}/{property}/@aggregate", kept,
            operations: aggregates("aggregateProperty", of: "the elements of a collection", .ofObjects) { _ in
                AggregateEndpoints.collection
            }),
        Route(
            "/v1/realms/{realm}/objects/{class}/{key}/@links/{originClass}/{originProperty}/@aggregate", kept,
            operations: aggregates("aggregateLinkingObjects", of: "the objects that link to one object", .ofObjects) { _ in
                AggregateEndpoints.links
            }),
        Route(
            "/v1/realms/{realm}/query/{class}", [.readsContents, .showsVisible],
            operations: [
                .read(
                    .post, for: .read,
                    .init(
                        "queryObjects", "Lists the objects of a class, with the parameters in the body.", tag: "objects",
                        parameters: OpenAPIDocument.listParameters, taking: .json, body: OpenAPIParts.schema("QueryBody"),
                        responses: OpenAPIDocument.list("ObjectPage"), problems: .ofReads, .ofQueries)
                ) { _ in ListEndpoints.list }
            ]),
        Route(
            "/v1/realms/{realm}/aggregate/{class}", kept,
            operations: aggregates("aggregate", of: "the objects of a class") { _ in AggregateEndpoints.aggregate }),
        Route(
            "/v1/realms/{realm}/sql", [.readsContents, .showsVisible],
            operations: [
                .read(
                    [.get, .query], for: .read,
                    .init(
                        "runSQL", "Runs a statement of SQL that reads the classes as tables.", tag: "objects",
                        parameters: OpenAPIDocument.sqlParameters, taking: .json, responses: OpenAPIDocument.sqlResponses,
                        problems: .ofReads, .ofQueries),
                    taking: []
                ) { _ in SQLEndpoints.run },
                .read(
                    .post, for: .read,
                    .init(
                        "runSQLByBody", "Runs a statement of SQL, with the parameters in the body.", tag: "objects",
                        parameters: OpenAPIDocument.sqlParameters, taking: .json, body: OpenAPIParts.schema("SQLBody"),
                        responses: OpenAPIDocument.sqlResponses, problems: .ofReads, .ofQueries)
                ) { _ in SQLEndpoints.run },
            ]),
    ]

    /// Returns the operations of a path that computes aggregates: `GET`, and `QUERY` and `POST` with the parameters
    /// in the body.
    ///
    /// - Parameters:
    ///   - id: The `operationId` of `GET`; that of `POST` has `ByBody` behind it.
    ///   - subject: The aggregated rows, for the summaries.
    ///   - problems: The problems in addition to those of all reads and queries.
    ///   - endpoint: The function of the operations.
    private static func aggregates(
        _ id: String, of subject: String, _ problems: Set<ProblemCode> = [],
        _ endpoint: @escaping @Sendable (ServerState) -> @Sendable (Call) throws(Problem) -> Reply
    ) -> [RouteOperation] {
        [
            .read(
                [.get, .query], for: .read,
                .init(
                    id, "Computes count, minimum, maximum, sum and average of \(subject).", tag: "objects",
                    parameters: OpenAPIDocument.aggregateParameters, taking: .json, responses: OpenAPIDocument.aggregates,
                    problems: .ofReads, .ofQueries, problems),
                taking: [], endpoint),
            .read(
                .post, for: .read,
                .init(
                    id + "ByBody", "Computes aggregates of \(subject), with the parameters in the body.", tag: "objects",
                    parameters: OpenAPIDocument.aggregateParameters, taking: .json,
                    body: OpenAPIParts.schema("AggregateBody"), responses: OpenAPIDocument.aggregates,
                    problems: .ofReads, .ofQueries, problems),
                taking: [], endpoint),
        ]
    }

    /// The routes of writes that concern objects of several classes at once.
    static let collectiveRoutes: [Route] = [
        Route(
            "/v1/realms/{realm}/objects",
            operations: [
                .write(
                    .delete, for: .administer,
                    .init(
                        "deleteAllObjects", "Deletes the objects of every class and keeps the schema.", tag: "objects",
                        parameters: ["Confirm"] + OpenAPIWrites.common,
                        responses: OpenAPIWrites.responses(("200", "The body states how many objects were deleted.", "Matched")),
                        problems: .ofWrites, [.missingWhere])
                ) { _ in ClassWriteEndpoints.deleteAll }
            ]),
        Route(
            "/v1/realms/{realm}/batch", .showsVisible,
            operations: [
                .write(
                    .post, for: .write,
                    .init(
                        "batch", "Runs operations in order, as a unit.", tag: "objects",
                        parameters: ["IdempotencyKey"] + OpenAPIWrites.common, taking: .json, body: OpenAPIParts.schema("Batch"),
                        responses: OpenAPIWrites.responses(("200", "The body holds one result per operation.", "BatchResult")),
                        problems: .ofWrites, .ofValues, .ofQueries, .ofBatches)
                ) { _ in BatchEndpoints.run }
            ]),
        Route(
            "/v1/realms/{realm}/batch/{class}", .showsVisible,
            operations: [
                .write(
                    .post, for: .write,
                    .init(
                        "batchClass", "Runs operations on objects of one class in order, as a unit.", tag: "objects",
                        parameters: ["IdempotencyKey"] + OpenAPIWrites.common, taking: .json,
                        body: OpenAPIParts.schema("ClassBatch"),
                        responses: OpenAPIWrites.responses(("200", "The body holds one result per operation.", "BatchResult")),
                        problems: .ofWrites, .ofValues, .ofQueries, .ofBatches)
                ) { _ in BatchEndpoints.runInClass }
            ]),
    ]
}

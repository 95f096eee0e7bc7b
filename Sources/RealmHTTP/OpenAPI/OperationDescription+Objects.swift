// SPDX-License-Identifier: Apache-2.0

/// Operations that the description of the interface has once, and that of a realm once per class.
extension OperationDescription {
    /// A list whose pages have the schema called `page`.
    static func list(_ id: String, _ summary: String, tag: String, page: String) -> OperationDescription {
        OperationDescription(
            id, summary, tag: tag, parameters: OpenAPIDocument.listParameters, responses: OpenAPIDocument.list(page))
    }

    /// A read of one object with the schema called `schema`.
    static func object(_ id: String, _ summary: String, tag: String, schema: String) -> OperationDescription {
        OperationDescription(
            id, summary, tag: tag, parameters: OpenAPIDocument.objectParameters,
            responses: OpenAPIParts.responses(OpenAPIParts.document("The body is the object.", OpenAPIParts.schema(schema))))
    }

    /// Creating objects from bodies of the schema `body`.
    static func create(_ id: String, tag: String, body: DocumentValue) -> OperationDescription {
        OperationDescription(
            id, "Creates one object, or all objects of an array as a unit.", tag: tag,
            parameters: ["Upsert", "Nested", "IdempotencyKey"] + OpenAPIWrites.common,
            body: OpenAPIWrites.content(["application/json", "application/ejson"], body)
                .addingContent("application/x-ndjson", OpenAPIParts.text),
            responses: OpenAPIWrites.responses(
                ("200", "Every object existed already.", "Created"),
                ("201", "The body is the object, or counts and keys.", "Created")))
    }

    /// A merge patch for all objects that a query matches.
    static func updateMatches(_ id: String, tag: String, body: DocumentValue) -> OperationDescription {
        OperationDescription(
            id, "Merges a patch into every object that matches.", tag: tag,
            parameters: ["RequiredWhere", "Args", "MaxAffected", "Nested", "IdempotencyKey"] + OpenAPIWrites.common,
            body: OpenAPIWrites.content([OpenAPIWrites.merge, "application/json"], body),
            responses: OpenAPIWrites.responses(("200", "The body states how many objects matched.", "Matched")))
    }

    /// The deletion of all objects that a query matches.
    static func deleteMatches(_ id: String, tag: String) -> OperationDescription {
        OperationDescription(
            id, "Deletes every object that matches.", tag: tag,
            parameters: ["RequiredWhere", "Args", "MaxAffected"] + OpenAPIWrites.common,
            responses: OpenAPIWrites.responses(("200", "The body states how many objects matched.", "Matched")))
    }

    /// Replacing one object; `schema` names that of the answer.
    static func replace(_ id: String, tag: String, schema: String, body: DocumentValue) -> OperationDescription {
        OperationDescription(
            id, "Creates or replaces the whole object.", tag: tag,
            parameters: ["Nested"] + OpenAPIWrites.common + ["IfNoneMatchWrite"],
            body: OpenAPIWrites.content(["application/json", "application/ejson"], body),
            responses: OpenAPIWrites.responses(
                ("200", "The body is the object.", schema), ("201", "The body is the new object.", schema),
                ("204", "The write succeeded and the body is empty.", nil)))
    }

    /// A patch of one object; `schema` names that of the answer.
    static func update(_ id: String, tag: String, schema: String, body: DocumentValue) -> OperationDescription {
        OperationDescription(
            id, "Changes some properties by a merge patch or a JSON Patch.", tag: tag,
            parameters: ["Nested"] + OpenAPIWrites.common + ["IdempotencyKey"],
            body: OpenAPIWrites.content([OpenAPIWrites.merge, "application/json"], body)
                .addingContent("application/json-patch+json", OpenAPIParts.schema("JSONPatch")),
            responses: OpenAPIWrites.responses(
                ("200", "The body is the object.", schema), ("204", "The write succeeded and the body is empty.", nil)))
    }

    /// The deletion of one object.
    static func delete(_ id: String, tag: String) -> OperationDescription {
        OperationDescription(
            id, "Deletes the object and what it owns.", tag: tag, parameters: OpenAPIWrites.common,
            responses: OpenAPIWrites.responses(
                ("200", "With dryRun=true the body is the response that the write would have had.", "DryRun"),
                ("204", "The object is deleted.", nil)))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Operations on objects of a class.
///
/// The description of the interface has each of them once, for any class; the description of a
/// realm has them once per class, with the schemas of that class.
extension OperationDescription {
    /// Describes an operation that lists the objects of a class.
    ///
    /// - Parameters:
    ///   - id: The `operationId`.
    ///   - summary: One sentence for people.
    ///   - tag: The group under which the operation is shown.
    ///   - page: The name of the schema of a page.
    static func list(_ id: String, _ summary: String, tag: String, page: String) -> OperationDescription {
        OperationDescription(
            id, summary, tag: tag, parameters: OpenAPIDocument.listParameters, taking: .json,
            responses: OpenAPIDocument.list(page), problems: .ofReads, .ofQueries)
    }

    /// Describes an operation that reads one object.
    ///
    /// - Parameters:
    ///   - id: The `operationId`.
    ///   - summary: One sentence for people.
    ///   - tag: The group under which the operation is shown.
    static func object(_ id: String, _ summary: String, tag: String, schema: String) -> OperationDescription {
        OperationDescription(
            id, summary, tag: tag, parameters: OpenAPIDocument.objectParameters,
            responses: OpenAPIParts.responses(OpenAPIParts.document("The body is the object.", OpenAPIParts.schema(schema))),
            problems: .ofReads, .ofObjects, [.unknownKeyPath])
    }

    /// Describes an operation that creates one object, or several from an array or from lines of JSON.
    ///
    /// - Parameters:
    ///   - id: The `operationId`.
    ///   - tag: The group under which the operation is shown.
    ///   - body: The schema of the request body in its JSON forms.
    static func create(_ id: String, tag: String, body: DocumentValue) -> OperationDescription {
        OperationDescription(
            id, "Creates one object, or all objects of an array as a unit.", tag: tag,
            parameters: ["Upsert", "Nested", "IdempotencyKey"] + OpenAPIWrites.common,
            taking: .objects, body: body,
            responses: OpenAPIWrites.responses(
                ("200", "Every object existed already.", "Created"),
                ("201", "The body is the object, or counts and keys.", "Created")),
            problems: .ofWrites, .ofValues)
    }

    /// Describes an operation that applies a merge patch to all objects that a query matches.
    ///
    /// - Parameters:
    ///   - id: The `operationId`.
    ///   - tag: The group under which the operation is shown.
    ///   - body: The schema of the merge patch.
    static func updateMatches(_ id: String, tag: String, body: DocumentValue) -> OperationDescription {
        OperationDescription(
            id, "Merges a patch into every object that matches.", tag: tag,
            parameters: ["RequiredWhere", "Args", "MaxAffected", "Nested", "IdempotencyKey"] + OpenAPIWrites.common,
            taking: .mergePatch, body: body,
            responses: OpenAPIWrites.responses(("200", "The body states how many objects matched.", "Matched")),
            problems: .ofWrites, .ofValues, .ofQueries, [.missingWhere, .tooManyAffected])
    }

    /// Describes an operation that deletes all objects that a query matches.
    ///
    /// - Parameters:
    ///   - id: The `operationId`.
    ///   - tag: The group under which the operation is shown.
    static func deleteMatches(_ id: String, tag: String) -> OperationDescription {
        OperationDescription(
            id, "Deletes every object that matches.", tag: tag,
            parameters: ["RequiredWhere", "Args", "MaxAffected"] + OpenAPIWrites.common,
            responses: OpenAPIWrites.responses(("200", "The body states how many objects matched.", "Matched")),
            problems: .ofWrites, .ofQueries, [.missingWhere, .tooManyAffected])
    }

    /// Describes an operation that creates one object or replaces all of its properties.
    ///
    /// - Parameters:
    ///   - id: The `operationId`.
    ///   - tag: The group under which the operation is shown.
    ///   - schema: The name of the schema of the object in the response.
    ///   - body: The schema of the request body.
    static func replace(_ id: String, tag: String, schema: String, body: DocumentValue) -> OperationDescription {
        OperationDescription(
            id, "Creates or replaces the whole object.", tag: tag,
            parameters: ["Nested"] + OpenAPIWrites.common + ["IfNoneMatchWrite"],
            taking: .json, body: body,
            responses: OpenAPIWrites.responses(
                ("200", "The body is the object.", schema), ("201", "The body is the new object.", schema),
                ("204", "The write succeeded and the body is empty.", nil)),
            problems: .ofWrites, .ofValues)
    }

    /// Describes an operation that changes some properties of one object.
    ///
    /// - Parameters:
    ///   - id: The `operationId`.
    ///   - tag: The group under which the operation is shown.
    ///   - schema: The name of the schema of the object in the response.
    ///   - body: The schema of a merge patch. A JSON Patch has a separate, shared schema.
    static func update(_ id: String, tag: String, schema: String, body: DocumentValue) -> OperationDescription {
        OperationDescription(
            id, "Changes some properties by a merge patch or a JSON Patch.", tag: tag,
            parameters: ["Nested"] + OpenAPIWrites.common + ["IdempotencyKey"],
            taking: .objectPatch, body: body,
            responses: OpenAPIWrites.responses(
                ("200", "The body is the object.", schema), ("204", "The write succeeded and the body is empty.", nil)),
            problems: .ofWrites, .ofValues, [.patchTestFailed])
    }

    /// Describes an operation that deletes one object together with the embedded objects that it owns.
    ///
    /// - Parameters:
    ///   - id: The `operationId`.
    ///   - tag: The group under which the operation is shown.
    static func delete(_ id: String, tag: String) -> OperationDescription {
        OperationDescription(
            id, "Deletes the object and what it owns.", tag: tag, parameters: OpenAPIWrites.common,
            responses: OpenAPIWrites.responses(
                ("200", "With dryRun=true the body is the response that the write would have had.", "DryRun"),
                ("204", "The object is deleted.", nil)),
            problems: .ofWrites, .ofObjects)
    }
}

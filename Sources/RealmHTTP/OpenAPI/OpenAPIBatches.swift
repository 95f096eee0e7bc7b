// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The schemas of batches.
///
/// There are three sets of them. Operations of `POST …/batch` name their classes, and their bodies are objects of any class. Those of
/// `POST …/batch/{class}` have the class of the path; their bodies are objects of any class in the description of the interface, and of
/// that class in the description of a realm, which has one set for each class.
enum OpenAPIBatches {
    /// The parts of a batch that differ from set to set.
    struct Parts {
        /// The prefix of the names of the schemas.
        let prefix: String
        /// The schema of a new object.
        let new: DocumentValue
        /// The schema of a merge patch.
        let patch: DocumentValue
        /// The schema of an object in a result.
        let object: DocumentValue
    }

    /// The suffixes of the schemas that have an object in them, of which the description of a realm has one for each class.
    static let suffixes = [
        "Batch", "BatchOperation", "BatchCreate", "BatchPut", "BatchPatch", "BatchPatchWhere", "BatchResult",
        "BatchOperationResult",
    ]
    /// The kinds of operations whose schemas have an object in them.
    private static let typed: Set<ByteText> = ["create", "put", "patch", "patchWhere"]
    /// The prefix of the names of the schemas of operations in a class that contain no object.
    private static let classPrefix = "Class"

    /// The schemas of operations on objects of any class, with and without the class in them, in the order of the document.
    static func schemas(_ limits: Limits) -> [(String, DocumentValue)] {
        let any = OpenAPIParts.schema("AnyProperties")
        let object = OpenAPIParts.schema("RealmObject")
        let mixed = Parts(prefix: "", new: any, patch: any, object: object)
        let single = Parts(prefix: classPrefix, new: any, patch: any, object: object)
        // The response is the same.
        return set(mixed, limits, kinds(mixed, limits))
            + set(single, limits, kinds(single, limits)).filter { !$0.0.hasSuffix("Result") }
    }

    /// Returns the schemas of batches in a class that the description of a realm has once for each class, those of `suffixes`.
    static func schemas(of parts: Parts, _ limits: Limits) -> [(String, DocumentValue)] {
        set(parts, limits, kinds(parts, limits).filter { typed.contains($0.kind) })
    }

    /// Returns a set of schemas: the batch, its operation, the kinds of operations, and the response.
    private static func set(_ parts: Parts, _ limits: Limits, _ kinds: [Kind]) -> [(String, DocumentValue)] {
        let prefix = parts.prefix
        let all: [(String, DocumentValue)] =
            [
                (
                    prefix + "Batch",
                    OpenAPIWrites.closed(
                        ["ops"],
                        [
                            "ops": [
                                "type": "array", "maxItems": .int(limits.batchOperations),
                                "items": OpenAPIParts.schema(prefix + "BatchOperation"),
                            ]
                        ]
                    )
                ), (prefix + "BatchOperation", operation(parts)),
            ] + kinds.map { ($0.name, $0.schema) } + [
                (
                    prefix + "BatchResult",
                    OpenAPIWrites.object(
                        ["committed", "version", "results"],
                        [
                            "committed": OpenAPIWrites.flag, "version": OpenAPIWrites.text,
                            "results": ["type": "array", "items": OpenAPIParts.schema(prefix + "BatchOperationResult")],
                        ]
                    )
                ),
                (
                    prefix + "BatchOperationResult",
                    OpenAPIWrites.object(
                        [],
                        [
                            "key": OpenAPIWrites.text, "created": OpenAPIWrites.flag, "matched": OpenAPIWrites.count,
                            "count": OpenAPIWrites.count,
                            "value": OpenAPIWrites.anything.describing("Is the value after an increment."),
                            "object": parts.object,
                        ]
                    )
                ),
            ]
        // The schemas of all sets share their descriptions.
        return all.map { name, schema in
            let base = name.dropFirst(name.hasPrefix(prefix + "Batch") ? prefix.count : classPrefix.count)
            return (name, schema.describing(OpenAPITexts.schemas[String(base)] ?? "Is a part of a batch."))
        }
    }

    /// The kinds of operations, in the order of the document.
    private static let order = [
        "create", "put", "patch", "delete", "patchWhere", "deleteWhere", "increment", "assert", "list", "set", "dictionary",
    ]

    /// Returns the schema of one operation of a batch: an object with exactly one member, whose name is the kind of operation.
    ///
    /// OpenAPI could say this with `oneOf` more exactly. Generators mishandle that, so the document
    /// bounds the number of members.
    private static func operation(_ parts: Parts) -> DocumentValue {
        let members = order.map { kind -> DocumentValue.Member in
            .init(kind, OpenAPIParts.schema(name(kind, parts)))
        }
        let example: DocumentValue? =
            switch parts.prefix {
            case "": ["create": ["class": "Category", "body": ["id": 1, "name": "Kitchen"]]]
            case classPrefix: ["create": ["body": ["id": 1, "name": "Kitchen"]]]
            default: nil
            }
        return .members(
            ("type", "object"), ("minProperties", 1), ("maxProperties", 1), ("additionalProperties", false),
            ("properties", .object(members)),
            ("example", example))
    }

    /// Returns the name of the schema of a kind of operation.
    private static func name(_ kind: String, _ parts: Parts) -> String {
        let isOwn = parts.prefix.isEmpty || typed.contains(kind)
        return (isOwn ? parts.prefix : classPrefix) + "Batch" + kind.prefix(1).uppercased() + kind.dropFirst()
    }

    /// The schema of a kind of operation.
    private struct Kind {
        /// The member of an operation that it is the value of.
        let kind: String
        /// The name of the schema.
        let name: String
        let schema: DocumentValue
    }

    /// Returns the schemas of all kinds of operations.
    private static func kinds(_ parts: Parts, _ limits: Limits) -> [Kind] {
        let named: [DocumentValue.Member] = parts.prefix.isEmpty ? [.init("class", OpenAPIParts.words("Category"))] : []
        let key = OpenAPIWrites.anything.describing(
            "Is the key of the object as text, or {\"ref\": name} of an object that the batch created as name.")
        let target =
            named + [
                .init("key", key), .init("ifMatch", OpenAPIParts.entityTags), .init("ifNoneMatch", OpenAPIParts.entityTags),
            ]
        let matches: [DocumentValue.Member] = [
            .init("where", OpenAPIParts.words(atMost: limits.queryBytes, "TRUEPREDICATE")),
            .init("args", OpenAPIParts.arguments(limits)), .init("maxAffected", OpenAPIParts.number(from: 0)),
        ]
        let property = DocumentValue.Member("property", OpenAPIParts.words("name"))
        let nested = DocumentValue.Member("nested", OpenAPIParts.choice("refuse", "upsert"))
        let new = [DocumentValue.Member("body", parts.new), nested]
        let patch = [DocumentValue.Member("body", parts.patch), nested]
        func edits(_ schema: String) -> [DocumentValue.Member] {
            [property, .init("ops", ["type": "array", "items": OpenAPIParts.schema(schema)])]
        }
        func kind(_ kind: String, _ properties: [DocumentValue.Member], requiring required: [String]) -> Kind {
            let needed = named.map(\.name) + required
            let schema = DocumentValue.members(
                ("type", "object"), ("required", needed.isEmpty ? nil : .array(needed.map { .string($0) })),
                ("properties", .object(properties)),
                ("additionalProperties", false))
            return Kind(kind: kind, name: name(kind, parts), schema: schema)
        }
        let create =
            named + [
                new[0], .init("as", OpenAPIParts.words("t")), .init("upsert", OpenAPIParts.choice("modified", "all")), nested,
            ]
        let by = DocumentValue.Member("by", OpenAPIWrites.anything.describing("Is the number that is added, 1 by default."))
        let collection = ["key", "property", "ops"]
        return [
            kind("create", create, requiring: ["body"]), kind("put", target + new, requiring: ["key", "body"]),
            kind("patch", target + patch, requiring: ["key", "body"]), kind("delete", target, requiring: ["key"]),
            kind("patchWhere", named + matches + patch, requiring: ["where", "body"]),
            kind("deleteWhere", named + matches, requiring: ["where"]),
            kind("increment", target + [property, by], requiring: ["key", "property"]),
            kind("assert", target + matches.dropLast() + [.init("count", OpenAPIWrites.count)], requiring: []),
            kind("list", target + edits("ListEdit"), requiring: collection),
            kind("set", target + edits("SetEdit"), requiring: collection),
            kind("dictionary", target + edits("DictionaryEdit"), requiring: collection),
        ]
    }
}

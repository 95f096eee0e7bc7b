// SPDX-License-Identifier: Apache-2.0

/// Schemas of the documents that reads take and return, as far as they do not depend on the classes
/// of a realm.
enum OpenAPISchemas {
    /// Returns the shared schemas of reads by name, in the order of the document.
    ///
    /// - Parameters:
    ///   - ints: The form of integers in the responses that are described.
    ///   - pageLimit: The largest value of `limit` in a query body, a number of objects.
    static func all(_ ints: OpenAPIDocument.Integers, pageLimit: Int) -> [(String, DocumentValue)] {
        fixed + [
            ("ObjectPage", objectPage(of: OpenAPIParts.schema("Object"), ints)), ("PropertyPage", propertyPage(ints)),
            ("QueryBody", queryBody(ints, pageLimit: pageLimit)),
            ("AggregateBody", aggregateBody(ints, pageLimit: pageLimit)),
        ]
    }

    /// The names of all shared schemas.
    ///
    /// The schemas of a realm's classes must avoid them. The names do not depend on the form of
    /// integers.
    static var names: [String] { (all(.number, pageLimit: 0) + OpenAPIWrites.schemas + OpenAPIChanges.schemas(.number)).map(\.0) }

    /// The schemas that are the same in every document.
    private static let fixed: [(String, DocumentValue)] = [
        ("Problem", problem),
        ("RealmDocument", realm),
        ("RealmPage", page(of: OpenAPIParts.schema("RealmDocument"))),
        ("SchemaDocument", schemaDocument),
        ("SchemaClass", schemaClass),
        ("SchemaProperty", schemaProperty),
        ("Meta", meta),
        ("Link", link),
        (
            "Object",
            ["type": "object", "description": "Holds the properties of an object, and $meta.", "additionalProperties": true]
        ),
        (
            "Aggregates",
            [
                "type": "object",
                "description":
                    "Has one member per operation, and the member version. With groupBy it has the member groups instead, each with its key and a member per operation.",
                "properties": [
                    "groups": [
                        "type": "array",
                        "items": [
                            "type": "object", "required": ["key"],
                            "properties": ["key": ["type": "object", "additionalProperties": true]],
                            "additionalProperties": true,
                        ],
                    ]
                ],
                "additionalProperties": true,
            ]
        ),
        (
            "Status",
            [
                "type": "object", "properties": ["status": OpenAPIParts.text, "audit": OpenAPIParts.text],
                "required": ["status"],
            ]
        ),
    ]

    /// The OpenAPI schema of a value that is any string.
    private static let text = OpenAPIParts.text
    /// The schema of a string that may be null.
    private static let nullableText: DocumentValue = ["type": "string", "nullable": true]
    /// The OpenAPI schema of a boolean.
    private static let flag: DocumentValue = ["type": "boolean"]
    /// The schema of a count that is a number in both forms of integers: its documents do not
    /// depend on the parameter `ints`.
    private static let count: DocumentValue = ["type": "integer", "format": "int64"]
    /// The OpenAPI schema of any JSON value, which is the empty schema.
    private static let anything: DocumentValue = .object([])

    /// The problem document of RFC 9457 with the members that this server adds.
    ///
    /// Other members may follow, so generated clients must accept unknown ones.
    private static let problem: DocumentValue = [
        "type": "object",
        "required": ["type", "title", "status", "code"],
        "properties": [
            "type": text, "title": text, "status": ["type": "integer", "format": "int32"],
            "code": ["type": "string", "description": "Names the kind of problem and never changes."],
            "detail": text, "instance": text,
            "pointer": ["type": "string", "description": "Locates the error in the request body by a JSON Pointer."],
            "parameter": ["type": "string", "description": "Names the query parameter that is wrong."],
            "header": text,
            "position": [
                "type": "integer", "format": "int64",
                "description": "Locates the error in a query, as an offset in Unicode scalars.",
            ],
            "limit": ["type": "integer", "format": "int64", "description": "States the number that was exceeded."],
            "limitName": ["type": "string", "description": "Names the limit as the command line does."],
            "retryable": flag,
        ],
        "additionalProperties": true,
    ]

    /// The description of a realm.
    ///
    /// Only two members are required: a realm that is closed, being opened, or could not be opened lacks all
    /// that is read from its file.
    private static let realm: DocumentValue = [
        "type": "object",
        "required": ["name", "state"],
        "properties": [
            "name": text, "state": OpenAPIParts.choice("closed", "opening", "ready", "failed"),
            "mode": OpenAPIParts.choice("rw", "ro", "copy", "follow"), "fileVersion": text, "default": flag, "inMemory": flag,
            "encrypted": flag,
            "fileFormat": count, "schemaVersion": ["type": "integer", "format": "int64", "nullable": true],
            "fileBytes": count, "usedBytes": count, "classes": count, "empty": flag, "version": text,
            "liveVersions": count, "pendingWrites": count,
            "progress": ["type": "number", "format": "double"], "problem": OpenAPIParts.schema("Problem"),
            "path": text, "options": ["type": "object", "additionalProperties": true],
            "readOnlyReason": OpenAPIParts.schema("Problem"),
            "backups": [
                "type": "array", "description": "Lists the copies beside the file; their names are ids of backups.",
                "items": [
                    "type": "object", "required": ["name", "bytes"],
                    "properties": ["name": text, "bytes": count, "version": count, "fileFormat": count],
                ],
            ],
            "backup": ["type": "string", "description": "Is the id of the backup made by attaching or restoring."],
        ],
        "additionalProperties": true,
    ]

    /// One property in the schema of a class.
    private static let schemaProperty: DocumentValue = [
        "type": "object",
        "required": ["name", "type", "collection", "optional", "indexed", "objectType"],
        "properties": [
            "name": text,
            "type": OpenAPIParts.choice(
                "int", "bool", "string", "data", "date", "float", "double", "decimal128", "objectId", "uuid", "mixed", "object"),
            "collection": ["type": "string", "nullable": true, "description": "Is null, list, set or dictionary."],
            "optional": flag,
            "indexed": ["type": "string", "nullable": true, "description": "Is null, general or fulltext."],
            "objectType": nullableText,
            "default": ["description": "Is the value that a create takes when it leaves the property out."],
        ],
    ]

    /// One class in a schema, with its properties and the links that point to it.
    private static let schemaClass: DocumentValue = [
        "type": "object",
        "required": ["name", "type", "primaryKey", "properties", "backlinks"],
        "properties": [
            "name": text, "type": OpenAPIParts.choice("object", "embedded", "asymmetric"), "primaryKey": nullableText,
            "properties": ["type": "array", "items": OpenAPIParts.schema("SchemaProperty")],
            "backlinks": [
                "type": "array",
                "items": [
                    "type": "object", "required": ["class", "property"],
                    "properties": [
                        "class": text, "property": text,
                        "name": [
                            "type": "string", "description": "Is the name that the configuration gives these linking objects.",
                        ],
                    ],
                ],
            ],
        ],
    ]

    /// The schema of a realm: its version and its classes.
    private static let schemaDocument: DocumentValue = [
        "type": "object",
        "required": ["schemaVersion", "classes"],
        "properties": [
            "schemaVersion": ["type": "integer", "format": "int64", "nullable": true],
            "classes": ["type": "array", "items": OpenAPIParts.schema("SchemaClass")],
        ],
    ]

    /// The member `$meta` of an object: its class, key and entity tag, and for embedded objects the
    /// owner and the root.
    private static let meta: DocumentValue = [
        "type": "object",
        "properties": [
            "class": text, "key": text, "etag": text, "stableKey": flag,
            "owner": [
                "type": "object", "description": "Is the object that holds an embedded one, and the property there.",
                "properties": ["class": text, "key": text, "property": text], "additionalProperties": true,
            ],
            "root": [
                "type": "object",
                "description":
                    "Is the object that an embedded one is a part of, and the path to it there as JSON Patch takes it. It is absent where that is the owner.",
                "properties": ["class": text, "key": text, "path": text], "additionalProperties": true,
            ],
            "hidden": [
                "type": "object",
                "description":
                    "Has for each list or set that leaves out links to objects which the client may not see how many these are.",
                "additionalProperties": count,
            ],
        ],
    ]

    /// A link in a response: a stub, or the object itself where the link was expanded.
    private static let link: DocumentValue = [
        "type": "object",
        "description": "Is a stub with class and key, or the object itself where the link was expanded.",
        "additionalProperties": true,
    ]

    /// Returns the schema of a page whose items are all of one kind.
    ///
    /// - Parameter item: The schema of an item.
    private static func page(of item: DocumentValue) -> DocumentValue {
        [
            "type": "object", "required": ["items", "next"],
            "properties": ["items": ["type": "array", "items": item], "next": nullableText],
        ]
    }

    /// Returns the schema of the response of a list.
    ///
    /// No member is required, because parameters such as `indexOf`, `explain` and `sectionBy`
    /// return other members than a page has.
    ///
    /// - Parameters:
    ///   - item: The schema of an object.
    ///   - ints: The form of integers in the responses that are described.
    static func objectPage(of item: DocumentValue, _ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object",
            "properties": [
                "items": ["type": "array", "items": item], "next": nullableText, "count": ints.schema, "version": text,
                "snapshot": text,
                "index": ints.schema.adding([.init("nullable", true)]),
                "plan": ["type": "array", "items": text],
                "sections": ["type": "array", "items": ["type": "object", "additionalProperties": true]],
                "facets": facets,
            ],
            "additionalProperties": true,
        ]
    }

    /// The counts of `facets`: for each key path its values, the most frequent first.
    private static let facets: DocumentValue = [
        "type": "object",
        "additionalProperties": [
            "type": "array",
            "items": ["type": "object", "required": ["value", "count"], "additionalProperties": true],
        ],
    ]

    /// Returns the schema of the response of a property: a page of a collection, or the single
    /// value.
    private static func propertyPage(_ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object",
            "description": "Is one page of a collection, or the value of a single property.",
            "properties": [
                "items": ["type": "array", "items": anything], "value": anything, "next": nullableText, "count": ints.schema,
                "version": text, "snapshot": text, "index": ints.schema.adding([.init("nullable", true)]),
                "plan": ["type": "array", "items": text],
                "sections": ["type": "array", "items": ["type": "object", "additionalProperties": true]], "facets": facets,
            ],
            "additionalProperties": true,
        ]
    }

    /// The OpenAPI schema of an array of strings.
    private static let texts: DocumentValue = ["type": "array", "items": text]

    /// Returns the schema of a request body that has the parameters of a read as members.
    ///
    /// Unknown members are rejected by the server, so the schema permits none. Where integers are
    /// strings, the member `ints` is required, because a document describes one form only.
    ///
    /// - Parameters:
    ///   - properties: The members besides `ints`.
    ///   - ints: The only value that the member `ints` may have in this document.
    private static func body(_ properties: [DocumentValue.Member], _ ints: OpenAPIDocument.Integers) -> DocumentValue {
        .members(
            ("type", "object"), ("additionalProperties", false), ("required", ints == .string ? ["ints"] : nil),
            ("properties", .object(properties + [.init("ints", OpenAPIParts.choice(ints.rawValue))])))
    }

    /// Returns the schema of the body of a query.
    ///
    /// - Parameters:
    ///   - ints: The form of integers in the responses that are described.
    ///   - pageLimit: The largest value of the member `limit`, a number of objects.
    private static func queryBody(_ ints: OpenAPIDocument.Integers, pageLimit: Int) -> DocumentValue {
        body(
            [
                .init("where", text), .init("args", ["type": "array", "items": anything]), .init("sort", texts),
                .init("distinct", texts), .init("limit", OpenAPIParts.number(from: 0, to: pageLimit)), .init("after", text),
                .init("offset", OpenAPIParts.number(from: 0)), .init("count", OpenAPIParts.choice("exact", "none")),
                .init("fields", texts), .init("expand", texts), .init("meta", OpenAPIParts.choice("full", "none")),
                .init("at", ["type": "array", "items": ["type": "integer", "format": "int64"]]), .init("indexOf", text),
                .init("indexOfWhere", text), .init("explain", flag), .init("sectionBy", text), .init("section", anything),
                .init("facets", texts), .init("snapshot", text),
            ], ints)
    }

    /// Returns the schema of the body of a request for aggregates.
    ///
    /// - Parameters:
    ///   - ints: The form of integers in the responses that are described.
    ///   - pageLimit: The largest number of groups in a response.
    private static func aggregateBody(_ ints: OpenAPIDocument.Integers, pageLimit: Int) -> DocumentValue {
        body(
            [
                .init("where", text), .init("args", ["type": "array", "items": anything]), .init("ops", texts),
                .init("groupBy", texts), .init("sort", texts), .init("limit", OpenAPIParts.number(from: 0, to: pageLimit)),
                .init("offset", OpenAPIParts.number(from: 0)), .init("count", OpenAPIParts.choice("exact", "none")),
                .init("snapshot", text),
            ], ints)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Schemas of the documents that reads take and return, as far as they do not depend on the classes of a realm.
enum OpenAPISchemas {
    /// Returns the shared schemas of reads by name, in the order of the document.
    ///
    /// - Parameters:
    ///   - ints: The form of integers in the responses that are described.
    ///   - limits: The limits of the server, which schemas of bodies state.
    static func all(_ ints: OpenAPIDocument.Integers, _ limits: Limits) -> [(String, DocumentValue)] {
        fixed + [
            ("Aggregates", aggregates(ints)), ("ObjectPage", objectPage(of: OpenAPIParts.schema("RealmObject"), ints)),
            ("Section", section(of: OpenAPIParts.schema("RealmObject"))), ("FacetValue", facetValue(ints)),
            ("PropertyPage", propertyPage(ints)), ("QueryBody", queryBody(ints, limits)),
            ("AggregateBody", aggregateBody(ints, limits)), ("SQLBody", sqlBody(ints, limits)), ("SQLResult", sqlResult),
            ("SQLColumn", sqlColumn),
        ]
    }

    /// The schemas that are the same in every document.
    private static let fixed: [(String, DocumentValue)] = [
        ("Problem", problem),
        ("RealmDocument", realm),
        ("RealmPage", page(of: OpenAPIParts.schema("RealmDocument"))),
        ("SchemaDocument", schemaDocument),
        ("SchemaClass", schemaClass),
        ("SchemaProperty", schemaProperty),
        ("Meta", meta),
        ("LinkTarget", target),
        ("Link", link),
        ("HiddenLink", hiddenLink),
        ("ExpandedLink", expandedLink),
        (
            "RealmObject",
            [
                "type": "object",
                "description":
                    "Is an object of any class: its properties, and $meta. The document of a realm has a schema for each class.",
                "properties": ["$meta": OpenAPIParts.schema("Meta")], "additionalProperties": true,
            ]
        ),
        (
            "AnyProperties",
            [
                "type": "object",
                "description": "Holds values by the name of their property, in the form that the class needs.",
                "additionalProperties": true, "example": ["name": "Kitchen"],
            ]
        ),
        (
            "ExtendedJSON",
            [
                "type": "object",
                "description": "Holds a response in MongoDB Extended JSON v2, in which each value states its type.",
                "additionalProperties": true, "example": ["id": ["$numberLong": "1"]],
            ]
        ),
        (
            "Lines",
            [
                "type": "string", "description": "Is one JSON document per line.", "example": "{\"id\":1,\"name\":\"Kitchen\"}\n",
            ]
        ),
        (
            "Table",
            [
                "type": "string",
                "description": "Is a table of values separated by commas (RFC 4180), with a line of names first.",
                "example": "id,name\r\n1,Kitchen\r\n",
            ]
        ),
        (
            "Export",
            [
                "type": "object", "description": "Has the objects of one version, and its schema.",
                "additionalProperties": true, "example": ["Category": [["id": 1, "name": "Kitchen"]]],
            ]
        ),
        (
            "Comparison",
            [
                "type": "object", "description": "Has the differences of two versions.", "additionalProperties": true,
                "example": ["differences": []],
            ]
        ),
        (
            "OpenAPI",
            [
                "type": "object", "description": "Is an OpenAPI 3.0.3 document.", "required": ["openapi", "info", "paths"],
                "properties": [
                    "openapi": ["type": "string", "example": "3.0.3"],
                    "info": ["type": "object", "additionalProperties": true, "example": ["title": "store", "version": "1"]],
                    "paths": ["type": "object", "additionalProperties": true, "example": .object([])],
                ],
            ]
        ),
        (
            "JSONSchema",
            [
                "type": "object", "description": "Is a document of JSON Schema 2020-12.", "additionalProperties": true,
                "example": ["$schema": "https://json-schema.org/draft/2020-12/schema"],
            ]
        ),
        (
            "Status",
            [
                "type": "object",
                "properties": [
                    "status": text, "audit": text, "realms": ["type": "array", "items": text, "example": ["store"]],
                ],
                "required": ["status"],
            ]
        ),
        (
            "ProgramVersion",
            [
                "type": "object",
                "properties": ["name": OpenAPIParts.words("realm-rest"), "version": OpenAPIParts.words("0.1.0")],
                "required": ["name", "version"],
            ]
        ),
        (
            "Cluster",
            [
                "type": "object",
                "properties": [
                    "node": OpenAPIParts.words("n1"), "url": OpenAPIParts.words("https://n1.example:8080"),
                    "isCurrent": flag, "assignments": count, "unassignedShards": count, "ownedRealms": count,
                    "followedRealms": count,
                    "nodes": ["type": "array", "items": OpenAPIParts.schema("ClusterNode")],
                ],
                "required": [
                    "node", "url", "isCurrent", "assignments", "unassignedShards", "ownedRealms", "followedRealms", "nodes",
                ],
            ]
        ),
        (
            "RealmInCluster",
            [
                "type": "object",
                "properties": [
                    "role": ["type": "string", "enum": ["owner", "replica"]], "owner": OpenAPIParts.words("n1"),
                    "lagCommits": count, "lagMilliseconds": count,
                ],
                "required": ["role", "owner"],
            ]
        ),
        (
            "ClusterNode",
            [
                "type": "object",
                "properties": [
                    "id": OpenAPIParts.words("n2"), "url": OpenAPIParts.words("https://n2.example:8080"),
                    "state": ["type": "string", "enum": ["living", "silent", "leaving"]],
                    "silentMilliseconds": count, "shards": count,
                ],
                "required": ["id", "url", "state", "silentMilliseconds", "shards"],
            ]
        ),
    ]

    /// The OpenAPI schema of a value that is any string.
    private static let text = OpenAPIParts.text
    /// The schema of a string that may be null.
    private static let nullableText = OpenAPIParts.nullableText
    /// The OpenAPI schema of a boolean.
    private static let flag = OpenAPIParts.flag
    /// The schema of a count that is a number in both forms of integers: its documents do not depend on the parameter `ints`.
    private static let count: DocumentValue = ["type": "integer", "format": "int64"]
    /// The OpenAPI schema of any JSON value, which is the empty schema.
    private static let anything = OpenAPIParts.anything

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
            "line": ["type": "integer", "format": "int64", "description": "States the line of an import that is wrong."],
            "committed": [
                "type": "integer", "format": "int64",
                "description": "States how many lines of an import are in the realm with all links; it continues behind them.",
            ],
            "unlinked": [
                "type": "integer", "format": "int64",
                "description":
                    "States how many objects behind these lines lack links; the import continues with mode=upsert then.",
            ],
            "overtaken": [
                "type": "integer", "format": "int64",
                "description": "States of how many lines a value was left out, because another client had changed the property.",
            ],
        ],
        "additionalProperties": true,
    ]

    /// The report about a file of an older format; members next to the format are for clients that may see all classes.
    private static let conversion: DocumentValue = [
        "type": "object", "required": ["fromFormat"],
        "description":
            "Reports the conversion of a file of formats 2 to 9, or the upgrade of a private copy of a file of formats 10 to 23, whose original stays as it is. Lists of realms leave out writtenBy, classes and notes. Of noteCount notes at most 1000 are listed, those about losses before others.",
        "properties": [
            "fromFormat": count, "writtenBy": text, "lossless": flag, "noteCount": count,
            "classes": [
                "type": "array",
                "items": ["type": "object", "required": ["name", "objects"], "properties": ["name": text, "objects": count]],
            ],
            "notes": [
                "type": "array",
                "items": [
                    "type": "object", "required": ["kind", "count", "text"],
                    "properties": ["kind": text, "class": text, "property": text, "count": count, "text": text],
                ],
            ],
        ],
    ]

    /// The description of a realm.
    ///
    /// Only two members are required: a realm that is not open may lack members read from its file, which `unknown` names then.
    private static let realm: DocumentValue = [
        "type": "object",
        "required": ["name", "state"],
        "properties": [
            "name": text, "state": OpenAPIParts.choice("closed", "opening", "ready", "failed"),
            "mode": OpenAPIParts.choice("rw", "ro", "copy", "follow"), "fileVersion": text, "default": flag, "inMemory": flag,
            "encrypted": flag,
            "fileFormat": [
                "type": "integer", "format": "int64",
                "description": "Is the format of the file; of a private copy that of its original.",
            ],
            "writtenBy": [
                "type": "string", "description": "States which engines and SDKs write the format, if it is an older one.",
            ],
            "schemaVersion": ["type": "integer", "format": "int64", "nullable": true],
            "fileBytes": count, "usedBytes": count, "classes": count, "empty": flag, "version": text,
            "liveVersions": count, "pendingWrites": count, "cluster": OpenAPIParts.schema("RealmInCluster"),
            "conversion": conversion,
            "unknown": [
                "type": "array", "description": "Names the members that are left out because they are not known.", "items": text,
            ],
            "progress": ["type": "number", "format": "double"], "problem": OpenAPIParts.schema("Problem"),
            "path": text,
            "options": [
                "type": "object", "description": "States how the realm is opened.", "additionalProperties": true,
                "example": ["mode": "rw"],
            ],
            "readOnlyReason": OpenAPIParts.schema("Problem"), "file": fileDescription,
            "backups": [
                "type": "array", "description": "Lists the copies next to the file; their names are ids of backups.",
                "items": [
                    "type": "object", "required": ["name", "bytes"],
                    "properties": ["name": text, "bytes": count, "version": count, "fileFormat": count],
                ],
            ],
            "backup": [
                "type": "string",
                "description": "Is the id of the backup made by attaching, restoring, or an upgrade when the realm was opened.",
            ],
        ],
    ]

    /// The known facts about the file of a realm that is not open, as `realm-rest info --json` prints them.
    private static let fileDescription: DocumentValue = [
        "type": "object", "description": "Describes the file of a realm that is not open.",
        "required": ["fileBytes", "opening", "unknown"],
        "properties": [
            "realm": flag, "encrypted": flag, "fileFormat": count, "writtenBy": text, "streamingForm": flag, "fileBytes": count,
            "usedBytes": count, "freeBytes": count, "version": count,
            "history": OpenAPIParts.choice("none", "obsolete", "inFile", "syncClient", "syncServer", "unknown"),
            "historyText": ["type": "string", "description": "Says in words which kind of history the file has."],
            "schemaVersion": ["type": "integer", "format": "int64", "nullable": true],
            "classes": [
                "type": "array",
                "items": [
                    "type": "object", "required": ["name", "objects", "properties"],
                    "properties": [
                        "name": text, "objects": count, "properties": count,
                        "kind": OpenAPIParts.choice("embedded", "asymmetric"),
                    ],
                ],
            ],
            "otherTables": [
                "type": "array",
                "items": ["type": "object", "required": ["name", "rows"], "properties": ["name": text, "rows": count]],
            ],
            "opening": [
                "type": "object", "required": ["mode", "detail"], "description": "States what a server does with the file.",
                "properties": [
                    "mode": OpenAPIParts.nullableChoice("rw", "ro", "copy", "follow"), "detail": text, "advice": text,
                ],
            ],
            "problem": ["type": "object", "required": ["code", "detail"], "properties": ["code": text, "detail": text]],
            "unknown": ["type": "array", "items": text],
        ],
    ]

    /// One property in the schema of a class.
    private static let schemaProperty: DocumentValue = [
        "type": "object",
        "required": ["name", "type", "collection", "optional", "indexed", "objectType"],
        "properties": [
            "name": text,
            "type": OpenAPIParts.choice(
                "int", "bool", "string", "data", "date", "float", "double", "decimal128", "objectId", "uuid", "mixed", "object"),
            "collection": OpenAPIParts.nullableChoice("list", "set", "dictionary"),
            "optional": flag,
            "indexed": OpenAPIParts.nullableChoice("general", "fulltext"),
            "objectType": nullableText,
            "default": anything.describing("Is the value that a create takes when it leaves the property out."),
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

    /// The member `$meta` of an object: its class, key and entity tag, and for embedded objects the owner and the root.
    private static let meta: DocumentValue = [
        "type": "object",
        "properties": [
            "class": text, "key": text, "etag": text, "stableKey": flag,
            "owner": [
                "type": "object", "description": "Is the object that holds an embedded one, and the property there.",
                "properties": ["class": text, "key": text, "property": text],
            ],
            "root": [
                "type": "object",
                "description":
                    "Is the object that an embedded one is a part of, and the path to it there as JSON Patch takes it. It is absent where that is the owner.",
                "properties": ["class": text, "key": text, "path": text],
            ],
            "hidden": [
                "type": "object",
                "description":
                    "Has for each list or set that leaves out links to objects which the client may not see how many these are.",
                "additionalProperties": count,
            ],
        ],
    ]

    /// The object that a link leads to.
    private static let target: DocumentValue = [
        "type": "object", "description": "Names an object by its class and its key as text.", "required": ["class", "key"],
        "properties": [
            "class": ["type": "string", "minLength": 1, "example": "Category"],
            "key": ["type": "string", "minLength": 1, "example": "1"],
        ],
        "additionalProperties": false,
    ]

    /// A link, as it is read where it is not expanded, and as it is written.
    private static let link: DocumentValue = [
        "type": "object", "description": "Is a link to an object.", "required": ["$link"],
        "properties": ["$link": OpenAPIParts.schema("LinkTarget")], "additionalProperties": false,
    ]

    /// A link to an object that the client may not see.
    private static let hiddenLink: DocumentValue = [
        "type": "object", "description": "Is a link to an object of a class that the client may not see.",
        "required": ["$link"],
        "properties": [
            "$link": ["type": "object", "required": ["hidden"], "properties": ["hidden": ["type": "boolean", "enum": [true]]]]
        ],
    ]

    /// A link at a deeper level, which is expanded by a dotted path only.
    private static let expandedLink: DocumentValue = [
        "type": "object",
        "description": "Is a link, which has $link alone, or where it was expanded the members of the object with its $meta.",
        "properties": ["$link": OpenAPIParts.schema("LinkTarget"), "$meta": OpenAPIParts.schema("Meta")],
        "additionalProperties": true,
        "example": ["$link": ["class": "Category", "key": "1"]],
    ]

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
    ///   - ints: The form of integers in the responses that are described.
    static func objectPage(of item: DocumentValue, _ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object",
            "properties": [
                "items": ["type": "array", "items": item], "next": nullableText, "count": ints.schema, "version": text,
                "snapshot": text, "index": ints.schema.orNull, "plan": ["type": "array", "items": text],
                "sections": ["type": "array", "items": OpenAPIParts.schema("Section")], "facets": facets,
                "facetValues": counts(ints),
            ],
        ]
    }

    /// Returns the schema of one section of a result.
    ///
    /// - Parameter item: The schema of an object.
    static func section(of item: DocumentValue) -> DocumentValue {
        [
            "type": "object", "description": "Is one section of a result.", "required": ["key", "items"],
            "properties": [
                "key": anything.describing("Is the value that the rows of the section have in common."),
                "items": ["type": "array", "items": item],
            ],
        ]
    }

    /// Returns the schema of `facetValues`: for each key path of which some values are left out, the number of all.
    private static func counts(_ ints: OpenAPIDocument.Integers) -> DocumentValue {
        ["type": "object", "additionalProperties": ints.schema]
    }

    /// The counts of `facets`: for each key path its values, the most frequent first.
    private static let facets: DocumentValue = [
        "type": "object", "additionalProperties": ["type": "array", "items": OpenAPIParts.schema("FacetValue")],
    ]

    private static func facetValue(_ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object", "description": "Is a value, and how many rows of the result have it.",
            "required": ["value", "count"],
            "properties": ["value": anything.describing("Is the value that the counted rows have."), "count": ints.schema],
        ]
    }

    /// Returns the schema of the response of an aggregation.
    private static func aggregates(_ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object",
            "description":
                "Has one member per operation, and the member version. With groupBy it has the member groups instead, each with its key and a member per operation.",
            "properties": [
                "count": ints.schema, "version": text, "next": nullableText,
                "groups": [
                    "type": "array",
                    "items": [
                        "type": "object", "required": ["key"],
                        "properties": ["key": OpenAPIParts.schema("AnyProperties"), "count": ints.schema],
                        "additionalProperties": true,
                    ],
                ],
            ],
            "additionalProperties": true, "example": ["count": 1, "max:id": 3, "version": "k3f9q2.1841"],
        ]
    }

    /// Returns the schema of the response of a property: a page of a collection, or the single value.
    private static func propertyPage(_ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object",
            "description": "Is one page of a collection, or the value of a single property.",
            "properties": [
                "items": ["type": "array", "items": anything, "example": ["a"]],
                "value": anything.describing("Is the value of a single property."),
                "next": nullableText, "count": ints.schema, "version": text, "snapshot": text, "index": ints.schema.orNull,
                "plan": ["type": "array", "items": text],
                "sections": ["type": "array", "items": OpenAPIParts.schema("Section")], "facets": facets,
                "facetValues": counts(ints),
            ],
        ]
    }

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
    ///   - limits: The limits of the server.
    private static func queryBody(_ ints: OpenAPIDocument.Integers, _ limits: Limits) -> DocumentValue {
        let predicate = OpenAPIParts.words(atMost: limits.queryBytes, "TRUEPREDICATE")
        let terms = OpenAPIParts.list(atMost: limits.queryTerms, least: 1, "name")
        let paths = OpenAPIParts.list(atMost: limits.fields, least: 1, "name")
        let positions: DocumentValue = [
            "type": "array", "maxItems": .int(limits.page),
            "items": ["type": "integer", "format": "int64", "example": 0], "example": [0],
        ]
        return body(
            [
                .init("where", predicate), .init("args", OpenAPIParts.arguments(limits)), .init("sort", terms),
                .init("distinct", terms), .init("limit", OpenAPIParts.number(from: 0, to: limits.page)),
                .init("after", OpenAPIParts.words("b64.AQAAAAAAAAAAAPcdfBCphwIr")), .init("offset", OpenAPIParts.number(from: 0)),
                .init("count", OpenAPIParts.choice("exact", "none")), .init("fields", paths),
                .init("expand", OpenAPIParts.list(atMost: limits.fields, least: 1, "parent")),
                .init("meta", OpenAPIParts.choice("full", "none")), .init("at", positions),
                .init("indexOf", anything.describing("Is the key of an object, or the value of an element.")),
                .init("format", OpenAPIParts.choice("json", "ejson", "ndjson", "csv")),
                .init("indexOfWhere", predicate), .init("explain", flag), .init("sectionBy", OpenAPIParts.words("name:first")),
                .init("section", anything.describing("Limits the result to the section with this key.")), .init("facets", terms),
                .init("snapshot", OpenAPIParts.words("yjtFIZ9MAzf9sy0-cB4g-A")),
                .init("version", OpenAPIParts.words("previous")),
            ], ints
        ).adding([.init("example", ["where": "TRUEPREDICATE", "limit": 2])])
    }

    private static func sqlBody(_ ints: OpenAPIDocument.Integers, _ limits: Limits) -> DocumentValue {
        let schema = body(
            [
                .init("sql", OpenAPIParts.words(atMost: limits.queryBytes, "SELECT 1")),
                .init("args", OpenAPIParts.arguments(limits)),
                .init("format", OpenAPIParts.choice("json", "ejson", "ndjson", "csv")), .init("explain", flag),
                .init("snapshot", OpenAPIParts.words("yjtFIZ9MAzf9sy0-cB4g-A")),
            ], ints)
        let required: DocumentValue = ints == .string ? ["sql", "ints"] : ["sql"]
        return .object(schema.members.filter { $0.name != "required" } + [.init("required", required)])
            .adding([.init("example", ["sql": "SELECT 1"])])
    }

    private static let sqlResult: DocumentValue = [
        "type": "object", "required": ["columns", "rows", "version"],
        "properties": [
            "columns": ["type": "array", "items": OpenAPIParts.schema("SQLColumn")],
            "rows": ["type": "array", "items": ["type": "array", "items": anything.describing("Is the value of a column.")]],
            "version": OpenAPIParts.words("1.2"), "snapshot": OpenAPIParts.words("yjtFIZ9MAzf9sy0-cB4g-A"),
        ],
        "example": ["columns": [["name": "id", "type": "INTEGER"]], "rows": [[1]], "version": "1.2"],
    ]

    private static let sqlColumn: DocumentValue = [
        "type": "object", "required": ["name", "type"],
        "properties": [
            "name": OpenAPIParts.words("name"), "type": ["type": "string", "nullable": true, "example": "TEXT"],
        ],
    ]

    /// Returns the schema of the body of a request for aggregates.
    ///
    /// - Parameters:
    ///   - ints: The form of integers in the responses that are described.
    ///   - limits: The limits of the server.
    private static func aggregateBody(_ ints: OpenAPIDocument.Integers, _ limits: Limits) -> DocumentValue {
        let terms = OpenAPIParts.list(atMost: limits.queryTerms, least: 1, "name")
        return body(
            [
                .init("where", OpenAPIParts.words(atMost: limits.queryBytes, "TRUEPREDICATE")),
                .init("args", OpenAPIParts.arguments(limits)),
                .init("ops", OpenAPIParts.list(atMost: limits.queryTerms, least: 1, "count")), .init("groupBy", terms),
                .init("having", OpenAPIParts.words("count > 1")), .init("sort", terms),
                .init("limit", OpenAPIParts.number(from: 0, to: limits.page)),
                .init("after", OpenAPIParts.words("b64.AQAAAAAAAAAAAPcdfBCphwIr")), .init("offset", OpenAPIParts.number(from: 0)),
                .init("count", OpenAPIParts.choice("exact", "none")), .init("format", OpenAPIParts.choice("json", "ejson")),
                .init("snapshot", OpenAPIParts.words("yjtFIZ9MAzf9sy0-cB4g-A")),
                .init("version", OpenAPIParts.words("previous")),
            ], ints
        ).adding([.init("example", ["ops": ["count"]])])
    }
}

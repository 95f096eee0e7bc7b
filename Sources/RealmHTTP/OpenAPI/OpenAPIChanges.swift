// SPDX-License-Identifier: Apache-2.0

/// What change notifications add to the API description: operations, parameters and schemas.
///
/// A stream of events can be described as text only. The long-poll at the same path returns the
/// same information as a JSON document, so that is what is described in detail, and generated
/// clients use it.
enum OpenAPIChanges {
    /// The OpenAPI schema of a value that is any string.
    private static let text = OpenAPIParts.text
    /// The OpenAPI schema of a boolean.
    private static let flag: DocumentValue = ["type": "boolean"]
    /// The OpenAPI schema of any JSON value, which is the empty schema.
    private static let anything: DocumentValue = .object([])
    /// The OpenAPI schema of an array of strings.
    private static let texts: DocumentValue = ["type": "array", "items": text]

    // MARK: - Operations

    /// The operation `GET …/changes`, which answers with a stream of events or as a long-poll,
    /// depending on `Accept`.
    static let changes = OperationDescription(
        "getChanges",
        "Returns the changes of a subscription or of a registration, as a stream of events or in one response that waits for them.",
        tag: "changes",
        parameters: [
            "ChangesClass", "ChangesKey", "ChangesProperty", "Where", "Args", "Sort", "Distinct", "ChangesLimit",
            "SectionBy",
            "Section", "KeyPaths", "Shallow", "Deep", "Fields", "Expand",
            "Meta", "Ints", "Include", "Subscription", "Ticket", "Since",
            "Wait",
            "Initial", "Heartbeat", "DocumentFormat", "LastEventId", "RealmMinVersion", "RequestId",
        ],
        responses: OpenAPIParts.responses(
            [
                "description": "The body lists the changes, or is a stream of events.", "headers": answerHeaders,
                "content": [
                    "application/json": ["schema": OpenAPIParts.schema("Changes")],
                    "application/ejson": ["schema": ["type": "object"]], "text/event-stream": ["schema": text],
                ],
            ], isConditional: false),
        problems: .ofChanges)

    /// The operation `POST …/subscriptions`, which registers several named subscriptions at once.
    static let register = OperationDescription(
        "createSubscriptions", "Registers named subscriptions, which one stream delivers together.", tag: "changes",
        parameters: ["RealmMinVersion", "RequestId"],
        taking: .json, body: OpenAPIParts.schema("SubscriptionsBody"),
        responses: answers("201", "The subscriptions are registered and observed.", "RegistrationCreated"), problems: .ofChanges)

    /// The operation `GET …/subscriptions/{id}`, which describes a registration.
    static let registration = OperationDescription(
        "getSubscriptions", "Describes a registration.", tag: "changes", parameters: ["RealmMinVersion", "RequestId"],
        responses: answers("200", "The body describes the registration.", "Registration"),
        problems: .ofChanges)

    /// The operation `DELETE …/subscriptions/{id}`, which ends a registration and the streams that
    /// read it.
    static let unregister = OperationDescription(
        "deleteSubscriptions", "Ends a registration, and the streams that read it.", tag: "changes",
        parameters: ["RealmMinVersion", "RequestId"],
        responses: answers("204", "The registration is deleted.", nil),
        problems: .ofChanges)

    /// The header fields of the responses here. They have no entity tag, because none of these
    /// operations is conditional.
    private static let answerHeaders: DocumentValue = [
        "X-Request-Id": ["description": "Identifies this request in the log and in problem documents.", "schema": text],
        "Realm-Version": ["description": "States the version that the response leads to.", "schema": text],
    ]

    /// Returns the responses of an operation on registrations.
    ///
    /// - Parameters:
    ///   - status: The status of success, such as `201`.
    ///   - description: A sentence about the response to a successful request.
    ///   - schema: The name of the shared schema of its body; nil for a response without a body.
    /// - Returns: An object of responses by status.
    private static func answers(_ status: String, _ description: String, _ schema: String?) -> DocumentValue {
        let body = schema.map { name -> DocumentValue in ["application/json": ["schema": OpenAPIParts.schema(name)]] }
        return .object([
            .init(status, .members(("description", .string(description)), ("headers", answerHeaders), ("content", body)))
        ])
    }

    // MARK: - Parameters

    /// The parameters of subscriptions, by the name that operations refer to them with.
    ///
    /// Where a read has a parameter of the same name but another meaning, such as `limit`, the name
    /// here begins with `Changes`.
    static let parameters: [(String, DocumentValue)] = [
        (
            "ChangesClass",
            OpenAPIParts.inQuery("class", "Names the class that is observed; without it the whole realm is observed.", text)
        ),
        ("ChangesKey", OpenAPIParts.inQuery("key", "Names the object that is observed, by its key.", text)),
        (
            "ChangesProperty",
            OpenAPIParts.inQuery(
                "property",
                "Names a collection of that object, an embedded object in it, or linking objects such as @links.Person.dogs.",
                text)
        ),
        (
            "ChangesLimit",
            OpenAPIParts.inQuery(
                "limit", "Observes only this many rows from the start of the result.", OpenAPIParts.number(from: 0))
        ),
        (
            "KeyPaths",
            OpenAPIParts.inQuery("keyPaths", "Lists key paths, separated by commas; changes elsewhere are not reported.", text)
        ),
        ("Shallow", OpenAPIParts.inQuery("shallow", "With the value true changes inside elements are not reported.", flag)),
        (
            "Deep",
            OpenAPIParts.inQuery(
                "deep",
                "With the value embedded an object changes when it or an object embedded in it does, and not with those it links to.",
                OpenAPIParts.choice("links", "embedded"))
        ),
        (
            "Include",
            OpenAPIParts.inQuery(
                "include", "Chooses what is reported of a row: its object, its key, or counts alone.",
                OpenAPIParts.choice("objects", "keys", "none"))
        ),
        ("Subscription", OpenAPIParts.inQuery("subscription", "Names a registration by its id, in place of a definition.", text)),
        ("Ticket", OpenAPIParts.inQuery("ticket", "Names a registration by its ticket, in place of its id.", text)),
        (
            "Since",
            OpenAPIParts.inQuery(
                "since", "Names the position to continue from; the value now begins at the newest version.", text)
        ),
        (
            "Wait",
            OpenAPIParts.inQuery(
                "wait", "Limits the time that the response waits for a change, in seconds.",
                OpenAPIParts.number(from: 0, to: ChangeRequest.longestWait))
        ),
        ("Initial", OpenAPIParts.inQuery("initial", "With the value false the state at the beginning is not reported.", flag)),
        (
            "Heartbeat",
            OpenAPIParts.inQuery(
                "hb", "With the value event heartbeats are sent as events.", OpenAPIParts.choice("comment", "event"))
        ),
        (
            "LastEventId",
            [
                "name": "Last-Event-ID", "in": "header",
                "description": "Names the last event that the client has received; the stream continues after it.",
                "schema": text,
            ]
        ),
    ]

    /// The header field that excludes registrations from the notifications of a write. Operations
    /// that change objects take it.
    static let writeParameters: [(String, DocumentValue)] = [
        (
            "RealmWithoutNotifying",
            [
                "name": "Realm-Without-Notifying", "in": "header",
                "description":
                    "Lists registrations, separated by commas and each optionally with /name, that are not notified of this write.",
                "schema": text,
            ]
        )
    ]

    // MARK: - Schemas

    /// Returns the schemas of subscriptions and changes by name, in the order of the document.
    ///
    /// - Parameter ints: The form of integers in the responses that are described.
    static func schemas(_ ints: OpenAPIDocument.Integers) -> [(String, DocumentValue)] {
        [
            ("Changes", changes(of: OpenAPIParts.schema("Object"), ints)), ("ChangeReset", reset), ("ChangeSchema", schemaChange),
            ("SubscriptionDefinition", definition), ("SubscriptionsBody", subscriptions),
            ("Registration", registered), ("RegistrationCreated", created),
        ]
    }

    /// Returns the schema of the response of a long-poll.
    ///
    /// - Parameters:
    ///   - object: The schema of an object in it. The document of a realm has one such response
    ///     per class.
    ///   - ints: The form of integers in the responses that are described.
    static func changes(of object: DocumentValue, _ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object", "required": ["changes", "snapshots", "reset", "schema", "next"],
            "properties": [
                "changes": ["type": "array", "items": set(of: object, ints)],
                "snapshots": ["type": "array", "items": snapshot(of: object, ints)],
                "reset": nullable("ChangeReset"), "schema": nullable("ChangeSchema"), "next": text,
            ],
        ]
    }

    /// Returns the schema of a member that is null or a document of a shared schema.
    ///
    /// It names that schema in its description and does not refer to it, because OpenAPI 3.0
    /// ignores everything beside a reference, `nullable` included.
    ///
    /// - Parameter schema: The name of the shared schema.
    private static func nullable(_ schema: String) -> DocumentValue {
        [
            "type": "object", "nullable": true, "description": .string("Is null, or a document of the form \(schema)."),
            "additionalProperties": true,
        ]
    }

    /// Returns the schema of one row of a change set or snapshot.
    ///
    /// No member is required: which of them a row has depends on what is observed, and on the
    /// parameter `include`.
    ///
    /// - Parameters:
    ///   - object: The schema of an object.
    ///   - ints: The form of integers in the responses that are described.
    private static func row(of object: DocumentValue, _ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object",
            "properties": [
                "index": ints.schema, "oldIndex": ints.schema, "section": ints.schema, "oldSection": ints.schema, "key": text,
                "entry": text, "properties": texts, "object": object, "value": anything,
            ],
            "additionalProperties": true,
        ]
    }

    /// Returns the schema of a change set: all changes of one subscription between two versions.
    ///
    /// - Parameters:
    ///   - object: The schema of an object.
    ///   - ints: The form of integers in the responses that are described.
    private static func set(of object: DocumentValue, _ ints: OpenAPIDocument.Integers) -> DocumentValue {
        let rows: DocumentValue = ["type": "array", "items": row(of: object, ints)]
        let section: DocumentValue = [
            "type": "array", "items": ["type": "object", "properties": ["section": ints.schema, "key": anything]],
        ]
        let move: DocumentValue = ["type": "object", "properties": ["from": ints.schema, "to": ints.schema, "key": text]]
        let property: DocumentValue = [
            "type": "object",
            "properties": ["name": text, "oldValue": anything, "newValue": anything, "collection": flag, "linkingObjects": flag],
        ]
        return [
            "type": "object", "required": ["sub", "from", "to"],
            "properties": [
                "sub": text, "from": text, "to": text, "count": ints.schema, "deletions": rows, "insertions": rows,
                "modifications": rows, "moves": ["type": "array", "items": move], "sectionsToDelete": section,
                "sectionsToInsert": section, "properties": ["type": "array", "items": property], "object": object,
                "classes": texts, "cleared": flag, "deleted": flag, "skipped": flag,
            ],
            "additionalProperties": true,
        ]
    }

    /// Returns the schema of a snapshot: the state of one subscription in one version, possibly in
    /// several parts.
    ///
    /// - Parameters:
    ///   - object: The schema of an object.
    ///   - ints: The form of integers in the responses that are described.
    private static func snapshot(of object: DocumentValue, _ ints: OpenAPIDocument.Integers) -> DocumentValue {
        let rows: DocumentValue = ["type": "array", "items": row(of: object, ints)]
        return [
            "type": "object", "required": ["sub", "version", "last"],
            "properties": [
                "sub": text, "version": text, "count": ints.schema, "items": rows,
                "sections": ["type": "array", "items": ["type": "object", "properties": ["key": anything, "items": rows]]],
                "object": object, "last": flag,
            ],
            "additionalProperties": true,
        ]
    }

    /// The notice that changes were lost for some subscriptions, with the reason; snapshots follow
    /// it.
    private static let reset: DocumentValue = [
        "type": "object", "required": ["subs", "reason", "version"],
        "properties": [
            "subs": texts, "reason": OpenAPIParts.choice("epoch", "retention", "overflow", "schema"), "version": text,
        ],
    ]

    /// The notice that the schema of the realm has changed, with the versions of both schemas.
    private static let schemaChange: DocumentValue = [
        "type": "object", "required": ["version"],
        "properties": [
            "oldVersion": ["type": "integer", "format": "int64", "nullable": true],
            "newVersion": ["type": "integer", "format": "int64", "nullable": true], "version": text,
        ],
    ]

    /// The definition of a subscription, with the same members as the parameters of `GET
    /// …/changes`. Unknown members are rejected.
    private static let definition: DocumentValue = [
        "type": "object", "additionalProperties": false,
        "properties": [
            "class": text, "key": text, "property": text, "where": text, "args": ["type": "array", "items": anything],
            "sort": texts, "distinct": texts, "limit": OpenAPIParts.number(from: 0), "sectionBy": text, "section": anything,
            "keyPaths": texts, "shallow": flag, "deep": OpenAPIParts.choice("links", "embedded"),
            "fields": texts, "expand": texts, "ints": OpenAPIParts.choice("number", "string"),
            "meta": OpenAPIParts.choice("full", "none"), "include": OpenAPIParts.choice("objects", "keys", "none"),
        ],
    ]

    /// The body of a registration, which has named definitions in its member `subscriptions` and no
    /// other member.
    private static let subscriptions: DocumentValue = [
        "type": "object", "required": ["subscriptions"], "additionalProperties": false,
        "properties": [
            "subscriptions": ["type": "object", "additionalProperties": OpenAPIParts.schema("SubscriptionDefinition")]
        ],
    ]

    /// A registration with its definitions, and how long it lasts: `expiresAt` is null while a
    /// stream reads it.
    private static let registered: DocumentValue = [
        "type": "object", "required": ["id", "subscriptions", "version", "expiresAt", "streams"],
        "properties": [
            "id": text,
            "subscriptions": ["type": "object", "additionalProperties": OpenAPIParts.schema("SubscriptionDefinition")],
            "version": text, "expiresAt": ["type": "string", "format": "date-time", "nullable": true],
            "streams": ["type": "integer", "format": "int64"],
        ],
    ]

    /// The response to a new registration. Its `url` contains a ticket, so it is a secret of the
    /// client that registered.
    private static let created: DocumentValue = [
        "type": "object", "required": ["id", "url", "version", "expiresAt"],
        "properties": [
            "id": text,
            "url": ["type": "string", "description": "Is a path whose ticket gives access to this registration alone."],
            "version": text, "expiresAt": ["type": "string", "format": "date-time", "nullable": true],
        ],
    ]
}

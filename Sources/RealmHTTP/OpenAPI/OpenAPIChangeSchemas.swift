// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The schemas of subscriptions and of their events.
extension OpenAPIChanges {
    /// The OpenAPI schema of a value that is any string.
    private static let text = OpenAPIParts.text
    /// The OpenAPI schema of a boolean.
    private static let flag = OpenAPIParts.flag
    /// The OpenAPI schema of an array of strings.
    private static let texts = OpenAPIParts.texts
    /// The schema of a time, or of null while there is none.
    private static let time: DocumentValue = ["type": "string", "format": "date-time", "nullable": true]
    private static let schemaVersion: DocumentValue = ["type": "integer", "format": "int64", "nullable": true]

    /// Returns the schema of any JSON value with a description.
    private static func anything(_ description: String) -> DocumentValue { OpenAPIParts.anything.describing(description) }

    /// The suffixes of the schemas that have an object in them. The document of a realm has them once per class, with the name
    /// of the class before.
    static let suffixes = ["Changes", "ChangeSet", "ChangeRow", "ChangeSnapshot", "ChangeSection"]

    /// Returns the schemas of subscriptions and changes by name, in the order of the document.
    ///
    /// - Parameters:
    ///   - ints: The form of integers in the responses that are described.
    ///   - limits: The limits of the server.
    static func schemas(_ ints: OpenAPIDocument.Integers, _ limits: Limits) -> [(String, DocumentValue)] {
        changes(of: "", OpenAPIParts.schema("RealmObject"), ints) + [
            ("ChangeMove", move(ints)), ("ChangedSection", changedSection(ints)), ("ChangedProperty", changedProperty),
            ("ChangeReset", reset), ("ChangeSchema", schemaChange),
            (
                "Events",
                [
                    "type": "string", "description": "Is a stream of Server-Sent Events.",
                    "example": "event: heartbeat\nid: k3f9q2.1841\ndata: {}\n\n",
                ]
            ),
            ("SubscriptionDefinition", definition(limits)), ("SubscriptionsBody", subscriptions(limits)),
            ("Registration", registered), ("RegistrationCreated", created),
        ]
    }

    /// Returns the schemas of the response of a long-poll and of its parts, by name.
    ///
    /// - Parameters:
    ///   - prefix: The name of the class that the objects are of; empty for objects of any class.
    ///   - ints: The form of integers in the responses that are described.
    static func changes(
        of prefix: String, _ object: DocumentValue, _ ints: OpenAPIDocument.Integers
    ) -> [(String, DocumentValue)] {
        let row = OpenAPIParts.schema(prefix + "ChangeRow")
        let rows: DocumentValue = ["type": "array", "items": row]
        return [
            (
                prefix + "Changes",
                [
                    "type": "object",
                    "description": .string("Is the response to a poll of \(prefix.isEmpty ? "changes" : prefix)."),
                    "required": ["changes", "snapshots", "reset", "schema", "next"],
                    "properties": [
                        "changes": ["type": "array", "items": OpenAPIParts.schema(prefix + "ChangeSet")],
                        "snapshots": ["type": "array", "items": OpenAPIParts.schema(prefix + "ChangeSnapshot")],
                        "reset": OpenAPIParts.schema("ChangeReset").orNull,
                        "schema": OpenAPIParts.schema("ChangeSchema").orNull, "next": text,
                    ],
                ]
            ),
            (prefix + "ChangeSet", set(object, rows, ints)), (prefix + "ChangeRow", rowSchema(object, ints)),
            (
                prefix + "ChangeSnapshot",
                [
                    "type": "object",
                    "description": "Is the state of one subscription in one version, or a part of it.",
                    "required": ["sub", "version", "last"],
                    "properties": [
                        "sub": text, "version": text, "count": ints.schema, "items": rows,
                        "sections": ["type": "array", "items": OpenAPIParts.schema(prefix + "ChangeSection")], "object": object,
                        "last": flag,
                    ],
                ]
            ),
            (
                prefix + "ChangeSection",
                [
                    "type": "object", "description": "Is a section of a subscription with its rows.",
                    "properties": ["key": anything("Is the value that the rows have in common."), "items": rows],
                ]
            ),
        ]
    }

    /// Returns the schema of one row of a change set or snapshot.
    ///
    /// No member is required: the members of a row depend on the observed definition, and on the parameter `include`.
    private static func rowSchema(_ object: DocumentValue, _ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object", "description": "Is a row of a subscription: an object, or an element of a collection.",
            "properties": [
                "index": ints.schema, "oldIndex": ints.schema, "section": ints.schema, "oldSection": ints.schema, "key": text,
                "entry": text, "properties": texts, "object": object,
                "value": anything("Is the element where it is not an object."),
            ],
        ]
    }

    /// Returns the schema of a change set: all changes of one subscription between two versions.
    private static func set(_ object: DocumentValue, _ rows: DocumentValue, _ ints: OpenAPIDocument.Integers) -> DocumentValue {
        [
            "type": "object", "description": "Is all that changed for one subscription between two versions.",
            "required": ["sub", "from", "to"],
            "properties": [
                "sub": text, "from": text, "to": text, "count": ints.schema, "deletions": rows, "insertions": rows,
                "modifications": rows, "moves": ["type": "array", "items": OpenAPIParts.schema("ChangeMove")],
                "sectionsToDelete": ["type": "array", "items": OpenAPIParts.schema("ChangedSection")],
                "sectionsToInsert": ["type": "array", "items": OpenAPIParts.schema("ChangedSection")],
                "properties": ["type": "array", "items": OpenAPIParts.schema("ChangedProperty")], "object": object,
                "classes": texts, "cleared": flag, "deleted": flag, "skipped": flag,
            ],
        ]
    }

    /// Returns the schema of a row that has another place.
    private static func move(_ ints: OpenAPIDocument.Integers) -> DocumentValue {
        ["type": "object", "properties": ["from": ints.schema, "to": ints.schema, "key": text]]
    }

    /// Returns the schema of a section that came or went.
    private static func changedSection(_ ints: OpenAPIDocument.Integers) -> DocumentValue {
        ["type": "object", "properties": ["section": ints.schema, "key": anything("Is the value that the rows had in common.")]]
    }

    /// The schema of a property of an observed object that changed.
    private static let changedProperty: DocumentValue = [
        "type": "object",
        "properties": [
            "name": text, "oldValue": anything("Is the value before."), "newValue": anything("Is the value now."),
            "collection": flag, "linkingObjects": flag,
        ],
    ]

    /// The notice that changes were lost for some subscriptions, with the reason; snapshots follow it.
    private static let reset: DocumentValue = [
        "type": "object", "required": ["subs", "reason", "version"],
        "properties": [
            "subs": texts, "reason": OpenAPIParts.choice("epoch", "retention", "overflow", "schema"), "version": text,
        ],
    ]

    /// The notice that the schema of the realm has changed, with the versions of both schemas.
    private static let schemaChange: DocumentValue = [
        "type": "object", "required": ["version"],
        "properties": ["oldVersion": schemaVersion, "newVersion": schemaVersion, "version": text],
    ]

    /// Returns the definition of a subscription, with the same members as the parameters of `GET
    /// …/changes`. Unknown members are rejected.
    private static func definition(_ limits: Limits) -> DocumentValue {
        let terms = OpenAPIParts.list(atMost: limits.queryTerms, least: 1, "name")
        let paths = OpenAPIParts.list(atMost: limits.fields, least: 1, "name")
        return [
            "type": "object", "additionalProperties": false,
            "properties": [
                "class": OpenAPIParts.words("Category"), "key": OpenAPIParts.words("1"), "property": OpenAPIParts.words("name"),
                "where": OpenAPIParts.words(atMost: limits.queryBytes, "TRUEPREDICATE"), "args": OpenAPIParts.arguments(limits),
                "sort": terms, "distinct": terms, "limit": OpenAPIParts.number(from: 0),
                "sectionBy": OpenAPIParts.words("name:first"), "section": anything("Observes the section with this key only."),
                "keyPaths": paths, "shallow": flag, "deep": OpenAPIParts.choice("links", "embedded"), "fields": paths,
                "expand": paths, "ints": OpenAPIParts.choice("number", "string"), "meta": OpenAPIParts.choice("full", "none"),
                "include": OpenAPIParts.choice("objects", "keys", "none"),
            ],
            "example": ["class": "Category", "sort": ["name"]],
        ]
    }

    private static func definitions(_ limits: Limits) -> DocumentValue {
        [
            "type": "object", "minProperties": 1, "maxProperties": .int(limits.registrationNames),
            "description": "Has definitions by a name of 1 to 64 letters, digits, '.', '_' and '-'.",
            "additionalProperties": OpenAPIParts.schema("SubscriptionDefinition"),
            "example": ["categories": ["class": "Category", "sort": ["name"]]],
        ]
    }

    /// Returns the body of a registration, which has named definitions in its member `subscriptions` and no other member.
    private static func subscriptions(_ limits: Limits) -> DocumentValue {
        [
            "type": "object", "required": ["subscriptions"], "additionalProperties": false,
            "properties": ["subscriptions": definitions(limits)],
        ]
    }

    /// A registration with its definitions and its lifetime: `expiresAt` is null while a stream reads it.
    private static let registered: DocumentValue = [
        "type": "object", "required": ["id", "subscriptions", "version", "expiresAt", "streams"],
        "properties": [
            "id": text,
            "subscriptions": [
                "type": "object", "description": "Has the definitions by name.",
                "additionalProperties": OpenAPIParts.schema("SubscriptionDefinition"),
                "example": ["categories": ["class": "Category"]],
            ],
            "version": text, "expiresAt": time, "streams": ["type": "integer", "format": "int64"],
        ],
    ]

    /// The response to a new registration. Its `url` contains a ticket, so it is a secret of the client that registered.
    private static let created: DocumentValue = [
        "type": "object", "required": ["id", "url", "version", "expiresAt"],
        "properties": [
            "id": text, "url": text.describing("Is a path whose ticket gives access to this registration alone."),
            "version": text, "expiresAt": time,
        ],
    ]
}

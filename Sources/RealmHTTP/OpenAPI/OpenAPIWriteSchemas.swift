// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The schemas of the documents that writes take and return.
///
/// Responses permit unknown members, since later versions of the server may add some.
extension OpenAPIWrites {
    /// The OpenAPI schema of a value that is any string.
    static let text = OpenAPIParts.text
    /// The OpenAPI schema of a boolean.
    static let flag = OpenAPIParts.flag
    /// The schema of a count. It is a number in both forms of integers: these documents do not depend on the parameter `ints`.
    static let count: DocumentValue = ["type": "integer", "format": "int64"]
    /// The OpenAPI schema of any JSON value, which is the empty schema.
    static let anything = OpenAPIParts.anything
    /// The OpenAPI schema of an array of strings.
    static let texts = OpenAPIParts.texts

    /// Returns the schema of an object that has these members and no others, as bodies of requests do.
    ///
    /// - Parameters:
    ///   - required: The names of the members that are always there.
    ///   - properties: An object with the schema of each known member.
    static func closed(_ required: [String], _ properties: DocumentValue) -> DocumentValue {
        object(required, properties).adding([.init("additionalProperties", false)])
    }

    /// Returns the schema of an object of a response, to which later versions may add members.
    ///
    /// - Parameters:
    ///   - required: The names of the members that are always there.
    ///   - properties: An object with the schema of each known member.
    static func object(_ required: [String], _ properties: DocumentValue) -> DocumentValue {
        .members(
            ("type", "object"), ("required", required.isEmpty ? nil : .array(required.map { .string($0) })),
            ("properties", properties))
    }

    static let time: DocumentValue = ["type": "string", "format": "date-time"]
    /// The schema of an HTTP status.
    static let status: DocumentValue = ["type": "integer", "format": "int32", "example": 200]
    /// The schema of the body of another response.
    private static let otherBody = anything.describing("Is the body of the response to the write.")

    /// The schemas by name, in the order of the document.
    static func schemas(_ limits: Limits) -> [(String, DocumentValue)] {
        objects(limits) + OpenAPIBatches.schemas(limits) + edits + leases(limits) + backups + recovered + stats + realms(limits)
            + migrations(limits)
    }

    private static func objects(_ limits: Limits) -> [(String, DocumentValue)] {
        [
            (
                "Created",
                object(
                    [],
                    [
                        "$meta": OpenAPIParts.schema("Meta"), "created": count, "updated": count, "keys": texts, "version": text,
                        "items": ["type": "array", "items": OpenAPIParts.schema("RealmObject")],
                    ]
                ).adding([.init("additionalProperties", true)]).describing(
                    "Is the created object with its properties, or counts and keys where the request had an array or lines.")
            ),
            ("Matched", object(["matched", "version"], ["matched": count, "version": text])),
            (
                "Imported",
                object(
                    ["created", "updated", "version"],
                    [
                        "created": count, "updated": count, "version": text,
                        "ignored": OpenAPIParts.texts.describing(
                            "Lists members that were left out, as CLASS.MEMBER, with Prefer: handling=lenient."),
                        "overtaken": count.describing(
                            "States of how many lines a value was left out, because another client had changed the property."),
                        "moreIgnored": flag.describing("Is true when more members were left out than are listed."),
                        "tablesNotRead": OpenAPIParts.texts.describing(
                            "Lists tables and views of SQLite that were not read; with tables=… only those of collections."),
                        "moreTablesNotRead": count.describing(
                            "States how many tables were not read besides those that are listed."),
                    ])
            ),
            (
                "DryRun",
                object(["committed", "status"], ["committed": flag, "status": status, "body": otherBody]).describing(
                    "Is the response that the write would have had without dryRun=true.")
            ),
            ("JSONPatch", jsonPatch),
            ("CommittedVersion", object(["version"], ["version": text])),
            (
                "WriteState",
                object(
                    ["id", "state"],
                    [
                        "id": text, "state": OpenAPIParts.choice("queued", "running", "committed", "failed", "cancelled"),
                        "version": OpenAPIParts.nullableText, "status": status.orNull, "body": otherBody,
                        "problem": OpenAPIParts.schema("Problem"),
                    ])
            ),
        ]
    }

    private static let jsonPatch: DocumentValue = [
        "type": "array", "description": "Is a JSON Patch (RFC 6902): operations that are done in order, as a unit.",
        "items": object(
            ["op", "path"],
            [
                "op": OpenAPIParts.choice("add", "remove", "replace", "move", "copy", "test"),
                "path": ["type": "string", "pattern": "^(/[\\s\\S]*)?$", "example": "/name"],
                "from": ["type": "string", "pattern": "^(/[\\s\\S]*)?$", "example": "/name"],
                "value": anything.describing("Is the value to write or to compare with."),
            ]
        ).adding([.init("example", ["op": "replace", "path": "/name", "value": "Kitchen"])]),
        "example": [["op": "replace", "path": "/name", "value": "Kitchen"]],
    ]

    private static func leases(_ limits: Limits) -> [(String, DocumentValue)] {
        let ttl = OpenAPIParts.duration(atMost: limits.snapshotSeconds, "1m")
        return [
            (
                "TransactionOptions",
                closed(
                    [],
                    [
                        "wait": OpenAPIParts.duration("1s"),
                        "idle": OpenAPIParts.duration(atMost: limits.transactionIdleSeconds, "1s"),
                        "lifetime": OpenAPIParts.duration(atMost: limits.transactionSeconds, "2s"),
                    ])
            ),
            (
                "Transaction",
                object(
                    ["id", "version", "idleTimeout", "expiresAt"],
                    [
                        "id": text, "version": text, "idleTimeout": ["type": "string", "example": "5s"], "expiresAt": time,
                        "state": OpenAPIParts.choice("open", "aborted", "committed", "rolledBack", "expired"),
                    ])
            ),
            ("SnapshotOptions", closed([], ["ttl": ttl.orNull])), ("SnapshotRenewal", closed(["ttl"], ["ttl": ttl])),
            (
                "Snapshot",
                object(
                    ["id", "version", "expiresAt", "behind"],
                    [
                        "id": text, "version": text, "expiresAt": time,
                        "behind": count.describing("Counts the commits made since that version."),
                    ])
            ),
            (
                "SnapshotPage",
                object(
                    ["items", "next"],
                    ["items": ["type": "array", "items": OpenAPIParts.schema("Snapshot")], "next": OpenAPIParts.nullableText])
            ),
        ]
    }

    /// The schemas of changes of the elements of a collection: objects with exactly one member.
    private static let edits: [(String, DocumentValue)] = {
        let value = anything.describing("Is the element to add or to remove.")
        let values: DocumentValue = ["type": "array", "items": anything, "example": ["a"]]
        let placed: DocumentValue = ["type": "array", "minItems": 2, "maxItems": 2, "items": anything, "example": [0, "a"]]
        let places: DocumentValue = [
            "type": "array", "minItems": 2, "maxItems": 2,
            "items": ["type": "integer", "format": "int64", "minimum": 0, "example": 0], "example": [0, 1],
        ]
        let all: DocumentValue = ["type": "boolean", "enum": [true]]
        func edit(_ description: String, _ example: DocumentValue, _ properties: DocumentValue) -> DocumentValue {
            [
                "type": "object", "description": .string(description), "minProperties": 1, "maxProperties": 1,
                "properties": properties, "additionalProperties": false, "example": example,
            ]
        }
        return [
            (
                "ListEdit",
                edit(
                    "Is one change of a list.", ["add": "a"],
                    [
                        "add": value, "insert": placed, "set": placed, "remove": OpenAPIParts.number(from: 0), "move": places,
                        "swap": places, "clear": all, "deleteAll": all,
                    ])
            ),
            (
                "SetEdit",
                edit(
                    "Is one change of a set.", ["insert": "a"],
                    [
                        "insert": value, "remove": value, "clear": all, "union": values, "intersect": values, "minus": values,
                    ])
            ),
            (
                "DictionaryEdit",
                edit(
                    "Is one change of a dictionary.", ["set": ["a", 1]],
                    [
                        "set": ["type": "array", "minItems": 2, "maxItems": 2, "items": anything, "example": ["a", 1]],
                        "remove": OpenAPIParts.words("a"), "clear": all,
                    ])
            ),
        ]
    }()
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmRecovery
internal import RealmStorage

/// The parameters and schemas of what the unused space of a file still holds.
extension OpenAPIWrites {
    static let recoveredParameters: [SharedParameter] = [
        .query("class", as: "RecoveredClass", "Lists states of this class only.", OpenAPIParts.words("Category")),
        .query(
            "kind", as: "RecoveredKind",
            "Lists states of these kinds only, with commas: \(RecoveredLine.Kind.allCases.map(\.rawValue).joined(separator: ", ")).",
            OpenAPIParts.words("deleted")),
        .query(
            "certainty", as: "RecoveredCertainty", "Lists states of these certainties only, with commas: A, B, C.",
            OpenAPIParts.words("A")),
        .query(
            "since", as: "RecoveredSince",
            "Lists states with a proved version from this one on, and those without a proved version.",
            OpenAPIParts.number(from: 0)),
        .query(
            "versions", as: "RecoveredVersions", "Lists states with one of these proved versions, with commas.",
            OpenAPIParts.words("31")),
    ]

    /// The facts about a recovery.
    private static let facts: [DocumentValue.Member] = [
        .init("recovery", text.describing("Is the id of the recovery, which a request to restore names.")),
        .init("version", text.describing("Is the version that the file had when it was copied.")),
        .init("complete", flag.describing("Is whether the whole file was searched.")),
        .init("incomplete", texts.describing("States what was not searched.")),
        .init("commitCutShort", flag.describing("Is whether a commit began to write and was never finished.")),
        .init("versions", ["type": "array", "items": OpenAPIParts.schema("RecoveredVersion")]),
    ]

    private static let factNames = ["recovery", "version", "complete", "incomplete", "commitCutShort", "versions"]

    static let recovered: [(String, DocumentValue)] = [
        (
            "RecoveredPage",
            object(
                factNames + ["counts", "items", "next"],
                .object(
                    facts + [
                        .init(
                            "counts",
                            [
                                "type": "object", "additionalProperties": count,
                                "description": "Counts states by kind and certainty.",
                            ]),
                        .init("items", ["type": "array", "items": OpenAPIParts.schema("RecoveredState")]),
                        .init("next", OpenAPIParts.nullableText.describing("Is the value of after for the next page.")),
                    ]))
        ),
        ("RecoveredVersions", object(factNames, .object(facts))),
        (
            "RecoveredVersion",
            object(
                ["version", "top", "source", "state", "nodes", "unproven", "lost", "classes", "freeLists"],
                [
                    "version": count, "top": text.describing("Is the offset of the top node."), "source": text,
                    "state": OpenAPIParts.choice("whole", "consistent", "partial", "top only"),
                    "nodes": count, "unproven": count, "lost": count, "classes": texts, "freeLists": flag, "unfinished": flag,
                ])
        ),
        (
            "RecoveredState",
            object(
                ["id", "class", "key", "objectKey", "kind", "certainty", "versions", "source", "leaf", "values"],
                [
                    "id": text, "class": text, "key": OpenAPIParts.nullableText,
                    "objectKey": ["type": "integer", "format": "int64", "nullable": true],
                    "kind": .object([
                        .init("type", "string"), .init("enum", .array(RecoveredLine.Kind.allCases.map { .string($0.rawValue) })),
                    ]),
                    "certainty": text, "versions": ["type": "array", "items": count],
                    "versionsUnproven": ["type": "array", "items": count], "source": text, "leaf": text,
                    "values": anyMembers.describing("Has the known values."),
                    "lost": anyMembers.describing("Has the reason for each value that was overwritten."),
                    "unproven": texts.describing("Names values that are not proved to belong to the state."),
                    "possible": anyMembers.describing("Has hints at lost values."), "possibleKey": text, "schema": text,
                ])
        ),
        (
            "RecoveredRestore",
            object(
                ["recovery", "ids"],
                [
                    "recovery": text, "ids": texts.describing("Names the states to restore."),
                    "onConflict": OpenAPIParts.choice("fail", "skip", "update"),
                    "values": anyMembers.describing("Has values for properties by the id of the state."),
                    "lost": OpenAPIParts.choice("default"), "unproven": flag, "schema": OpenAPIParts.choice("skip"),
                    "incoming": flag.describing("Restores links from other objects too."),
                ])
        ),
        (
            "RecoveredRestored",
            object(
                ["committed", "version", "results"],
                [
                    "committed": flag, "version": text,
                    "results": ["type": "array", "items": OpenAPIParts.schema("RecoveredResult")],
                ])
        ),
        (
            "RecoveredResult",
            object(
                ["id", "class", "key", "result"],
                [
                    "id": text, "class": text, "key": OpenAPIParts.nullableText,
                    "result": OpenAPIParts.choice("created", "updated", "skipped"),
                    "droppedLinks": ["type": "array", "items": OpenAPIParts.schema("RecoveredLink")],
                    "omitted": texts.describing("Names properties that were not written."),
                    "incoming": ["type": "array", "items": OpenAPIParts.schema("RecoveredLink")],
                ])
        ),
        ("RecoveredLink", object(["property", "class", "key"], ["property": text, "class": text, "key": text])),
    ]

    /// An object with members of any names.
    private static let anyMembers: DocumentValue = ["type": "object", "additionalProperties": true]
}

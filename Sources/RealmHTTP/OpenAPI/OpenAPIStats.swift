// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The schemas of the sizes of a realm.
extension OpenAPIWrites {
    /// The schema of a number of bytes.
    private static let bytes = OpenAPIParts.number(from: 0)

    static let stats: [(String, DocumentValue)] = [
        (
            "UndoOption",
            closed(
                [],
                [
                    "versions": .object([
                        .init("type", "integer"), .init("format", "int32"), .init("minimum", 0), .init("maximum", 10_000),
                        .init("example", 100),
                    ]),
                    "hours": ["type": "number", "format": "double", "minimum": 0, "example": 24],
                    "atMost": OpenAPIParts.words("10%"),
                ])
        ),
        (
            "RealmVersions",
            object(
                ["items", "next", "undo", "keptBytes", "droppedEarly"],
                [
                    "items": ["type": "array", "items": OpenAPIParts.schema("RealmVersion")], "next": OpenAPIParts.nullableText,
                    "undo": OpenAPIParts.anything.describing("Is the option undo of the realm; 0 for none."),
                    "keptBytes": bytes.describing("Is what the file keeps for former versions."),
                    "droppedEarly": count.describing("Is how many versions were dropped for want of room."),
                ])
        ),
        (
            "RealmVersion",
            object(
                ["version", "token", "time", "changes"],
                [
                    "version": count, "token": OpenAPIParts.text,
                    "time": OpenAPIParts.nullableText.describing("Is when it was committed; null when that is not known."),
                    "bytes": bytes.describing("Is the space that is kept for the version; absent for the newest one."),
                    "changes": OpenAPIParts.anything.describing(
                        "Counts the differences to the version before by class; null when that is not there."),
                ])
        ),
        (
            "Undo",
            closed(
                ["version"],
                [
                    "version": OpenAPIParts.anything.describing("Is the number or token of the version that the commit made."),
                    "dryRun": flag,
                ]
            ).adding([.init("example", ["version": 7, "dryRun": true])])
        ),
        (
            "Undone",
            object(
                ["undone", "restored", "removed", "reverted", "version"],
                ["undone": count, "restored": count, "removed": count, "reverted": count, "version": OpenAPIParts.text])
        ),
        (
            "RealmStats",
            object(
                [
                    "complete", "fileFormat", "encrypted", "streamingForm", "fileBytes", "nodes", "parts", "classes",
                    "otherTables",
                    "largest", "damageCount", "damage",
                ],
                [
                    "complete": flag.describing("Is whether the whole file could be read."),
                    "fileFormat": count, "encrypted": flag, "streamingForm": flag,
                    "version": count.describing("Is the number of the version, where the file states it."),
                    "fileBytes": bytes.describing("Is the size of the file, which is the sum of its parts."),
                    "logicalBytes": bytes.describing("Is the size up to the end of the data; absent when it cannot be read."),
                    "compactedBytes": bytes.describing(
                        "Is about the size after compaction; absent for damaged files and those of formats 2 to 9."),
                    "nodes": count,
                    "parts": object(
                        [
                            "header", "top", "freeLists", "history", "classes", "hiddenClasses", "otherTables", "free",
                            "unaccounted", "tail", "pageTables",
                        ],
                        [
                            "header": bytes, "top": bytes.describing("Is the list of tables with their names."),
                            "freeLists": bytes, "history": bytes.describing("Is the history of changes that SDKs keep."),
                            "classes": bytes,
                            "hiddenClasses": bytes.describing("Is what the classes have that the realm does not show."),
                            "otherTables": bytes.describing("Is what tables of SDKs have, which are no classes."),
                            "free": bytes,
                            "unaccounted": bytes.describing("Is what nothing refers to, or what could not be read."),
                            "tail": bytes.describing("Is what lies behind the end of the data."),
                            "pageTables": bytes.describing("Is what describes the pages of an encrypted file."),
                        ]),
                    "free": object(
                        ["bytes", "blocks", "largestBlock"],
                        [
                            "bytes": bytes, "blocks": count, "largestBlock": bytes,
                            "pinnedBytes": bytes.describing(
                                "Is what cannot be used yet, because former versions are kept; absent when these are not known."),
                        ]),
                    "versions": object(
                        ["live", "oldestSeconds"],
                        [
                            "live": count, "oldest": count.describing("Is the number of the oldest version in use."),
                            "oldestSeconds": count.describing("Is the age of the oldest version that is not the newest."),
                        ]),
                    "classes": ["type": "array", "items": OpenAPIParts.schema("RealmStatsTable")],
                    "otherTables": ["type": "array", "items": OpenAPIParts.schema("RealmStatsTable")],
                    "largest": [
                        "type": "array",
                        "items": object(
                            ["class", "property", "key", "bytes"],
                            ["class": text, "property": text, "key": text, "bytes": bytes]),
                    ],
                    "damageCount": count,
                    "damage": [
                        "type": "array",
                        "items": object(
                            ["offset", "reason"], ["offset": count, "class": text, "property": text, "reason": text]),
                    ],
                ])
        ),
        (
            "RealmStatsTable",
            object(
                ["name", "bytes", "complete", "schema", "keys", "tombstones", "other", "properties"],
                [
                    "name": text, "bytes": bytes, "objects": count.describing("Is absent when not all objects could be read."),
                    "complete": flag, "schema": bytes,
                    "keys": bytes.describing("Is the keys of the objects, and the nodes of the tree that leads to them."),
                    "tombstones": bytes.describing("Is deleted objects that links still point to."),
                    "other": bytes.describing("Is remains that belong to no property."),
                    "properties": [
                        "type": "array",
                        "items": object(
                            ["name", "bytes", "values", "collections", "index", "backlinks"],
                            [
                                "name": text, "bytes": bytes, "values": bytes,
                                "collections": bytes.describing("Is the contents of lists, sets and dictionaries."),
                                "index": bytes,
                                "backlinks": bytes.describing(
                                    "Is the lists of incoming links that the targets of its links have."),
                            ]),
                    ],
                ])
        ),
    ]
}

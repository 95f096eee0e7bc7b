// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The part of the API description about writes: operations, parameters, and the documents that they take and return.
enum OpenAPIWrites {
    // MARK: - Parameters

    /// Returns the parameters of writes, exports and imports.
    ///
    /// - Parameter limits: The limits of the server.
    static func parameters(_ limits: Limits) -> [SharedParameter] {
        conditions(limits) + transfers + recoveredParameters + headers
    }

    /// The parameters of writes of objects.
    private static func conditions(_ limits: Limits) -> [SharedParameter] {
        [
            .path("id", "Is the id that the server assigned.", example: "yjtFIZ9MAzf9sy0-cB4g-A"),
            .query(
                "where", as: "RequiredWhere", isRequired: true,
                "Selects the objects that are changed, by a predicate in the Realm Query Language.",
                OpenAPIParts.predicate(limits, "FALSEPREDICATE")),
            .query(
                "upsert", "Changes objects that exist: the properties that differ, or all that are given.",
                OpenAPIParts.choice("modified", "all")),
            .query(
                "nested", "With the value upsert full objects in place of links are created or changed.",
                OpenAPIParts.choice("refuse", "upsert")),
            .query("dryRun", "With the value true the write is carried out and then undone.", OpenAPIParts.flag),
            .query("maxAffected", "Rejects the request when more objects match.", OpenAPIParts.number(from: 0)),
            .query(
                "confirm", as: "ConfirmNoAdministrator", "Permits that no key administers the server afterwards.",
                OpenAPIParts.choice(CredentialCheck.confirmation)),
            .query("confirm", isRequired: true, "Must be all.", OpenAPIParts.choice("all")),
        ]
    }

    /// The parameters of realms, exports and imports.
    private static let transfers: [SharedParameter] = [
        .query(
            "name", as: "UploadName", isRequired: true, "Names the realm that is made.",
            OpenAPIParts.words(pattern: "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$", "shop")),
        .header(
            "Realm-Encryption-Key", as: "EncryptionKey",
            "States the key of an encrypted file, as 128 hex digits or as base64 of 64 bytes.",
            OpenAPIParts.words(
                pattern: "^([0-9A-Fa-f]{128}|[A-Za-z0-9+/_-]{86}={0,2})$", String(repeating: "0f", count: 64))),
        .query("files", "With the value true the file is deleted too.", OpenAPIParts.flag),
        .query(
            "mode", as: "ImportMode", "With the value upsert objects that exist are changed.",
            OpenAPIParts.choice("create", "upsert")),
        .query(
            "class", as: "ImportClass", "Names the class of objects that do not state theirs.", OpenAPIParts.words("Category")),
        .query(
            "atomic",
            "With the value false the import commits in parts; a failure states in committed behind which line to continue.",
            OpenAPIParts.flag),
        .query("class", as: "ExportClass", "Limits the export to objects of this class.", OpenAPIParts.words("Category")),
        .query(
            "from", as: "ComparedFrom", isRequired: true,
            "Names the earlier version by the id of a snapshot, or by its token if a snapshot holds it.",
            OpenAPIParts.words("UUexV51fyEvbNIUabyEw8C")),
        .query(
            "to", as: "ComparedTo", "Names the later version in the same way; by default the newest one.",
            OpenAPIParts.words("k3f9q2.1841")),
        .query(
            "class", as: "ComparedClasses", "Limits the comparison to these classes, with commas.", OpenAPIParts.words("Category")
        ),
        .query(
            "format", as: "ComparisonFormat", "Chooses the form of the comparison.",
            ["type": "string", "enum": .array(ComparisonFormat.allCases.map { .string($0.rawValue) })]),
        .query(
            "columns", as: "ImportColumns",
            "Names properties for columns, as COLUMN:PROPERTY,… or a JSON object, in CSV and tables of SQLite.",
            OpenAPIParts.words("Title:name")),
        .query(
            "separator", as: "ImportSeparator", "The separator of cells in CSV; by default the first line decides.",
            OpenAPIParts.choice("comma", "semicolon", "tab")),
        .query(
            "tables", as: "ImportTables",
            "Names the tables of SQLite to import, as TABLE:CLASS,… or a JSON object; by default those of an export and those called like classes.",
            OpenAPIParts.words("categories:Category")),
        .query(
            "format", as: "ExportFormat", "Chooses the form of the export. csv, ejson and geojson need a class.",
            ["type": "string", "enum": .array(ExportFormat.allCases.map { .string($0.rawValue) })]),
        .query(
            "geometry", "Leads to the location of each feature of GeoJSON; by default the first one.",
            OpenAPIParts.words("location")),
        .query(
            "csv", as: "ForExcel",
            "With the value excel texts in CSV that begin with =, +, -, @, a tab or a carriage return get a leading apostrophe, and the text begins with a byte order mark; excel-semicolon also separates cells by semicolons.",
            OpenAPIParts.choice("excel", "excel-semicolon")),
    ]

    /// The header fields of writes, and of reads of bytes.
    private static let headers: [SharedParameter] = [
        .header("Range", "Asks for a part of the bytes of a data property.", OpenAPIParts.words("bytes=0-499")),
        .header(
            "If-Range", "The part is sent only if the bytes still have this entity tag, else all of them.",
            OpenAPIParts.words("\"h7Yq0c\"")),
        .header(
            "If-Match", "Writes only if the object has one of these entity tags, or the realm has this version.",
            OpenAPIParts.entityTags),
        .header(
            "If-None-Match", as: "IfNoneMatchWrite", "With the value * the write happens only if the object does not exist.",
            OpenAPIParts.entityTags),
        .header(
            "Idempotency-Key",
            "Identifies the request; a repetition with the same key gets the first response, unless that was refused for a reason that may pass.",
            OpenAPIParts.words(atMost: 128, pattern: "^[!-~]{1,128}$", "order-17")),
        .header(
            "Prefer", "Lists preferences: return=minimal, return=representation, handling=lenient, respond-async.",
            ["type": "string", "example": "return=representation"]),
        .header(
            "Realm-Transaction", "Names the interactive transaction that the request belongs to.",
            OpenAPIParts.words("UUexV51fyEvbNIUabyEw8C")),
        .header(
            "Realm-Min-Version",
            "Is a Realm-Version that the client has seen. The request waits until the realm has reached it, and is 412 when it does not come.",
            OpenAPIParts.words(pattern: "^[0-9a-z]+\\.[0-9]{1,18}$", "k3f9q2.1841")),
        .header(
            "Realm-Read",
            "With linear the answer shows everything that was acknowledged before the request, by any node of a cluster. A server without a cluster always does.",
            ["type": "string", "enum": ["linear"], "example": "linear"]),
    ]

    // MARK: - Pieces

    /// The names of the parameters that decide how a document in the response of a write is written.
    static let shape = ["DocumentFormat", "Ints", "Meta"]
    /// The names of the parameters that all operations take which change objects.
    static let common = ["DryRun"] + shape + ["IfMatch", "Prefer", "RealmTransaction", "RealmWithoutNotifying", "RequestId"]

    /// Returns the responses of a write.
    ///
    /// - Parameters:
    ///   - answers: For each status of success a sentence, and the name of the shared schema of
    ///     the body; nil for a response without a body.
    ///   - isAsynchronous: Whether the operation honours `Prefer: respond-async`, so that 202
    ///     with the state of the queued write is possible.
    /// - Returns: An object of responses by status, with a problem document for each error status
    ///   and for `default`.
    static func responses(_ answers: (String, String, String?)..., isAsynchronous: Bool = true) -> DocumentValue {
        var members = answers.map { status, description, schema -> DocumentValue.Member in
            let body = schema.map { name -> DocumentValue in ["application/json": ["schema": OpenAPIParts.schema(name)]] }
            return .init(
                status,
                .members(
                    ("description", .string(description)), ("headers", OpenAPIParts.headers), ("content", body)))
        }
        if isAsynchronous {
            members.append(
                .init(
                    "202",
                    [
                        "description": "The write is queued; the header field Location names the path that reports its state.",
                        "headers": OpenAPIParts.headers,
                        "content": ["application/json": ["schema": OpenAPIParts.schema("WriteState")]],
                    ]))
        }
        return .object(members)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// What writes add to the API description: operations, parameters, and the documents that they take
/// and return.
enum OpenAPIWrites {
    // MARK: - Parameters

    /// Returns the parameters of writes, exports and imports, by the name that operations refer to them
    /// with.
    ///
    /// Where a read has a parameter of the same name but another meaning, such as `If-None-Match`,
    /// the name here differs from that of the read.
    ///
    /// - Parameter limits: The limits of the server.
    static func parameters(_ limits: Limits) -> [(String, DocumentValue)] {
        conditions(limits) + transfers + headers
    }

    /// The parameters of writes of objects.
    private static func conditions(_ limits: Limits) -> [(String, DocumentValue)] {
        [
            ("Id", OpenAPIParts.inPath("id", "Is the id that the server assigned.", example: "yjtFIZ9MAzf9sy0-cB4g-A")),
            (
                "RequiredWhere",
                required(
                    OpenAPIParts.inQuery(
                        "where", "Selects the objects that are changed, by a predicate in the Realm Query Language.",
                        OpenAPIParts.predicate(limits, "FALSEPREDICATE")))
            ),
            (
                "Upsert",
                OpenAPIParts.inQuery(
                    "upsert", "Changes objects that exist: the properties that differ, or all that are given.",
                    OpenAPIParts.choice("modified", "all"))
            ),
            (
                "Nested",
                OpenAPIParts.inQuery(
                    "nested", "With the value upsert full objects in place of links are created or changed.",
                    OpenAPIParts.choice("refuse", "upsert")
                )
            ),
            (
                "DryRun",
                OpenAPIParts.inQuery(
                    "dryRun", "With the value true the write is carried out and then undone.", OpenAPIParts.flag)
            ),
            (
                "MaxAffected",
                OpenAPIParts.inQuery("maxAffected", "Rejects the request when more objects match.", OpenAPIParts.number(from: 0))
            ),
            (
                "ConfirmNoAdministrator",
                OpenAPIParts.inQuery(
                    "confirm", "Permits that no key administers the server afterwards.",
                    OpenAPIParts.choice(CredentialCheck.confirmation))
            ),
            ("Confirm", required(OpenAPIParts.inQuery("confirm", "Must be all.", OpenAPIParts.choice("all")))),
        ]
    }

    /// The parameters of realms, exports and imports.
    private static let transfers: [(String, DocumentValue)] = [
        (
            "UploadName",
            required(
                OpenAPIParts.inQuery(
                    "name", "Names the realm that is made.",
                    OpenAPIParts.words(pattern: "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$", "shop")))
        ),
        (
            "EncryptionKey",
            OpenAPIParts.inHeader(
                "Realm-Encryption-Key", "States the key of an encrypted file, as 128 hex digits or as base64 of 64 bytes.",
                OpenAPIParts.words(
                    pattern: "^([0-9A-Fa-f]{128}|[A-Za-z0-9+/_-]{86}={0,2})$", String(repeating: "0f", count: 64)))
        ),
        ("Files", OpenAPIParts.inQuery("files", "With the value true the file is deleted too.", OpenAPIParts.flag)),
        (
            "ImportMode",
            OpenAPIParts.inQuery(
                "mode", "With the value upsert objects that exist are changed.", OpenAPIParts.choice("create", "upsert"))
        ),
        (
            "ImportClass",
            OpenAPIParts.inQuery(
                "class", "Names the class of objects that do not state theirs.", OpenAPIParts.words("Category"))
        ),
        (
            "Atomic",
            OpenAPIParts.inQuery(
                "atomic",
                "With the value false the import commits in parts; a failure states in committed behind which line to continue.",
                OpenAPIParts.flag)
        ),
        (
            "ExportClass",
            OpenAPIParts.inQuery("class", "Limits the export to objects of this class.", OpenAPIParts.words("Category"))
        ),
        (
            "ImportColumns",
            OpenAPIParts.inQuery(
                "columns", "Names properties for columns, as COLUMN:PROPERTY,… or a JSON object, in CSV and tables of SQLite.",
                OpenAPIParts.words("Title:name"))
        ),
        (
            "ImportSeparator",
            OpenAPIParts.inQuery(
                "separator", "States what separates the cells of CSV; without it the first line tells.",
                OpenAPIParts.choice("comma", "semicolon", "tab"))
        ),
        (
            "ImportTables",
            OpenAPIParts.inQuery(
                "tables",
                "Names the tables of SQLite to import, as TABLE:CLASS,… or a JSON object; by default those called like classes.",
                OpenAPIParts.words("categories:Category"))
        ),
        (
            "ExportFormat",
            OpenAPIParts.inQuery(
                "format", "Chooses the form of the export. csv, ejson and geojson need a class.",
                ["type": "string", "enum": .array(ExportFormat.allCases.map { .string($0.rawValue) })])
        ),
        (
            "Geometry",
            OpenAPIParts.inQuery(
                "geometry", "Leads to the location of each feature of GeoJSON; by default the first one.",
                OpenAPIParts.words("location"))
        ),
        (
            "ForExcel",
            OpenAPIParts.inQuery(
                "csv",
                "With the value excel texts in CSV that begin with =, +, -, @, a tab or a carriage return get a leading apostrophe, and the text begins with a byte order mark; with excel-semicolon there are semicolons between cells besides.",
                OpenAPIParts.choice("excel", "excel-semicolon"))
        ),
    ]

    /// The header fields of writes, and of reads of bytes.
    private static let headers: [(String, DocumentValue)] = [
        (
            "Range",
            OpenAPIParts.inHeader(
                "Range", "Asks for a part of the bytes of a data property.", OpenAPIParts.words("bytes=0-499"))
        ),
        (
            "IfRange",
            OpenAPIParts.inHeader(
                "If-Range", "The part is sent only if the bytes still have this entity tag, else all of them.",
                OpenAPIParts.words("\"h7Yq0c\""))
        ),
        (
            "IfMatch",
            OpenAPIParts.inHeader(
                "If-Match", "Writes only if the object has one of these entity tags, or the realm has this version.",
                OpenAPIParts.entityTags)
        ),
        (
            "IfNoneMatchWrite",
            OpenAPIParts.inHeader(
                "If-None-Match", "With the value * the write happens only if the object does not exist.",
                OpenAPIParts.entityTags)
        ),
        (
            "IdempotencyKey",
            OpenAPIParts.inHeader(
                "Idempotency-Key", "Identifies the request; a repetition with the same key gets the first response.",
                OpenAPIParts.words(atMost: 128, pattern: "^[!-~]{1,128}$", "order-17"))
        ),
        (
            "Prefer",
            OpenAPIParts.inHeader(
                "Prefer", "Lists preferences: return=minimal, return=representation, handling=lenient, respond-async.",
                ["type": "string", "example": "return=representation"])
        ),
        (
            "RealmTransaction",
            OpenAPIParts.inHeader(
                "Realm-Transaction", "Names the interactive transaction that the request belongs to.",
                OpenAPIParts.words("UUexV51fyEvbNIUabyEw8C"))
        ),
        (
            "RealmMinVersion",
            OpenAPIParts.inHeader(
                "Realm-Min-Version",
                "Is a Realm-Version that the client has seen. The request waits until the realm has reached it, and is 412 when it does not come.",
                OpenAPIParts.words(pattern: "^[0-9a-z]+\\.[0-9]{1,18}$", "k3f9q2.1841"))
        ),
        (
            "RealmRead",
            OpenAPIParts.inHeader(
                "Realm-Read",
                "With linear the answer shows everything that was acknowledged before the request, by any node of a cluster. A server by itself always does.",
                ["type": "string", "enum": ["linear"], "example": "linear"])
        ),
    ]

    /// Returns a parameter that each request needs.
    private static func required(_ parameter: DocumentValue) -> DocumentValue {
        parameter.adding([.init("required", true)])
    }

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

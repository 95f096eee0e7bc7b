// SPDX-License-Identifier: Apache-2.0

/// What writes add to the API description: operations, parameters, and the documents that they take
/// and return.
enum OpenAPIWrites {
    // MARK: - Parameters

    /// Returns an optional header field of requests as a parameter.
    ///
    /// - Parameters:
    ///   - name: The name of the header field.
    ///   - description: A sentence for readers of the document.
    ///   - schema: The schema of the value; any string by default.
    private static func header(_ name: String, _ description: String, _ schema: DocumentValue = OpenAPIParts.text)
        -> DocumentValue
    {
        ["name": .string(name), "in": "header", "description": .string(description), "schema": schema]
    }

    /// The parameters of writes, exports and imports, by the name that operations refer to them
    /// with.
    ///
    /// Where a read has a parameter of the same name but another meaning, such as `If-None-Match`,
    /// the name here differs from that of the read.
    static let parameters: [(String, DocumentValue)] = [
        ("Id", OpenAPIParts.inPath("id", "Is the id that the server assigned.")),
        ("RequiredWhere", requiredWhere),
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
            OpenAPIParts.inQuery("dryRun", "With the value true the write is carried out and then undone.", ["type": "boolean"])
        ),
        (
            "MaxAffected",
            OpenAPIParts.inQuery("maxAffected", "Rejects the request when more objects match.", OpenAPIParts.number(from: 0))
        ),
        (
            "Confirm",
            [
                "name": "confirm", "in": "query", "required": true, "description": "Must be all.",
                "schema": OpenAPIParts.choice("all"),
            ]
        ),
        (
            "UploadName",
            [
                "name": "name", "in": "query", "required": true, "description": "Names the realm.",
                "schema": ["type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"],
            ]
        ),
        (
            "EncryptionKey",
            header("Realm-Encryption-Key", "States the key of an encrypted file, as 128 hex digits or as base64 of 64 bytes.")
        ),
        ("Files", OpenAPIParts.inQuery("files", "With the value true the file is deleted too.", ["type": "boolean"])),
        (
            "ImportMode",
            OpenAPIParts.inQuery(
                "mode", "With the value upsert objects that exist are changed.", OpenAPIParts.choice("create", "upsert"))
        ),
        ("ImportClass", OpenAPIParts.inQuery("class", "Names the class of objects that do not state theirs.", OpenAPIParts.text)),
        (
            "Atomic",
            OpenAPIParts.inQuery(
                "atomic", "With the value false the import commits in parts; a failure states how much was committed.",
                ["type": "boolean"])
        ),
        (
            "ImportColumns",
            OpenAPIParts.inQuery(
                "columns", "Names properties for columns, as COLUMN:PROPERTY,… or a JSON object, in CSV and tables of SQLite.",
                OpenAPIParts.text)
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
                OpenAPIParts.text)
        ),
        ("ExportClass", OpenAPIParts.inQuery("class", "Limits the export to objects of this class.", OpenAPIParts.text)),
        (
            "ExportFormat",
            OpenAPIParts.inQuery(
                "format", "Chooses the form of the export. csv, ejson and geojson need a class.",
                ["type": "string", "enum": .array(ExportFormat.allCases.map { .string($0.rawValue) })])
        ),
        (
            "Geometry",
            OpenAPIParts.inQuery(
                "geometry", "Leads to the location of each feature of GeoJSON; by default the first one.", OpenAPIParts.text)
        ),
        (
            "ForExcel",
            OpenAPIParts.inQuery(
                "csv",
                "With the value excel texts in CSV that begin with =, +, -, @, a tab or a carriage return get a leading apostrophe, and the text begins with a byte order mark; with excel-semicolon there are semicolons between cells besides.",
                OpenAPIParts.choice("excel", "excel-semicolon"))
        ),
        ("Range", header("Range", "Asks for a part of the bytes of a data property, such as bytes=0-499.")),
        ("IfRange", header("If-Range", "The part is sent only if the bytes still have this entity tag, else all of them.")),
        ("IfMatch", header("If-Match", "Writes only if the object has one of these entity tags, or the realm has this version.")),
        ("IfNoneMatchWrite", header("If-None-Match", "With the value * the write happens only if the object does not exist.")),
        (
            "IdempotencyKey",
            header(
                "Idempotency-Key", "Identifies the request; a repetition with the same key gets the first response.",
                ["type": "string", "maxLength": 128])
        ),
        (
            "Prefer",
            header("Prefer", "Lists preferences: return=minimal, return=representation, handling=lenient, respond-async.")
        ),
        ("RealmTransaction", header("Realm-Transaction", "Names the interactive transaction that the request belongs to.")),
        ("RealmMinVersion", header("Realm-Min-Version", "Waits until the realm has reached this version.")),
    ]

    /// The parameter `where` of operations on all objects that match. It is required there, so that
    /// a forgotten condition cannot change every object.
    private static let requiredWhere: DocumentValue = [
        "name": "where", "in": "query", "required": true,
        "description": "Selects objects by a predicate in the Realm Query Language.",
        "schema": ["type": "string"],
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

// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parameters of reads, with the checks of the server: patterns, lengths, and the limits of its configuration.
extension OpenAPIParts {
    // MARK: - Pieces

    /// Returns the name under which the document lists the parameter of a path variable: that of
    /// the variable with its first letter in upper case, or another where that is a reserved word in many languages.
    ///
    /// - Parameter variable: A variable segment of a path pattern.
    static func parameterName(of variable: PathVariable) -> String {
        switch variable {
        case .class: return "ClassName"
        case .property: return "PropertyPath"
        default: return variable.name.prefix(1).uppercased() + variable.name.dropFirst()
        }
    }

    /// Returns the schema of a comma-separated list in a URL. Its length is limited by that of the request target alone.
    private static func commas(_ example: String) -> DocumentValue { words(pattern: "^[^,]+(,[^,]+)*$", example) }

    /// Returns the schema of a predicate in a URL, whose length is stated where it is below that of a request target.
    ///
    /// - Parameters:
    ///   - limits: The limits of the server.
    static func predicate(_ limits: Limits, _ example: String) -> DocumentValue {
        words(atMost: limits.queryBytes < limits.http.targetBytes / 2 ? limits.queryBytes : nil, example)
    }

    /// A list of entity tags, or an asterisk.
    static let entityTags = words(pattern: "^ *(\\*|(W/)?\"[^\"]*\"( *, *(W/)?\"[^\"]*\")*) *$", "*")

    /// Returns the parameter `ints` with the one value that the document describes.
    ///
    /// It is required where integers are strings, since a request without it is answered with numbers.
    ///
    /// - Parameter ints: The form of integers that the document describes.
    /// - Returns: The name `Ints`, and the parameter.
    static func intsParameter(_ ints: OpenAPIDocument.Integers) -> (String, DocumentValue) {
        let description =
            "With the value string every integer is written as a string. This document describes responses with ints=\(ints.rawValue); "
            + "request it with the parameter ints for the other form."
        return (
            "Ints",
            .members(
                ("name", "ints"), ("in", "query"), ("required", ints == .string ? true : nil),
                ("description", .string(description)),
                ("schema", choice(ints.rawValue).adding([.init("example", .string(ints.rawValue))])),
                ("example", .string(ints.rawValue)))
        )
    }

    /// Returns the parameters of reads.
    ///
    /// - Parameter limits: The limits of the server, which many of them state.
    /// - Returns: The parameters in the order of the document.
    static func parameters(_ limits: Limits) -> [SharedParameter] {
        pathParameters + selectionParameters(limits) + shapeParameters(limits) + conditionParameters
    }

    // MARK: - Parameters

    /// The variables of paths.
    private static let pathParameters: [SharedParameter] = [
        .path("realm", "Names the realm.", pattern: "^(@default|[A-Za-z0-9_-][A-Za-z0-9._-]{0,63})$", example: "store"),
        .path("className", "Names the class, without the internal prefix class_.", example: "Category"),
        .path(
            "key",
            "Names the object by its primary key as text, or by @k and its object key. The documentation explains @null, @empty and @b64.",
            example: "1"),
        .path(
            "property", as: "PropertyPath",
            "Names a property, or a path into embedded objects such as address.phones or kids[0].tags.",
            example: "name"),
        .path("originClass", "Names the class whose objects link to this object.", example: "Product"),
        .path("originProperty", "Names the linking property of that class.", example: "category"),
    ]

    /// The parameters that select and sort objects.
    private static func selectionParameters(_ limits: Limits) -> [SharedParameter] {
        let predicate = predicate(limits, "TRUEPREDICATE")
        return [
            .query("where", "Selects objects by a predicate in the Realm Query Language.", predicate),
            .query(
                "args",
                "Gives the arguments $0, $1, … of the predicate as a JSON array of at most \(limits.queryArgs). A text is read by the type of what it is compared with.",
                words(pattern: "^ *\\[[\\s\\S]*\\] *$", "[]")),
            .query(
                "sort",
                "Sorts by a comma-separated list of at most \(limits.queryTerms) key paths; a leading minus sign means descending. A term @distance(path,[longitude,latitude]) sorts by the distance of a location.",
                commas("-name")),
            .query(
                "distinct", "Keeps one object for each combination of values of these comma-separated key paths.",
                commas("name")),
            .query("limit", "Limits the number of objects on a page.", number(from: 0, to: limits.page)),
            .query("limit", as: "VersionLimit", "Limits the number of versions on a page.", number(from: 1, to: 200)),
            .query(
                "after", "Continues after a page; the value is the member next of that page.",
                words("b64.AQAAAAAAAAAAAPcdfBCphwIr")),
            .query("offset", "Skips this number of objects.", number(from: 0)),
            .query("count", "With the value exact the response states the number of all matches.", choice("exact", "none")),
            .query(
                "at",
                "Selects at most \(limits.page) positions in the result, separated by commas; negative ones count from its end.",
                ["type": "string", "pattern": "^(-?[0-9]{1,18}(,-?[0-9]{1,18})*)?$", "example": "0,-1"]),
            .query(
                "indexOf", "Returns the position of the object with this key, or of this value, instead of a page.",
                ["type": "string", "example": "1"]),
            .query(
                "indexOfWhere", "Returns the position of the first object that matches this predicate instead of a page.",
                predicate),
            .query(
                "sectionBy", "Groups the result by a key path, or by a function of it such as name:first.",
                words("name:first")),
            .query("section", "Limits the result to the section with this key.", ["type": "string", "example": "A"]),
            .query(
                "facets",
                "Counts the values of these comma-separated key paths, or of functions of them such as date:year, in the whole result, the most frequent first.",
                commas("name")),
            .query(
                "ops", as: "Operations",
                "Lists at most \(limits.queryTerms) operations, separated by commas: count, min:property, max:property, sum:property, avg:property, countDistinct:property, median:property, percentile(95):property; of values the functions alone.",
                words(
                    pattern:
                        "^(count|(min|max|sum|avg|countDistinct|median|percentile\\([0-9.]+\\))(:[^,]+)?)(,(count|(min|max|sum|avg|countDistinct|median|percentile\\([0-9.]+\\))(:[^,]+)?))*$",
                    "count")),
            .query(
                "sql", as: "SQL", isRequired: false, "Is one statement of SQL that reads: SELECT, WITH or VALUES.",
                words(atMost: limits.queryBytes < limits.http.targetBytes / 2 ? limits.queryBytes : nil, "SELECT 1")),
            .query(
                "args", as: "SQLArgs", "Gives the values of the parameters ? as a JSON array of at most \(limits.queryArgs).",
                words(pattern: "^ *\\[[\\s\\S]*\\] *$", "[]")),
            .query(
                "groupBy",
                "Groups the result by the values of these comma-separated key paths, or by functions of them such as date:year.",
                commas("name")),
            .query(
                "having", "Limits the answer to groups with such counts, results of operations or keys.", words("count > 1")),
            .query(
                "sort", as: "GroupSort",
                "Sorts groups by a comma-separated list of operations and key paths of groupBy; a leading minus sign means descending.",
                commas("-count")),
        ]
    }

    /// The parameters that shape a response.
    private static func shapeParameters(_ limits: Limits) -> [SharedParameter] {
        [
            .query(
                "fields",
                "Shows only these properties, at most \(limits.fields), separated by commas; a dotted path expands the link it crosses. @distance shows the distance of the order in metres.",
                commas("name")),
            .query(
                "expand", "Replaces these links, at most \(limits.fields), separated by commas, by the objects they point to.",
                commas("parent")),
            .query("meta", "With the value none the member $meta is left out.", choice("full", "none")),
            .query(
                "ints", as: "DocumentInts",
                "With the value string the document describes responses in which every integer is a string.",
                choice("number", "string")),
            .query(
                "profile", as: "DocumentProfile",
                "With the value simple the document has the six common operations of each class with few parameters, and classes whose members are all required.",
                choice("full", "simple")),
            .query(
                "format", "Chooses the representation, in place of the header field Accept.",
                choice("json", "ejson", "ndjson", "csv")),
            .query(
                "format", as: "PropertyFormat",
                "Chooses the representation, in place of the header field Accept. The bytes of a data property have the type that they look like.",
                choice("json", "ejson", "ndjson", "csv", "bytes")),
            .query(
                "download", "Makes browsers save the bytes of a data property as a file, perhaps of this name.",
                ["type": "string", "example": "photo.png"]),
            .query(
                "download", as: "DownloadFile", "Asks for the file, which browsers save, perhaps under this name.",
                ["type": "string", "example": "store.realm"]),
            .query(
                "format", as: "DocumentFormat", "Chooses between plain and Extended JSON, in place of the header field Accept.",
                choice("json", "ejson")),
            .query(
                "format", as: "SchemaFormat", "Chooses the form in which the schema is written.",
                choice("json", "json-schema", "swift", "kotlin", "typescript", "mermaid")),
            .query("explain", "With the value true the plan of the query is returned instead of a page.", flag),
        ]
    }

    /// The parameters that select the version to read, and the header fields of requests.
    private static let conditionParameters: [SharedParameter] = [
        .query("snapshot", "Reads the version that this snapshot holds.", words("yjtFIZ9MAzf9sy0-cB4g-A")),
        .query(
            "version", as: "ReadVersion",
            "Reads a version that the file still has: its number or token, previous, a count such as -1, or a time.",
            words("previous")),
        .header(
            "If-None-Match", "Makes the response 304 while the entity tag is still this one.",
            ["type": "string", "example": "\"h7Yq0c\""]),
        .header(
            "X-Request-Id", as: "RequestId",
            "Identifies the request by 1 to 128 of the characters A-Z a-z 0-9 . _ -; the response, problem documents and the log repeat it. The server replaces any other value by an id of its own.",
            ["type": "string", "example": "order-17"]),
    ]
}

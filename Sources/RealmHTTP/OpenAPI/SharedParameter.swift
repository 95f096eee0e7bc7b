// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A parameter that operations share: a segment of the path, a member of the query string, or a header field of requests.
struct SharedParameter {
    enum Place: String {
        case path, query, header
    }

    /// The name that operations refer to it with. Where two have the same name in requests, such as `limit`, their ids differ.
    let id: String
    let name: String
    let place: Place
    /// A sentence for readers of the document.
    let description: String
    /// The schema of the value, with an example unless that follows from the schema.
    let schema: DocumentValue
    let isRequired: Bool

    /// Makes a segment of the path. It is always required and never empty.
    ///
    /// - Parameters:
    ///   - name: The name in braces in the path.
    ///   - id: The id; nil for the name with its first letter in upper case.
    ///   - pattern: A regular expression that the whole value matches; nil when any text is possible.
    static func path(
        _ name: String, as id: String? = nil, _ description: String, pattern: String? = nil, example: String
    ) -> SharedParameter {
        SharedParameter(
            id: id ?? capitalized(name), name: name, place: .path, description: description,
            schema: OpenAPIParts.words(pattern: pattern, example), isRequired: true)
    }

    /// Makes a parameter of the query string.
    ///
    /// - Parameter id: The id; nil for the name with its first letter in upper case.
    static func query(
        _ name: String, as id: String? = nil, isRequired: Bool = false, _ description: String, _ schema: DocumentValue
    ) -> SharedParameter {
        SharedParameter(
            id: id ?? capitalized(name), name: name, place: .query, description: description, schema: schema,
            isRequired: isRequired)
    }

    /// Makes a header field, which is optional.
    ///
    /// - Parameter id: The id; nil for the name without hyphens.
    static func header(
        _ name: String, as id: String? = nil, _ description: String, _ schema: DocumentValue
    ) -> SharedParameter {
        SharedParameter(
            id: id ?? name.filter { $0 != "-" }, name: name, place: .header, description: description, schema: schema,
            isRequired: false)
    }

    private static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    /// The parameter in the document. Its example is that of its schema too, since tools differ in the place that they read.
    var document: DocumentValue {
        let finished = place == .path ? schema : OpenAPIExamples.shared.completed(schema, named: name)
        return .members(
            ("name", .string(name)), ("in", .string(place.rawValue)), ("required", place == .path ? true : nil),
            ("description", .string(description)), ("schema", finished), ("example", finished["example"]),
            ("required", place == .query && isRequired ? true : nil))
    }

    /// Returns the parameters of all operations in the order of the document, but for `ints`.
    ///
    /// - Parameter limits: The limits of the server, which many of them state.
    static func all(_ limits: Limits) -> [SharedParameter] {
        OpenAPIParts.parameters(limits) + OpenAPIWrites.parameters(limits) + OpenAPIChanges.parameters(limits)
            + OpenAPIChanges.writeParameters
    }

    /// The names in the query string by their ids.
    private static let queryNames: [ByteText: String] = Dictionary(
        texts: all(Limits()).filter { $0.place == .query }.map { ($0.id, $0.name) } + [("Ints", "ints")]
    ) { first, _ in first }

    static func queryNames(of ids: [String]) -> [String] { ids.compactMap { queryNames[$0] } }
}

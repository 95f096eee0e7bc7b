// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmAccess
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The target of a subscription and the form of its rows, in the names of its client.
///
/// It has the same members as parameters of a URL and as JSON in the body of a registration. Reading it needs no schema;
/// `DefinitionResolver` resolves its names. Equal definitions share one `ChangeFeed`.
package struct SubscriptionDefinition: Sendable {
    /// The part of a row that a subscription delivers.
    enum Include: String, Sendable, CaseIterable {
        /// Rows are delivered with their objects or values.
        case objects
        /// Rows are delivered with their keys and indexes only.
        case keys
        /// No rows are delivered, only their number.
        case none
    }

    /// The name of the observed class; nil observes the whole realm.
    var className: String?
    /// The primary key of the observed object; nil observes the objects of the class.
    var key: String?
    /// The observed property of that object: a collection, linking objects or an embedded object;
    /// nil observes the object itself.
    var property: String?
    /// The query of the subscription, which selects and orders the rows.
    var selection = SelectionParameters()
    /// The number of rows at the start of the result that are observed; nil observes all.
    var limit: Int?
    /// The key path, possibly with a function, that divides the rows into sections; nil for no sections.
    var sectionBy: String?
    /// The key of the only section that is observed; nil observes all sections.
    var section: ParameterSet.TextOrJSON?
    /// The key paths whose changes count; empty for all that the engine follows by default.
    var keyPaths: [String] = []
    /// Whether only the set and order of the rows is observed, and no change within a row.
    var isShallow = false
    /// Whether a row changes only with its object and the objects embedded in it, and not with linked objects.
    var countsEmbedded = false
    /// The paths of the properties that are written of an object; nil writes all properties.
    var fields: [String]?
    /// The paths of links in whose place the linked objects are written.
    var expand: [String] = []
    var include = Include.objects
    /// The form of integers, wrapped values and metadata of the rows.
    var representation = Representation()

    /// The names of all members that a definition may have, in a URL and in JSON.
    static let names = [
        "class", "key", "property", "where", "args", "sort", "distinct", "limit", "sectionBy", "section", "keyPaths", "shallow",
        "deep", "fields", "expand", "ints", "meta", "include",
    ]

    /// The names of the members that have a meaning only if the definition names a class.
    private static let namesOfClasses = names.filter { !["class", "ints", "meta", "include"].contains($0) }

    /// Reads a definition.
    ///
    /// - Parameters:
    ///   - set: The parameters of the URL, or the members of a JSON object.
    ///   - limits: The limits of the server.
    ///   - named: The class, when the path of the request names it; nil for the member `class`.
    /// - Throws: `invalid_parameter` for a malformed value, and `conflicting_parameters` for
    ///   members that have no meaning together.
    init(_ set: ParameterSet, _ limits: Limits, className named: String? = nil) throws(Problem) {
        className = if let named { named } else { try set.text("class") }
        key = try set.text("key")
        property = try set.text("property")
        selection = try SelectionParameters(set, limits)
        limit = try set.int("limit", in: 0...Int.max)
        sectionBy = try set.text("sectionBy")
        section = set.textOrJSON("section")
        keyPaths = try SubscriptionDefinition.keyPaths(set, limits)
        isShallow = try set.flag("shallow")
        countsEmbedded = try set.choice("deep", ["links", "embedded"]) == "embedded"
        fields = try set.paths("fields", atMost: limits.fields)
        expand = try set.paths("expand", atMost: limits.fields) ?? []
        representation.includesMeta = try set.choice("meta", ["full", "none"]) == "full"
        representation.intsAsStrings = try set.choice("ints", ["number", "string"]) == "string"
        include = Include(rawValue: try set.choice("include", Include.allCases.map(\.rawValue))) ?? .objects
        try check(set)
    }

    /// Reads `keyPaths`. An empty text means no key paths, as if the parameter were missing.
    private static func keyPaths(_ set: ParameterSet, _ limits: Limits) throws(Problem) -> [String] {
        switch set.textOrJSON("keyPaths") {
        case .text("")?: return []
        default: break
        }
        return try set.list("keyPaths", atMost: limits.fields) { name in
            Problem(.unknownKeyPath, "a key path cannot be empty").with("parameter", name)
        } ?? []
    }

    /// Throws `conflicting_parameters` for members that have no meaning together.
    private func check(_ set: ParameterSet) throws(Problem) {
        guard className != nil else {
            if let name = SubscriptionDefinition.namesOfClasses.first(where: set.has) {
                throw .conflict("'\(name)' needs a 'class'", parameter: name)
            }
            return
        }
        if !keyPaths.isEmpty, isShallow { throw .conflict("'keyPaths' and 'shallow' cannot be combined", parameter: "shallow") }
        if countsEmbedded, isShallow || !keyPaths.isEmpty {
            throw .conflict("'deep' has no meaning with 'keyPaths' or 'shallow'", parameter: "deep")
        }
        if property != nil, key == nil { throw .conflict("'property' needs a 'key'", parameter: "property") }
        if section != nil, sectionBy == nil { throw .conflict("'section' needs 'sectionBy'", parameter: "section") }
        if key != nil {
            for name in ["sectionBy", "section"] where set.has(name) {
                throw .conflict("'\(name)' is only meaningful for the objects of a class", parameter: name)
            }
        }
        if key != nil, property == nil {
            for name in ["where", "args", "sort", "distinct", "limit"] where set.has(name) {
                throw .conflict("'\(name)' has no meaning for a single object", parameter: name)
            }
        }
    }

    /// The text of the predicate; nil selects all rows.
    var predicate: String? { selection.predicate }
    /// The arguments of the predicate, as JSON that was not yet decoded for the schema.
    var args: [JSONValue] { selection.args }
    /// The terms of the order, the first one deciding first.
    var sort: [SelectionParameters.SortTerm] { selection.sort }
    /// The key paths by which rows are compared: of rows that are equal in all of them only the first is observed.
    var distinct: [String] { selection.distinct }

    /// Whether a query selects or orders the observed rows, rather than the collection being observed itself.
    var isView: Bool { predicate != nil || !sort.isEmpty || !distinct.isEmpty || limit != nil }

    /// The definition as JSON text, which is equal for equal definitions.
    var document: OutputBuffer {
        var writer = JSONWriter(reservingCapacity: 128)
        write(to: &writer)
        return writer.buffer
    }

    /// A text that is equal for equal definitions. A URL names a section by a text that means another one as JSON.
    var identity: String {
        let form = if case .text? = section { "text" } else { "" }
        return form + document.text
    }

    /// Writes the definition as a JSON object, without members that have their default value.
    ///
    /// - Parameter writer: The writer, at a place where a value may follow.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if let className { writer.member("class", text: className) }
        if let key { writer.member("key", text: key) }
        if let property { writer.member("property", text: property) }
        if let predicate { writer.member("where", text: predicate) }
        if !args.isEmpty {
            writer.key("args")
            writer.write(.array(args))
        }
        SubscriptionDefinition.write("sort", sort.map(\.text), &writer)
        SubscriptionDefinition.write("distinct", distinct, &writer)
        if let limit { writer.member("limit", int: limit) }
        if let sectionBy { writer.member("sectionBy", text: sectionBy) }
        switch section {
        case nil: break
        case .text(let text): writer.member("section", text: text)
        case .json(let value):
            writer.key("section")
            writer.write(value)
        }
        SubscriptionDefinition.write("keyPaths", keyPaths, &writer)
        if isShallow { writer.member("shallow", bool: true) }
        if countsEmbedded { writer.member("deep", text: "embedded") }
        if let fields { SubscriptionDefinition.write("fields", fields, &writer, evenIfEmpty: true) }
        SubscriptionDefinition.write("expand", expand, &writer)
        if representation.intsAsStrings { writer.member("ints", text: "string") }
        if !representation.includesMeta { writer.member("meta", text: "none") }
        if include != .objects { writer.member("include", text: include.rawValue) }
        writer.endObject()
    }

    /// Writes an array of texts, and nothing for an empty one unless `evenIfEmpty` is true.
    private static func write(
        _ name: StaticString, _ texts: [String], _ writer: inout JSONWriter, evenIfEmpty: Bool = false
    ) {
        guard evenIfEmpty || !texts.isEmpty else { return }
        writer.key(name)
        writer.beginArray()
        for text in texts { writer.string(text) }
        writer.endArray()
    }
}

/// Reading the body of a registration, which has several definitions.
extension SubscriptionDefinition {
    /// Reads the body of a registration: the member `subscriptions`, an object of definitions by name.
    ///
    /// - Parameters:
    ///   - body: The JSON object of the request.
    ///   - limits: The limits of the server, which allow `registrationNames` definitions.
    /// - Returns: The definitions with their names, in the order of the body.
    /// - Throws: `invalid_body` or the problem of a definition, with the place in the body as
    ///   `pointer`.
    package static func readAll(_ body: JSONObject, _ limits: Limits) throws(Problem) -> [(
        name: String, definition: SubscriptionDefinition
    )] {
        for member in body.members where member.name != "subscriptions" {
            let hint = Suggestion.hint(for: member.name, in: ["subscriptions"])
            throw Problem(.invalidBody, "a registration has no '\(member.name.truncated)'\(hint)").with(
                "pointer", "/" + JSONPointer.escape(member.name))
        }
        guard let members = body["subscriptions"]?.object?.members else {
            throw Problem(.invalidBody, "'subscriptions' must be an object of definitions by name").with(
                "pointer", "/subscriptions")
        }
        guard (1...limits.registrationNames).contains(members.count) else {
            throw .overLimit(
                .invalidBody, "a registration has 1 to \(limits.registrationNames) subscriptions", limit: limits.registrationNames
            )
            .with("pointer", "/subscriptions")
        }
        var result: [(name: String, definition: SubscriptionDefinition)] = []
        for member in members {
            let pointer = "/subscriptions/" + JSONPointer.escape(member.name)
            guard isName(member.name) else {
                throw Problem(.invalidBody, "a name has 1 to 64 letters, digits, '.', '_' and '-'").with("pointer", pointer)
            }
            guard let object = member.value.object else {
                throw Problem(.invalidBody, "a definition must be an object").with("pointer", pointer)
            }
            do throws(Problem) {
                let set = try ParameterSet(QueryParameters(), urlNames: [], body: object, bodyNames: names)
                result.append((member.name, try SubscriptionDefinition(set, limits)))
            } catch {
                throw error.below(pointer)
            }
        }
        return result
    }

    /// Whether text may be the name of a subscription: 1 to 64 ASCII letters, digits, dots, underscores and hyphens.
    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    return true
                default: return false
                }
            }
    }
}

/// Problems with parameters, in the form for members of a body.
extension Problem {
    /// Returns the same problem with a `pointer` into the body in place of the name of a parameter.
    ///
    /// - Parameter pointer: The JSON Pointer of the object whose members were read as parameters.
    package func below(_ pointer: String) -> Problem {
        var copy = self
        var place = pointer
        for member in extensions {
            if member.name.description == "parameter", case .text(let name) = member.value {
                place += "/" + JSONPointer.escape(name)
            }
        }
        for member in extensions {
            // A pointer into the arguments begins with their name.
            if member.name.description == "pointer", case .text(let inner) = member.value { place = pointer + inner }
        }
        copy.extensions.removeAll { ["parameter", "pointer"].contains($0.name.description) }
        return copy.with("pointer", place)
    }
}

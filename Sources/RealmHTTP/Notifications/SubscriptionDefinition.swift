// SPDX-License-Identifier: Apache-2.0

/// What a subscription observes and how it is shown, in the names that its client gave. The same from a URL and from
/// JSON.
struct SubscriptionDefinition: Sendable {
    /// How much of a row is told.
    enum Include: String, Sendable, CaseIterable {
        /// Rows with their objects.
        case objects
        /// Rows without.
        case keys
        /// No rows, only how many there are.
        case none
    }

    var className: String?
    var key: String?
    var property: String?
    /// Which objects, and in which order.
    var selection = SelectionParameters()
    var limit: Int?
    var sectionBy: String?
    var section: ParameterSet.TextOrJSON?
    var keyPaths: [String] = []
    var isShallow = false
    var fields: [String]?
    var expand: [String] = []
    var include = Include.objects
    var representation = Representation()

    /// Everything that a definition may say.
    static let names = [
        "class", "key", "property", "where", "args", "sort", "distinct", "limit", "sectionBy", "section", "keyPaths", "shallow",
        "fields", "expand", "ints", "meta", "include",
    ]

    /// What only has a meaning where there is a class.
    private static let namesOfClasses = names.filter { !["class", "ints", "meta", "include"].contains($0) }

    init(_ set: ParameterSet, _ limits: Limits) throws(Problem) {
        className = try set.text("class")
        key = try set.text("key")
        property = try set.text("property")
        selection = try SelectionParameters(set, limits)
        limit = try set.int("limit", in: 0...Int.max)
        sectionBy = try set.text("sectionBy")
        section = set.textOrJSON("section")
        keyPaths = try SubscriptionDefinition.keyPaths(set, limits)
        isShallow = try set.flag("shallow")
        fields = try set.paths("fields", atMost: limits.fields)
        expand = try set.paths("expand", atMost: limits.fields) ?? []
        representation.includesMeta = try set.choice("meta", ["full", "none"]) == "full"
        representation.intsAsStrings = try set.choice("ints", ["number", "string"]) == "string"
        include = Include(rawValue: try set.choice("include", Include.allCases.map(\.rawValue))) ?? .objects
        try check(set)
    }

    /// An empty list is none at all. Empty components are told where key paths are resolved.
    private static func keyPaths(_ set: ParameterSet, _ limits: Limits) throws(Problem) -> [String] {
        switch set.textOrJSON("keyPaths") {
        case .text("")?: return []
        default: break
        }
        return try set.list("keyPaths", atMost: limits.fields) { name in
            Problem(.unknownKeyPath, "a key path cannot be empty").with("parameter", name)
        } ?? []
    }

    private func check(_ set: ParameterSet) throws(Problem) {
        guard className != nil else {
            if let name = SubscriptionDefinition.namesOfClasses.first(where: set.has) {
                throw .conflict("'\(name)' needs a 'class'", parameter: name)
            }
            return
        }
        if !keyPaths.isEmpty, isShallow { throw .conflict("'keyPaths' and 'shallow' exclude each other", parameter: "shallow") }
        if property != nil, key == nil { throw .conflict("'property' needs a 'key'", parameter: "property") }
        if section != nil, sectionBy == nil { throw .conflict("'section' needs 'sectionBy'", parameter: "section") }
        if key != nil {
            for name in ["sectionBy", "section"] where set.has(name) {
                throw .conflict("'\(name)' has a meaning for the objects of a class only", parameter: name)
            }
        }
        if key != nil, property == nil {
            for name in ["where", "args", "sort", "distinct", "limit"] where set.has(name) {
                throw .conflict("'\(name)' has no meaning for a single object", parameter: name)
            }
        }
    }

    var predicate: String? { selection.predicate }
    var args: [JSONValue] { selection.args }
    var sort: [SelectionParameters.SortTerm] { selection.sort }
    var distinct: [String] { selection.distinct }

    /// Whether a query stands between a collection and what is observed.
    var isView: Bool { predicate != nil || !sort.isEmpty || !distinct.isEmpty || limit != nil }

    /// The text of the JSON form; equal for equal definitions.
    var document: OutputBuffer {
        var writer = JSONWriter(reservingCapacity: 128)
        write(to: &writer)
        return writer.buffer
    }

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
        if let fields { SubscriptionDefinition.write("fields", fields, &writer, evenIfEmpty: true) }
        SubscriptionDefinition.write("expand", expand, &writer)
        if representation.intsAsStrings { writer.member("ints", text: "string") }
        if !representation.includesMeta { writer.member("meta", text: "none") }
        if include != .objects { writer.member("include", text: include.rawValue) }
        writer.endObject()
    }

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

extension SubscriptionDefinition {
    /// Reads the body of a registration: definitions by name, in the order they stand there.
    static func readAll(_ body: JSONObject, _ limits: Limits) throws(Problem) -> [(
        name: String, definition: SubscriptionDefinition
    )] {
        for member in body.members where member.name != "subscriptions" {
            throw Problem(.invalidBody, "a registration has no '\(member.name)'").with(
                "pointer", "/" + JSONPointer.escape(member.name))
        }
        guard let members = body["subscriptions"]?.object?.members else {
            throw Problem(.invalidBody, "'subscriptions' has to be an object of definitions by name").with(
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
                throw Problem(.invalidBody, "a definition has to be an object").with("pointer", pointer)
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

extension Problem {
    /// The same for a member somewhere in a body: what was a parameter becomes a place.
    func below(_ pointer: String) -> Problem {
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

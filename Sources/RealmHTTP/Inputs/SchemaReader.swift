// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Reads schema documents. Their form is checked here (`invalid_body`), what they mean by the engine (`invalid_schema`).
struct SchemaReader {
    /// Where the document stands.
    let place: InputPlace

    /// Reads a whole schema: its version and its classes.
    func schema(_ json: JSONValue) throws(Problem) -> SchemaInput {
        let object = try members(json, ["schemaVersion", "classes"], place)
        var classes: [ClassInput] = []
        let inner = place.inside("classes")
        guard let list = object["classes"]?.array else { throw malformed("'classes' has to be an array", inner) }
        for (index, one) in list.enumerated() { classes.append(try classInput(one, inner.inside(index))) }
        return SchemaInput(version: try version(object["schemaVersion"], place.inside("schemaVersion")), classes: classes)
    }

    /// Reads a schema version; nil for an absent one.
    func version(_ json: JSONValue?, _ place: InputPlace) throws(Problem) -> UInt64? {
        switch json {
        case nil, .null?: return nil
        case .integer(let number)? where number >= 0: return UInt64(number)
        case .longInteger(let digits)?:
            if let number = UInt64(digits) { return number }
        default: break
        }
        throw malformed("a schema version is a whole number of at least 0", place)
    }

    /// Reads one class with its properties.
    func classInput(_ json: JSONValue, _ place: InputPlace) throws(Problem) -> ClassInput {
        let object = try members(json, ["name", "type", "primaryKey", "properties", "backlinks"], place)
        var properties: [PropertyInput] = []
        let inner = place.inside("properties")
        guard let list = object["properties"].map({ $0.array }) ?? [] else {
            throw malformed("'properties' has to be an array", inner)
        }
        for (index, one) in list.enumerated() { properties.append(try property(one, inner.inside(index))) }
        return ClassInput(
            try required(object, "name", place), type: try text(object, "type", place),
            primaryKey: try text(object, "primaryKey", place), properties)
    }

    /// Reads one property. Types are texts here; whether they exist is checked with the schema.
    func property(_ json: JSONValue, _ place: InputPlace) throws(Problem) -> PropertyInput {
        let object = try members(json, ["name", "type", "collection", "optional", "indexed", "objectType"], place)
        return PropertyInput(
            try required(object, "name", place), try required(object, "type", place),
            collection: try text(object, "collection", place), optional: try flag(object, "optional", place),
            indexed: try text(object, "indexed", place), objectType: try text(object, "objectType", place))
    }

    // MARK: - Members

    /// The object at `place`. Throws for what is no object, and for members outside `names`.
    func members(_ json: JSONValue, _ names: [String], _ place: InputPlace) throws(Problem) -> JSONObject {
        guard let object = json.object else { throw malformed("\(json.kind) stands where an object belongs", place) }
        for member in object.members where !names.contains(member.name) {
            let hint = Spelling.nearest(to: member.name, in: names).map { "; did you mean '\($0)'?" } ?? ""
            throw malformed("there is no '\(member.name)' here\(hint)", place.inside(member.name))
        }
        return object
    }

    /// A member that is a string; nil when it is absent or null.
    func text(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> String? {
        switch object[name] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        case let value?: throw malformed("'\(name)' is \(value.kind), but has to be a string", place.inside(name))
        }
    }

    /// A member that is a string and has to be there.
    func required(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> String {
        guard let text = try text(object, name, place) else { throw malformed("'\(name)' is missing", place) }
        return text
    }

    /// A member that is true or false; nil when it is absent.
    func flag(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> Bool? {
        switch object[name] {
        case nil, .null?: return nil
        case .bool(let flag)?: return flag
        case let value?: throw malformed("'\(name)' is \(value.kind), but has to be true or false", place.inside(name))
        }
    }

    /// A text that has to be one of some.
    func choice(_ object: JSONObject, _ name: String, among choices: [String], at place: InputPlace) throws(Problem) -> String? {
        guard let text = try text(object, name, place) else { return nil }
        guard choices.contains(text) else {
            throw malformed("'\(name)' has to be one of: \(choices.joined(separator: ", "))", place.inside(name))
        }
        return text
    }

    /// The problem of a document that does not have the form that it needs.
    func malformed(_ detail: String, _ place: InputPlace) -> Problem { place.describe(Problem(.invalidBody, detail)) }
}

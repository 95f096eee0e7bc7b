// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
package import RealmStorage

/// Reads schema documents, and parts of them such as the class of an `addClass` step.
///
/// Their form is checked here (`invalid_body`); whether the schema makes sense is checked by the engine (`invalid_schema`).
package struct SchemaReader {
    /// The place of the document in the request body.
    package let place: InputPlace

    package init(place: InputPlace) {
        self.place = place
    }

    /// Reads a whole schema: its version, which may be absent, and its classes.
    ///
    /// - Parameter json: The schema document, as `…/schema` returns it or shorter.
    /// - Throws: `invalid_body` with a pointer to the malformed part.
    package func schema(_ json: JSONValue) throws(Problem) -> SchemaInput {
        let object = try members(json, ["schemaVersion", "classes"], place)
        var classes: [ClassInput] = []
        let inner = place.inside("classes")
        guard let list = object["classes"]?.array else { throw malformed("'classes' must be an array", inner) }
        for (index, one) in list.enumerated() { classes.append(try classInput(one, inner.inside(index))) }
        return SchemaInput(version: try version(object["schemaVersion"], place.inside("schemaVersion")), classes: classes)
    }

    /// Reads a schema version, an unsigned 64-bit number; nil when it is absent or null.
    ///
    /// - Parameters:
    ///   - json: The member's value.
    ///   - place: Its place in the body.
    /// - Throws: `invalid_body` for anything but a whole number from 0 to 2^64 - 1.
    package func version(_ json: JSONValue?, _ place: InputPlace) throws(Problem) -> UInt64? {
        switch json {
        case nil, .null?: return nil
        case .integer(let number)? where number >= 0: return UInt64(number)
        case .longInteger(let digits)?:
            if let number = UInt64(digits) { return number }
        default: break
        }
        throw malformed("a schema version must be a whole number of at least 0", place)
    }

    /// Reads one class with its properties. `backlinks`, which documents have on output, is accepted and ignored.
    ///
    /// - Parameters:
    ///   - json: The object that describes the class.
    ///   - place: Its place in the body.
    /// - Throws: `invalid_body` for an unknown or malformed member, or a missing `name`.
    package func classInput(_ json: JSONValue, _ place: InputPlace) throws(Problem) -> ClassInput {
        let object = try members(json, ["name", "type", "primaryKey", "properties", "backlinks"], place)
        var properties: [PropertyInput] = []
        let inner = place.inside("properties")
        guard let list = object["properties"].map({ $0.array }) ?? [] else {
            throw malformed("'properties' must be an array", inner)
        }
        for (index, one) in list.enumerated() { properties.append(try property(one, inner.inside(index))) }
        return ClassInput(
            try required(object, "name", place), type: try text(object, "type", place),
            primaryKey: try text(object, "primaryKey", place), properties)
    }

    /// Reads one property. Types and kinds of collections are texts here; the engine checks whether they exist.
    ///
    /// - Parameters:
    ///   - json: The object that describes the property.
    ///   - place: Its place in the body.
    /// - Throws: `invalid_body` for an unknown or malformed member, or a missing `name` or `type`.
    package func property(_ json: JSONValue, _ place: InputPlace) throws(Problem) -> PropertyInput {
        let object = try members(json, ["name", "type", "collection", "optional", "indexed", "objectType", "default"], place)
        return PropertyInput(
            try required(object, "name", place), try required(object, "type", place),
            collection: try text(object, "collection", place), optional: try flag(object, "optional", place),
            indexed: try text(object, "indexed", place), objectType: try text(object, "objectType", place))
    }

    // MARK: - Members

    /// Returns a value as a JSON object, after a check that all of its members have known names.
    ///
    /// - Parameters:
    ///   - names: The names that its members may have.
    ///   - place: Its place in the body.
    /// - Throws: `invalid_body` for a value that is no object, and for a member with another name; the
    ///   message suggests a similar known name.
    package func members(_ json: JSONValue, _ names: [String], _ place: InputPlace) throws(Problem) -> JSONObject {
        guard let object = json.object else { throw malformed("expected an object, got \(json.kind)", place) }
        for member in object.members where !names.contains(member.name) {
            let hint = Suggestion.hint(for: member.name, in: names)
            throw malformed("there is no '\(member.name.truncated)' here\(hint)", place.inside(member.name))
        }
        return object
    }

    /// Returns a member that has to be a string; nil when it is absent or null.
    package func text(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> String? {
        switch object[name] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        case let value?: throw malformed("'\(name)' is \(value.kind), but must be a string", place.inside(name))
        }
    }

    /// Returns a member that has to be an encryption key; nil when it is absent or null.
    ///
    /// - Throws: `invalid_body` for text that is neither hex digits nor base64 of a key.
    package func key(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> EncryptionKey? {
        guard let text = try text(object, name, place) else { return nil }
        do throws(StorageError) {
            return try EncryptionKey(text: text)
        } catch {
            throw malformed("a key must be 128 hex digits, or base64 of 64 bytes", place.inside(name))
        }
    }

    /// Returns a member that has to be a string and has to be given.
    package func required(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> String {
        guard let text = try text(object, name, place) else { throw malformed("'\(name)' is missing", place) }
        return text
    }

    /// Returns a member that has to be true or false; nil when it is absent or null.
    package func flag(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> Bool? {
        switch object[name] {
        case nil, .null?: return nil
        case .bool(let flag)?: return flag
        case let value?: throw malformed("'\(name)' is \(value.kind), but must be true or false", place.inside(name))
        }
    }

    /// Returns a member that has to be one of some words; nil when it is absent or null.
    ///
    /// - Parameters:
    ///   - name: The name of the member.
    ///   - choices: The permitted words.
    ///   - place: The place of the object in the body.
    /// - Throws: `invalid_body` for any other value.
    package func choice(_ object: JSONObject, _ name: String, among choices: [String], at place: InputPlace) throws(Problem)
        -> String?
    {
        guard let text = try text(object, name, place) else { return nil }
        guard choices.contains(text) else {
            throw malformed("'\(name)' must be one of: \(choices.joined(separator: ", "))", place.inside(name))
        }
        return text
    }

    /// Makes the `invalid_body` problem of a document that has the wrong form at `place`.
    package func malformed(_ detail: String, _ place: InputPlace) -> Problem { place.describe(Problem(.invalidBody, detail)) }

    /// Reads a choice of classes by their names, of which there must be one at least; nil when it is absent.
    ///
    /// - Throws: `invalid_body` for anything but an array of texts.
    package func classNames(_ json: JSONValue?, _ place: InputPlace) throws(Problem) -> [String]? {
        guard let json, json != .null else { return nil }
        guard case .array(let values) = json, !values.isEmpty else {
            throw malformed("'classes' must be an array of one or more names of classes", place)
        }
        var names: [String] = []
        for (position, value) in values.enumerated() {
            guard case .string(let name) = value else {
                throw malformed(
                    "expected the name of a class, got \(value.kind)", place.inside(String(position)))
            }
            names.append(name)
        }
        return names
    }
}

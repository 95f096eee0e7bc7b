// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The body of a request that restores states of a recovery.
package struct RestoreRequest: Sendable {
    /// The treatment of a deleted object whose primary key exists again.
    enum Conflict: String, CaseIterable {
        /// The request is refused.
        case fail
        /// The object stays as it is.
        case skip
        /// The former values are written to the object.
        case update
    }

    /// The id of the recovery.
    package let recovery: String
    /// The ids of the states, without repetitions.
    let ids: [String]
    let onConflict: Conflict
    /// Values that the client states for properties, by id.
    let values: [ByteText: InputObject]
    /// Whether lost values become defaults, or stay in objects that exist.
    let takesDefaults: Bool
    /// Whether values that are not proved are restored too.
    let takesUnproven: Bool
    /// Whether properties and classes that the schema lacks are left out.
    let skipsUnknown: Bool
    /// Whether links from other objects are restored too.
    let restoresIncoming: Bool

    private static let members = ["recovery", "ids", "onConflict", "values", "lost", "unproven", "schema", "incoming"]

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - limit: The greatest number of ids.
    /// - Throws: `invalid_body`, and `body_too_large` for more ids than permitted.
    package init(_ json: JSONValue, limit: Int) throws(Problem) {
        let place = InputPlace()
        let reader = SchemaReader(place: place)
        let object = try reader.members(json, RestoreRequest.members, place)
        guard let recovery = try reader.text(object, "recovery", place) else {
            throw reader.malformed("the id of the recovery is missing", place.inside("recovery"))
        }
        self.recovery = recovery
        ids = try RestoreRequest.ids(object, reader, limit: limit)
        onConflict = try RestoreRequest.word(object, "onConflict", reader) ?? .fail
        values = try RestoreRequest.values(object, reader)
        takesDefaults = try RestoreRequest.word(object, "lost", reader) == OnlyDefault.default
        takesUnproven = try RestoreRequest.flag(object, "unproven", reader)
        skipsUnknown = try RestoreRequest.word(object, "schema", reader) == OnlySkip.skip
        restoresIncoming = try RestoreRequest.flag(object, "incoming", reader)
    }

    /// The only word of `lost`.
    private enum OnlyDefault: String, CaseIterable { case `default` }
    /// The only word of `schema`.
    private enum OnlySkip: String, CaseIterable { case skip }

    private static func ids(_ object: JSONObject, _ reader: SchemaReader, limit: Int) throws(Problem) -> [String] {
        let place = reader.place.inside("ids")
        guard let list = object["ids"]?.array, !list.isEmpty else {
            throw reader.malformed("'ids' must be an array of ids of states", place)
        }
        guard list.count <= limit else {
            throw .overLimit(.bodyTooLarge, "a request restores at most \(limit) states", limit: limit)
        }
        var ids: [String] = []
        var seen: Set<ByteText> = []
        for (index, one) in list.enumerated() {
            guard let id = one.string else { throw reader.malformed("an id must be a string", place.inside(index)) }
            guard seen.insert(ByteText(id)).inserted else {
                throw reader.malformed("the id '\(id.truncated)' occurs twice", place.inside(index))
            }
            ids.append(id)
        }
        return ids
    }

    private static func values(_ object: JSONObject, _ reader: SchemaReader) throws(Problem) -> [ByteText: InputObject] {
        let place = reader.place.inside("values")
        guard let json = object["values"] else { return [:] }
        guard let byID = json.object else { throw reader.malformed("'values' must have an object for each id", place) }
        var values: [ByteText: InputObject] = [:]
        for member in byID.members {
            values[ByteText(member.name)] = try InputReader.read(member.value).value(at: place.inside(member.name))
        }
        return values
    }

    private static func word<Word: CaseIterable & RawRepresentable>(
        _ object: JSONObject, _ name: String, _ reader: SchemaReader
    ) throws(Problem) -> Word? where Word.RawValue == String {
        guard let text = try reader.text(object, name, reader.place) else { return nil }
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw reader.malformed("'\(name)' takes \(known), got '\(text.truncated)'", reader.place.inside(name))
        }
        return word
    }

    private static func flag(_ object: JSONObject, _ name: String, _ reader: SchemaReader) throws(Problem) -> Bool {
        guard let json = object[name] else { return false }
        guard case .bool(let flag) = json else {
            throw reader.malformed("'\(name)' is \(json.kind), but must be true or false", reader.place.inside(name))
        }
        return flag
    }
}

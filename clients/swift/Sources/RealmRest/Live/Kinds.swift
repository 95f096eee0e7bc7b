/// Reads one row of a list or dictionary.
typealias RowReader<Element> = @Sendable (JSON) throws -> Element

/// Objects are the member `object` of a row, values the member `value`.
func row<Element: Decodable & Sendable>(_ type: Element.Type) -> RowReader<Element> {
    { row in try ValueDecoder.decode(type, from: row["object"] ?? row["value"] ?? .null) }
}

extension Kind {
    /// A list: of the objects of a query, or of a property.
    static func list<Element>(
        reading read: @escaping RowReader<Element>,
        difference: @escaping @Sendable ([Element], [Element], JSON?) -> ChangeSet<Element>? = { _, _, _ in nil }
    ) -> Kind where Contents == [Element], Change == ChangeSet<Element> {
        Kind(
            empty: [],
            load: { parts in try parts.flatMap { try ($0["items"]?.elements ?? []).map(read) } },
            replace: { before, after, version in .replacing(before.count, by: after, version: version) },
            update: { contents, body in
                let change = try ChangeSet(body, reading: read)
                var result = try change.spliced(contents)
                for row in change.modifications {
                    guard row.index < result.count, let new = change.rows[row.index] else {
                        throw Diverged(description: "a modification beyond the end")
                    }
                    result[row.index] = new
                }
                guard result.count == body["count"]?.integer else {
                    throw Diverged(description: "\(result.count) rows, where the server has another number")
                }
                contents = result
                return change
            },
            vanish: { before in
                var change = ChangeSet<Element>(isDeleted: true)
                change.deletions = Array(before.indices)
                return change
            },
            difference: difference)
    }

    /// One object.
    static func object<Value>(_ type: Value.Type) -> Kind where Contents == Stored<Value>?, Change == ObjectChange<Value> {
        Kind(
            empty: nil,
            load: { parts in try parts.last?["object"].map { try Stored(json: $0) } },
            replace: { _, after, version in ObjectChange(object: after, version: version, isDeleted: after == nil, isReset: true)
            },
            update: { contents, body in
                let version = body["to"]?.text
                guard let object = body["object"], body["deleted"]?.isTrue != true else {
                    contents = nil
                    return ObjectChange(version: version, isDeleted: true)
                }
                let stored = try Stored<Value>(json: object)
                contents = stored
                let properties = (body["properties"]?.elements ?? []).map {
                    PropertyChange(name: $0["name"]?.text ?? "", old: $0["oldValue"], new: $0["newValue"])
                }
                return ObjectChange(properties: properties, object: stored, version: version)
            },
            vanish: { _ in ObjectChange(isDeleted: true) })
    }

    /// A dictionary.
    static func dictionary<Value: Decodable & Sendable>(
        _ type: Value.Type
    ) -> Kind where Contents == [String: Value], Change == DictionaryChange<Value> {
        let read = row(type)
        @Sendable func entries(_ rows: JSON?) throws -> [(String, Value)] {
            try (rows?.elements ?? []).map { ($0["entry"]?.text ?? "", try read($0)) }
        }
        return Kind(
            empty: [:],
            load: { parts in Dictionary(try parts.flatMap { try entries($0["items"]) }) { _, last in last } },
            replace: { before, after, version in
                DictionaryChange(
                    deletions: before.keys.sorted(), insertions: after.keys.sorted(), values: after, version: version,
                    isReset: true)
            },
            update: { contents, body in
                let deletions = (body["deletions"]?.elements ?? []).compactMap { $0["entry"]?.text }
                let insertions = try entries(body["insertions"])
                let modifications = try entries(body["modifications"])
                for name in deletions { contents[name] = nil }
                for (name, value) in insertions + modifications { contents[name] = value }
                guard contents.count == body["count"]?.integer else {
                    throw Diverged(description: "\(contents.count) entries, where the server has another number")
                }
                return DictionaryChange(
                    deletions: deletions, insertions: insertions.map(\.0), modifications: modifications.map(\.0),
                    values: Dictionary(insertions + modifications) { _, last in last }, version: body["to"]?.text,
                    isDeleted: body["deleted"]?.isTrue == true)
            },
            vanish: { before in DictionaryChange(deletions: before.keys.sorted(), isDeleted: true) })
    }

    /// Which classes of a realm are written.
    static func realm() -> Kind where Contents == Bool, Change == RealmChange {
        Kind(
            hasSnapshot: false, empty: false, load: { _ in true },
            replace: { _, _, version in RealmChange(version: version, isReset: true) },
            update: { _, body in
                RealmChange(
                    version: body["to"]?.text, classes: (body["classes"]?.elements ?? []).compactMap(\.text),
                    isSchemaNew: body["schema"]?.isTrue == true)
            },
            vanish: { _ in RealmChange(isReset: true) })
    }
}

extension ChangeSet {
    init(_ body: JSON, reading read: RowReader<Element>) throws {
        self.init()
        version = body["to"]?.text
        isCleared = body["cleared"]?.isTrue == true
        isDeleted = body["deleted"]?.isTrue == true
        deletions = (body["deletions"]?.elements ?? []).compactMap { $0["index"]?.integer }
        for entry in body["insertions"]?.elements ?? [] {
            guard let index = entry["index"]?.integer else { continue }
            insertions.append(index)
            rows[index] = try read(entry)
        }
        for entry in body["modifications"]?.elements ?? [] {
            guard let index = entry["index"]?.integer, let old = entry["oldIndex"]?.integer else { continue }
            let properties = (entry["properties"]?.elements ?? []).compactMap(\.text)
            modifications.append(Modification(oldIndex: old, index: index, properties: properties))
            rows[index] = try read(entry)
        }
        moves = (body["moves"]?.elements ?? []).compactMap { entry in
            guard let from = entry["from"]?.integer, let to = entry["to"]?.integer else { return nil }
            return Move(from: from, to: to)
        }
    }
}

/// One property that was written. Collections and linking objects have no values here.
public struct PropertyChange: Sendable, Hashable {
    public let name: String
    public let old: JSON?
    public let new: JSON?
}

/// What happened to an object.
public struct ObjectChange<Value: Decodable & Sendable>: Sendable {
    public internal(set) var properties: [PropertyChange] = []
    public internal(set) var object: Stored<Value>?
    public internal(set) var version: String?
    public internal(set) var isDeleted = false
    public internal(set) var isReset = false
}

/// What happened to a dictionary: keys, and the values of those inserted and modified.
public struct DictionaryChange<Value: Sendable>: Sendable {
    public internal(set) var deletions: [String] = []
    public internal(set) var insertions: [String] = []
    public internal(set) var modifications: [String] = []
    public internal(set) var values: [String: Value] = [:]
    public internal(set) var version: String?
    /// `values` are the whole dictionary.
    public internal(set) var isReset = false
    public internal(set) var isDeleted = false
}

/// The classes that were written up to a version; with a new schema their properties too, after a reset anything.
public struct RealmChange: Sendable, Hashable {
    public internal(set) var version: String?
    public internal(set) var classes: [String] = []
    public internal(set) var isSchemaNew = false
    public internal(set) var isReset = false
}

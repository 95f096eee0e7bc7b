/// One object by class and key; nothing is read until it is asked for.
public struct ObjectReference<Value: Decodable & Sendable>: Sendable {
    let realm: Realm
    public let link: Link

    /// The object as it is now; a 404 if there is none.
    public func get(expand: [String] = []) async throws -> Stored<Value> {
        let query = expand.isEmpty ? [] : [("expand", expand.joined(separator: ","))]
        return try Stored(json: try await realm.send("GET", link.path, query: query, safe: true).json())
    }

    /// Writes some values.
    @discardableResult
    public func patch(_ values: [String: any Encodable & Sendable]) async throws -> Stored<Value> {
        let body = JSON.object(try values.mapValues { try ValueEncoder.encode($0) })
        return try await realm.send("PATCH", link.path, body: body).stored()
    }

    public func delete() async throws { try await realm.delete(link) }

    /// A page of a list or set, or of linking objects.
    public func page<Element: Decodable & Sendable>(
        _ property: String, of type: Element.Type, limit: Int = 100, after: String? = nil
    ) async throws -> Page<Element> {
        var query = [("limit", String(limit))]
        if let after { query.append(("after", after)) }
        let steps = property.hasPrefix("@links.") ? property.split(separator: ".").map(String.init) : [property]
        let below = steps.map { $0 == "@links" ? $0 : encoded($0) }.joined(separator: "/")
        let answer = try await realm.send("GET", "\(link.path)/\(below)", query: query, safe: true).json()
        return Page(
            items: try (answer["items"]?.elements ?? []).map { try ValueDecoder.decode(type, from: $0) },
            next: answer["next"]?.text, version: answer["version"]?.text ?? "", count: answer["count"]?.integer)
    }

    /// The object, kept current.
    public func live(timeout: Double = 30) async throws -> LiveObject<Value> {
        try await realm.live(.object(Value.self), definition, timeout: timeout)
    }

    /// A list, a set or linking objects (`@links.Class.property`), kept current.
    public func liveList<Element: Decodable & Sendable>(
        _ property: String, of type: Element.Type, timeout: Double = 30
    ) async throws -> LiveList<Element> {
        try await realm.live(.list(reading: row(type)), definition(property), timeout: timeout)
    }

    /// A dictionary, kept current.
    public func liveDictionary<Entry: Decodable & Sendable>(
        _ property: String, of type: Entry.Type, timeout: Double = 30
    ) async throws -> LiveDictionary<Entry> {
        try await realm.live(.dictionary(type), definition(property), timeout: timeout)
    }

    private var definition: [String: JSON] { ["class": .string(link.className), "key": .string(link.key)] }

    private func definition(_ property: String) -> [String: JSON] {
        definition.merging(["property": .string(property)]) { own, _ in own }
    }
}

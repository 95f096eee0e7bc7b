/// The name of a class in a realm, for a Swift type; that of the type unless it says otherwise.
public protocol RealmClass: Codable, Sendable {
    static var className: String { get }
}

extension RealmClass {
    public static var className: String { "\(Self.self)" }
}

/// A realm of a server; or one version of it, or one transaction, inside of `snapshot` and `transaction`.
public struct Realm: Sendable {
    enum Context: Sendable {
        case live
        case transaction(String)
        case snapshot(String)
    }

    public let name: String
    let path: String
    let transport: Transport
    let hub: Hub
    let context: Context

    /// All objects of a class, to be narrowed and read.
    public func objects<Value: RealmClass>(_ type: Value.Type) -> Query<Value> { objects(type, in: Value.className) }

    /// All objects of a class whose name is not that of the type. `JSON` reads any class.
    public func objects<Value: Decodable & Sendable>(_ type: Value.Type, in className: String) -> Query<Value> {
        Query(realm: self, className: className)
    }

    /// One object by its primary key, or by the text of its key; nothing is read yet.
    public func object<Value: RealmClass>(_ type: Value.Type, key: some KeyConvertible) -> ObjectReference<Value> {
        object(type, in: Value.className, key: key)
    }

    public func object<Value: Decodable & Sendable>(
        _ type: Value.Type, in className: String, key: some KeyConvertible
    ) -> ObjectReference<Value> {
        ObjectReference(realm: self, link: Link(className: className, key: key.keyText))
    }

    /// The object that a link leads to.
    public func object<Value: Decodable & Sendable>(_ type: Value.Type, _ link: Link) -> ObjectReference<Value> {
        ObjectReference(realm: self, link: link)
    }

    /// Creates an object. With `upsert` an existing one gets the values that differ.
    @discardableResult
    public func create<Value: RealmClass>(_ value: Value, upsert: Bool = false) async throws -> Stored<Value> {
        let query = upsert ? [("upsert", "modified")] : []
        let answer = try await send(
            "POST", "/objects/\(encoded(Value.className))", query: query, body: ValueEncoder.encode(value))
        return try answer.stored()
    }

    /// Creates objects, all or none; their keys.
    @discardableResult
    public func create<Value: RealmClass>(all values: [Value], upsert: Bool = false) async throws -> [String] {
        let query = upsert ? [("upsert", "modified")] : []
        let answer = try await send(
            "POST", "/objects/\(encoded(Value.className))", query: query, body: ValueEncoder.encode(values))
        return try (answer.json()["keys"]?.elements ?? []).compactMap(\.text)
    }

    /// Writes the properties that `change` changes. With `ifMatch` only if the object is still as it was read: else 412.
    @discardableResult
    public func update<Value: Codable & Sendable>(
        _ object: Stored<Value>, ifMatch: Bool = false, _ change: @Sendable (inout Value) -> Void
    ) async throws -> Stored<Value> {
        var value = object.value
        change(&value)
        let patch = try differences(from: object.value, to: value)
        let headers = ifMatch ? object.etag.map { ["If-Match": $0] } ?? [:] : [:]
        return try await send("PATCH", object.link.path, body: patch, headers: headers).stored()
    }

    public func delete(_ link: Link) async throws { _ = try await send("DELETE", link.path) }

    /// Writes operations together, or not at all; the result of each.
    @discardableResult
    public func batch(_ build: @Sendable (inout Batch) throws -> Void) async throws -> [JSON] {
        var batch = Batch()
        try build(&batch)
        let body = JSON.object(["ops": .array(batch.operations)])
        return try await send("POST", "/batch", body: body).json()["results"]?.elements ?? []
    }

    /// An interactive transaction: committed at the end, rolled back by an error or a cancelled task.
    ///
    /// It holds the only writer of the realm, so it should be short, and a batch is better where it is enough.
    public func transaction<Result: Sendable>(
        wait: String = "2s", _ work: @Sendable (Realm) async throws -> Result
    ) async throws -> Result {
        let begun = try await send("POST", "/transactions", body: .object(["wait": .string(wait)])).json()
        guard let id = begun["id"]?.text else { throw ConnectionLost("a transaction without id") }
        do {
            let result = try await work(with(.transaction(id)))
            try Task.checkCancellation()
            _ = try await send("POST", "/transactions/\(encoded(id))/commit")
            return result
        } catch {
            let live = with(.live)
            // In a task of its own, so that it happens for a cancelled one as well: the writer must not stay held.
            await Task { _ = try? await live.send("DELETE", "/transactions/\(encoded(id))") }.value
            throw error
        }
    }

    /// One version, held for a series of reads.
    public func snapshot<Result: Sendable>(ttl: String = "60s", _ work: @Sendable (Realm) async throws -> Result) async throws
        -> Result
    {
        let begun = try await send("POST", "/snapshots", body: .object(["ttl": .string(ttl)])).json()
        guard let id = begun["id"]?.text else { throw ConnectionLost("a snapshot without id") }
        let live = with(.live)
        defer { Task { _ = try? await live.send("DELETE", "/snapshots/\(encoded(id))") } }
        return try await work(with(.snapshot(id)))
    }

    /// The realm, or a class, as lines of JSON, from one version. Throws when the end is missing.
    public func export(_ className: String? = nil) async throws -> [String] {
        let query = className.map { [("class", $0)] } ?? []
        let answer = try await transport.request("GET", path + "/export", query: query, safe: true, timeout: 3600)
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").map(String.init)
        guard lines.last?.hasPrefix(#"{"$end""#) == true else { throw ConnectionLost("the export was cut off") }
        return lines
    }

    /// Lines that an export had; how many objects were created and updated.
    @discardableResult
    public func importLines(_ lines: [String], upsert: Bool = false) async throws -> (created: Int, updated: Int) {
        let call = Call(
            method: "POST", path: path + "/import", query: [("mode", upsert ? "upsert" : "create")],
            body: Array((lines.joined(separator: "\n") + "\n").utf8), headers: ["Content-Type": "application/x-ndjson"],
            timeout: 3600)
        let body = try await transport.send(call).json()
        return (body["created"]?.integer ?? 0, body["updated"]?.integer ?? 0)
    }

    /// Which classes are written, as it happens.
    public func changes(timeout: Double = 30) async throws -> ChangeFeed<RealmChange> {
        try await follow(.realm(), [:], timeout: timeout).feed
    }

    /// A request below the realm's path, for what this package has no function for.
    public func request(_ method: String, _ path: String, body: JSON? = nil) async throws -> JSON {
        let answer = try await send(method, path, body: body)
        return answer.body.isEmpty ? .null : try answer.json()
    }

    // MARK: - Inside of the package

    func send(
        _ method: String, _ below: String, query: [(String, String)] = [], body: JSON? = nil, headers: [String: String] = [:],
        safe: Bool = false
    ) async throws -> Answer {
        var (query, body, headers) = (query, body, headers)
        switch context {
        case .live: break
        case .transaction(let id): headers["Realm-Transaction"] = id
        case .snapshot(let id):
            if case .object(var members)? = body {
                members["snapshot"] = .string(id)
                body = .object(members)
            } else {
                query.append(("snapshot", id))
            }
        }
        return try await transport.request(method, path + below, query: query, body: body, headers: headers, safe: safe)
    }

    func live<Contents, Change>(
        _ kind: Kind<Contents, Change>, _ definition: [String: JSON], timeout: Double
    ) async throws -> Live<Contents, Change> {
        let core = LiveCore(definition: .object(definition), kind: kind, bound: hub.options.queue)
        try await hub.begin(core, timeout: timeout)
        return await Live(core: core, hub: hub)
    }

    /// A feed of its own: what it follows ends with it.
    func follow<Contents, Change>(
        _ kind: Kind<Contents, Change>, _ definition: [String: JSON], timeout: Double
    ) async throws -> (feed: ChangeFeed<Change>, first: Change) {
        let core = LiveCore(definition: .object(definition), kind: kind, bound: hub.options.queue)
        try await hub.begin(core, timeout: timeout)
        let feed = core.feed { [hub] in Task { await hub.end(core) } }
        return (feed, core.whole())
    }

    private func with(_ context: Context) -> Realm {
        Realm(name: name, path: path, transport: transport, hub: hub, context: context)
    }
}

extension Answer {
    func stored<Value>() throws -> Stored<Value> {
        var stored = try Stored<Value>(json: json())
        stored.version = version
        return stored
    }
}

extension Link {
    var path: String { "/objects/\(encoded(className))/\(encoded(key))" }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Seeded writes of every kind over HTTP, against a model that says what must come of them.
///
/// One client of one realm. Whoever runs it stops and starts the server in between, and looks into the file.
package final class HTTPWorkload {
    package let realm: String
    package var values: WorkloadValues
    package var model: WorkloadModel
    /// Operations that were asked for, those inside batches counted one by one.
    package private(set) var operations = 0
    /// Answers by what was asked and their status.
    package private(set) var statistics: [String: Int] = [:]
    /// The header of the interactive transaction that is open.
    var transaction: String?
    /// The most objects of one class.
    package var objectLimit = 120
    /// Whether the schema may be changed.
    package var migrates = true

    private var client: HTTPClient
    private(set) var port: Int
    private let seed: UInt64
    private var lastRequest = ""

    /// Learns schema and contents of a realm through the server.
    package init(port: Int, realm: String, seed: UInt64) throws {
        self.port = port
        self.realm = realm
        self.seed = seed
        values = WorkloadValues(seed: seed)
        client = try HTTPClient(port: port)
        model = WorkloadModel(schema: WorkloadSchema())
        let schema = try readSchema()
        model = WorkloadModel(schema: schema, objects: try export())
    }

    /// Goes on with a server that was started again.
    package func reconnect(port: Int) throws {
        self.port = port
        client = try HTTPClient(port: port)
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    func fail(_ text: String) -> Failure {
        Failure(description: "\(realm), seed \(seed), operation \(operations): \(text)\nafter \(lastRequest.prefix(3000))")
    }

    // MARK: - Requests

    struct Reply {
        let status: Int
        let json: ParsedJSON
        let headers: [(name: String, value: String)]
        let text: String

        subscript(name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
        var code: String? { json["code"]?.text }
        var key: String? { json["$meta"]?["key"]?.text }
    }

    struct Request {
        var method: String
        var path: String
        var body: String?
        var type = "application/json"
        var headers: [(String, String)] = []
        /// The status that it must have.
        var expected: [Int]
        var count = 1

        init(_ method: String, _ path: String, _ body: String? = nil, _ expected: Int...) {
            self.method = method
            self.path = path
            self.body = body
            self.expected = expected
        }
    }

    /// One request as it is; inside the transaction if there is one.
    func send(_ request: Request, joins: Bool = true) throws -> Reply {
        lastRequest = "\(request.method) \(request.path) \(request.headers) \(request.body ?? "")"
        var headers = request.headers
        if request.body != nil { headers.append(("Content-Type", request.type)) }
        if joins, let transaction { headers.append(("Realm-Transaction", transaction)) }
        let target = "/v1/realms" + (request.path.isEmpty ? "" : "/" + request.path)
        let answer = try client.request(request.method, target, headers: headers, body: request.body.map { Array($0.utf8) })
        guard answer.isComplete else { throw fail("the answer is cut") }
        let isJSON = answer["Content-Type"]?.contains("json") == true && answer["Content-Type"]?.contains("ndjson") == false
        let json = isJSON && !answer.body.isEmpty ? try ParsedJSON(parsing: answer.body) : .null
        return Reply(status: answer.status, json: json, headers: answer.headers, text: answer.text)
    }

    func get(_ path: String) throws -> Reply { try send(Request("GET", realm + "/" + path, nil, 200)) }

    /// A write, which is now and then tried dry before, sent twice with a key, or done while nobody waits.
    func perform(_ request: Request) throws -> Reply {
        operations += request.count
        if transaction != nil, request.expected[0] >= 400 {
            // A failed write would end the transaction, a dry one does not.
            try tryDry(request)
            return Reply(status: request.expected[0], json: .null, headers: [], text: "")
        }
        if values.chance(20) { try tryDry(request) }
        if transaction == nil, request.method != "DELETE", request.method != "PUT", values.chance(20) {
            return try sendTwice(request)
        }
        if transaction == nil, values.chance(30) { return try sendLater(request) }
        return try check(try send(request), request)
    }

    @discardableResult
    private func check(_ reply: Reply, _ request: Request) throws -> Reply {
        let path = request.path.split(separator: "/").dropFirst().first ?? ""
        let kind = "\(request.method) \(path.prefix { $0 != "?" }) \(reply.status) \(reply.code ?? "")"
        statistics[kind, default: 0] += 1
        guard request.expected.contains(reply.status) else {
            throw fail("answer \(reply.status) instead of \(request.expected): \(reply.text.prefix(1000))")
        }
        return reply
    }

    private func tryDry(_ request: Request) throws {
        var dry = request
        dry.path += (request.path.contains("?") ? "&" : "?") + "dryRun=true"
        let reply = try send(dry)
        guard let status = request.expected.first, status < 400 else {
            if !request.expected.contains(reply.status) {
                throw fail("the dry run answers \(reply.status): \(reply.text.prefix(500))")
            }
            return
        }
        let would = reply.json["status"]?.integer ?? Int64(reply.status)
        guard reply.status == 200, reply.json["committed"] == .bool(false), request.expected.contains(Int(would)) else {
            throw fail("the dry run answers \(reply.status): \(reply.text.prefix(500))")
        }
    }

    private func sendTwice(_ request: Request) throws -> Reply {
        var keyed = request
        keyed.headers.append(("Idempotency-Key", "key-\(realm)-\(seed)-\(operations)"))
        let first = try check(try send(keyed), keyed)
        let second = try send(keyed)
        guard second.status == first.status, second.text == first.text, second["Idempotency-Replayed"] == "true" else {
            throw fail("the replay is another answer: \(second.status) \(second.text.prefix(300)) for \(first.text.prefix(300))")
        }
        return first
    }

    private func sendLater(_ request: Request) throws -> Reply {
        var later = request
        later.headers = request.headers.filter { $0.0 != "Prefer" } + [("Prefer", "respond-async")]
        let reply = try send(later)
        // What needs no contents is refused at once.
        if reply.status != 202 { return try check(reply, request) }
        let path = String((reply["Location"] ?? "").dropFirst("/v1/realms/".count))
        let deadline = Date().addingTimeInterval(60)
        while Date() < deadline {
            let document = try send(Request("GET", path, nil, 200)).json
            switch document["state"]?.text {
            case "committed":
                let done = Reply(
                    status: Int(document["status"]?.integer ?? 0), json: document["body"] ?? .null, headers: [],
                    text: document.serialized)
                return try check(done, request)
            case "failed":
                let problem = document["problem"] ?? .null
                return try check(
                    Reply(status: Int(problem["status"]?.integer ?? 0), json: problem, headers: [], text: document.serialized),
                    request)
            default: usleep(1000)
            }
        }
        throw fail("an asynchronous write is not done after a minute")
    }

    // MARK: - Paths

    static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            let scalar = UnicodeScalar(byte)
            if "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".unicodeScalars.contains(scalar) {
                encoded.unicodeScalars.append(scalar)
            } else {
                encoded += byte < 16 ? "%0" : "%"
                encoded += String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    func path(_ className: String) -> String { realm + "/objects/" + HTTPWorkload.encoded(className) }

    func path(_ id: Int) -> String {
        guard let object = model[id] else { return realm }
        return path(object.className) + "/" + HTTPWorkload.encoded(object.key ?? "")
    }

    // MARK: - Reading

    /// The schema that the server shows.
    func readSchema() throws -> WorkloadSchema {
        let reply = try get("schema")
        guard reply.status == 200, let schema = WorkloadSchema(document: reply.json) else {
            throw fail("no schema: \(reply.text)")
        }
        return schema
    }

    /// All objects, line by line, of an export that is complete.
    func export() throws -> [ParsedJSON] {
        let reply = try get("export")
        guard reply.status == 200 else { throw fail("no export: \(reply.status) \(reply.text.prefix(300))") }
        let lines = try reply.text.utf8.split(separator: 10).map { try ParsedJSON(parsing: Array($0)) }
        guard lines.count >= 2, lines[0]["$begin"] != nil,
            lines[lines.count - 1]["$end"]?["objects"]?.integer == Int64(lines.count - 2)
        else { throw fail("the export is not complete") }
        return Array(lines[1..<lines.count - 1])
    }

    /// Compares everything that the realm holds with the model, and the schema too.
    package func compare() throws {
        let schema = try readSchema()
        guard HTTPWorkload.isEqual(schema, model.schema) else { throw fail("the schema is another one") }
        let lines = try export()
        var ids: [String: [String: Int]] = [:]
        for target in model.schema.classes {
            for id in model.ids(target.name) { ids[target.name, default: [:]][model[id]?.key ?? "?"] = id }
        }
        for line in lines {
            let (className, key) = (line["$meta"]?["class"]?.text ?? "", line["$meta"]?["key"]?.text ?? "")
            guard let id = ids[className]?[key] else { throw fail("there is \(className)/\(key), which nobody made") }
            if let difference = model.difference(id, line) { throw fail(difference) }
        }
        let embedded = lines.filter { model.schema[$0["$meta"]?["class"]?.text ?? ""]?.isEmbedded == true }.count
        guard lines.count - embedded == model.count else { throw fail("\(lines.count) objects instead of \(model.count)") }
    }

    static func isEqual(_ first: WorkloadSchema, _ second: WorkloadSchema) -> Bool {
        func ordered(_ schema: WorkloadSchema) -> [WorkloadSchema.Class] {
            schema.classes.map { one in
                var one = one
                one.properties.sort { $0.name < $1.name }
                return one
            }.sorted { $0.name < $1.name }
        }
        return first.version == second.version && ordered(first) == ordered(second)
    }

    // MARK: - Steps

    /// One random step.
    package func step() throws {
        switch values.number(0..<100) {
        case 0..<3: try refuse()
        case 3..<6: try transact()
        case 6 where migrates, 7 where migrates: try migrate()
        case 8..<11: try look()
        default: try write()
        }
    }

    /// A class that stands by itself, and one of its objects.
    func randomObject() -> (target: WorkloadSchema.Class, id: Int)? {
        let targets = model.schema.tops.filter { !model.ids($0.name).isEmpty }
        guard !targets.isEmpty else { return nil }
        let target = values.pick(targets)
        return (target, values.pick(model.ids(target.name)))
    }

    /// A random write of one request.
    func write() throws {
        guard !model.schema.tops.isEmpty else { return try migrate() }
        guard let (target, id) = randomObject() else { return try create() }
        if model.ids(target.name).count > objectLimit { return try delete(id) }
        switch values.number(0..<100) {
        case 0..<14: try create()
        case 14..<20: try upsert(target)
        case 20..<23: try createMany(target)
        case 23..<28: try put(target, id)
        case 28..<40: try patch(target, id)
        case 40..<52: try patchJSON(target, id)
        case 52..<58: try delete(id)
        case 58..<66: try putProperty(target, id)
        case 66..<69: try changeMany(target, deletes: false)
        case 69..<71: try changeMany(target, deletes: true)
        case 71: values.chance(20) ? try deleteEverything() : try patch(target, id)
        default: try batch()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// How a client may observe something.
enum WatchWay: String, CaseIterable, Sendable {
    case events, polls, registeredEvents, registeredPolls

    var isRegistered: Bool { self == .registeredEvents || self == .registeredPolls }
    var isStream: Bool { self == .events || self == .registeredEvents }
}

/// One who observes something in one of the ways, and tells what it hears as lines of text: the same for all ways, as far
/// as they tell the same.
final class FaultWatcher {
    private let server: ChangeServer
    private let realm: String
    private let way: WatchWay
    private var stream: EventClient?
    private var query = ""
    private var position = ""
    private var waiting: [String] = []

    /// `definition` has texts only; each is the same in a URL and in JSON but for lists, which are given with commas.
    init(_ server: ChangeServer, realm: String = "app", _ definition: KeyValuePairs<String, String>, _ way: WatchWay) throws {
        self.server = server
        self.realm = realm
        self.way = way
        query = ChangeFixture.query(definition)
        var start = ""
        if way.isRegistered {
            let members = definition.map { name, value in
                let isList = ["sort", "keyPaths", "fields", "expand", "distinct"].contains(name)
                let texts = isList ? value.split(separator: ",").map(String.init) : [value]
                let json = texts.map(ParsedJSON.quoted).joined(separator: ",")
                return ParsedJSON.quoted(name) + ":" + (isList ? "[\(json)]" : json)
            }
            let answer = try server.must(
                "POST", "\(realm)/subscriptions", "{\"subscriptions\":{\"a\":{\(members.joined(separator: ","))}}}")
            query = "subscription=\(answer["id"]?.text ?? "")"
            start = answer["version"]?.text ?? ""
        } else {
            start = try server.poll(realm, query + "&since=now")["next"]?.text ?? ""
        }
        position = start
        guard way.isStream else { return }
        stream = try server.stream(realm, query, [("Last-Event-ID", start)])
        _ = try stream?.next("ready")
    }

    /// The next `count` things it hears. What comes with snapshots is said only by their size.
    func take(_ count: Int) throws -> [String] {
        var lines: [String] = []
        while lines.count < count { lines.append(try next()) }
        return lines
    }

    func next() throws -> String {
        if let stream { return try next(stream) }
        // Each waits for ten seconds: what has not come by then does not come.
        for _ in 0..<3 where waiting.isEmpty { try poll() }
        return waiting.isEmpty ? "nothing" : waiting.removeFirst()
    }

    private func next(_ stream: EventClient) throws -> String {
        while let event = try stream.next() {
            switch event.name {
            case "", "ready": continue
            case "changes": return "changes " + event.json.withoutVersions
            case "snapshot": return "snapshot " + FaultWatcher.size(event.json)
            case "reset": return "reset " + (event.json["reason"]?.text ?? "")
            case "error": return "problem " + (event.json["code"]?.text ?? "")
            case "end": return "end " + (event.json["reason"]?.text ?? "")
            default: return event.name
            }
        }
        return "closed"
    }

    private func poll() throws {
        let answer = try server.send("GET", "\(realm)/changes?\(query)&since=\(position)&wait=10")
        guard answer.status == 200 else {
            waiting.append("problem " + (answer.code ?? "\(answer.status)"))
            return
        }
        let json = try ParsedJSON(parsing: answer.body)
        position = json["next"]?.text ?? ""
        if json["schema"] != .null { waiting.append("schema") }
        if let reset = json["reset"], reset != .null { waiting.append("reset " + (reset["reason"]?.text ?? "")) }
        waiting += (json["snapshots"]?.elements ?? []).map { "snapshot " + FaultWatcher.size($0) }
        waiting += (json["changes"]?.elements ?? []).map { "changes " + $0.withoutVersions }
    }

    private static func size(_ snapshot: ParsedJSON) -> String {
        snapshot["count"]?.integer.map { "\($0)" } ?? (snapshot["object"] == .null ? "nothing" : "object")
    }
}

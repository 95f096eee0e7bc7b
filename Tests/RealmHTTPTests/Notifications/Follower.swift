// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// A client that follows one definition by one transport, and the whole realm beside it to know how far it has heard.
final class Follower {
    let transport: Transport
    /// The id of its registration.
    let id: String
    /// The state it began with; nil where there is none.
    private(set) var snapshot: ParsedJSON?
    private(set) var position: String
    /// The classes that the last versions touched.
    private(set) var classes: [ParsedJSON] = []
    private let port: Int
    private let realm: String
    private var stream: EventClient?

    /// `definition` is JSON, and may have several names: then the one called `o` counts.
    init(_ port: Int, _ definition: String, _ transport: Transport, realm: String = "app", opens: Bool = true) throws {
        self.port = port
        self.realm = realm
        self.transport = transport
        let body = "{\"subscriptions\":{\"o\":\(definition),\"fence\":{}}}"
        let answer = try HTTPClient.request(
            port: port, "POST", "/v1/realms/\(realm)/subscriptions", headers: [("Content-Type", "application/json")],
            body: Array(body.utf8))
        let json = try ParsedJSON(parsing: answer.body)
        guard answer.status == 201 else { throw ChangeServer.Refused(description: answer.text) }
        id = json["id"]?.text ?? ""
        position = json["version"]?.text ?? ""
        if opens { try begin() }
    }

    private func poll() throws -> ParsedJSON {
        let answer = try HTTPClient.request(
            port: port, "GET",
            "/v1/realms/\(realm)/changes?subscription=\(id)" + (snapshot == nil && !hasBegun ? "" : "&since=\(position)"))
        guard answer.status == 200 else { throw ChangeServer.Refused(description: answer.text) }
        return try ParsedJSON(parsing: answer.body)
    }

    private var hasBegun = false

    /// Takes the first snapshot; before, nothing has been asked for.
    func begin() throws {
        switch transport {
        case .polls:
            let answer = try poll()
            snapshot = answer["snapshots"]?.elements?.first
            position = answer["next"]?.text ?? ""
        case .events:
            let stream = try EventClient(port: port, "/v1/realms/\(realm)/changes?subscription=\(id)")
            while let event = try stream.next(), event.name != "ready" {
                if event.name == "snapshot" { snapshot = event.json }
            }
            position = stream.lastID ?? ""
            self.stream = stream
        }
        hasBegun = true
    }

    /// The change sets up to a version, which has to be a later one; without what differs from run to run.
    func sets(upTo version: String) throws -> [String] { try documents(upTo: version).map(\.withoutVersions) }

    /// Each set has to follow the last one.
    func documents(upTo version: String) throws -> [ParsedJSON] {
        var sets: [ParsedJSON] = []
        switch transport {
        case .polls:
            let answer = try poll()
            guard answer["reset"] == .null, answer["next"]?.text == version else {
                throw ChangeServer.Refused(description: answer.serialized)
            }
            sets = answer["changes"]?.elements ?? []
        case .events:
            while position != version {
                guard let event = try stream?.next() else {
                    throw ChangeServer.Refused(description: "the stream ended before \(version)")
                }
                if event.name == "changes" {
                    sets.append(event.json)
                } else if !event.name.isEmpty {
                    throw ChangeServer.Refused(description: "\(event.name): \(event.data)")
                }
                if let id = event.id { position = id }
            }
        }
        position = version
        classes = sets.compactMap { $0["classes"] }
        return sets.filter { $0["sub"]?.text == "o" }
    }
}

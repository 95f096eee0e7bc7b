// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// A server over a folder, with one realm, that is stopped and started again at the same address with what it left.
final class ReplayServer {
    /// What there is little of.
    enum TightLimit { case retention, queue }

    let realm = "app"
    private let isInMemory: Bool
    private let folder: String
    private let tightLimit: TightLimit?
    private var server: RealmServer?
    private(set) var port = 0
    /// One connection for everything that is answered at once.
    private var client: HTTPClient?

    init(inMemory: Bool, tightLimit: TightLimit?) throws {
        isInMemory = inMemory
        self.tightLimit = tightLimit
        folder = NSTemporaryDirectory() + "realm-rest-replay-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try start(isFirst: true)
        try make()
    }

    deinit {
        server?.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func start(isFirst: Bool) throws {
        var options = ServerOptions.forTests()
        options.port = port
        options.graceSeconds = 30
        options.dataFolder = folder
        options.limits.streamsPerPrincipal = 200
        options.limits.snapshots = 1000
        options.limits.snapshotsPerPrincipal = 1000
        if !isFirst { options.backlinkNames = [ByteText(realm): BacklinkNames(ReplayDefinitions.backlinkNames)] }
        switch tightLimit {
        case .retention: options.limits.retentionSets = 2
        case .queue: options.limits.queueEvents = 3
        case nil: break
        }
        let server = try ReplayServer.serve(options)
        self.server = server
        port = server.daemon.socket.port
    }

    private static func serve(_ options: ServerOptions) throws -> RealmServer {
        ListedProblems.watch()
        guard let server = try? RealmServer(options) else {
            // Somebody else has taken the port meanwhile.
            var other = options
            other.port = 0
            let server = try RealmServer(other)
            try server.start()
            return server
        }
        try server.start()
        return server
    }

    private func make() throws {
        let place = isInMemory ? ",\"inMemory\":\"\(realm)\"" : ""
        let names = #"{"Person":{"staff":"Person.boss"}}"#
        try must(
            "POST", "",
            "{\"name\":\"\(realm)\"\(place),\"schema\":{\"classes\":\(ReplayDefinitions.classes)},\"backlinkNames\":\(names)}")
    }

    /// Ends this life of the realm and begins another: the server is stopped and started, or the realm made anew.
    func beginAnew() throws {
        guard isInMemory else {
            client = nil
            server?.stop()
            server = nil
            return try start(isFirst: false)
        }
        try must("DELETE", "/\(realm)")
        try make()
    }

    var losesContents: Bool { isInMemory }

    // MARK: - Requests

    /// `path` is behind `/v1/realms`.
    func send(_ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []) throws
        -> HTTPClient.Answer
    {
        let client = try self.client ?? HTTPClient(port: port)
        self.client = nil
        let answer = try client.request(
            method, "/v1/realms" + path, headers: headers + (body == nil ? [] : [("Content-Type", "application/json")]),
            body: body.map { Array($0.utf8) })
        if answer["Connection"]?.lowercased() != "close" { self.client = client }
        return answer
    }

    @discardableResult
    func must(
        _ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []
    ) throws -> ParsedJSON {
        try send(method, path, body, headers).document("\(method) \(path) \(body?.prefix(600) ?? "")")
    }

    /// A long-poll, answered or refused.
    func poll(_ query: String) throws -> (status: Int, answer: ParsedJSON) {
        let answer = try send("GET", "/\(realm)/changes?\(query)")
        return (answer.status, try ParsedJSON(parsing: answer.body))
    }

    /// A long-poll whose answer is fetched later.
    func beginPoll(_ query: String) throws -> HTTPClient {
        let client = try HTTPClient(port: port)
        try client.send("GET /v1/realms/\(realm)/changes?\(query) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        return client
    }

    func stream(_ query: String, _ headers: [(String, String)]) throws -> EventClient {
        try EventClient(port: port, "/v1/realms/\(realm)/changes?\(query)", headers: headers)
    }
}

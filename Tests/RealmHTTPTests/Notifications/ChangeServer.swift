// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport

/// A server of realms in memory, each made by a request.
final class ChangeServer: Sendable {
    let server: RealmServer

    init(change: (inout ServerOptions) -> Void = { _ in }) throws {
        var options = ServerOptions.forTests()
        options.limits.http.connections = 2000
        options.limits.http.connectionsPerAddress = 2000
        options.limits.streams = 2000
        options.limits.streamsPerPrincipal = 2000
        options.limits.registrations = 2000
        // However long a busy machine takes for a test, nobody is let go of meanwhile unless the test is about that.
        options.limits.http.stallSeconds = 86_400
        options.limits.http.streamSeconds = 86_400
        options.limits.registrationSeconds = 3600
        change(&options)
        ListedProblems.watch()
        server = try RealmServer(options)
        try server.start()
    }

    deinit { server.stop() }

    var port: Int { server.daemon.socket.port }

    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// `path` is behind `/v1/realms/`.
    @discardableResult
    func send(
        _ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []
    ) throws -> HTTPClient.Answer {
        try HTTPClient.request(
            port: port, method, path.isEmpty ? "/v1/realms" : "/v1/realms/" + path,
            headers: headers + (body == nil ? [] : [("Content-Type", "application/json")]),
            body: body.map { Array($0.utf8) })
    }

    /// Sends a request that has to succeed, and returns its document.
    @discardableResult
    func must(
        _ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []
    ) throws -> ParsedJSON {
        try send(method, path, body, headers).document("\(method) \(path) \(body?.prefix(400) ?? "")")
    }

    /// A realm in memory; `classes` is the array of a schema document.
    func makeRealm(_ name: String, classes: String, backlinkNames: String = "{}") throws {
        try must(
            "POST", "",
            "{\"name\":\"\(name)\",\"inMemory\":\"\(name)\",\"schema\":{\"classes\":\(classes)},\"backlinkNames\":\(backlinkNames)}"
        )
    }

    /// Writes in one commit, and tells its version.
    @discardableResult
    func batch(_ realm: String, _ ops: [String], _ headers: [(String, String)] = []) throws -> String {
        try must("POST", "\(realm)/batch", "{\"ops\":[\(ops.joined(separator: ","))]}", headers)["version"]?.text ?? ""
    }

    /// One long-poll.
    func poll(_ realm: String, _ query: String) throws -> ParsedJSON {
        try must("GET", "\(realm)/changes?\(query)")
    }

    func stream(
        _ realm: String, _ query: String, _ headers: [(String, String)] = [],
        receiveBuffer: Int32? = nil
    ) throws -> EventClient {
        let client = try EventClient(
            port: port, "/v1/realms/\(realm)/changes?\(query)", headers: headers,
            receiveBuffer: receiveBuffer)
        guard client.status == 200 else { throw Refused(description: client.head) }
        return client
    }

    /// A number of `/metrics`, of one realm where there is one for each.
    func metric(_ name: String) throws -> Double? { try ServerMetrics(port: port)[name] }

    static func encode(_ text: String) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
    }
}

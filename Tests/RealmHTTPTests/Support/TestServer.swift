// SPDX-License-Identifier: Apache-2.0

import MicroHTTP
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport

/// A whole server over some fixtures for the time of a suite or test.
final class TestServer: Sendable {
    let server: RealmServer
    var port: Int { server.daemon.socket.port }

    init(_ fixtures: [String], change: (inout ServerOptions) -> Void = { _ in }) throws {
        var options = ServerOptions.forTests()
        options.paths = try fixtures.map { try Fixtures.path($0) }
        // Fixtures are shared, and never changed.
        options.isReadOnly = true
        change(&options)
        ListedProblems.watch()
        server = try RealmServer(options)
        try server.start()
    }

    deinit { server.stop() }

    func request(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: String? = nil
    ) throws -> HTTPClient.Answer {
        try HTTPClient.request(port: port, method, target, headers: headers, body: body.map { Array($0.utf8) })
    }

    func get(_ target: String, headers: [(String, String)] = []) throws -> HTTPClient.Answer {
        try request("GET", target, headers: headers)
    }
}

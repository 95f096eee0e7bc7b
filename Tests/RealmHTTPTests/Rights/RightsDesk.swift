// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport

/// A server whose roles are in a file that is read again, with a realm `app` and the key of a clerk whose roles change.
final class RightsDesk {
    let server: RealmServer
    private let folder: String
    private(set) var clerk: APIKeyText
    let admin: APIKeyText
    var file: KeyFile { KeyFile(dataFolder: folder) }

    static let classes = """
        {"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"owner","type":"string"},
        {"name":"secret","type":"string","optional":true},{"name":"n","type":"int","optional":true},
        {"name":"p","type":"object","objectType":"P"},{"name":"ps","type":"object","collection":"list","objectType":"P"},
        {"name":"any","type":"mixed"}]},
        {"name":"P","primaryKey":"ssn","properties":[{"name":"ssn","type":"string","optional":true},
        {"name":"name","type":"string","optional":true}]}
        """

    /// Starts a server with roles and a clerk who has some of them.
    init(_ roles: String, clerk names: [String]) throws {
        folder = try KeyServer.makeFolder()
        try Data(roles.utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
        var base = ServerOptions.forTests()
        base.dataFolder = folder
        base.memoryRealms = ["app"]
        base.limits.registrations = 1000
        base.limits.snapshots = 1000
        base.limits.snapshotsPerPrincipal = 1000
        var configuration = Configuration(base)
        try configuration.apply(file: folder + "/realm-rest.yaml")
        (admin, clerk) = (APIKeyText(), APIKeyText())
        try KeyFile(dataFolder: folder).add(APIKey(admin, name: "boss", roles: ["admin"]))
        try KeyFile(dataFolder: folder).add(APIKey(clerk, name: "clerk", roles: names))
        ListedProblems.watch()
        server = try RealmServer(configuration.options, from: configuration, report: { _ in })
        try server.start()
        _ = try ask("DELETE", "", by: admin)
        let body = #"{"name":"app","inMemory":"app","schema":{"schemaVersion":1,"classes":[\#(Self.classes)]}}"#
        _ = try request("POST", "/v1/realms", by: admin, body: body).document("POST /v1/realms")
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Sends a request to a whole path.
    func request(
        _ method: String, _ target: String, by key: APIKeyText?, _ headers: [(String, String)] = [], body: String? = nil
    ) throws -> HTTPClient.Answer {
        let bearer = key.map { [("Authorization", "Bearer " + $0.text)] } ?? []
        let hasType = body == nil || headers.contains { $0.0 == "Content-Type" }
        return try HTTPClient.request(
            port: server.daemon.socket.port, method, target,
            headers: bearer + headers + (hasType ? [] : [("Content-Type", "application/json")]), body: body.map { Array($0.utf8) }
        )
    }

    /// Sends a request of the clerk, or of another one, to a path below the realm.
    func ask(
        _ method: String, _ path: String, by key: APIKeyText? = nil, _ headers: [(String, String)] = [], body: String? = nil
    ) throws -> HTTPClient.Answer {
        try request(method, "/v1/realms/app" + path, by: key ?? clerk, headers, body: body)
    }

    /// Puts other roles in force.
    func reload(_ roles: String) throws {
        try Data(roles.utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
        _ = try request("POST", "/admin/reload", by: admin).document("reload")
    }

    /// Gives the key of the clerk other roles.
    func give(_ roles: [String]) throws {
        let record = APIKey(clerk, name: "clerk", roles: roles)
        try file.change { keys throws(KeyFile.Failure) in
            keys.removeAll { $0.id == record.id }
            keys.append(record)
        }
        server.state.authenticator.keys.refresh()
    }

    /// Gives the clerk another secret.
    func rotate() throws {
        clerk = try file.rotate(clerk.id).text
        server.state.authenticator.keys.refresh()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmHTTP
import RealmTestSupport
import Testing

/// Servers that are started with a configuration.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct ConfiguredServerTests {
    /// Runs a body with a folder that has a fixture as `one.realm` and as `data/default.realm`.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-configured-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder + "/data", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let original = try Fixtures.path("links")
        for name in ["/one.realm", "/data/default.realm"] {
            try FileManager.default.copyItem(atPath: original, toPath: folder + name)
        }
        try body(folder)
    }

    private func get(_ server: ServerProcess, _ path: String) throws -> HTTPClient.Answer {
        try HTTPClient.request(port: server.port, "GET", "/v1/realms" + path)
    }

    /// Starts the server in a folder without any argument but those that tests need.
    private func start(in folder: String, _ arguments: String = "") throws -> ServerProcess {
        let program = try #require(ServerProcess.executable)
        return try ServerProcess(command: "cd '\(folder)' && exec '\(program)' serve \(arguments)")
    }

    @Test func `A5: the default realm is listed, marked, and served as @default`() throws {
        try withFolder { folder in
            let server = try start(in: folder, "--port 0 --log-format none --data data")
            let items = try get(server, "").json["items"]?.elements ?? []
            #expect(items.map { $0["name"]?.text } == ["default"] && items.first?["default"]?.bool == true)
            #expect(try get(server, "/@default").json["name"]?.text == "default")
            #expect(try get(server, "/@default/schema").body == get(server, "/default/schema").body)
            #expect(server.stop() == 0)
            // The only file of the command line is the default; without any there is none.
            let other = try start(in: folder, "--port 0 --log-format none one.realm")
            #expect(try get(other, "/@default").json["name"]?.text == "one")
            #expect(other.stop() == 0)
            let none = try start(in: folder, "--port 0 --log-format none --memory a")
            #expect(try get(none, "/@default").status == 404)
            #expect(none.stop() == 0)
        }
    }

    @Test func `E1, E20: without arguments the configuration of the folder is served`() throws {
        try withFolder { folder in
            let text = """
                listen: {port: 0}
                log: {format: none}
                data: data
                default: main
                realms:
                  main: {path: one.realm, mode: ro}
                  missing: {path: none.realm}
                  again: {path: data/default.realm, maxActiveVersions: 50}
                limits: {page: 3}
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
            let server = try start(in: folder)
            let items = try get(server, "").json["items"]?.elements ?? []
            #expect(items.map { $0["name"]?.text } == ["again", "main", "missing"])
            #expect(items.map { $0["state"]?.text } == ["ready", "ready", "failed"])
            #expect(items.map { $0["default"]?.bool } == [false, true, nil])
            #expect(items[1]["mode"]?.text == "ro")
            let class_ = try #require(try get(server, "/main/schema").json["classes"]?.elements?.first?["name"]?.text)
            #expect(try get(server, "/@default/objects/\(class_)?limit=4").status == 400)
            #expect(server.stop() == 0)
        }
    }
}

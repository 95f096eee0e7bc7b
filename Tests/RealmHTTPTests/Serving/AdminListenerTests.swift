// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation
import Glibc
import MicroHTTP
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Administration where the main listener can be reached by strangers.
@Suite struct AdminListenerTests {
    private let json = [("Content-Type", "application/json")]
    private let folder = NSTemporaryDirectory() + "realm-rest-admin-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func server(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> TestServer {
        try TestServer(["links"]) { options in
            options.host = "0.0.0.0"
            options.isInsecure = true
            options.isReadOnly = false
            options.paths = []
            options.memoryRealms = ["notes"]
            options.dataFolder = folder
            change(&options)
        }
    }

    private func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    @Test func `strangers read, the port beside administers`() throws {
        let server = try server()
        let admin = try #require(server.server.adminDaemon).socket
        #expect(admin.isLoopback)
        let schema =
            #"{"name":"made","schema":{"schemaVersion":1,"classes":[{"name":"Note","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}}"#
        #expect(try server.request("POST", "/v1/realms", headers: json, body: schema).code == "unauthenticated")
        let made = try HTTPClient.request(port: admin.port, "POST", "/v1/realms", headers: json, body: Array(schema.utf8))
        #expect(made.status == 201)
        #expect(made.json["path"]?.text?.hasSuffix("made.realm") == true)
        let objects = "/v1/realms/made/objects/Note"
        #expect(try server.request("POST", objects, headers: json, body: #"{"id":1}"#).code == "unauthenticated")
        #expect(
            try HTTPClient.request(port: admin.port, "POST", objects, headers: json, body: Array(#"{"id":1}"#.utf8)).status == 201
        )
        #expect((try server.get(objects).json["items"]?.elements)?.count == 1)
        // Where the file lies and how it was attached is none of a stranger's business.
        let document = try server.get("/v1/realms/made").json
        #expect(document["path"] == nil)
        #expect(document["options"] == nil)
        #expect(try HTTPClient.request(port: admin.port, "GET", "/v1/realms/made").json["path"] != nil)
        #expect(try server.request("OPTIONS", objects)["Allow"] == "GET, HEAD, QUERY, OPTIONS")
        #expect(try server.request("DELETE", "/v1/realms/made?files=true").code == "unauthenticated")
        #expect(try server.request("DELETE", "/v1/realms/made/objects?confirm=all").code == "unauthenticated")
        #expect(try server.get("/metrics").code == "not_found")
        let metrics = try HTTPClient.request(port: admin.port, "GET", "/metrics").text
        #expect(metrics.contains("realm_rest_refused_requests_total{reason=\"unauthenticated\"} 4\n"))
        #expect(metrics.contains("realm_rest_admin_connections 1\n") || metrics.contains("realm_rest_admin_connections "))
    }

    @Test func `strangers are not told why a realm cannot be opened`() throws {
        _ = FileManager.default.createFile(atPath: folder + "/bad.realm", contents: Data("no realm".utf8))
        let server = try server()
        let port = try #require(server.server.adminDaemon).socket.port
        _ = try server.get("/v1/realms/bad/schema")
        let seen = try #require(try server.get("/v1/realms/bad").json["problem"])
        #expect(seen["code"]?.text == "not_a_realm")
        #expect(seen["detail"]?.text == "the realm could not be opened")
        let told = try #require(try HTTPClient.request(port: port, "GET", "/v1/realms/bad").json["problem"])
        #expect(told["detail"]?.text != seen["detail"]?.text)
    }

    @Test func `strangers may hold snapshots and follow changes, and see no one else's`() throws {
        let server = try server()
        let port = try #require(server.server.adminDaemon).socket.port
        let snapshots = "/v1/realms/notes/snapshots"
        let ours = try HTTPClient.request(port: port, "POST", snapshots)
        #expect(ours.status == 201)
        let theirs = try server.request("POST", snapshots)
        #expect(theirs.status == 201)
        let seen = try #require(try server.get(snapshots).json["items"]?.elements)
        #expect(seen.compactMap { $0["id"]?.text } == [theirs.json["id"]?.text])
        #expect((try HTTPClient.request(port: port, "GET", snapshots).json["items"]?.elements)?.count == 2)
        #expect(try server.get("/v1/realms/notes/changes?wait=0").status == 200)
        #expect(try server.request("POST", "/v1/realms/notes/transactions").code == "unauthenticated")
        #expect(try server.get("/v1/realms/notes/schema", headers: [("Realm-Transaction", "x")]).code == "unauthenticated")
    }

    @Test func `what came through a proxy is told what to do`() throws {
        let server = try TestServer(["links"])
        let answer = try server.get("/v1/realms", headers: [("X-Forwarded-For", "192.0.2.7")])
        #expect(answer.status == 401)
        #expect(answer.code == "unauthenticated")
        #expect(answer.json["header"]?.text == "X-Forwarded-For")
        #expect(answer.json["detail"]?.text?.contains("--insecure") == true)
        #expect(try server.get("/healthz", headers: [("X-Forwarded-For", "192.0.2.7")]).status == 200)
        #expect(try server.get("/readyz", headers: [("Via", "1.1 x")]).status == 200)
    }

    @Test func `without insecure nothing is opened to others, with it administration stays closed`() throws {
        #expect(throws: RealmServer.Failure.self) {
            _ = try server {
                $0.isInsecure = false
                $0.dataFolder = nil
            }
        }
        for host in ["0.0.0.0", "::"] {
            #expect(throws: RealmServer.Failure.self) { _ = try server { $0.admin = .port(host: host, port: 0) } }
        }
        let none = try server { $0.admin = .none }
        #expect(none.server.adminDaemon == nil)
        #expect(try TestServer(["links"]).server.adminDaemon == nil)
    }

    // MARK: - The Unix socket

    @Test func `a server that never answered, or could not announce itself, leaves no listener`() throws {
        struct Refused: Error {}
        let path = folder + "/admin.sock"
        for startsFirst in [false, true] {
            var options = ServerOptions()
            (options.port, options.logFormat, options.graceSeconds, options.admin) = (0, nil, 0, .unix(path: path))
            let server = try RealmServer(options)
            #expect(status(path) != nil)
            if startsFirst {
                #expect(throws: Refused.self) { try server.start { throw Refused() } }
            } else {
                server.stop()
            }
            #expect(status(path) == nil)
            #expect(throws: (any Error).self) { try HTTPClient(port: server.daemon.socket.port) }
            #expect(throws: RealmServer.Failure.self) { try server.start() }
            server.stop()
        }
    }

    @Test func `the socket is for its user alone, and goes with the server`() throws {
        let path = folder + "/admin.sock"
        do {
            let server = try server { $0.admin = .unix(path: path) }
            let made = try #require(status(path))
            #expect(made.st_mode & S_IFMT == S_IFSOCK)
            #expect(made.st_mode & 0o777 == 0o600)
            let answer = try HTTPClient(unixPath: path).request("GET", "/admin/config")
            #expect(answer.status == 200)
            let stream = try HTTPClient(unixPath: path)
            try stream.send("GET /v1/realms/notes/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
            #expect(try stream.receiveSome())
            // A second server does not take it away.
            #expect(throws: RealmServer.Failure.self) { _ = try self.server { $0.admin = .unix(path: path) } }
            #expect(try HTTPClient(unixPath: path).request("GET", "/healthz").status == 200)
            withExtendedLifetime(server) {}
        }
        #expect(status(path) == nil)
    }

    @Test func `a socket that was left behind is replaced, and nothing else`() throws {
        let path = folder + "/admin.sock"
        try TestSocket.leave(at: path, mode: 0o600)
        let before = try #require(status(path)).st_ino
        let server = try server { $0.admin = .unix(path: path) }
        #expect(try HTTPClient(unixPath: path).request("GET", "/healthz").status == 200)
        withExtendedLifetime(server) {}

        let others: [(String, (String) -> Void)] = [
            ("file", { _ = FileManager.default.createFile(atPath: $0, contents: Data("kept".utf8)) }),
            ("empty", { _ = FileManager.default.createFile(atPath: $0, contents: Data()) }),
            ("folder", { try? FileManager.default.createDirectory(atPath: $0, withIntermediateDirectories: false) }),
            ("link", { unsafe symlink("/nowhere", $0) }),
            ("linkToSocket", { unsafe symlink(path, $0) }),
            ("fifo", { unsafe mkfifo($0, 0o600) }),
            ("openSocket", { try? TestSocket.leave(at: $0, mode: 0o666) }),
        ]
        for (name, make) in others {
            let place = folder + "/" + name
            make(place)
            let was = try #require(status(place), "\(name)")
            #expect(throws: RealmServer.Failure.self, "\(name)") { _ = try self.server { $0.admin = .unix(path: place) } }
            let now = try #require(status(place), "\(name)")
            #expect(now.st_ino == was.st_ino && now.st_size == was.st_size && now.st_mode == was.st_mode, "\(name)")
        }
        #expect(before != 0)
        for bad in [folder + "/none/admin.sock", folder + "/" + String(repeating: "x", count: 120), folder + "/"] {
            #expect(throws: RealmServer.Failure.self, "\(bad)") { _ = try self.server { $0.admin = .unix(path: bad) } }
        }
    }

    @Test func `a file that took the place of the socket stays`() throws {
        let path = folder + "/admin.sock"
        do {
            let server = try server { $0.admin = .unix(path: path) }
            unsafe unlink(path)
            _ = FileManager.default.createFile(atPath: path, contents: Data("kept".utf8))
            withExtendedLifetime(server) {}
        }
        #expect(FileManager.default.contents(atPath: path) == Data("kept".utf8))
    }

    // MARK: - The option

    @Test func `the option is read`() {
        #expect(AdminAddress("127.0.0.1:8081") == .port(host: "127.0.0.1", port: 8081))
        #expect(AdminAddress("[::1]:0") == .port(host: "::1", port: 0))
        #expect(AdminAddress("localhost:1") == .port(host: "localhost", port: 1))
        #expect(AdminAddress("unix:/run/x.sock") == .unix(path: "/run/x.sock"))
        #expect(AdminAddress("none") == AdminAddress.none)
        for text in [
            "", "unix:", "8081", ":8081", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80",
            "[]:80",
        ] {
            #expect(AdminAddress(text) == nil, "\(text)")
        }
    }
}

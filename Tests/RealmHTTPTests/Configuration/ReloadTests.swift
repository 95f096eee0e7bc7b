// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Configurations that a running server reads again.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct ReloadTests {
    /// A folder with two realms and a configuration, and a server that was started in it.
    private struct Running {
        let folder: String
        let server: ServerProcess

        /// Replaces the configuration file.
        func write(_ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
        }

        func get(_ path: String) throws -> HTTPClient.Answer { try HTTPClient.request(port: server.port, "GET", path) }

        func reload() throws -> HTTPClient.Answer { try HTTPClient.request(port: server.port, "POST", "/admin/reload") }

        /// The texts of a member of the answer to a reload.
        func texts(_ answer: HTTPClient.Answer, _ name: String) -> [String] {
            answer.json[name]?.elements?.compactMap(\.text) ?? ["?"]
        }
    }

    /// What all configurations begin with.
    private static let base = "listen: {port: 0}\nlog: {format: none}\n"

    /// Runs a body with a server for a configuration.
    private func withServer(_ text: String, _ body: (Running) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-reload-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["one", "two"] {
            try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: "\(folder)/\(name).realm")
        }
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
        let program = try #require(ServerProcess.executable)
        let server = try ServerProcess(command: "cd '\(folder)' && exec '\(program)' serve")
        try body(Running(folder: folder, server: server))
        #expect(server.stop() == 0)
    }

    /// The name of the first class of a realm.
    private func className(_ running: Running, _ realm: String) throws -> String {
        try #require(try running.get("/v1/realms/\(realm)/schema").json["classes"]?.elements?.first?["name"]?.text)
    }

    @Test func `G8: the default realm is another one after a reload`() throws {
        try withServer(Self.base + "realms: {one: {path: one.realm, mode: ro}, two: {path: two.realm, mode: ro}}\ndefault: one\n")
        {
            running in
            func defaults() throws -> [String] {
                let items = try running.get("/v1/realms").json["items"]?.elements ?? []
                return items.filter { $0["default"]?.bool == true }.compactMap { $0["name"]?.text }
            }
            #expect(try defaults() == ["one"])
            #expect(try running.get("/v1/realms/@default").json["name"]?.text == "one")
            try running.write(
                Self.base + "realms: {one: {path: one.realm, mode: ro}, two: {path: two.realm, mode: ro}}\ndefault: two\n")
            let answer = try running.reload()
            #expect(running.texts(answer, "applied") == ["default"] && running.texts(answer, "restart") == [], "\(answer.text)")
            #expect(try defaults() == ["two"])
            #expect(try running.get("/v1/realms/@default").json["name"]?.text == "two")
            #expect(try running.get("/v1/realms/@default/schema").status == 200)
        }
    }

    @Test func `E2: a reload is in force for what begins later, and open realms keep their options`() throws {
        try withServer(Self.base + "realms: {main: {path: one.realm, mode: ro}}\nlimits: {page: 3}\n") { running in
            let name = try className(running, "main")
            #expect(try running.get("/v1/realms/main/objects/\(name)?limit=4").status == 400)
            try running.write(
                """
                listen: {port: 0}
                log: {format: none}
                admin: none
                realms:
                  main: {path: one.realm, mode: rw}
                  more: {path: two.realm, mode: ro}
                  absent: {path: none.realm}
                limits: {page: 4, workers: 3}
                """)
            let answer = try running.reload()
            #expect(answer.status == 200, "\(answer.text)")
            #expect(running.texts(answer, "applied") == ["realms", "limits.page"])
            #expect(running.texts(answer, "added") == ["more"])
            #expect(running.texts(answer, "failed") == ["absent"])
            #expect(running.texts(answer, "keptFor") == ["main"])
            #expect(running.texts(answer, "restart") == ["admin", "limits.workers"])
            #expect(try running.get("/v1/realms/main/objects/\(name)?limit=4").status == 200)
            #expect(try running.get("/v1/realms/main/objects/\(name)?limit=5").status == 400)
            #expect(try running.get("/v1/realms/main").json["mode"]?.text == "ro")
            #expect(try running.get("/v1/realms/more").json["mode"]?.text == "ro")
            #expect(try running.get("/v1/realms/absent").json["state"]?.text == "failed")
            #expect(try running.get("/admin/config").json["limits"]?["page"]?.int == 4)
            // A realm that failed is opened with the options of the file.
            try FileManager.default.copyItem(atPath: running.folder + "/two.realm", toPath: running.folder + "/three.realm")
            try running.write(
                Self.base
                    + "realms: {main: {path: one.realm, mode: rw}, absent: {path: three.realm, mode: ro}}\nlimits: {page: 4}\n")
            let second = try running.reload()
            #expect(running.texts(second, "added") == ["absent"])
            #expect(running.texts(second, "failed") == [])
            #expect(running.texts(second, "keptFor") == ["main", "more"])
            #expect(running.texts(second, "restart") == [])
            #expect(try running.get("/v1/realms/absent").json["mode"]?.text == "ro")
            // Nothing has changed since, and the open realms are still as they were opened.
            let third = try running.reload()
            #expect(["applied", "added", "failed", "restart"].allSatisfy { running.texts(third, $0) == [] }, "\(third.text)")
            #expect(running.texts(third, "keptFor") == ["main", "more"])
            // They are so no longer when the file says again what it said.
            try running.write(
                Self.base + "realms: {main: {path: one.realm, mode: ro}, more: {path: two.realm, mode: ro}, "
                    + "absent: {path: three.realm, mode: ro}}\nlimits: {page: 4}\n")
            #expect(running.texts(try running.reload(), "keptFor") == [])
        }
    }

    @Test func `E2: an invalid file changes nothing, and the answer says where it is wrong`() throws {
        try withServer(Self.base + "realms: {main: {path: one.realm}}\nlimits: {page: 3}\n") { running in
            try running.write(Self.base + "realms: {main: {path: one.realm}}\nlimits: {page: 4, pgae: 1}\n")
            let answer = try running.reload()
            #expect(answer.status == 422 && answer.json["code"]?.text == "invalid_body", "\(answer.text)")
            let detail = answer.json["detail"]?.text ?? ""
            #expect(detail.contains("realm-rest.yaml:4: ") && detail.contains("limits.pgae"), "\(detail)")
            #expect(try running.get("/admin/config").json["limits"]?["page"]?.int == 3)
            try FileManager.default.removeItem(atPath: running.folder + "/realm-rest.yaml")
            #expect(try running.reload().json["code"]?.text == "invalid_body")
            let metrics = try running.get("/metrics").text
            #expect(metrics.contains("configuration_reloads_total{result=\"failed\"} 2\n"), "\(metrics)")
            #expect(try HTTPClient.request(port: running.server.port, "GET", "/admin/reload").status == 405)
            #expect(try HTTPClient.request(port: running.server.port, "POST", "/admin/reload?x=1").status == 400)
            let body = try HTTPClient.request(
                port: running.server.port, "POST", "/admin/reload", headers: [("Content-Type", "application/json")],
                body: Array(#"{"a":1}"#.utf8))
            #expect(body.status == 415 && body.json["code"]?.text == "unsupported_media_type", "\(body.text)")
            // What the settings say together is checked again too.
            try running.write(Self.base + "realms: {main: {path: one.realm}, again: {path: one.realm}}\n")
            let twice = try running.reload()
            #expect(
                twice.status == 422 && twice.text.contains("realm-rest.yaml:3: the realms 'main' and 'again'"), "\(twice.text)")
        }
    }

    @Test func `E2: SIGHUP reads the configuration again, and the server goes on`() throws {
        try withServer(Self.base + "realms: {main: {path: one.realm}}\nlimits: {page: 3}\n") { running in
            for page in [4, 5] {
                try running.write(Self.base + "realms: {main: {path: one.realm}}\nlimits: {page: \(page)}\n")
                running.server.send(SIGHUP)
                #expect(eventually { (try? running.get("/admin/config").json["limits"]?["page"]?.int) == page })
            }
            try running.write("limits: [")
            running.server.send(SIGHUP)
            #expect(eventually { (try? running.get("/metrics").text.contains("reloads_total{result=\"failed\"} 1\n")) == true })
            #expect(try running.get("/admin/config").json["limits"]?["page"]?.int == 5)
        }
    }

    @Test func `E2, A18: a plan of backups begins, changes and ends with a reload`() throws {
        try withServer(Self.base + "realms: {main: {path: one.realm}}\n") { running in
            let names = { (folder: String) in
                (FileManager.default.subpaths(atPath: running.folder + "/" + folder) ?? []).filter { $0.hasSuffix(".realm") }
            }
            for folder in ["first", "second"] {
                try FileManager.default.createDirectory(atPath: "\(running.folder)/\(folder)", withIntermediateDirectories: true)
                try running.write(Self.base + "realms: {main: {path: one.realm}}\nbackup: {every: 1h, to: \(folder)}\n")
                #expect(running.texts(try running.reload(), "applied") == ["backup"])
                #expect(eventually { names(folder).count == 1 }, "\(folder)")
            }
            try running.write(Self.base + "realms: {main: {path: one.realm}}\n")
            #expect(running.texts(try running.reload(), "applied") == ["backup"])
            #expect(try running.get("/v1/realms/main/backups").json["state"] == nil)
        }
    }

    @Test func `a server without a configuration file has none to read again`() throws {
        let server = try TestServer(["links"])
        let answer = try server.request("POST", "/admin/reload")
        #expect(answer.status == 422 && answer.json["code"]?.text == "invalid_configuration", "\(answer.text)")
    }

    @Test func `a reload takes over the limits that can change while the server runs, and no other`() throws {
        for entry in Limits.entries {
            var read = ServerOptions()
            try read.limits.apply("\(entry.name)=\(entry.range.upperBound)")
            if read.limits == Limits() { try read.limits.apply("\(entry.name)=\(entry.range.lowerBound)") }
            #expect(read.limits != Limits(), "\(entry.name)")
            var options = ServerOptions()
            options.takeReloaded(read)
            let isTaken = options.limits == read.limits
            #expect(isTaken == (entry.takesEffect != .restart), "\(entry.name)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Roles that do not fit a schema: what a start and a reload refuse, and what the operator is told otherwise.
@Suite struct RoleWatchTests {
    /// A folder with a realm and a configuration file.
    private final class Folder {
        let path = NSTemporaryDirectory() + "realm-rest-roles-\(UUID().uuidString.prefix(8))"
        var file: String { path + "/realm-rest.yaml" }

        init(_ realms: [String] = ["one"]) throws {
            try FileManager.default.createDirectory(atPath: path + "/data", withIntermediateDirectories: true)
            for name in realms {
                try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: "\(path)/\(name).realm")
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Writes the file: the head has four lines, and what follows the roles.
        func write(_ roles: String, realms: String = "app: {path: one.realm}", more: String = "limits: {page: 7}") throws {
            let text = "listen: {port: 0}\nlog: {format: none}\nrealms: {\(realms)}\n\(more)\nroles:\n\(roles)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        }

        /// Makes a server of the file.
        func server() throws -> RealmServer {
            var configuration = Configuration()
            try configuration.apply(file: file)
            configuration.options.graceSeconds = 0
            ListedProblems.watch()
            return try RealmServer(configuration.options, from: configuration, report: { _ in })
        }
    }

    /// Rules that the classes `Person` and `Dog` do not have, and what is said of them.
    static let defects = [
        ("Person: {allow: [read], where: nothing == 1}", "Person"),
        ("Person: {allow: [read], where: name == $claims.sub AND nothing == $claims.x}", "Person"),
        ("Person: {allow: [read, update], check: dogs.nothing == 1}", "Person"),
        ("Person: {allow: [read], fields: {hide: [nothing]}}", "Person"),
        ("Person: {allow: [read], fields: {readOnly: [nothing]}}", "Person"),
        ("Persn: [read]", "Persn"),
        ("\"P*\": {allow: [read], where: nothing == 1}", "Person"),
    ]

    @Test(arguments: defects)
    func `a start refuses what does not fit a realm of the file, with the line`(_ rule: String, _ className: String) throws {
        let folder = try Folder()
        try folder.write("  r:\n    realms:\n      app:\n        classes:\n          \(rule)\n")
        let error = try #require(throws: RealmServer.Failure.self) { _ = try folder.server() }
        #expect(
            error.description.hasPrefix(folder.file + ":10: role 'r' loses class '\(className)' of realm 'app': "), "\(error)")
    }

    @Test func `a start takes roles that fit, and those for realms that are elsewhere`() throws {
        let folder = try Folder()
        let wrong = "realms: {other: {classes: {Person: {allow: [read], where: nothing == 1}}}}"
        try folder.write("  r: {realms: {app: {classes: {Person: {allow: [read], where: name != 'x'}}}}}\n  s: {\(wrong)}\n")
        try folder.server().stop()
        // A realm whose file is not there has no schema yet.
        try folder.write("  s: {\(wrong)}\n", realms: "other: {path: none.realm}")
        try folder.server().stop()
    }

    @Test func `a reload refuses what does not fit, and changes nothing`() throws {
        let folder = try Folder(["one", "two"])
        let good = "  r: {realms: {\"*\": {classes: {Person: [read]}}}}\n"
        try folder.write(good)
        let server = try folder.server()
        try server.start()
        defer { server.stop() }
        func reload() throws -> HTTPClient.Answer {
            try HTTPClient.request(port: server.daemon.socket.port, "POST", "/admin/reload")
        }
        func page() throws -> Int? {
            try HTTPClient.request(port: server.daemon.socket.port, "GET", "/admin/config").json["limits"]?["page"]?.int
        }
        for (rule, className) in RoleWatchTests.defects {
            let wrong = "  r:\n    realms:\n      app:\n        classes:\n          \(rule)\n"
            try folder.write(wrong, realms: "app: {path: one.realm}, more: {path: two.realm}", more: "limits: {page: 9}")
            let answer = try reload()
            #expect(answer.status == 422 && answer.code == "invalid_body", "\(answer.text)")
            let detail = answer.json["detail"]?.text ?? ""
            #expect(detail.hasPrefix("\(folder.file):10: role 'r' loses class '\(className)' of realm 'app': "), "\(detail)")
            #expect(try page() == 7)
            #expect(server.state.catalog["more"] == nil)
        }
        for (text, line) in [("  r: {realm: {}}\n", 6), ("  r:\n    realms: {app: {classes: {A: [raed]}}}\n", 7)] {
            try folder.write(text)
            let answer = try reload()
            #expect(answer.status == 422 && answer.code == "invalid_body", "\(answer.text)")
            #expect(answer.json["detail"]?.text?.hasPrefix("\(folder.file):\(line): ") == true, "\(answer.text)")
        }
        // Nor is a realm added that does not fit, or one that is closed at the moment.
        #expect(eventually { server.state.catalog.closeIfUnused("app") })
        for name in ["app", "more"] {
            let wrong = "  r: {realms: {\(name): {classes: {Persn: [read]}}}}\n"
            try folder.write(wrong, realms: "app: {path: one.realm}, more: {path: two.realm}")
            let answer = try reload()
            #expect(answer.status == 422 && answer.code == "invalid_body", "\(name): \(answer.text)")
            #expect(answer.json["detail"]?.text?.contains(":6: role 'r' loses class 'Persn' of realm '\(name)'") == true)
            #expect(server.state.catalog["more"] == nil && server.state.catalog["app"]?.isClosed == true)
        }
        try folder.write(good, more: "limits: {page: 9}")
        #expect(try reload().status == 200)
        #expect(try page() == 9)
    }

    // MARK: - Later

    private static let classes = """
        {"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"owner","type":"string"}]},
        {"name":"B","primaryKey":"id","properties":[{"name":"id","type":"int"}]}
        """

    /// The value of a metric without labels.
    private func metric(_ server: KeyServer, _ name: String, _ admin: APIKeyText) throws -> Int? {
        let lines = try server.request("GET", "/metrics", admin).text.split(separator: "\n")
        return lines.first { $0.hasPrefix("realm_rest_\(name) ") }.flatMap { Int($0.split(separator: " ")[1]) }
    }

    @Test func `a realm that opens later, and a migration, close a class and are counted once for each schema`() throws {
        let server = try KeyServer(
            statingRoles: """
                roles:
                  r: {realms: {app: {classes: {A: {allow: [read], where: owner == $claims.sub}, B: [read]}}}}
                  s: {realms: {"*": {classes: {"*": {allow: [read], where: nothing == 1}}}}}
                """)
        let (admin, ann) = (try server.add("admin"), try server.add("ann", roles: ["r", "s"]))
        #expect(try metric(server, "role_losses_total", admin) == 0)
        try server.attach("app", RoleWatchTests.classes, admin)
        // The role `s` has neither class.
        #expect(try eventually { try metric(server, "role_losses", admin) == 2 })
        try server.post("app/objects/A", admin, #"{"id":1,"owner":"ann"}"#)
        #expect(try server.request("GET", "/v1/realms/app/objects/A", ann).json["items"]?.elements?.count == 1)
        // Commits alone are told of nothing.
        Thread.sleep(forTimeInterval: 1.2)
        #expect(try metric(server, "role_losses_total", admin) == 2)
        let migration =
            #"{"fromVersion":1,"toVersion":2,"steps":[{"renameProperty":{"class":"A","name":"owner","to":"who"}}]}"#
        let migrated = try server.request("POST", "/v1/realms/app/migrations", admin, body: migration)
        #expect(migrated.status == 200, "\(migrated.text)")
        #expect(try server.request("GET", "/v1/realms/app/objects/A", ann).code == "class_not_found")
        #expect(try server.request("GET", "/v1/realms/app/objects/B", ann).status == 200)
        #expect(try eventually { try metric(server, "role_losses", admin) == 3 })
        #expect(try metric(server, "role_losses_total", admin) == 5)
        let text = try server.request("GET", "/metrics", admin).text
        for name in [#"rights_lookups_total{result="hit"}"#, #"rights_lookups_total{result="miss"}"#, "rights_kept"] {
            #expect(text.contains("realm_rest_\(name) "), "\(name)")
        }
        _ = try server.request("DELETE", "/v1/realms/app", admin)
        #expect(try eventually { try metric(server, "role_losses", admin) == 0 })
    }

    @Test func `the log has a line for each defect, once for each schema`() throws {
        let pipe = Pipe()
        let log = try AccessLog(format: .json, level: .error, descriptor: pipe.fileHandleForWriting.fileDescriptor)
        var options = ServerOptions()
        options.roles = try RightsSamples.book(
            "roles: {r: {realms: {app: {classes: {Person: {allow: [read], where: nothing == 1}, Ghost: [read]}}}}}")
        let catalog = Catalog()
        let state = ServerState(
            catalog: catalog, options: LiveOptions(options),
            rules: AccessRules(hosts: HostPolicy(boundAddress: "127.0.0.1")), accessLog: log)
        defer { state.workers.close() }
        let watch = RoleWatch(state)
        let name = try #require(RealmName("app"))
        for fixture in ["links", "links", "names"] {
            try catalog.reserve(name)
            catalog.open(name, path: try Fixtures.path(fixture), Database.OpenOptions(mode: .readOnly))
            for _ in 0..<3 { watch.check() }
            catalog.remove("app")
        }
        watch.check()
        log.close()
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let lines = try text.split(separator: "\n").map { try ParsedJSON(parsing: String($0)) }
        #expect(lines.count == 4, "\(text)")
        #expect(lines.allSatisfy { $0["event"]?.text == "role_lost_class" && $0["realm"]?.text == "app" }, "\(text)")
        #expect(text.contains("role 'r' loses class 'Person' of realm 'app': ") && text.contains("there is no class 'Ghost'"))
        #expect(state.metrics.text.contains("realm_rest_role_losses_total 4\n"))
    }
}

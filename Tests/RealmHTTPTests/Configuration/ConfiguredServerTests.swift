// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
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
            // The command line may name it, and it is marked in every state.
            let named = try start(in: folder, "--port 0 --log-format none --data data --memory a --default a")
            #expect(try get(named, "/@default").json["name"]?.text == "a")
            #expect(named.stop() == 0)
        }
    }

    @Test func `E1: a missing file that the configuration names has failed, is tried again, and may be the default`() throws {
        try withFolder { folder in
            let text = "listen: {port: 0}\nlog: {format: none}\nfiles: [later.realm]\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
            let server = try start(in: folder)
            let before = try get(server, "").json["items"]?[0]
            #expect(before?["state"]?.text == "failed" && before?["problem"]?["code"]?.text == "file_not_found")
            #expect(before?["default"]?.bool == true)
            try FileManager.default.copyItem(atPath: folder + "/one.realm", toPath: folder + "/later.realm")
            #expect(eventually { (try? get(server, "/later").json["state"]?.text) == "ready" })
            #expect(server.stop() == 0)
            // A file of the command line has to be there.
            #expect(throws: (any Error).self) { try start(in: folder, "--port 0 --log-format none none.realm") }
        }
    }

    @Test func `E1: every option of the command line has a member of its name`() throws {
        let program = try #require(ServerProcess.executable)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["serve", "--help"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let help = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let names = Set(help.matches(of: /\n  (?:-\w, )?--([a-z-]+)/).map { String($0.output.1) })
        #expect(names.count > 30 && names.contains("backup-every") && names.contains("limit"))
        // Who the program runs as is decided before it reads a file.
        for name in names.subtracting(["as-owner", "config", "help", "version"]).sorted() {
            var configuration = Configuration()
            do throws(ConfigurationError) {
                try configuration.apply(text: "\(name): 1.5", ofFile: "c.yaml")
                Issue.record("\(name) takes a value without a meaning")
            } catch {
                #expect(!error.text.contains("there is no setting"), "\(name): \(error)")
            }
        }
    }

    @Test func `E1: a file that names nothing is refused by the check`() throws {
        try withFolder { folder in
            let program = try #require(ServerProcess.executable)
            for (text, status) in [("", 1), ("memory: [a]", 0), ("data: none", 1)] {
                try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/c.yaml"))
                let process = Process()
                process.executableURL = URL(fileURLWithPath: program)
                process.arguments = ["config", "check", folder + "/c.yaml"]
                process.standardOutput = FileHandle.nullDevice
                process.standardError = FileHandle.nullDevice
                try process.run()
                process.waitUntilExit()
                #expect(process.terminationStatus == status, "\(text)")
            }
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
            #expect(items.map { $0["default"]?.bool } == [false, true, false])
            #expect(items.map { $0["path"]?.text?.hasSuffix(".realm") } == [true, true, true])
            #expect(items[1]["mode"]?.text == "ro")
            let class_ = try #require(try get(server, "/main/schema").json["classes"]?.elements?.first?["name"]?.text)
            #expect(try get(server, "/@default/objects/\(class_)?limit=4").status == 400)
            #expect(server.stop() == 0)
        }
    }
}

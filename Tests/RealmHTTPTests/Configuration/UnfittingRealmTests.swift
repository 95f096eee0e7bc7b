// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Realms of a configuration whose options name what their file does not have.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct UnfittingRealmTests {
    /// Members of an entry that do not fit the fixture, and what the problem says about each.
    private static let entries: [(name: String, member: String, detail: String)] = [
        ("a", "classes: [Dog, Nope]", "'classes/1' does not fit the file: there is no class 'Nope'"),
        ("b", "backlinkNames: {Dgo: {owners: Person.dogs}}", "'backlinkNames' does not fit the file: there is no class 'Dgo'"),
        ("c", "requireIfMatch: [Nope]", "'requireIfMatch' does not fit the file: there is no class 'Nope'"),
        ("d", "defaults: {Dog: {nope: 1}}", "'defaults/Dog/nope' does not fit the file: the class has no property 'nope'"),
        ("e", "defaults: {Nope: {}}", "'defaults/Nope' does not fit the file: there is no class 'Nope'"),
        ("f", "defaults: {Dog: {name: 5}}", "'defaults/Dog/name' does not fit the file: "),
    ]

    /// What all configurations begin with.
    private static let base = "listen: {port: 0}\nlog: {format: none}\nmemory: [m]\n"

    /// A configuration with all entries.
    private static var configuration: String {
        base + "realms:\n" + entries.map { "  \($0.name): {path: \($0.name).realm, \($0.member)}\n" }.joined()
    }

    private func makeFiles(_ folder: String) throws {
        for (name, _, _) in UnfittingRealmTests.entries {
            try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: "\(folder)/\(name).realm")
        }
    }

    /// Runs a body with a folder, and a server that was started in it with a configuration.
    private func withServer(
        _ configuration: String, prepare: (String) throws -> Void, _ body: (String, ServerProcess) throws -> Void
    ) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-unfitting-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try prepare(folder)
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
        let program = try #require(ServerProcess.executable)
        let server = try ServerProcess(command: "cd '\(folder)' && exec '\(program)' serve")
        try body(folder, server)
        #expect(server.stop() == 0)
    }

    private func document(_ server: ServerProcess, _ name: String) throws -> ParsedJSON {
        try HTTPClient.request(port: server.port, "GET", "/v1/realms/" + name).json
    }

    /// Waits until every realm has failed with the reason that its entry gives.
    private func expectAllFailed(_ server: ServerProcess) throws {
        for (name, member, detail) in UnfittingRealmTests.entries {
            let isRefused = eventually { (try? document(server, name)["problem"]?["code"]?.text) == "invalid_schema" }
            let found = try document(server, name)
            #expect(isRefused && found["state"]?.text == "failed", "\(member): \(found.serialized)")
            #expect(found["problem"]?["detail"]?.text?.hasPrefix(detail) == true, "\(member): \(found.serialized)")
        }
    }

    @Test func `E1: options that do not fit the file do not stop the start, and their realm has failed`() throws {
        try withServer(UnfittingRealmTests.configuration, prepare: makeFiles) { _, server in try expectAllFailed(server) }
    }

    @Test func `E1: options that do not fit are found when the file appears later`() throws {
        try withServer(UnfittingRealmTests.configuration, prepare: { _ in }) { folder, server in
            #expect(try document(server, "a")["problem"]?["code"]?.text == "file_not_found")
            try makeFiles(folder)
            try expectAllFailed(server)
        }
    }

    @Test func `E2: options that do not fit are found in a realm that a reload adds, which is tried again`() throws {
        try withServer(UnfittingRealmTests.base, prepare: makeFiles) { folder, server in
            let text = UnfittingRealmTests.configuration + "  z: {path: z.realm, classes: [Product]}\n"
            try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: folder + "/z.realm")
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
            #expect(try HTTPClient.request(port: server.port, "POST", "/admin/reload").status == 200)
            try expectAllFailed(server)
            #expect(try document(server, "z")["problem"]?["code"]?.text == "invalid_schema")
            try FileManager.default.removeItem(atPath: folder + "/z.realm")
            try FileManager.default.copyItem(atPath: try Fixtures.path("store"), toPath: folder + "/z.realm")
            #expect(eventually { (try? document(server, "z")["state"]?.text) == "ready" })
            #expect(try document(server, "z")["classes"]?.int ?? 0 >= 1)
        }
    }
}

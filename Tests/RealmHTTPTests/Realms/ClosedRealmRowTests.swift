// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// What is told of a realm that is not open, and of one that can never be opened.
@Suite struct ClosedRealmRowTests {
    /// The members that tell of the file to whoever administers.
    private static let members: Set = [
        "mode", "inMemory", "encrypted", "fileFormat", "schemaVersion", "fileBytes", "usedBytes", "classes", "empty", "version",
        "liveVersions", "pendingWrites",
    ]
    /// Those of them that a reader is told.
    private static let readable: Set = ["mode", "inMemory", "encrypted", "fileFormat", "schemaVersion", "classes", "version"]

    /// A server over a folder with files of every kind.
    private func withFolder(
        _ change: (inout ServerOptions) -> Void = { _ in }, _ body: (TestServer, String) throws -> Void
    ) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-closed-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["links", "encrypted"] {
            try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name)))
                .write(to: URL(fileURLWithPath: folder + "/\(name).realm"))
        }
        var old = try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("links")))
        // The numbers of the format are in the header, one for each top reference.
        for position in [20, 21] { old[position] = 1 }
        try old.write(to: URL(fileURLWithPath: folder + "/unread.realm"))
        try Data(repeating: 0x78, count: 5000).write(to: URL(fileURLWithPath: folder + "/rubbish.realm"))
        let server = try TestServer([]) { options in
            options.dataFolder = folder
            options.isReadOnly = false
            change(&options)
        }
        try body(server, folder)
    }

    /// The members that a document has, and those that it names as not known.
    private func parts(_ document: ParsedJSON, _ names: Set<String>) -> (known: Set<String>, unknown: Set<String>) {
        (names.filter { document[$0] != nil }, Set(document["unknown"]?.texts ?? []))
    }

    @Test func `a file that may be encrypted or no Realm file is not said to be encrypted`() throws {
        try withFolder { server, folder in
            var random = SeededGenerator(seed: 7)
            let bytes = (0..<16384).map { _ in UInt8.random(in: 0...255, using: &random) }
            try Data(bytes).write(to: URL(fileURLWithPath: folder + "/noise.realm"))
            #expect(try eventually { try server.get("/v1/realms/noise/schema").json["code"]?.text == "encryption_key_required" })
            let noise = try server.get("/v1/realms/noise").json
            #expect(noise["encrypted"] == nil && noise["unknown"]?.texts?.contains("encrypted") == true, "\(noise)")
            #expect(noise["file"]?["unknown"]?.texts?.contains("realm") == true, "\(noise)")
            _ = try server.get("/v1/realms/encrypted/schema")
            #expect(try server.get("/v1/realms/encrypted").json["encrypted"]?.bool == true)
        }
    }

    @Test func `the document of a realm that is not open describes its file, and a list does not`() throws {
        try withFolder { server, _ in
            func file(_ name: String) throws -> ParsedJSON {
                let document = try server.get("/v1/realms/\(name)").json
                return try #require(document["file"], "\(document)")
            }
            let links = try file("links")
            #expect(
                links["opening"]?["mode"]?.text == "rw" && links["encrypted"]?.bool == false && links["fileFormat"]?.int == 24)
            let counts = links["classes"]?.elements?.map { $0["objects"]?.int }
            #expect(counts == (try #require(try Fixtures.dump("links")))["classes"]?.elements?.map { $0["count"]?.int })
            for (name, code) in [
                ("encrypted", "encryption_key_required"), ("unread", "file_format_unsupported"), ("rubbish", "not_a_realm"),
            ] {
                // The same before and after an attempt to open it.
                for _ in 0..<2 {
                    let described = try file(name)
                    #expect(described["problem"]?["code"]?.text == code && described["classes"] == nil, "\(described)")
                    #expect(described["opening"]?["mode"] == .null && described["opening"]?["detail"]?.text != nil)
                    #expect(described["unknown"]?.texts?.contains("classes") == true)
                    _ = try server.get("/v1/realms/\(name)/schema")
                }
            }
            #expect(try file("encrypted")["encrypted"]?.bool == true && file("rubbish")["realm"]?.bool == false)
            let unread = try server.get("/v1/realms/unread").json
            #expect(unread["fileFormat"]?.int == 1 && unread["writtenBy"]?.text?.hasPrefix("TightDB") == true, "\(unread)")
            let listed = try server.get("/v1/realms").json["items"]?.elements ?? []
            #expect(listed.count == 4 && listed.allSatisfy { $0["file"] == nil })
        }
    }

    @Test(arguments: [false, true])
    func `a server that is for reading only announces the same in all members`(_ copies: Bool) throws {
        let change = { (options: inout ServerOptions) in
            options.isReadOnly = true
            options.copiesFiles = copies
        }
        try withFolder(change) { server, _ in
            let links = try server.get("/v1/realms/links").json
            #expect(links["state"]?.text == "closed" && links["mode"]?.text == "ro", "\(links)")
            let opening = try #require(links["file"]?["opening"])
            #expect(opening["mode"]?.text == "ro" && opening["detail"]?.text == "only read", "\(opening)")
        }
    }

    @Test func `G12, A13, A14, A53: a realm that is closed says what it is, as one that is open does`() throws {
        try withFolder({ $0.idleSeconds = 1 }) { server, _ in
            let closed = try server.get("/v1/realms/links").json
            #expect(closed["state"]?.text == "closed")
            #expect(parts(closed, Self.members).unknown == ["version"], "\(closed)")
            #expect(try server.get("/v1/realms/links/schema").status == 200)
            let open = try server.get("/v1/realms/links").json
            #expect(open["state"]?.text == "ready" && open["unknown"] == nil)
            #expect(parts(open, Self.members).known == Self.members)
            for name in Self.members.subtracting(["version", "liveVersions", "fileBytes", "usedBytes"]) {
                #expect(closed[name] == open[name], "\(name): \(closed) \(open)")
            }
            #expect(try eventually { try server.get("/v1/realms/links").json["state"]?.text == "closed" })
            // The next opening has the same version, as nothing has written to the file.
            let again = try server.get("/v1/realms/links").json
            #expect(again["version"] == open["version"] && again["unknown"] == nil, "\(again)")
            #expect(again["liveVersions"]?.int == 0)
            let listed = try server.get("/v1/realms").json["items"]?.elements?.first { $0["name"]?.text == "links" }
            #expect(listed?["schemaVersion"] == open["schemaVersion"] && listed?["empty"]?.bool == false)
        }
    }

    @Test(arguments: [
        ("encrypted", "encryption_key_required", ["encrypted"]), ("unread", "file_format_unsupported", ["fileFormat"]),
        ("rubbish", "not_a_realm", []),
    ])
    func `G12: of a file that cannot be opened every member is told or named as not known`(
        _ name: String, _ code: String, _ also: [String]
    ) throws {
        try withFolder { server, _ in
            let known = Set(["inMemory", "fileBytes", "liveVersions", "pendingWrites"] + also)
            for state in ["closed", "failed"] {
                let document = try server.get("/v1/realms/\(name)").json
                #expect(document["state"]?.text == state)
                let parts = parts(document, Self.members)
                #expect(parts.known == known && parts.unknown == Self.members.subtracting(known), "\(document)")
                #expect(document["problem"]?["code"]?.text == code, "\(document)")
                _ = try server.get("/v1/realms/\(name)/schema")
            }
        }
    }

    @Test func `G12: a reader is told no more than of an open realm`() throws {
        let roles = """
            roles:
              part: {realms: {links: {classes: {Dog: [read]}}, encrypted: {classes: {"*": [read]}}}}
            """
        let key = APIKeyText()
        try withFolder({ options in
            options.roles = (try? RightsSamples.book(roles)) ?? options.roles
            try? KeyFile(dataFolder: options.dataFolder ?? "").add(APIKey(key, name: "part", roles: ["part"]))
        }) { server, folder in
            let credential = [("Authorization", "Bearer " + key.text)]
            for _ in 0..<2 {
                let document = try server.get("/v1/realms/links", headers: credential).json
                #expect(document["classes"]?.int == 1, "\(document)")
                let unknown = document["state"]?.text == "closed" ? ["version"] : []
                #expect(parts(document, Self.members).known == Self.readable.subtracting(unknown), "\(document)")
                #expect((document["unknown"]?.texts ?? []) == unknown)
                #expect(try server.get("/v1/realms/links/objects/Dog", headers: credential).status == 200)
            }
            let me = try server.get("/v1/me", headers: credential).json
            #expect(me["may"]?["links"] != nil, "\(me)")
            let refused = try server.get("/v1/realms/encrypted/schema", headers: credential)
            #expect(refused.status == 422 && refused.code == "encryption_key_required" && !refused.text.contains(folder))
            #expect(refused.json["detail"]?.text == "the realm could not be opened" && refused["Retry-After"] == nil)
        }
    }

    @Test(arguments: [
        ("encrypted", "encryption_key_required"), ("unread", "file_format_unsupported"), ("rubbish", "not_a_realm"),
    ])
    func `a request for a realm that can never be opened says why, and not to try again`(_ name: String, _ code: String) throws {
        try withFolder { server, _ in
            for (method, path) in [
                ("GET", "schema"), ("GET", "objects/X"), ("POST", "batch"), ("GET", "changes?class=X"), ("POST", "transactions"),
                ("GET", "export"), ("GET", "openapi.json"),
            ] {
                let answer = try HTTPClient.request(
                    port: server.port, method, "/v1/realms/\(name)/\(path)", headers: [WriteServer.json],
                    body: method == "POST" ? Array(#"{"ops":[]}"#.utf8) : nil)
                #expect(answer.status == 422 && answer.code == code, "\(path): \(answer.text)")
                #expect(answer["Retry-After"] == nil && answer.json["retryable"] == nil, "\(path): \(answer.text)")
                #expect(answer.json["detail"]?.text != "the realm could not be opened", "\(answer.text)")
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Rows about how a server comes to its realms: its start, keys, rights, and what happens meanwhile.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct OpeningRowTests {
    /// The number of the user `nobody`.
    private static let nobody: UInt32 = 65534

    /// Runs a body with a folder that has a fixture as `data/links.realm`. It belongs to the user that `start` runs servers as.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-opening-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder + "/data", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/data/links.realm"
        try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("links"))).write(to: URL(fileURLWithPath: file))
        if geteuid() == 0 {
            for path in [folder, folder + "/data", file] {
                try #require(unsafe chown(path, OpeningRowTests.nobody, OpeningRowTests.nobody) == 0)
            }
        }
        try body(folder)
    }

    /// Starts a server in a folder as a user that is not `root`, to which rights mean nothing. Messages go to `messages`.
    private func start(in folder: String, _ arguments: String, _ environment: String = "") throws -> ServerProcess {
        let program = try #require(ServerProcess.executable)
        let user = OpeningRowTests.nobody
        let other = geteuid() == 0 ? "setpriv --reuid=\(user) --regid=\(user) --clear-groups" : ""
        return try ServerProcess(
            command: "cd '\(folder)' && TMPDIR='\(folder)' \(environment) exec \(other) '\(program)' serve --port 0 "
                + "--log-format none \(arguments) 2> messages")
    }

    private func send(
        _ server: ServerProcess, _ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []
    ) throws -> HTTPClient.Answer {
        try HTTPClient.request(
            port: server.port, method, path, headers: headers + (body == nil ? [] : [WriteServer.json]),
            body: body.map { Array($0.utf8) })
    }

    private func get(_ server: ServerProcess, _ path: String) throws -> HTTPClient.Answer { try send(server, "GET", path) }

    private func change(_ path: String, _ mode: mode_t) throws { try #require(unsafe chmod(path, mode) == 0) }

    // MARK: - The start

    @Test func `E1: a server that is told nothing says what it needs; with a folder it serves default.realm as the default`()
        throws
    {
        try withFolder { folder in
            let error = folder + "/messages"
            #expect(throws: ServerProcess.Failure.self) { try start(in: folder, "") }
            let text = try String(contentsOfFile: error, encoding: .utf8)
            for part in ["--data", "--memory", "--config", "realm-rest.yaml"] { #expect(text.contains(part), "\(text)") }
            try FileManager.default.moveItem(atPath: folder + "/data/links.realm", toPath: folder + "/data/default.realm")
            let server = try start(in: folder, "--data data")
            let document = try get(server, "/v1/realms/default").json
            #expect(document["state"]?.text == "closed" && document["default"]?.bool == true, "\(document)")
            #expect(try get(server, "/v1/realms/@default/objects/Dog?limit=1").status == 200)
            let opened = try get(server, "/v1/realms/default").json
            #expect(opened["mode"]?.text == "rw" && opened["encrypted"]?.bool == false && opened["schemaVersion"] != nil)
            #expect(server.stop() == 0)
        }
    }

    @Test func `E20: with the name of a file alone, the file is served and takes writes`() throws {
        try withFolder { folder in
            let server = try start(in: folder, "data/links.realm")
            let listed = try get(server, "/v1/realms").json["items"]?.elements ?? []
            #expect(listed.map { $0["name"]?.text } == ["links"] && listed.first?["default"]?.bool == true)
            #expect(try get(server, "/readyz").status == 200)
            let dogs = try #require(try Fixtures.dump("links")?["classes"]?.elements?.first { $0["name"]?.text == "Dog" })
            for realm in ["links", "@default"] {
                let answer = try get(server, "/v1/realms/\(realm)/objects/Dog?count=exact&limit=1")
                #expect(answer.status == 200 && answer.json["count"] == dogs["count"], "\(answer.text)")
            }
            #expect(try send(server, "POST", "/v1/realms/links/batch", #"{"ops":[]}"#).status == 200)
            #expect(server.stop() == 0)
        }
    }

    @Test func `E35: the folder of the files is the one that is named, and it is told at the start`() throws {
        try withFolder { folder in
            let server = try start(in: folder, "--data data")
            let told = "data folder \(try System.resolved(folder + "/data"))"
            #expect(
                try eventually {
                    try String(contentsOfFile: folder + "/messages", encoding: .utf8).split(separator: "\n").contains {
                        $0 == told
                    }
                })
            #expect(try send(server, "POST", "/v1/realms", #"{"name":"made"}"#).status == 201)
            #expect(FileManager.default.fileExists(atPath: folder + "/data/made.realm"))
            #expect(server.stop() == 0)
            // Without a folder there is no place for new files.
            let other = try start(in: folder, "data/links.realm")
            let refused = try send(other, "POST", "/v1/realms", #"{"name":"made2"}"#)
            #expect(refused.code == "filesystem_unsuitable" && refused.text.contains("--data"), "\(refused.text)")
            #expect(other.stop() == 0)
        }
        let documented = try String(
            contentsOf: Fixtures.packageRoot.appendingPathComponent("docs/operations.md"), encoding: .utf8)
        #expect(documented.contains("Without `--data` and `data` there is no data folder"))
    }

    @Test func `A10, E32: the first answer is under the whole configuration, and what is not ready is 503`() throws {
        try withFolder { folder in
            let text = """
                listen: {port: 0}
                realms:
                  main: {path: data/links.realm, mode: ro, backlinkNames: {Person: {owned: Dog.owner}}}
                  late: {path: data/late.realm, mode: ro}
                limits: {page: 3}
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
            let server = try start(in: folder, "--config realm-rest.yaml")
            #expect(try get(server, "/v1/realms/main/objects/Dog?limit=4").status == 400)
            #expect(try get(server, "/v1/realms/main/objects/Person?limit=1&fields=owned").text.contains("owned"))
            #expect(try send(server, "POST", "/v1/realms/main/objects/Dog", "{}").code == "read_only")
            let ready = try get(server, "/readyz")
            #expect(ready.status == 503 && ready.code == "not_ready" && ready.json["realms"]?.texts == ["late"], "\(ready.text)")
            let early = try get(server, "/v1/realms/late/objects/Dog")
            #expect(early.status == 503 && early.code == "realm_unavailable" && early["Retry-After"] != nil)
            try FileManager.default.copyItem(atPath: folder + "/data/links.realm", toPath: folder + "/data/late.realm")
            try change(folder + "/data/late.realm", 0o644)
            #expect(try eventually { try get(server, "/v1/realms/late/objects/Dog").status == 200 })
            #expect(try eventually { try get(server, "/readyz").status == 200 })
            #expect(server.stop() == 0)
        }
    }

    // MARK: - Keys

    @Test func `E6: the right key, a wrong one, none, and one of 63 bytes come to four different ends`() throws {
        let right = Fixtures.key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let wrong = String(repeating: "ab", count: 64)
        let base64 = Data(Fixtures.key).base64EncodedString()
        try withFolder { folder in
            let file = folder + "/data/secret.realm"
            try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("encrypted"))).write(to: URL(fileURLWithPath: file))
            if geteuid() == 0 { try #require(unsafe chown(file, OpeningRowTests.nobody, OpeningRowTests.nobody) == 0) }
            let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            let server = try start(in: folder, "data/links.realm --attach-root data")
            for (key, status, code) in [
                (wrong, 422, "encryption_key_wrong"), (nil, 422, "encryption_key_required"),
                (String(right.dropLast(2)), 400, "invalid_body"),
                (Data(Fixtures.key.dropLast()).base64EncodedString(), 400, "invalid_body"),
                (right, 201, nil), (base64, 201, nil),
            ] as [(String?, Int, String?)] {
                let member = key.map { #","encryptionKey":"\#($0)""# } ?? ""
                let answer = try send(server, "POST", "/v1/realms", #"{"path":"\#(file)"\#(member)}"#)
                #expect(answer.status == status && answer.code == code, "\(answer.text)")
                if let key { #expect(!answer.text.contains(key)) }
                guard status == 201 else { continue }
                #expect(answer.json["encrypted"]?.bool == true)
                #expect(try send(server, "DELETE", "/v1/realms/secret").status == 204)
            }
            #expect(server.stop() == 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes)
            // From a file, and from the environment under either spelling.
            try Data(right.utf8).write(to: URL(fileURLWithPath: folder + "/right.key"))
            try Data(wrong.utf8).write(to: URL(fileURLWithPath: folder + "/wrong.key"))
            for (arguments, environment, status) in [
                ("--key secret=right.key", "", 200), ("--key secret=wrong.key", "", 422),
                ("", "REALM_REST_KEY_secret=\(right)", 200), ("", "REALM_REST_KEY_SECRET=\(base64)", 200),
                ("", "REALM_REST_KEY_secret=\(wrong) REALM_REST_KEY_SECRET=\(right)", 422), ("", "", 422),
            ] {
                let server = try start(in: folder, "--data data " + arguments, environment)
                let answer = try get(server, "/v1/realms/secret/schema")
                #expect(answer.status == status, "\(arguments) \(environment): \(answer.text)")
                #expect(server.stop() == 0)
                let messages = try String(contentsOfFile: folder + "/messages", encoding: .utf8)
                #expect(!messages.contains(right) && !messages.contains(base64) && !messages.contains(wrong))
            }
            try Data(right.dropLast(2).utf8).write(to: URL(fileURLWithPath: folder + "/short.key"))
            #expect(throws: ServerProcess.Failure.self) { try start(in: folder, "--data data --key secret=short.key") }
        }
    }

    // MARK: - Rights

    @Test func `E33: a file that cannot be read is 503, and served again when it can be`() throws {
        try withFolder { folder in
            let file = folder + "/data/links.realm"
            let dogs = "/v1/realms/links/objects/Dog"
            let server = try start(in: folder, "--data data --close-after 1s")
            #expect(try get(server, dogs).status == 200)
            try change(file, 0o000)
            // An open file stays readable; once the realm was closed, it cannot be opened again.
            #expect(try get(server, dogs).status == 200)
            #expect(try eventually { try get(server, "/v1/realms/links").json["state"]?.text == "closed" })
            let answer = try get(server, dogs)
            #expect(answer.status == 503 && answer.code == "realm_unavailable" && answer["Retry-After"] != nil, "\(answer.text)")
            let problem = try get(server, "/v1/realms/links").json["problem"]
            #expect(problem?["code"]?.text == "filesystem_unsuitable", "\(problem ?? .null)")
            #expect(problem?["detail"]?.text == "no permission to read the file")
            #expect(try get(server, "/healthz").status == 200)
            try change(file, 0o600)
            #expect(try eventually { try get(server, dogs).status == 200 })
            #expect(server.stop() == 0)
            // The same from the start on.
            try change(file, 0o000)
            let other = try start(in: folder, "--data data")
            #expect(try get(other, dogs).status == 503)
            try change(file, 0o600)
            #expect(try eventually { try get(other, dogs).status == 200 })
            #expect(other.stop() == 0)
        }
    }

    @Test func `A7, E34, E30: in a folder that takes no new files a file is only read`() throws {
        try withFolder { folder in
            let data = folder + "/data"
            let server = try start(in: folder, "--memory m --attach-root data")
            try change(data, 0o500)
            defer { _ = unsafe chmod(data, 0o700) }
            func attach(_ mode: String) throws -> HTTPClient.Answer {
                try send(server, "POST", "/v1/realms", #"{"path":"\#(data)/links.realm"\#(mode)}"#)
            }
            let refused = try attach(#","mode":"rw""#)
            #expect(refused.status == 422 && refused.code == "filesystem_unsuitable", "\(refused.text)")
            #expect(refused.json["detail"]?.text?.contains("folder") == true, "\(refused.text)")
            for mode in ["", #","mode":"ro""#, #","mode":"copy""#] {
                let answer = try attach(mode)
                let served = mode.contains("copy") ? "copy" : "ro"
                #expect(answer.status == 201 && answer.json["mode"]?.text == served, "\(answer.text)")
                if mode.isEmpty {
                    #expect(answer.json["readOnlyReason"]?["detail"]?.text?.contains("folder") == true, "\(answer.text)")
                }
                #expect(try get(server, "/v1/realms/links/objects/Dog?limit=1").status == 200)
                #expect(try send(server, "DELETE", "/v1/realms/links").status == 204)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: data) == ["links.realm"])
            // Without the right to read it, it is refused, and the list stays as it was.
            try change(data + "/links.realm", 0o000)
            for mode in ["", #","mode":"rw""#, #","mode":"ro""#, #","mode":"copy""#] {
                let answer = try attach(mode)
                #expect(answer.status == 422 && answer.code == "filesystem_unsuitable", "\(answer.text)")
                #expect(answer.json["detail"]?.text?.contains("permission") == true)
            }
            #expect(try get(server, "/v1/realms").json["items"]?.elements?.map { $0["name"]?.text } == ["m"])
            #expect(server.stop() == 0)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Keys whose roles do not exist, and changes after which no client could administer the server.
@Suite struct KeyRoleTests {
    private static let roles = """
        roles:
          root: {administer: true}
          clerk: {realms: {notes: {classes: {Note: [read]}}}}

        """

    private func options(_ text: String) throws -> ServerOptions {
        var configuration = Configuration()
        try configuration.apply(text: text, ofFile: "/realm-rest.yaml")
        return configuration.options
    }

    private func server(_ text: String = Self.roles) throws -> KeyServer {
        let read = try options(text)
        return try KeyServer(change: { options in
            options.roles = read.roles
            options.admin = read.admin
        })
    }

    private func make(
        _ server: KeyServer, _ roles: String, _ more: String = "", _ query: String = "", _ key: APIKeyText? = nil
    ) throws -> HTTPClient.Answer {
        try server.request("POST", "/admin/keys\(query)", key, body: #"{"name":"a","roles":[\#(roles)]\#(more)}"#)
    }

    private func text(_ answer: HTTPClient.Answer) throws -> APIKeyText {
        guard case .key(let key) = APIKeyText.read(Array(try #require(answer.json["key"]?.text).utf8)) else {
            throw HTTPClient.Failure(description: answer.text)
        }
        return key
    }

    @Test(arguments: [
        (#""admn""#, "no role 'admn'; did you mean 'admin'? Roles: admin, clerk, read, root"),
        (#""Admin""#, "no role 'Admin'"), (#""admin","clerc""#, "did you mean 'clerk'?"),
        (#""superuser""#, "no role 'superuser'. Roles: "),
        (#""anonymous""#, "no role 'anonymous'"),
    ])
    func `a role that does not exist makes no key, and the roles are listed`(_ roles: String, _ text: String) throws {
        let server = try server()
        let answer = try make(server, roles)
        #expect(
            answer.status == 422 && answer.code == "invalid_body" && answer.json["pointer"]?.text == "/roles", "\(answer.text)")
        #expect(answer.json["detail"]?.text?.contains(text) == true, "\(answer.text)")
        #expect(!server.file.exists)
        #expect(try server.request("GET", "/admin/keys").status == 200)
    }

    @Test(arguments: [
        (#""read""#, ""), (#""clerk","read""#, ""), (#""admin""#, #","realm":"notes""#),
        (#""root""#, #","from":["203.0.113.7"]"#), (#""admin""#, #","expires":"1s""#), (#""root""#, #","expires":"5m""#),
    ])
    func `a first key that cannot administer is made when that is confirmed only`(_ roles: String, _ more: String) throws {
        let server = try server()
        let answer = try make(server, roles, more)
        #expect(answer.status == 422 && answer.code == "invalid_parameter", "\(answer.text)")
        #expect(answer.json["parameter"]?.text == "confirm" && answer.json["detail"]?.text?.contains("no-administrator") == true)
        #expect(!server.file.exists)
        #expect(try make(server, roles, more, "?confirm=yes").code == "invalid_parameter")
        #expect(try make(server, roles, more, "?confirm=no-administrator").status == 201)
        #expect(try server.request("GET", "/admin/keys").status == 401)
    }

    @Test func `a first key administers by any role that does, and later keys need not`() throws {
        let server = try server()
        let root = try text(try make(server, #""root""#, #","from":["127.0.0.0/8"]"#))
        #expect(try make(server, #""clerk""#, "", "", root).status == 201)
        #expect(try server.request("GET", "/admin/keys?confirm=no-administrator", root).code == "unknown_parameter")
    }

    /// Each of several used to be made, as all had been admitted before the first one was.
    @Test func `of several requests for a first key at the same time, one makes it`() throws {
        for round in 0..<5 {
            let server = try server()
            let answers = (0..<8).map { _ in Awaited<HTTPClient.Answer?>() }
            for (index, answer) in answers.enumerated() {
                let role = index.isMultiple(of: 2) ? #""root""# : #""admin""#
                Threads.spawn("first key") {
                    answer.set(
                        try? server.request("POST", "/admin/keys", body: #"{"name":"a","roles":[\#(role)]}"#))
                }
            }
            let codes = try answers.map { try $0.wait()?.status }.sorted { $0 ?? 0 < $1 ?? 0 }
            #expect(codes == [201] + Array(repeating: 401, count: 7), "round \(round)")
            #expect(try server.file.read()?.count == 1)
        }
    }

    @Test func `a key is no first one where a socket administers`() throws {
        let path = NSTemporaryDirectory() + "rr-\(UUID().uuidString.prefix(8)).sock"
        let server = try server(Self.roles + "admin: unix:\(path)\n")
        #expect(try make(server, #""read""#).status == 201)
    }

    @Test func `the last key that administers is revoked when that is confirmed only`() throws {
        let server = try server()
        let (first, second) = (try server.add("first"), try server.add("second", roles: ["root"]))
        _ = try server.add("old", expires: APIKey.now - 10)
        _ = try server.add("part", realm: "notes")
        #expect(try server.request("DELETE", "/admin/keys/\(first.id)", first).status == 204)
        let refused = try server.request("DELETE", "/admin/keys/\(second.id)", second)
        #expect(refused.status == 422 && refused.json["parameter"]?.text == "confirm", "\(refused.text)")
        #expect(try server.request("GET", "/admin/keys", second).status == 200)
        #expect(try server.request("DELETE", "/admin/keys/\(second.id)?confirm=no-administrator", second).status == 204)
    }

    @Test func `of two keys that are revoked at the same time, the last one stays`() async throws {
        let read = try options(Self.roles)
        for _ in 0..<20 {
            let folder = try KeyServer.makeFolder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let file = KeyFile(dataFolder: folder)
            let texts = [APIKeyText(), APIKeyText()]
            for text in texts { try file.add(APIKey(text, name: "a", roles: ["root"])) }
            let check = CredentialCheck(read)
            await withTaskGroup(of: Void.self) { group in
                for text in texts { group.addTask { try? file.revoke(text.id, check) } }
                await group.waitForAll()
            }
            #expect(try file.read()?.count == 1)
        }
    }

    @Test func `a stored key with a role that does not exist stops the start`() throws {
        let key = APIKeyText()
        let prepare = { (file: KeyFile) in try file.add(APIKey(key, name: "shop", roles: ["clerk"])) }
        #expect(throws: RealmServer.Failure.self) { try KeyServer(prepare) }
        let read = try options(Self.roles)
        _ = try KeyServer(prepare, change: { $0.roles = read.roles })
        // One that has expired is good for nothing anyway.
        _ = try KeyServer({ file in try file.add(APIKey(key, name: "shop", roles: ["clerk"], expires: APIKey.now - 1)) })
    }

    @Test(arguments: [
        (
            "credentials:\n  jwt:\n    - issuer: a\n      audience: b\n      jwks: \"file:k\"\n      roles: [viewr]\n", 7,
            "no role 'viewr'"
        ),
        (
            "tls: {selfSigned: true, clientCA: ca.pem}\ncertificates:\n  - subject: CN=x\n    name: x\n    roles: [clrk]\n", 6,
            "no role 'clrk'; did you mean 'clerk'?"
        ),
    ])
    func `a configuration names no role that does not exist`(_ text: String, _ line: Int, _ message: String) throws {
        let folder = try KeyServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(#"{"keys":[]}"#.utf8).write(to: URL(fileURLWithPath: folder + "/k"))
        try Data().write(to: URL(fileURLWithPath: folder + "/ca.pem"))
        var configuration = Configuration()
        try configuration.apply(text: "roles: {clerk: {}}\n" + text, ofFile: folder + "/realm-rest.yaml")
        let error = try #require(throws: ConfigurationError.self) { try configuration.check() }
        #expect("\(error)".contains(message), "\(error)")
    }
}

/// Configurations that are read again, and the command, where roles of keys are lost.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct KeyRoleProcessTests {
    private static let base = "listen: {port: 0}\nlog: {format: none}\ndata: data\n"

    private func run(_ arguments: [String], in folder: String) throws -> (status: Int32, output: String, error: String) {
        let process = Process()
        let (output, error) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: try #require(ServerProcess.executable))
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        (process.standardOutput, process.standardError) = (output, error)
        try process.run()
        process.waitUntilExit()
        let text = { (pipe: Pipe) in String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
        return (process.terminationStatus, text(output), text(error))
    }

    private func folder(_ text: String) throws -> String {
        let folder = try KeyServer.makeFolder()
        try FileManager.default.createDirectory(atPath: folder + "/data", withIntermediateDirectories: true)
        try Data((Self.base + text).utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
        return folder
    }

    @Test func `the command makes no key with a role that does not exist, and no first one that cannot administer`() throws {
        let folder = try folder("roles: {clerk: {}, root: {administer: true}}\n")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let misspelt = try run(["keys", "add", "me", "--role", "admn"], in: folder)
        #expect(
            misspelt.status == 1 && misspelt.output.isEmpty && misspelt.error.contains("did you mean 'admin'?"), "\(misspelt)")
        // Without the configuration its roles are unknown, and the message says so.
        let elsewhere = try run(["keys", "add", "me", "--role", "clerk", "--data", folder + "/data"], in: "/")
        #expect(elsewhere.status == 1 && elsewhere.error.contains("--config FILE"), "\(elsewhere)")
        let first = try run(["keys", "add", "me", "--role", "clerk"], in: folder)
        #expect(first.status == 1 && first.error.contains("--confirm no-administrator"), "\(first)")
        #expect(!KeyFile(dataFolder: folder + "/data").exists)
        let root = try run(["keys", "add", "me", "--role", "root"], in: folder)
        #expect(root.status == 0, "\(root)")
        let both = try run(
            ["keys", "add", "c", "--role", "clerk", "--data", folder + "/data", "--config", folder + "/realm-rest.yaml"], in: "/")
        #expect(both.status == 0, "\(both)")
        let id = String(root.output.dropFirst(3).prefix(8))
        let last = try run(["keys", "revoke", id], in: folder)
        #expect(last.status == 1 && last.error.contains("the last key that administers"), "\(last)")
        #expect(try run(["keys", "revoke", id, "--confirm", "no-administrator"], in: folder).status == 0)
    }

    @Test(arguments: ["roles: {root: {}}\n", "roles: {}\n"])
    func `a reload that takes a role of a key away, or the last right to administer, is refused`(_ text: String) throws {
        let folder = try folder("roles: {root: {administer: true}}\n")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let key = APIKeyText()
        try KeyFile(dataFolder: folder + "/data").add(APIKey(key, name: "root", roles: ["root"]))
        let program = try #require(ServerProcess.executable)
        let server = try ServerProcess(command: "cd '\(folder)' && exec '\(program)' serve")
        let headers = [("Authorization", "Bearer " + key.text)]
        try Data((Self.base + text).utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
        let answer = try HTTPClient.request(port: server.port, "POST", "/admin/reload", headers: headers)
        #expect(answer.status == 422, "\(answer.text)")
        #expect(try HTTPClient.request(port: server.port, "GET", "/admin/keys", headers: headers).status == 200)
        #expect(server.stop() == 0)
        let check = try run(["config", "check", "realm-rest.yaml"], in: folder)
        if text.contains("root") {
            #expect(check.status == 0)
        } else {
            #expect(check.status == 1 && check.error.contains("no role 'root'"))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Realms that were attached over HTTP are served by the next server over the same data folder.
@Suite struct AttachedRealmsTests {
    /// Starts another server over the folder of one that was stopped.
    private func restarted<Result>(_ folder: String, _ body: (Int) throws -> Result) throws -> Result {
        var options = ServerOptions()
        (options.port, options.logFormat, options.graceSeconds, options.dataFolder) = (0, nil, 0, folder)
        options.attachRoots = [NSTemporaryDirectory()]
        let server = try RealmServer(options)
        try server.start()
        defer { server.stop() }
        return try body(server.daemon.socket.port)
    }

    private func send(_ port: Int, _ method: String, _ path: String, _ body: String? = nil) throws -> HTTPClient.Answer {
        try HTTPClient.request(
            port: port, method, "/v1/realms" + path, headers: body == nil ? [] : [WriteServer.json],
            body: body.map { Array($0.utf8) })
    }

    @Test func `a part of a file of the data folder that was attached under another name stays a part after a restart`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            let part = #"{"name":"part","path":"\#(server.folder)/app.realm","classes":["Dog"]}"#
            #expect(try server.attach(part).status == 201)
            server.server.stop()
            try restarted(server.folder) { port in
                #expect(try send(port, "GET", "").json["items"]?.elements?.map { $0["name"]?.text } == ["part"])
                let classes = try send(port, "GET", "/part/schema").json["classes"]?.elements ?? []
                #expect(classes.map { $0["name"]?.text } == ["Chip", "Dog"])
                #expect(try send(port, "GET", "/app/schema").code == "realm_not_found")
            }
        }
    }

    @Test func `attached realms and their options survive a restart, keys do not`() throws {
        let elsewhere = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: elsewhere) }
        try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: elsewhere + "/far.realm")
        try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: elsewhere + "/gone.realm")
        let key = String(repeating: "ab", count: 64)
        let wrong = String(repeating: "cd", count: 64)
        let schema = #"{"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}"#
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.attach(#"{"name":"far","path":"\#(elsewhere)/far.realm","mode":"ro"}"#).status == 201)
            #expect(try server.attach(#"{"name":"gone","path":"\#(elsewhere)/gone.realm"}"#).status == 201)
            #expect(try server.attach(#"{"name":"secret","encryptionKey":"\#(key)","schema":\#(schema)}"#).status == 201)
            #expect(try server.attach(#"{"name":"heap","inMemory":"heap","schema":\#(schema)}"#).status == 201)
            #expect(try server.send("POST", "secret/objects/Item", #"{"id":7}"#).status == 201)
            #expect(try server.send("DELETE", "gone").status == 204)
            let file = server.folder + "/.realm-rest/realms.json"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains(elsewhere) && !text.contains(key) && !text.contains("gone") && !text.contains("heap"))
            let permissions = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
            server.server.stop()
            try restarted(server.folder) { port in
                let states = try send(port, "GET", "").json["items"]?.elements ?? []
                #expect(states.map { $0["name"]?.text } == ["app", "far", "secret"])
                #expect(states.map { $0["state"]?.text } == ["closed", "closed", "failed"])
                #expect(states.last?["problem"]?["code"]?.text == "encryption_key_required")
                #expect(try HTTPClient.request(port: port, "GET", "/readyz").status == 200)
                // It is opened with its options.
                #expect(try send(port, "GET", "/far/schema").status == 200)
                let far = try send(port, "GET", "/far").json
                #expect(far["mode"]?.text == "ro" && far["options"]?["mode"]?.text == "ro")
                #expect(try send(port, "GET", "/secret/objects/Item/7").code == "encryption_key_required")
                #expect(try send(port, "PUT", "/secret/key", #"{"encryptionKey":"\#(wrong)"}"#).code == "encryption_key_wrong")
                #expect(try send(port, "PUT", "/secret/key", #"{"encryptionKey":"short"}"#).code == "invalid_body")
                #expect(try send(port, "PUT", "/secret/key", "{}").code == "invalid_body")
                #expect(try send(port, "PUT", "/nobody/key", #"{"encryptionKey":"\#(key)"}"#).code == "realm_not_found")
                let opened = try send(port, "PUT", "/secret/key", #"{"encryptionKey":"\#(key)"}"#)
                #expect(opened.status == 204, "\(opened.text)")
                #expect(try send(port, "GET", "/secret/objects/Item/7").status == 200)
                #expect(try send(port, "PUT", "/secret/key", #"{"encryptionKey":"\#(key)"}"#).code == "already_attached")
                #expect(try send(port, "DELETE", "/far").status == 204)
            }
            // A file that is no list is reported, and left as it is.
            try Data("{".utf8).write(to: URL(fileURLWithPath: file))
            try restarted(server.folder) { port in
                let names = (try send(port, "GET", "").json["items"]?.elements ?? []).map { $0["name"]?.text }
                #expect(names == ["app", "secret"])
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("{".utf8))
            try FileManager.default.removeItem(atPath: server.folder + "/secret.realm")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Exports and schemas for those who may see a part: nothing looks whole that is not.
@Suite struct ExportRightsTests {
    private static let roles = """
        roles:
          looker: {realms: {notes: {classes: {Note: [read], Box: [create], Tag: [read]}}}}
          taker: {realms: {notes: {classes: {Note: [read, export], Tag: [read], Box: [create]}}}}
          keeper: {realms: {notes: {classes: {Note: [read]}, export: true}}}
          owner: {realms: {notes: {classes: {Note: {allow: [read], where: "owner == $claims.sub"}}, export: true}}}
          blind: {realms: {notes: {classes: {Note: {allow: [read, export], fields: {hide: [owner]}}}}}}
          all: {realms: {"*": {classes: {"*": [read]}, export: true}}}
          most: {realms: {"*": {classes: {"*": [read], Log: []}, export: true}}}
        """
    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Note","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"owner","type":"string"}]},
        {"name":"Tag","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]},
        {"name":"Box","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]},
        {"name":"Log","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]}]}
        """
    private static let formats = ["ndjson", "json", "sqlite", "xlsx", "postgresql", "csv", "ejson"]

    /// A server with the realm `notes`, and the key of an administrator.
    private func server() throws -> (KeyServer, admin: APIKeyText) {
        var configuration = Configuration()
        try configuration.apply(text: Self.roles, ofFile: "/realm-rest.yaml")
        let roles = configuration.options.roles
        let server = try KeyServer(change: { $0.roles = roles })
        let admin = try server.add("admin")
        _ = try server.request("DELETE", "/v1/realms/notes", admin)
        let body = #"{"name":"notes","inMemory":"notes","schema":\#(Self.schema)}"#
        try #require(try server.request("POST", "/v1/realms", admin, body: body).status == 201)
        let notes = #"[{"_id":1,"owner":"ann"},{"_id":2,"owner":"bob"}]"#
        try #require(try server.request("POST", "/v1/realms/notes/objects/Note", admin, body: notes).status == 201)
        return (server, admin)
    }

    private func export(_ server: KeyServer, _ key: APIKeyText, _ query: String = "") throws -> HTTPClient.Answer {
        try server.request("GET", "/v1/realms/notes/export\(query)", key)
    }

    @Test func `who may export nothing gets no export, in any form`() throws {
        let (server, _) = try server()
        let key = try server.add("ann", roles: ["looker"])
        for format in Self.formats {
            for query in ["?format=\(format)", "?format=\(format)&class=Note", "?format=\(format)&class=Log"] {
                let answer = try export(server, key, query)
                #expect(answer.status == 403 && answer.code == "forbidden", "\(query): \(answer.text)")
            }
        }
    }

    @Test func `a class with other rights is forbidden, and one without any is not there`() throws {
        let (server, _) = try server()
        let key = try server.add("ann", roles: ["taker"])
        #expect(try export(server, key, "?class=Note").status == 200)
        for name in ["Tag", "Box"] {
            #expect(try export(server, key, "?class=\(name)").code == "forbidden", "\(name)")
        }
        let hidden = try export(server, key, "?class=Log")
        let missing = try export(server, key, "?class=Lag")
        #expect(hidden.status == 404 && hidden.code == "class_not_found" && hidden.text.count == missing.text.count)
    }

    @Test(arguments: ["taker", "keeper", "owner", "blind", "most"])
    func `an export of a part says so`(_ role: String) throws {
        let (server, _) = try server()
        let key = try server.add("ann", roles: [role])
        for format in Self.formats {
            let needsClass = ["csv", "ejson"].contains(format)
            let answer = try export(server, key, "?format=\(format)" + (needsClass ? "&class=Note" : ""))
            #expect(answer.status == 200 && answer["Realm-Partial"] == "rights", "\(format): \(answer.status)")
            #expect(answer["Content-Disposition"]?.contains("notes-part.") == true)
        }
        // The map of a database names the classes and properties that it holds, and nothing hidden.
        let database = String(decoding: try export(server, key, "?format=sqlite").body, as: UTF8.self)
        #expect(database.contains("_realm_names") && database.contains("Note") && !database.contains("Log"))
        if role == "blind" { #expect(!database.contains("owner")) }
        #expect(try export(server, key).text.split(separator: "\n").first?.contains(#""partial":true"#) == true)
        #expect(try export(server, key, "?format=json").json["partial"] == .bool(true))
        for path in ["schema", "schema?format=swift", "openapi.json"] {
            #expect(try server.request("GET", "/v1/realms/notes/\(path)", key)["Realm-Partial"] == "rights", "\(path)")
        }
    }

    @Test func `an export of everything does not`() throws {
        let (server, admin) = try server()
        for key in [admin, try server.add("all", roles: ["all"]), try server.add("reader", roles: ["read"])] {
            let answer = try export(server, key)
            #expect(answer.status == 200 && answer["Realm-Partial"] == nil && !answer.text.contains("partial"))
            #expect(answer["Content-Disposition"]?.contains("notes.ndjson") == true)
            #expect(try server.request("GET", "/v1/realms/notes/schema", key)["Realm-Partial"] == nil)
        }
    }

    @Test func `a part is imported as any export, and what is hidden changes nothing about the header`() throws {
        let (server, admin) = try server()
        let key = try server.add("ann", roles: ["owner"])
        let part = try export(server, key)
        #expect(part["Realm-Partial"] == "rights" && !part.text.contains("bob"))
        _ = try server.request("DELETE", "/v1/realms/notes/objects/Note/2", admin)
        #expect(try export(server, key)["Realm-Partial"] == "rights")
        let made = try server.request("POST", "/v1/realms", admin, body: #"{"name":"again","inMemory":"again"}"#)
        #expect(made.status == 201)
        let back = try server.request(
            "POST", "/v1/realms/again/import", admin, [("Content-Type", "application/x-ndjson")], body: part.text)
        #expect(back.status == 200 || back.status == 201, "\(back.text)")
    }
}

// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What the holders of roles see over HTTP, and what is refused to them.
@Suite struct ScopedReadTests {
    private static let roles = """
        roles:
          clerk:
            realms:
              notes:
                classes:
                  Note: {allow: [read, subscribe, update], where: "owner == $claims.sub", fields: {hide: [secret]}}
                  Tag: [read]
        """
    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Note","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"owner","type":"string","indexed":"general"},
        {"name":"secret","type":"string"},{"name":"next","type":"object","objectType":"Note"},
        {"name":"tags","type":"object","collection":"list","objectType":"Tag"},{"name":"log","type":"object","objectType":"Log"}]},
        {"name":"Tag","primaryKey":"name","properties":[{"name":"name","type":"string"}]},
        {"name":"Log","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]}]}
        """

    /// A server with notes of two owners, and the keys of an administrator, of `ann` and of somebody without a role.
    private func server() throws -> (KeyServer, admin: APIKeyText, ann: APIKeyText) {
        var configuration = Configuration()
        try configuration.apply(text: Self.roles, ofFile: "/realm-rest.yaml")
        let roles = configuration.options.roles
        let server = try KeyServer(change: { $0.roles = roles })
        let admin = try server.add("admin")
        _ = try server.request("DELETE", "/v1/realms/notes", admin)
        let made = try server.request(
            "POST", "/v1/realms", admin, body: #"{"name":"notes","inMemory":"notes","schema":\#(Self.schema)}"#)
        try #require(made.status == 201, "\(made.text)")
        let body = """
            [{"_id":1,"owner":"ann","secret":"x","tags":[],"log":null},{"_id":2,"owner":"bob","secret":"y"},
            {"_id":3,"owner":"ann","secret":"z"},{"_id":4,"owner":"bob","secret":"ann"}]
            """
        try #require(try server.request("POST", "/v1/realms/notes/objects/Note", admin, body: body).status == 201)
        let link = try server.request(
            "PATCH", "/v1/realms/notes/objects/Note/1", admin, body: #"{"next":{"$link":{"class":"Note","key":"2"}}}"#)
        try #require(link.status == 200, "\(link.text)")
        return (server, admin, try server.add("ann", roles: ["clerk"]))
    }

    @Test func `lists, objects, counts and queries have what the rule shows, without hidden properties`() throws {
        let (server, _, ann) = try server()
        let list = try server.request("GET", "/v1/realms/notes/objects/Note", ann)
        #expect(list.status == 200 && !list.text.contains("secret") && !list.text.contains("bob"), "\(list.text)")
        #expect(list.json["items"]?.elements?.count == 2)
        #expect(try server.request("GET", "/v1/realms/notes/objects/Note/1", ann).json["next"] == .null)
        for path in ["Note/2", "Note/@k1", "Note/9"] {
            #expect(try server.request("GET", "/v1/realms/notes/objects/\(path)", ann).code == "object_not_found", "\(path)")
        }
        for query in ["where=secret%20==%20'x'", "sort=secret", "fields=secret", "where=log%20==%20null"] {
            let answer = try server.request("GET", "/v1/realms/notes/objects/Note?\(query)", ann)
            #expect(answer.code == "unknown_key_path", "\(query): \(answer.text)")
        }
        let none = try server.request("GET", "/v1/realms/notes/objects/Note?where=owner%20==%20'bob'", ann)
        #expect(none.json["items"]?.elements?.isEmpty == true)
        let explained = try server.request("GET", "/v1/realms/notes/objects/Note?explain=true", ann)
        #expect(explained.text.contains("visible objects") && !explained.text.contains("owner"), "\(explained.text)")
    }

    @Test func `classes and realms without a right are not there, and what is no part of the rights is refused`() throws {
        let (server, admin, ann) = try server()
        #expect(try server.request("GET", "/v1/realms/notes/objects/Log", ann).code == "class_not_found")
        #expect(try server.request("GET", "/v1/realms/other/objects/Log", ann).code == "realm_not_found")
        let schema = try server.request("GET", "/v1/realms/notes/schema", ann)
        #expect(
            schema.status == 200 && !schema.text.contains("Log") && !schema.text.contains("secret") && schema.text.contains("Tag")
        )
        #expect(!(try server.request("GET", "/v1/realms/notes/openapi.json", ann).text.contains("secret")))
        // Tags may be read, but not observed.
        for path in ["changes?class=Tag", "changes?class=Tag&where=name%20==%20'x'", "changes?class=Tag&wait=0"] {
            #expect(try server.request("GET", "/v1/realms/notes/" + path, ann).code == "forbidden", "\(path)")
        }
        let registered = try server.request(
            "POST", "/v1/realms/notes/subscriptions", ann, body: #"{"subscriptions":{"tags":{"class":"Tag"}}}"#)
        #expect(registered.code == "forbidden", "\(registered.text)")
        #expect(try server.request("GET", "/v1/realms/notes/changes?class=Log", ann).code == "class_not_found")
        for (method, path) in [
            ("POST", "/v1/realms"), ("DELETE", "/v1/realms/notes"),
            ("POST", "/v1/realms/notes/backup"), ("GET", "/v1/realms/notes/backup"),
            ("DELETE", "/v1/realms/notes/objects/Note/1"),
            ("POST", "/v1/realms/notes/transactions"), ("POST", "/v1/realms/notes/compact"),
        ] {
            #expect(try server.request(method, path, ann).code == "forbidden", "\(method) \(path)")
        }
        #expect(try server.request("GET", "/v1/realms/notes/objects/Note", admin).json["items"]?.elements?.count == 4)
    }

    @Test func `a role that administers does so whatever its name is`() throws {
        var configuration = Configuration()
        try configuration.apply(text: "roles: {operator: {administer: true}}", ofFile: "/realm-rest.yaml")
        let roles = configuration.options.roles
        let server = try KeyServer(change: { $0.roles = roles })
        let (whole, part) = (
            try server.add("whole", roles: ["operator"]), try server.add("part", roles: ["operator"], realm: "notes")
        )
        for path in ["/v1/realms", "/admin/config", "/metrics"] {
            #expect(try server.request("GET", path, whole).status == 200, "\(path)")
            guard path != "/v1/realms" else { continue }
            #expect(try server.request("GET", path, part).status >= 403, "\(path)")
        }
        #expect(try server.request("GET", "/v1/realms", part).json["items"]?.elements?.map { $0["name"]?.text } == ["notes"])
        #expect(try server.request("GET", "/v1/realms/notes/schema", part).status == 200)
        #expect(try server.request("GET", "/v1/realms/other/schema", part).code == "realm_not_found")
    }

    @Test func `a kept answer is not given to somebody else`() throws {
        let (server, admin, ann) = try server()
        for _ in 0..<3 {
            #expect(
                try server.request("GET", "/v1/realms/notes/objects/Note?limit=10", admin).json["items"]?.elements?.count == 4)
            #expect(try server.request("GET", "/v1/realms/notes/objects/Note?limit=10", ann).json["items"]?.elements?.count == 2)
        }
    }
}

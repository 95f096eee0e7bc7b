// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// What `/v1/me` says a client may do.
@Suite struct RightsSummaryTests {
    private static let roles = """
        roles:
          clerk:
            realms:
              app:
                classes:
                  A: {allow: [subscribe, read, update, create], where: "owner == $claims.sub"}
                  B: [read]
                  D: []
              "other*": {classes: {"*": [delete]}}
              nothing: {transactions: true}
              data: {classes: {"*": [read]}}
          broken: {realms: {app: {classes: {A: {allow: [read], where: "nothing == 1"}, B: [export]}}}}
          mover: {realms: {app: {migrate: true}}}
        """
    private static let classes = """
        {"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"owner","type":"string"}]},
        {"name":"B","primaryKey":"id","properties":[{"name":"id","type":"int"}]},
        {"name":"C","type":"embedded","properties":[{"name":"n","type":"int"}]},
        {"name":"D","primaryKey":"id","properties":[{"name":"id","type":"int"}]}
        """
    private static let all = #"["read","create","update","delete","subscribe","export","import"]"#

    private func server(_ more: String = "") throws -> (KeyServer, APIKeyText) {
        let server = try KeyServer(statingRoles: Self.roles + more) { options in
            options.memoryRealms = ["app", "other1", "nothing"]
        }
        let admin = try server.add("admin")
        try server.attach("app", Self.classes, admin)
        return (server, admin)
    }

    private func may(_ server: KeyServer, _ key: APIKeyText?, _ headers: [(String, String)] = []) throws -> String? {
        let me = try server.request("GET", "/v1/me", key, headers).json
        #expect(me["more"] == nil)
        return me["may"]?.canonical
    }

    @Test func `every principal sees its own rights in open realms, and nothing of others`() throws {
        let (server, admin) = try server("\n  anonymous: {realms: {app: {classes: {B: [read]}}}}")
        let everything = "{\"A\":\(Self.all),\"B\":\(Self.all),\"D\":\(Self.all)}"
        let rows: [([String], String?, String)] = [
            (["admin"], nil, "{\"app\":\(everything),\"nothing\":{},\"other1\":{}}"),
            (["admin"], "app", "{\"app\":\(everything)}"), (["admin"], "gone", "{}"),
            (["clerk"], nil, #"{"app":{"A":["read","create","update","subscribe"],"B":["read"]},"other1":{}}"#),
            (["clerk"], "other1", #"{"other1":{}}"#), (["clerk"], "nothing", "{}"),
            (["broken"], nil, #"{"app":{"B":["export"]}}"#), (["mover"], nil, #"{"app":{}}"#), (["unknown"], nil, "{}"),
            (["broken", "clerk"], "app", #"{"app":{"A":["read","create","update","subscribe"],"B":["read","export"]}}"#),
        ]
        for (roles, realm, expected) in rows {
            let key = try server.add("k", roles: roles, realm: realm)
            #expect(try may(server, key) == (try ParsedJSON(parsing: expected)).canonical, "\(roles) \(realm ?? "")")
        }
        #expect(try may(server, nil) == (try ParsedJSON(parsing: #"{"app":{"B":["read"]}}"#)).canonical)
        // What a list says and what may be done are the same.
        for roles in [["clerk"], ["mover"], ["unknown"]] {
            let key = try server.add("k", roles: roles)
            let listed = try server.request("GET", "/v1/realms", key).json["items"]?.elements?.compactMap { $0["name"]?.text }
            #expect(try server.request("GET", "/v1/me", key).json["may"]?.members?.map(\.name).sorted() == listed?.sorted())
        }
        withExtendedLifetime(admin) {}
    }

    @Test func `no realm is opened for it`() throws {
        let (server, admin) = try server()
        let made = try server.request("POST", "/v1/realms", admin, body: #"{"name":"data","schema":{"classes":[]}}"#)
        #expect(made.status == 201, "\(made.text)")
        let clerk = try server.add("clerk", roles: ["clerk"])
        let may = { (key: APIKeyText) in try self.may(server, key) }
        let open = try [clerk, admin].map(may)
        #expect(try server.request("GET", "/v1/me", clerk).json["may"]?["data"] != nil)
        #expect(eventually { server.server.state.catalog.closeIfUnused("data") })
        // The schema is read from the file.
        #expect(try [clerk, admin].map(may) == open)
        #expect(server.server.state.catalog["data"]?.isClosed == true)
        try Data("rubbish".utf8).write(to: URL(fileURLWithPath: server.folder + "/data.realm"))
        for key in [clerk, admin] {
            let me = try server.request("GET", "/v1/me", key).json
            // What is left out is not taken for nothing.
            #expect(me["may"]?["data"] == nil && me["more"]?.bool == true)
        }
        let stranger = try server.add("mover", roles: ["mover"])
        #expect(try server.request("GET", "/v1/me", stranger).json["more"] == nil)
        #expect(server.server.state.catalog["data"]?.isClosed == true)
    }

    @Test func `it ends at a number of realms and of classes, and says so`() throws {
        let names = (100..<205).map { "r\($0)" }
        let many = try KeyServer(statingRoles: "roles: {r: {realms: {\"*\": {classes: {\"*\": [read]}}}}}") { options in
            options.memoryRealms = names
        }
        let (admin, key) = (try many.add("admin"), try many.add("r", roles: ["r"]))
        for one in [admin, key] {
            let me = try many.request("GET", "/v1/me", one).json
            #expect(me["may"]?.members?.map(\.name) == Array(names.prefix(100)) && me["more"]?.bool == true)
        }
        let only = try many.add("only", roles: ["r"], realm: "r204")
        #expect(try may(many, only) == #"{"r204":{}}"#)
    }

    @Test func `it ends at a number of classes`() throws {
        let server = try KeyServer(statingRoles: "roles: {r: {realms: {\"*\": {classes: {\"*\": [read]}}}}}") { options in
            options.memoryRealms = []
        }
        let (admin, key) = (try server.add("admin"), try server.add("r", roles: ["r"]))
        let classes = (0..<501).map { #"{"name":"C\#($0)","properties":[{"name":"n","type":"int"}]}"# }.joined(separator: ",")
        let schema = #"{"schemaVersion":1,"classes":[\#(classes)]}"#
        try server.post("", admin, #"{"name":"a","inMemory":"shared","schema":\#(schema)}"#)
        // A second name of the same data.
        try server.post("", admin, #"{"name":"b","inMemory":"shared"}"#)
        let me = try server.request("GET", "/v1/me", key).json
        #expect(me["may"]?["a"]?.members?.count == 501 && me["may"]?["b"]?.members?.count == 499)
        #expect(me["more"]?.bool == true)
    }

    @Test func `without credentials it depends on where the request comes from`() throws {
        let server = try KeyServer(change: { $0.isInsecure = true })
        try server.makeNotes(nil)
        let all = (try ParsedJSON(parsing: "{\"notes\":{\"Note\":\(Self.all)},\"other\":{}}")).canonical
        #expect(try may(server, nil) == all)
        let strange = [("X-Forwarded-For", "192.0.2.1")]
        let expected = #"{"notes":{"Note":["read","subscribe","export"]},"other":{}}"#
        #expect(try may(server, nil, strange) == (try ParsedJSON(parsing: expected)).canonical)
        let closed = try KeyServer(change: { $0.administersOnMain = false })
        #expect(try may(closed, nil) == #"{"notes":{},"other":{}}"#)
        #expect(try may(closed, nil, strange) == "{}")
    }
}

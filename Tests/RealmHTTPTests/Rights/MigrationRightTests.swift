// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Who may change a schema: those with `migrate` who see everything, and nobody else.
@Suite struct MigrationRightTests {
    private static let roles = """
        roles:
          shaper: {realms: {"*": {classes: {"*": [read]}, migrate: true}}}
          mender: {realms: {"*": {classes: {"*": [read, create, update, delete]}, migrate: true}}}
          reader: {realms: {"*": {classes: {"*": [read, create, update, delete]}}}}
          part: {realms: {"*": {classes: {"*": [read], Secret: []}, migrate: true}}}
          rows: {realms: {"*": {classes: {"*": {allow: [read, create, update, delete], where: "id > 1"}}, migrate: true}}}
          fields: {realms: {"*": {classes: {"*": [read], Note: {allow: [read], fields: {hide: [text]}}}, migrate: true}}}
          checked: {realms: {"*": {classes: {"*": {allow: [read, create, update, delete], check: "id > 1"}}, migrate: true}}}
          blind: {realms: {"*": {migrate: true}}}
        """
    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Note","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"text","type":"string","optional":true}]},
        {"name":"Secret","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}
        """

    /// Steps that change the schema alone, and those that choose objects.
    private static let schemaSteps = [
        #"{"addClass":{"name":"New","properties":[{"name":"a","type":"int"}]}}"#,
        #"{"addProperty":{"class":"Note","property":{"name":"more","type":"int"},"value":3}}"#,
        #"{"renameProperty":{"class":"Note","name":"text","to":"words"}}"#,
        #"{"setIndex":{"class":"Note","name":"text","indexed":"general"}}"#,
    ]
    private static let objectSteps = [
        #"{"set":{"class":"Note","where":"TRUEPREDICATE","values":{"text":"x"}}}"#,
        #"{"create":{"class":"Note","body":{"id":9}}}"#,
        #"{"delete":{"class":"Secret","where":"TRUEPREDICATE"}}"#,
        #"{"forEach":{"class":"Note","as":"n","steps":[{"create":{"class":"Secret","body":{"id":{"$expr":"n.id + 100"}}}}]}}"#,
    ]

    /// A server with two notes and a secret, and the key of a role.
    private func withServer(_ role: String, _ body: (KeyServer, APIKeyText) throws -> Void) throws {
        var configuration = Configuration()
        try configuration.apply(text: MigrationRightTests.roles, ofFile: "/realm-rest.yaml")
        let book = configuration.options.roles
        let server = try KeyServer(change: { ($0.roles, $0.memoryRealms) = (book, []) })
        let admin = try server.add("boss")
        let realm = #"{"name":"app","inMemory":"app","schema":\#(MigrationRightTests.schema)}"#
        try #require(try server.request("POST", "/v1/realms", admin, body: realm).status == 201)
        for (name, objects) in [("Note", #"[{"id":1},{"id":2}]"#), ("Secret", #"[{"id":1}]"#)] {
            try #require(try server.request("POST", "/v1/realms/app/objects/\(name)", admin, body: objects).status == 201)
        }
        try body(server, try server.add(role, roles: [role]))
    }

    /// What a migration of one step is answered in a dry run.
    private func tried(_ step: String, _ server: KeyServer, _ key: APIKeyText) throws -> HTTPClient.Answer {
        let body = #"{"fromVersion":1,"toVersion":2,"allowDataLoss":true,"steps":[\#(step)]}"#
        return try server.request("POST", "/v1/realms/app/migrations?dryRun=true", key, body: body)
    }

    @Test(arguments: ["shaper", "mender"])
    func `whoever may migrate and reads everything changes the schema`(_ role: String) throws {
        try withServer(role) { server, key in
            for step in MigrationRightTests.schemaSteps {
                let answer = try tried(step, server, key)
                #expect(answer.status == 200, "\(step): \(answer.text)")
            }
            let body = #"{"fromVersion":1,"toVersion":2,"steps":[\#(MigrationRightTests.schemaSteps[0])]}"#
            #expect(try server.request("POST", "/v1/realms/app/migrations", key, body: body).status == 200)
            #expect(try server.request("GET", "/v1/realms/app/schema/New", key).status == 200)
        }
    }

    @Test(arguments: ["shaper", "mender", "checked"])
    func `steps that choose objects need all rights in all classes`(_ role: String) throws {
        try withServer(role) { server, key in
            for step in MigrationRightTests.objectSteps {
                let answer = try tried(step, server, key)
                #expect(answer.status == (role == "mender" ? 200 : 403), "\(step): \(answer.text)")
            }
        }
    }

    @Test(arguments: ["reader", "part", "rows", "fields", "blind"])
    func `whoever does not see everything, or has no right to it, changes nothing`(_ role: String) throws {
        try withServer(role) { server, key in
            for step in MigrationRightTests.schemaSteps + MigrationRightTests.objectSteps {
                let answer = try tried(step, server, key)
                #expect(answer.status == 403, "\(step): \(answer.text)")
                #expect(!answer.text.contains("Secret") && !answer.text.contains("text"), "\(answer.text)")
            }
            // A body that has faults of its own tells nothing of the schema either.
            let wrong = try tried(#"{"removeClass":{"name":"Secret"}}"#, server, key)
            let absent = try tried(#"{"removeClass":{"name":"Absent"}}"#, server, key)
            #expect(wrong.status == 403 && absent.status == 403)
            #expect(wrong.json["detail"]?.text == absent.json["detail"]?.text)
        }
    }
}

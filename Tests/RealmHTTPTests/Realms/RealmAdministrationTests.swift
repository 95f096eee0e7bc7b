// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Creating, attaching, migrating and detaching realms. Features A21, A53–A57, C7.
@Suite struct RealmAdministrationTests {
    private static let schema = """
        {"schemaVersion":2,"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"},
        {"name":"first","type":"string"},{"name":"last","type":"string"},{"name":"count","type":"int","optional":true}]}]}
        """

    private func withServer(_ body: (WriteServer) throws -> Void) throws { try withWriteServer(WriteServer.classes, body) }

    @Test func `a realm is made from a schema, and gives the same schema back`() throws {
        try withServer { (server: WriteServer) throws in
            let answer = try server.send("POST", "", "", [])
            #expect(answer.status == 404)
            let created = try post(server, #"{"name":"shop","schema":\#(RealmAdministrationTests.schema)}"#)
            #expect(created.status == 201)
            #expect(created["Location"] == "/v1/realms/shop")
            #expect(created.json["schemaVersion"]?.int == 2)
            #expect(created.json["mode"]?.text == "rw")
            let schema = try server.get("shop/schema")
            #expect(schema.text.contains(#""name":"count","type":"int","collection":null,"optional":true"#))
            #expect(try server.send("POST", "shop/objects/Item", #"{"id":1,"first":"a","last":"b"}"#).status == 201)
            #expect(try post(server, #"{"name":"shop"}"#).code == "already_attached")
            #expect(try server.send("DELETE", "shop").status == 204)
            #expect(try server.get("shop").code == "realm_not_found")
            #expect(try post(server, #"{"name":"shop"}"#).code == "file_exists")
            let again = try post(
                server, #"{"name":"shop","path":"\#(server.folder)/shop.realm","schema":\#(RealmAdministrationTests.schema)}"#)
            #expect(again.status == 201)
            #expect(try server.get("shop/objects/Item/1").status == 200)
            #expect(try server.send("DELETE", "shop?files=true").status == 204)
            #expect(!FileManager.default.fileExists(atPath: server.folder + "/shop.realm"))
        }
    }

    private func post(_ server: WriteServer, _ body: String, _ query: String = "") throws -> HTTPClient.Answer {
        try HTTPClient.request(
            port: server.port, "POST", "/v1/realms" + query, headers: [WriteServer.json], body: Array(body.utf8))
    }

    @Test(arguments: [
        (
            #"{"name":"x","schema":{"classes":[{"name":"A","properties":[{"name":"p","type":"nope"}]}]}}"#, 422,
            "invalid_schema"
        ),
        (
            #"{"name":"x","schema":{"classes":[{"name":"A","type":"embedded","primaryKey":"p","properties":[{"name":"p","type":"int"}]}]}}"#,
            422, "invalid_schema"
        ),
        (#"{"name":"x","schema":{"classes":{}}}"#, 400, "invalid_body"),
        (#"{"name":"x","colour":1}"#, 400, "invalid_body"),
        (#"{"name":"a b"}"#, 400, "invalid_body"),
        (#"{"name":"x","mode":"rx"}"#, 400, "invalid_body"),
        (#"{"name":"x","encryptionKey":"short"}"#, 400, "invalid_body"),
        (#"{"name":"x","path":"/nowhere/x.realm"}"#, 403, "path_not_allowed"),
        (#"{"name":"x","path":"/etc/passwd"}"#, 403, "path_not_allowed"),
        (#"{"name":"x","path":"/x","inMemory":"m"}"#, 400, "conflicting_parameters"),
        (#"{"inMemory":"m","mode":"ro"}"#, 400, "conflicting_parameters"),
        (#"{"name":"app"}"#, 409, "already_attached"),
        ("[]", 400, "invalid_body"),
    ])
    func `what cannot be attached is told why`(_ body: String, _ status: Int, _ code: String) throws {
        try withServer { (server: WriteServer) throws in
            let answer = try post(server, body)
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.code == code)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: server.folder).filter { $0.hasSuffix(".realm") } == [
                    "app.realm"
                ])
            #expect(try server.get("x").status == 404)
        }
    }

    @Test func `what could not be opened takes no writes, and can be detached`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(repeating: 7, count: 4096).write(to: URL(fileURLWithPath: folder + "/bad.realm"))
        let server = try WriteServer { $0.paths = [folder] }
        #expect(try server.get("bad").json["state"]?.text == "failed")
        #expect(try server.send("POST", "bad/objects/Dog", "{}").code == "not_a_realm")
        #expect(try server.send("PUT", "bad", "{}").code == "method_not_allowed")
        #expect(try server.send("DELETE", "bad").status == 204)
        #expect(try server.get("bad").code == "realm_not_found")
        try server.finish()
    }

    @Test func `a realm in memory is there until it is detached`() throws {
        try withServer { (server: WriteServer) throws in
            let answer = try post(server, #"{"inMemory":"m1","schema":\#(RealmAdministrationTests.schema)}"#)
            #expect(answer.status == 201)
            #expect(answer.json["inMemory"]?.bool == true)
            #expect(answer.json["path"] == nil)
            #expect(try server.send("POST", "m1/objects/Item", #"{"id":1,"first":"a","last":"b"}"#).status == 201)
            #expect(try post(server, #"{"name":"other","inMemory":"m1"}"#).status == 201)
            #expect(try server.get("other/objects/Item/1").status == 200)
            #expect(try server.send("DELETE", "m1").status == 204)
            #expect(try server.get("other/objects/Item/1").status == 200)
            #expect(try server.send("DELETE", "other").status == 204)
        }
    }

    @Test func `a migration changes schema and data, after a copy was made`() throws {
        try withServer { (server: WriteServer) throws in
            _ = try post(server, #"{"name":"shop","schema":\#(RealmAdministrationTests.schema)}"#)
            #expect(try server.send("POST", "shop/objects/Item", #"{"id":1,"first":"Ann","last":"Lee","count":3}"#).status == 201)
            let steps = """
                [{"addProperty":{"class":"Item","property":{"name":"full","type":"string"},"value":""}},
                {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"full":{"$expr":"first + ' ' + last"}}}},
                {"renameProperty":{"class":"Item","name":"count","to":"amount"}}]
                """
            let body = #"{"fromVersion":2,"toVersion":3,"steps":\#(steps)}"#
            let dry = try server.send("POST", "shop/migrations?dryRun=true", body)
            #expect(dry.json["committed"]?.bool == false, "\(dry.text)")
            #expect(try server.get("shop").json["schemaVersion"]?.int == 2)
            let answer = try server.send("POST", "shop/migrations", body)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json["after"]?["schemaVersion"]?.int == 3)
            #expect(
                try server.get("shop/objects/Item/1?meta=none").text
                    == #"{"id":1,"first":"Ann","last":"Lee","amount":3,"full":"Ann Lee"}"#)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: server.folder).contains { $0.hasPrefix("shop.realm.before-") }
            )
            #expect(try server.send("POST", "shop/migrations", body).code == "schema_version_conflict")
            let lossy = #"{"fromVersion":3,"toVersion":4,"steps":[{"removeProperty":{"class":"Item","name":"first"}}]}"#
            #expect(try server.send("POST", "shop/migrations", lossy).code == "would_lose_data")
            #expect(
                try server.send("POST", "shop/migrations", #"{"fromVersion":3,"toVersion":4,"steps":[{"renam":{}}]}"#).code
                    == "invalid_body")
            #expect(
                try server.send(
                    "POST", "app/migrations",
                    #"{"fromVersion":0,"toVersion":1,"steps":[{"setPrimaryKey":{"class":"Chip","name":"code"}}]}"#
                ).code == "invalid_schema")
        }
    }

    @Test func `D28: a conversion that fails names member and object, in a dry run too, and changes nothing`() throws {
        try withServer { (server: WriteServer) throws in
            _ = try post(server, #"{"name":"shop","schema":\#(RealmAdministrationTests.schema)}"#)
            #expect(try server.send("POST", "shop/objects/Item", #"{"id":7,"first":"Ann","last":"12","count":3}"#).status == 201)
            let before = try server.get("shop/export").text
            let step = #"{"class":"Item","name":"first","conversion":"string-to-int""#
            for query in ["?dryRun=true", ""] {
                let body =
                    #"{"fromVersion":2,"toVersion":3,"steps":[{"addClass":{"name":"New"}},{"changeProperty":\#(step)}}]}"#
                let answer = try server.send("POST", "shop/migrations" + query, body)
                #expect(answer.status == 422 && answer.code == "type_mismatch", "\(answer.text)")
                #expect(answer.json["key"]?.text == "7")
                #expect(answer.json["pointer"]?.text == "/steps/1/changeProperty/conversion")
                #expect(try server.get("shop/export").text == before)
            }
            let wrong = #"{"fromVersion":2,"toVersion":3,"steps":[{"changeProperty":\#(step),"onFailure":"skip"}}]}"#
            let refused = try server.send("POST", "shop/migrations", wrong)
            #expect(refused.code == "invalid_body" && refused.text.contains("error, null, default"), "\(refused.text)")
            let good =
                #"{"fromVersion":2,"toVersion":3,"steps":[{"changeProperty":\#(step),"onFailure":"default","nullValue":-1}}]}"#
            #expect(try server.send("POST", "shop/migrations", good).status == 200)
            #expect(try server.get("shop/objects/Item/7?meta=none").json["first"]?.int == -1)
        }
    }

    @Test func `attaching with a schema adds what is missing, and refuses what does not fit`() throws {
        try withServer { (server: WriteServer) throws in
            _ = try post(server, #"{"name":"shop","schema":\#(RealmAdministrationTests.schema)}"#)
            _ = try server.send("DELETE", "shop")
            let path = "\(server.folder)/shop.realm"
            let other =
                #"{"schemaVersion":2,"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"string"}]}]}"#
            #expect(try post(server, #"{"path":"\#(path)","schema":\#(other)}"#).code == "schema_version_conflict")
            let more = RealmAdministrationTests.schema.replacingOccurrences(
                of: #""classes":["#, with: #""classes":[{"name":"New","properties":[]},"#)
            let attached = try post(server, #"{"path":"\#(path)","schema":\#(more)}"#)
            #expect(attached.status == 201, "\(attached.text)")
            #expect(attached.json["classes"]?.int == 2)
        }
    }
}

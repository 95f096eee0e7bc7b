// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Rows A46 to A55 of the checklist: objects are made, changed and deleted, schemas and their versions.
@Suite struct ObjectRowTests {
    @Test func `A46: an object is added with what it references, and no key twice`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let graph = #"{"_id":30,"age":1,"owner":{"id":"bob","dogs":[{"_id":31,"age":2},{"_id":30}]}}"#
            let made = try server.done("POST", "app/objects/Dog?nested=upsert", graph)
            #expect(made.status == 201)
            #expect(try server.get(String((made["Location"] ?? "").dropFirst("/v1/realms/".count))).text == made.text)
            #expect(try server.count("Dog") == 4 && server.count("Person") == 2)
            #expect(
                try server.value("Person/bob/dogs").contains(#""key":"30""#) || server.show("Person/bob").contains(#""key":"30""#)
            )
            let bytes = try server.bytes()
            let again = try server.send("POST", "app/objects/Dog", #"{"_id":30,"age":1}"#)
            #expect(again.status == 409 && again.code == "duplicate_key")
            #expect(
                try server.send("POST", "app/objects/Dog", #"{"_id":32,"age":1,"owner":{"id":"eve"}}"#).code == "nested_object")
            #expect(try server.bytes() == bytes)
        }
    }

    @Test func `A47: many objects are added in one version, or none of them`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let before = try server.version()
            let lines = (100..<1100).map { #"{"_id":\#($0),"age":\#($0 % 9)}"# }
            let type = [("Content-Type", "application/x-ndjson")]
            let bad = lines[0..<999] + [#"{"_id":1,"age":1}"#]
            let refused = try server.send("POST", "app/objects/Dog", bad.joined(separator: "\n"), type)
            #expect(refused.code == "duplicate_key" && refused.json["line"]?.int == 1000)
            #expect(try server.version() == before && server.count("Dog") == 2)
            let made = try server.done("POST", "app/objects/Dog", lines.joined(separator: "\n"), type)
            #expect(made.json["created"]?.int == 1000)
            #expect(try server.version() == before + 1 && server.count("Dog") == 1002)
        }
    }

    @Test func `A48, D37: an object is added or updated by its primary key, and null clears what may be null`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.send("PUT", "app/objects/Dog/9", #"{"age":1,"name":"Tom"}"#).status == 201)
            #expect(try server.send("PUT", "app/objects/Dog/9", #"{"age":2,"name":null}"#).status == 200)
            #expect(try server.get("app/objects/Dog/9").json["name"] == .null)
            for policy in ["all", "modified"] {
                let path = "app/objects/Dog?upsert=" + policy
                #expect(try server.send("POST", path, #"{"_id":1,"age":8,"name":null}"#).status == 200)
                let dog = try server.get("app/objects/Dog/1").json
                #expect(dog["name"] == .null && dog["age"]?.int == 8 && dog["tags"]?.texts == ["a", "b"])
                #expect(try server.send("POST", path, #"{"_id":\#(policy.count + 20),"age":8}"#).status == 201)
                let keyless = try server.send("POST", "app/objects/Note?upsert=" + policy, #"{"text":"t"}"#)
                #expect(keyless.status == 422 && keyless.code == "no_primary_key", "\(keyless.text)")
            }
        }
    }

    @Test func `A48: only what differs is a change when the policy says so`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            try server.done("POST", "app/objects/Dog?upsert=modified", #"{"_id":1,"age":3,"name":"Max"}"#)
            #expect(recorder.takeProperties() == ["Dog.name: Rex -> Max"])
            try server.done("POST", "app/objects/Dog?upsert=all", #"{"_id":1,"age":3,"name":"Max"}"#)
            #expect(recorder.takeProperties().count >= 2)
        }
    }

    @Test func `A49: of many objects some are added and some updated`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let before = try server.version()
            let many = #"[{"_id":1,"age":30},{"_id":8,"age":80},{"_id":2,"age":20},{"_id":8,"age":81}]"#
            let answer = try server.done("POST", "app/objects/Dog?upsert=all", many)
            #expect(answer.status == 201)
            #expect(answer.json["created"]?.int == 1 && answer.json["updated"]?.int == 3, "\(answer.text)")
            #expect(try server.version() == before + 1)
            #expect(try ["1", "2", "8"].map { try server.get("app/objects/Dog/" + $0).json["age"]?.int } == [30, 20, 81])
            #expect(try server.send("POST", "app/objects/Dog?upsert=modified", many).status == 200)
            #expect(
                try server.send("POST", "app/objects/Dog?upsert=all", #"[{"_id":77,"age":1},{"_id":1,"age":"x"}]"#).status == 422)
            #expect(try server.get("app/objects/Dog/77").status == 404)
        }
    }

    @Test func `A50: a deleted object is gone, and with it links to it, entries of lists, and what it owned`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("PATCH", "app/objects/Dog/2", #"{"any":{"$link":{"class":"Dog","key":"1"}}}"#)
            #expect(try server.count("Chip") == 3)
            let answer = try server.send("DELETE", "app/objects/Dog/1")
            #expect(answer.status == 204 && answer.body.isEmpty)
            #expect(try server.get("app/objects/Dog/1").code == "object_not_found")
            #expect(try server.send("DELETE", "app/objects/Dog/1").code == "object_not_found")
            #expect(try server.count("Chip") == 2)
            let ann = try server.show("Person/ann")
            #expect(
                ann.contains(#""dogs":[{"$link":{"class":"Dog","key":"2"}}]"#) && ann.contains(#""pets":{"best":null}"#), "\(ann)"
            )
            #expect(try server.get("app/objects/Dog/2").json["any"] == .null)
            try server.done("DELETE", "app/objects/Person/ann")
            #expect(try server.get("app/objects/Dog/2").json["owner"] == .null)
        }
    }

    @Test func `A51: what a query finds is deleted, unless it is more than the client expects`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done(
                "POST", "app/objects/Dog", "[" + (10..<60).map { #"{"_id":\#($0),"age":\#($0)}"# }.joined(separator: ",") + "]")
            let bytes = try server.bytes()
            let found = try server.get("app/objects/Dog?where=age%20%3E=%2040&count=exact&limit=0").json["count"]?.int
            let refused = try server.send("DELETE", "app/objects/Dog?where=age%20%3E=%20$0&args=[40]&maxAffected=19")
            #expect(refused.status == 409 && refused.code == "too_many_affected" && refused.json["limit"]?.int == 19)
            #expect(try server.bytes() == bytes)
            let done = try server.done("DELETE", "app/objects/Dog?where=age%20%3E=%20$0&args=[40]&maxAffected=20")
            #expect(done.json["matched"]?.int == found && found == 20)
            #expect(try server.count("Dog") == 32)
            #expect(try server.send("DELETE", "app/objects/Dog").code == "missing_where")
        }
    }

    @Test func `A52: every class is emptied, and the schema stays`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            let schema = try server.get("app/schema").text
            let classes = ["Dog", "Person", "Chip", "Note", "Value"]
            let counts = try classes.map { try server.count($0) ?? -1 }
            #expect(try server.send("DELETE", "app/objects").code == "missing_where")
            let dogs = try Follower(server.port, #"{"class":"Dog","include":"keys"}"#, .events)
            let cleared = try server.done("DELETE", "app/objects?confirm=all")
            let told = try dogs.documents(upTo: cleared["Realm-Version"] ?? "").first
            #expect(told?["deletions"]?.elements?.compactMap { $0["key"]?.text } == ["1", "2"] && told?["count"]?.int == 0)
            #expect(try classes.allSatisfy { try server.count($0) == 0 })
            #expect(try server.get("app/schema").text == schema)
            #expect(try server.get("app").json["empty"]?.bool == true)
            #expect(classes.map { recorder.last($0)?.deleted.count ?? -1 } == counts)
            let batch = try server.batch(
                #"{"create":{"class":"Note","body":{"text":"t"}}}"#, #"{"deleteWhere":{"class":"Note","where":"TRUEPREDICATE"}}"#)
            #expect(batch.status == 200)
            #expect(try server.count("Note") == 0)
        }
    }

    // MARK: - Schema versions

    private static let key = String(repeating: "0a", count: 64)

    private static func schema(_ version: Int, _ more: String = "") -> String {
        """
        {"schemaVersion":\(version),"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"},\
        {"name":"first","type":"string"},{"name":"last","type":"string"}\(more)]}]}
        """
    }

    @Test(arguments: [0, 5])
    func `A53: the schema version of a file is told, also before it is attached`(_ version: Int) throws {
        try withWriteServer { (server: WriteServer) throws in
            for (name, options) in [("plain", ""), ("secret", #","encryptionKey":"\#(ObjectRowTests.key)""#)] {
                #expect(
                    try server.attach(#"{"name":"\#(name)","schema":\#(ObjectRowTests.schema(version))\#(options)}"#).status
                        == 201)
                #expect(try server.get(name).json["schemaVersion"]?.int == version)
                try server.done("DELETE", name)
                let path = #""path":"\#(server.folder)/\#(name).realm""#
                let dry = try server.attach("{\(path)\(options)}", "?dryRun=true")
                #expect(dry.json["body"]?["schemaVersion"]?.int == version, "\(dry.text)")
                if !options.isEmpty {
                    #expect(try server.attach("{\(path)}", "?dryRun=true").code == "encryption_key_required")
                    let wrong = String(repeating: "0b", count: 64)
                    #expect(
                        try server.attach(#"{\#(path),"encryptionKey":"\#(wrong)"}"#, "?dryRun=true").code
                            == "encryption_key_wrong")
                    try FileManager.default.removeItem(atPath: server.folder + "/secret.realm")
                }
            }
        }
    }

    @Test func `A53: a file that was never versioned says so`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/group-only.copy"
            try FileManager.default.copyItem(atPath: try Fixtures.path("group-only"), toPath: path)
            let dry = try server.attach(#"{"name":"old","path":"\#(path)"}"#, "?dryRun=true")
            #expect(dry.json["body"]?["schemaVersion"] == .null, "\(dry.text)")
            #expect(try server.attach(#"{"name":"old","path":"\#(path)","mode":"ro"}"#).status == 201)
            let facts = try server.get("old").json
            #expect(facts["state"]?.text == "ready" && facts["schemaVersion"] == .null, "\(facts)")
        }
    }

    private static let steps = """
        [{"addProperty":{"class":"Item","property":{"name":"full","type":"string"},"value":""}},\
        {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"full":{"$expr":"first + ' ' + last"}}}},\
        {"removeProperty":{"class":"Item","name":"last"}}]
        """

    @Test func `A54, E9: a migration raises the version and transforms the data, after a copy was made`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.attach(#"{"name":"shop","schema":\#(ObjectRowTests.schema(2))}"#).status == 201)
            try server.done(
                "POST", "shop/objects/Item", #"[{"id":1,"first":"Ann","last":"Lee"},{"id":2,"first":"Bo","last":"Ek"}]"#)
            let body = #"{"fromVersion":2,"toVersion":3,"allowDataLoss":true,"steps":\#(ObjectRowTests.steps)}"#
            let answer = try server.done("POST", "shop/migrations", body)
            #expect(answer.json["before"]?["schemaVersion"]?.int == 2)
            #expect(answer.json["after"]?["schemaVersion"]?.int == 3)
            #expect(try server.get("shop").json["schemaVersion"]?.int == 3)
            #expect(try server.get("shop/objects/Item/2?meta=none").text == #"{"id":2,"first":"Bo","full":"Bo Ek"}"#)
            let copies = try FileManager.default.contentsOfDirectory(atPath: server.folder).filter {
                $0.hasPrefix("shop.realm.before-")
            }
            #expect(copies.count == 1)
            let copy = try Snapshot(file: try RealmFile(path: server.folder + "/" + (copies.first ?? "")))
            #expect(copy.schemaVersion == 2 && copy.classTable(named: "Item")?.column(named: "last") != nil)
            // The migrated file is sound for another reader, and is opened again as it was left.
            try server.done("DELETE", "shop")
            if let inspector = FileInspector.shared { #expect(inspector.errors(server.folder + "/shop.realm") == nil) }
            let again = try server.attach(#"{"path":"\#(server.folder)/shop.realm"}"#)
            #expect(again.json["schemaVersion"]?.int == 3, "\(again.text)")
            #expect(try server.get("shop/objects/Item/1?meta=none").text == #"{"id":1,"first":"Ann","full":"Ann Lee"}"#)
        }
    }

    @Test func `A55: attaching with steps migrates; without them a file of another schema is refused or served as it is`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.attach(#"{"name":"shop","schema":\#(ObjectRowTests.schema(2))}"#).status == 201)
            try server.done("POST", "shop/objects/Item", #"{"id":1,"first":"Ann","last":"Lee"}"#)
            try server.done("DELETE", "shop")
            let path = #""path":"\#(server.folder)/shop.realm""#
            let bytes = try Data(contentsOf: URL(fileURLWithPath: server.folder + "/shop.realm"))
            let refused = try server.attach(#"{\#(path),"schemaVersion":3}"#)
            #expect(refused.status == 409 && refused.code == "schema_version_conflict", "\(refused.text)")
            #expect(try server.get("shop").code == "realm_not_found")
            #expect(try Data(contentsOf: URL(fileURLWithPath: server.folder + "/shop.realm")) == bytes)
            #expect(try server.attach("{\(path)}").json["schemaVersion"]?.int == 2)
            try server.done("DELETE", "shop")
            let lossy = #"{\#(path),"schemaVersion":3,"migrations":\#(ObjectRowTests.steps)"#
            #expect(try server.attach(lossy + "}").code == "would_lose_data")
            let attached = try server.attach(lossy + #","allowDataLoss":true}"#)
            #expect(attached.status == 201 && attached.json["schemaVersion"]?.int == 3, "\(attached.text)")
            #expect(try server.get("shop/objects/Item/1?meta=none").text == #"{"id":1,"first":"Ann","full":"Ann Lee"}"#)
        }
    }

    /// Migrations from 1 to 2, from 2 to 3, and from 5 to 6.
    private static let chain = """
        [{"fromVersion":2,"toVersion":3,"steps":[
          {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"full":{"$expr":"$old.full + '!'"}}}},
          {"renameProperty":{"class":"Item","name":"full","to":"name"}}]},
        {"fromVersion":5,"toVersion":6,"steps":[]},
        {"fromVersion":1,"toVersion":2,"allowDataLoss":true,"steps":[
          {"addProperty":{"class":"Item","property":{"name":"full","type":"string"},"value":""}},
          {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"full":{"$expr":"first + ' ' + last"}}}},
          {"removeProperty":{"class":"Item","name":"last"}}]}]
        """

    @Test(arguments: [1, 2])
    func `A55: of several migrations those are carried out that lead from the version of the file to the wanted one`(
        _ version: Int
    ) throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.attach(#"{"name":"shop","schema":\#(ObjectRowTests.schema(version))}"#).status == 201)
            try server.done("POST", "shop/objects/Item", #"{"id":1,"first":"Ann","last":"Lee"}"#)
            if version == 2 {
                let rename = #"{"renameProperty":{"class":"Item","name":"last","to":"full"}}"#
                try server.done("POST", "shop/migrations", #"{"fromVersion":2,"toVersion":2,"steps":[\#(rename)]}"#)
            }
            try server.done("DELETE", "shop")
            let body = #"{"path":"\#(server.folder)/shop.realm","schemaVersion":3,"migrations":\#(ObjectRowTests.chain)}"#
            let dry = try server.attach(body, "?dryRun=true")
            #expect(dry.json["committed"]?.bool == false && dry.json["body"]?["schemaVersion"]?.int == 3, "\(dry.text)")
            #expect(try server.get("shop").status == 404)
            let attached = try server.attach(body)
            #expect(attached.status == 201 && attached.json["schemaVersion"]?.int == 3, "\(attached.text)")
            let expected = version == 1 ? #"{"id":1,"first":"Ann","name":"Ann Lee!"}"# : #"{"id":1,"first":"Ann","name":"Lee!"}"#
            #expect(try server.get("shop/objects/Item/1?meta=none").text == expected)
        }
    }

    @Test func `A55: a gap between migrations is named, and a step that fails has its place; the file stays as it was`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.attach(#"{"name":"shop","schema":\#(ObjectRowTests.schema(1))}"#).status == 201)
            try server.done("POST", "shop/objects/Item", #"{"id":1,"first":"Ann","last":"Lee"}"#)
            try server.done("DELETE", "shop")
            let path = #""path":"\#(server.folder)/shop.realm""#
            let bytes = try Data(contentsOf: URL(fileURLWithPath: server.folder + "/shop.realm"))
            for query in ["?dryRun=true", ""] {
                let gap = try server.attach(#"{\#(path),"schemaVersion":6,"migrations":\#(ObjectRowTests.chain)}"#, query)
                #expect(gap.status == 409 && gap.code == "schema_version_conflict", "\(gap.text)")
                #expect(gap.text.contains("version 1, and no migration leads from 3 on to 6"), "\(gap.text)")
                #expect(gap.json["pointer"]?.text == "/migrations")
            }
            let wrong = ObjectRowTests.chain.replacingOccurrences(of: "$old.full", with: "$old.missing")
            let failed = try server.attach(#"{\#(path),"schemaVersion":3,"migrations":\#(wrong)}"#)
            #expect(failed.code == "invalid_schema", "\(failed.text)")
            #expect(failed.json["pointer"]?.text == "/migrations/0/steps/0/set/values/full", "\(failed.text)")
            let lossy = ObjectRowTests.chain.replacingOccurrences(of: #""allowDataLoss":true,"#, with: "")
            #expect(
                try server.attach(#"{\#(path),"schemaVersion":3,"migrations":\#(lossy)}"#).json["pointer"]?.text
                    == "/migrations/2/steps/2/removeProperty")
            let twice = #"[{"fromVersion":1,"toVersion":2,"steps":[]},{"fromVersion":1,"toVersion":3,"steps":[]}]"#
            let refused = try server.attach(#"{\#(path),"schemaVersion":3,"migrations":\#(twice)}"#)
            #expect(refused.code == "invalid_body", "\(refused.text)")
            #expect(refused.json["pointer"]?.text == "/migrations/1/fromVersion")
            #expect(try Data(contentsOf: URL(fileURLWithPath: server.folder + "/shop.realm")) == bytes)
        }
    }
}

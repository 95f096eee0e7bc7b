// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// Row D27 of the checklist: the schema before a migration and the one after it.
@Suite struct MigrationRowTests {
    /// The properties of each class, as `class.property type`.
    private func properties(_ schema: ParsedJSON?) -> Set<String> {
        Set(
            (schema?["classes"]?.elements ?? []).flatMap { one in
                (one["properties"]?.elements ?? []).map {
                    "\(one["name"]?.text ?? "?").\($0["name"]?.text ?? "?") \($0["type"]?.text ?? "?")"
                }
            })
    }

    @Test func `D27: a dry run of a migration has both schemas, which differ by its steps, and changes nothing`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let steps = """
                [{"addClass":{"name":"New","properties":[{"name":"n","type":"int"}]}},
                {"renameProperty":{"class":"Dog","name":"name","to":"title"}},
                {"changeProperty":{"class":"Dog","name":"age","conversion":"int-to-string"}},
                {"removeClass":{"name":"Note"}}]
                """
            let body = #"{"fromVersion":0,"toVersion":3,"allowDataLoss":true,"steps":\#(steps)}"#
            let now = try server.get("app/schema").json
            let (bytes, version) = (try server.bytes(), try server.version())
            let dry = try server.send("POST", "app/migrations?dryRun=true", body)
            #expect(dry.status == 200 && dry.json["committed"]?.bool == false, "\(dry.text)")
            let document = dry.json["body"] ?? dry.json
            // The old schema is the one that is served.
            #expect(document["before"]?["schemaVersion"]?.int == 0 && document["after"]?["schemaVersion"]?.int == 3)
            #expect(document["before"]?["classes"] == now["classes"])
            let (before, after) = (properties(document["before"]), properties(document["after"]))
            #expect(before.subtracting(after) == ["Dog.name string", "Dog.age int", "Note.text string"])
            #expect(after.subtracting(before) == ["New.n int", "Dog.title string", "Dog.age string"])
            // Nothing has happened.
            #expect(try server.bytes() == bytes && server.version() == version)
            #expect(try server.get("app/schema").json == now)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: server.folder).allSatisfy { !$0.contains(".before-") })
            // The real one leads to the schema that was shown.
            let done = try server.done("POST", "app/migrations", body)
            #expect(done.json["before"] == document["before"] && done.json["after"] == document["after"])
            #expect(try server.get("app/schema").json["classes"] == document["after"]?["classes"])
        }
    }

    @Test func `D27: a dry run of a migration that cannot be carried out says which step is in the way`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let steps =
                #"[{"addClass":{"name":"New","properties":[]}},{"renameProperty":{"class":"Dog","name":"none","to":"x"}}]"#
            let bytes = try server.bytes()
            let dry = try server.send(
                "POST", "app/migrations?dryRun=true", #"{"fromVersion":0,"toVersion":1,"steps":\#(steps)}"#)
            #expect(dry.status == 422 && dry.code == "invalid_schema", "\(dry.text)")
            #expect(dry.json["pointer"]?.text?.hasPrefix("/steps/1/renameProperty") == true, "\(dry.text)")
            #expect(try server.bytes() == bytes && server.get("app/schema/New").status == 404)
        }
    }
}

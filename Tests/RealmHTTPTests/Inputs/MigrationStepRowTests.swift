// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Rows D28 and E9 of the checklist: each step of a migration, over HTTP, in a file that is opened again afterwards.
@Suite struct MigrationStepRowTests {
    private static let classes = [
        ClassInput(
            "Item", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("name", "string"), PropertyInput("n", "int", optional: true),
                PropertyInput("tags", "string", collection: "list"), PropertyInput("part", "object", objectType: "Part"),
            ]),
        ClassInput("Part", [PropertyInput("label", "string")]), ClassInput("Old", [PropertyInput("x", "int")]),
    ]

    struct Step: Sendable, CustomTestStringConvertible {
        let name: String
        let steps: String
        /// What is read afterwards: a path below the realm, and a part of the answer.
        let expected: [(path: String, part: String)]
        var losesData = false
        var testDescription: String { name }

        init(_ name: String, _ steps: String, _ expected: [(path: String, part: String)], losing: Bool = false) {
            self.name = name
            self.steps = steps
            self.expected = expected
            losesData = losing
        }
    }

    private static let first = "objects/Item/1?meta=none"

    static let steps: [Step] = [
        Step(
            "addClass", #"{"addClass":{"name":"New","properties":[{"name":"y","type":"int"}]}}"#,
            [("schema/New", #""name":"y","type":"int""#), ("objects/New", #""items":[]"#)]),
        Step("removeClass", #"{"removeClass":{"name":"Old"}}"#, [("schema/Old", "class_not_found")], losing: true),
        Step(
            "renameClass", #"{"renameClass":{"name":"Old","to":"Newer"}}"#,
            [("objects/Newer?meta=none", #"{"x":7}"#), ("schema/Old", "class_not_found")]),
        Step(
            "addProperty",
            #"{"addProperty":{"class":"Item","property":{"name":"extra","type":"string"},"value":"e"}}"#,
            [(first, #""extra":"e"}"#), ("objects/Item/2?meta=none", #""extra":"e"}"#)]),
        Step(
            "removeProperty", #"{"removeProperty":{"class":"Item","name":"n"}}"#,
            [(first, #"{"id":1,"name":"one","tags":["a","b"]"#)], losing: true),
        Step(
            "renameProperty", #"{"renameProperty":{"class":"Item","name":"name","to":"title"}}"#,
            [(first, #"{"id":1,"title":"one","n":5"#)]),
        Step(
            "changeProperty",
            #"{"changeProperty":{"class":"Item","name":"n","type":"string","conversion":"int-to-string"}}"#,
            [(first, #""n":"5""#), ("objects/Item/2?meta=none", #""n":null"#)]),
        Step(
            "setPrimaryKey", #"{"setPrimaryKey":{"class":"Item","name":"name"}}"#,
            [("objects/Item/one?meta=none", #"{"id":1,"name":"one""#), ("schema/Item", #""primaryKey":"name""#)]),
        Step(
            "setIndex", #"{"setIndex":{"class":"Item","name":"n","indexed":"general"}}"#,
            [
                ("objects/Item?explain=true&where=n%20%3D%3D%205", "search index"),
                ("objects/Item?where=n%20%3D%3D%205", "\"one\""),
            ]),
        Step(
            "set",
            #"{"set":{"class":"Item","where":"n != NULL","values":{"name":{"$expr":"name + '/' + part.label"},"n":{"$expr":"n * 2"}}}}"#,
            [(first, #""name":"one/p","n":10"#), ("objects/Item/2?meta=none", #""name":"two","n":null"#)]),
        Step(
            "old and new",
            #"""
            {"renameProperty":{"class":"Item","name":"name","to":"title"}},
            {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"title":"t"}}},
            {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"title":{"$expr":"title + $old.name"}}}}
            """#, [(first, #""title":"tone""#)]),
        Step(
            "create", #"{"create":{"class":"Item","body":{"id":9,"name":"nine","tags":["z"]}}}"#,
            [("objects/Item/9?meta=none", #"{"id":9,"name":"nine","n":null,"tags":["z"],"part":null}"#)]),
        Step(
            "delete", #"{"delete":{"class":"Item","where":"n == NULL"}}"#,
            [("objects/Item?fields=id&meta=none", #""items":[{"id":1}]"#)], losing: true),
        Step(
            "delete all", #"{"delete":{"class":"Part","where":"TRUEPREDICATE"}}"#,
            [("objects/Part", #""items":[]"#), (first, #""part":null"#), ("schema/Part", #""name":"label""#)], losing: true),
        Step(
            "setType", #"{"setType":{"class":"Part","type":"embedded"}}"#,
            [("schema/Part", #""type":"embedded""#), (first, #""part":{"label":"p"}"#)]),
        Step(
            "forEach",
            #"""
            {"forEach":{"class":"Item","as":"i","steps":[{"forEach":{"in":"i.tags","as":"tag","steps":[
            {"create":{"class":"Part","body":{"label":{"$expr":"tag"}}}}]}}]}}
            """#,
            [("objects/Part?fields=label&meta=none", #"[{"label":"p"},{"label":"a"},{"label":"b"}]"#)]),
    ]

    @Test(arguments: steps)
    func `D28, E9: each step does its work, in one version more, in a file that others read`(_ step: Step) throws {
        try withWriteServer(MigrationStepRowTests.classes) { (server: WriteServer) throws in
            try server.done(
                "POST", "app/batch",
                #"""
                {"ops":[{"create":{"class":"Old","body":{"x":7}}},
                {"create":{"class":"Item","body":{"id":1,"name":"one","n":5,"tags":["a","b"],"part":{"label":"p"}},"nested":"upsert"}},
                {"create":{"class":"Item","body":{"id":2,"name":"two"}}}]}
                """#)
            let before = try server.version()
            func check(_ when: String) throws {
                for (path, part) in step.expected {
                    let answer = try server.get("app/" + path)
                    #expect(answer.text.contains(part), "\(when), \(path): \(answer.text)")
                }
                #expect(try server.get("app").json["schemaVersion"]?.int == 1, "\(when)")
            }
            func migrate(_ losing: Bool, _ query: String = "") throws -> HTTPClient.Answer {
                try server.send(
                    "POST", "app/migrations" + query,
                    #"{"fromVersion":0,"toVersion":1,"allowDataLoss":\#(losing),"steps":[\#(step.steps)]}"#)
            }
            // What may lose data is refused until that is allowed, and a dry run changes nothing.
            if step.losesData { #expect(try migrate(false).code == "would_lose_data") }
            #expect(try migrate(step.losesData, "?dryRun=true").status == 200)
            #expect(try server.version() == before && server.get("app").json["schemaVersion"] != .integer(1))
            let answer = try migrate(step.losesData)
            #expect(answer.status == 200, "\(answer.text)")
            try #require(answer.status == 200)
            #expect(try server.version() == before + 1)
            try check("at once")
            try server.done("DELETE", "app")
            let path = server.folder + "/app.realm"
            if let inspector = FileInspector.shared { #expect(inspector.errors(path) == nil) }
            #expect(try server.attach(#"{"path":"\#(path)"}"#).status == 201)
            try check("opened again")
        }
    }
}

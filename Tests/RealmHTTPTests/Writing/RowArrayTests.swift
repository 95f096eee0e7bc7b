// SPDX-License-Identifier: Apache-2.0

import RealmEngine
@testable import RealmFormats
import RealmTestSupport
import Testing

@testable import RealmHTTP

/// Arrays of objects with plain values, which are read as rows, beside arrays of which one object is none.
@Suite struct RowArrayTests {
    private static func value(_ id: Int, _ random: inout SeededGenerator, more: String = "") -> String {
        let number = Int.random(in: 0..<1000, using: &random)
        let flag = number % 3 == 0 ? "null" : number % 3 == 1 ? "true" : "false"
        var members = [
            "\"_id\":\(id)", "\"flag\":\(flag)", "\"int\":\(number)", "\"float\":\(number)", "\"double\":\(number).5",
            "\"decimal\":\"\(number).10\"", #""date":"2024-05-17T09:30:00.5Z""#, #""data":"AAEC""#,
            #""oid":"0123456789abcdef01234567""#, #""uuid":"3b241101-e2bb-4255-8caf-4136c566a962""#,
            #""text":"Grüße \#(number)\n""#,
        ]
        if number % 7 == 0 { members.shuffle(using: &random) }
        return "{\(members.joined(separator: ","))\(more)}"
    }

    private static func array(_ objects: [String]) -> String { "[\(objects.joined(separator: ", "))]" }

    @Test(arguments: TestRun.seeds(quick: 2, long: 40)) func `objects are the same`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let server = try WriteServer()
        let values = (0..<300).map { RowArrayTests.value($0, &random) }
        // A list keeps an array from being read as rows.
        let others = (300..<600).map { id in
            values[id - 300].replacing("\"_id\":\(id - 300),", with: "\"_id\":\(id),").replacing(
                ",\"_id\":\(id - 300)", with: ",\"_id\":\(id)")
        }
        let rows = try server.send("POST", "app/objects/Value", RowArrayTests.array(values))
        let ordinary = try server.send(
            "POST", "app/objects/Value", RowArrayTests.array(others + [#"{"_id":600,"mixeds":[1]}"#]))
        #expect(rows.status == 201 && ordinary.status == 201, "seed \(seed): \(rows.text) \(ordinary.text)")
        #expect(rows.json["created"]?.int == 300 && rows.json["keys"]?.elements?.count == 300, "seed \(seed)")
        for id in 0..<300 {
            let (left, right) = (try server.show("Value/\(id)"), try server.show("Value/\(id + 300)"))
            #expect(
                left.replacing("\"_id\":\(id),", with: "") == right.replacing("\"_id\":\(id + 300),", with: ""), "seed \(seed)")
        }
        try server.finish()
    }

    @Test func `errors are those of the object`() throws {
        var random = SeededGenerator(seed: 1)
        let server = try WriteServer()
        let values = (0..<50).map { RowArrayTests.value($0, &random) }
        func refused(_ change: (inout [String]) -> Void) throws -> String {
            var changed = values
            change(&changed)
            let answer = try server.send("POST", "app/objects/Value", RowArrayTests.array(changed))
            return "\(answer.code ?? "") \(answer.json["pointer"]?.text ?? "")"
        }
        let bytes = try server.bytes()
        #expect(try refused { $0[40] = $0[10] } == "duplicate_key /40/_id")
        #expect(try refused { $0[30] = #"{"_id":30,"int":"x"}"# } == "type_mismatch /30/int")
        #expect(try refused { $0[20] = #"{"int":1}"# } == "missing_property /20")
        #expect(try refused { $0[10] = #"{"_id":10,"more":1}"# } == "unknown_property /10/more")
        #expect(try refused { $0[49] = "7" } == "type_mismatch /49")
        #expect(try refused { $0[5] = #"{"_id":5,"int":1,"int":2}"# } == "invalid_json ")
        #expect(try server.bytes() == bytes)
        #expect(try server.send("POST", "app/objects/Value", values[25]).status == 201)
        #expect(try refused { _ in } == "duplicate_key /25/_id")
        #expect(try server.send("POST", "app/objects/Value?upsert=all", RowArrayTests.array(values)).json["updated"]?.int == 1)
        #expect(try server.get("app/objects/Value?count=exact&limit=0").json["count"]?.int == 50)
        try server.finish()
    }

    @Test func `rows of a class that has changed are not written`() throws {
        let realm = try EngineRealm([ClassInput("Note", [PropertyInput("text", "string")])])
        let shape = try #require(realm.database.rowShape(of: "Note", .documents))
        let text = Array(#"[{"text":"a"},{"text":"b"}]"#.utf8)
        let rows = try #require(JSONTape.rows(text, JSONBounds(depth: 10), of: shape, valueLimit: 2))
        #expect(rows.count == 2)
        #expect(JSONTape.rows(text, JSONBounds(depth: 10), of: shape, valueLimit: 1) == nil)
        let answer = Awaited<Result<WriteReceipt<WriteSession.Migrated>, WriteError>>()
        let step = MigrationStep.addProperty(className: "Note", PropertyInput("size", "int", optional: true), value: nil)
        realm.database.migrate(Migration(from: 0, to: 1, [step]), EngineRealm.request()) { answer.set($0) }
        _ = try answer.wait().get()
        #expect(realm.database.rowShape(of: "Note", .documents) != shape)
        try realm.write { session in
            session.naming = .documents
            let made = try session.createTogether(rows)
            #expect(made == nil)
        }
        #expect(realm.count("Note") == 0)
        try realm.finish()
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmEngine
@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Drafts of migrations from one schema to another.
@Suite struct MigrationDraftTests {
    private func schema(_ classes: [ClassInput]) throws -> RealmSchema {
        let realm = try EngineRealm(classes)
        defer { realm.database.close() }
        return RealmSchema(realm.database.current.snapshot)
    }

    private func steps(_ old: [ClassInput], _ new: [ClassInput]) throws -> [String] {
        let draft = MigrationDraft(from: try schema(old), to: try schema(new))
        #expect(draft.isEmpty == draft.document["steps"]?.elements.isEmpty)
        return (draft.document["steps"]?.elements ?? []).map(\.json)
    }

    private static let note = ClassInput(
        "Note", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("title", "string"), PropertyInput("stars", "int")])

    @Test func `equal schemas need no step`() throws { #expect(try steps([Self.note], [Self.note]).isEmpty) }

    @Test func `properties are added, converted, indexed and removed`() throws {
        let new = ClassInput(
            "Note", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("title", "string", optional: true, indexed: "general"),
                PropertyInput("stars", "double"), PropertyInput("any", "mixed"),
            ])
        #expect(
            try steps([Self.note], [new]) == [
                #"{"addProperty":{"class":"Note","property":{"name":"any","type":"mixed"}}}"#,
                #"{"changeProperty":{"class":"Note","name":"title","optional":true}}"#,
                #"{"setIndex":{"class":"Note","name":"title","indexed":"general"}}"#,
                #"{"changeProperty":{"class":"Note","name":"stars","conversion":"int-to-double"}}"#,
            ])
        #expect(
            try steps([new], [Self.note]).last == #"{"removeProperty":{"class":"Note","name":"any"}}"#)
    }

    @Test func `a property that may have been renamed is a doubt`() throws {
        let new = ClassInput(
            "Note", primaryKey: "id",
            [PropertyInput("id", "int"), PropertyInput("name", "string"), PropertyInput("stars", "int")])
        let document = MigrationDraft(from: try schema([Self.note]), to: try schema([new])).document
        #expect(document["steps"]?.elements.count == 2)
        #expect(
            document["$maybe"]?.elements.map { $0["step"]?.json } == [
                #"{"renameProperty":{"class":"Note","name":"title","to":"name"}}"#
            ])
    }

    /// Applying the steps of a draft needs no order of classes that link to each other.
    @Test func `classes are added without links, and removed without them`() throws {
        let both = [
            ClassInput("A", [PropertyInput("b", "object", objectType: "B"), PropertyInput("n", "int")]),
            ClassInput("B", [PropertyInput("a", "object", collection: "list", objectType: "A")]),
        ]
        #expect(
            try steps([Self.note], [Self.note] + both) == [
                #"{"addClass":{"name":"A","type":"object","properties":[{"name":"n","type":"int"}]}}"#,
                #"{"addClass":{"name":"B","type":"object","properties":[]}}"#,
                #"{"addProperty":{"class":"A","property":{"name":"b","type":"object","objectType":"B"}}}"#,
                #"{"addProperty":{"class":"B","property":{"name":"a","type":"object","collection":"list","objectType":"A"}}}"#,
            ])
        #expect(
            try steps([Self.note] + both, [Self.note]) == [
                #"{"removeProperty":{"class":"A","name":"b"}}"#, #"{"removeProperty":{"class":"B","name":"a"}}"#,
                #"{"removeClass":{"name":"A"}}"#, #"{"removeClass":{"name":"B"}}"#,
            ])
    }
}

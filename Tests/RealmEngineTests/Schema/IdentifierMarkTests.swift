// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// The table by which the .NET SDK recognizes files whose UUIDs are not reversed.
@Suite("Identifier mark")
struct IdentifierMarkTests {
    private static let mark = "dotnet_guid_representation_fixed"

    private func isMarked(_ realm: EngineRealm) -> Bool {
        realm.database.current.snapshot.table(named: IdentifierMarkTests.mark) != nil
    }

    @Test(arguments: ["uuid", "mixed", "int"])
    func `a file is marked with its first property that may hold UUIDs, and shows no class for that`(_ type: String) throws {
        let realm = try EngineRealm([ClassInput("A", [PropertyInput("text", "string")])])
        #expect(!isMarked(realm))
        try realm.write { session in
            try session.fitSchema(
                SchemaInput(classes: [
                    ClassInput("A", [PropertyInput("text", "string")]),
                    ClassInput("B", [PropertyInput("one", type, optional: type == "mixed")]),
                    ClassInput("C", [PropertyInput("two", type, optional: type == "mixed")]),
                ]))
        }
        let snapshot = realm.database.current.snapshot
        #expect(isMarked(realm) == (type != "int"))
        #expect(RealmSchema(snapshot).classes.map(\.name) == ["A", "B", "C"])
        #expect(snapshot.table(named: IdentifierMarkTests.mark)?.columns.isEmpty != false)
        #expect(snapshot.verify().isClean)
    }

    @Test func `a file that may have UUIDs of an early app is not marked`() throws {
        let file = try TemporaryRealm()
        let realm = try ScratchRealm(path: file.path)
        let table = try realm.transaction.createTable("class_A")
        try realm.transaction.addColumn(ColumnDefinition("id", .uuid), to: table)
        try realm.commit()
        try realm.close()
        let opened = try EngineRealm(path: file.path)
        try opened.write { session in
            try session.fitSchema(
                SchemaInput(classes: [ClassInput("A", [PropertyInput("id", "uuid"), PropertyInput("other", "uuid")])]))
        }
        #expect(!isMarked(opened))
        opened.database.close()
    }

    @Test func `the mark takes no place of a class`() throws {
        var limits = WriteLimits()
        limits.classes = 2
        let realm = try EngineRealm([ClassInput("A", [PropertyInput("id", "uuid")])], limits: limits)
        try realm.write { session in
            try session.createSchema(SchemaInput(classes: [ClassInput("B", [PropertyInput("n", "int")])]))
        }
        #expect(throws: WriteError.self) {
            try realm.write { session in
                try session.createSchema(SchemaInput(classes: [ClassInput("C", [PropertyInput("n", "int")])]))
            }
        }
    }
}

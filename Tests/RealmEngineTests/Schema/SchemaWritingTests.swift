// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct SchemaWritingTests {
    @Test func `a schema is read back as it was asked for`() throws {
        let realm = try EngineRealm(TestSchema.classes)
        let schema = RealmSchema(realm.database.current.snapshot)
        #expect(schema.version == 0)
        // Tables are made in byte order of their names.
        #expect(schema.classes.map(\.name) == ["Address", "Geo", "Log", "Note", "Person"])
        let wanted = try SchemaValidator.classes(SchemaInput(classes: TestSchema.classes))
        for one in wanted {
            let found = try #require(schema[one.name])
            #expect(found.kind == one.kind && found.primaryKey == one.primaryKey && found.properties == one.properties)
        }
        try realm.finish()
    }

    @Test func `the primary key is the first property`() throws {
        let realm = try EngineRealm([
            ClassInput("A", primaryKey: "key", [PropertyInput("first", "int"), PropertyInput("key", "string", optional: true)])
        ])
        let one = try #require(RealmSchema(realm.database.current.snapshot)["A"])
        #expect(one.properties.map(\.name) == ["key", "first"] && one.properties[0].index == .general)
        try realm.finish()
    }

    @Test(
        arguments: [
            ([ClassInput("", [])], "/classes/0/name"),
            ([ClassInput(String(repeating: "x", count: 58), [])], "/classes/0/name"),
            ([ClassInput("A", []), ClassInput("A", [])], "/classes/1/name"),
            ([ClassInput("A", type: "asymmetric", [])], "/classes/0/type"),
            ([ClassInput("A", type: "x", [])], "/classes/0/type"),
            ([ClassInput("A", [PropertyInput("", "int")])], "/classes/0/properties/0/name"),
            ([ClassInput("A", [PropertyInput("p", "int"), PropertyInput("p", "int")])], "/classes/0/properties/1/name"),
            ([ClassInput("A", [PropertyInput("p", "integer")])], "/classes/0/properties/0/type"),
            ([ClassInput("A", [PropertyInput("p", "int", collection: "array")])], "/classes/0/properties/0/collection"),
            ([ClassInput("A", [PropertyInput("p", "object")])], "/classes/0/properties/0/objectType"),
            ([ClassInput("A", [PropertyInput("p", "int", objectType: "A")])], "/classes/0/properties/0/objectType"),
            ([ClassInput("A", [PropertyInput("p", "object", objectType: "B")])], "/classes/0/properties/0/objectType"),
            (
                [ClassInput("A", [PropertyInput("p", "object", optional: false, objectType: "A")])],
                "/classes/0/properties/0/optional"
            ),
            (
                [ClassInput("A", [PropertyInput("p", "object", collection: "list", optional: true, objectType: "A")])],
                "/classes/0/properties/0/optional"
            ),
            ([ClassInput("A", [PropertyInput("p", "mixed", optional: false)])], "/classes/0/properties/0/optional"),
            ([ClassInput("A", [PropertyInput("p", "double", indexed: "general")])], "/classes/0/properties/0/indexed"),
            ([ClassInput("A", [PropertyInput("p", "int", indexed: "fulltext")])], "/classes/0/properties/0/indexed"),
            ([ClassInput("A", [PropertyInput("p", "int", indexed: "x")])], "/classes/0/properties/0/indexed"),
            (
                [ClassInput("A", [PropertyInput("p", "int", collection: "list", indexed: "general")])],
                "/classes/0/properties/0/indexed"
            ),
            ([ClassInput("A", primaryKey: "q", [PropertyInput("p", "int")])], "/classes/0/primaryKey"),
            ([ClassInput("A", primaryKey: "p", [PropertyInput("p", "double")])], "/classes/0/primaryKey"),
            ([ClassInput("A", primaryKey: "p", [PropertyInput("p", "int", collection: "list")])], "/classes/0/primaryKey"),
            ([ClassInput("A", type: "embedded", primaryKey: "p", [PropertyInput("p", "int")])], "/classes/0/primaryKey"),
            ([ClassInput("A", type: "embedded", [PropertyInput("p", "object", objectType: "A")])], "/classes/0"),
            (
                [
                    ClassInput("A", type: "embedded", [PropertyInput("p", "object", objectType: "B")]),
                    ClassInput("B", type: "embedded", [PropertyInput("p", "object", collection: "list", objectType: "A")]),
                ], "/classes/1"
            ),
            (
                [
                    ClassInput("A", [PropertyInput("p", "object", collection: "set", objectType: "B")]),
                    ClassInput("B", type: "embedded", [PropertyInput("p", "int")]),
                ], "/classes/0/properties/0/collection"
            ),
        ] as [([ClassInput], String)])
    func `what no SDK accepts is refused with its place`(_ classes: [ClassInput], _ path: String) throws {
        let realm = try EngineRealm([])
        let error = realm.failure { try $0.createSchema(SchemaInput(classes: classes)) }
        #expect(error?.code == .invalidSchema && error?.path.description == path, "\(String(describing: error))")
        #expect(realm.database.current.snapshot.classes.isEmpty)
        try realm.finish()
    }

    @Test func `additions make a file fit, differences do not`() throws {
        let realm = try EngineRealm(TestSchema.counters)
        try realm.write { _ = try $0.create("Counter", ["_id": .integer(1), "n": .integer(5)]) }
        let counter = ClassInput(
            "Counter", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("n", "int", indexed: "general"), PropertyInput("label", "string"),
                PropertyInput("other", "object", objectType: "Other"),
            ])
        let other = ClassInput("Other", [PropertyInput("x", "int")])
        try realm.write { try $0.fitSchema(SchemaInput(classes: [counter, other])) }
        #expect(try realm.show("Counter", 1) == "{_id:1 n:5 label:'' other:null}")
        #expect(RealmSchema(realm.database.current.snapshot)["Counter"]?.properties[1].index == .general)
        let before = realm.database.current.token
        try realm.write { try $0.fitSchema(SchemaInput(classes: [counter, other])) }
        #expect(realm.database.current.token == before)
        for bad in [
            ClassInput("Counter", primaryKey: "_id", [PropertyInput("_id", "int"), PropertyInput("n", "int")]),
            ClassInput("Other", [PropertyInput("x", "string")]),
            ClassInput("Other", type: "embedded", [PropertyInput("x", "int")]),
            ClassInput("Other", [PropertyInput("x", "int", optional: true)]),
        ] {
            #expect(realm.failure { try $0.fitSchema(SchemaInput(classes: [bad])) }?.code == .schemaVersionConflict)
        }
        try realm.write { try $0.fitSchema(SchemaInput(version: 3, classes: [])) }
        #expect(realm.database.current.snapshot.schemaVersion == 3)
        #expect(realm.failure { try $0.fitSchema(SchemaInput(version: 2, classes: [])) }?.code == .schemaVersionConflict)
        try realm.finish()
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@Suite struct MigrationTests {
    private static let classes = [
        ClassInput(
            "Item", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("n", "int", optional: true, indexed: "general"),
                PropertyInput("text", "string"),
                PropertyInput("hex", "string", optional: true),
                PropertyInput("numbers", "int", collection: "list", optional: true),
                PropertyInput("map", "int", collection: "dictionary"), PropertyInput("names", "string", collection: "set"),
                PropertyInput("part", "object", objectType: "Part"),
                PropertyInput("parts", "object", collection: "list", objectType: "Part"),
                PropertyInput("weight", "double"), PropertyInput("any", "mixed"),
            ]),
        ClassInput("Part", [PropertyInput("label", "string")]),
    ]

    private func realm() throws -> EngineRealm {
        let realm = try EngineRealm(Self.classes)
        try realm.write { session in
            _ = try session.create("Part", ["label": .text("one")], as: "one")
            _ = try session.create("Part", ["label": .text("two")], as: "two")
            _ = try session.create(
                "Item",
                [
                    "_id": .integer(1), "n": .integer(5), "text": .text("7"), "hex": .text("0123456789abcdef01234567"),
                    "numbers": .list([.integer(1), .null]), "map": .object(["k": .integer(3)]),
                    "names": .list([.text("2"), .text("1")]),
                    "part": .link(.reference("one")), "parts": .list([.link(.reference("two"))]), "weight": .real(2.5),
                ])
            _ = try session.create("Item", ["_id": .integer(2), "text": .text("8"), "weight": .real(1)])
        }
        return realm
    }

    private func migrate(
        _ realm: EngineRealm, _ steps: [MigrationStep], losing: Bool = false, from: UInt64 = 0, to: UInt64 = 1
    ) throws -> WriteSession.Migrated {
        let answer = Awaited<Result<WriteReceipt<WriteSession.Migrated>, WriteError>>()
        realm.database.migrate(Migration(from: from, to: to, steps, allowsDataLoss: losing), EngineRealm.request()) {
            answer.set($0)
        }
        return try answer.wait().get().value
    }

    private func failure(_ realm: EngineRealm, _ steps: [MigrationStep], losing: Bool = false, from: UInt64 = 0) -> WriteError? {
        do {
            _ = try migrate(realm, steps, losing: losing, from: from)
            return nil
        } catch {
            return error as? WriteError
        }
    }

    private static func change(
        _ name: String, optional: Bool? = nil, type: String? = nil, _ conversion: String? = nil, null: InputValue? = nil
    ) -> MigrationStep {
        var change = PropertyChange("Item", name)
        (change.optional, change.type, change.conversion, change.nullValue) = (optional, type, conversion, null)
        return .changeProperty(change)
    }

    private static func failing(
        _ name: String, _ rule: PropertyChange.Failure, _ conversion: String?, optional: Bool? = nil
    ) -> MigrationStep {
        var change = PropertyChange("Item", name)
        (change.optional, change.conversion, change.onFailure) = (optional, conversion, rule)
        return .changeProperty(change)
    }

    @Test func `D28: classes and properties come, go and change their names`() throws {
        let realm = try realm()
        let result = try migrate(
            realm,
            [
                .addClass(ClassInput("New", [PropertyInput("x", "int")])),
                .addProperty(className: "Item", PropertyInput("flag", "bool"), value: .bool(true)),
                .addProperty(className: "Item", PropertyInput("new", "object", objectType: "New"), value: nil),
                .renameProperty(className: "Item", name: "text", to: "title"),
                .renameClass(name: "Part", to: "Piece"),
                .create(className: "New", body: ["x": .integer(1)]),
                .setIndex(className: "Item", name: "n", indexed: nil),
                .setIndex(className: "Item", name: "title", indexed: "fulltext"),
            ])
        #expect(result.before.version == 0 && result.after.version == 1)
        #expect(result.after.classes.map(\.name).sorted() == ["Item", "New", "Piece"])
        #expect(result.after == RealmSchema(realm.database.current.snapshot))
        let shown = try #require(try realm.show("Item", 1))
        #expect(shown.contains("n:5 title:'7'") && shown.hasSuffix("flag:true new:null}"), "\(shown)")
        let properties = try #require(result.after["Item"]?.properties)
        #expect(properties[1].index == nil && properties[2].index == .fullText)
        #expect(properties.first { $0.name == "part" }?.objectType == "Piece")
        try realm.finish()
    }

    /// realm-core left a former primary key so, in a file that it had upgraded from format 9.
    @Test(arguments: [true, false])
    func `a property that only claims to be indexed is not, until an index is asked for`(_ migrates: Bool) throws {
        let file = try TemporaryRealm()
        let made = try EngineRealm(path: file.path, [ClassInput("Item", [PropertyInput("n", "int", optional: true)])])
        try made.write { session in _ = try session.create("Item", ["n": .integer(5)]) }
        let snapshot = made.database.current.snapshot
        try made.finish()
        var editor = FileEditor(try file.bytes)
        let attributes = editor.child(editor.child(editor.table("Item", in: snapshot), 0), 2)
        editor.setElement(attributes, 0, editor.element(attributes, 0) | 1)
        try file.write(editor.bytes)
        let realm = try EngineRealm(path: file.path)
        #expect(RealmSchema(realm.database.current.snapshot)["Item"]?.properties.map(\.index) == [nil])
        #expect(realm.database.current.snapshot.verify().warnings == ["class_Item.n: the declared index is missing"])
        if migrates {
            _ = try migrate(realm, [.setIndex(className: "Item", name: "n", indexed: "general")])
        } else {
            let indexed = ClassInput("Item", [PropertyInput("n", "int", optional: true, indexed: "general")])
            try realm.write { session in try session.fitSchema(SchemaInput(classes: [indexed])) }
        }
        #expect(RealmSchema(realm.database.current.snapshot)["Item"]?.properties.map(\.index) == [.general])
        #expect(realm.database.current.snapshot.verify().warnings.isEmpty)
        try realm.finish()
    }

    @Test(
        arguments: [
            (change("n", type: "double", "int-to-double"), "n:5.0"), (change("n", type: "string", "int-to-string"), "n:'5'"),
            (change("text", type: "int", "string-to-int"), "text:7"),
            (change("weight", type: "decimal128", "double-to-decimal128"), "weight:2.5d"),
            (change("hex", type: "objectId", "string-to-objectId"), "hex:0123456789abcdef01234567"),
            (change("n", type: "mixed", "to-mixed"), "n:5"), (change("part", type: "mixed", "to-mixed"), "part:Part@0"),
            (change("n", type: "date", "int-to-date-seconds"), "n:1970-01-01T00:00:05Z"),
            (change("n", type: "date", "int-to-date-milliseconds"), "n:1970-01-01T00:00:00.005Z"),
            (change("numbers", type: "string", "int-to-string"), "numbers:['1' null]"),
            (change("numbers", optional: false, null: .integer(9)), "numbers:[1 9]"),
            (change("map", type: "double", "int-to-double"), "map:{k:3.0}"),
            (change("names", type: "int", "string-to-int"), "names:[1 2]"),
            (change("numbers", "list-to-set"), "numbers:[null 1]"), (change("names", "set-to-list"), "names:['1' '2']"),
            (change("text", "single-to-list"), "text:['7']"), (change("n", "single-to-set"), "n:[5]"),
            (change("parts", "list-to-single"), "parts:Part@1"), (change("part", "single-to-list"), "part:[Part@0]"),
            (change("names", optional: true), "names:['1' '2']"), (change("text", optional: true), "text:'7'"),
            (change("_id", type: "string", "int-to-string"), "n:5"),
        ] as [(MigrationStep, String)])
    func `D28: properties change their types`(_ step: MigrationStep, _ expected: String) throws {
        let realm = try realm()
        _ = try migrate(realm, [step])
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Item"))
        let row = try #require(try table.objects.row(at: 0))
        let shown = try ObjectText(snapshot).text(of: row, in: table)
        #expect(shown.contains(expected), "\(shown)")
        #expect(table.primaryKey?.name == "_id")
        try realm.finish()
    }

    @Test func `D28: nulls become something or are lost on request`() throws {
        let realm = try realm()
        let error = failure(realm, [Self.change("n", optional: false)])
        #expect(error?.code == .wouldLoseData && error?.counts.first?.count == 1)
        #expect(error?.path.description == "/steps/0/changeProperty")
        _ = try migrate(realm, [Self.change("n", optional: false, null: .integer(-1))])
        #expect(try realm.show("Item", 2)?.contains("n:-1") == true)
        let changed = try #require(realm.database.current.snapshot.classTable(named: "Item")?.column(named: "n"))
        #expect(!changed.isNullable && changed.declaredIndex == .general && changed.hasSearchIndex)
        _ = try migrate(realm, [Self.change("hex", optional: false)], losing: true, from: 1)
        #expect(try realm.show("Item", 2)?.contains("hex:''") == true)
        try realm.finish()
    }

    @Test func `D28: what loses data has to be allowed`() throws {
        let realm = try realm()
        let steps: [MigrationStep] = [
            .removeProperty(className: "Item", name: "text"),
            .delete(MigrationMatch("Item")),
        ]
        for step in steps {
            let error = failure(realm, [step])
            #expect(error?.code == .wouldLoseData && error?.counts.first?.count == 2, "\(String(describing: error))")
        }
        _ = try migrate(
            realm,
            [
                .removeProperty(className: "Item", name: "part"), .removeProperty(className: "Item", name: "parts"),
                .removeClass(name: "Part"),
                .delete(MigrationMatch("Item", try Query.parse("_id == $0"), arguments: { _ in [.int(2)] })),
            ], losing: true)
        #expect(realm.count("Item") == 1 && realm.count("Part") == -1)
        try realm.finish()
    }

    @Test func `D28: objects become embedded when each has one owner`() throws {
        let realm = try realm()
        let embed = MigrationStep.setType(className: "Part", type: "embedded")
        _ = try migrate(realm, [embed])
        #expect(try realm.show("Item", 1)?.contains("part:{label:'one'} parts:[{label:'two'}]") == true)
        _ = try migrate(
            realm, [.setType(className: "Part", type: "object"), .create(className: "Part", body: ["label": .text("three")])],
            from: 1)
        let error = failure(realm, [embed], from: 1)
        #expect(error?.code == .wouldLoseData && error?.counts.map(\.count) == [1, 0])
        _ = try migrate(realm, [embed], losing: true, from: 1)
        #expect(realm.count("Part") == 2)
        #expect(failure(realm, [.setType(className: "Item", type: "embedded")], from: 1)?.code == .invalidSchema)
        #expect(failure(realm, [.setPrimaryKey(className: "Part", name: "label")], from: 1)?.code == .invalidSchema)
        try realm.finish()
    }

    @Test func `D28: primary keys are unique`() throws {
        let realm = try realm()
        _ = try migrate(realm, [.setPrimaryKey(className: "Item", name: "text")])
        #expect(RealmSchema(realm.database.current.snapshot)["Item"]?.primaryKey == "text")
        try realm.write { _ = try $0.patch("Item", .text("7"), ["n": .integer(6)]) }
        #expect(
            failure(
                realm,
                [
                    .set(MigrationMatch("Item"), values: ["n": .integer(1)]), .setPrimaryKey(className: "Item", name: "n"),
                ], from: 1)?.code == .duplicateKey)
        _ = try migrate(realm, [.setPrimaryKey(className: "Item", name: nil)], from: 1)
        #expect(RealmSchema(realm.database.current.snapshot)["Item"]?.primaryKey == nil)
        try realm.finish()
    }

    @Test func `D28: values are computed from those before`() throws {
        let realm = try realm()
        _ = try migrate(
            realm,
            [
                .set(
                    MigrationMatch("Item", try Query.parse("n != NULL")),
                    values: [
                        "text": .expression("text + ' ' + part.label"), "n": .expression("(n + 1) * -2"),
                        "weight": .expression("weight / 2"),
                    ])
            ])
        let shown = try #require(try realm.show("Item", 1))
        #expect(shown.contains("n:-12 text:'7 one'") && shown.contains("weight:1.25"), "\(shown)")
        for bad in ["text +", "n + 'x'", "nothing", "parts", "(n", "n n", "1/0", "'open"] {
            let error = failure(realm, [.set(MigrationMatch("Item"), values: ["n": .expression(bad)])], from: 1)
            #expect(error?.path.description == "/steps/0/set/values/n", "\(bad): \(String(describing: error))")
        }
        try realm.finish()
    }

    @Test(
        arguments: [
            (.addClass(ClassInput("Part", [])), "/steps/0/addClass/name"),
            (.addClass(ClassInput("A", [PropertyInput("p", "x")])), "/steps/0/addClass/properties/0/type"),
            (.removeClass(name: "Part"), "/steps/0/removeClass/name"), (.removeClass(name: "X"), "/steps/0/removeClass/name"),
            (.renameClass(name: "Part", to: "Item"), "/steps/0/renameClass/to"),
            (.addProperty(className: "X", PropertyInput("p", "int"), value: nil), "/steps/0/addProperty/class"),
            (.addProperty(className: "Item", PropertyInput("n", "int"), value: nil), "/steps/0/addProperty/property/name"),
            (.removeProperty(className: "Item", name: "x"), "/steps/0/removeProperty/name"),
            (.renameProperty(className: "Item", name: "n", to: "text"), "/steps/0/renameProperty/to"),
            (change("n", type: "bool"), "/steps/0/changeProperty/conversion"),
            (change("n", type: "int", "int-to-string"), "/steps/0/changeProperty/conversion"),
            (change("n", type: "double", "x"), "/steps/0/changeProperty/conversion"),
            (change("n", "list-to-set"), "/steps/0/changeProperty/conversion"),
            (change("_id", "single-to-list"), "/steps/0/changeProperty/conversion"),
            (failing("text", .null, "string-to-int"), "/steps/0/changeProperty/onFailure"),
            (failing("text", .default, nil), "/steps/0/changeProperty/onFailure"),
            (.setPrimaryKey(className: "Item", name: "weight"), "/steps/0/setPrimaryKey/name"),
            (.setIndex(className: "Item", name: "weight", indexed: "general"), "/steps/0/setIndex/indexed"),
        ] as [(MigrationStep, String)])
    func `D28: steps that a schema does not allow are refused`(_ step: MigrationStep, _ path: String) throws {
        let realm = try realm()
        let error = failure(realm, [step])
        #expect(error?.code == .invalidSchema && error?.path.description == path, "\(String(describing: error))")
        #expect(realm.database.current.snapshot.schemaVersion == 0)
        try realm.finish()
    }

    @Test func `D28: versions have to match, and values to be convertible`() throws {
        let realm = try realm()
        #expect(failure(realm, [], from: 1)?.code == .schemaVersionConflict)
        try realm.write { _ = try $0.patch("Item", .text("2"), ["text": .text("x")]) }
        let error = failure(realm, [Self.change("text", type: "int", "string-to-int")])
        #expect(error?.code == .typeMismatch && error?.key == "2")
        #expect(error?.path.description == "/steps/0/changeProperty/conversion")
        try realm.finish()
    }

    @Test func `a file without a schema version is migrated from null or 0`() throws {
        for from in [nil, 0] as [UInt64?] {
            let realm = try EngineRealm([])
            #expect(realm.database.current.snapshot.schemaVersion == nil)
            try realm.write { session in
                _ = try session.migrate(Migration(from: from, to: 2, [.addClass(ClassInput("A", [PropertyInput("x", "int")]))]))
            }
            #expect(realm.database.current.snapshot.schemaVersion == 2)
            let error = realm.failure { try $0.migrate(Migration(from: from, to: 3, [])) }
            #expect(error?.code == .schemaVersionConflict && error?.path.description == "/fromVersion")
            try realm.finish()
        }
    }

    @Test func `D28: what cannot be converted is an error, null or a default, as the step says`() throws {
        let realm = try realm()
        try realm.write { session in
            _ = try session.patch("Item", .text("2"), ["text": .text("x"), "names": .list([.text("a"), .text("b")])])
        }
        #expect(failure(realm, [Self.failing("names", .error, "set-to-single")])?.code == .typeMismatch)
        _ = try migrate(
            realm,
            [
                Self.failing("text", .null, "string-to-int", optional: true),
                Self.failing("names", .default, "set-to-single"), Self.failing("hex", .default, "string-to-int"),
            ])
        let first = try #require(try realm.show("Item", 1))
        let second = try #require(try realm.show("Item", 2))
        #expect(first.contains("text:7 ") && first.contains("names:'' ") && first.contains("hex:0}"), "\(first)")
        #expect(second.contains("text:null ") && second.contains("names:'' ") && second.contains("hex:null}"), "\(second)")
        try realm.finish()
    }

    @Test func `D28: equal elements that a set loses have to be allowed`() throws {
        let realm = try realm()
        try realm.write { session in
            _ = try session.patch(
                "Item", .text("1"),
                ["numbers": .list([.integer(2), .integer(1), .integer(2)]), "names": .list([.text("1"), .text("01")])])
        }
        for step in [Self.change("numbers", "list-to-set"), Self.change("names", type: "int", "string-to-int")] {
            let error = failure(realm, [step])
            #expect(error?.code == .wouldLoseData && error?.counts.map(\.name) == ["duplicates"], "\(String(describing: error))")
            #expect(error?.counts.map(\.count) == [1])
        }
        _ = try migrate(realm, [Self.change("numbers", "list-to-set")], losing: true)
        #expect(try realm.show("Item", 1)?.contains("numbers:[1 2]") == true)
        _ = try migrate(realm, [Self.change("numbers", "set-to-list")], from: 1)
        #expect(try realm.show("Item", 1)?.contains("numbers:[1 2]") == true)
        try realm.finish()
    }

    @Test func `D28: embedded objects move between single values and lists with their contents`() throws {
        let realm = try realm()
        _ = try migrate(
            realm,
            [
                .setType(className: "Part", type: "embedded"), Self.change("part", "single-to-list"),
                Self.change("parts", "list-to-single"),
            ])
        #expect(try realm.show("Item", 1)?.contains("part:[{label:'one'}] parts:{label:'two'}") == true)
        #expect(realm.count("Part") == 2)
        #expect(failure(realm, [Self.change("part", "list-to-set")], from: 1)?.code == .invalidSchema)
        try realm.finish()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// The names of tables and columns in SQLite: those that an export gives and describes, those of other databases, and maps that lie.
@Suite struct SQLiteNamesTests {
    private static let sqlite = [("Content-Type", "application/vnd.sqlite3")]
    private static let lenient = [("Prefer", "handling=lenient")]

    private static func post(
        _ server: WriteServer, _ query: String, _ body: [UInt8], _ headers: [(String, String)] = []
    ) throws -> HTTPClient.Answer {
        try HTTPClient.request(
            port: server.port, "POST", "/v1/realms/app/import" + query, headers: sqlite + headers, body: body)
    }

    private static func export(_ server: WriteServer, _ query: String = "") throws -> [UInt8] {
        let answer = try server.get("app/export?format=sqlite" + query)
        #expect(answer.status == 200, "\(answer.text.prefix(300))")
        return answer.body
    }

    /// Runs statements on a database, or makes one; nil without the program that does it.
    private static func edit(_ file: [UInt8] = [], _ statements: String) throws -> [UInt8]? {
        let path = NSTemporaryDirectory() + "\(UUID().uuidString).sqlite"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3") else { return nil }
        try Data(file).write(to: URL(fileURLWithPath: path))
        program.arguments = ["-bail", path, statements]
        try program.run()
        program.waitUntilExit()
        #expect(program.terminationStatus == 0, "\(statements)")
        return try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private static func path(_ name: String) -> String {
        name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
    }

    /// The objects of all classes, without their keys.
    private static func state(_ server: WriteServer, _ classes: [ClassInput]) throws -> [String] {
        try classes.filter { $0.type != "embedded" }.flatMap { each in
            let items = try server.get("app/objects/\(path(each.name))?meta=none&limit=100").json["items"]?.elements
            return ["\(each.name):"] + (try #require(items)).map { "\($0)" }.sorted()
        }
    }

    // MARK: - Odd names

    /// Names that an export changes, and those that it changes others into.
    private static let classNames = [
        "A_2", "a_2", "A_l", "a_L", "A_l_2", "_REALM_NAMES", "_key", "owner", "_realm", "sqlite_x", "class_sqlite_x",
        String(repeating: "P", count: 57), String(repeating: "p", count: 57),
    ]
    private static let propertyNames = [
        "x", "X", "X_2", "x_2", "_key", "_KEY", "_key_2", "_id", "_ID", "key", "xmin", "XMIN_2", "ctid", "owner", "position",
        "value",
        "rowid", "oid", "l", "L", "l_2", "names", "$odd", "table", String(repeating: "q", count: 63),
        String(repeating: "q", count: 62) + "Q", String(repeating: "q", count: 61) + "_2",
    ]

    /// The kinds of properties, each with the JSON of a value made of a number.
    private static let kinds: [(make: @Sendable (String) -> PropertyInput, value: @Sendable (Int) -> String)] = [
        ({ PropertyInput($0, "int", optional: true) }, { "\($0)" }),
        ({ PropertyInput($0, "string", optional: true) }, { "\"\($0)\"" }),
        ({ PropertyInput($0, "int", collection: "list") }, { "[\($0),\($0),7]" }),
        ({ PropertyInput($0, "int", collection: "set") }, { "[\($0),\($0 + 1)]" }),
        ({ PropertyInput($0, "int", collection: "dictionary") }, { "{\"k\":\($0),\"K\":2}" }),
        ({ PropertyInput($0, "mixed") }, { "{\"a\":[\($0)]}" }),
        ({ PropertyInput($0, "object", objectType: "E") }, { "{\"x\":\($0),\"X\":1,\"_id\":2,\"l\":[\($0)],\"L\":[3]}" }),
        ({ PropertyInput($0, "object", collection: "list", objectType: "e") }, { "[{\"x\":\($0)},{\"l\":[\($0),1]}]" }),
        ({ PropertyInput($0, "object", collection: "dictionary", objectType: "E") }, { "{\"k\":{\"_id\":\($0)}}" }),
    ]

    private struct Odd {
        var classes: [ClassInput] = [
            ClassInput(
                "E", type: "embedded",
                ["x", "X", "_id"].map { PropertyInput($0, "int", optional: true) }
                    + ["l", "L"].map { PropertyInput($0, "int", collection: "list") }),
            ClassInput(
                "e", type: "embedded", [PropertyInput("x", "int", optional: true), PropertyInput("l", "int", collection: "list")]),
        ]
        /// The objects with the names of their classes.
        var objects: [(String, String)] = []

        init(_ random: inout SeededGenerator) {
            let names = ["A", "a", "_realm_names"] + SQLiteNamesTests.classNames.shuffled(using: &random).prefix(4)
            for name in names.shuffled(using: &random) {
                let key =
                    [
                        PropertyInput("id", "int"), PropertyInput("_key", "int"), PropertyInput("id", "string", optional: true),
                        nil,
                    ].randomElement(using: &random) ?? nil
                var all: [(PropertyInput, (Int) -> String)] = []
                for title in SQLiteNamesTests.propertyNames.shuffled(using: &random).prefix(9) where title != key?.name {
                    guard let kind = SQLiteNamesTests.kinds.randomElement(using: &random) else { continue }
                    all.append((kind.make(title), kind.value))
                }
                if key?.type == "int" { all.append((PropertyInput("next", "object", objectType: name), { "\($0 - 1)" })) }
                all.shuffle(using: &random)
                var properties = all.map(\.0)
                if let key { properties.insert(key, at: Int.random(in: 0...properties.count, using: &random)) }
                classes.append(ClassInput(name, primaryKey: key?.name, properties))
                for number in 1...3 {
                    var members = key.map { ["\"\($0.name)\":" + ($0.type == "int" ? "\(number)" : "\"\(number)\"")] } ?? []
                    for (property, value) in all where Int.random(in: 0..<4, using: &random) > 0 {
                        guard property.name != "next" || number > 1 else { continue }
                        members.append("\"\(property.name == "$odd" ? "$$odd" : property.name)\":\(value(number))")
                    }
                    objects.append((name, "{\(members.joined(separator: ","))}"))
                }
            }
        }
    }

    /// Numbered names were guessed again by the import: lists were lost, and values went into other properties.
    @Test(arguments: TestRun.seeds(quick: 6, long: 100))
    func `an export comes in again as equal objects whatever the names are`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let odd = Odd(&random)
        let source = try WriteServer(odd.classes)
        for (name, object) in odd.objects { try source.done("POST", "app/objects/\(Self.path(name))", object) }
        let (file, before) = (try Self.export(source), try Self.state(source, odd.classes))
        for (mode, atomic) in [("create", "true"), ("create", "false"), ("upsert", "true"), ("upsert", "false")] {
            let copy = try WriteServer(odd.classes)
            let answer = try Self.post(copy, "?mode=\(mode)&atomic=\(atomic)", file)
            #expect(answer.json["created"]?.int == odd.objects.count, "seed \(seed), \(mode), \(atomic): \(answer.text)")
            #expect(answer.json["tablesNotRead"] == nil, "seed \(seed), \(mode), \(atomic): \(answer.text)")
            #expect(try Self.state(copy, odd.classes) == before, "seed \(seed), \(mode), \(atomic)")
            try copy.finish()
        }
        // Each class alone, whose table may have another name then.
        let copy = try WriteServer(odd.classes)
        for each in odd.classes where each.type != "embedded" {
            let one = try Self.export(source, "&class=\(Self.path(each.name))")
            let answer = try Self.post(copy, "?mode=upsert", one)
            #expect(answer.json["created"]?.int == 3, "seed \(seed), \(each.name): \(answer.text)")
        }
        #expect(try Self.state(copy, odd.classes) == before, "seed \(seed)")
        try copy.finish()
        try source.finish()
    }

    // MARK: - Other classes

    private static func listed(_ name: String, _ more: [PropertyInput] = []) -> ClassInput {
        ClassInput(name, primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("l", "int", collection: "list")] + more)
    }

    /// The list was looked for under the name that an export of another set of classes would have given it.
    @Test func `the request names other classes for tables, whose collections come with them`() throws {
        let server = try WriteServer([Self.listed("A"), Self.listed("a"), Self.listed("P"), Self.listed("Q")])
        try server.done("POST", "app/objects/a", #"{"id":2,"l":[7]}"#)
        try server.done("POST", "app/objects/P", #"{"id":3,"l":[8]}"#)
        let (small, other) = (try Self.export(server, "&class=a"), try Self.export(server, "&class=P"))
        try server.done("PATCH", "app/objects/a/2", #"{"l":[9,9]}"#)
        let files = [small, try Self.edit(small, "DROP TABLE _realm_names")].compactMap { $0 }
        for query in ["", "&tables=a:a", "&tables=a:A"] {
            for file in files {
                let answer = try Self.post(server, "?mode=upsert" + query, file)
                #expect(answer.status == 200, "\(query): \(answer.text)")
                let name = query.hasSuffix("A") ? "A" : "a"
                #expect(try server.show("\(name)/2") == #"{"id":2,"l":[7]}"#, "\(query)")
                _ = try server.send("PATCH", "app/objects/\(name)/2", #"{"l":[9,9]}"#)
            }
        }
        for file in [other, try Self.edit(other, "DROP TABLE _realm_names")].compactMap({ $0 }) {
            let answer = try Self.post(server, "?mode=upsert&tables=P:Q", file)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.show("Q/3") == #"{"id":3,"l":[8]}"#)
            try server.done("DELETE", "app/objects/Q/3")
        }
        try server.finish()
    }

    @Test func `columns of the request go before those of the export`() throws {
        let server = try WriteServer([
            ClassInput(
                "A", primaryKey: "id", ["id", "x", "X", "y"].map { PropertyInput($0, "int", optional: $0 == "id" ? nil : true) })
        ])
        try server.done("POST", "app/objects/A", #"{"id":1,"x":1,"X":2,"y":3}"#)
        let file = try Self.export(server)
        let refused = try Self.post(server, "?mode=upsert&columns=X_2:y", file)
        #expect(refused.code == "invalid_parameter" && refused.text.contains("both mean"), "\(refused.text)")
        #expect(try Self.post(server, "?mode=upsert&columns=X_2:y,y:X", file).status == 200)
        #expect(try server.show("A/1") == #"{"id":1,"x":1,"X":3,"y":2}"#)
        try server.finish()
    }

    /// What the realm does not have was left out without a word, or a whole table of embedded objects was refused.
    @Test(arguments: ["true", "false"])
    func `classes and properties that the realm does not have are problems, or left out`(_ atomic: String) throws {
        let part = ClassInput("Part", type: "embedded", ["s", "t"].map { PropertyInput($0, "int", optional: true) })
        let link = PropertyInput("e", "object", objectType: "Part")
        let source = try WriteServer([part, Self.listed("A", [link]), Self.listed("B")])
        try source.done("POST", "app/objects/A", #"{"id":1,"l":[7],"e":{"s":1,"t":2}}"#)
        let file = try Self.export(source)
        let smaller = ClassInput("Part", type: "embedded", [PropertyInput("s", "int", optional: true)])
        let narrow = ClassInput("A", primaryKey: "id", [PropertyInput("id", "int"), link])
        for (classes, code, pointer, object) in [
            ([part, Self.listed("A", [link])], "class_not_found", nil, #"{"id":1,"l":[7],"e":{"s":1,"t":2}}"#),
            ([part, narrow, Self.listed("B")], "unknown_property", "/l", #"{"id":1,"e":{"s":1,"t":2}}"#),
            (
                [smaller, Self.listed("A", [link]), Self.listed("B")], "unknown_property", "/e/t",
                #"{"id":1,"l":[7],"e":{"s":1}}"#
            ),
        ] {
            let server = try WriteServer(classes)
            let refused = try Self.post(server, "?atomic=\(atomic)", file)
            #expect(refused.code == code && refused.json["committed"]?.int == 0, "\(refused.text)")
            #expect(refused.json["pointer"]?.text == pointer, "\(refused.text)")
            #expect(try server.get("app/objects/A?count=exact&limit=0").json["count"]?.int == 0)
            #expect(try Self.post(server, "?atomic=\(atomic)", file, Self.lenient).status == 200)
            let shown = try server.get("app/objects/A/1?meta=none").json
            #expect(shown == (try ParsedJSON(parsing: Array(object.utf8))), "\(shown)")
            // An export of fewer properties is as good for the realm that has more.
            let back = try Self.export(server, "&class=A")
            let again = try Self.post(source, "?mode=upsert&atomic=\(atomic)", back)
            #expect(again.json["updated"]?.int == 1, "\(again.text)")
            try source.done("PUT", "app/objects/A/1", #"{"l":[7],"e":{"s":1,"t":2}}"#)
            try server.finish()
        }
        try source.finish()
    }

    @Test func `a table of another database that may be two things is refused`() throws {
        let server = try WriteServer([
            ClassInput("A", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("b_c", "int", collection: "list")]),
            ClassInput("A_b", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("c", "int", collection: "list")]),
        ])
        guard
            let file = try Self.edit(
                [],
                "CREATE TABLE A (id INTEGER); CREATE TABLE A_b (id INTEGER); INSERT INTO A VALUES (1); INSERT INTO A_b VALUES (1);"
                    + "CREATE TABLE A_b_c (owner, position, value); INSERT INTO A_b_c VALUES (1, 0, 7);")
        else { return }
        let refused = try Self.post(server, "", file)
        #expect(refused.code == "invalid_body" && refused.text.contains("'A_b_c' may be"), "\(refused.text)")
        let taken = try Self.post(server, "", file, Self.lenient)
        #expect(taken.json["created"]?.int == 2, "\(taken.text)")
        #expect(try server.show("A/1") == #"{"id":1,"b_c":[]}"#)
        #expect(try Self.post(server, "?tables=A&mode=upsert", file).json["updated"]?.int == 1)
        #expect(try server.show("A/1") == #"{"id":1,"b_c":[7]}"#)
        try server.finish()
    }

    /// "leaves it out" was promised, but the number in the column was refused then.
    @Test(arguments: ["true", "false"])
    func `a table of embedded objects that is left out takes its properties along`(_ atomic: String) throws {
        let source = try WriteServer()
        try source.fill()
        let dog = #"{"_id":1,"age":9,"chip":{"code":"new"},"chips":[{"code":"new"}],"tags":["t"]}"#
        try source.done("PUT", "app/objects/Dog/1", dog)
        let file = try Self.export(source, "&class=Dog")
        for change in [
            "ALTER TABLE Chip ADD COLUMN more;", "ALTER TABLE Chip RENAME TO z; CREATE VIEW Chip AS SELECT * FROM z;",
            "ALTER TABLE Chip RENAME TO z; ALTER TABLE z RENAME TO chip;",
        ] {
            for prefix in ["", "DROP TABLE _realm_names;"] {
                guard let changed = try Self.edit(file, "UPDATE Dog SET owner = NULL;" + prefix + change) else { return }
                let server = try WriteServer()
                try server.done("PUT", "app/objects/Dog/1", #"{"age":1,"chip":{"code":"old"},"chips":[{"code":"old"}]}"#)
                let query = "?mode=upsert&atomic=\(atomic)"
                let refused = try Self.post(server, query, changed)
                #expect(refused.status == 400 && refused.json["committed"]?.int == 0, "\(prefix)\(change): \(refused.text)")
                #expect(refused.text.contains("handling=lenient"), "\(refused.text)")
                let taken = try Self.post(server, query, changed, Self.lenient)
                #expect(taken.status == 200, "\(prefix)\(change): \(taken.text)")
                let kept = try server.get("app/objects/Dog/1?meta=none").json
                #expect(kept["age"]?.int == 9 && kept["tags"]?.texts == ["t"], "\(kept)")
                #expect(kept["chip"]?["code"]?.text == "old" && kept["chips"]?[0]?["code"]?.text == "old", "\(kept)")
                try server.done("DELETE", "app/objects/Dog?where=TRUEPREDICATE")
                let made = try Self.post(server, "?mode=create&atomic=\(atomic)", changed, Self.lenient)
                #expect(made.status == 200, "\(prefix)\(change): \(made.text)")
                let fresh = try server.get("app/objects/Dog/1?meta=none").json
                #expect(
                    fresh["age"]?.int == 9 && fresh["chip"]?["code"] == nil && fresh["chips"]?.elements?.isEmpty != false,
                    "\(fresh)")
                try server.finish()
            }
        }
        try source.finish()
    }

    // MARK: - Tables without a name in the map

    /// Statements that make a map of tables, each with its class and the properties of its columns.
    private static func map(_ tables: (name: String, className: String, columns: [(String, String?)])...) -> String {
        let rows = tables.flatMap { table in
            table.columns.enumerated().map { index, column in
                "('\(table.name)','\(column.0)','\(table.className)',\(column.1.map { "'\($0)'" } ?? "NULL"),"
                    + "'\(index == 0 ? "key" : "property")')"
            }
        }
        return "CREATE TABLE _realm_names (\"table\", \"column\", class, property, role);"
            + "INSERT INTO _realm_names VALUES \(rows.joined(separator: ","));"
    }

    private static func list(_ table: String, _ value: Int) -> String {
        "CREATE TABLE \(table) (owner, position, value); INSERT INTO \(table) VALUES (1, 0, \(value));"
    }

    private static let (a, t, e) = (
        "CREATE TABLE A (id INTEGER, e); INSERT INTO A VALUES (1, 1);",
        "CREATE TABLE T (id INTEGER, e); INSERT INTO T VALUES (1, 1);",
        "CREATE TABLE E (_id INTEGER, x); INSERT INTO E VALUES (1, 5);"
    )
    private static let (ofA, ofT, ofE) = (
        map(("A", "A", [("id", "id"), ("e", "e")])), map(("T", "A", [("id", "id"), ("e", "e")])),
        map(("E", "E", [("_id", nil), ("x", "x")]))
    )

    /// The list was passed over without a word, and that of an embedded object was emptied.
    @Test(arguments: [
        (ofA + a + e + list("A_l", 7) + list("E_l", 8), "[7]", "[8]", []),
        (ofT + t + e + list("T_l", 7) + list("E_l", 8), "[7]", "[8]", []),
        (ofT + t + e + list("A_l", 7) + list("E_l", 8), "[1]", "[8]", ["A_l"]),
        (ofE + a + e + list("A_l", 7) + list("E_l", 8), "[7]", "[8]", []),
        (a + e + list("A_l", 7) + list("E_l", 8), "[7]", "[8]", []),
        (
            ofT + t + e + list("T_l", 7) + list("Z", 9)
                + "INSERT INTO _realm_names VALUES ('Z', 'owner', 'A', 'l', 'owner'), ('Z', 'position', 'A', 'l', 'position'),"
                + "('Z', 'value', 'A', 'l', 'value');", "[9]", "[]", ["T_l"]
        ),
        // An embedded object is written as a whole.
        (ofA + a + e, "[1]", "[]", []),
    ])
    func `a collection that the map does not name is read by its name`(
        _ statements: String, _ own: String, _ embedded: String, _ left: [String]
    ) throws {
        let items = PropertyInput("l", "int", collection: "list")
        let server = try WriteServer([
            ClassInput("E", type: "embedded", [PropertyInput("x", "int", optional: true), items]),
            Self.listed("A", [PropertyInput("e", "object", objectType: "E")]),
        ])
        guard let file = try Self.edit([], statements) else { return }
        for headers in [[], Self.lenient] {
            try server.done("PUT", "app/objects/A/1", #"{"l":[1],"e":{"x":1,"l":[1]}}"#)
            let answer = try Self.post(server, "?mode=upsert", file, headers)
            #expect(answer.json["updated"]?.int == 1, "\(statements): \(answer.text)")
            #expect(answer.json["tablesNotRead"]?.texts ?? [] == left, "\(statements): \(answer.text)")
            #expect(
                try server.show("A/1") == #"{"id":1,"l":\#(own),"e":{"x":5,"l":\#(embedded)}}"#, "\(statements): \(answer.text)")
        }
        try server.finish()
    }

    /// Exports of earlier versions have numbers in names, and no map.
    @Test func `tables that are not read are listed`() throws {
        let classes = [Self.listed("A"), ClassInput("A_l", primaryKey: "id", [PropertyInput("id", "int")]), Self.listed("a")]
        let (source, server) = (try WriteServer(classes), try WriteServer(classes))
        for (name, object) in [("A", #"{"id":1,"l":[1]}"#), ("A_l", #"{"id":2}"#), ("a", #"{"id":3,"l":[3]}"#)] {
            try source.done("POST", "app/objects/\(name)", object)
        }
        let export = try Self.export(source)
        try source.finish()
        guard let file = try Self.edit(export, "DROP TABLE _realm_names") else { return }
        for (query, left) in [
            ("&dryRun=true", ["a_2", "A_l_2", "a_2_l"]), ("", ["a_2", "A_l_2", "a_2_l"]),
            ("&atomic=false", ["a_2", "A_l_2", "a_2_l"]), ("&tables=A,A_l", ["A_l_2"]), ("&tables=A,A_l,a_2:a", ["A_l_2"]),
        ] {
            let answer = try Self.post(server, "?mode=upsert" + query, file)
            #expect(answer.status == 200, "\(query): \(answer.text)")
            let body = try #require(query.hasPrefix("&dryRun") ? answer.json["body"] : answer.json)
            #expect(body["tablesNotRead"]?.texts == left && body["moreTablesNotRead"] == nil, "\(query): \(answer.text)")
        }
        #expect(try server.show("a/3") == #"{"id":3,"l":[3]}"#)
        let whole = try Self.post(server, "?mode=upsert", export)
        #expect(whole.json["updated"]?.int == 3 && whole.json["tablesNotRead"] == nil, "\(whole.text)")
        try server.finish()
    }

    @Test func `the tables that are not read are listed up to a bound`() throws {
        let server = try WriteServer([Self.listed("A")])
        let long = String(repeating: "n", count: 90)
        let many = (1...120).map { "CREATE TABLE t\($0) (x);" }.joined()
        guard
            let file = try Self.edit(
                [],
                "CREATE TABLE A (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO A VALUES (1); CREATE TABLE \(long) (x);"
                    + "CREATE VIEW v AS SELECT * FROM A; CREATE TABLE A_z (owner, value, position); CREATE TABLE A_q (owner);"
                    + many)
        else { return }
        let answer = try Self.post(server, "", file)
        let left = try #require(answer.json["tablesNotRead"]?.texts)
        #expect(left.count == 100 && left.prefix(4) == [long.prefix(80) + "…", "v", "A_z", "A_q"], "\(answer.text)")
        #expect(answer.json["moreTablesNotRead"]?.int == 24, "\(answer.text)")
        let chosen = try Self.post(server, "?mode=upsert&tables=A", file)
        #expect(chosen.json["tablesNotRead"]?.texts == ["A_z"] && chosen.json["moreTablesNotRead"] == nil, "\(chosen.text)")
        // What is left out is not read either.
        guard let other = try Self.edit(file, "CREATE VIEW A_l AS SELECT * FROM A_z") else { return }
        #expect(try Self.post(server, "?mode=upsert&tables=A", other).status == 400)
        let lenient = try Self.post(server, "?mode=upsert&tables=A", other, Self.lenient)
        #expect(lenient.json["tablesNotRead"]?.texts == ["A_z", "A_l"], "\(lenient.text)")
        try server.finish()
    }

    // MARK: - Maps that lie

    private static let plain = "CREATE TABLE m AS SELECT * FROM _realm_names; DROP TABLE _realm_names;"

    @Test(arguments: [
        (#"UPDATE _realm_names SET "table" = 'Nope' WHERE "table" = 'Dog_tags'"#, "names the table 'Nope', which is not there"),
        (#"UPDATE _realm_names SET "table" = 'dog' WHERE "table" = 'Dog'"#, "names the table 'dog', which is not there"),
        (#"UPDATE _realm_names SET "column" = 'Age' WHERE "table" = 'Dog' AND "column" = 'age'"#, "names the column 'Age'"),
        (
            #"UPDATE _realm_names SET property = 'age' WHERE "table" = 'Dog' AND "column" = 'name'"#,
            "'age' of the class 'Dog' twice"
        ),
        (
            #"UPDATE _realm_names SET property = 'tags' WHERE "table" = 'Dog' AND "column" = 'name'"#,
            "'tags' of the class 'Dog' twice"
        ),
        (#"UPDATE _realm_names SET property = 'notes' WHERE "table" = 'Dog_tags'"#, "'notes' of the class 'Dog' twice"),
        (#"UPDATE _realm_names SET class = 'Note' WHERE "table" = 'Oid'"#, "gives the class 'Note' two tables"),
        (
            #"UPDATE _realm_names SET class = 'Note' WHERE "table" = 'Dog' AND "column" = 'age'"#,
            "gives the table 'Dog' two classes"
        ),
        (#"UPDATE _realm_names SET class = 'Cat' WHERE "table" = 'Dog_tags'"#, "no table of its objects"),
        (#"UPDATE _realm_names SET role = 'owner' WHERE "table" = 'Dog' AND "column" = 'age'"#, "one key and properties"),
        (#"UPDATE _realm_names SET role = 'key' WHERE "table" = 'Dog'"#, "one key and properties"),
        (#"UPDATE _realm_names SET property = NULL WHERE "table" = 'Dog' AND "column" = 'age'"#, "one key and properties"),
        (
            #"DELETE FROM _realm_names WHERE "table" = 'Dog_tags' AND role = 'value'"#,
            "an owner, a position or entry, and a value"
        ),
        (#"UPDATE _realm_names SET property = NULL WHERE "table" = 'Dog_tags' AND role = 'owner'"#, "an owner, a position"),
        ("UPDATE _realm_names SET role = 'Key' WHERE role = 'key'", "an unknown role"),
        ("UPDATE _realm_names SET role = x'6b6579' WHERE role = 'key'", "a value that is not a text"),
        (
            "UPDATE _realm_names SET property = 5 WHERE 0; UPDATE _realm_names SET property = x'05' WHERE property = 'age'",
            "not a text"
        ),
        ("UPDATE _realm_names SET property = CAST(x'ff' AS TEXT) WHERE property = 'age'", "not a text"),
        (
            plain
                + #"CREATE TABLE _realm_names ("table", "column", class, property, role); INSERT INTO _realm_names VALUES (NULL, 'a', 'b', 'c', 'key')"#,
            "in row 1 no table"
        ),
        (
            plain
                + #"CREATE TABLE _realm_names ("table", "column", class, property, role); INSERT INTO _realm_names SELECT * FROM m; INSERT INTO _realm_names SELECT * FROM m"#,
            "twice"
        ),
        (plain + "CREATE VIEW _realm_names AS SELECT * FROM m", "is a view"),
        (plain + "CREATE VIEW _REALM_NAMES AS SELECT * FROM m", "is a view"),
        (plain + "ALTER TABLE m RENAME TO _Realm_Names", "is called '_realm_names' in an export"),
        (
            plain
                + #"CREATE TABLE _realm_names ("table", "column", class, property, role AS ('key')); INSERT INTO _realm_names SELECT "table", "column", class, property FROM m"#,
            "is a generated column"
        ),
        (
            #"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000) INSERT INTO _realm_names SELECT 't' || x, 'c', 'k' || x, NULL, 'key' FROM n"#,
            "has more than 100000 rows"
        ),
        (
            #"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 40) INSERT INTO _realm_names SELECT 't' || x, hex(zeroblob(250000)), 'k' || x, NULL, 'key' FROM n"#,
            "or 16777216 bytes"
        ),
    ])
    func `a map that contradicts itself or the tables is refused, and nothing is committed`(
        _ change: String, _ part: String
    ) throws {
        let server = try WriteServer()
        try server.fill()
        guard let file = try Self.edit(try Self.export(server), change) else { return }
        for name in ["Dog", "Person", "Note", "Value"] { try server.done("DELETE", "app/objects/\(name)?where=TRUEPREDICATE") }
        for atomic in ["true", "false"] {
            let answer = try Self.post(server, "?mode=upsert&atomic=\(atomic)", file)
            #expect(answer.code == "invalid_body" && answer.text.contains(part), "\(change): \(answer.text)")
            #expect(answer.json["committed"]?.int == 0, "\(answer.text)")
        }
        for name in ["Dog", "Person", "Note", "Value"] {
            #expect(try server.get("app/objects/\(name)?count=exact&limit=0").json["count"]?.int == 0, "\(change)")
        }
        try server.finish()
    }

    /// They were passed over without a word.
    @Test(arguments: [
        ("CREATE TABLE X (_id, x); INSERT INTO X VALUES (1, 5), (2, 6);", "'X' has rows that belong to no object"),
        (
            "CREATE TABLE X (_id, x); INSERT INTO X VALUES (1, 5); CREATE TABLE X_l (owner, position, value); INSERT INTO X_l VALUES (9, 0, 1);",
            "'X_l' has rows that belong to no object"
        ),
        ("CREATE TABLE X (n, x); INSERT INTO X VALUES (1, 5);", "must have the columns _id, x"),
    ])
    func `rows of a table that the request names for an embedded class belong to objects`(_ tables: String, _ detail: String)
        throws
    {
        let e = ClassInput(
            "E", type: "embedded", [PropertyInput("x", "int", optional: true), PropertyInput("l", "int", collection: "list")])
        let server = try WriteServer([
            e, ClassInput("A", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("e", "object", objectType: "E")]),
        ])
        for (value, isMore) in [("NULL", false), ("1", true)] {
            guard let file = try Self.edit([], "CREATE TABLE A (id, e); INSERT INTO A VALUES (7, \(value));" + tables) else {
                return
            }
            let answer = try Self.post(server, "?tables=A:A,X:E", file)
            #expect(answer.status == 400 && answer.text.contains(detail), "\(isMore) \(answer.text)")
            #expect(try server.get("app/objects/A?count=exact&limit=0").json["count"]?.int == 0)
        }
        try server.finish()
    }

    @Test func `the export of a realm without classes comes in, and a map that is none is refused`() throws {
        let server = try WriteServer([Self.listed("A")])
        let empty = "CREATE TABLE _realm_names (\"table\", \"column\", class, property, role);"
        for (statements, status) in [
            (empty, 200), (empty + "CREATE TABLE T (id);", 400), (empty.replacing("role", with: "role, more"), 400),
            (empty.replacing("_realm", with: "_REALM"), 400), ("CREATE TABLE _realm_names (id); CREATE TABLE A (id);", 400),
            (empty + "INSERT INTO _realm_names VALUES ('A', 'id', 'A', 'i' || char(0), 'key'); CREATE TABLE A (id);", 400),
        ] {
            guard let file = try Self.edit([], statements) else { return }
            let answer = try Self.post(server, "", file)
            #expect(answer.status == status && answer.code != "invalid_json", "\(statements): \(answer.text)")
        }
        try server.finish()
    }

    /// They became texts without a word.
    @Test(arguments: ["[1,2", #"{"a":1,"a":2}"#, #""\ud800""#, " {", #"{"a":"#])
    func `a text that begins like JSON and is none is no Mixed value`(_ text: String) throws {
        let server = try WriteServer([
            ClassInput("A", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("m", "mixed")])
        ])
        guard let file = try Self.edit([], "CREATE TABLE A (id, m); INSERT INTO A VALUES (1, '\(text)');"),
            let plain = try Self.edit([], "CREATE TABLE A (id, m); INSERT INTO A VALUES (1, 'a [1'), (2, '[1]');")
        else { return }
        let answer = try Self.post(server, "", file)
        #expect(answer.status == 422 && answer.json["pointer"]?.text == "/m", "\(answer.text)")
        #expect(try Self.post(server, "", plain).json["created"]?.int == 2)
        #expect(try server.show("A/1") == #"{"id":1,"m":"a [1"}"#)
        try server.finish()
    }

    /// A database of others may have a table of this name, and a request may take it for a class.
    @Test func `a table of the name of the map with other columns is a table`() throws {
        let server = try WriteServer([ClassInput("_realm_names", primaryKey: "id", [PropertyInput("id", "int")])])
        guard let file = try Self.edit([], "CREATE TABLE _realm_names (id INTEGER); INSERT INTO _realm_names VALUES (4);") else {
            return
        }
        #expect(try Self.post(server, "", file).json["created"]?.int == 1)
        #expect(try Self.post(server, "?mode=upsert&tables=_realm_names", file).json["updated"]?.int == 1)
        let own = try Self.export(server)
        #expect(try Self.post(server, "?mode=upsert", own).json["updated"]?.int == 1)
        let table = try Self.post(server, "?mode=upsert&tables=_realm_names", own)
        #expect(table.code == "unknown_property", "\(table.text)")
        try server.finish()
    }
}

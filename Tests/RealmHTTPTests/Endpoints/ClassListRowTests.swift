// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Rows of the list of classes: schemas and their properties, and what runs through all of the interface.
@Suite struct ClassListRowTests {
    private static let fixtures = Fixtures.namesWithDump.filter { !Fixtures.isEncrypted($0) }

    // MARK: - Schemas

    @Test func `A11, D41, D42, D49: the schemas of realms and classes are those that the writers of the files declared`() throws {
        let server = try TestServer(ClassListRowTests.fixtures)
        var seen: [String: Set<String>] = [:]
        for name in ClassListRowTests.fixtures {
            let dump = try #require(try Fixtures.dump(name))
            let schema = try server.get("/v1/realms/\(name)/schema").json
            #expect(schema["schemaVersion"] == dump["schemaVersion"], "\(name)")
            let expected = dump["classes"]?.elements ?? []
            #expect(schema["classes"]?.elements?.count == expected.count, "\(name)")
            for one in expected {
                let className = one["name"]?.text ?? ""
                let found = try server.get("/v1/realms/\(name)/schema/\(ChangeServer.encode(className))").json
                #expect(found["type"] == one["type"] && found["primaryKey"] == one["primaryKey"], "\(name) \(className)")
                let properties = one["properties"]?.elements ?? []
                #expect(found["properties"]?.elements?.count == properties.count, "\(name) \(className)")
                for (property, wanted) in zip(found["properties"]?.elements ?? [], properties) {
                    for flag in ["name", "type", "collection", "optional", "indexed", "objectType"] {
                        #expect(property[flag] == wanted[flag] ?? .null, "\(name) \(className) \(flag): \(property)")
                        seen[flag, default: []].insert(property[flag]?.serialized ?? "nothing")
                    }
                }
                // The schema of the realm says the same of the class.
                #expect(schema["classes"]?.elements?.contains(found) == true, "\(name) \(className)")
            }
        }
        // Every flag had each of its values.
        let types = [
            "int", "bool", "string", "data", "date", "float", "double", "decimal128", "objectId", "uuid", "mixed", "object",
        ]
        #expect(seen["type"] == Set(types.map(ParsedJSON.quoted)))
        #expect(seen["collection"] == ["null", "\"list\"", "\"set\"", "\"dictionary\""])
        #expect(seen["optional"] == ["true", "false"] && seen["indexed"] == ["null", "\"general\"", "\"fulltext\""])
        #expect(try server.get("/v1/realms/links/schema/Nobody").code == "class_not_found")
        #expect(try server.get("/v1/realms/links/schema/class_Dog").code == "class_not_found")
    }

    @Test func `D33: all objects of a class are as many as its writers made, counted, listed and streamed`() throws {
        // One has objects of many megabytes, which say nothing more about their number.
        let names = ClassListRowTests.fixtures.filter { $0 != "blob-16m" }
        let server = try TestServer(names)
        var total = 0
        for name in names {
            for one in try #require(try Fixtures.dump(name))["classes"]?.elements ?? [] {
                guard let count = one["count"]?.int, count < 3000 else { continue }
                total += count
                let path = "/v1/realms/\(name)/objects/\(ChangeServer.encode(one["name"]?.text ?? ""))"
                let counted = try server.get(path + "?count=exact&limit=0")
                #expect(
                    counted.json["count"]?.int == count && counted.json["items"]?.elements?.isEmpty == true,
                    "\(path): \(counted.text)")
                let page = try server.get(path + "?limit=1000&meta=none").json
                #expect(
                    page["items"]?.elements?.count == min(count, 1000) && (page["next"] == .null) == (count <= 1000), "\(path)")
                let lines = try server.get(path + "?format=ndjson&meta=none").text.split(separator: "\n")
                #expect(lines.count == count, "\(path)")
            }
        }
        #expect(total > 1000)
    }

    @Test func `D33, D35: the realm in the address is the one that is asked, and without a choice it is the default`() throws {
        try withWriteServer(change: { $0.defaultRealm = "app" }) { (server: WriteServer) throws in
            let schema = try server.get("app/schema").text
            #expect(try server.attach(#"{"name":"other","inMemory":"other","schema":\#(schema)}"#).status == 201)
            try server.done("POST", "other/objects/Dog", #"[{"_id":1,"age":30},{"_id":8,"age":8},{"_id":9,"age":9}]"#)
            func ids(_ realm: String, _ query: String, _ args: String = "[]") throws -> [Int]? {
                let query = ChangeServer.encode(query)
                let answer = try server.get("\(realm)/objects/Dog?where=\(query)&args=\(ChangeServer.encode(args))&sort=_id")
                let asked = try server.send(
                    "QUERY", "\(realm)/objects/Dog",
                    #"{"where":"\#(query.removingPercentEncoding ?? "")","args":\#(args),"sort":["_id"]}"#)
                #expect(answer.json["items"] == asked.json["items"], "\(asked.text)")
                return answer.json["items"]?.elements?.compactMap { $0["_id"]?.int }
            }
            #expect(try ids("app", "TRUEPREDICATE") == [1, 2] && ids("other", "TRUEPREDICATE") == [1, 8, 9])
            #expect(try ids("app", "age < 6") == [1, 2] && ids("other", "age < 6") == [])
            #expect(try ids("app", "age > $0", "[7]") == [] && ids("other", "age > $0", "[7]") == [1, 8, 9])
            #expect(try ids("@default", "age < 6") == [1, 2])
            #expect(try server.get("@default/objects/Dog?count=exact").json["count"]?.int == 2)
            #expect(try server.get("other/objects/Dog/2").code == "object_not_found")
            #expect(try server.get("none/objects/Dog").code == "realm_not_found")
        }
    }

    @Test func `D43: a class and a property name the objects that link, in queries`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func people(_ query: String) throws -> HTTPClient.Answer {
                try server.get("app/objects/Person?count=exact&where=\(ChangeServer.encode(query))")
            }
            try server.done("POST", "app/objects/Person", #"{"id":"bob","dogs":[2,2]}"#)
            for (query, ids) in [
                ("@links.Dog.owner.age == 3", ["ann"]), ("ANY @links.Dog.owner.name == 'Rex'", ["ann"]),
                ("@links.Dog.owner.@count == 0", ["bob"]), ("@links.Dog.owner.age > 3", []),
                ("@links.@count == 0", ["bob"]), ("@links.Dog.owner.@max.age == 3", ["ann"]),
            ] {
                let answer = try people(query)
                #expect(answer.json["items"]?.elements?.compactMap { $0["id"]?.text } == ids, "\(query): \(answer.text)")
            }
            let dogs = try server.get(
                "app/objects/Dog?where=" + ChangeServer.encode("@links.Person.dogs.@links.Dog.owner.age == 3"))
            #expect(dogs.json["items"]?.elements?.compactMap { $0["_id"]?.int } == [1, 2], "\(dogs.text)")
            for query in ["@links.Dog.nothing.age == 1", "@links.Cat.owner.age == 1", "@links.Dog.age.age == 1"] {
                #expect(try people(query).code == "unknown_key_path", "\(query)")
            }
        }
    }

    @Test func `D62: an index is told by the schema, made and removed by a migration, and used by queries`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func indexed() throws -> String? {
                let properties = try server.get("app/schema/Dog").json["properties"]?.elements
                return properties?.first { $0["name"]?.text == "name" }?["indexed"]?.plainText
            }
            func plan(_ query: String) throws -> String {
                try server.get("app/objects/Dog?explain=true&where=\(ChangeServer.encode(query))").json["plan"]?.serialized ?? ""
            }
            func migrate(_ version: Int, _ index: String) throws {
                let step = #"{"setIndex":{"class":"Dog","name":"name","indexed":\#(index)}}"#
                try server.done(
                    "POST", "app/migrations", #"{"fromVersion":\#(version),"toVersion":\#(version + 1),"steps":[\#(step)]}"#)
            }
            #expect(try indexed() == "null" && !plan("name == 'Rex'").contains("index"))
            try migrate(0, #""general""#)
            #expect(try indexed() == "general" && plan("name == 'Rex'").contains("search index"))
            #expect(try plan("_id == 1").contains("search index"))
            try migrate(1, #""fulltext""#)
            #expect(try indexed() == "fulltext" && plan("name TEXT 'rex'").contains("full text index"))
            #expect(try server.get("app/objects/Dog?where=name%20TEXT%20'rex'").json["items"]?.elements?.count == 1)
            try migrate(2, "null")
            #expect(try indexed() == "null" && !plan("name == 'Rex'").contains("index"))
        }
    }

    // MARK: - Values

    /// Values of every type as bodies state them in a property of type mixed.
    private static let mixed = [
        "null", "true", "-9007199254740993", #"{"$numberLong":"7"}"#, "2.5", #"{"$numberFloat":"0.1"}"#,
        #"{"$numberDouble":"NaN"}"#, #"{"$numberDecimal":"12.500"}"#, #""text""#, #""""#, #"{"$binary":"AAEC"}"#,
        #"{"$date":"2024-05-17T09:30:00.25Z"}"#, #"{"$oid":"652196ca3fe67ca7cabde606"}"#,
        #"{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"}"#,
        #"{"$binary":{"base64":"OyQRAeK7QlWMr0E2xWapYg==","subType":"04"}}"#, #"{"$link":{"class":"Dog","key":"1"}}"#, "[]", "{}",
        #"[1,[2,[3,{"a":[null]}]],{"b":{"c":{"$oid":"652196ca3fe67ca7cabde606"}}}]"#,
        #"{"list":[1,"x",{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"}],"link":{"$link":{"class":"Dog","key":"2"}},"none":null}"#,
    ]

    @Test(arguments: mixed)
    func `D60: values of every type, and collections of them at any depth, come back from mixed as they were given`(
        _ value: String
    ) throws {
        try withWriteServer { (server: WriteServer) throws in
            let body = #"{"_id":2,"mixed":\#(value),"mixeds":[\#(value),1],"map":{"k":\#(value)}}"#
            try server.done("POST", "app/objects/Value", body)
            let first = try server.get("app/objects/Value/2?meta=none").json
            let one = try #require(first["mixed"])
            #expect(first["mixeds"]?[0] == one && first["map"]?["k"] == one, "\(first)")
            // What was answered is taken again, and is the same then.
            try server.done("PATCH", "app/objects/Value/1", #"{"mixed":\#(one)}"#)
            #expect(try server.get("app/objects/Value/1?meta=none").json["mixed"] == one)
            // The types are those that were stated: the forms of types that JSON does not have name them.
            if value.hasPrefix("{\"$"), !value.contains("$numberLong") {
                let name = value.contains("$uuid") ? "$binary" : try ParsedJSON(parsing: value).members?.first?.name
                #expect(one.members?.map(\.name) == [name ?? ""], "\(one)")
                #expect(!value.contains("$uuid") || one["$binary"]?["subType"]?.text == "04")
            } else if !value.contains("$") {
                #expect(try one == ParsedJSON(parsing: value), "\(one)")
            }
            // A query finds it by its type.
            let type = ChangeServer.encode("mixed.@type == '\(ClassListRowTests.type(of: one))'")
            if one != .null { #expect(try server.get("app/objects/Value?count=exact&where=\(type)").json["count"]?.int == 2) }
        }
    }

    /// The name that queries have for the type of a value in a property of type mixed.
    private static func type(of value: ParsedJSON) -> String {
        switch value {
        case .null: return "null"
        case .bool: return "bool"
        case .integer: return "int"
        case .number: return "double"
        case .string: return "string"
        case .array: return "array"
        case .object(let members):
            if value["$binary"]?["subType"]?.text == "04" { return "uuid" }
            let names = [
                "$numberFloat": "float", "$numberDouble": "double", "$numberDecimal": "decimal128", "$binary": "binary",
                "$date": "date", "$oid": "objectid", "$link": "link",
            ]
            return members.first.flatMap { names[$0.name] } ?? "dictionary"
        }
    }

    // MARK: - Isolation

    /// Who moves a point from one dog to another leaves the sum of their ages as it was.
    @Test func `D59: a hundred requests at a time see whole versions, and none fails`() throws {
        try withWriteServer(change: { $0.limits.http.connectionsPerAddress = 200 }) { (server: WriteServer) throws in
            let clients = try (0..<100).map { _ in try HTTPClient(port: server.port) }
            let host = "Host: 127.0.0.1:\(server.port)\r\n"
            let move = #"""
                {"ops":[{"increment":{"class":"Dog","key":"1","property":"age","by":1}},
                {"increment":{"class":"Dog","key":"2","property":"age","by":-1}}]}
                """#
            let post = "POST /v1/realms/app/batch HTTP/1.1\r\n\(host)Content-Type: application/json\r\nContent-Length: "
            let requests = [
                post + "\(move.utf8.count)\r\n\r\n" + move, "GET /v1/realms/app/objects/Dog?fields=age HTTP/1.1\r\n\(host)\r\n",
                "GET /v1/realms/app/objects/Dog?format=ndjson&fields=age&meta=none HTTP/1.1\r\n\(host)\r\n",
                "GET /v1/realms/app/aggregate/Dog?ops=count,sum:age HTTP/1.1\r\n\(host)\r\n",
            ]
            for round in 0..<5 {
                // All have asked before the first of them listens.
                for (number, client) in clients.enumerated() { try client.send(requests[(number + round) % requests.count]) }
                for (number, client) in clients.enumerated() {
                    let answer = try client.readAnswer()
                    #expect(answer.status == 200 && answer.isComplete, "\(answer.text)")
                    let ages: [Int?]
                    switch (number + round) % requests.count {
                    case 0: ages = [8, 0]
                    case 1: ages = (answer.json["items"]?.elements ?? []).map { $0["age"]?.int }
                    case 2: ages = try answer.text.split(separator: "\n").map { try ParsedJSON(parsing: String($0))["age"]?.int }
                    default: ages = answer.json["count"]?.int == 2 ? [answer.json["sum:age"]?.int, 0] : []
                    }
                    #expect(ages.count == 2 && ages.reduce(0) { $0 + ($1 ?? 100) } == 8, "\(answer.text)")
                }
            }
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3 + 5 * 25)
        }
    }

    // MARK: - Names and languages

    @Test func `D66: the models in Swift have the classes and properties of the schema under their names`() throws {
        let server = try TestServer(["store"])
        let classes = try server.get("/v1/realms/store/schema").json["classes"]?.elements ?? []
        #expect(classes.count > 5)
        let text = try server.get("/v1/realms/store/schema?format=swift").text
        for one in classes {
            let name = one["name"]?.text ?? ""
            let base = one["type"]?.text == "embedded" ? "EmbeddedObject" : "Object"
            #expect(text.contains("class \(name): \(base) {"))
            for property in one["properties"]?.elements ?? [] {
                let part = "var \(property["name"]?.text ?? ""): "
                #expect(text.contains(part), "\(name): \(part)")
            }
        }
        #expect(text.contains("@Persisted(primaryKey: true) var _id: ObjectId"))
    }

    static let syncMembers = [
        "syncConfiguration", "flexibleSyncConfiguration", "initialSubscriptions", "rerunOnOpen", "downloadBeforeOpen",
        "cancelAsyncOpenOnNonFatalErrors", "clientResetMode",
    ]

    @Test(arguments: syncMembers)
    func `D64, E16, E17, E40: what is about device sync is refused by its name, wherever it is stated`(_ member: String) throws {
        try withWriteServer { (server: WriteServer) throws in
            for source in [
                #""inMemory":"s""#, #""schema":{"classes":[]}"#, #""path":"\#(server.folder)/app.realm""#,
                #""seed":"\#(server.folder)/app.realm""#,
            ] {
                for query in ["", "?dryRun=true"] {
                    let answer = try server.attach(#"{"name":"s",\#(source),"\#(member)":{}}"#, query)
                    #expect(answer.status == 400 && answer.code == "invalid_body", "\(answer.text)")
                    #expect(answer.json["pointer"]?.text == "/" + member)
                    #expect(
                        answer.json["detail"]?.text == "'\(member)' belongs to device sync; realms are not synchronized here")
                }
            }
            #expect(try server.get("s").code == "realm_not_found")
            let copy = try server.send("POST", "app/backup", #"{"\#(member)":null}"#)
            #expect(copy.status == 400 && copy.json["detail"]?.text?.contains("not synchronized") == true, "\(copy.text)")
        }
        var configuration = Configuration()
        let error = #expect(throws: ConfigurationError.self) {
            try configuration.apply(text: "realms:\n  app:\n    path: a\n    \(member): 1", ofFile: "/c.yaml")
        }
        #expect(error?.line == 4 && error?.description.contains("realms are not synchronized here") == true)
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Values of properties that creates leave out.
@Suite struct DefaultRowTests {
    private static let schema = """
        {"classes":[
        {"name":"Dog","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"age","type":"int"},
          {"name":"size","type":"double"},{"name":"name","type":"string","optional":true},
          {"name":"tags","type":"string","collection":"list"},{"name":"born","type":"date","optional":true},
          {"name":"any","type":"mixed"},{"name":"chip","type":"object","objectType":"Chip"},
          {"name":"friend","type":"object","objectType":"Dog"}]},
        {"name":"Chip","type":"embedded","properties":[{"name":"code","type":"string"},{"name":"level","type":"int"}]}]}
        """
    private static let defaults = """
        {"Dog":{"age":7,"size":1.5,"name":"Rex","tags":["new"],"born":"2020-01-01","any":{"k":[1]}},"Chip":{"level":3}}
        """

    /// The members of an object without `$meta`.
    private func show(_ server: WriteServer, _ key: Int) throws -> ParsedJSON {
        try server.get("dogs/objects/Dog/\(key)?meta=none").json
    }

    @Test func `C15: a create takes the configured value of what it leaves out`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let made = try server.attach(
                #"{"name":"dogs","schema":\#(DefaultRowTests.schema),"defaults":\#(DefaultRowTests.defaults)}"#)
            #expect(made.status == 201, "\(made.text)")
            #expect(made.json["options"]?["defaults"]?["Dog"]?["age"]?.int == 7)
            // Every way to make an object, with the keys 1 to 7.
            #expect(try server.send("POST", "dogs/objects/Dog", #"{"_id":1}"#).status == 201)
            #expect(try server.send("PUT", "dogs/objects/Dog/2", "{}").status == 201)
            #expect(try server.send("POST", "dogs/objects/Dog?upsert=all", #"{"_id":3}"#).status == 201)
            #expect(
                try server.send("POST", "dogs/batch", #"{"ops":[{"create":{"class":"Dog","body":{"_id":4}}}]}"#).status == 200)
            let lines = [("Content-Type", "application/x-ndjson")]
            #expect(try server.send("POST", "dogs/objects/Dog", "{\"_id\":5}\n", lines).status < 300)
            let nested = #"{"_id":6,"friend":{"_id":7}}"#
            #expect(try server.send("POST", "dogs/objects/Dog?nested=upsert", nested).status == 201)
            for key in 1...7 {
                let dog = try show(server, key)
                #expect(dog["age"]?.int == 7 && dog["size"]?.double == 1.5 && dog["name"]?.text == "Rex", "\(key): \(dog)")
                #expect(dog["tags"]?.texts == ["new"] && dog["born"]?.text?.hasPrefix("2020-01-01T00:00:00") == true)
                #expect(dog["any"]?["k"]?.ints == [1])
            }
            // What is given counts, null too; embedded objects have defaults of their own.
            let given = #"{"_id":8,"age":1,"size":2,"name":null,"tags":[],"born":null,"any":null,"chip":{"code":"c"}}"#
            #expect(try server.send("POST", "dogs/objects/Dog", given).status == 201)
            let dog = try show(server, 8)
            #expect(dog["age"]?.int == 1 && dog["name"] == .null && dog["tags"]?.texts == [] && dog["any"] == .null)
            #expect(dog["chip"]?["code"]?.text == "c" && dog["chip"]?["level"]?.int == 3)
            // A replacement and an update take none.
            #expect(try server.send("PUT", "dogs/objects/Dog/8", #"{"age":2,"size":3}"#).status == 200)
            #expect(try show(server, 8)["name"] == .null)
            #expect(try server.send("PUT", "dogs/objects/Dog/8", #"{"age":2}"#).code == "missing_property")
            // They belong to the configuration, and are not in the file: attached without them they are no more.
            try server.done("DELETE", "dogs")
            #expect(try server.attach(#"{"path":"\#(server.folder)/dogs.realm"}"#).status == 201)
            let bare = try server.send("POST", "dogs/objects/Dog", #"{"_id":9}"#)
            #expect(bare.status == 422 && bare.code == "missing_property", "\(bare.text)")
            try server.done("DELETE", "dogs")
            #expect(
                try server.attach(#"{"path":"\#(server.folder)/dogs.realm","defaults":\#(DefaultRowTests.defaults)}"#).status
                    == 201)
            // What has no default still has to be given.
            #expect(try server.send("PATCH", "dogs/objects/Dog/1", #"{"chip":{}}"#).code == "missing_property")
        }
    }

    @Test func `C15: defaults are shown in the schema, and refused when they do not fit it`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let realm = #"{"name":"dogs","schema":\#(DefaultRowTests.schema),"defaults":"#
            for (defaults, pointer) in [
                (#"{"Cat":{"age":1}}"#, "/defaults/Cat"), (#"{"Dog":{"legs":4}}"#, "/defaults/Dog/legs"),
                (#"{"Dog":{"age":"x"}}"#, "/defaults/Dog/age"), (#"{"Dog":{"age":null}}"#, "/defaults/Dog/age"),
                (#"{"Dog":{"tags":"x"}}"#, "/defaults/Dog/tags"), (#"{"Dog":{"tags":[1]}}"#, "/defaults/Dog/tags"),
                (#"{"Dog":{"_id":1}}"#, "/defaults/Dog/_id"), (#"{"Dog":{"friend":1}}"#, "/defaults/Dog/friend"),
            ] {
                let answer = try server.attach(realm + defaults + "}")
                #expect(answer.status == 422 && answer.code == "invalid_schema", "\(answer.text)")
                #expect(answer.json["pointer"]?.text == pointer, "\(answer.text)")
                #expect(try server.get("dogs").status == 404)
            }
            for defaults in ["1", #"{"Dog":1}"#, #"{"Dog":{"age":{"$date":"x"}}}"#] {
                let answer = try server.attach(realm + defaults + "}")
                #expect(answer.status == 400 && answer.code == "invalid_body", "\(answer.text)")
            }
            #expect(try server.attach(realm + DefaultRowTests.defaults + "}").status == 201)
            let classes = try server.get("dogs/schema").json["classes"]?.elements ?? []
            let properties = classes.first { $0["name"]?.text == "Dog" }?["properties"]?.elements ?? []
            let shown = Dictionary(uniqueKeysWithValues: properties.map { ($0["name"]?.text ?? "", $0["default"]) })
            #expect(shown["age"]??.int == 7 && shown["size"]??.double == 1.5 && shown["tags"]??.texts == ["new"])
            #expect(shown["_id"] == .some(nil))
            let json = try server.get("dogs/schema?format=json-schema").json["$defs"]?["Dog"]?["properties"]?["age"]
            #expect(json?["default"]?.int == 7)
            // The description of the realm says what a create may leave out, and what it then gets.
            let schemas = try server.get("dogs/openapi.json").json["components"]?["schemas"]
            #expect(schemas?["DogCreate"]?["required"]?.texts == ["_id"])
            let described = schemas?["DogCreate"]?["properties"]
            #expect(described?["age"]?["default"]?.int == 7 && described?["tags"]?["default"]?.texts == ["new"])
            #expect(described?["any"]?["default"]?["k"]?.ints == [1] && described?["_id"]?["default"] == nil)
            #expect(schemas?["DogPatch"]?["properties"]?["age"]?["default"] == nil)
            #expect(schemas?["Dog"]?["properties"]?["age"]?["default"] == nil)
            // The schema that is shown makes a realm of its own.
            let schema = try server.get("dogs/schema").text
            #expect(try server.attach(#"{"name":"copy","schema":\#(schema)}"#).status == 201)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmTestSupport
import Testing

/// Rows B7 to B9 of the checklist: of what type the elements of a result are, and whether they may be null.
@Suite struct ResultElementRowTests {
    /// Every type of element, with a value of it and the class of objects.
    private static let elements: [(type: String, value: String, objectType: String?)] =
        CollectionRowTests.elements.map { ($0.type, $0.values[0], nil) } + [
            ("object", #"{"$link":{"class":"Target","key":"1"}}"#, "Target"), ("object", #"{"n":1}"#, "Part"),
        ]

    private static let collections = ["list", "set", "dictionary"]

    /// A property for every type of element, kind of collection and possibility of null.
    private static let properties: [(input: PropertyInput, name: String, value: String)] = collections.flatMap { collection in
        elements.flatMap { element -> [(input: PropertyInput, name: String, value: String)] in
            // A set has no embedded objects. Objects in lists and sets are never null, in dictionaries they always may be.
            if collection == "set", element.objectType == "Part" { return [] }
            let isDictionary = collection == "dictionary"
            let nulls = element.objectType != nil ? [isDictionary] : element.type == "mixed" ? [true] : [false, true]
            return nulls.map { isOptional in
                let name = "\(collection)_\(element.objectType ?? element.type)_\(isOptional)"
                let input = PropertyInput(
                    name, element.type, collection: collection, optional: isOptional, objectType: element.objectType)
                return (input, name, element.value)
            }
        }
    }

    private static func withHolder(_ body: (WriteServer) throws -> Void) throws {
        try withWriteServer([
            ClassInput("Holder", primaryKey: "_id", [PropertyInput("_id", "int")] + properties.map(\.input)),
            ClassInput("Target", primaryKey: "_id", [PropertyInput("_id", "int")]),
            ClassInput("Part", type: "embedded", [PropertyInput("n", "int")]),
        ]) { server in
            try server.done("PUT", "app/objects/Target/1", "{}")
            try server.done("PUT", "app/objects/Holder/1", "{}")
            for property in properties {
                let isDictionary = property.name.hasPrefix("dictionary")
                let value = isDictionary ? "{\"k\":\(property.value)}" : "[\(property.value)]"
                try server.done("PUT", "app/objects/Holder/1/\(property.name)", value)
            }
            try body(server)
        }
    }

    @Test func `B7, B8, B9: collections of every type of element report type, class and whether there may be nulls`() throws {
        try ResultElementRowTests.withHolder { (server: WriteServer) throws in
            let schema = try server.get("app/schema/Holder").json["properties"]?.elements ?? []
            for property in ResultElementRowTests.properties {
                let found = try #require(schema.first { $0["name"]?.text == property.name })
                let parts = property.name.split(separator: "_").map(String.init)
                let isObject = ["Target", "Part"].contains(parts[1])
                #expect(found["collection"]?.text == parts[0])
                #expect(found["type"]?.text == (isObject ? "object" : parts[1]), "\(found)")
                #expect(found["optional"]?.bool == (parts[2] == "true"), "\(found)")
                #expect(found["objectType"] == (isObject ? .string(parts[1]) : .null), "\(found)")
                // Objects of their own tell their class and key; values have neither.
                let page = try server.get("app/objects/Holder/1/\(property.name)").json["items"]?.elements ?? []
                #expect(page.count == 1, "\(property.name)")
                let row = try #require(page.first)
                let object = parts[0] == "dictionary" ? row["object"] : row
                if parts[1] == "Target" {
                    #expect(object?["$meta"]?["class"]?.text == "Target" && object?["$meta"]?["key"]?.text == "1", "\(row)")
                } else {
                    #expect(!row.serialized.contains("$meta"), "\(row)")
                }
            }
        }
    }

    @Test func `B7, B9: rows of a class report it, and results of no class have none`() throws {
        let all = try ResultRows.shared.get()
        for query in ["", "?sort=-real", "?where=group%20%3D%3D%202&distinct=name"] {
            let answer = try all.server.must("GET", "app/objects/Row" + query)
            let rows = answer["items"]?.elements ?? []
            #expect(!rows.isEmpty && rows.allSatisfy { $0["$meta"]?["class"]?.text == "Row" })
        }
        let lines = try all.server.send("GET", "app/objects/Row?format=ndjson").text.split(separator: "\n")
        #expect(lines.count == all.rows.count && lines.allSatisfy { $0.contains(#""$meta":{"class":"Row","#) })
        let schema = try all.server.must("GET", "app/schema/Row")["properties"]?.elements ?? []
        let types = schema.map { "\($0["name"]?.text ?? ""): \($0["objectType"]?.plainText ?? "")" }
        #expect(types == ["_id: null", "group: null", "name: null", "real: null", "owner: Owner"])
        let boss = try all.server.must("GET", "app/objects/Owner/1/@links/Row/owner?limit=1")
        #expect(boss["items"]?[0]?["$meta"]?["class"]?.text == "Row")
    }

    @Test func `B8: nulls among ints come back where they were, and where they are not allowed they are refused`() throws {
        try ResultElementRowTests.withHolder { (server: WriteServer) throws in
            let base = "app/objects/Holder/1/list_int_"
            try server.done("PUT", base + "true", "[null,1,null,2,null]")
            let page = try server.get(base + "true").json["items"]?.elements
            #expect(page == [.null, .integer(1), .null, .integer(2), .null])
            #expect(try server.show("Holder/1").contains(#""list_int_true":[null,1,null,2,null]"#))
            #expect(try server.get(base + "true?where=self%20%3D%3D%20NULL&count=exact").json["count"]?.int == 3)
            #expect(
                try server.get(base + "true?sort=-self").json["items"]?.elements == [
                    .integer(2), .integer(1), .null, .null, .null,
                ])
            try server.done("PUT", base + "false", "[1,2]")
            let bytes = try server.bytes()
            for value in ["[null]", "[1,null]", "null"] {
                let answer = try server.send("PUT", base + "false", value)
                #expect(answer.status == 422 && answer.code == "null_not_allowed", "\(answer.text)")
                let body = try server.send("PATCH", "app/objects/Holder/1", "{\"list_int_false\":\(value)}")
                #expect(body.status == 422 && body.code == "null_not_allowed", "\(body.text)")
            }
            let patch = #"[{"op":"add","path":"/list_int_false/-","value":null}]"#
            #expect(
                try server.send("PATCH", "app/objects/Holder/1", patch, WriteServer.jsonPatch).code == "null_not_allowed")
            let edit = #"{"list":{"class":"Holder","key":"1","property":"list_int_false","ops":[{"add":null}]}}"#
            #expect(try server.batch(edit).code == "null_not_allowed")
            #expect(try server.bytes() == bytes)
            #expect(try server.show("Holder/1").contains(#""list_int_false":[1,2]"#))
        }
    }
}

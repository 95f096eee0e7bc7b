// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Rows that stand for a whole page of the interface: what it offers, used in one go.
@Suite struct InterfaceRowTests {
    private static let schema = """
        {"schemaVersion":1,"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"},
        {"name":"name","type":"string","optional":true}]}]}
        """

    @Test func `D44: a realm is opened, described, written to in a transaction, observed, copied and closed`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.attach(#"{"name":"shop","schema":\#(InterfaceRowTests.schema)}"#).status == 201)
            let facts = try server.get("shop").json
            #expect(facts["schemaVersion"]?.int == 1 && facts["empty"]?.bool == true && facts["mode"]?.text == "rw")
            // A transaction: seen inside only, then by all, and told as one.
            let stream = try EventClient(port: server.port, "/v1/realms/shop/changes?class=Item&initial=false&include=keys")
            _ = try stream.next("ready")
            let id = try #require(try server.done("POST", "shop/transactions", "{}").json["id"]?.text)
            let inside = [("Realm-Transaction", id)]
            for key in 1...3 { try server.done("POST", "shop/objects/Item", #"{"id":\#(key)}"#, inside) }
            try server.done("DELETE", "shop/objects/Item/2", nil, inside)
            #expect(try server.get("shop/objects/Item?count=exact").json["count"]?.int == 0)
            #expect(try server.get("shop/objects/Item?count=exact", inside).json["count"]?.int == 2)
            try server.done("POST", "shop/transactions/\(id)/commit")
            let event = try stream.next("changes").json
            #expect(event["insertions"]?.elements?.compactMap { $0["key"]?.text } == ["1", "3"], "\(event)")
            // One that is cancelled leaves nothing.
            let other = try #require(try server.done("POST", "shop/transactions", "{}").json["id"]?.text)
            try server.done("DELETE", "shop/objects?confirm=all", nil, [("Realm-Transaction", other)])
            try server.done("DELETE", "shop/transactions/\(other)")
            // A held version, a copy, a migration, and the end.
            let held = try #require(try server.done("POST", "shop/snapshots", "{}").json["id"]?.text)
            try server.done("PUT", "shop/objects/Item/3", #"{"name":"three"}"#)
            #expect(try server.get("shop/objects/Item/3?snapshot=\(held)").json["name"] == .null)
            let copy = server.folder + "/copy"
            try Data(try server.done("GET", "shop/backup").body).write(to: URL(fileURLWithPath: copy))
            let snapshot = try Snapshot(file: try RealmFile(path: copy))
            #expect(snapshot.verify().isClean && snapshot.classTable(named: "Item")?.count == 2)
            try FileManager.default.removeItem(atPath: copy)
            let step = #"{"renameProperty":{"class":"Item","name":"name","to":"title"}}"#
            try server.done("POST", "shop/migrations", #"{"fromVersion":1,"toVersion":2,"steps":[\#(step)]}"#)
            #expect(try server.get("shop/objects/Item/3").json["title"]?.text == "three")
            try server.done("DELETE", "shop/objects?confirm=all")
            #expect(try server.get("shop").json["empty"]?.bool == true)
            try server.done("DELETE", "shop?files=true")
            #expect(try server.get("shop").code == "realm_not_found")
            #expect(!FileManager.default.fileExists(atPath: server.folder + "/shop.realm"))
        }
    }

    @Test func `D17: an embedded object is made, described, found, observed, changed, frozen and deleted with its owner`() throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let type = try server.get("app/schema/Chip").json
            #expect(type["type"]?.text == "embedded" && type["primaryKey"] == .null)
            for (method, path) in [
                ("POST", "app/objects/Chip"), ("PUT", "app/objects/Chip/@k0"), ("PATCH", "app/objects/Chip/@k0"),
            ] {
                #expect(try server.send(method, path, #"{"code":"x"}"#).status == 405, "\(method)")
            }
            try server.done(
                "POST", "app/objects/Dog", #"{"_id":7,"age":1,"chip":{"code":"a"},"chips":[{"code":"b"},{"code":"c"}]}"#)
            #expect(try server.count("Chip") == 6)
            // By its place, by a query, and in the list of its class, which names the owner.
            #expect(try server.value("Dog/7/chip") == #"{"code":"a","size":null}"#)
            let owner = try server.get("app/objects/Dog?where=" + ChangeServer.encode("ANY chips.code == 'c'"))
            #expect(owner.json["items"]?.elements?.compactMap { $0["_id"]?.int } == [7])
            let listed = try server.get("app/objects/Chip?where=" + ChangeServer.encode("code == 'c'")).json["items"]?[0]
            #expect(
                listed?["$meta"]?["owner"]?["key"]?.text == "7" && listed?["$meta"]?["owner"]?["property"]?.text == "chips[1]")
            let stream = try EventClient(port: server.port, "/v1/realms/app/changes?class=Dog&key=7&property=chip")
            while let event = try stream.next(), event.name != "ready" {}
            let held = try #require(try server.done("POST", "app/snapshots", "{}").json["id"]?.text)
            try server.done("PATCH", "app/objects/Dog/7", #"{"chip":{"size":4}}"#)
            let told = try stream.next("changes").json
            #expect(told["properties"]?.elements?.compactMap { $0["name"]?.text } == ["size"], "\(told)")
            #expect(try server.value("Dog/7/chip") == #"{"code":"a","size":4}"#)
            #expect(try server.get("app/objects/Dog/7/chip?snapshot=\(held)").json["value"]?["size"] == .null)
            // It goes when something else takes its place, and with its owner.
            try server.done("PATCH", "app/objects/Dog/7", #"{"chip":null,"chips":[{"code":"d"}]}"#)
            #expect(try server.count("Chip") == 4 && server.value("Dog/7/chip") == "null")
            #expect(try stream.next("changes").json["deleted"]?.bool == true)
            try server.done("DELETE", "app/objects/Dog/7")
            #expect(try server.count("Chip") == 3)
        }
    }

    @Test func `D47: results are counted, indexed, searched, filtered, sorted, made distinct, aggregated and observed`() throws {
        try withWriteServer { (server: WriteServer) throws in
            for (id, name, age) in [(3, "Ada", 9), (4, "Bo", 5), (5, "Ada", 1)] {
                try server.done("POST", "app/objects/Dog", #"{"_id":\#(id),"name":"\#(name)","age":\#(age)}"#)
            }
            func ids(_ query: String) throws -> [Int]? {
                let answer = try server.get("app/objects/Dog?fields=_id&" + query)
                return answer.json["items"]?.elements?.compactMap { $0["_id"]?.int } ?? [answer.status]
            }
            let adult = "where=" + ChangeServer.encode("age >= 3")
            #expect(try server.get("app/objects/Dog?count=exact&limit=0&" + adult).json["count"]?.int == 4)
            #expect(try ids(adult + "&sort=-age,_id") == [3, 2, 4, 1])
            #expect(try ids(adult + "&sort=-age,_id&limit=2&offset=1") == [2, 4])
            #expect(try ids("sort=_id&distinct=name") == [1, 2, 3, 4])
            // The first, the last, one at an index, and the index of one.
            for (at, id) in [("0", 3), ("-1", 1), ("2", 4)] {
                let answer = try server.get("app/objects/Dog?\(adult)&sort=-age,_id&at=\(at)")
                #expect(answer.json["_id"]?.int == id || answer.json["items"]?[0]?["_id"]?.int == id, "\(answer.text)")
            }
            #expect(try server.get("app/objects/Dog?\(adult)&sort=-age,_id&at=4").code == "invalid_parameter")
            #expect(try server.get("app/objects/Dog?\(adult)&sort=-age,_id&indexOf=4").json["index"]?.int == 2)
            let first = ChangeServer.encode("age == 5")
            #expect(try server.get("app/objects/Dog?\(adult)&sort=-age,_id&indexOfWhere=\(first)").json["index"]?.int == 1)
            let sums = try server.get("app/aggregate/Dog?\(adult)&ops=min:age,max:age,sum:age,avg:age,count")
            #expect(sums.json["count"]?.int == 4 && sums.text.contains("22") && sums.text.contains("5.5"), "\(sums.text)")
            let sections = try server.get("app/objects/Dog?sectionBy=name:first&\(adult)").json["sections"]?.elements
            #expect(sections?.map { $0["items"]?.elements?.count } == [1, 1, 1, 1], "\(sections ?? [])")
            let stream = try EventClient(port: server.port, "/v1/realms/app/changes?class=Dog&sort=-age&include=keys&" + adult)
            #expect(try stream.next("snapshot").json["count"]?.int == 4)
            _ = try stream.next("ready")
            try server.done("PATCH", "app/objects/Dog/5", #"{"age":20}"#)
            #expect(try stream.next("changes").json["insertions"]?[0]?["index"]?.int == 0)
        }
    }
}

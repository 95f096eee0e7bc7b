// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// The recipes of docs/access.md, read from there and tried as a reader would.
@Suite struct AccessRecipeTests {
    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Order","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"owner","type":"string","optional":true},
        {"name":"region","type":"string","optional":true},{"name":"total","type":"int","optional":true},
        {"name":"margin","type":"int","optional":true},{"name":"status","type":"string","optional":true}]},
        {"name":"Product","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"name","type":"string","optional":true}]},
        {"name":"Report","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}
        """
    private static let orders = """
        [{"id":1,"owner":"ann","region":"north","total":5,"margin":1,"status":"new"},
        {"id":2,"owner":"bob","region":"south","total":7,"margin":2,"status":"new"}]
        """

    /// A server with the roles of a recipe, and realms of the same schema.
    private struct Shop {
        let server: KeyServer
        let admin: APIKeyText

        init(_ number: Int, realms: [String] = ["shop", "other"]) throws {
            var configuration = Configuration()
            try configuration.apply(text: try AccessRecipeTests.recipe(number), ofFile: "/realm-rest.yaml")
            let book = configuration.options.roles
            server = try KeyServer(change: { ($0.roles, $0.memoryRealms) = (book, []) })
            admin = try server.add("boss")
            for realm in realms {
                let body = #"{"name":"\#(realm)","inMemory":"\#(realm)","schema":\#(AccessRecipeTests.schema)}"#
                try #require(try server.request("POST", "/v1/realms", admin, body: body).status == 201)
                for (name, objects) in [("Order", AccessRecipeTests.orders), ("Product", #"[{"id":1,"name":"Cup"}]"#)] {
                    let answer = try server.request("POST", "/v1/realms/\(realm)/objects/\(name)", admin, body: objects)
                    try #require(answer.status == 201, "\(answer.text)")
                }
            }
        }

        /// What a request is answered: its status, and the number of objects in a list.
        func ask(_ method: String, _ path: String, _ key: APIKeyText?, _ body: String? = nil) throws -> String {
            let answer = try server.request(method, "/v1/realms" + path, key, body: body)
            let count = answer.json["items"]?.elements?.count
            return "\(answer.status)" + (count.map { " \($0)" } ?? "")
        }

        /// A key with claims besides its name.
        func key(_ name: String, _ role: String, claims: [(String, JSONValue)] = []) throws -> APIKeyText {
            let text = APIKeyText()
            try server.file.add(APIKey(text, name: name, roles: [role], claims: JSONObject(claims)))
            server.server.state.authenticator.keys.refresh()
            return text
        }
    }

    /// Returns the YAML of a recipe.
    private static func recipe(_ number: Int) throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/access.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let parts = text.components(separatedBy: "\n### \(number). ")
        let block = try #require(parts.count == 2 ? parts[1].components(separatedBy: "```yaml\n").dropFirst().first : nil)
        return try #require(block.components(separatedBy: "```").first)
    }

    @Test func `1: look, do not touch`() throws {
        let shop = try Shop(1)
        let guest = try shop.key("screen", "guest")
        #expect(try shop.ask("GET", "", guest) == "200 2")
        #expect(try shop.ask("GET", "/shop/objects/Order", guest) == "200 2")
        #expect(try shop.ask("POST", "/shop/objects/Order", guest, #"{"id":9}"#) == "403")
        #expect(try shop.ask("DELETE", "/shop", guest) == "403")
    }

    @Test func `2: one class for everybody`() throws {
        let shop = try Shop(2)
        #expect(try shop.ask("GET", "/shop/objects/Product", nil) == "200 1")
        #expect(try shop.ask("GET", "/shop/objects/Order", nil) == "404")
        #expect(try shop.ask("GET", "/other/objects/Product", nil) == "401")
        #expect(try shop.ask("POST", "/shop/objects/Product", nil, #"{"id":9}"#) == "401")
    }

    @Test func `3: a realm for each user`() throws {
        let shop = try Shop(3, realms: ["user-ann", "user-bob"])
        let ann = try shop.key("ann", "user")
        #expect(try shop.ask("GET", "", ann) == "200 1")
        #expect(try shop.ask("POST", "/user-ann/objects/Order", ann, #"{"id":9}"#) == "201")
        #expect(try shop.ask("POST", "/user-ann/transactions", ann, "{}") == "201")
        #expect(try shop.ask("GET", "/user-ann/export", ann) == "200")
        #expect(try shop.ask("GET", "/user-bob/objects/Order", ann) == "404")
    }

    @Test func `4: tenants by a claim`() throws {
        let shop = try Shop(4, realms: ["north", "south", "west"])
        let two = try shop.key("two", "tenant", claims: [("realms", .array([.string("north"), .string("south")]))])
        #expect(try shop.ask("GET", "", two) == "200 2")
        #expect(try shop.ask("DELETE", "/south/objects/Order/1", two) == "204")
        #expect(try shop.ask("GET", "/west/objects/Order", two) == "404")
        #expect(try shop.ask("GET", "", try shop.key("none", "tenant")) == "200 0")
    }

    @Test func `5: rows of one's own`() throws {
        let shop = try Shop(5)
        let ann = try shop.key("ann", "seller")
        #expect(try shop.ask("GET", "/shop/objects/Order", ann) == "200 1")
        #expect(try shop.ask("GET", "/shop/objects/Order/2", ann) == "404")
        #expect(try shop.ask("PATCH", "/shop/objects/Order/1", ann, #"{"owner":"bob"}"#) == "403")
        #expect(try shop.ask("POST", "/shop/objects/Order", ann, #"{"id":9,"owner":"ann"}"#) == "201")
        #expect(try shop.ask("POST", "/shop/objects/Product", ann, #"{"id":9}"#) == "403")
    }

    @Test func `6: rows of a group`() throws {
        let shop = try Shop(6)
        let north = try shop.key("n", "clerk", claims: [("regions", .array([.string("north"), .string("east")]))])
        #expect(try shop.ask("GET", "/shop/objects/Order", north) == "200 1")
        #expect(try shop.ask("PATCH", "/shop/objects/Order/1", north, #"{"total":6}"#) == "200")
        #expect(try shop.ask("PATCH", "/shop/objects/Order/1", north, #"{"region":"south"}"#) == "403")
        #expect(
            try shop.ask("GET", "/shop/objects/Order", try shop.key("s", "clerk", claims: [("regions", .string("south"))]))
                == "200 1")
        #expect(try shop.ask("GET", "/shop/objects/Order", try shop.key("x", "clerk")) == "200 0")
    }

    @Test func `7: limits on what may be written`() throws {
        let shop = try Shop(7)
        let clerk = try shop.key("c", "clerk")
        #expect(try shop.ask("POST", "/shop/objects/Order", clerk, #"{"id":9,"total":999}"#) == "201")
        #expect(try shop.ask("POST", "/shop/objects/Order", clerk, #"{"id":10,"total":1000}"#) == "403")
        #expect(try shop.ask("PATCH", "/shop/objects/Order/1", clerk, #"{"status":"paid"}"#) == "403")
        #expect(try shop.ask("GET", "/shop/objects/Order?where=margin%20%3E%200", clerk) == "400")
        let read = try shop.server.request("GET", "/v1/realms/shop/objects/Order/1", clerk)
        #expect(!read.text.contains("margin") && read.text.contains("status"))
    }

    @Test func `8: a letter box`() throws {
        let shop = try Shop(8, realms: ["support"])
        let reporter = try shop.key("r", "reporter")
        #expect(try shop.ask("POST", "/support/objects/Report", reporter, #"{"id":1}"#) == "201")
        #expect(try shop.ask("GET", "/support/objects/Report", reporter) == "403")
        #expect(try shop.ask("GET", "/support/objects/Report/1", reporter) == "403")
        #expect(try shop.ask("DELETE", "/support/objects/Report/1", reporter) == "404")
        #expect(try shop.ask("GET", "/support/objects/Order", reporter) == "404")
    }

    @Test func `9: an import at night`() throws {
        let shop = try Shop(9)
        let loader = try shop.key("l", "loader")
        let lines = { (name: String) in
            try shop.server.request(
                "POST", "/v1/realms/shop/import?class=\(name)&mode=upsert", loader, [("Content-Type", "application/x-ndjson")],
                body: #"{"id":1,"name":"Mug"}"# + "\n" + #"{"id":2,"name":"Bowl"}"#)
        }
        let loaded = try lines("Product")
        #expect(loaded.status == 200, "\(loaded.text)")
        #expect(try lines("Order").code == "class_not_found")
        #expect(try shop.ask("GET", "/shop/objects/Product", loader) == "403")
        #expect(try shop.ask("DELETE", "/shop/objects/Product/1", loader) == "403")
        #expect(try shop.ask("GET", "/shop/objects/Product", shop.admin) == "200 2")
    }

    @Test func `10: a helper without the server`() throws {
        let shop = try Shop(10)
        let helper = try shop.key("h", "support")
        #expect(try shop.ask("PATCH", "/shop/objects/Order/2", helper, #"{"total":8}"#) == "200")
        #expect(try shop.ask("GET", "/other/export", helper) == "200")
        #expect(try shop.ask("POST", "/shop/objects/Order", helper, #"{"id":9}"#) == "403")
        for (method, path) in [
            ("POST", "/shop/migrations"), ("GET", "/shop/backup"), ("DELETE", "/shop"), ("POST", "/shop/compact"),
        ] {
            #expect(try shop.ask(method, path, helper, method == "POST" ? "{}" : nil) == "403", "\(method) \(path)")
        }
        #expect(try shop.server.request("GET", "/admin/keys", helper).status == 404)
    }
}

// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What the holders of roles may change over HTTP, and what stays as it is.
@Suite struct RestrictedWriteTests {
    private static let roles = """
        roles:
          clerk:
            realms:
              notes:
                classes:
                  Note:
                    allow: [read, create, update, delete]
                    where: "owner == $claims.sub"
                    check: "total == nil OR total < 1000"
                    fields: {hide: [secret], readOnly: [status]}
                  Place: {allow: [], fields: {hide: [code]}}
                  Tag: [read]
                  Drop: [create]
          writer: {realms: {notes: {transactions: true, import: true}}}
          reader: {realms: {notes: {classes: {"*": [read]}}}}
          maker: {realms: {notes: {import: true, classes: {Note: [create]}}}}
          checker: {realms: {notes: {import: true, classes: {Note: {allow: [create, read], check: "next.total > 0"}}}}}
          seer: {realms: {notes: {import: true, classes: {Note: [create, read]}}}}
        """
    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Note","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"owner","type":"string","indexed":"general"},
        {"name":"secret","type":"string","optional":true},{"name":"status","type":"string","optional":true},
        {"name":"total","type":"int","optional":true},{"name":"next","type":"object","objectType":"Note"},
        {"name":"peers","type":"object","collection":"list","objectType":"Note"},
        {"name":"pals","type":"object","collection":"set","objectType":"Note"},
        {"name":"book","type":"object","collection":"dictionary","objectType":"Note"},
        {"name":"any","type":"mixed"},{"name":"anys","type":"mixed","collection":"list"},
        {"name":"tags","type":"object","collection":"list","objectType":"Tag"},{"name":"log","type":"object","objectType":"Log"},
        {"name":"place","type":"object","objectType":"Place"}]},
        {"name":"Place","type":"embedded","properties":[{"name":"city","type":"string","optional":true},
        {"name":"code","type":"string","optional":true}]},
        {"name":"Tag","primaryKey":"name","properties":[{"name":"name","type":"string"}]},
        {"name":"Drop","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"text","type":"string"}]},
        {"name":"Log","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]}]}
        """
    private static let notes = "/v1/realms/notes/objects/Note"

    /// A server with notes of two owners, and the keys of an administrator and of `ann`.
    private struct Desk {
        let server: KeyServer
        let admin: APIKeyText
        let ann: APIKeyText

        init(_ roles: [String] = ["clerk"]) throws {
            var configuration = Configuration()
            try configuration.apply(text: RestrictedWriteTests.roles, ofFile: "/realm-rest.yaml")
            let book = configuration.options.roles
            server = try KeyServer(change: { $0.roles = book })
            admin = try server.add("admin")
            ann = try server.add("ann", roles: roles)
            _ = try server.request("DELETE", "/v1/realms/notes", admin)
            let made = try server.request(
                "POST", "/v1/realms", admin,
                body: #"{"name":"notes","inMemory":"notes","schema":\#(RestrictedWriteTests.schema)}"#)
            try #require(made.status == 201, "\(made.text)")
            let link = { (key: Int) in #"{"$link":{"class":"Note","key":"\#(key)"}}"# }
            let body = """
                [{"_id":1,"owner":"ann","secret":"x","status":"new","place":{"city":"Ulm","code":"c1"}},
                {"_id":2,"owner":"bob","secret":"y","total":7},{"_id":3,"owner":"ann","secret":"z"},{"_id":4,"owner":"bob"}]
                """
            try #require(try server.request("POST", RestrictedWriteTests.notes, admin, body: body).status == 201)
            let links = """
                {"next":\(link(2)),"peers":[\(link(2)),\(link(1)),\(link(4)),\(link(3)),\(link(2))],"pals":[\(link(2)),\(link(3))],
                "book":{"a":\(link(2)),"b":\(link(3))},"any":\(link(4)),"anys":[1,\(link(2)),"t",\(link(3)),[\(link(4)),5]]}
                """
            let linked = try server.request("PATCH", RestrictedWriteTests.notes + "/1", admin, body: links)
            try #require(linked.status == 200, "\(linked.text)")
        }

        func ask(_ method: String, _ path: String, _ body: String? = nil, as key: APIKeyText? = nil) throws -> HTTPClient.Answer {
            try server.request(
                method, path.hasPrefix("/") ? path : RestrictedWriteTests.notes + "/" + path, key ?? ann, body: body)
        }

        /// A property of note 1 as the administrator sees it, with the keys of links.
        func stored(_ property: String, of key: Int = 1) throws -> String {
            let text = try server.request("GET", RestrictedWriteTests.notes + "/\(key)", admin).json[property]?.serialized ?? "-"
            return text.replacing(#"{"$link":{"class":"Note","key":""#, with: "@").replacing(#""}}"#, with: "")
        }

        func seen(_ property: String) throws -> String {
            let text = try ask("GET", "1").json[property]?.serialized ?? "-"
            return text.replacing(#"{"$link":{"class":"Note","key":""#, with: "@").replacing(#""}}"#, with: "")
        }
    }

    private static func link(_ key: Int) -> String { #"{"$link":{"class":"Note","key":"\#(key)"}}"# }

    @Test func `objects are made as the rule, the check and the fields allow, or not at all`() throws {
        let desk = try Desk()
        let made = try desk.ask("POST", Self.notes, #"{"_id":10,"owner":"ann","total":5}"#)
        #expect(made.status == 201 && !made.text.contains("secret"), "\(made.text)")
        for (body, code) in [
            (#"{"_id":11,"owner":"bob"}"#, "forbidden"), (#"{"_id":11,"owner":"ann","total":1000}"#, "forbidden"),
            (#"{"_id":11,"owner":"ann","status":"paid"}"#, "forbidden"),
            (#"{"_id":11,"owner":"ann","secret":"s"}"#, "unknown_property"),
            (#"{"_id":11,"owner":"ann","log":null}"#, "unknown_property"),
            (#"{"_id":11,"owner":"ann","place":{"city":"Bonn","code":"c"}}"#, "unknown_property"),
            (#"{"_id":11,"owner":"ann","next":\#(Self.link(2))}"#, "link_target_missing"),
            (#"{"_id":2,"owner":"ann"}"#, "duplicate_key"),
        ] {
            let answer = try desk.ask("POST", Self.notes, body)
            #expect(answer.code == code, "\(body): \(answer.text)")
            #expect(!answer.text.contains("bob") && !answer.text.contains("current"), "\(answer.text)")
        }
        #expect(try desk.ask("POST", Self.notes + "?upsert=all", #"{"_id":2,"owner":"ann"}"#).code == "duplicate_key")
        #expect(try desk.ask("PUT", "2", #"{"owner":"ann"}"#).code == "duplicate_key")
        // A guess at what is hidden is not told to be right, whatever it is compared with.
        for code in ["c1", "c2"] {
            let guess = #"{"_id":1,"place":{"city":"Ulm","code":"\#(code)"}}"#
            #expect(try desk.ask("POST", Self.notes + "?upsert=modified", guess).code == "unknown_property", "\(code)")
        }
        #expect(try desk.ask("POST", "/v1/realms/notes/objects/Tag", #"{"name":"t"}"#).code == "forbidden")
        let hidden = try desk.ask("POST", "/v1/realms/notes/objects/Log", #"{"_id":1}"#)
        let absent = try desk.ask("POST", "/v1/realms/notes/objects/Lot", #"{"_id":1}"#)
        #expect(hidden.status == 404 && hidden.json["detail"] == absent.json["detail"], "\(hidden.text) \(absent.text)")
        let all = try desk.server.request("GET", Self.notes, desk.admin)
        #expect(all.json["items"]?.elements?.count == 5, "\(all.text)")
    }

    @Test func `objects are changed as far as they are one's own, and stay one's own`() throws {
        let desk = try Desk()
        #expect(try desk.ask("PATCH", "1", #"{"total":9}"#).status == 200)
        for (key, body, code) in [
            ("2", #"{"total":1}"#, "object_not_found"), ("1", #"{"owner":"bob"}"#, "forbidden"),
            ("1", #"{"total":1000}"#, "forbidden"), ("1", #"{"secret":"s"}"#, "unknown_property"),
            ("1", #"{"status":"paid"}"#, "forbidden"), ("1", #"{"place":{"code":"c"}}"#, "unknown_property"),
        ] {
            let answer = try desk.ask("PATCH", key, body)
            #expect(answer.code == code, "\(key) \(body): \(answer.text)")
        }
        #expect(try desk.stored("total") == "9")
        #expect(try desk.stored("owner") == #""ann""#)
        #expect(try desk.ask("PUT", "2/total", "1").code == "object_not_found")
        #expect(try desk.ask("PUT", "1/secret", #""s""#).status >= 400)
        #expect(try desk.ask("PUT", "1/status", #""paid""#).code == "forbidden")
        #expect(try desk.ask("DELETE", "2").code == "object_not_found")
        // What was read can be sent back, although it has a property that may only be read.
        let read = try desk.ask("GET", "1")
        let put = try desk.ask("PUT", "1", read.text)
        #expect(put.status == 200, "\(put.text)")
        #expect(try desk.stored("secret") == #""x""#)
        #expect(try desk.stored("status") == #""new""#)
        #expect(try desk.stored("place").contains("c1"))
        #expect(try desk.ask("PUT", "1", #"{"owner":"ann"}"#).status == 200)
        #expect(try desk.stored("status") == #""new""#)
        #expect(try desk.stored("secret") == #""x""#)
        #expect(try desk.stored("next") == "@2")
        #expect(try desk.stored("peers") == "[@2,@4,@2]")
    }

    @Test func `writes of many objects concern one's own`() throws {
        let desk = try Desk()
        let patched = try desk.ask("PATCH", Self.notes + "?where=TRUEPREDICATE", #"{"total":3}"#)
        #expect(patched.json["matched"]?.int == 2, "\(patched.text)")
        #expect(try desk.stored("total", of: 2) == "7")
        #expect(try desk.ask("PATCH", Self.notes + "?where=secret%20==%20'x'", #"{"total":3}"#).code == "unknown_key_path")
        let deleted = try desk.ask("DELETE", Self.notes + "?where=TRUEPREDICATE")
        #expect(deleted.json["matched"]?.int == 2, "\(deleted.text)")
        #expect(try desk.server.request("GET", Self.notes, desk.admin).json["items"]?.elements?.count == 2)
        #expect(try desk.ask("DELETE", "/v1/realms/notes/objects/Tag?where=TRUEPREDICATE").code == "forbidden")
        #expect(try desk.ask("DELETE", "/v1/realms/notes/objects").code == "forbidden")
    }

    @Test func `elements that are not seen are not counted and stay`() throws {
        let desk = try Desk()
        #expect(try desk.seen("peers") == "[@1,@3]")
        #expect(try desk.seen("anys") == #"[1,"t",@3,[5]]"#)
        let steps = { (text: String) in
            try desk.ask(
                "POST", "/v1/realms/notes/batch",
                #"{"ops":[{"list":{"class":"Note","key":"1","property":"peers","ops":[\#(text)]}}]}"#)
        }
        for (step, count, stored) in [
            (#"{"insert":[1,\#(Self.link(3))]}"#, 3, "[@2,@1,@4,@3,@3,@2]"), (#"{"remove":0}"#, 2, "[@2,@4,@3,@3,@2]"),
            (#"{"add":\#(Self.link(1))}"#, 3, "[@2,@4,@3,@3,@2,@1]"), (#"{"move":[2,0]}"#, 3, "[@2,@4,@1,@3,@3,@2]"),
            (#"{"swap":[0,1]}"#, 3, "[@2,@4,@3,@1,@3,@2]"), (#"{"set":[2,\#(Self.link(1))]}"#, 3, "[@2,@4,@3,@1,@1,@2]"),
        ] {
            let answer = try steps(step)
            #expect(answer.text.contains(#""count":\#(count)"#), "\(step): \(answer.text)")
            #expect(try desk.stored("peers") == stored, "\(step)")
        }
        #expect(try steps(#"{"set":[3,\#(Self.link(1))]}"#).code == "path_not_found")
        #expect(try steps(#"{"add":\#(Self.link(2))}"#).code == "link_target_missing")
        #expect(try desk.ask("PATCH", "1", #"{"peers":[\#(Self.link(1))]}"#).status == 200)
        #expect(try desk.stored("peers") == "[@1,@2,@4,@2]")
        #expect(try desk.ask("PATCH", "1", #"{"pals":[]}"#).status == 200)
        #expect(try desk.stored("pals") == "[@2]")
        #expect(try desk.ask("PATCH", "1", #"{"book":{"a":null,"b":null,"c":\#(Self.link(1))}}"#).status == 200)
        #expect(try desk.stored("book") == #"{"a":@2,"c":@1}"#)
        #expect(try desk.ask("PATCH", "1", #"{"next":null,"any":null}"#).status == 200)
        #expect(try desk.stored("next") == "@2")
        #expect(try desk.stored("any") == "@4")
        #expect(try desk.ask("PATCH", "1", #"{"next":\#(Self.link(3)),"anys":["n"]}"#).status == 200)
        #expect(try desk.stored("next") == "@3")
        #expect(try desk.stored("anys") == #"["n",@2]"#)
    }

    @Test func `a JSON patch sees what its sender sees`() throws {
        let desk = try Desk()
        let patch = { (text: String) in
            try desk.server.request(
                "PATCH", Self.notes + "/1", desk.ann, [("Content-Type", "application/json-patch+json")], body: "[\(text)]")
        }
        #expect(try patch(#"{"op":"test","path":"/next","value":null}"#).status == 200)
        #expect(try patch(#"{"op":"test","path":"/peers","value":[\#(Self.link(1)),\#(Self.link(3))]}"#).status == 200)
        #expect(try patch(#"{"op":"test","path":"/next","value":\#(Self.link(2))}"#).status >= 400)
        #expect(try patch(#"{"op":"test","path":"/secret","value":"x"}"#).code == "unknown_property")
        #expect(try patch(#"{"op":"test","path":"/place","value":{"city":"Ulm"}}"#).status == 200)
        #expect(try patch(#"{"op":"test","path":"/place","value":{"city":"Ulm","code":"c1"}}"#).code == "patch_test_failed")
        #expect(try patch(#"{"op":"copy","from":"/place/code","path":"/place/city"}"#).code == "unknown_property")
        #expect(try patch(#"{"op":"copy","from":"/status","path":"/place/city"}"#).status == 200)
        #expect(try patch(#"{"op":"replace","path":"/status","value":"paid"}"#).code == "forbidden")
        #expect(try patch(#"{"op":"remove","path":"/peers/1"}"#).status == 200)
        #expect(try desk.stored("peers") == "[@2,@1,@4,@2]")
        #expect(
            try patch(
                #"{"op":"add","path":"/peers/-","value":\#(Self.link(3))},{"op":"move","from":"/peers/1","path":"/peers/0"}"#
            ).status == 200)
        #expect(try desk.seen("peers") == "[@3,@1]")
        #expect(try patch(#"{"op":"remove","path":"/anys/2"},{"op":"replace","path":"/anys/1","value":"u"}"#).status == 200)
        #expect(try desk.seen("anys") == #"[1,"u",[5]]"#)
        #expect(try desk.stored("anys") == #"[1,@2,"u",[@4,5]]"#)
    }

    @Test func `a role that only makes objects learns nothing of them`() throws {
        let desk = try Desk()
        let drops = "/v1/realms/notes/objects/Drop"
        let made = try desk.ask("POST", drops, #"{"_id":1,"text":"t"}"#)
        #expect(made.status == 201 && made.text.isEmpty, "\(made.status) \(made.text)")
        #expect(try desk.ask("GET", drops).code == "forbidden")
        #expect(try desk.ask("PATCH", drops + "/1", #"{"text":"u"}"#).code == "object_not_found")
        #expect(try desk.ask("DELETE", drops + "/1").code == "object_not_found")
        #expect(try desk.ask("DELETE", drops + "?where=TRUEPREDICATE").code == "forbidden")
        #expect(try desk.ask("POST", drops, #"{"_id":1,"text":"t"}"#).code == "duplicate_key")
    }

    @Test func `batches, transactions, imports and writes without waiting obey the same rules`() throws {
        let desk = try Desk(["clerk", "writer"])
        let batch = try desk.ask(
            "POST", "/v1/realms/notes/batch",
            #"{"ops":[{"create":{"class":"Note","body":{"_id":20,"owner":"ann"}}},{"patch":{"class":"Note","key":"2","body":{"total":1}}}]}"#
        )
        #expect(batch.code == "object_not_found", "\(batch.text)")
        let asserted = try desk.ask(
            "POST", "/v1/realms/notes/batch", #"{"ops":[{"assert":{"class":"Note","where":"TRUEPREDICATE","count":4}}]}"#)
        #expect(asserted.code == "assertion_failed" && asserted.text.contains("expected 4 matches, found 2"), "\(asserted.text)")
        // Interactive transactions.
        let begun = try desk.ask("POST", "/v1/realms/notes/transactions")
        let id = try #require(begun.json["id"]?.text)
        let inside = { (method: String, path: String, body: String?) in
            try desk.server.request(method, path, desk.ann, [("Realm-Transaction", id)], body: body)
        }
        #expect(try inside("POST", Self.notes, #"{"_id":21,"owner":"ann"}"#).status == 201)
        #expect(try inside("GET", Self.notes, nil).json["items"]?.elements?.count == 3)
        #expect(try desk.server.request("GET", "/v1/realms/notes/transactions/\(id)", desk.admin).status == 404)
        let wrong = try inside("POST", Self.notes, #"{"_id":22,"owner":"bob"}"#)
        #expect(wrong.code == "forbidden", "\(wrong.text)")
        _ = try desk.ask("POST", "/v1/realms/notes/transactions/\(id)/commit")
        // Imports.
        let lines = { (text: String) in
            try desk.server.request(
                "POST", "/v1/realms/notes/import?class=Note&mode=upsert", desk.ann, [("Content-Type", "application/x-ndjson")],
                body: text)
        }
        let imported = try lines(#"{"_id":30,"owner":"ann","next":\#(Self.link(31))}"# + "\n" + #"{"_id":31,"owner":"ann"}"#)
        #expect(imported.status == 200, "\(imported.text)")
        for (line, code) in [
            (#"{"_id":32,"owner":"bob"}"#, "forbidden"), (#"{"_id":2,"owner":"ann"}"#, "duplicate_key"),
            (#"{"_id":32,"owner":"ann","secret":"s"}"#, "unknown_property"),
        ] {
            #expect(try lines(line).code == code, "\(line)")
        }
        let parts = try desk.server.request(
            "POST", "/v1/realms/notes/import?class=Note&atomic=false", desk.ann, [("Content-Type", "application/x-ndjson")],
            body: #"{"_id":33,"owner":"bob"}"#)
        #expect(parts.code == "forbidden" && parts.json["line"]?.int == 1, "\(parts.text)")
        // Answered before it is done.
        let later = try desk.server.request(
            "POST", Self.notes, desk.ann, [("Prefer", "respond-async")], body: #"{"_id":40,"owner":"bob"}"#)
        #expect(later.status == 202)
        let place = try #require(later["Location"])
        var state = try desk.ask("GET", place)
        for _ in 0..<200 where ["queued", "running"].contains(state.json["state"]?.text ?? "") {
            state = try desk.ask("GET", place)
        }
        #expect(state.text.contains("forbidden"), "\(state.text)")
        #expect(try desk.server.request("GET", place, desk.admin).status == 404)
        let owners = try desk.server.request("GET", Self.notes + "?where=owner%20==%20'bob'", desk.admin)
        #expect(owners.json["items"]?.elements?.count == 2, "\(owners.text)")
    }

    @Test(arguments: ["maker", "clerk"])
    func `an interactive transaction links to what its earlier requests have made, and to nothing else unseen`(
        _ role: String
    ) throws {
        let desk = try Desk([role, "writer"])
        func inside(_ requests: [(String, String, String)]) throws -> [HTTPClient.Answer] {
            let begun = try desk.ask("POST", "/v1/realms/notes/transactions")
            let id = try #require(begun.json["id"]?.text, "\(begun.text)")
            let answers = try requests.map { method, path, body in
                try desk.server.request(method, path, desk.ann, [("Realm-Transaction", id)], body: body)
            }
            _ = try desk.ask("POST", "/v1/realms/notes/transactions/\(id)/commit")
            return answers
        }
        let made = try inside([
            ("POST", Self.notes, #"{"_id":50,"owner":"ann"}"#),
            (
                "POST", Self.notes,
                #"{"_id":51,"owner":"ann","next":\#(Self.link(50)),"peers":[\#(Self.link(50))],"any":\#(Self.link(50))}"#
            ),
            (
                "POST", "/v1/realms/notes/batch",
                #"{"ops":[{"create":{"class":"Note","body":{"_id":52,"owner":"ann","pals":[\#(Self.link(51))]}}}]}"#
            ),
        ])
        #expect(made.allSatisfy { $0.status < 300 }, "\(made.map(\.text))")
        #expect(try desk.stored("peers", of: 51) == "[@50]" && desk.stored("pals", of: 52) == "[@51]")
        for key in [2, 4] {
            let refused = try inside([
                ("POST", Self.notes, #"{"_id":60,"owner":"ann"}"#),
                ("POST", Self.notes, #"{"_id":61,"owner":"ann","next":\#(Self.link(key))}"#),
            ])
            #expect(refused.last?.code == "link_target_missing", "\(refused.map(\.text))")
        }
    }

    /// All of the part was rolled back, and nothing said which line was wrong.
    @Test(arguments: [1, 7, 9_999, 10_000, 10_400])
    func `an import in parts states the line that breaks a rule, and keeps those before it`(_ wrong: Int) throws {
        let desk = try Desk(["clerk", "writer"])
        var lines = (0..<10_500).map { #"{"_id":\#(100 + $0),"owner":"ann","total":1}"# }
        // The link waits for the last line.
        lines[0] = #"{"_id":100,"owner":"ann","total":1,"next":\#(Self.link(10_599))}"#
        lines[wrong] = #"{"_id":\#(100 + wrong),"owner":"bob","total":1}"#
        let path = "/v1/realms/notes/import?class=Note&atomic=false&mode=upsert"
        let send = { (text: String) in
            try desk.server.request("POST", path, desk.ann, [("Content-Type", "application/x-ndjson")], body: text)
        }
        let failed = try send(lines.joined(separator: "\n"))
        #expect(failed.code == "forbidden" && failed.json["line"]?.int == wrong + 1, "\(failed.text)")
        #expect(failed.json["committed"]?.int == 0 && failed.json["unlinked"]?.int == 1, "\(failed.text)")
        let count = { try desk.server.request("GET", Self.notes + "?limit=0&count=exact", desk.admin).json["count"]?.int }
        #expect(try count() == 4 + wrong)
        // The line is wrong although an earlier one of the same object was right.
        lines[wrong] = #"{"_id":\#(100 + wrong),"owner":"ann"}"#
        lines.insert(#"{"_id":\#(100 + wrong),"total":1000}"#, at: wrong + 1)
        let again = try send(lines.joined(separator: "\n"))
        #expect(again.code == "forbidden" && again.json["line"]?.int == wrong + 2, "\(again.text)")
        #expect(try count() == 4 + wrong + 1)
        lines.remove(at: wrong + 1)
        #expect(try send(lines.joined(separator: "\n")).status == 200)
        #expect(try count() == 4 + 10_500)
    }

    /// What earlier parts had created was foreign to the later ones.
    @Test(arguments: ["maker", "seer"], ["true", "false"])
    func `an import completes and links to what it has created`(_ role: String, _ isAtomic: String) throws {
        let desk = try Desk([role])
        var lines = (0..<10_200).map { #"{"_id":\#(100 + $0),"owner":"ann"}"# }
        lines[0] = #"{"_id":100,"owner":"ann","next":\#(Self.link(10_299)),"peers":[\#(Self.link(10_299))]}"#
        lines[10_199] = #"{"_id":10299,"owner":"ann","next":\#(Self.link(100))}"#
        lines.append(#"{"_id":101,"total":5,"next":\#(Self.link(100))}"#)
        let send = { (text: String) in
            try desk.server.request(
                "POST", "/v1/realms/notes/import?class=Note&mode=upsert&atomic=\(isAtomic)", desk.ann,
                [("Content-Type", "application/x-ndjson")], body: text)
        }
        let answer = try send(lines.joined(separator: "\n"))
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.json["created"]?.int == 10_200 && answer.json["updated"]?.int == 1, "\(answer.text)")
        let linked = try desk.server.request("GET", Self.notes + "?where=_id%20%3E%2099%20AND%20next%20!=%20nil", desk.admin)
        #expect(linked.json["items"]?.elements?.count == 3, "\(linked.text)")
        #expect(try desk.server.request("GET", Self.notes + "/101", desk.admin).json["total"]?.int == 5)
        // Nothing else is its own.
        for line in [#"{"_id":102,"total":6}"#, #"{"_id":1,"total":6}"#] { #expect(try send(line).status >= 400) }
    }

    /// The rule was checked before the line with the target was read.
    @Test func `a rule about a link holds when its target is in another part, and nothing that breaks it is committed`() throws {
        let desk = try Desk(["checker"])
        let send = { (lines: [String], isAtomic: Bool) in
            try desk.server.request(
                "POST", "/v1/realms/notes/import?class=Note&atomic=\(isAtomic)", desk.ann,
                [("Content-Type", "application/x-ndjson")], body: lines.joined(separator: "\n"))
        }
        let count = { try desk.server.request("GET", Self.notes + "?limit=0&count=exact", desk.admin).json["count"]?.int }
        let line = { (id: Int, next: Int, total: Int) in
            #"{"_id":\#(id),"owner":"ann","total":\#(total),"next":\#(Self.link(next))}"#
        }
        // The first object waits for the last line, and others for the next one.
        var lines = (100..<20_600).map { line($0, $0 == 100 ? 20_599 : $0 % 50 == 0 && $0 < 20_500 ? $0 + 60 : 100, 1) }
        let whole = try send(lines, false)
        #expect(whole.status == 200 && whole.json["created"]?.int == 20_500, "\(whole.text)")
        #expect(try count() == 20_504)
        #expect(try desk.server.request("DELETE", Self.notes + "?where=_id%20%3E%2099", desk.admin).status == 200)
        // A target breaks the rule: the line that links to it is wrong, and nothing is left of it.
        lines[20_499] = line(20_599, 100, 0)
        for isAtomic in [true, false] {
            let broken = try send(lines, isAtomic)
            #expect(broken.code == "forbidden" && (isAtomic || broken.json["line"]?.int == 1), "\(broken.text)")
            #expect(try count() == 4)
        }
        // The line that is wrong in itself is reported, and what waits for it is not committed.
        lines[20_499] = #"{"_id":20599,"owner":"ann","total":"x"}"#
        let wrong = try send(lines, false)
        #expect(wrong.code == "type_mismatch" && wrong.json["line"]?.int == 20_500, "\(wrong.text)")
        #expect(wrong.json["committed"]?.int == 0 && wrong.json["unlinked"] == nil, "\(wrong.text)")
        #expect(try count() == 4)
        // An object whose link never comes stays away, whatever else it has.
        let missing = try send([line(200, 201, 1), line(201, 200, 1), line(202, 999, 1), line(203, 200, 1)], false)
        #expect(missing.status >= 400 && missing.json["line"]?.int == 3, "\(missing.text)")
        #expect(try count() == 6)
    }

    @Test func `snapshots show what their holder sees`() throws {
        let desk = try Desk()
        let made = try desk.ask("POST", "/v1/realms/notes/snapshots")
        let id = try #require(made.json["id"]?.text, "\(made.text)")
        #expect(try desk.ask("DELETE", "1").status == 204)
        let then = try desk.ask("GET", Self.notes + "?snapshot=\(id)")
        #expect(then.json["items"]?.elements?.count == 2, "\(then.text)")
        #expect(try desk.ask("GET", "2?snapshot=\(id)").code == "object_not_found")
        #expect(try desk.server.request("GET", Self.notes + "?snapshot=\(id)", desk.admin).status == 404)
    }

    @Test func `whoever may only read writes nothing, and nobody without a right learns of it`() throws {
        let desk = try Desk(["reader"])
        for (method, path, body) in [
            ("POST", Self.notes, #"{"_id":50,"owner":"ann"}"#), ("PATCH", Self.notes + "/1", "{}"),
            ("PUT", Self.notes + "/1", "{}"),
            ("DELETE", Self.notes + "/1", ""), ("POST", "/v1/realms/notes/batch", #"{"ops":[]}"#),
            ("POST", "/v1/realms/notes/transactions", ""), ("POST", "/v1/realms/notes/import", "{}"),
        ] {
            let answer = try desk.ask(method, path, body.isEmpty ? nil : body)
            #expect(answer.code == "forbidden", "\(method) \(path): \(answer.text)")
        }
        let other = try Desk([])
        #expect(try other.ask("POST", Self.notes, "{}").code == "realm_not_found")
    }
}

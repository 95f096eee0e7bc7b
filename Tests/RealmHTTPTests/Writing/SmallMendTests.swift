// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// Small faults of writes, queries and exports, each as it was found.
@Suite("Writes, queries and exports: small mends")
struct SmallMendTests {
    private static let classes = """
        [{"name":"P","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"name","type":"string","optional":true},
        {"name":"n","type":"int","optional":true},{"name":"c","type":"decimal128","optional":true},{"name":"d","type":"double","optional":true},
        {"name":"m","type":"mixed"},{"name":"best","type":"object","objectType":"P"},
        {"name":"all","type":"object","collection":"list","objectType":"P"}]},
        {"name":"E","type":"embedded","properties":[{"name":"a","type":"int"}]}]
        """

    private func server() throws -> ChangeServer {
        let server = try ChangeServer()
        try server.makeRealm("r", classes: Self.classes)
        return server
    }

    private func ids(_ server: ChangeServer, _ query: String) throws -> [Int64] {
        let page = try server.must("GET", "r/objects/P?fields=_id&meta=none&where=\(ChangeServer.encode(query))")
        return (page["items"]?.elements ?? []).compactMap { $0["_id"]?.integer }
    }

    // MARK: - Long keys

    @Test(arguments: [1_000, 20_000, 200_000])
    func `objects and pages are answered whose address no request could name`(length: Int) throws {
        let server = try ChangeServer()
        try server.makeRealm("k", classes: #"[{"name":"K","primaryKey":"id","properties":[{"name":"id","type":"string"}]}]"#)
        let key = String(repeating: "a", count: length)
        let made = try server.send("POST", "k/objects/K", #"[{"id":"b"},{"id":"\#(key)"}]"#)
        #expect(made.status == 201)
        let one = try server.send("POST", "k/objects/K", #"{"id":"\#(key)c"}"#)
        #expect(one.status == 201)
        #expect((one["Location"] == nil) == (length > 8_192))
        let page = try server.send("GET", "k/objects/K?sort=id&limit=1")
        #expect(page.status == 200)
        #expect(page["Link"] != nil)
        let next = try #require(page.json["next"]?.text)
        let second = try server.must("POST", "k/query/K", #"{"sort":["id"],"limit":2,"after":"\#(next)"}"#)
        #expect(second["items"]?.elements?.count == 2)
    }

    @Test func `the next page is found however the address of the page is encoded`() throws {
        let server = try server()
        try server.batch("r", [#"{"create":{"class":"P","body":{"_id":1}}}"#])
        for id in 2...4 { try server.batch("r", [#"{"create":{"class":"P","body":{"_id":\#(id),"best":1}}}"#]) }
        let page = try server.must("GET", "r/objects/P/1/@links/P/best?limit=1")
        let next = try #require(page["next"]?.text)
        for path in ["@links/P/best", "%40links/P/best", "%40links/%50/b%65st"] {
            let second = try server.must("GET", "r/objects/P/1/\(path)?limit=1&after=\(next)")
            #expect(second["items"]?.elements?.first?["_id"]?.integer == 3, "\(path)")
        }
        #expect(try server.send("GET", "r/objects/P/2/%40links/P/best?limit=1&after=\(next)").code == "cursor_invalid")
    }

    // MARK: - Batches

    @Test func `operations on objects of one class do not name it`() throws {
        let server = try server()
        let answer = try server.must(
            "POST", "r/batch/P",
            """
            {"ops":[{"create":{"as":"new","body":{"_id":1,"n":1}}},{"put":{"key":"2","body":{"_id":2,"best":{"$link":{"ref":"new"}}}}},
            {"patch":{"key":{"ref":"new"},"body":{"name":"x"}}},{"increment":{"key":"1","property":"n","by":2}},
            {"list":{"key":"1","property":"all","ops":[{"add":"2"}]}},{"patchWhere":{"where":"n == 3","body":{"n":4}}},
            {"assert":{"where":"n == 4","count":1}},{"delete":{"key":"2"}}]}
            """)
        let results = answer["results"]?.elements ?? []
        #expect(results.map { $0["key"]?.text ?? "-" } == ["1", "2", "1", "1", "1", "-", "-", "2"])
        #expect(try ids(server, "n == 4 AND name == 'x'") == [1])
    }

    @Test func `the keys of objects that a later operation deletes are told as they were`() throws {
        let server = try server()
        let answer = try server.must(
            "POST", "r/batch",
            """
            {"ops":[{"create":{"class":"P","body":{"_id":6002,"n":1}}},{"increment":{"class":"P","key":"6002","property":"n","by":1}},
            {"create":{"class":"P","body":{"_id":6003,"name":"x"}}},{"delete":{"class":"P","key":"6002"}},
            {"create":{"class":"P","body":{"_id":6004,"name":"x"}}},{"deleteWhere":{"class":"P","where":"name == 'x'"}}]}
            """)
        let keys = (answer["results"]?.elements ?? []).map { $0["key"]?.text ?? "-" }
        #expect(keys == ["6002", "6002", "6003", "6002", "6004", "-"])
    }

    @Test func `deleteAll on a list that holds its owner deletes the owner too`() throws {
        let server = try server()
        try server.batch(
            "r",
            [
                #"{"create":{"class":"P","body":{"_id":1}}}"#, #"{"create":{"class":"P","body":{"_id":2}}}"#,
                #"{"create":{"class":"P","body":{"_id":3}}}"#, #"{"patch":{"class":"P","key":"1","body":{"all":["2","1","2"]}}}"#,
            ])
        let answer = try server.must(
            "POST", "r/batch",
            """
            {"ops":[{"list":{"class":"P","key":"1","property":"all","ops":[{"deleteAll":true}]}}]}
            """)
        #expect(answer["results"]?.elements?.first?["key"]?.text == "1")
        #expect(answer["results"]?.elements?.first?["count"]?.integer == 0)
        #expect(try ids(server, "TRUEPREDICATE") == [3])
        // An edit behind it has no list any more.
        try server.batch("r", [#"{"patch":{"class":"P","key":"3","body":{"all":["3"]}}}"#])
        let refused = try server.send(
            "POST", "r/batch",
            """
            {"ops":[{"list":{"class":"P","key":"3","property":"all","ops":[{"deleteAll":true},{"clear":true}]}}]}
            """)
        #expect(refused.status == 404)
        #expect(try ids(server, "TRUEPREDICATE") == [3])
    }

    // MARK: - Queries

    @Test func `IN finds NaN where == finds it`() throws {
        let server = try server()
        try server.batch(
            "r",
            [
                #"{"create":{"class":"P","body":{"_id":1,"c":"NaN","d":"NaN","m":{"$numberDecimal":"NaN"}}}}"#,
                #"{"create":{"class":"P","body":{"_id":2,"c":"1","d":1,"m":{"$numberDouble":"NaN"}}}}"#,
                #"{"create":{"class":"P","body":{"_id":3}}}"#,
            ])
        for list in ["{nan}", "{nan, 7}", "{7, nan, nan}"] {
            #expect(try ids(server, "c IN \(list)") == ids(server, "c == nan"), "\(list)")
            #expect(try ids(server, "d IN \(list)") == ids(server, "d == nan"), "\(list)")
            #expect(try ids(server, "m IN \(list)") == ids(server, "m == nan"), "\(list)")
        }
        #expect(try ids(server, "c == nan") == [1])
        #expect(try ids(server, "c IN {nan, 1}") == [1, 2])
        #expect(try ids(server, "c IN {nan, null}") == [1, 3])
        #expect(try ids(server, "c == nan OR c == 1") == [1, 2])
        #expect(try ids(server, "NOT c IN {nan}") == [2, 3])
        #expect(try ids(server, "m == nan") == [1, 2])
    }

    @Test(arguments: [
        "m.@type == 23", "23 == m.@type", "m.@type != 1", "m.@type IN {23}", "m.@type IN {'int', 23}", "m.@type == {23}",
    ])
    func `@type is compared with names only`(_ query: String) throws {
        let server = try server()
        let answer = try server.send("GET", "r/objects/P?where=\(ChangeServer.encode(query))")
        #expect(answer.status == 400)
        #expect(answer.text.contains("@type"))
        #expect(try server.send("GET", "r/objects/P?where=\(ChangeServer.encode("m.@type == 'int'"))").status == 200)
    }

    @Test(arguments: ["best", "best.best"])
    func `objects and collections are no keys of sections`(_ path: String) throws {
        let server = try server()
        try server.batch("r", [#"{"create":{"class":"P","body":{"_id":1,"n":4}}}"#])
        let answer = try server.send("GET", "r/objects/P?sectionBy=\(path)")
        #expect(answer.status == 400)
        #expect(answer.text.contains("sectionBy"))
        #expect(try server.send("GET", "r/changes?class=P&sectionBy=\(path)").status == 400)
        #expect(try server.must("GET", "r/objects/P?sectionBy=best.n")["sections"]?.elements?.count == 1)
    }

    @Test(arguments: [#"{"$link":{"class":"P","key":"1"}}"#, "[1]", #"{"a":1}"#])
    func `mixed values that hold objects or collections neither`(_ value: String) throws {
        let server = try server()
        try server.batch("r", [#"{"create":{"class":"P","body":{"_id":1,"m":5}}}"#])
        #expect(try server.send("GET", "r/objects/P?sectionBy=m").status == 200)
        try server.batch("r", ["{\"create\":{\"class\":\"P\",\"body\":{\"_id\":2,\"m\":\(value)}}}"])
        #expect(try server.send("GET", "r/objects/P?sectionBy=m").status == 400)
    }

    @Test func `an aggregate that is asked for twice is refused`() throws {
        let answer = try server().send("GET", "r/aggregate/P?ops=count,max:n,count,max:n")
        #expect(answer.status == 400)
        #expect(answer.text.contains("'count' is given twice"))
    }

    @Test(arguments: ["snapshots", "subscriptions"])
    func `what has no meaning inside a transaction is refused there`(_ path: String) throws {
        let server = try server()
        let id = try #require(try server.must("POST", "r/transactions", "{}")["id"]?.text)
        let body = path == "snapshots" ? "{}" : #"{"subscriptions":{"a":{"class":"P"}}}"#
        let answer = try server.send("POST", "r/\(path)", body, [("Realm-Transaction", id)])
        #expect(answer.status == 400)
        #expect(answer.text.contains("conflicting_parameters"))
        // Nothing was aborted by that.
        #expect(try server.send("GET", "r/objects/P", nil, [("Realm-Transaction", id)]).status == 200)
    }

    // MARK: - Schemas

    @Test(arguments: [
        #"{"setIndex":{"class":"E","name":"a","indexed":"general"}}"#,
        #"{"addClass":{"name":"E2","type":"embedded","properties":[{"name":"a","type":"int","indexed":"general"}]}}"#,
        #"{"addProperty":{"class":"E","property":{"name":"b","type":"int","indexed":"general"}}}"#,
    ])
    func `C7: a property of an embedded class has no index`(_ step: String) throws {
        let server = try server()
        let answer = try server.send(
            "POST", "r/migrations?dryRun=true", "{\"fromVersion\":0,\"toVersion\":1,\"steps\":[\(step)]}")
        #expect(answer.status == 422)
        #expect(answer.text.contains("indexed"))
    }

    @Test func `C7: a class with an index does not become embedded`() throws {
        let server = try server()
        let steps = """
            {"addClass":{"name":"New","properties":[{"name":"a","type":"int","indexed":"general"}]}},
            {"setType":{"class":"New","type":"embedded"}}
            """
        let answer = try server.send(
            "POST", "r/migrations?dryRun=true", "{\"fromVersion\":0,\"toVersion\":1,\"steps\":[\(steps)]}")
        #expect(answer.status == 422 && answer.text.contains("/steps/1/setType/type"), "\(answer.text)")
    }

    @Test func `C7: nor does one of a new realm`() throws {
        let answer = try server().send(
            "POST", "",
            """
            {"name":"x","inMemory":"x","schema":{"classes":[{"name":"E","type":"embedded","properties":[{"name":"a","type":"int","indexed":"general"}]}]}}
            """)
        #expect(answer.status == 422)
        #expect(answer.text.contains("/schema/classes/0/properties/0/indexed"))
    }

    // MARK: - Exports

    @Test func `csv=excel keeps texts from being formulas, and numbers numbers`() throws {
        let server = try server()
        try server.batch(
            "r",
            [
                #"{"create":{"class":"P","body":{"_id":-1,"name":"=cmd|' /C calc'!A0","n":-5,"d":-1.5,"c":"-2.5","m":"+1"}}}"#,
                #"{"create":{"class":"P","body":{"_id":2,"name":"-a,b\n","m":"@x"}}}"#,
                #"{"create":{"class":"P","body":{"_id":3,"name":"\tq","m":"plain"}}}"#,
                #"{"create":{"class":"P","body":{"_id":4,"name":""}}}"#,
            ])
        let plain = try server.send("GET", "r/export?class=P&format=csv").text
        let excel = try server.send("GET", "r/export?class=P&format=csv&csv=excel").text
        #expect(plain.contains("=cmd|"))
        #expect(!plain.contains("'=cmd|"))
        #expect(excel.contains("\r\n-1,'=cmd|' /C calc'!A0,-5,-2.5,-1.5,"))
        #expect(excel.contains("\"'-a,b\n\""))
        #expect(excel.contains("'\tq"))
        #expect(excel.contains("4,\"\","))
        #expect(try server.send("GET", "r/export?class=P&format=csv&csv=word").status == 400)
        #expect(try server.send("GET", "r/export?class=P&csv=excel").status == 400)
    }

    @Test(arguments: [
        ("date", "2026.11.21", "\"2024-05-17T09:30:00Z\""), ("oid", "6521", "24 hexadecimal digits"),
        ("uuid", "3b24", "a UUID such as"), ("data", "?", "base64 such as"),
    ])
    func `a text that is no value of its type is refused with the form wanted`(
        _ property: String, _ text: String, _ form: String
    ) throws {
        try withWriteServer { (server: WriteServer) throws in
            for (method, path, body) in [
                ("PATCH", "app/objects/Value/1", #"{"\#(property)":"\#(text)"}"#),
                ("POST", "app/objects/Value", #"{"_id":5,"\#(property)":"\#(text)"}"#),
                ("PUT", "app/objects/Value/1/\(property)", #""\#(text)""#),
            ] {
                let answer = try server.send(method, path, body, method == "PUT" ? [WriteServer.json] : [])
                #expect(answer.status == 422 && answer.code == "type_mismatch", "\(answer.text)")
                #expect(answer.json["detail"]?.text?.contains(form) == true, "\(answer.text)")
            }
        }
    }
}

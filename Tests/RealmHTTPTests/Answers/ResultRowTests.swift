// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Rows B1 to B6, B10 and B11 of the checklist: what a result is, and of which version.
@Suite struct ResultRowTests {
    // MARK: - Versions

    /// Every way to ask for dogs, and whether the answer knows of the dog with the key 9, whose age is 90.
    private static let questions: [(method: String, path: String, body: String?, knows: @Sendable (ParsedJSON) -> Bool)] = {
        let items: @Sendable (ParsedJSON) -> Bool = { $0["items"]?.elements?.contains { $0["_id"]?.int == 9 } == true }
        return [
            ("GET", "objects/Dog", nil, items), ("GET", "objects/Dog?sort=-age&limit=1", nil, items),
            ("GET", "objects/Dog?where=age%20%3E%2050", nil, items), ("GET", "objects/Dog?distinct=age&offset=2", nil, items),
            ("QUERY", "objects/Dog", #"{"where":"age == $0","args":[90]}"#, items),
            ("POST", "query/Dog", #"{"sort":["-_id"],"limit":1}"#, items),
            ("GET", "objects/Dog?indexOf=9", nil, { $0["index"]?.int == 2 }),
            ("GET", "objects/Dog?indexOfWhere=age%20%3D%3D%2090", nil, { $0["index"]?.int == 2 }),
            ("GET", "objects/Dog?limit=0&count=exact", nil, { $0["count"]?.int == 3 }),
            ("GET", "aggregate/Dog?ops=count,max:age", nil, { $0["count"]?.int == 3 && $0["max:age"]?.int == 90 }),
            ("GET", "objects/Dog?sectionBy=age", nil, { $0["sections"]?.elements?.contains { $0["key"]?.int == 90 } == true }),
            ("GET", "objects/Person/ann/@links/Dog/owner", nil, items),
        ]
    }()

    @Test func `B1: a result is that of the newest version, and inside a transaction that of what it has written so far`() throws
    {
        try withWriteServer { (server: WriteServer) throws in
            func ask(_ headers: [(String, String)] = []) throws -> Set<Bool> {
                try Set(
                    ResultRowTests.questions.map { question in
                        let answer = try server.done(question.method, "app/" + question.path, question.body, headers)
                        return question.knows(answer.json)
                    })
            }
            func begin() throws -> (id: String, header: [(String, String)]) {
                let id = try #require(try server.done("POST", "app/transactions", "{}").json["id"]?.text)
                return (id, [("Realm-Transaction", id)])
            }
            let dog = #"{"_id":9,"age":90,"owner":"ann"}"#
            #expect(try ask() == [false])
            let first = try begin()
            #expect(try ask(first.header) == [false])
            try server.done("POST", "app/objects/Dog", dog, first.header)
            #expect(try ask(first.header) == [true])
            #expect(try ask() == [false])
            // What is rolled back was in no result of others, and is in none any more.
            try server.done("DELETE", "app/transactions/\(first.id)")
            #expect(try ask() == [false])
            let second = try begin()
            try server.done("POST", "app/objects/Dog", dog, second.header)
            #expect(try ask(second.header) == [true])
            try server.done("POST", "app/transactions/\(second.id)/commit")
            #expect(try ask() == [true])
            // Inside one that deletes it, it is gone already.
            let third = try begin()
            try server.done("DELETE", "app/objects/Dog/9", nil, third.header)
            #expect(try ask(third.header) == [false])
            #expect(try ask() == [true])
            try server.done("POST", "app/transactions/\(third.id)/commit")
            #expect(try ask() == [false])
        }
    }

    /// More rows than fit between a server and a client that does not read.
    private static let manyRows = 6000
    private static let manyClasses =
        #"[{"name":"Row","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"n","type":"int"},{"name":"text","type":"string"}]}]"#

    private static func withManyRows(_ body: (ChangeServer) throws -> Void) throws {
        let server = try ChangeServer { $0.limits.writeSeconds = 60 }
        try server.makeRealm("app", classes: manyClasses)
        let text = String(repeating: "x", count: 1200)
        for start in stride(from: 0, to: manyRows, by: 2000) {
            let rows = (start..<start + 2000).map { #"{"_id":\#($0),"n":0,"text":"\#(text)"}"# }
            try server.must("POST", "app/objects/Row", "[\(rows.joined(separator: ","))]", [("Prefer", "return=minimal")])
        }
        try body(server)
    }

    @Test(arguments: ["", "&sort=-_id"])
    func `B2: a stream has the members of its beginning, whatever is deleted, changed and made while it is read`(_ sort: String)
        throws
    {
        try ResultRowTests.withManyRows { server in
            let client = try HTTPClient(port: server.port)
            try client.send(
                "GET /v1/realms/app/objects/Row?format=ndjson&meta=none\(sort) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n"
            )
            #expect(try client.receiveSome())
            try server.batch("app", [#"{"patch":{"class":"Row","key":"\#(ResultRowTests.manyRows / 2 - 1)","body":{"n":7}}}"#])
            try server.must("DELETE", "app/objects/Row?where=_id%20%3E%3D%20\(ResultRowTests.manyRows / 2)")
            try server.must("POST", "app/objects/Row", #"{"_id":-1,"n":1,"text":""}"#)
            #expect(try server.must("GET", "app/aggregate/Row?ops=count")["count"]?.int == ResultRowTests.manyRows / 2 + 1)
            // The client has not read much, so the stream still holds its version.
            #expect(try eventually { try server.metric("live_versions") == 2 })
            let answer = try client.readAnswer()
            #expect(answer.status == 200 && answer.isComplete)
            let lines = try answer.text.split(separator: "\n").map { try ParsedJSON(parsing: String($0)) }
            let ids = Array(0..<ResultRowTests.manyRows)
            #expect(lines.compactMap { $0["_id"]?.int } == (sort.isEmpty ? ids : ids.reversed()))
            #expect(lines.allSatisfy { $0["n"]?.int == 0 && $0["text"]?.text?.count == 1200 })
            #expect(try eventually { try server.metric("live_versions") == 1 })
        }
    }

    @Test func `B2: pages of a snapshot go through the members it was made with`() throws {
        let all = try ResultRows()
        let id = try all.server.must("POST", "app/snapshots")["id"]?.text ?? ""
        let filter = ResultRows.filters[2]
        let expected = all.sorted(all.rows(filter), "name,-_id").map(\.id)
        #expect(expected.count > 20)
        var seen: [Int] = []
        var after = ""
        repeat {
            let page = try all.page("snapshot=\(id)&\(filter.query)&sort=name,-_id&limit=7\(after)")
            // Each page is followed by the end of some members that are still to come, and of one that was there.
            for gone in [page.ids.first, expected.dropFirst(seen.count + 9).first].compactMap({ $0 }) {
                _ = try all.server.send("DELETE", "app/objects/Row/\(gone)")
            }
            seen += page.ids
            after = page.answer["next"]?.text.map { "&after=" + ChangeServer.encode($0) } ?? ""
        } while !after.isEmpty && seen.count <= expected.count
        #expect(seen == expected)
        let left = try all.ids("\(filter.query)&sort=name,-_id")
        #expect(left.count < expected.count - 4 && left == expected.filter { left.contains($0) })
    }

    @Test func `B11: of an expired snapshot there is no result, not an empty one`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let ended = try #require(try server.done("POST", "app/snapshots", "{}").json["id"]?.text)
            let expired = try #require(try server.done("POST", "app/snapshots", #"{"ttl":"1s"}"#).json["id"]?.text)
            for question in ResultRowTests.questions {
                let separator = question.path.contains("?") ? "&" : "?"
                try server.done(question.method, "app/\(question.path)\(separator)snapshot=\(ended)", question.body)
            }
            #expect(try server.send("DELETE", "app/snapshots/\(ended)").status == 204)
            #expect(try eventually { try server.get("app/snapshots/\(expired)").status == 410 })
            for id in [ended, expired] {
                for question in ResultRowTests.questions {
                    let separator = question.path.contains("?") ? "&" : "?"
                    let answer = try server.send(
                        question.method, "app/\(question.path)\(separator)snapshot=\(id)", question.body)
                    #expect(answer.status == 410 && answer.code == "snapshot_expired", "\(question.path): \(answer.text)")
                    #expect(answer.json["items"] == nil && answer.json["count"] == nil && answer.json["index"] == nil)
                }
                for format in ["ndjson", "csv"] {
                    let stream = try server.get("app/objects/Dog?format=\(format)&snapshot=\(id)")
                    #expect(stream.status == 410 && stream.code == "snapshot_expired")
                }
                #expect(try server.send("HEAD", "app/objects/Dog?count=exact&snapshot=\(id)").status == 410)
            }
        }
    }

    // MARK: - Composition

    @Test func `B3: filter, order, distinctness and a part of them are one plan, and asking for it runs nothing`() throws {
        let all = try ResultRows.shared.get()
        for filter in ResultRows.filters {
            let query = "\(filter.query)&sort=-real,name&distinct=name,group&offset=2&limit=5"
            let composed = all.distinct(all.sorted(all.rows(filter), "-real,name"), ["name", "group"])
            #expect(try all.page(query).ids == composed.dropFirst(2).prefix(5).map(\.id), "\(filter.text)")
            let explained = try all.server.must("GET", "app/objects/Row?explain=true&\(query)")
            // One plan has all parts, each once and in the order in which they are carried out.
            #expect(explained.members?.map(\.name) == ["plan", "version"])
            let plan = (explained["plan"]?.texts ?? []).joined(separator: "\n").lowercased()
            let places = ["sort", "distinct"].map { part in plan.ranges(of: part).map { plan[..<$0.lowerBound].count } }
            #expect(places.allSatisfy { $0.count == 1 } && places[0][0] < places[1][0], "\(plan)")
        }
        // Without a row to look at there is a plan all the same.
        let nothing = try all.server.must("GET", "app/objects/Row?explain=true&where=FALSEPREDICATE")
        #expect(nothing["plan"]?.texts?.isEmpty == false)
    }

    @Test func `B3, B5: a result is an answer: nothing is made for it on the server, and nothing of it stays`() throws {
        let fixture = try ChangeFixture()
        let server = fixture.server
        // The version before the last write is let go of by its writer, perhaps a moment later.
        try #require(try eventually { try server.must("GET", "app")["liveVersions"]?.int == 1 })
        let before = try server.must("GET", "app")
        for _ in 0..<20 {
            for (method, path, body) in [
                ("GET", "app/objects/Dog?where=age%20%3E%201&sort=-age&limit=1", nil),
                ("QUERY", "app/objects/Dog", #"{"where":"age > 1","distinct":["age"],"limit":1}"#),
                ("POST", "app/query/Dog", #"{"where":"age > 1","limit":1}"#),
            ] as [(String, String, String?)] {
                let answer = try server.send(method, path, body)
                #expect(answer.status == 200 && answer["Location"] == nil, "\(answer.text)")
                #expect(answer.json["items"]?.elements?.count == 1)
            }
        }
        let after = try server.must("GET", "app")
        for name in ["version", "liveVersions", "fileBytes", "classes", "empty"] {
            #expect(after[name] == before[name], "\(name)")
        }
        for name in ["snapshots", "registrations", "observed_definitions"] {
            #expect(try server.metric(name) ?? 0 == 0, "\(name)")
        }
        #expect(try eventually { try server.metric("live_versions") == 1 })
        // There is no address under which one could be made.
        for path in ["app/results", "app/results/Dog", "app/query", "app/queries"] {
            #expect(try server.send("POST", path, #"{"class":"Dog"}"#).status == 404, "\(path)")
        }
    }

    @Test func `B4: a thousand equal subscriptions cost one evaluation per commit, and all are told`() throws {
        let fixture = try ChangeFixture { $0.limits.registrationNames = 100 }
        let server = fixture.server
        let definition = #"{"class":"Dog","where":"age > 1","sort":["-age"],"include":"keys"}"#
        let names = (0..<100).map { "\"n\($0)\":\(definition)" }.joined(separator: ",")
        let streams = try (0..<10).map { _ in
            let id = try server.must("POST", "app/subscriptions", "{\"subscriptions\":{\(names)}}")["id"]?.text ?? ""
            return try server.stream("app", "subscription=\(id)")
        }
        for stream in streams {
            var snapshots = 0
            while let event = try stream.next(), event.name != "ready" { snapshots += event.name == "snapshot" ? 1 : 0 }
            #expect(snapshots == 100)
        }
        #expect(try server.metric("observed_definitions") == 1)
        var evaluations = try server.metric("evaluations_total") ?? 0
        for number in 1...3 {
            let version = try fixture.write(fixture.create(100 + number, age: 50 + number))
            for stream in streams {
                var told = Set<String>()
                while told.count < 100 {
                    let event = try stream.next("changes").json
                    #expect(event["to"]?.text == version && event["count"]?.int == 4 + number, "\(event)")
                    #expect(event["insertions"]?.serialized == #"[{"index":0,"key":"\#(100 + number)"}]"#)
                    let isNew = told.insert(event["sub"]?.text ?? "").inserted
                    #expect(isNew, "\(event)")
                }
            }
            evaluations += 1
            #expect(try server.metric("evaluations_total") == evaluations)
        }
    }

    // MARK: - Counts and places

    @Test func `B6: the count of a result is the number of its rows, whichever way either is asked for`() throws {
        let all = try ResultRows.shared.get()
        for filter in ResultRows.filters {
            for rest in ["", "&sort=-real", "&distinct=name", "&sort=group,-_id&distinct=group,name"] {
                let query = filter.query + rest
                let rows = try all.streamed(query).count
                let paths = rest.contains("distinct=group") ? ["group", "name"] : ["name"]
                #expect(rows == (rest.contains("distinct") ? all.distinct(all.rows(filter), paths) : all.rows(filter)).count)
                for limit in [0, 1, 1000] {
                    #expect(try all.page("\(query)&count=exact&limit=\(limit)").answer["count"]?.int == rows, "\(query)")
                }
                let head = try all.server.send("HEAD", "app/objects/Row?\(query)&count=exact")
                #expect(head.status == 200 && head["Realm-Count"] == "\(rows)")
                let csv = try all.server.send("GET", "app/objects/Row?\(query)&format=csv&fields=_id")
                #expect(csv.text.split(separator: "\r\n").count == rows + 1)
            }
            let count = try all.server.must("GET", "app/aggregate/Row?\(filter.query)&ops=count")["count"]?.int
            #expect(try count == all.streamed(filter.query).count, "\(filter.text)")
        }
        #expect(try all.page("limit=1").answer["count"] == nil)
    }

    @Test func `B10: the realm of a result is the one in its URL, and so is that of its next page`() throws {
        let server = try ChangeServer()
        for (name, count) in [("one", 3), ("two", 4)] {
            try server.makeRealm(name, classes: ChangeFixture.classes)
            try server.batch(
                name, (0..<count).map { #"{"create":{"class":"Dog","body":{"_id":\#($0),"name":"\#(name)","age":0}}}"# })
        }
        for (name, count) in [("one", 3), ("two", 4)] {
            let first = try server.send("GET", "\(name)/objects/Dog?limit=2&count=exact")
            #expect(first.json["count"]?.int == count)
            let link = try #require(first["Link"]?.split(separator: ">").first?.dropFirst())
            let target = String(link.replacing("/v1/realms/", with: ""))
            #expect(target.hasPrefix("\(name)/objects/Dog?"))
            let second = try server.must("GET", target)
            let rows = (first.json["items"]?.elements ?? []) + (second["items"]?.elements ?? [])
            #expect(rows.count == count && rows.allSatisfy { $0["name"]?.text == name })
        }
        #expect(try server.send("GET", "three/objects/Dog").code == "realm_not_found")
    }
}

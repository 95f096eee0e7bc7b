// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Aggregates in groups, and facets beside pages, over HTTP.
@Suite struct GroupedAnswerTests {
    private static func withShops(
        change: (inout ServerOptions) -> Void = { _ in }, _ body: (WriteServer) throws -> Void
    ) throws {
        let classes = [
            ClassInput(
                "City", primaryKey: "_id",
                [PropertyInput("_id", "string"), PropertyInput("land", "string", optional: true)]),
            ClassInput("Spot", type: "embedded", [PropertyInput("x", "int")]),
            ClassInput(
                "Shop", primaryKey: "_id",
                [
                    PropertyInput("_id", "int"), PropertyInput("city", "object", objectType: "City"),
                    PropertyInput("kind", "string", optional: true), PropertyInput("stars", "int", optional: true),
                    PropertyInput("rate", "double", optional: true), PropertyInput("open", "bool", optional: true),
                    PropertyInput("any", "mixed"), PropertyInput("spot", "object", objectType: "Spot"),
                    PropertyInput("tags", "string", collection: "list"),
                    PropertyInput("near", "object", collection: "list", objectType: "Shop"),
                ]),
        ]
        try withWriteServer(classes, change: change) { (server: WriteServer) throws in
            let cities = #"[{"_id":"Oslo","land":"NO"},{"_id":"Bergen","land":"NO"},{"_id":"Lund"}]"#
            try server.done("POST", "app/objects/City", cities)
            let rows: [(Int, String, String, String, String)] = [
                (1, #""Oslo""#, #""bar""#, "3", "4.5"), (2, #""Oslo""#, #""cafe""#, "3", "2.5"),
                (3, #""Bergen""#, #""bar""#, "5", "null"),
                (4, "null", "null", "null", "1"), (5, #""Oslo""#, #""bar""#, "4", "3"), (6, #""Lund""#, #""cafe""#, "3", "5"),
            ]
            let objects = rows.map { row in
                #"{"_id":\#(row.0),"city":\#(row.1),"kind":\#(row.2),"stars":\#(row.3),"rate":\#(row.4),"open":\#(row.0 % 2 == 0)}"#
            }
            try server.done("POST", "app/objects/Shop", "[" + objects.joined(separator: ",") + "]")
            try server.done("PATCH", "app/objects/Shop/1", #"{"tags":["a","b","a","c","a"],"near":[2,3,2,4],"spot":{"x":1}}"#)
            try body(server)
        }
    }

    /// The members of an answer without its version. A cursor is an ellipsis.
    private static func text(_ answer: HTTPClient.Answer) -> String {
        let text = answer.text.firstRange(of: #","version""#).map { String(answer.text[..<$0.lowerBound]) + "}" } ?? answer.text
        return text.replacing(/"next":"b64\.[-_A-Za-z0-9]+"/, with: #""next":"…""#)
    }

    static let answers: [(query: String, expected: String)] = [
        (
            "groupBy=kind",
            #"{"groups":[{"key":{"kind":"bar"},"count":3},{"key":{"kind":"cafe"},"count":2},{"key":{"kind":null},"count":1}],"next":null}"#
        ),
        (
            "groupBy=kind&ops=count,avg:rate,max:stars,sum:stars&sort=-avg:rate",
            #"{"groups":[{"key":{"kind":"bar"},"count":3,"avg:rate":3.75,"max:stars":5,"sum:stars":12},{"key":{"kind":"cafe"},"count":2,"avg:rate":3.75,"max:stars":3,"sum:stars":6},{"key":{"kind":null},"count":1,"avg:rate":1.0,"max:stars":null,"sum:stars":0}],"next":null}"#
        ),
        (
            "groupBy=city&sort=-count&limit=2&count=exact",
            #"{"groups":[{"key":{"city":{"$link":{"class":"City","key":"Oslo"}}},"count":3},{"key":{"city":{"$link":{"class":"City","key":"Bergen"}}},"count":1}],"next":"…","count":4}"#
        ),
        ("groupBy=city&sort=city&limit=1", #"{"groups":[{"key":{"city":null},"count":1}],"next":"…"}"#),
        (
            "groupBy=city.land&sort=-count",
            #"{"groups":[{"key":{"city.land":"NO"},"count":4},{"key":{"city.land":null},"count":2}],"next":null}"#
        ),
        (
            "groupBy=stars,open&where=kind%20!%3D%20null&sort=-stars,open",
            #"{"groups":[{"key":{"stars":5,"open":false},"count":1},{"key":{"stars":4,"open":false},"count":1},{"key":{"stars":3,"open":false},"count":1},{"key":{"stars":3,"open":true},"count":2}],"next":null}"#
        ),
        ("groupBy=open&offset=1", #"{"groups":[{"key":{"open":true},"count":3}],"next":null}"#),
        (
            "groupBy=kind:firstLetter&ops=count,countDistinct:city,median:rate,percentile(100):stars&sort=-countDistinct:city",
            #"{"groups":[{"key":{"kind:firstLetter":"B"},"count":3,"countDistinct:city":2,"median:rate":3.75,"percentile(100):stars":5.0},{"key":{"kind:firstLetter":"C"},"count":2,"countDistinct:city":2,"median:rate":3.75,"percentile(100):stars":3.0},{"key":{"kind:firstLetter":null},"count":1,"countDistinct:city":0,"median:rate":1.0,"percentile(100):stars":null}],"next":null}"#
        ),
        (
            "groupBy=stars:floor(2)&sort=stars:floor(2)",
            #"{"groups":[{"key":{"stars:floor(2)":null},"count":1},{"key":{"stars:floor(2)":2},"count":3},{"key":{"stars:floor(2)":4},"count":2}],"next":null}"#
        ),
        (
            "groupBy=kind&ops=sum:stars&having=count%20%3E%201%20%26%26%20sum:stars%20%3E%3D%2012&count=exact",
            #"{"groups":[{"key":{"kind":"bar"},"sum:stars":12}],"next":null,"count":1}"#
        ),
        (
            "groupBy=kind&having=kind%20%3D%3D%20null%20or%20kind%20%3D%20'cafe'",
            #"{"groups":[{"key":{"kind":"cafe"},"count":2},{"key":{"kind":null},"count":1}],"next":null}"#
        ),
        ("groupBy=kind&where=FALSEPREDICATE&count=exact", #"{"groups":[],"next":null,"count":0}"#),
    ]

    @Test(arguments: answers.indices)
    func `aggregates are grouped by key paths, sorted and cut`(_ index: Int) throws {
        let (query, expected) = GroupedAnswerTests.answers[index]
        try GroupedAnswerTests.withShops { (server: WriteServer) throws in
            let answer = try server.get("app/aggregate/Shop?" + query)
            #expect(GroupedAnswerTests.text(answer) == expected)
        }
    }

    @Test(arguments: [
        ("groupBy=kind:yaer", "groupBy", "'yaer' is not one of"),
        ("groupBy=stars:year", "groupBy", "does not take values of type"),
        ("groupBy=kind&having=", "having", "having"),
        ("groupBy=kind&having=nope%20%3E%201", "having", "expected one of count, kind"),
        ("groupBy=kind&having=count%20~%201", "having", "expected ==, !=, <, <=, > or >="),
        ("groupBy=kind&having=count%20%3E", "having", "expected a number"),
        ("groupBy=kind&having=count%20%3E%201%20count", "having", "expected &&, || or the end"),
        ("groupBy=kind&having=kind%20%3D%20'a", "having", "no closing quote"),
        ("having=count%20%3E%201", "having", "needs 'groupBy'"),
        ("ops=median:kind", "ops", "percentiles are not supported"), ("ops=percentile(101):stars", "ops", "is not one of count"),
    ])
    func `functions, statistics and filters that do not exist or fit are refused with their parameter`(
        _ query: String, _ parameter: String, _ detail: String
    ) throws {
        try GroupedAnswerTests.withShops { (server: WriteServer) throws in
            let answer = try server.get("app/aggregate/Shop?" + query)
            #expect(answer.status == 400 || answer.status == 422, "\(answer.text)")
            #expect(answer.json["parameter"]?.text == parameter && answer.text.contains(detail), "\(answer.text)")
        }
    }

    @Test func `statistics of nothing, of collections and facets by functions`() throws {
        try GroupedAnswerTests.withShops { (server: WriteServer) throws in
            let nothing = try server.get(
                "app/aggregate/Shop?where=FALSEPREDICATE&ops=count,countDistinct:kind,median:rate,sum:stars")
            #expect(
                GroupedAnswerTests.text(nothing) == #"{"count":0,"countDistinct:kind":0,"median:rate":null,"sum:stars":0}"#)
            let tags = try server.get("app/objects/Shop/1/tags/@aggregate?ops=count,countDistinct")
            #expect(GroupedAnswerTests.text(tags) == #"{"count":5,"countDistinct":3}"#)
            let near = try server.get("app/objects/Shop/1/near/@aggregate?ops=median:stars,countDistinct:kind,max:stars")
            #expect(GroupedAnswerTests.text(near) == #"{"median:stars":3.0,"countDistinct:kind":2,"max:stars":5}"#)
            let facets = try server.get("app/objects/Shop?facets=kind:firstLetter&limit=0")
            #expect(
                facets.text.contains(
                    #""kind:firstLetter":[{"value":"B","count":3},{"value":"C","count":2},{"value":null,"count":1}]"#))
        }
    }

    @Test func `collections are grouped, also those of values, and the body says the same as the URL`() throws {
        try GroupedAnswerTests.withShops { (server: WriteServer) throws in
            let near = try server.get("app/objects/Shop/1/near/@aggregate?groupBy=kind&ops=count,sum:stars")
            #expect(
                GroupedAnswerTests.text(near)
                    == #"{"groups":[{"key":{"kind":"cafe"},"count":2,"sum:stars":6},{"key":{"kind":"bar"},"count":1,"sum:stars":5},{"key":{"kind":null},"count":1,"sum:stars":0}],"next":null}"#
            )
            let tags = try server.get("app/objects/Shop/1/tags/@aggregate?groupBy=self&sort=-count")
            #expect(
                GroupedAnswerTests.text(tags)
                    == #"{"groups":[{"key":{"self":"a"},"count":3},{"key":{"self":"b"},"count":1},{"key":{"self":"c"},"count":1}],"next":null}"#
            )
            let links = try server.get("app/objects/City/Oslo/@links/Shop/city/@aggregate?groupBy=kind&sort=kind")
            #expect(
                GroupedAnswerTests.text(links)
                    == #"{"groups":[{"key":{"kind":"bar"},"count":2},{"key":{"kind":"cafe"},"count":1}],"next":null}"#)
            let body = #"{"groupBy":["kind"],"ops":["count"],"sort":["-count"],"limit":1,"where":"stars >= $0","args":[3]}"#
            let posted = try server.send("POST", "app/aggregate/Shop", body)
            #expect(GroupedAnswerTests.text(posted) == #"{"groups":[{"key":{"kind":"bar"},"count":3}],"next":"…"}"#)
        }
    }

    @Test func `groups are those of the version that is read`() throws {
        try GroupedAnswerTests.withShops { (server: WriteServer) throws in
            let id = try server.send("POST", "app/snapshots").json["id"]?.text ?? ""
            try server.done("DELETE", "app/objects/Shop/4")
            func count(_ query: String, _ headers: [(String, String)] = []) throws -> Int64? {
                try server.get("app/aggregate/Shop?groupBy=kind&count=exact" + query, headers).json["count"]?.integer
            }
            #expect(try count("") == 2 && count("&snapshot=" + id) == 3)
            let begun = try server.send("POST", "app/transactions")
            let transaction = [("Realm-Transaction", begun.json["id"]?.text ?? "")]
            try server.done("DELETE", "app/objects/Shop?where=kind%20%3D%3D%20'cafe'", nil, transaction)
            #expect(try count("", transaction) == 1 && count("") == 2)
        }
    }

    static let wrong: [(query: String, status: Int, code: String, parameter: String)] = [
        ("groupBy=nope", 400, "unknown_key_path", "groupBy"), ("groupBy=tags", 400, "invalid_query", "groupBy"),
        ("groupBy=spot", 400, "invalid_query", "groupBy"), ("groupBy=kind,kind", 400, "invalid_parameter", "groupBy"),
        ("groupBy=kind&sort=stars", 400, "invalid_parameter", "sort"), ("groupBy=", 400, "invalid_parameter", "groupBy"),
        ("groupBy=kind&ops=sum:kind", 422, "type_mismatch", "ops"), ("groupBy=kind&ops=sum:nope", 400, "unknown_key_path", "ops"),
        ("sort=count", 400, "conflicting_parameters", "sort"), ("limit=1", 400, "conflicting_parameters", "limit"),
    ]

    @Test(arguments: wrong.indices)
    func `a wrong grouping is refused with the parameter that is wrong`(_ index: Int) throws {
        let (query, status, code, parameter) = GroupedAnswerTests.wrong[index]
        try GroupedAnswerTests.withShops { (server: WriteServer) throws in
            let answer = try server.get("app/aggregate/Shop?" + query)
            #expect(answer.status == status && answer.code == code, "\(answer.text)")
            #expect(answer.json["parameter"]?.text == parameter)
        }
    }

    @Test func `groups by nothing are refused, and other empty lists do no harm`() throws {
        try GroupedAnswerTests.withShops { (server: WriteServer) throws in
            let results = [
                "aggregate/Shop", "objects/Shop/1/near/@aggregate", "objects/Shop/1/tags/@aggregate",
                "objects/City/Oslo/@links/Shop/city/@aggregate",
            ]
            for path in results {
                for body in [#"{"groupBy":[]}"#, #"{"groupBy":[],"ops":["count"],"sort":["count"],"limit":1}"#] {
                    let answer = try server.send("POST", "app/" + path, body)
                    #expect(answer.status == 400 && answer.code == "invalid_parameter", "\(path): \(answer.text)")
                    #expect(answer.json["parameter"]?.text == "groupBy", "\(answer.text)")
                }
                let property = path.contains("tags") ? "self" : "kind"
                let groups = try server.send("POST", "app/" + path, #"{"groupBy":["\#(property)"],"ops":[],"sort":[],"args":[]}"#)
                #expect(groups.status == 200 && groups.json["groups"]?.elements?.isEmpty == false, "\(groups.text)")
                #expect(try server.send("POST", "app/" + path, #"{"ops":[],"args":[]}"#).status == 200)
            }
            for path in ["query/Shop", "query/City"] {
                for name in ["args", "sort", "distinct", "fields", "expand", "facets", "at"] {
                    let answer = try server.send("POST", "app/" + path, #"{"\#(name)":[]}"#)
                    #expect(answer.status == 200, "\(path) \(name): \(answer.text)")
                }
            }
            for path in ["near", "tags"] {
                for name in ["args", "sort", "distinct", "facets", "at"] {
                    let answer = try server.send("QUERY", "app/objects/Shop/1/" + path, #"{"\#(name)":[]}"#)
                    #expect(answer.status == 200, "\(path) \(name): \(answer.text)")
                }
            }
            let section = try server.send("POST", "app/query/Shop", #"{"sectionBy":"kind","section":[]}"#)
            #expect(section.code == "section_not_found", "\(section.text)")
            let list = try server.send("POST", "app/query/Shop", #"{"where":"kind IN $0","args":[[]],"count":"exact"}"#)
            #expect(list.json["count"]?.int == 0, "\(list.text)")
        }
    }

    @Test func `facets count values of the whole filtered result, the most frequent first`() throws {
        try GroupedAnswerTests.withShops { (server: WriteServer) throws in
            func facets(_ query: String) throws -> String {
                try server.get("app/objects/" + query).json["facets"]?.serialized ?? "none"
            }
            let both = try facets("Shop?facets=city,stars&limit=1&where=kind%20!%3D%20null")
            #expect(
                both
                    == #"{"city":[{"value":{"$link":{"class":"City","key":"Oslo"}},"count":3},{"value":{"$link":{"class":"City","key":"Bergen"}},"count":1},{"value":{"$link":{"class":"City","key":"Lund"}},"count":1}],"stars":[{"value":3,"count":3},{"value":5,"count":1},{"value":4,"count":1}]}"#
            )
            #expect(
                try facets("Shop?facets=kind&sort=-stars&offset=4&limit=0")
                    == #"{"kind":[{"value":"bar","count":3},{"value":"cafe","count":2},{"value":null,"count":1}]}"#)
            #expect(try facets("Shop/1/near?facets=kind&limit=1").hasPrefix(#"{"kind":[{"value":"cafe","count":2}"#))
            #expect(try facets("Shop/1/tags?facets=self").hasPrefix(#"{"self":[{"value":"a","count":3}"#))
            #expect(
                try facets("Shop?distinct=kind&facets=kind")
                    == #"{"kind":[{"value":"bar","count":1},{"value":"cafe","count":1},{"value":null,"count":1}]}"#)
            let posted = try server.send("POST", "app/query/Shop", #"{"facets":["open"]}"#)
            #expect(posted.json["facets"]?["open"]?.elements?.count == 2)
            let wrong = try server.get("app/objects/Shop?facets=nope")
            #expect(wrong.code == "unknown_key_path" && wrong.json["parameter"]?.text == "facets")
            #expect(try server.get("app/objects/Shop?facets=kind&at=0").code == "conflicting_parameters")
            #expect(try server.get("app/objects/Shop?facets=kind&format=ndjson&limit=2").code == "not_acceptable")
        }
    }

    @Test func `groups and values of facets are bounded`() throws {
        let limits = { (options: inout ServerOptions) in
            for limit in ["groups=2", "facet-values=1"] { try? options.limits.apply(limit) }
        }
        try GroupedAnswerTests.withShops(change: limits) { (server: WriteServer) throws in
            let refused = try server.get("app/aggregate/Shop?groupBy=kind")
            #expect(refused.status == 422 && refused.code == "answer_too_large")
            #expect(refused.json["limitName"]?.text == "groups" && refused.json["limit"]?.integer == 2)
            #expect(try server.get("app/objects/Shop/1/tags/@aggregate?groupBy=self").code == "answer_too_large")
            #expect(try server.get("app/objects/Shop?facets=open").json["facets"]?["open"]?.elements?.count == 1)
        }
    }

    @Test func `groups with all of their operations, and facets together, are bounded by the values that they keep`() throws {
        try GroupedAnswerTests.withShops(change: { $0.limits.sortedValues = 1000 }) { (server: WriteServer) throws in
            let tags = (0..<600).map { "\"t\($0)\"" }.joined(separator: ",")
            let rows = (100..<400).map { #"{"_id":\#($0),"kind":"k\#($0)","stars":1,"any":\#($0)}"# }.joined(separator: ",")
            try server.done("POST", "app/objects/Shop", "[" + rows + "]")
            try server.done("PATCH", "app/objects/Shop/1", #"{"tags":[\#(tags)]}"#)
            let ops = "sum:any,min:any,max:any,avg:any"
            for path in [
                "app/aggregate/Shop?groupBy=_id&ops=\(ops)", "app/objects/Shop?facets=_id,kind,any",
                "app/objects/Shop/1/tags/@aggregate?groupBy=self",
            ] {
                let refused = try server.get(path)
                #expect(refused.status == 422 && refused.code == "answer_too_large", "\(path)")
                #expect(refused.json["limitName"]?.text == "sorted-values" && refused.json["limit"]?.integer == 1000, "\(path)")
                #expect(refused.json["detail"]?.text?.contains("fewer operations for each group") == true, "\(path)")
            }
            #expect(try server.get("app/aggregate/Shop?groupBy=_id&where=_id%20%3C%20120&ops=\(ops)").status == 200)
            #expect(try server.get("app/objects/Shop?facets=open,kind&where=_id%20%3C%20120").status == 200)
            #expect(try server.get("app/objects/Shop/1/tags?limit=1").status == 200)
        }
    }
}

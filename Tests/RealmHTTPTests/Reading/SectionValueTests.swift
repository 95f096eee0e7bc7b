// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Sections are told apart by values, as groups and distinct rows are.
@Suite("Sections by value")
struct SectionValueTests {
    private static let classes = """
        [{"name":"T","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"d","type":"double","optional":true},
          {"name":"m","type":"decimal128","optional":true},{"name":"x","type":"mixed"},{"name":"s","type":"string","optional":true},
          {"name":"b","type":"data","optional":true},{"name":"t","type":"date","optional":true}]}]
        """

    private static let rows = [
        #"{"id":1,"d":1,"m":"1","x":1,"s":"\u00e9","b":"","t":"2024-01-01T00:00:00Z"}"#,
        #"{"id":2,"d":0,"m":"1.0","x":1.5,"s":"e\u0301","b":"AA==","t":{"$instant":{"seconds":"-99999999999","nanoseconds":0}}}"#,
        #"{"id":3,"d":-0.0,"m":"1.00","x":{"$numberDecimal":"1.50"},"s":"\u212b"}"#,
        #"{"id":4,"d":{"$numberDouble":"NaN"},"m":"-0","x":"1.5","s":"\u00c5"}"#,
        #"{"id":5,"d":{"$numberDouble":"NaN"},"m":"0","x":{"$date":"2024-01-01T00:00:00Z"},"s":"\ud55c"}"#,
        #"{"id":6,"m":"NaN","x":"2024-01-01T00:00:00Z","s":"\u1112\u1161\u11ab"}"#,
        #"{"id":7,"x":{"$binary":{"base64":"AA==","subType":"00"}},"s":""}"#,
        #"{"id":8,"x":"AA==","s":"null"}"#, #"{"id":9,"x":{"$numberDecimal":"1.0"},"s":"\u00df"}"#,
        #"{"id":10,"x":{"$numberFloat":"1.5"}}"#, #"{"id":11,"x":"null","s":"@null"}"#,
    ]

    private let server: ChangeServer

    init() throws {
        server = try ChangeServer()
        try server.makeRealm("app", classes: SectionValueTests.classes)
        try server.batch("app", SectionValueTests.rows.map { #"{"create":{"class":"T","body":\#($0)}}"# })
    }

    /// The keys of sections as JSON, each with the ids of its rows.
    private func sections(_ path: String) throws -> [(key: ParsedJSON, ids: [Int])] {
        let answer = try server.must("GET", "app/objects/T?sectionBy=\(path)&fields=id&meta=none")
        return (answer["sections"]?.elements ?? []).map { section in
            (section["key"] ?? .null, (section["items"]?.elements ?? []).compactMap { $0["id"]?.int })
        }
    }

    @Test(arguments: ["d", "m", "x", "s", "b", "t"])
    func `sections are those of groups, facets and distinct`(_ path: String) throws {
        let sections = try sections(path)
        let groups = try server.must("GET", "app/aggregate/T?groupBy=\(path)&ops=count")["groups"]?.elements ?? []
        #expect(groups.compactMap { $0["count"]?.int }.sorted() == sections.map(\.ids.count).sorted())
        let facets = try server.must("GET", "app/objects/T?facets=\(path)&limit=0")["facets"]?[path]?.elements ?? []
        #expect(facets.count == sections.count)
        let distinct = try server.must("GET", "app/objects/T?distinct=\(path)&fields=id&meta=none")["items"]?.elements ?? []
        #expect(distinct.count == sections.count)
        let keys = groups.compactMap { $0["key"]?[path] }
        for section in sections { #expect(keys.contains(section.key), "\(section.key)") }
    }

    @Test(arguments: ["x", "-x"])
    func `pages in the order of mixed numbers end, and have each object once`(_ sort: String) throws {
        // Rounded to the digits of floats and doubles, the decimal equals the float and is less than the int that it equals exactly.
        let values = [
            #"{"$numberLong":"16777217"}"#, #"{"$numberFloat":"16777216"}"#, #"{"$numberDecimal":"16777217"}"#, "5", "99999999",
            #"{"$numberDecimal":"9007199254740993"}"#, #"{"$numberLong":"9007199254740993"}"#,
            #"{"$numberDouble":"9007199254740992"}"#,
            #"{"$numberFloat":"0.1"}"#, "0.1", #"{"$numberDecimal":"0.1"}"#, #"{"$numberDecimal":"0.10000000000000000001"}"#,
        ]
        try server.makeRealm("pages", classes: SectionValueTests.classes)
        try server.batch("pages", values.enumerated().map { #"{"create":{"class":"T","body":{"id":\#($0),"x":\#($1)}}}"# })
        let whole = try server.must("GET", "pages/objects/T?sort=\(sort)&fields=id&meta=none")["items"]?.elements ?? []
        var (ids, path) = ([Int](), "pages/objects/T?sort=\(sort)&fields=id&meta=none&limit=1")
        for _ in 0...values.count {
            let page = try server.must("GET", path)
            ids += (page["items"]?.elements ?? []).compactMap { $0["id"]?.int }
            guard let next = page["next"]?.text else { break }
            path = "pages/objects/T?sort=\(sort)&fields=id&meta=none&limit=1&after=\(next)"
        }
        #expect(ids == whole.compactMap { $0["id"]?.int } && Set(ids).count == values.count)
        for order in ["id", "-id", "x"] {
            let distinct = try server.must("GET", "pages/objects/T?distinct=x&sort=\(order)&limit=0&count=exact")
            #expect(distinct["count"]?.int == 10, "\(order)")
        }
    }

    @Test(arguments: ["d", "m", "x", "s", "b", "t"])
    func `every section that is listed has an address in a body`(_ path: String) throws {
        for section in try sections(path) {
            let body = #"{"sectionBy":"\#(path)","section":\#(section.key.serialized),"fields":["id"],"meta":"none"}"#
            let answer = try server.must("QUERY", "app/objects/T", body)
            let ids = (answer["sections"]?.elements?.first?["items"]?.elements ?? []).compactMap { $0["id"]?.int }
            #expect(ids == section.ids, "\(section.key)")
        }
    }

    @Test(arguments: [
        ("d", "null", [6, 7, 8, 9, 10, 11]), ("d", "1", [1]), ("d", "1.0", [1]), ("d", "0", [2, 3]), ("d", "NaN", [4, 5]),
        ("m", "1", [1, 2, 3]), ("m", "1.000", [1, 2, 3]), ("m", "0", [4, 5]), ("s", "", [7]), ("s", "null", [8]),
        ("s", "@null", [10]),
        ("s", "@@null", [11]), ("b", "", [1]), ("b", "AA==", [2]), ("x", "1.5", [2, 3, 10]), ("x", #""1.5""#, [4]),
        ("x", #""null""#, [11]), ("x", "AA==", [8]), ("s:firstLetter", "ß", [9]), ("s:firstLetter", "@null", [10]),
        ("t", "2024-01-01T00:00:00Z", [1]),
        ("t", #"{"$instant":{"seconds":"-99999999999","nanoseconds":0}}"#, [2]),
    ])
    func `a section is found by what its key is called`(_ path: String, _ text: String, _ ids: [Int]) throws {
        let answer = try server.send(
            "GET", "app/objects/T?sectionBy=\(path)&section=\(ChangeServer.encode(text))&fields=id&meta=none")
        let found = (answer.json["sections"]?.elements ?? []).flatMap { $0["items"]?.elements ?? [] }.compactMap { $0["id"]?.int }
        #expect(found == ids, "\(answer.text)")
    }

    @Test func `bytes and the text that reads like them are two sections, which lists and polls name in the same way`() throws {
        let classes = """
            [{"name":"T","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"t","type":"string"},
              {"name":"m","type":"mixed"}]}]
            """
        let rows = [
            #"{"id":0,"t":{"$bytes":"/w=="},"m":{"$bytes":"/w=="}}"#,
            #"{"id":1,"t":"{\"$bytes\":\"/w==\"}","m":"{\"$bytes\":\"/w==\"}"}"#, #"{"id":2,"t":"1","m":"1"}"#,
            #"{"id":3,"t":"\"1\"","m":"\"1\""}"#, #"{"id":4,"t":"@b64._w","m":1}"#, #"{"id":5,"t":"A","m":""}"#,
            #"{"id":6,"t":"B","m":{"$binary":{"base64":"","subType":"00"}}}"#,
        ]
        try server.makeRealm("bytes", classes: classes)
        try server.batch("bytes", rows.map { #"{"create":{"class":"T","body":\#($0)}}"# })
        // The JSON text of this registration is the text of a poll below that means another section.
        _ = try server.must(
            "POST", "bytes/subscriptions",
            #"{"subscriptions":{"a":{"class":"T","sectionBy":"m","section":"\"1\"","include":"keys"}}}"#)
        let named = [
            ("t", #"{"$bytes":"/w=="}"#, 1), ("t", "@b64._w", 0), ("t", "@@b64._w", 4), ("t", "1", 2), ("t", #""1""#, 3),
            ("t", "@b64.QQ", 5), ("t", #"{"$bytes":"QQ=="}"#, 5), ("m", #"{"$bytes":"/w=="}"#, 0), ("m", "@b64._w", 0),
            ("m", "1", 4), ("m", #""1""#, 2), ("m", #""\"1\"""#, 3), ("m", "", 5), ("m", "@empty", 5),
        ]
        for (path, text, id) in named {
            let section = "sectionBy=\(path)&section=\(ChangeServer.encode(text))"
            let list = try server.send("GET", "bytes/objects/T?\(section)&fields=id&meta=none")
            let listed = (list.json["sections"]?.elements ?? []).flatMap { $0["items"]?.elements ?? [] }
            #expect(listed.compactMap { $0["id"]?.int } == [id], "\(path) \(text): \(list.text)")
            let poll = try server.poll("bytes", "class=T&include=keys&\(section)")["snapshots"]?.elements?.first
            let polled = (poll?["sections"]?.elements ?? []).flatMap { $0["items"]?.elements ?? [] }
            #expect(polled.compactMap { $0["key"]?.text } == ["\(id)"], "\(path) \(text)")
        }
    }
}

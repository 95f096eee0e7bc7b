// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Rows B33, D51 and D52 of the checklist: results in sections, read and observed.
@Suite struct SectionRowTests {
    private static let classes = """
        [{"name":"S","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"name","type":"string","optional":true},
          {"name":"age","type":"int","optional":true},{"name":"when","type":"date","optional":true},{"name":"real","type":"double","optional":true},
          {"name":"flag","type":"bool"},{"name":"friend","type":"object","objectType":"S"}]}]
        """

    private static let server: ChangeServer = {
        do {
            let server = try ChangeServer()
            try server.makeRealm("app", classes: classes)
            let names = ["null", #""""#, #""anna""#, #""Anton""#, #""berta""#, #""@at""#, #""ÉA""#, #""éb""#, #""👍🏽x""#, #""9""#]
            let ages = ["null", "0", "-1", "-3", "1", "2", "3", "8", "9", "7"]
            let dates = [
                "null", #""1969-12-31T23:59:59Z""#, #""2024-02-29T12:00:00Z""#, #""2024-03-01T00:00:00Z""#,
                #""2025-02-28T23:59:59.999Z""#,
            ]
            let reals = ["null", "0", "-0.5", "1.25", "2", "3.75"]
            let ops = (0..<20).map { number in
                """
                {"create":{"class":"S","body":{"_id":\(number),"name":\(names[number % 10]),"age":\(ages[(number + 3) % 10]),
                "when":\(dates[number % 5]),"real":\(reals[number % 6]),"flag":\(number % 3 == 0)}}}
                """
            }
            try server.batch("app", ops)
            return server
        } catch {
            preconditionFailure("no server: \(error)")
        }
    }()

    private static func text(_ value: ParsedJSON) -> String { value.text ?? "" }

    private static func part(_ range: Range<Int>) -> @Sendable (ParsedJSON) -> ParsedJSON {
        { value in value == .null ? .null : .integer(Int64(String(Array(text(value))[range])) ?? -1) }
    }

    private static func remainder(_ value: Double, _ step: Double) -> Double { value - (value / step).rounded(.down) * step }

    /// How sections are made, and the key of a value by other means.
    private static let hows: [(how: String, key: @Sendable (ParsedJSON) -> ParsedJSON)] = [
        ("name", { $0 }), ("age", { $0 }), ("flag", { $0 }), ("when", { $0 }), ("real", { $0 }),
        ("name:first", { $0 == .null ? .null : .string(String(text($0).prefix(1))) }),
        ("name:firstLetter", { $0 == .null ? .null : .string(text($0).prefix(1).uppercased()) }),
        ("when:year", part(0..<4)), ("when:month", part(5..<7)), ("when:day", part(8..<10)),
        ("age:floor(2)", { $0 == .null ? .null : .integer(Int64((Double($0.integer ?? 0) / 2).rounded(.down)) * 2) }),
        ("age:mod(3)", { $0 == .null ? .null : .integer(Int64(remainder(Double($0.integer ?? 0), 3))) }),
        ("real:floor(2)", { ($0.double.map { ($0 / 2).rounded(.down) * 2 }).map { .real($0) } ?? .null }),
        ("real:mod(2)", { $0.double.map { .real(remainder($0, 2)) } ?? .null }),
    ]

    /// Keys and the objects under them, as text.
    private static func shape(_ sections: [(key: ParsedJSON, ids: [Int64])]) -> [String] {
        sections.map { section in
            // Numbers may be written with or without a fraction.
            let key = section.key.double.map { "\($0)" } ?? section.key.serialized
            return key + ": " + section.ids.map(String.init).joined(separator: " ")
        }
    }

    private static func shape(_ sections: ParsedJSON?, _ id: (ParsedJSON) -> Int64?) -> [String] {
        shape((sections?.elements ?? []).map { ($0["key"] ?? .null, ($0["items"]?.elements ?? []).map { id($0) ?? -1 }) })
    }

    @Test(
        arguments: hows.indices,
        [false, true])
    func `B33, D52, G11: sections of all kinds are the same in lists, queries and subscriptions`(
        _ index: Int, _ isDescending: Bool
    )
        throws
    {
        let (how, key) = SectionRowTests.hows[index]
        let server = SectionRowTests.server
        let path = String(how.split(separator: ":")[0])
        let sort = isDescending ? "-" + path : path
        let rows = try server.must("GET", "app/objects/S?sort=\(sort)&fields=_id,\(path)&limit=100")["items"]?.elements ?? []
        #expect(rows.count == 20)
        var expected: [(key: ParsedJSON, ids: [Int64])] = []
        for row in rows {
            let own = key(row[path] ?? .null)
            let place = expected.firstIndex { $0.key.serialized == own.serialized && $0.key.double == own.double }
            if let place {
                expected[place].ids.append(row["_id"]?.integer ?? -1)
            } else {
                expected.append((own, [row["_id"]?.integer ?? -1]))
            }
        }
        let wanted = SectionRowTests.shape(expected)
        let encoded = ChangeServer.encode(how)
        let order = isDescending ? "&sort=\(sort)" : ""
        let list = try server.must("GET", "app/objects/S?sectionBy=\(encoded)\(order)&limit=100&fields=_id")
        #expect(SectionRowTests.shape(list["sections"]) { $0["_id"]?.integer } == wanted)
        let body = "{\"sectionBy\":\"\(how)\",\"sort\":[\"\(sort)\"],\"limit\":100,\"fields\":[\"_id\"]}"
        for (method, target) in [("QUERY", "app/objects/S"), ("POST", "app/query/S")] {
            #expect(
                SectionRowTests.shape(try server.must(method, target, body)["sections"]) { $0["_id"]?.integer } == wanted,
                "\(method)")
        }
        let observed = "class=S&sectionBy=\(encoded)\(order)&fields=_id"
        let poll = try server.poll("app", observed)["snapshots"]?.elements?.first
        #expect(SectionRowTests.shape(poll?["sections"]) { $0["object"]?["_id"]?.integer } == wanted)
        let stream = try server.stream("app", observed)
        #expect(SectionRowTests.shape(try stream.next("snapshot").json["sections"]) { $0["object"]?["_id"]?.integer } == wanted)
    }

    @Test(arguments: hows.map(\.how))
    func `D51: one section is that of the full answer, and one that is not there is 404 or empty`(_ how: String) throws {
        let server = SectionRowTests.server
        let encoded = ChangeServer.encode(how)
        let all =
            try server.must("GET", "app/objects/S?sectionBy=\(encoded)&limit=100&fields=_id,name")["sections"]?.elements ?? []
        for section in all {
            let key = section["key"] ?? .null
            let text =
                key == .null
                ? "@null" : key.text == "" ? "@empty" : key.text.map { $0.hasPrefix("@") ? "@" + $0 : $0 } ?? key.serialized
            let one = try server.must(
                "GET", "app/objects/S?sectionBy=\(encoded)&section=\(ChangeServer.encode(text))&limit=100&fields=_id,name")
            #expect(one["sections"]?.elements == [section], "\(text)")
            let body = "{\"sectionBy\":\"\(how)\",\"section\":\(key.serialized),\"limit\":100,\"fields\":[\"_id\",\"name\"]}"
            #expect(try server.must("POST", "app/query/S", body)["sections"]?.elements == [section], "\(body)")
            let observed = try server.poll(
                "app", "class=S&sectionBy=\(encoded)&section=\(ChangeServer.encode(text))&fields=_id,name")
            let sections = observed["snapshots"]?.elements?.first?["sections"]?.elements ?? []
            #expect(sections.map { $0["key"] } == [key], "\(text)")
            #expect(sections.first?["items"]?.elements?.map { $0["object"] } == section["items"]?.elements?.map { $0 }, "\(text)")
        }
        let none = try server.send("GET", "app/objects/S?sectionBy=\(encoded)&section=7777")
        #expect(none.status == 404 && none.code == "section_not_found")
        let observed = try server.poll("app", "class=S&sectionBy=\(encoded)&section=7777")["snapshots"]?.elements?.first
        #expect(observed?["sections"]?.elements?.isEmpty == true && observed?["count"]?.integer == 0)
    }

    @Test func `B33: a sort that does not begin with the key of the sections is refused everywhere`() throws {
        let server = SectionRowTests.server
        func isRefused(_ answer: HTTPClient.Answer) -> Bool { answer.status == 400 && answer.code == "conflicting_parameters" }
        for (sectionBy, sort) in [("age", "name"), ("name:first", "-age"), ("when:year", "when.x"), ("friend.age", "age")]
        where sort != "when.x" {
            let both = "sectionBy=\(ChangeServer.encode(sectionBy))&sort=\(sort)"
            #expect(isRefused(try server.send("GET", "app/objects/S?\(both)")))
            #expect(
                isRefused(try server.send("QUERY", "app/objects/S", "{\"sectionBy\":\"\(sectionBy)\",\"sort\":[\"\(sort)\"]}")))
            for accept in ["application/json", "text/event-stream"] {
                #expect(isRefused(try server.send("GET", "app/changes?class=S&\(both)", nil, [("Accept", accept)])))
            }
            let body = "{\"subscriptions\":{\"a\":{\"class\":\"S\",\"sectionBy\":\"\(sectionBy)\",\"sort\":[\"\(sort)\"]}}}"
            #expect(isRefused(try server.send("POST", "app/subscriptions", body)))
            let text = ChangeServer.encode("TRUEPREDICATE SORT(flag ASC)")
            #expect(isRefused(try server.send("GET", "app/objects/S?sectionBy=\(ChangeServer.encode(sectionBy))&where=\(text)")))
            #expect(
                isRefused(try server.send("GET", "app/changes?class=S&sectionBy=\(ChangeServer.encode(sectionBy))&where=\(text)"))
            )
        }
    }

    @Test(arguments: Transport.allCases)
    func `B33, D50: rows of null and of the empty string go from section to section, and sections come and go`(
        _ transport: Transport
    ) throws {
        let fixture = try ChangeFixture()
        let follower = try Follower(
            fixture.server.port, #"{"class":"Dog","sectionBy":"name:first","include":"keys"}"#, transport)
        #expect(
            follower.snapshot?["sections"]?.serialized
                == #"[{"key":"d","items":[{"key":"1"},{"key":"2"},{"key":"3"},{"key":"4"},{"key":"5"}]}]"#)
        func name(_ id: Int, _ name: String) -> String {
            "{\"patch\":{\"class\":\"Dog\",\"key\":\"\(id)\",\"body\":{\"name\":\(name)}}}"
        }
        func told(_ ops: String...) throws -> String? { try follower.sets(upTo: try fixture.server.batch("app", ops)).first }
        #expect(
            try told(name(1, "null"))
                == #"{"count":5,"sectionsToDelete":[],"sectionsToInsert":[{"section":0,"key":null}],"deletions":[{"section":0,"index":0,"key":"1"}],"insertions":[{"section":0,"index":0,"key":"1"}],"modifications":[]}"#
        )
        #expect(
            try told(name(2, #""""#))
                == #"{"count":5,"sectionsToDelete":[],"sectionsToInsert":[{"section":1,"key":""}],"deletions":[{"section":1,"index":0,"key":"2"}],"insertions":[{"section":1,"index":0,"key":"2"}],"modifications":[]}"#
        )
        #expect(
            try told(name(1, #""""#))
                == #"{"count":5,"sectionsToDelete":[{"section":0,"key":null}],"sectionsToInsert":[],"deletions":[],"insertions":[{"section":0,"index":0,"key":"1"}],"modifications":[]}"#
        )
        #expect(
            try told(name(1, #""dx""#), name(2, #""dy""#))
                == #"{"count":5,"sectionsToDelete":[{"section":0,"key":""}],"sectionsToInsert":[],"deletions":[],"insertions":[{"section":0,"index":3,"key":"1"},{"section":0,"index":4,"key":"2"}],"modifications":[]}"#
        )
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Rows B12 to B18 of the checklist: rows by their positions in a result, and positions by their rows.
@Suite struct ResultPositionRowTests {
    private let all: ResultRows

    init() throws { all = try ResultRows.shared.get() }

    /// Results as parameters, with and without order, filter and distinctness.
    static let results = ["", "sort=-real", "where=_id%20%3C%2090&sort=owner.rank,-name", "sort=name&distinct=group,name"]

    @Test(arguments: results)
    func `B12: every row is at the position it has in the stream, and beyond the end there is an empty page with the count`(
        _ result: String
    ) throws {
        let streamed = try all.streamed(result)
        #expect(streamed.count > 30)
        for (index, id) in streamed.enumerated() {
            let page = try all.page("\(result)&offset=\(index)&limit=1")
            #expect(page.ids == [id], "\(index)")
            #expect((page.answer["next"] == .null) == (index == streamed.count - 1), "\(index)")
        }
        for offset in [streamed.count, streamed.count + 1, 1 << 40] {
            let page = try all.page("\(result)&offset=\(offset)&limit=1&count=exact")
            #expect(page.ids.isEmpty && page.answer["next"] == .null)
            #expect(page.answer["count"]?.int == streamed.count)
        }
        for offset in ["-1", "x", "99999999999999999999"] {
            let answer = try all.server.send("GET", "app/objects/Row?\(result)&offset=\(offset)&limit=1")
            #expect(answer.status == 400 && answer.code == "invalid_parameter", "\(answer.text)")
        }
    }

    @Test(arguments: results)
    func `B13: rows at several positions come in the order that was asked for, and one out of bounds is refused`(
        _ result: String
    ) throws {
        let streamed = try all.streamed(result)
        let last = streamed.count - 1
        for positions in [[0, 5, 7], [7, 0, 5], [last, 0, last], [3], Array(0...last).reversed()] {
            let list = positions.map(String.init).joined(separator: ",")
            let page = try all.page("\(result)&at=\(list)")
            #expect(page.ids == positions.map { streamed[$0] }, "\(list)")
            #expect(page.answer["next"] == .null)
        }
        for positions in ["\(streamed.count)", "0,\(streamed.count)", "-\(streamed.count + 1)", "0,5,99999", "x", "0,,1"] {
            let answer = try all.server.send("GET", "app/objects/Row?\(result)&at=\(positions)")
            #expect(answer.status == 400 && answer.code == "invalid_parameter", "\(positions): \(answer.text)")
        }
        let body = #"{"sort":["-_id"],"at":[2,0,-1],"fields":["_id"]}"#
        let items = try all.server.must("QUERY", "app/objects/Row", body)["items"]?.elements ?? []
        #expect(items.compactMap { $0["_id"]?.int } == [158, 160, 1])
    }

    @Test(arguments: results)
    func `B14, B15: the first and the last row are those of the stream`(_ result: String) throws {
        let streamed = try all.streamed(result)
        #expect(try all.page("\(result)&limit=1").ids == [streamed[0]])
        #expect(try all.page("\(result)&at=0").ids == [streamed[0]])
        #expect(try all.page("\(result)&at=-1").ids == [streamed[streamed.count - 1]])
        // Where the order tells all rows apart, the last row is the first of the opposite order.
        for (sort, opposite) in [("_id", "-_id"), ("group,-_id", "-group,_id"), ("-owner.rank,_id", "owner.rank,-_id")] {
            let last = try all.streamed("sort=\(sort)").last
            #expect(try all.page("sort=\(opposite)&limit=1").ids == [last])
            #expect(try all.page("sort=\(sort)&at=-1").ids == [last])
        }
    }

    @Test func `B14, B15: a result of nothing has no first and no last row`() throws {
        for nothing in ["where=FALSEPREDICATE", "where=_id%20%3D%3D%200&sort=-group", "where=_id%20%3C%200&distinct=name"] {
            let page = try all.page(nothing + "&limit=1&count=exact")
            #expect(page.answer["items"]?.elements?.isEmpty == true && page.answer["next"] == .null)
            #expect(page.answer["count"]?.int == 0)
            #expect(try all.streamed(nothing) == [])
            for position in ["0", "-1", "0,-1"] {
                let page = try all.page(nothing + "&at=\(position)&count=exact")
                #expect(page.answer["items"]?.elements?.isEmpty == true && page.answer["next"] == .null, "\(position)")
                #expect(page.answer["count"]?.int == 0)
            }
            for position in ["1", "-2", "0,1"] {
                let answer = try all.server.send("GET", "app/objects/Row?\(nothing)&at=\(position)")
                #expect(answer.status == 400 && answer.code == "invalid_parameter", "\(answer.text)")
            }
        }
    }

    @Test(arguments: results)
    func `B16: every member has the index of its place, and what is no member has none`(_ result: String) throws {
        let streamed = try all.streamed(result)
        func index(_ key: String) throws -> ParsedJSON? {
            try all.server.must("GET", "app/objects/Row?\(result)&indexOf=\(key)")["index"]
        }
        for (place, id) in streamed.enumerated() { #expect(try index("\(id)") == .integer(Int64(place)), "\(id)") }
        // Rows that the filter or distinctness left out, and keys that nobody ever had.
        let members = Set(streamed)
        for row in all.rows where !members.contains(row.id) { #expect(try index("\(row.id)") == .null, "\(row.id)") }
        for key in ["0", "-5", "9223372036854775807"] { #expect(try index(key) == .null, "\(key)") }
    }

    @Test func `B16: a deleted row has no index any more, and those behind it move up`() throws {
        let fixture = try ChangeFixture()
        func index(_ key: String, _ headers: [(String, String)] = []) throws -> ParsedJSON? {
            try fixture.server.must("GET", "app/objects/Dog?sort=-age&indexOf=\(key)", nil, headers)["index"]
        }
        #expect(try index("4") == .integer(1) && index("3") == .integer(2))
        let id = try fixture.server.must("POST", "app/snapshots")["id"]?.text ?? ""
        try fixture.write(fixture.delete("Dog", "4"))
        #expect(try index("4") == .null && index("3") == .integer(1))
        #expect(try index("4&snapshot=\(id)") == .integer(1))
        try fixture.write(fixture.create(4, age: 100))
        #expect(try index("4") == .integer(0))
    }

    @Test func `B17, B18: the first index that matches is that of a scan, in every order; without a match it is null`() throws {
        for filter in ResultRows.filters {
            for sort in ["", "_id", "-real", "name,-group", "-owner.rank"] {
                let expected = all.sorted(all.rows, sort).firstIndex { filter.matches($0, all) }
                let index = expected.map { ParsedJSON.integer(Int64($0)) } ?? .null
                let order = sort.isEmpty ? "" : "&sort=\(sort)"
                let text = ChangeServer.encode(filter.text)
                let target = "app/objects/Row?indexOfWhere=\(text)&args=\(ChangeServer.encode(filter.args))\(order)"
                #expect(try all.server.must("GET", target) == .object([("index", index)]), "\(filter.text) \(sort)")
                // The predicate as a member of a document.
                let body =
                    #"{"indexOfWhere":\#(ParsedJSON.quoted(filter.text)),"args":\#(filter.args),"sort":[\#(sort.isEmpty ? "" : sort.split(separator: ",").map { "\"\($0)\"" }.joined(separator: ","))]}"#
                for (method, target) in [("QUERY", "app/objects/Row"), ("POST", "app/query/Row")] {
                    #expect(try all.server.must(method, target, body)["index"] == index, "\(method) \(filter.text) \(sort)")
                }
            }
        }
        #expect(ResultRows.filters.contains { all.rows($0).isEmpty })
    }

    @Test func `B17, B18: an index counts the rows of the result that is asked, not all`() throws {
        for outer in ResultRows.filters {
            let result = all.distinct(all.sorted(all.rows(outer), "-_id"), ["name"])
            let expected = result.firstIndex { $0.group == 3 }.map { ParsedJSON.integer(Int64($0)) } ?? .null
            let inner = ChangeServer.encode("group == 3")
            let target = "app/objects/Row?\(outer.query)&sort=-_id&distinct=name&indexOfWhere=\(inner)"
            #expect(try all.server.must("GET", target)["index"] == expected, "\(outer.text)")
        }
        for text in ["group ==", "nope == 1", "group == $3"] {
            let answer = try all.server.send("GET", "app/objects/Row?indexOfWhere=\(ChangeServer.encode(text))")
            #expect(answer.status == 400 && ["invalid_query", "unknown_key_path"].contains(answer.code), "\(answer.text)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Rows B19 and B20 of the checklist: results of a condition; the vectors of the reference engine are in `VectorsOverHTTPTests`.
@Suite struct ResultFilterRowTests {
    private let all: ResultRows

    init() throws { all = try ResultRows.shared.get() }

    /// The ids of a result that is asked for with a document.
    private func ids(_ method: String, _ target: String, _ body: String) throws -> [Int] {
        (try all.server.must(method, target, body)["items"]?.elements ?? []).compactMap { $0["_id"]?.int }
    }

    @Test(arguments: ResultRows.filters.indices)
    func `B19: a condition with arguments finds what a scan finds, in a URL and in a body`(_ index: Int) throws {
        let filter = ResultRows.filters[index]
        let expected = all.rows(filter).map(\.id)
        #expect(expected.count < all.rows.count)
        #expect(try all.ids(filter.query) == expected)
        #expect(try all.streamed(filter.query) == expected)
        let body = #"{"where":\#(ParsedJSON.quoted(filter.text)),"args":\#(filter.args),"limit":1000,"fields":["_id"]}"#
        #expect(try ids("QUERY", "app/objects/Row", body) == expected)
        #expect(try ids("POST", "app/query/Row", body) == expected)
        // Those that are left out are found by the opposite.
        let rest = "where=\(ChangeServer.encode("NOT (\(filter.text))"))&args=\(ChangeServer.encode(filter.args))"
        #expect(try Set(all.ids(rest)) == Set(all.rows.map(\.id)).subtracting(expected))
    }

    @Test func `B19: conditions that are none, whose arguments are missing, or that ask for what is not there, are refused`()
        throws
    {
        for (text, args) in [("group == $1", "[1]"), ("group == $0", "[]"), ("group ==", "[]")] {
            let target = "app/objects/Row?where=\(ChangeServer.encode(text))&args=\(ChangeServer.encode(args))"
            let answer = try all.server.send("GET", target)
            #expect(answer.status == 400 && answer.code == "invalid_query", "\(text): \(answer.text)")
            let body = #"{"where":\#(ParsedJSON.quoted(text)),"args":\#(args)}"#
            #expect(try all.server.send("QUERY", "app/objects/Row", body).code == "invalid_query", "\(text)")
        }
        let path = try all.server.send("GET", "app/objects/Row?where=\(ChangeServer.encode("nope == 1"))")
        #expect(path.status == 400 && path.code == "unknown_key_path", "\(path.text)")
    }

    /// The arguments of the second condition follow those of the first.
    private func joined(_ one: ResultRows.Filter, _ other: ResultRows.Filter) throws -> (text: String, args: String) {
        let args = try ParsedJSON(parsing: one.args).elements ?? []
        var text = other.text
        for number in (0..<2).reversed() { text = text.replacing("$\(number)", with: "$\(number + args.count)") }
        let more = try ParsedJSON(parsing: other.args).elements ?? []
        return ("(\(one.text)) AND (\(text))", ParsedJSON.array(args + more).serialized)
    }

    @Test func `B20: a condition upon the result of another finds what both find`() throws {
        var found = 0
        for one in ResultRows.filters {
            for other in ResultRows.filters {
                let expected = all.rows(one).filter { other.matches($0, all) }
                found += expected.count
                let (text, args) = try joined(one, other)
                let body = #"{"where":\#(ParsedJSON.quoted(text)),"args":\#(args),"sort":["-_id"],"limit":1000,"fields":["_id"]}"#
                #expect(
                    try ids("QUERY", "app/objects/Row", body) == expected.map(\.id).sorted(by: >), "\(text) \(args)")
                let query = "where=\(ChangeServer.encode(text))&args=\(ChangeServer.encode(args))"
                #expect(try all.ids(query) == expected.map(\.id), "\(text) \(args)")
            }
        }
        #expect(found > 1000)
    }
}

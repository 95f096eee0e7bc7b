// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Rows B21 to B23 of the checklist: the order of results, and which of equal rows are kept.
@Suite struct ResultOrderRowTests {
    private let all: ResultRows

    init() throws { all = try ResultRows.shared.get() }

    @Test(arguments: ResultRows.paths, ["", "-"])
    func `B21, D8: one path orders: nulls first when it ascends, equal rows as they were made, and through links`(
        _ path: String, _ direction: String
    ) throws {
        let sort = direction + path
        let expected = all.sorted(all.rows, sort)
        #expect(try all.ids("sort=\(sort)") == expected.map(\.id))
        #expect(try all.streamed("sort=\(sort)") == expected.map(\.id))
        // Nulls are at one end; but for rows that a link on the way keeps from having a value, which are at the other.
        let cells = expected.map { all.cell(path, $0) }
        let ascending = direction.isEmpty ? cells : cells.reversed()
        let nulls = ascending.count { $0 == .null }
        #expect(ascending.prefix(nulls).allSatisfy { $0 == .null } && (nulls > 0) == (path != "_id"))
        let missing = ascending.count { $0 == .missing }
        #expect(ascending.suffix(missing).allSatisfy { $0 == .missing } && (missing > 0) == path.contains("."))
        // The same in a query and in a body, and page by page.
        let body = #"{"sort":["\#(sort)"],"limit":1000,"fields":["_id"]}"#
        for (method, target) in [("QUERY", "app/objects/Row"), ("POST", "app/query/Row")] {
            let items = try all.server.must(method, target, body)["items"]?.elements ?? []
            #expect(items.compactMap { $0["_id"]?.int } == expected.map(\.id), "\(method)")
        }
        let text = ChangeServer.encode("TRUEPREDICATE SORT(\(path) \(direction.isEmpty ? "ASC" : "DESC"))")
        #expect(try all.ids("where=\(text)") == expected.map(\.id))
        var paged: [Int] = []
        var after = ""
        repeat {
            let page = try all.page("limit=37&sort=\(sort)\(after)")
            paged += page.ids
            after = page.answer["next"]?.text.map { "&after=" + ChangeServer.encode($0) } ?? ""
        } while !after.isEmpty && paged.count <= all.rows.count
        #expect(paged == expected.map(\.id))
    }

    @Test(arguments: ["tags", "owner.nope", "nope", "@count", "owner.", ""])
    func `B21: a path that orders nothing is refused`(_ path: String) throws {
        let answer = try all.server.send("GET", "app/objects/Row?sort=\(ChangeServer.encode(path))")
        #expect(
            answer.status == 400 && ["unknown_key_path", "invalid_query", "invalid_parameter"].contains(answer.code),
            "\(answer.text)")
    }

    @Test func `B22: of several paths the second decides among equals of the first`() throws {
        for first in ResultRows.paths {
            for second in ResultRows.paths where second != first {
                for sort in ["\(first),\(second)", "-\(first),\(second)", "\(first),-\(second)", "-\(first),-\(second)"] {
                    let expected = all.sorted(all.rows, sort)
                    #expect(try all.ids("sort=\(sort)") == expected.map(\.id), "\(sort)")
                    // But for the path that tells all rows apart, the order is not that of the first path alone.
                    let alone = all.sorted(all.rows, String(sort.split(separator: ",")[0]))
                    #expect((expected.map(\.id) == alone.map(\.id)) == (first == "_id"), "\(sort)")
                }
            }
        }
        let three = "group,-owner.rank,-_id"
        #expect(try all.ids("sort=\(three)") == all.sorted(all.rows, three).map(\.id))
    }

    @Test(arguments: ["group", "name", "real", "owner", "owner.rank", "group,name", "name,group", "owner.boss.rank,group"])
    func `B23: of rows with equal values the first is kept: the first made, or the first of an order`(_ paths: String) throws {
        let split = paths.split(separator: ",").map(String.init)
        let plain = all.distinct(all.rows, split)
        #expect(try all.ids("distinct=\(paths)") == plain.map(\.id))
        #expect(plain.count > 3 && plain.count < all.rows.count)
        for sort in ["-_id", "_id", "name,-_id", "-real", "owner.rank,-group"] {
            let kept = all.distinct(all.sorted(all.rows, sort), split)
            #expect(try all.ids("sort=\(sort)&distinct=\(paths)") == kept.map(\.id), "\(sort)")
            #expect(try all.streamed("sort=\(sort)&distinct=\(paths)") == kept.map(\.id), "\(sort)")
            // An order keeps other rows, but as many.
            #expect(kept.count == plain.count && kept.map(\.id) != plain.map(\.id), "\(sort)")
        }
        // What a condition leaves out does not stand for others.
        let filter = ResultRows.filters[8]
        let rows = all.distinct(all.sorted(all.rows(filter), "-_id"), split)
        #expect(try all.ids("\(filter.query)&sort=-_id&distinct=\(paths)") == rows.map(\.id))
        let counted = try all.page("distinct=\(paths)&count=exact&limit=0")
        #expect(counted.answer["count"]?.int == plain.count)
    }
}

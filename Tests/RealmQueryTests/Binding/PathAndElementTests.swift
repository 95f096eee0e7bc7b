// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Key paths, elements, plans")
struct PathAndElementTests {
    private let snapshot: Snapshot

    init() throws { snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path("store"))) }

    private func table(_ name: String) throws -> Table { try #require(snapshot.classTable(named: name)) }

    @Test func `a key path tells the links on the way, the property and the entry`() throws {
        let order = try table("Order")
        let city = try KeyPath.resolve("customer.address.city", from: order, in: snapshot)
        #expect(city.links.map(\.column.name) == ["customer", "address"])
        #expect(city.property?.name == "city")
        #expect(city.owner.className == "Address")
        let entry = try KeyPath.resolve("discounts['summer']", from: order, in: snapshot)
        #expect(entry.property?.name == "discounts")
        #expect(entry.entries == [.key("summer")])
        let backlinks = try KeyPath.resolve("@links.Order.customer", from: try table("Customer"), in: snapshot)
        #expect(backlinks.links.map(\.kind) == [.backlink])
        #expect(backlinks.property == nil)
    }

    @Test(arguments: ["nope", "customer.nope", "@links.Order.nope", "total.nope"])
    func `an unknown path is invalid and named`(_ path: String) throws {
        let order = try table("Order")
        let error = #expect(throws: QueryError.self) { try KeyPath.resolve(path, from: order, in: snapshot) }
        guard case .invalid(_, _, let culprit, _, _)? = error else { throw error ?? QueryError.cancelled }
        #expect(culprit == path)
    }

    @Test func `aliases stand for names and for backlinks`() throws {
        var mapping = KeyPathMapping()
        mapping.addProperty("orders", of: "Customer", path: "@links.Order.customer")
        mapping.addProperty("mail", of: "Customer", path: "email")
        let path = try KeyPath.resolve("orders.customer.mail", from: try table("Customer"), in: snapshot, mapping: mapping)
        #expect(path.links.map(\.kind) == [.backlink, .link])
        #expect(path.property?.name == "email")
    }

    @Test func `self names the values of a collection`() throws {
        let product = try table("Product")
        let weights = try #require(product.column(named: "weights"))
        let owner = try #require(try product.objects.row(at: 0))
        let values: [Value] = [.double(3), .double(1), .double(2.5), .double(1), .null]
        func positions(_ text: String, order: ResultOrder = .none) throws -> [Int] {
            try ElementQuery.bind(try Query.parse(text), to: weights, of: product, in: snapshot, order: order)
                .execute(values, owner: owner)
        }
        #expect(try positions("self > 1.5") == [0, 2])
        #expect(try positions("self == null") == [4])
        #expect(try positions("self IN {1.0, 3.0} SORT(self ASC)") == [1, 3, 0])
        #expect(try positions("self IN {1.0, 3.0} SORT(self ASC, self DESC)") == [1, 3, 0])
        #expect(try positions("self IN {1.0, 3.0} SORT(self ASC) SORT(self DESC)") == [0, 1, 3])
        #expect(try positions("TRUEPREDICATE DISTINCT(self)") == [0, 1, 2, 4])
        #expect(
            try positions(
                "TRUEPREDICATE", order: ResultOrder(sort: [.init(path: "self", isAscending: false)], distinct: ["self"])) == [
                    0, 2, 1, 4,
                ])
        #expect(throws: QueryError.self) { try positions("other > 1") }
        #expect(throws: QueryError.self) { try positions("TRUEPREDICATE SORT(other ASC)") }
    }

    @Test(arguments: [
        ("number == 3", "search index"),
        ("customer == obj('Customer', oid(000000000000000000000000))", "look up 0 of"),
        ("customer == null", "compare packed column"),
        ("gift == true", "packed column"), ("items.@count > 2", "row by row"), ("status CONTAINS[c] 'e'", "compare column"),
        ("number == 1 OR number == 2 OR number == 7", "one of 3 constants"),
    ])
    func `plans tell how objects are found`(_ query: String, _ words: String) throws {
        let lines = try Query.parse(query).bind(to: try table("Order"), in: snapshot).explain()
        #expect(lines.joined(separator: "\n").contains(words), "\(lines)")
    }

    @Test(arguments: [
        ("number == 1 AND nope == 2", "nope", 16), ("number == $3", "$3", 10), ("é == 1", "é", 0),
        ("number == 1 AND customer.nope == 2", "customer.nope", 16),
    ])
    func `a binding error names its culprit and where it stands`(_ text: String, _ culprit: String, _ position: Int) throws {
        let order = try table("Order")
        let error = #expect(throws: QueryError.self) { try Query.parse(text).bind(to: order, in: snapshot) }
        guard case .invalid(_, _, let found, let place, _)? = error else { throw error ?? QueryError.cancelled }
        #expect(found == culprit)
        #expect(place == position)
    }
}

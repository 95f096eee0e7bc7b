// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// NaN and decimals beside floats and doubles, which are the same in every form of a comparison.
@Suite("NaN and decimals in queries")
struct NaNQueryTests {
    private static let whole: Int64 = 1_628_899_821

    private let realm: EngineRealm
    private let snapshot: Snapshot
    private let table: Table

    /// Object 0 has NaN everywhere, and 1 and 2 link to 0 and 2; 2 has a number that no float has exactly.
    init() throws {
        realm = try EngineRealm([
            ClassInput(
                "T", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("d", "double"), PropertyInput("f", "float"),
                    PropertyInput("l", "double", collection: "list"), PropertyInput("k", "double", collection: "dictionary"),
                    PropertyInput("g", "float", collection: "list"), PropertyInput("o", "object", objectType: "T"),
                ])
        ])
        try realm.write { session in
            for (id, number) in [Double.nan, 5, Double(NaNQueryTests.whole)].enumerated() {
                let value = InputValue.typed(.double(number))
                let float = InputValue.typed(.double(Double(Float(number))))
                _ = try session.create(
                    "T",
                    [
                        "id": .integer(Int64(id)), "d": value, "f": float, "l": .list([value]), "g": .list([float]),
                        "k": .object(InputObject([(name: "a", value: value)])),
                    ])
            }
            _ = try session.patch("T", .primaryKey(.integer(1)), ["o": .integer(0)])
            _ = try session.patch("T", .primaryKey(.integer(2)), ["o": .integer(2)])
        }
        snapshot = realm.database.current.snapshot
        table = try #require(snapshot.classTable(named: "T"))
    }

    /// The primary keys of the objects that a query finds, which are their places.
    private func found(_ text: String, _ arguments: [QueryArgument] = []) throws -> [Int] {
        try Query.parse(text).bind(to: table, in: snapshot, arguments: arguments).execute().map { Int($0.rawValue) }
    }

    @Test func `NaN equals no float and no double in any form`() throws {
        let long = "{nan, " + (100..<150).map(String.init).joined(separator: ", ") + "}"
        let texts = [
            "d == nan", "nan == d", "d IN {nan}", "d IN {nan, 7}", "d == {nan, 7}", "d IN \(long)", "f == nan", "f IN {nan, 7}",
            "l == nan", "ANY l == nan", "ANY l IN {nan, 7}", "ANY l IN \(long)", "l == {nan}", "l IN {nan}", "nan IN l",
            "l[0] == nan",
            "l[LAST] IN {nan, 7}", "g == nan", "nan IN g", "k.a == nan", "k == nan", "ANY k.@values IN {nan, 7}",
            "k.a IN {nan, 7}",
            "o.d == nan", "nan == o.d", "o.d IN {nan, 7}", "o.d IN \(long)", "ANY o.l IN {nan, 7}", "ANY \(long) IN l",
            "SUBQUERY(@links.T.o, $x, $x.o.d == nan).@count > 0",
        ]
        for text in texts { #expect(try found(text) == [], "\(text)") }
        for text in ["d != nan", "l != nan", "nan != d", "k.a != nan", "NOT d == nan", "NONE l == nan", "NONE l IN {nan, 7}"] {
            #expect(try found(text) == [0, 1, 2], "\(text)")
        }
        for text in ["d == $0", "f == $0", "ANY l == $0", "o.d == $0", "k.a == $0", "d IN {$0, 7}"] {
            #expect(try found(text, [.double(.nan)]) == [], "\(text)")
        }
        #expect(try found("d == d") == [0, 1, 2])
        try realm.finish()
    }

    @Test func `a decimal NaN equals that of a double in every form`() throws {
        let decimal = Decimal128(Double.nan)
        try #require(decimal.isNaN)
        let list = QueryArgument.list([.decimal(decimal), .int(7)])
        for text in ["d == $0", "d IN {$0, 7}", "l == $0", "ANY l IN {$0, 7}", "k.a == $0", "$0 IN l"] {
            #expect(try found(text, [.decimal(decimal)]) == [0], "\(text)")
        }
        for text in ["d IN $0", "d == $0", "ANY l IN $0", "k.a IN $0"] { #expect(try found(text, [list]) == [0], "\(text)") }
        #expect(try found("o.d IN $0", [list]) == [1])
        try realm.finish()
    }

    @Test func `a decimal beside a float is the nearest float, as a literal is`() throws {
        let decimal = QueryArgument.decimal(Decimal128(NaNQueryTests.whole))
        let list = QueryArgument.list([decimal, .int(7)])
        for text in [
            "f == $0", "$0 == f", "f IN {$0, 7}", "f BETWEEN {$0, $0}", "g == $0", "ANY g IN {$0, 7}", "$0 IN g", "o.f == $0",
        ] {
            #expect(try found(text, [decimal]) == [2], "\(text)")
            let literal = text.replacing("$0", with: "\(NaNQueryTests.whole)")
            #expect(try found(literal) == [2], "\(literal)")
        }
        for text in ["f IN $0", "f == $0", "ANY g IN $0", "o.f IN $0"] { #expect(try found(text, [list]) == [2], "\(text)") }
        #expect(try found("f <= $0 AND f >= $0", [decimal]) == [2])
        #expect(try found("f < $0", [decimal]) == [1] && found("f > $0", [decimal]) == [])
        try realm.finish()
    }
}

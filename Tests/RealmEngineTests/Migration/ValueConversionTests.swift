// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Every conversion of values with its extremes, carried out in files' worth of objects: a property, a list, a
/// set and a dictionary of each source type.
@Suite struct ValueConversionTests {
    /// A value, and the text of what it becomes; nil for one that cannot be converted without loss.
    typealias Sample = (InputValue, String?)

    /// One conversion with its samples, and what becomes of those without loss when numbers may be rounded.
    struct Table: Sendable, CustomStringConvertible {
        let name: String
        let samples: [Sample]
        var rounded: [String?] = []
        var description: String { name }
    }

    private static let big = Int64.max
    private static func decimal(_ text: String) -> InputValue { .typed(.decimal(Decimal128.parse(text)!.value)) }
    private static func date(_ seconds: Int64, _ nanoseconds: Int32 = 0) -> InputValue {
        .typed(.timestamp(Timestamp(seconds: seconds, nanoseconds: nanoseconds)))
    }
    private static func data(_ bytes: [UInt8]) -> InputValue { .typed(.binary(bytes)) }
    private static func float(_ number: Float) -> InputValue { .typed(.float(number)) }
    private static let id = "0123456789abcdef01234567"
    private static let uuid = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

    static let tables: [Table] = [
        Table(
            name: "int-to-bool",
            samples: [(.integer(0), "false"), (.integer(1), "true"), (.integer(2), nil), (.integer(-1), nil)]),
        Table(
            name: "int-to-float",
            samples: [(.integer(1 << 24), "16777216.0f"), (.integer(1 << 24 + 1), nil), (.integer(big), nil)],
            rounded: ["16777216.0f", "16777216.0f", "9.223372e+18f"]),
        Table(
            name: "int-to-double",
            samples: [(.integer(-5), "-5.0"), (.integer(.min), "-9.223372036854776e+18"), (.integer(big), nil)],
            rounded: ["-5.0", "-9.223372036854776e+18", "9.223372036854776e+18"]),
        Table(
            name: "int-to-decimal128",
            samples: [(.integer(big), "9223372036854775807d"), (.integer(.min), "-9223372036854775808d")]),
        Table(name: "int-to-string", samples: [(.integer(.min), "'-9223372036854775808'"), (.integer(0), "'0'")]),
        Table(name: "int-to-date-seconds", samples: [(.integer(-1), "1969-12-31T23:59:59Z")]),
        Table(name: "int-to-date-milliseconds", samples: [(.integer(-1), "1969-12-31T23:59:59.999Z")]),
        Table(name: "bool-to-int", samples: [(.bool(true), "1"), (.bool(false), "0")]),
        Table(name: "bool-to-float", samples: [(.bool(true), "1.0f")]),
        Table(name: "bool-to-double", samples: [(.bool(true), "1.0")]),
        Table(name: "bool-to-decimal128", samples: [(.bool(true), "1d"), (.bool(false), "0d")]),
        Table(name: "bool-to-string", samples: [(.bool(true), "'true'"), (.bool(false), "'false'")]),
        Table(
            name: "float-to-int",
            samples: [(float(-0.0), "0"), (float(2.5), nil), (float(9.3e18), nil), (float(.infinity), nil)],
            rounded: ["0", "2", nil, nil]),
        Table(name: "float-to-bool", samples: [(float(1), "true"), (float(0.5), nil)]),
        Table(
            name: "float-to-double",
            samples: [(float(0.1), "0.10000000149011612"), (float(-0.0), "-0.0"), (float(-.infinity), "-inf")]),
        Table(name: "float-to-decimal128", samples: [(float(0.1), "0.1d"), (float(3), "3d"), (float(.infinity), "Infinityd")]),
        Table(name: "float-to-string", samples: [(float(0.1), "'0.1'"), (float(-0.0), "'-0.0'"), (float(1e20), "'1e+20'")]),
        Table(
            name: "double-to-int",
            samples: [
                (.real(-3), "-3"), (.real(2.5), nil), (.real(-3.5), nil), (.real(-9223372036854775808), "\(Int64.min)"),
                (.real(9223372036854775808), nil), (.typed(.double(.nan)), nil),
            ],
            rounded: ["-3", "2", "-4", "\(Int64.min)", nil, nil]),
        Table(name: "double-to-bool", samples: [(.real(1), "true"), (.real(0), "false"), (.typed(.double(.nan)), nil)]),
        Table(
            name: "double-to-float",
            samples: [(.real(0.5), "0.5f"), (.real(0.1), nil), (.real(1e300), nil), (.typed(.double(.infinity)), "inff")],
            rounded: ["0.5f", "0.1f", nil, "inff"]),
        Table(
            name: "double-to-decimal128",
            samples: [
                (.real(0.1), "0.1d"), (.real(1.0 / 3), "0.3333333333333333d"), (.real(1e300), "1E+300d"), (.real(2), "2d"),
                (.typed(.double(-.infinity)), "-Infinityd"),
            ]),
        Table(
            name: "double-to-string",
            samples: [(.real(0.1), "'0.1'"), (.real(-0.0), "'-0.0'"), (.real(1e300), "'1e+300'"), (.real(2), "'2.0'")]),
        Table(
            name: "double-to-date-seconds",
            samples: [
                (.real(1_700_000_000.25), "2023-11-14T22:13:20.25Z"), (.real(-0.5), "1969-12-31T23:59:59.5Z"),
                (.real(1e-12), nil), (.real(1e300), nil),
            ],
            rounded: ["2023-11-14T22:13:20.25Z", "1969-12-31T23:59:59.5Z", "1970-01-01T00:00:00Z", nil]),
        Table(
            name: "decimal128-to-int",
            samples: [
                (decimal("1E+3"), "1000"), (decimal("2.5"), nil), (decimal("-3.5"), nil), (decimal("0.00"), "0"),
                (decimal("9223372036854775807"), "\(big)"), (decimal("9223372036854775807.5"), nil), (decimal("NaN"), nil),
            ],
            rounded: ["1000", "2", "-4", "0", "\(big)", nil, nil]),
        Table(
            name: "decimal128-to-bool", samples: [(decimal("1.0"), "true"), (decimal("0E+5"), "false"), (decimal("1.1"), nil)]),
        Table(
            name: "decimal128-to-float",
            samples: [(decimal("0.10"), "0.1f"), (decimal("0.123456789"), nil), (decimal("1E+50"), nil)],
            rounded: ["0.1f", "0.12345679f", nil]),
        Table(
            name: "decimal128-to-double",
            samples: [(decimal("0.1"), "0.1"), (decimal("0.1000000000000000000000001"), nil), (decimal("1E+400"), nil)],
            rounded: ["0.1", "0.1", nil]),
        Table(name: "decimal128-to-string", samples: [(decimal("1.00"), "'1.00'"), (decimal("-Infinity"), "'-Infinity'")]),
        Table(
            name: "string-to-int",
            samples: [(.text("-9223372036854775808"), "\(Int64.min)"), (.text("9223372036854775808"), nil), (.text(""), nil)]),
        Table(name: "string-to-bool", samples: [(.text("true"), "true"), (.text("false"), "false"), (.text("TRUE"), nil)]),
        Table(name: "string-to-float", samples: [(.text("0.5"), "0.5f"), (.text("0.1234567891"), nil), (.text("1e50"), nil)]),
        Table(
            name: "string-to-double",
            samples: [
                (.text("0.10"), "0.1"), (.text("-Infinity"), "-inf"), (.text("1e400"), nil), (.text("0x10"), nil),
                (.text(""), nil),
                (.text("0.1000000000000000000001"), nil),
            ],
            rounded: ["0.1", "-inf", nil, nil, nil, "0.1"]),
        Table(
            name: "string-to-decimal128",
            samples: [
                (.text("1.50"), "1.50d"), (.text("1.1111111111111111111111111111111111111"), nil), (.text("abc"), nil),
            ], rounded: ["1.50d", "1.111111111111111111111111111111111d", nil]),
        Table(
            name: "string-to-date",
            samples: [
                (.text("2024-02-29T12:00:00+01:00"), "2024-02-29T11:00:00Z"), (.text("2024-02-29"), "2024-02-29T00:00:00Z"),
                (.text("2023-02-29"), nil), (.text("yesterday!"), nil),
            ]),
        Table(name: "string-to-data", samples: [(.text("AQI="), "<1,2>"), (.text(""), "<>"), (.text("AQI"), nil)]),
        Table(name: "string-to-data-utf8", samples: [(.text("é"), "<195,169>"), (.text(""), "<>")]),
        Table(name: "string-to-objectId", samples: [(.text(id), id), (.text("01"), nil)]),
        Table(name: "string-to-uuid", samples: [(.text(uuid), uuid), (.text(""), nil)]),
        Table(
            name: "date-to-string", samples: [(date(0, 5), "'1970-01-01T00:00:00.000000005Z'"), (date(.max), nil)]),
        Table(
            name: "date-to-int-seconds", samples: [(date(-7), "-7"), (date(0, 500_000_000), nil), (date(1, 500_000_000), nil)],
            rounded: ["-7", "0", "2"]),
        Table(
            name: "date-to-int-milliseconds",
            samples: [(date(-1, -5_000_000), "-1005"), (date(0, 600_000), nil), (date(.max), nil)], rounded: ["-1005", "1", nil]),
        Table(
            name: "date-to-double-seconds", samples: [(date(-1, -500_000_000), "-1.5"), (date(1_700_000_000, 1), nil)],
            rounded: ["-1.5", "1700000000.0"]),
        Table(name: "data-to-string", samples: [(data([1, 2]), "'AQI='"), (data([]), "''")]),
        Table(name: "data-to-string-utf8", samples: [(data([195, 169]), "'é'"), (data([255]), nil)]),
        Table(name: "data-to-objectId", samples: [(data([UInt8](0..<12)), "000102030405060708090a0b"), (data([1]), nil)]),
        Table(
            name: "data-to-uuid", samples: [(data([UInt8](0..<16)), "00010203-0405-0607-0809-0a0b0c0d0e0f"), (data([]), nil)]),
        Table(name: "objectId-to-string", samples: [(.text(id), "'\(id)'")]),
        Table(name: "objectId-to-data", samples: [(.text(id), "<1,35,69,103,137,171,205,239,1,35,69,103>")]),
        Table(name: "uuid-to-string", samples: [(.text(uuid), "'\(uuid)'")]),
        Table(name: "uuid-to-data", samples: [(.text(uuid), "<63,37,4,224,79,137,17,211,154,12,3,5,232,44,51,1>")]),
        Table(name: "mixed-to-int", samples: [(.integer(3), "3"), (.real(2), "2"), (.text("4"), "4"), (date(1), nil)]),
        Table(name: "mixed-to-bool", samples: [(.bool(true), "true"), (.integer(0), "false"), (data([]), nil)]),
        Table(name: "mixed-to-float", samples: [(.integer(3), "3.0f"), (float(0.1), "0.1f"), (.real(0.1), nil)]),
        Table(name: "mixed-to-double", samples: [(.integer(3), "3.0"), (.real(0.1), "0.1"), (data([]), nil)]),
        Table(name: "mixed-to-decimal128", samples: [(.integer(3), "3d"), (decimal("1.10"), "1.10d"), (data([]), nil)]),
        Table(name: "mixed-to-string", samples: [(.text("a"), "'a'"), (.bool(false), "'false'"), (.list([.text("a")]), nil)]),
        Table(name: "mixed-to-date", samples: [(date(0), "1970-01-01T00:00:00Z"), (.integer(0), nil)]),
        Table(name: "mixed-to-data", samples: [(data([9]), "<9>"), (.bool(true), nil)]),
        Table(name: "mixed-to-objectId", samples: [(.text(id), id), (.integer(1), nil)]),
        Table(name: "mixed-to-uuid", samples: [(.text(uuid), uuid), (.object(["a": .integer(1)]), nil)]),
        Table(name: "to-mixed", samples: [(.text("a"), "'a'")]),
    ]

    /// The source type of a conversion.
    private static func source(_ name: String) -> String {
        name == "to-mixed" ? "string" : String(name.prefix { $0 != "-" })
    }

    private func convert(
        _ realm: EngineRealm, _ property: String, _ table: Table, _ rounding: PropertyChange.Rounding? = nil,
        _ failure: PropertyChange.Failure? = nil, optional: Bool? = nil
    ) throws {
        var change = PropertyChange("A", property)
        (change.conversion, change.rounding, change.onFailure, change.optional) = (table.name, rounding, failure, optional)
        let migration = Migration(from: 0, to: 0, [.changeProperty(change)], allowsDataLoss: true)
        try realm.write { _ = try $0.migrate(migration) }
    }

    private func realm(_ table: Table, _ values: [InputValue]) throws -> EngineRealm {
        let type = ValueConversionTests.source(table.name)
        let isMixed = type == "mixed"
        var properties = [
            PropertyInput("_id", "int"), PropertyInput("must", type, optional: isMixed ? true : nil),
            PropertyInput("may", type, optional: true),
            PropertyInput("list", type, collection: "list", optional: true),
            PropertyInput("map", type, collection: "dictionary", optional: true),
        ]
        if !isMixed { properties.append(PropertyInput("set", type, collection: "set", optional: true)) }
        let realm = try EngineRealm([ClassInput("A", primaryKey: "_id", properties)])
        try realm.write { session in
            for (index, value) in values.enumerated() {
                var members: [(name: String, value: InputValue)] = [
                    ("_id", .integer(Int64(index))), ("must", value), ("may", value), ("list", .list([value, .null])),
                    ("map", .object(["k": value, "n": .null])),
                ]
                if !isMixed { members.append(("set", .list([value]))) }
                _ = try session.create("A", InputObject(members))
            }
        }
        return realm
    }

    @Test(arguments: tables)
    func `D28: values are converted as far as nothing is lost`(_ table: Table) throws {
        let good = table.samples.filter { $0.1 != nil }
        let sound = try realm(table, good.map(\.0))
        let hasSet = ValueConversionTests.source(table.name) != "mixed"
        for property in ["must", "may", "list", "map"] + (hasSet ? ["set"] : []) { try convert(sound, property, table) }
        for (index, sample) in good.enumerated() {
            let text = sample.1 ?? ""
            let shown = try #require(try sound.show("A", Int64(index)))
            let set = hasSet ? " set:[\(text)]" : ""
            #expect(shown == "{_id:\(index) must:\(text) may:\(text) list:[\(text) null] map:{k:\(text) n:null}\(set)}")
        }
        try sound.finish()
        for (value, expected) in table.samples where expected == nil {
            let bad = try realm(table, [value])
            #expect(throws: WriteError.self, "\(value)") { try convert(bad, "must", table) }
            for property in ["may", "list", "map"] + (hasSet ? ["set"] : []) { try convert(bad, property, table, nil, .null) }
            try convert(bad, "must", table, nil, .null, optional: true)
            let shown = try #require(try bad.show("A", 0))
            for part in ["must:null", "may:null", "list:[null null]", "map:{k:null n:null}"] + (hasSet ? ["set:[null]"] : []) {
                #expect(shown.contains(part), "\(value): \(shown)")
            }
            try bad.finish()
        }
    }

    @Test(arguments: tables.filter { !$0.rounded.isEmpty })
    func `D28: numbers are rounded where the step allows it`(_ table: Table) throws {
        for ((value, _), expected) in zip(table.samples, table.rounded) {
            let realm = try realm(table, [value])
            if let expected {
                try convert(realm, "must", table, .nearest)
                #expect(try realm.show("A", 0)?.contains("must:\(expected)") == true)
            } else {
                #expect(throws: WriteError.self, "\(value)") { try convert(realm, "must", table, .nearest) }
            }
            try realm.finish()
        }
    }

    @Test(arguments: [
        ("double-to-int", InputValue.real(-2.9), "-2"), ("decimal128-to-int", decimal("2.99"), "2"),
        ("date-to-int-seconds", date(-1, -900_000_000), "-1"),
    ])
    func `D28: fractions are cut off where the step allows it`(_ name: String, _ value: InputValue, _ expected: String) throws {
        let table = Table(name: name, samples: [])
        let realm = try realm(table, [value])
        try convert(realm, "must", table, .truncate)
        #expect(try realm.show("A", 0)?.contains("must:\(expected)}") == true)
        try realm.finish()
    }

    @Test(arguments: ["float-to-double", "double-to-float", "double-to-decimal128", "decimal128-to-double", "double-to-string"])
    func `D28: NaN stays NaN and is not null`(_ name: String) throws {
        let values: [String: InputValue] = [
            "float": .typed(.float(.nan)), "double": .typed(.double(.nan)), "decimal128": ValueConversionTests.decimal("NaN"),
        ]
        let table = Table(name: name, samples: [])
        let realm = try realm(table, [try #require(values[ValueConversionTests.source(name)])])
        try convert(realm, "may", table)
        #expect(try realm.show("A", 0)?.lowercased().contains(/may:'?nan/) == true)
        try realm.finish()
    }
}

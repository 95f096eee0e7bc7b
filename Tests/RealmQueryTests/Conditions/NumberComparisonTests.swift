// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Numbers of every type in every form of comparison, against a plain model.
@Suite("Comparisons of numbers")
struct NumberComparisonTests {
    /// A number of the model. A float is the double that it widens to.
    private enum Number: Equatable {
        case int(Int64)
        case real(Double)

        /// Negative, zero or positive; nil if one is no number.
        static func order(_ left: Number, _ right: Number) -> Int? {
            switch (left, right) {
            case (.int(let left), .int(let right)): return left < right ? -1 : left > right ? 1 : 0
            case (.real(let left), .real(let right)):
                return left.isNaN || right.isNaN ? nil : left < right ? -1 : left > right ? 1 : 0
            case (.int(let left), .real(let right)): return exact(left, right)
            case (.real(let left), .int(let right)): return exact(right, left).map { -$0 }
            }
        }

        private static func exact(_ left: Int64, _ right: Double) -> Int? {
            if right.isNaN { return nil }
            if right >= 0x1p63 { return -1 }
            if right < -0x1p63 { return 1 }
            let below = right.rounded(.down)
            if left != Int64(below) { return left < Int64(below) ? -1 : 1 }
            return below == right ? 0 : -1
        }

        var literal: String {
            switch self {
            case .int(let number): return "\(number)"
            case .real(let number): return "\(number)"
            }
        }

        var argument: QueryArgument {
            switch self {
            case .int(let number): return .int(number)
            case .real(let number): return .double(number)
            }
        }

        /// The constant as a property of a type takes it.
        func beside(_ property: String) -> Number {
            guard property == "f" else { return self }
            switch self {
            case .int(let number): return .real(Double(Float(number)))
            case .real(let number): return Float(number).isFinite ? .real(Double(Float(number))) : self
            }
        }
    }

    private struct Row {
        var values: [String: Number] = [:]
        var list: [Number] = []
        var next: Int64?
    }

    private static let properties = ["n", "d", "f", "x"]

    private static func number(_ random: inout SeededGenerator) -> Number {
        let edges: [Number] = [
            .int(0), .int(1), .int(-1), .int(3), .int(1_628_899_821), .int(1 << 53), .int(1 << 53 + 1), .int(.max), .int(.min),
            .int(16_777_217), .real(-0.0), .real(0.1), .real(2.5), .real(-1), .real(3), .real(0x1p53), .real(1e20), .real(1e39),
            .real(-0x1p63), .real(0x1p63),
        ]
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return edges[Int.random(in: 0..<edges.count, using: &random)]
        case 1: return .int(Int64.random(in: -5...5, using: &random))
        default: return .real(Double(Int.random(in: -20...20, using: &random)) / 4)
        }
    }

    private static func row(_ count: Int64, _ random: inout SeededGenerator) -> Row {
        var row = Row()
        if case .int(let whole) = number(&random) { row.values["n"] = .int(whole) }
        let isNaN = Int.random(in: 0..<6, using: &random) == 0
        func real(_ number: Number) -> Double {
            switch number {
            case .int(let number): return Double(number)
            case .real(let number): return number
            }
        }
        row.values["d"] = .real(isNaN ? .nan : real(number(&random)))
        let float = Float(real(number(&random)))
        row.values["f"] = .real(isNaN ? .nan : float.isFinite ? Double(float) : 1)
        row.values["x"] = isNaN ? .real(.nan) : number(&random)
        row.list = (0..<Int.random(in: 0...4, using: &random)).map { _ in .real(real(number(&random))) }
        if isNaN { row.list.append(.real(.nan)) }
        row.next = Int.random(in: 0..<3, using: &random) == 0 ? nil : Int64.random(in: 0..<count, using: &random)
        return row
    }

    private static func input(_ value: Number?) -> InputValue {
        switch value {
        case nil: return .null
        case .int(let number)?: return .integer(number)
        case .real(let number)?: return .typed(.double(number))
        }
    }

    private static let relations: [(text: String, mirrored: String, holds: @Sendable (Int) -> Bool)] = [
        ("==", "==", { $0 == 0 }), ("<", ">", { $0 < 0 }), ("<=", ">=", { $0 <= 0 }), (">", "<", { $0 > 0 }),
        (">=", "<=", { $0 >= 0 }),
    ]

    @Test(arguments: [UInt64(1), 2, 3])
    func `every form of a comparison finds what the model finds`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count: Int64 = 300
        let rows = (0..<count).map { _ in NumberComparisonTests.row(count, &random) }
        let realm = try EngineRealm([
            ClassInput(
                "T", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("n", "int", optional: true),
                    PropertyInput("d", "double", optional: true), PropertyInput("f", "float", optional: true),
                    PropertyInput("x", "mixed"), PropertyInput("l", "double", collection: "list"),
                    PropertyInput("k", "double", collection: "dictionary"), PropertyInput("o", "object", objectType: "T"),
                    PropertyInput("os", "object", collection: "list", objectType: "T"),
                ])
        ])
        try realm.write { session in
            for (id, row) in rows.enumerated() {
                var entries: [(name: String, value: InputValue)] = []
                if let first = row.list.first { entries = [("a", NumberComparisonTests.input(first))] }
                var body: [(name: String, value: InputValue)] = [("id", .integer(Int64(id)))]
                for property in NumberComparisonTests.properties {
                    body.append((property, NumberComparisonTests.input(row.values[property])))
                }
                body.append(("l", .list(row.list.map(NumberComparisonTests.input))))
                body.append(("k", .object(InputObject(entries))))
                _ = try session.create("T", InputObject(body))
            }
            for (id, row) in rows.enumerated() {
                guard let next = row.next else { continue }
                _ = try session.patch(
                    "T", .primaryKey(.integer(Int64(id))), ["o": .integer(next), "os": .list([.integer(next)])])
            }
        }
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "T"))
        func linked(_ row: Row) -> Row? { row.next.map { rows[Int($0)] } }
        func check(_ text: String, _ arguments: [QueryArgument], _ matches: (Row) -> Bool) throws {
            let isExpected = rows.map(matches)
            for text in [text, "NOT (\(text))"] {
                let found = try Query.parse(text).bind(to: table, in: snapshot, arguments: arguments).execute().map {
                    Int($0.rawValue)
                }
                let wanted = rows.indices.filter { isExpected[$0] != text.hasPrefix("NOT") }
                #expect(found == wanted, "seed \(seed): \(text) \(arguments)")
            }
        }
        for _ in 0..<(TestRun.isLong ? 40 : 16) {
            let constants = (0..<3).map { _ in NumberComparisonTests.number(&random) }
            for property in NumberComparisonTests.properties {
                let first = constants[0].beside(property)
                for relation in NumberComparisonTests.relations {
                    func holds(_ value: Number?) -> Bool {
                        value.flatMap { Number.order($0, first) }.map(relation.holds) ?? false
                    }
                    let literal = constants[0].literal
                    try check("\(property) \(relation.text) \(literal)", []) { holds($0.values[property]) }
                    try check("\(literal) \(relation.mirrored) \(property)", []) { holds($0.values[property]) }
                    try check("\(property) \(relation.text) $0", [constants[0].argument]) { holds($0.values[property]) }
                    try check("o.\(property) \(relation.text) $0", [constants[0].argument]) {
                        holds(linked($0)?.values[property])
                    }
                    try check("SUBQUERY(os, $x, $x.\(property) \(relation.text) \(literal)).@count > 0", []) {
                        holds(linked($0)?.values[property])
                    }
                    if property == "d" {
                        try check("ANY l \(relation.text) \(literal)", []) { $0.list.contains(where: holds) }
                        try check("l \(relation.text) $0", [constants[0].argument]) { $0.list.contains(where: holds) }
                        try check("k.a \(relation.text) \(literal)", []) { holds($0.list.first) }
                        try check("l[0] \(relation.text) \(literal)", []) { holds($0.list.first) }
                    }
                }
                func isMember(_ value: Number?) -> Bool {
                    value.map { value in constants.contains { Number.order(value, $0.beside(property)) == 0 } } ?? false
                }
                let list = "{" + constants.map(\.literal).joined(separator: ", ") + "}"
                let argument = QueryArgument.list(constants.map(\.argument))
                try check("\(property) IN \(list)", []) { isMember($0.values[property]) }
                try check("\(property) == \(list)", []) { isMember($0.values[property]) }
                try check("\(property) IN $0", [argument]) { isMember($0.values[property]) }
                try check("o.\(property) IN $0", [argument]) { isMember(linked($0)?.values[property]) }
                if property == "d" {
                    try check("ANY l IN \(list)", []) { $0.list.contains(where: isMember) }
                    try check("l[0] IN $0", [argument]) { isMember($0.list.first) }
                    try check("l[LAST] IN \(list)", []) { isMember($0.list.last) }
                    try check("k.a IN $0", [argument]) { isMember($0.list.first) }
                }
                try check("\(property) BETWEEN {\(constants[0].literal), \(constants[1].literal)}", []) { row in
                    guard let value = row.values[property] else { return false }
                    let low = Number.order(value, constants[0].beside(property))
                    let high = Number.order(value, constants[1].beside(property))
                    return (low ?? -1) >= 0 && (high ?? 1) <= 0
                }
            }
        }
        try realm.finish()
    }

    @Test(arguments: [UInt64(7)])
    func `a long list of constants is the same as its equalities, for values of every type`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func value(_ random: inout SeededGenerator) -> Value {
            switch Int.random(in: 0..<7, using: &random) {
            case 0: return .int(Int64.random(in: -3...3, using: &random))
            case 1: return .double(Double(Int.random(in: -6...6, using: &random)) / 2)
            case 2: return .float(Float(Int.random(in: -6...6, using: &random)) / 10)
            case 3: return .decimal(Decimal128(Double(Int.random(in: -30...30, using: &random)) / 10))
            case 4: return .bool(Bool.random(using: &random))
            case 5: return .double(Int.random(in: 0..<4, using: &random) == 0 ? .nan : 0.1)
            default: return .null
            }
        }
        for _ in 0..<200 {
            let constants = (0..<Int.random(in: 0...8, using: &random)).map { _ in value(&random) }
            let set = ConstantSet(constants, ignoringCase: false)
            for _ in 0..<30 {
                let value = value(&random)
                let expected = constants.contains { Comparator.relation(.equal).holds(value, $0) }
                #expect(set.contains(value) == expected, "seed \(seed): \(value) among \(constants)")
            }
        }
    }
}

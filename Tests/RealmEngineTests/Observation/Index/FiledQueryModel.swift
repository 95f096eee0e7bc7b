// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport

/// Random queries over a class with a property of each type, and writes to it. Few different values are used, so that queries and
/// writes concern each other often.
enum FiledQueryModel {
    static let classes = [
        ClassInput(
            "Thing", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("i", "int", optional: true), PropertyInput("j", "int"),
                PropertyInput("d", "double", optional: true), PropertyInput("f", "float", optional: true),
                PropertyInput("b", "bool", optional: true), PropertyInput("s", "string", optional: true),
                PropertyInput("x", "data", optional: true), PropertyInput("t", "date", optional: true),
                PropertyInput("n", "decimal128", optional: true), PropertyInput("m", "mixed"),
                PropertyInput("o", "objectId", optional: true), PropertyInput("u", "uuid", optional: true),
                PropertyInput("k", "string", indexed: "general"), PropertyInput("next", "object", objectType: "Thing"),
                PropertyInput("owner", "object", objectType: "Owner"), PropertyInput("tags", "string", collection: "list"),
                PropertyInput("part", "object", objectType: "Part"),
            ]),
        ClassInput(
            "Owner", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("n", "int"), PropertyInput("thing", "object", objectType: "Thing"),
                PropertyInput("boss", "object", objectType: "Owner"),
            ]),
        ClassInput("Part", type: "embedded", [PropertyInput("w", "int")]),
    ]

    static let names = BacklinkNames(["Thing": ["previous": "Thing.next", "owned": "Owner.thing"]])

    /// A class and a property more.
    static let more = SchemaInput(
        classes: [
            ClassInput(
                "Thing", primaryKey: "_id", classes[0].properties + [PropertyInput("late", "int", optional: true)]),
            classes[1], classes[2], ClassInput("Late", primaryKey: "_id", [PropertyInput("_id", "int")]),
        ])

    // MARK: - Values

    private static let texts = ["", "a", "A", "ab", "Ab", "b", "ba", "\u{e4}", "\u{c4}", "zz"]
    private static let reals: [Double] = [-1, -0.0, 0, 0.1, 0.5, 1, 1.5, 2, 3, .nan, .infinity, 9_007_199_254_740_992]
    private static let integers: [Int64] = [-1, 0, 1, 2, 3, 4, 9_007_199_254_740_993, .max]

    private static func decimal(_ random: inout SeededGenerator) -> Decimal128 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return Decimal128(Double.nan)
        case 1: return Decimal128(Double.infinity)
        case let pick: return Decimal128(reals[pick])
        }
    }

    /// A value for a property, by its name.
    private static func value(_ name: String, _ random: inout SeededGenerator) -> QueryArgument {
        if name != "j", name != "k", Int.random(in: 0..<6, using: &random) == 0 { return .null }
        let small = UInt64.random(in: 0..<3, using: &random)
        switch name {
        case "i", "j": return .int(integers.randomElement(using: &random) ?? 0)
        case "d": return .double(reals.randomElement(using: &random) ?? 0)
        case "f": return .float(Float(reals.randomElement(using: &random) ?? 0))
        case "b": return .bool(Bool.random(using: &random))
        case "s", "k": return .string(texts.randomElement(using: &random) ?? "")
        case "x": return .binary([[], [1], [1, 2], [97], [65]].randomElement(using: &random) ?? [])
        case "t": return .timestamp(Timestamp(seconds: Int64(small), nanoseconds: Bool.random(using: &random) ? 0 : 5))
        case "n": return .decimal(decimal(&random))
        case "o": return .objectID(ObjectID(first: small, last: 1))
        case "u": return .uuid(UUIDValue(first: 7, last: small))
        default: return value(["i", "d", "f", "b", "s", "x", "t", "n", "o", "u"].randomElement(using: &random) ?? "i", &random)
        }
    }

    private static func input(_ value: QueryArgument) -> InputValue {
        switch value {
        case .int(let number): return .typed(.int(number))
        case .double(let number): return .typed(.double(number))
        case .float(let number): return .typed(.float(number))
        case .bool(let bool): return .bool(bool)
        case .string(let text): return .text(text)
        case .binary(let bytes): return .typed(.binary(bytes))
        case .timestamp(let date): return .typed(.timestamp(date))
        case .decimal(let number): return .typed(.decimal(number))
        case .objectID(let id): return .typed(.objectID(id))
        case .uuid(let id): return .typed(.uuid(id))
        default: return .null
        }
    }

    private static let stored = ["i", "j", "d", "f", "b", "s", "x", "t", "n", "m", "o", "u", "k"]

    // MARK: - Queries

    /// A query in the making: its text refers to its arguments by number.
    struct Draft {
        var arguments: [QueryArgument] = []

        mutating func argument(_ value: QueryArgument) -> String {
            arguments.append(value)
            return "$\(arguments.count - 1)"
        }
    }

    private static func comparison(_ draft: inout Draft, _ random: inout SeededGenerator) -> String {
        let name = stored.randomElement(using: &random) ?? "i"
        // Now and then a value of another type.
        let other = Int.random(in: 0..<5, using: &random) == 0 ? ["i", "d", "n"].randomElement(using: &random) ?? name : name
        func argument(_ draft: inout Draft, _ random: inout SeededGenerator) -> String { draft.argument(value(other, &random)) }
        switch Int.random(in: 0..<16, using: &random) {
        case 0...4: return "\(name) == \(argument(&draft, &random))"
        case 5: return "\(name) != \(argument(&draft, &random))"
        case 6...9:
            let relation = ["<", "<=", ">", ">="].randomElement(using: &random) ?? "<"
            return "\(name) \(relation) \(argument(&draft, &random))"
        case 10:
            let list = (0..<Int.random(in: 1...4, using: &random)).map { _ in value(other, &random) }
            return "\(name) IN \(draft.argument(.list(list)))"
        case 11: return "\(name) BETWEEN {\(argument(&draft, &random)), \(argument(&draft, &random))}"
        case 12: return "k BETWEEN {\(draft.argument(value("k", &random))), \(draft.argument(value("k", &random)))}"
        case 13: return "s ==[c] \(draft.argument(value("s", &random)))"
        default:
            let operation = ["BEGINSWITH", "CONTAINS", "ENDSWITH", "LIKE"].randomElement(using: &random) ?? "LIKE"
            let modifier = Bool.random(using: &random) ? "[c]" : ""
            let field = ["s", "k", "m", "x"].randomElement(using: &random) ?? "s"
            return "\(field) \(operation)\(modifier) \(draft.argument(value(field == "x" ? "x" : "s", &random)))"
        }
    }

    private static func distant(_ draft: inout Draft, _ random: inout SeededGenerator) -> String {
        let number = Int.random(in: 0..<4, using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return "next.j == \(number)"
        case 1: return "owner.n > \(number)"
        case 2: return "ANY tags == 'a'"
        case 3: return "@links.Owner.thing.@count > 0"
        case 4: return "i < j"
        case 5: return "owner == \(draft.argument(.object(className: "Owner", primaryKey: .int(Int64(number)))))"
        case 6: return "next == NULL"
        case 7: return "m.@type == 'int'"
        case 8: return "tags.@count > 1"
        case 9: return "part.w >= \(number)"
        case 10: return "previous.@count > 0"
        case 11: return "owner.thing.j == \(number)"
        case 12: return "SUBQUERY(previous, $x, $x.j > \(number)).@count > 0"
        default: return ["TRUEPREDICATE", "FALSEPREDICATE"].randomElement(using: &random) ?? ""
        }
    }

    static func condition(_ draft: inout Draft, _ depth: Int, _ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2 where depth > 0:
            return "(\(condition(&draft, depth - 1, &random)) AND \(condition(&draft, depth - 1, &random)))"
        case 3 where depth > 0:
            return "(\(condition(&draft, depth - 1, &random)) OR \(condition(&draft, depth - 1, &random)))"
        case 4 where depth > 0: return "NOT (\(condition(&draft, depth - 1, &random)))"
        case 5: return distant(&draft, &random)
        default: return comparison(&draft, &random)
        }
    }

    static let endings = [
        "", "", "", "", " SORT(j ASC)", " SORT(owner.n DESC, s ASC)", " DISTINCT(k)", " SORT(d DESC) LIMIT(2)", " LIMIT(3)",
        " SORT(k ASC) DISTINCT(b) SORT(j DESC)", " SORT(part.w ASC)", " SORT(next.j ASC) LIMIT(2)",
    ]

    static let paths: [[String]] = [
        ["i"], ["s", "owner.n"], ["next.j"], ["owner"], ["*"], ["previous"], ["owned.n"], ["part.w"],
    ]

    // MARK: - Writes

    /// One change of the realm.
    static func step(_ session: WriteSession, _ random: inout SeededGenerator) throws {
        let id = Int64.random(in: 0..<16, using: &random)
        let key = ObjectName.text("\(id)")
        guard try session.find(key, class: "Thing") != nil else { return try create(id, session, &random) }
        switch Int.random(in: 0..<24, using: &random) {
        case 0, 1: _ = try session.delete("Thing", key)
        case 2:
            // The same key in the same commit, but another object.
            _ = try session.delete("Thing", key)
            try create(id, session, &random)
        case 3, 4: _ = try session.patch("Thing", key, ["next": try link("Thing", 16, session, &random)])
        case 5: _ = try session.patch("Thing", key, ["owner": try link("Owner", 4, session, &random)])
        case 6:
            let tags = ["a", "b"].filter { _ in Bool.random(using: &random) }
            _ = try session.patch("Thing", key, ["tags": .list(tags.map { .text($0) })])
        case 7: _ = try session.patch("Thing", key, ["part": .object(["w": .integer(Int64.random(in: 0..<4, using: &random))])])
        case 8, 9: try writeOwner(session, &random)
        case 10: _ = try session.patch("Thing", key, ["m": try link("Owner", 4, session, &random)])
        default:
            let name = stored.randomElement(using: &random) ?? "i"
            _ = try session.patch("Thing", key, [name: input(value(name, &random))])
        }
    }

    static func create(_ id: Int64, _ session: WriteSession, _ random: inout SeededGenerator) throws {
        let members = stored.map { (name: $0, value: input(value($0, &random))) }
        _ = try session.create("Thing", InputObject([("_id", .integer(id))] + members))
    }

    private static func writeOwner(_ session: WriteSession, _ random: inout SeededGenerator) throws {
        let id = Int64.random(in: 0..<4, using: &random)
        if try session.find(.text("\(id)"), class: "Owner") != nil, Int.random(in: 0..<4, using: &random) == 0 {
            return _ = try session.delete("Owner", .text("\(id)"))
        }
        _ = try session.upsert(
            "Owner",
            [
                "_id": .integer(id), "n": .integer(Int64.random(in: 0..<4, using: &random)),
                "thing": try link("Thing", 16, session, &random), "boss": try link("Owner", 4, session, &random),
            ], .all)
    }

    private static func link(
        _ className: String, _ count: Int64, _ session: WriteSession, _ random: inout SeededGenerator
    ) throws -> InputValue {
        let key = ObjectName.text("\(Int64.random(in: 0..<count, using: &random))")
        return try session.find(key, class: className) == nil ? .null : .link(.stub(className: className, key: key))
    }
}

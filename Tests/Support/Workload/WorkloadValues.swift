// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Seeded values for properties of every kind, in the very form in which they will be read again.
package struct WorkloadValues {
    package var random: SeededGenerator

    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    package mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    /// True once in `times`.
    package mutating func chance(_ times: Int) -> Bool { number(0..<times) == 0 }

    // MARK: - Properties

    /// A value for a whole property.
    package mutating func value(_ property: WorkloadSchema.Property, _ model: WorkloadModel, depth: Int = 0) -> WorkloadValue {
        guard let collection = property.collection else { return element(property, model, depth: depth) }
        let count = depth > 0 ? number(0..<2) : pick([0, 1, 2, 3, chance(4) ? 20 : 5])
        var elements = (0..<count).map { _ in element(property, model, depth: depth) }
        if collection == "dictionary" {
            var entries: [String: WorkloadValue] = [:]
            for element in elements { entries[entryName()] = element }
            return .entries(entries)
        }
        // Links and embedded objects in lists and sets are never null.
        if property.type == "object" { elements.removeAll { $0.isNull } }
        return .list(collection == "set" ? model.unique(elements) : elements)
    }

    package mutating func entryName() -> String { chance(20) ? pick(["Ö k", "a/b~c", "日本", "k 1"]) : "k\(number(0..<12))" }

    /// One element, or a single value.
    package mutating func element(_ property: WorkloadSchema.Property, _ model: WorkloadModel, depth: Int = 0) -> WorkloadValue {
        switch property.type {
        case "object":
            guard let target = property.target.flatMap({ model.schema[$0] }) else { return .null }
            if target.isEmbedded {
                if depth > 2 || (property.collection == nil && chance(5)) { return .null }
                return embedded(target, model, depth: depth + 1)
            }
            return property.isOptional && chance(8) ? .null : link(target.name, model)
        case "mixed": return mixed(property, model)
        default:
            if property.isOptional, chance(5) { return .null }
            return .plain(scalar(property))
        }
    }

    package mutating func embedded(
        _ target: WorkloadSchema.Class, _ model: WorkloadModel, depth: Int
    ) -> WorkloadValue {
        var entries: [String: WorkloadValue] = [:]
        for property in target.properties {
            let mayBeLeftOut = property.isOptional || property.collection != nil
            if mayBeLeftOut, chance(4) { continue }
            entries[property.member] = value(property, model, depth: depth)
        }
        return .entries(entries)
    }

    package mutating func link(_ className: String, _ model: WorkloadModel) -> WorkloadValue {
        let ids = model.ids(className)
        return ids.isEmpty ? .null : .link(pick(ids))
    }

    // MARK: - Scalars

    package mutating func scalar(_ property: WorkloadSchema.Property) -> ParsedJSON {
        let isMember = property.collection == "set"
        switch property.type {
        case "int": return .integer(integer())
        case "bool": return .bool(chance(2))
        case "string":
            // Elements of indexed lists may share no long prefixes.
            if property.collection != nil, property.index != nil { return .string(text(longest: 50)) }
            return .string(text(longest: pick([3, 14, 16, 62, 66, chance(8) ? 5000 : 300])))
        case "data": return .string(data(longest: pick([0, 3, 60, 70, chance(8) ? 5000 : 90])))
        case "date": return .string(date())
        case "float":
            if !isMember, chance(12) { return .string(pick(["NaN", "Infinity", "-Infinity"])) }
            return .real(Double(number(-4000..<4000)) / 4)
        case "double":
            if !isMember, chance(12) { return .string(pick(["NaN", "Infinity"])) }
            return chance(20) ? .real(1e300) : .real(Double(number(-800_000..<800_000)) / 8)
        case "decimal128":
            if !isMember, chance(8) {
                return .string(pick(["NaN", "-Infinity", "1E+30", "-0", "123456789012345678901234567890"]))
            }
            return .string(decimal())
        case "objectId": return .string(objectID())
        case "uuid": return .string(uuid(number(0..<300)))
        default: return .null
        }
    }

    package mutating func integer() -> Int64 {
        let bits = pick([1, 2, 4, 7, 8, 15, 16, 31, 32, 62])
        let value = Int64(bitPattern: random.next() & (1 << UInt64(bits) - 1))
        return chance(3) ? -value : value
    }

    private static let words = [
        "a", "realm", "Ångström", "file", "cluster", "0123", "leaf ", "é", "tree", "日本", "\u{1F600}", "\"\\/", "\u{0}",
    ]

    package mutating func text(longest: Int) -> String {
        var text = ""
        let length = number(0..<longest + 1)
        while text.utf8.count < length { text += pick(WorkloadValues.words) }
        return text
    }

    package mutating func data(longest: Int) -> String {
        let count = number(0..<longest + 1)
        let byte = UInt8(truncatingIfNeeded: random.next())
        return Data((0..<count).map { byte &+ UInt8(truncatingIfNeeded: $0 &* 7) }).base64EncodedString()
    }

    package mutating func date() -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let year = pick([number(1..<10000), number(1960..<2030)])
        let text = String(repeating: "0", count: 4 - "\(year)".count) + "\(year)-\(two(number(1..<13)))-\(two(number(1..<29)))"
        return text + "T\(two(number(0..<24))):\(two(number(0..<60))):\(two(number(0..<60)))"
            + pick(["", "", ".000000001", ".999999999"]) + "Z"
    }

    /// Two digits behind the point, never an even quarter, so that it equals no integer, float or double of a workload.
    package mutating func decimal() -> String { "\(number(-2000..<2000) * 2 + 1).\(pick(["10", "35", "60"]))" }

    package mutating func objectID() -> String { hexadecimal(number(0..<300), digits: 24) }

    private func hexadecimal(_ number: Int, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }

    private func uuid(_ number: Int) -> String { "0a1b2c3d-0000-4000-8000-" + hexadecimal(number, digits: 12) }

    // MARK: - Mixed

    /// Indexed properties have neither links nor flags, and no numbers that equal others of another type: the reference engine
    /// loses the entries of links, and debug builds of it stop where `true` and 1 share an entry.
    private mutating func mixed(_ property: WorkloadSchema.Property, _ model: WorkloadModel) -> WorkloadValue {
        if property.index != nil { return chance(6) ? .null : .plain(plainMixed(pick([0, 2, 5, 6, 7]))) }
        return mixed(model, depth: property.collection == "set" ? 9 : 0)
    }

    /// A Mixed value with collections down to a depth.
    package mutating func mixed(_ model: WorkloadModel, depth: Int) -> WorkloadValue {
        switch number(0..<20) {
        case 0: return .null
        case 1...3:
            // Classes that may be removed again have no links from Mixed properties.
            let targets = model.schema.tops.filter { !$0.name.hasPrefix("Extra") }
            return targets.isEmpty ? .null : link(pick(targets).name, model)
        case 4...6 where depth < 3: return .list((0..<number(0..<5)).map { _ in mixed(model, depth: depth + 1) })
        case 7...9 where depth < 3:
            var entries: [String: WorkloadValue] = [:]
            for _ in 0..<number(0..<4) { entries["n\(number(0..<6))"] = mixed(model, depth: depth + 1) }
            return .entries(entries)
        default: return .plain(plainMixed(number(0..<11)))
        }
    }

    private mutating func plainMixed(_ kind: Int) -> ParsedJSON {
        switch kind {
        case 0: return .integer(integer())
        case 1: return .bool(chance(2))
        case 2: return .string("s" + text(longest: pick([3, 16, 66, 200])))
        case 3: return .real(Double(number(-4000..<4000)) + 0.5)
        case 4: return .wrapper("$numberFloat", .string("\(Double(number(-4000..<4000)) + 0.25)"))
        case 5: return .wrapper("$date", .string(date()))
        case 6: return .wrapper("$oid", .string(objectID()))
        case 7: return binary(uuidBytes(number(0..<300)), "04")
        case 8: return .wrapper("$numberDecimal", .string(decimal()))
        case 9: return binary([0, 0xff] + [UInt8](repeating: 7, count: number(0..<80)), "00")
        default: return .wrapper("$numberDecimal", .string("1E+3\(number(0..<4))"))
        }
    }

    private func uuidBytes(_ number: Int) -> [UInt8] {
        [0x0a, 0x1b, 0x2c, 0x3d, 0, 0, 0x40, 0, 0x80, 0] + (0..<6).map { UInt8(truncatingIfNeeded: number >> (8 * (5 - $0))) }
    }

    private func binary(_ bytes: [UInt8], _ kind: String) -> ParsedJSON {
        .wrapper(
            "$binary",
            .object([
                ParsedJSON.Member(name: "base64", value: .string(Data(bytes).base64EncodedString())),
                ParsedJSON.Member(name: "subType", value: .string(kind)),
            ]))
    }

    // MARK: - Other forms

    /// Another way of writing the value of a property that means the same, now and then.
    package mutating func spelled(_ value: WorkloadValue, _ property: WorkloadSchema.Property, _ model: WorkloadModel)
        -> ParsedJSON
    {
        guard property.collection == nil, chance(6) else { return model.json(value) }
        switch (property.type, value) {
        case ("int", .plain(.integer(let number))):
            return pick([.string("\(number)"), .wrapper("$numberLong", .string("\(number)"))])
        case ("double", .plain(.number(let text))): return .wrapper("$numberDouble", .string(text))
        case ("decimal128", .plain(.string(let text))): return .wrapper("$numberDecimal", .string(text))
        case ("objectId", .plain(.string(let text))): return .wrapper("$oid", .string(text.uppercased()))
        case ("uuid", .plain(.string(let text))): return .wrapper("$uuid", .string(text))
        case ("date", .plain(.string(let text))):
            return chance(2) ? .wrapper("$date", .string(text)) : .string(text.replacingOccurrences(of: "Z", with: "+00:00"))
        case ("object", .link(let id)):
            // The bare value of the primary key.
            guard let target = property.target.flatMap({ model.schema[$0] }), let key = target.primaryKey, model[id]?.key != nil,
                case .plain(let json) = model.value(id, key), json != .null
            else { return model.json(value) }
            return json
        default: return model.json(value)
        }
    }

    /// The members of an object as a body.
    package mutating func body(
        _ members: [String: WorkloadValue], _ target: WorkloadSchema.Class, _ model: WorkloadModel
    ) -> ParsedJSON {
        var list: [ParsedJSON.Member] = []
        for property in target.properties {
            guard let value = members[property.member] else { continue }
            list.append(ParsedJSON.Member(name: property.member, value: spelled(value, property, model)))
        }
        return .object(list)
    }
}

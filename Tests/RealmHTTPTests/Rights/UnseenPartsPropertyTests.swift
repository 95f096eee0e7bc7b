// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmTestSupport
import Testing

/// Who writes back what it has read changes nothing, whatever it does not see of it and by whatever way it writes.
@Suite struct UnseenPartsPropertyTests {
    private static let objects = "/v1/realms/app/objects/"

    /// A random schema of embedded classes, a role that sees a part of it, and objects.
    private struct World {
        private var random: SeededGenerator
        /// The properties of each class: the name, the type, the target and the collection.
        private var classes: [(name: String, properties: [(name: String, type: String, target: String, collection: String)])] = []
        private(set) var roles = ""
        /// The properties of objects that may only be read.
        private(set) var readOnly: [String] = []

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            let count = Int.random(in: 1...3, using: &random)
            for index in 0...count {
                var properties = [(name: "n", type: "int", target: "", collection: ""), ("s", "string", "", "")]
                for position in 0..<Int.random(in: 2...5, using: &random) {
                    let collection = ["", "", "list", "dictionary"].randomElement(using: &random) ?? ""
                    // The first class is that of objects; classes embed later ones.
                    switch Int.random(in: 0..<(index < count ? 8 : 4), using: &random) {
                    case 0: properties.append(("v\(position)", "object", "V", collection))
                    case 1: properties.append(("w\(position)", "object", "W", collection))
                    case 2: properties.append(("p\(position)", "object", "V", "set"))
                    case 3: properties.append(("m\(position)", "mixed", "", collection))
                    default:
                        let deeper = Int.random(in: index + 1...count, using: &random)
                        properties.append(("e\(position)", "object", "E\(deeper)", collection))
                    }
                }
                classes.append((index == 0 ? "S" : "E\(index)", properties))
            }
            if !classes[0].properties.contains(where: { $0.target.hasPrefix("E") }) {
                classes[0].properties.append(("e", "object", "E1", "list"))
            }
            var rules = "          V: {allow: [read, export], where: pub == true}\n          O: [read, update]\n"
            if Bool.random(using: &random) { rules += "          W: [read, export]\n" }
            for (name, properties) in classes {
                let hidden = properties.map(\.name).filter { _ in Int.random(in: 0..<6, using: &random) == 0 }
                let readOnly = properties.map(\.name).filter {
                    !hidden.contains($0) && Int.random(in: 0..<8, using: &random) == 0
                }
                if name == "S" { self.readOnly = readOnly }
                let allowed = name == "S" ? "read, create, update, import, export" : ""
                rules +=
                    "          \(name): {allow: [\(allowed)], fields: {hide: [\(hidden.joined(separator: ", "))], "
                    + "readOnly: [\(readOnly.joined(separator: ", "))]}}\n"
            }
            roles = "roles:\n  part:\n    realms:\n      app:\n        transactions: true\n        classes:\n" + rules
        }

        var schema: String {
            let texts = classes.map { name, properties in
                let members = properties.map { property in
                    let isValue = property.type == "int" || property.type == "string"
                    return #"{"name":"\#(property.name)","type":"\#(property.type)""# + (isValue ? #","optional":true"# : "")
                        + (property.target.isEmpty ? "" : #","objectType":"\#(property.target)""#)
                        + (property.collection.isEmpty ? "" : #","collection":"\#(property.collection)""#) + "}"
                }.joined(separator: ",")
                return name == "S"
                    ? #"{"name":"S","primaryKey":"id","properties":[{"name":"id","type":"int"},\#(members)]}"#
                    : #"{"name":"\#(name)","type":"embedded","properties":[\#(members)]}"#
            }
            return texts.joined(separator: ",") + """
                ,{"name":"O","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"s","type":"object","objectType":"S"}]},
                {"name":"V","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"pub","type":"bool"}]},
                {"name":"W","primaryKey":"id","properties":[{"name":"id","type":"int"}]}
                """
        }

        /// The properties of objects with embedded objects in a collection.
        func embedded(_ collection: String) -> [String] {
            classes[0].properties.filter { $0.target.hasPrefix("E") && $0.collection == collection }.map(\.name)
                .filter { !readOnly.contains($0) }
        }

        mutating func object(_ id: Int) -> String { #"{"id":\#(id),\#(members(of: 0, depth: 0))}"# }

        private mutating func members(of index: Int, depth: Int) -> String {
            classes[index].properties.map { property in
                var values: [String] = []
                let isSingle = property.collection.isEmpty
                for _ in 0..<(isSingle ? 1 : depth > 3 ? 0 : Int.random(in: 0...3, using: &random)) {
                    let value = value(property.type, property.target, depth: depth)
                    // A merge patch with null removes an entry.
                    if isSingle || value != "null" || property.type == "mixed" && property.collection == "list" {
                        values.append(value)
                    }
                }
                switch property.collection {
                case "": return #""\#(property.name)":\#(values[0])"#
                case "dictionary":
                    let entries = values.enumerated().map { #""k\#($0.offset)":\#($0.element)"# }
                    return #""\#(property.name)":{\#(entries.joined(separator: ","))}"#
                default: return #""\#(property.name)":[\#(values.joined(separator: ","))]"#
                }
            }.joined(separator: ",")
        }

        private mutating func value(_ type: String, _ target: String, depth: Int) -> String {
            switch (type, target) {
            case ("int", _): return Bool.random(using: &random) ? "null" : "\(Int.random(in: 0...2, using: &random))"
            case ("string", _): return Bool.random(using: &random) ? "null" : #""t\#(Int.random(in: 0...2, using: &random))""#
            case ("mixed", _): return mixed(depth: 0)
            case (_, "V"), (_, "W"): return Int.random(in: 0...4, using: &random) == 0 ? "null" : link(target)
            default:
                guard depth < 4, Int.random(in: 0...5, using: &random) > 0 else { return "null" }
                return "{\(members(of: classes.firstIndex { $0.name == target } ?? 1, depth: depth + 1))}"
            }
        }

        private mutating func link(_ name: String) -> String {
            #"{"$link":{"class":"\#(name)","key":"\#(Int.random(in: 1...4, using: &random))"}}"#
        }

        private mutating func mixed(depth: Int) -> String {
            let values = (0..<Int.random(in: 0...3, using: &random)).map { _ in depth < 3 ? mixed(depth: depth + 1) : link("V") }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return "null"
            case 1: return "\(Int.random(in: 0...2, using: &random))"
            case 2: return #""t""#
            case 3, 4: return link(Bool.random(using: &random) ? "V" : "W")
            case 5, 6: return "[\(values.joined(separator: ","))]"
            default: return "{" + values.enumerated().map { #""k\#($0.offset)":\#($0.element)"# }.joined(separator: ",") + "}"
            }
        }
    }

    /// A server with the realm of a world.
    private struct Desk {
        let server: KeyServer
        let admin: APIKeyText
        let part: APIKeyText

        init(_ world: World) throws {
            server = try KeyServer(statingRoles: world.roles) { $0.memoryRealms = ["app"] }
            (admin, part) = (try server.add("admin"), try server.add("part", roles: ["part"]))
            try server.attach("app", world.schema, admin)
            try server.post(
                "app/objects/V", admin, "[" + (1...4).map { #"{"id":\#($0),"pub":\#($0 > 2)}"# }.joined(separator: ",") + "]")
            try server.post("app/objects/W", admin, "[" + (1...4).map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]")
        }

        func ask(_ method: String, _ path: String, _ body: String? = nil, _ type: String = "application/json") throws
            -> HTTPClient.Answer
        {
            try server.request(method, path, part, body == nil ? [] : [("Content-Type", type)], body: body)
        }

        /// Writes back by every way what the role sees of an object; calls `check` after each.
        func writeBack(_ id: Int, _ world: World, _ check: (_ way: String, _ answer: HTTPClient.Answer) throws -> Void) throws {
            let objects = UnseenPartsPropertyTests.objects
            let (list, one) = (objects + "S", objects + "S/\(id)")
            let read = try ask("GET", one + "?meta=none").document("GET")
            let seen = read.serialized
            try check("PUT", try ask("PUT", one, seen))
            try check("PATCH", try ask("PATCH", one, seen))
            try check("PATCH of many", try ask("PATCH", list + "?where=id%20==%20\(id)", seen))
            for policy in ["modified", "all"] { try check("upsert \(policy)", try ask("POST", list + "?upsert=\(policy)", seen)) }
            try check("upsert of several", try ask("POST", list + "?upsert=all", "[\(seen)]"))
            for member in read.members ?? [] where member.name != "id" && !world.readOnly.contains(member.name) {
                let value = member.value.serialized
                try check("PUT \(member.name)", try ask("PUT", one + "/" + member.name, value))
                try check(
                    "JSON Patch \(member.name)",
                    try ask(
                        "PATCH", one, #"[{"op":"replace","path":"/\#(member.name)","value":\#(value)}]"#,
                        "application/json-patch+json"))
            }
            let target = #""class":"S","key":"\#(id)""#
            for op in [
                #"{"put":{\#(target),"body":\#(seen)}}"#, #"{"patch":{\#(target),"body":\#(seen)}}"#,
                #"{"patchWhere":{"class":"S","where":"id == \#(id)","body":\#(seen)}}"#,
                #"{"create":{"class":"S","upsert":"all","body":\#(seen)}}"#,
            ] {
                try check("batch \(op.prefix(9))", try ask("POST", "/v1/realms/app/batch", #"{"ops":[\#(op)]}"#))
            }
            for property in world.embedded("list") {
                for (index, element) in (read[property]?.elements ?? []).enumerated() {
                    let op =
                        #"{"list":{\#(target),"property":"\#(property)","ops":[{"set":[\#(index),\#(element.serialized)]}]}}"#
                    try check("list", try ask("POST", "/v1/realms/app/batch", #"{"ops":[\#(op)]}"#))
                }
            }
            for property in world.embedded("dictionary") {
                for entry in read[property]?.members ?? [] {
                    let op =
                        #"{"dictionary":{\#(target),"property":"\#(property)","ops":[{"set":["\#(entry.name)",\#(entry.value.serialized)]}]}}"#
                    try check("dictionary", try ask("POST", "/v1/realms/app/batch", #"{"ops":[\#(op)]}"#))
                }
            }
            let begun = try ask("POST", "/v1/realms/app/transactions").document("begin")["id"]?.text ?? ""
            let inside = try server.request(
                "PUT", one, part, [("Realm-Transaction", begun), ("Content-Type", "application/json")], body: seen)
            _ = try ask("POST", "/v1/realms/app/transactions/\(begun)/commit")
            try check("transaction", inside)
            let owner = objects + "O/\(id)"
            try check("nested", try ask("PATCH", owner + "?nested=upsert", #"{"s":\#(seen)}"#))
            let imports = "/v1/realms/app/import?class=S&mode=upsert"
            let lines = try ask("GET", list + "?format=ndjson&where=id%20==%20\(id)").text
            for query in ["", "&atomic=false"] {
                try check("lines", try ask("POST", imports + query, lines, "application/x-ndjson"))
            }
            try check("array", try ask("POST", imports, "[\(seen)]"))
            let csv = try ask("GET", list + "?format=csv&where=id%20==%20\(id)").text
            try check("CSV", try ask("POST", imports, csv, "text/csv"))
            let extended = try ask("GET", one + "?format=ejson&meta=none").text
            try check("EJSON", try ask("POST", imports, extended, "application/ejson"))
            try check("PUT of EJSON", try ask("PUT", one, extended, "application/ejson"))
            let export = try ask("GET", "/v1/realms/app/export?class=S").text
            try check("export", try ask("POST", "/v1/realms/app/import?mode=upsert", export, "application/x-ndjson"))
        }
    }

    @Test(arguments: Array(1...24) as [UInt64])
    func `who writes back what it has read changes nothing`(_ seed: UInt64) throws {
        var world = World(seed: seed)
        let desk = try Desk(world)
        for id in 1...3 {
            try desk.server.post("app/objects/S", desk.admin, world.object(id))
            try desk.server.post("app/objects/O", desk.admin, #"{"id":\#(id),"s":\#(id)}"#)
            let path = Self.objects + "S/\(id)?meta=none"
            let before = try desk.server.request("GET", path, desk.admin).text
            try desk.writeBack(id, world) { way, answer in
                let after = try desk.server.request("GET", path, desk.admin).text
                let place = "seed \(seed), \(way): \(answer.status) \(answer.text)\n\(world.roles)"
                try #require(answer.status < 300 && answer.json["committed"]?.bool ?? true, "\(place)\nbefore \(before)")
                try #require(after == before, "\(place)")
            }
        }
    }
}

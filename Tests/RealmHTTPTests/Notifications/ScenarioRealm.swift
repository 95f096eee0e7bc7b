// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// The realm of a scenario vector, made and changed through the interface.
struct ScenarioRealm {
    let server: ChangeServer
    let name: String
    private let schema: [ParsedJSON]

    init(_ server: ChangeServer, _ name: String, schema: [ParsedJSON]) throws {
        self.server = server
        self.name = name
        self.schema = schema
        var backlinks: [(String, ParsedJSON)] = []
        for one in schema {
            var names: [(String, ParsedJSON)] = []
            for property in one["properties"]?.elements ?? [] where property["type"]?.text == "linkingObjects" {
                let path = "\(property["objectType"]?.text ?? "").\(property["property"]?.text ?? "")"
                names.append((property["name"]?.text ?? "", .string(path)))
            }
            if !names.isEmpty { backlinks.append((one["name"]?.text ?? "", .object(names))) }
        }
        try server.makeRealm(
            name, classes: "[" + schema.map { ScenarioRealm.classDocument($0).serialized }.joined(separator: ",") + "]",
            backlinkNames: ParsedJSON.object(backlinks).serialized)
    }

    private static func classDocument(_ one: ParsedJSON) -> ParsedJSON {
        var members: [(String, ParsedJSON)] = [("name", one["name"] ?? .null)]
        if one["embedded"]?.isTrue == true { members.append(("type", .string("embedded"))) }
        if let key = one["primaryKey"], key != .null { members.append(("primaryKey", key)) }
        let properties = (one["properties"]?.elements ?? []).filter { $0["type"]?.text != "linkingObjects" }
        members.append(("properties", .array(properties)))
        return .object(members)
    }

    func delete() throws { try server.must("DELETE", name) }

    // MARK: - Commits

    /// One commit, and its version. Changes of the schema are migrations.
    @discardableResult
    func commit(_ operations: [ParsedJSON], _ headers: [(String, String)] = []) throws -> String {
        guard !operations.contains(where: { ["addClass", "addProperty"].contains($0["op"]?.text) }) else {
            return try migrate(operations)
        }
        var version = ""
        // The first commit of a vector may be larger than a batch.
        for start in stride(from: 0, through: max(0, operations.count - 1), by: 5000) {
            version = try server.batch(
                name, operations[start..<min(start + 5000, operations.count)].map { ScenarioRealm.operation(complete($0)) },
                headers)
        }
        return version
    }

    /// A new object with what it has to have.
    private func complete(_ operation: ParsedJSON) -> ParsedJSON {
        guard operation["op"]?.text == "create", let members = operation.members,
            let properties = schema.first(where: { $0["name"] == operation["class"] })?["properties"]?.elements
        else { return operation }
        var values = operation["values"]?.members ?? []
        for property in properties where property["optional"]?.isTrue != true && property["collection"]?.text == nil {
            let name = property["name"]?.text ?? ""
            guard !values.contains(where: { $0.name == name }) else { continue }
            switch property["type"]?.text {
            case "int": values.append(.init(name: name, value: .integer(0)))
            case "string": values.append(.init(name: name, value: .string("")))
            default: break
            }
        }
        return .object(members.map { $0.name == "values" ? .init(name: "values", value: .object(values)) : $0 })
    }

    /// Changes of the schema, and of data beside them, are one migration.
    private func migrate(_ operations: [ParsedJSON]) throws -> String {
        let step = operations.map { operation -> String in
            let className = operation["class"]?.text ?? ""
            let match = "\"class\":\"\(className)\",\"where\":\"_id == \(ScenarioRealm.key(operation))\""
            switch operation["op"]?.text {
            case "addClass":
                return "{\"addClass\":{\"name\":\"\(className)\",\"properties\":[{\"name\":\"value\",\"type\":\"int\"}]}}"
            case "addProperty":
                return
                    "{\"addProperty\":{\"class\":\"\(className)\",\"property\":{\"name\":\"\(operation["property"]?.text ?? "")\",\"type\":\"int\"}}}"
            case "set": return "{\"set\":{\(match),\"values\":\(ScenarioRealm.value(operation["values"] ?? .null).serialized)}}"
            case "create":
                let values = complete(operation)["values"] ?? .null
                return "{\"create\":{\"class\":\"\(className)\",\"body\":\(ScenarioRealm.value(values).serialized)}}"
            default: return "{\"delete\":{\(match)}}"
            }
        }.joined(separator: ",")
        let before = try server.must("GET", "\(name)/schema")["schemaVersion"]?.integer ?? 0
        return try server.must(
            "POST", "\(name)/migrations", "{\"fromVersion\":\(before),\"toVersion\":\(before + 1),\"steps\":[\(step)]}"
        )["version"]?.text ?? ""
    }

    /// Values as the interface takes them: links by class and key.
    private static func value(_ value: ParsedJSON) -> ParsedJSON {
        if let link = value["$link"] {
            return .object([("$link", .object([("class", link["class"] ?? .null), ("key", .string(key(link)))]))])
        }
        switch value {
        case .array(let elements): return .array(elements.map(self.value))
        case .object(let members): return .object(members.map { ($0.name, self.value($0.value)) })
        default: return value
        }
    }

    private static func key(_ operation: ParsedJSON) -> String { String(operation["_id"]?.integer ?? 0) }

    static func operation(_ operation: ParsedJSON) -> String {
        let className = ("class", operation["class"] ?? .null)
        let key = ("key", ParsedJSON.string(key(operation)))
        let path = operation["path"]?.elements ?? []
        switch operation["op"]?.text {
        case "create":
            return wrap("create", [className, ("body", value(operation["values"] ?? .null))])
        case "set":
            // Assigning is what a replacement does; a merge patch would merge dictionaries.
            let prefix = path.reduce("") { $0 + "/" + text($1) }
            let patch = (operation["values"]?.members ?? []).map { member -> ParsedJSON in
                .object([("op", .string("add")), ("path", .string(prefix + "/" + member.name)), ("value", value(member.value))])
            }
            return wrap("patch", [className, key, ("body", .array(patch))])
        case "delete":
            guard let last = path.last else { return wrap("delete", [className, key]) }
            if let index = last.integer {
                return wrap(
                    "list",
                    [className, key, ("property", .string(propertyPath(Array(path.dropLast())))), ops("remove", .integer(index))])
            }
            let pointer = path.reduce("") { $0 + "/" + text($1) }
            let patch = ParsedJSON.object([("op", .string("remove")), ("path", .string(pointer))])
            return wrap("patch", [className, key, ("body", .array([patch]))])
        case "deleteAll":
            return wrap("deleteWhere", [className, ("where", .string("TRUEPREDICATE"))])
        default: return element(operation, [className, key])
        }
    }

    /// Operations on one collection.
    private static func element(_ operation: ParsedJSON, _ place: [(String, ParsedJSON)]) -> String {
        let words = (operation["op"]?.text ?? "").split(separator: ".").map(String.init)
        let place = place + [("property", operation["property"] ?? .null)]
        let value = value(operation["value"] ?? .null)
        let index = operation["index"] ?? .null
        switch (words[0], words[1]) {
        case ("list", "add"): return wrap("list", place + [ops("add", value)])
        case ("list", "insert"), ("list", "set"): return wrap("list", place + [ops(words[1], .array([index, value]))])
        case ("list", "remove"): return wrap("list", place + [ops("remove", index)])
        case ("list", "move"):
            return wrap("list", place + [ops("move", .array([operation["from"] ?? .null, operation["to"] ?? .null]))])
        case ("list", "swap"):
            return wrap("list", place + [ops("swap", .array([operation["a"] ?? .null, operation["b"] ?? .null]))])
        case ("dict", "set"): return wrap("dictionary", place + [ops("set", .array([operation["key"] ?? .null, value]))])
        case ("dict", "remove"): return wrap("dictionary", place + [ops("remove", operation["key"] ?? .null)])
        case ("set", "insert"), ("set", "remove"): return wrap("set", place + [ops(words[1], value)])
        default:
            let kind = words[0] == "dict" ? "dictionary" : words[0]
            return wrap(kind, place + [ops(words[1], .bool(true))])
        }
    }

    private static func ops(_ name: String, _ value: ParsedJSON) -> (String, ParsedJSON) {
        ("ops", .array([.object([(name, value)])]))
    }

    private static func wrap(_ name: String, _ members: [(String, ParsedJSON)]) -> String {
        ParsedJSON.object([(name, .object(members))]).serialized
    }

    private static func text(_ step: ParsedJSON) -> String { step.text ?? String(step.integer ?? 0) }

    /// `kids[0]`, `child.inner`
    static func propertyPath(_ steps: [ParsedJSON]) -> String {
        steps.reduce("") { path, step in
            if let index = step.integer { return path + "[\(index)]" }
            return path + (path.isEmpty ? "" : ".") + (step.text ?? "")
        }
    }

    // MARK: - Observers

    /// The definition of a subscription for an observer.
    static func definition(_ observer: ParsedJSON) -> ParsedJSON {
        var members: [(String, ParsedJSON)] = [("class", observer["class"] ?? .null)]
        switch observer["kind"]?.text {
        case "results": if let query = observer["query"] { members.append(("where", query)) }
        case "sectioned":
            if let query = observer["query"] { members.append(("where", query)) }
            let property = observer["sectionBy"]?["property"]?.text ?? ""
            let functions = ["value": "", "firstLetter": ":first", "parity": ":mod(2)"]
            members.append(("sectionBy", .string(property + (functions[observer["sectionBy"]?["how"]?.text ?? ""] ?? "?"))))
            if let section = observer["section"] { members.append(("section", section)) }
        default:
            members.append(("key", .string(key(observer))))
            if let property = observer["property"] { members.append(("property", property)) }
            if let path = observer["path"]?.elements { members.append(("property", .string(propertyPath(path)))) }
            if let filter = observer["filter"] { members.append(("where", filter)) }
            if let sort = observer["sort"]?.elements {
                members.append(
                    (
                        "sort",
                        .array(
                            sort.map { term in
                                let path = term.elements?.first?.text ?? ""
                                return .string(term.elements?.last?.isTrue == true ? path : "-" + path)
                            })
                    ))
            }
            if let distinct = observer["distinct"] { members.append(("distinct", distinct)) }
        }
        if let paths = observer["keyPaths"] { members.append(("keyPaths", paths)) }
        if observer["shallow"]?.isTrue == true { members.append(("shallow", .bool(true))) }
        return .object(members)
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport

/// A realm in memory with the schema of a vector, changed by the operations of vectors.
final class VectorRealm: Sendable {
    let realm: EngineRealm

    var database: Database { realm.database }

    init(schema: [ParsedJSON], initial: [ParsedJSON] = []) throws {
        var names: [ByteText: [ByteText: String]] = [:]
        for one in schema {
            for property in one["properties"]?.elements ?? [] where property["type"]?.text == "linkingObjects" {
                names[one["name"]?.text ?? "", default: [:]][property["name"]?.text ?? ""] =
                    "\(property["objectType"]?.text ?? "").\(property["property"]?.text ?? "")"
            }
        }
        realm = try EngineRealm(schema.map(VectorRealm.classInput), backlinkNames: BacklinkNames(names))
        if !initial.isEmpty { try commit(initial) }
    }

    init(classes: [ClassInput]) throws { realm = try EngineRealm(classes) }

    static func classInput(_ json: ParsedJSON) -> ClassInput {
        ClassInput(
            json["name"]?.text ?? "", type: json["embedded"] == .bool(true) ? "embedded" : nil,
            primaryKey: json["primaryKey"]?.text,
            (json["properties"]?.elements ?? []).filter { $0["type"]?.text != "linkingObjects" }.map(propertyInput))
    }

    static func propertyInput(_ json: ParsedJSON) -> PropertyInput {
        PropertyInput(
            json["name"]?.text ?? "", json["type"]?.text ?? "", collection: json["collection"]?.text,
            optional: json["optional"] == .bool(true) ? true : nil, objectType: json["objectType"]?.text)
    }

    // MARK: - Operations

    func commit(_ operations: [ParsedJSON], mark: CommitMark? = nil) throws {
        var request = EngineRealm.request()
        request.mark = mark
        request.isAlone = mark != nil
        try realm.write(request) { session in
            for operation in operations { try VectorRealm.apply(operation, to: session) }
        }
    }

    private static func apply(_ operation: ParsedJSON, to session: WriteSession) throws {
        let className = operation["class"]?.text ?? ""
        let key = ObjectName.text("\(operation["_id"]?.integer ?? -1)")
        let property = PropertyAddress(operation["property"]?.text ?? "")
        func index(_ name: String) -> Int { Int(operation[name]?.integer ?? -1) }
        func value() -> InputValue { input(operation["value"] ?? .null) }
        func list(_ edit: ListEdit) throws { _ = try session.editList(className, key, property, [edit]) }
        switch operation["op"]?.text ?? "" {
        case "create": _ = try session.create(className, try complete(members(operation["values"]), className, session))
        case "set":
            // Assigning is what adding does; a merge patch would merge dictionaries.
            let path = steps(operation["path"]?.elements ?? [])
            for member in operation["values"]?.members ?? [] {
                _ = try session.edit(className, key, [.add(path: path + [.name(member.name)], input(member.value))])
            }
        case "delete":
            if let path = operation["path"]?.elements {
                _ = try session.edit(className, key, [.remove(path: steps(path))])
            } else {
                _ = try session.delete(className, key)
            }
        case "deleteAll": _ = try session.deleteWhere(className, .all, arguments: [], maximum: .max)
        case "list.add": try list(.add(value()))
        case "list.insert": try list(.insert(index("index"), value()))
        case "list.set": try list(.set(index("index"), value()))
        case "list.remove": try list(.remove(index("index")))
        case "list.move": try list(.move(index("from"), index("to")))
        case "list.swap": try list(.swap(index("a"), index("b")))
        case "list.clear": try list(.clear)
        case "list.deleteAll": try list(.deleteAll)
        case "set.insert": _ = try session.editSet(className, key, property, [.insert(value())])
        case "set.remove": _ = try session.editSet(className, key, property, [.remove(value())])
        case "set.clear": _ = try session.editSet(className, key, property, [.clear])
        case "dict.set":
            _ = try session.editDictionary(className, key, property, [.set(operation["key"]?.text ?? "", value())])
        case "dict.remove": _ = try session.editDictionary(className, key, property, [.remove(operation["key"]?.text ?? "")])
        case "dict.clear": _ = try session.editDictionary(className, key, property, [.clear])
        case "addClass": try session.fitSchema(SchemaInput(classes: [ClassInput(className, [PropertyInput("value", "int")])]))
        case "addProperty": try addProperty(operation["property"]?.text ?? "", to: className, session)
        default: throw Unknown(operation: operation)
        }
    }

    struct Unknown: Error { let operation: ParsedJSON }

    /// Vectors leave values out that the reference engine makes up.
    private static func complete(_ object: InputObject, _ className: String, _ session: WriteSession) throws -> InputObject {
        var members = object.members
        for property in try session.schema()[className]?.properties ?? []
        where object[property.name] == nil && !property.isOptional && property.collection == nil {
            if property.type == .int { members.append((property.name, .integer(0))) }
            if property.type == .string { members.append((property.name, .text(""))) }
        }
        return InputObject(members)
    }

    private static func addProperty(_ name: String, to className: String, _ session: WriteSession) throws {
        let classes = try session.schema().classes.map { present in
            ClassInput(
                present.name, type: present.kind == .embedded ? "embedded" : nil, primaryKey: present.primaryKey,
                present.properties.map { property in
                    PropertyInput(
                        property.name, property.type.rawValue, collection: property.collection?.name,
                        optional: property.isOptional, objectType: property.objectType)
                } + (present.name == className ? [PropertyInput(name, "int")] : []))
        }
        try session.fitSchema(SchemaInput(classes: classes))
    }

    private static func steps(_ path: [ParsedJSON]) -> [InputPath.Step] {
        path.map { $0.text.map { .name($0) } ?? .name("\($0.integer ?? -1)") }
    }

    static func members(_ json: ParsedJSON?) -> InputObject {
        InputObject((json?.members ?? []).map { ($0.name, input($0.value)) })
    }

    static func input(_ json: ParsedJSON) -> InputValue {
        switch json {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .string(let text): return .text(text)
        case .array(let elements): return .list(elements.map(input))
        case .object:
            guard let link = json["$link"] else { return .object(members(json)) }
            return .link(.stub(className: link["class"]?.text ?? "", key: .text("\(link["_id"]?.integer ?? -1)")))
        default: return .real(json.double ?? 0)
        }
    }
}

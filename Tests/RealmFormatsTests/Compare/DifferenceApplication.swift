// SPDX-License-Identifier: Apache-2.0

import RealmEngine
@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Applies the lines of a comparison to a realm, by what docs/comparing.md says of them and nothing else.
final class DifferenceApplication {
    private let session: WriteSession
    /// The objects that were created for those of the later version, by class and key there.
    private var created: [String: [String: ObjectKey]] = [:]
    private var migration: [MigrationStep] = []
    private var version: UInt64?

    private init(_ session: WriteSession) { self.session = session }

    static func apply(_ lines: [JSONObject], in session: WriteSession) throws {
        let application = DifferenceApplication(session)
        for line in lines { try application.addSchema(line) }
        try application.migrate()
        try application.apply(lines)
    }

    // MARK: - The schema

    private func addSchema(_ line: JSONObject) throws {
        let (name, property) = (line["class"]?.string ?? "", line["property"]?.string ?? "")
        let to = line["to"]?.object
        switch line["kind"]?.string {
        case "schemaVersion": if case .integer(let number)? = line["to"] { version = UInt64(number) }
        case "classRemoved": migration.append(.removeClass(name: name))
        case "classAdded":
            let key = to?["primaryKey"]?.string
            let properties = (to?["properties"]?.array ?? []).compactMap(\.object).map {
                input($0, isKey: $0["name"]?.string == key)
            }
            migration.append(.addClass(ClassInput(name, type: to?["type"]?.string, primaryKey: key, properties)))
        case "classChanged": migration.append(.setPrimaryKey(className: name, name: to?["primaryKey"]?.string))
        case "propertyRemoved": migration.append(.removeProperty(className: name, name: property))
        case "propertyAdded":
            if let to { migration.append(.addProperty(className: name, input(to, isKey: false), value: nil)) }
        case "propertyChanged":
            if let to, let from = line["from"]?.object { change(name, property, from, to) }
        default: break
        }
    }

    private func input(_ document: JSONObject, isKey: Bool) -> PropertyInput {
        let type = document["type"]?.string ?? ""
        let isFree = type != "mixed" && type != "object"
        return PropertyInput(
            document["name"]?.string ?? "", type, collection: document["collection"]?.string,
            optional: isFree ? document["optional"] == .bool(true) : nil, indexed: isKey ? nil : document["indexed"]?.string,
            objectType: document["objectType"]?.string)
    }

    private func change(_ name: String, _ property: String, _ from: JSONObject, _ to: JSONObject) {
        if from["optional"] != to["optional"] {
            var change = PropertyChange(name, property)
            change.optional = to["optional"] == .bool(true)
            migration.append(.changeProperty(change))
        }
        if from["indexed"] != to["indexed"] {
            migration.append(.setIndex(className: name, name: property, indexed: to["indexed"]?.string))
        }
    }

    private func migrate() throws {
        let present = try session.schema().version
        guard !migration.isEmpty || version != nil else { return }
        _ = try session.migrate(Migration(from: present, to: version ?? present ?? 0, migration, allowsDataLoss: true))
    }

    // MARK: - Objects

    private func apply(_ lines: [JSONObject]) throws {
        let present = Set(try session.schema().classes.map(\.name))
        let objects = lines.filter { line in
            ["added", "removed", "changed"].contains(line["kind"]?.string ?? "") && present.contains(line["class"]?.string ?? "")
        }
        for line in objects where line["kind"] == .string("removed") {
            _ = try session.delete(line["class"]?.string ?? "", .text(line["key"]?.string ?? ""))
        }
        for line in objects where line["kind"] == .string("added") { try create(line) }
        for line in objects where line["kind"] != .string("removed") { try set(line) }
    }

    private func create(_ line: JSONObject) throws {
        guard let name = line["class"]?.string, let key = line["key"]?.string, let schema = try session.schema()[name] else {
            return
        }
        var members: [(name: String, value: InputValue)] = []
        // Links and collections follow when all objects are there.
        for property in schema.properties {
            let isNeeded = property.name == schema.primaryKey || property.collection == nil && !property.isOptional
            guard isNeeded, let value = line["to"]?.object?[property.name] else { continue }
            members.append((name: property.name, value: try InputReader().value(value)))
        }
        created[name, default: [:]][key] = try session.create(name, InputObject(members)).place.object
    }

    private func set(_ line: JSONObject) throws {
        guard let name = line["class"]?.string, let key = line["key"]?.string, let schema = try session.schema()[name] else {
            return
        }
        let isAdded = line["kind"] == .string("added")
        let place = try session.require(isAdded ? object(name, key) : .text(key), class: name)
        for member in line["to"]?.object?.members ?? [] where member.name != schema.primaryKey {
            let value = mapped(try InputReader().value(member.value), line["same"]?.object)
            try session.setProperty(try session.property(member.name, of: place), of: place, to: value)
        }
    }

    private func object(_ name: String, _ key: String) -> ObjectName {
        created[name]?[key].map { .objectKey($0) } ?? .text(key)
    }

    /// Returns a value whose links lead to the objects that stand for those of the later version.
    private func mapped(_ value: InputValue, _ same: JSONObject?) -> InputValue {
        switch value {
        case .link(.stub(let name, .text(let key))):
            if let earlier = same?[name]?.object?[key]?.string { return .link(.stub(className: name, key: .text(earlier))) }
            return .link(.stub(className: name, key: object(name, key)))
        case .list(let elements): return .list(elements.map { mapped($0, same) })
        case .object(let object):
            return .object(InputObject(object.members.map { (name: $0.name, value: mapped($0.value, same)) }))
        default: return value
        }
    }
}

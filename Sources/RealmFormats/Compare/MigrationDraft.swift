// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Drafts the migration from one schema to another, in the form of a request.
///
/// The draft changes the schema, and what becomes of the values is for its reader to decide. A property that was removed while one
/// of the same shape was added may have been renamed: the draft has both steps, and says in `$maybe` which step would replace them.
/// A request must not have that member.
package struct MigrationDraft {
    private let old: RealmSchema
    private let new: RealmSchema
    private var steps: [DocumentValue] = []
    private var doubts: [DocumentValue] = []

    /// Drafts the steps from one schema to another.
    package init(from old: RealmSchema, to new: RealmSchema) {
        self.old = old
        self.new = new
        addClasses()
        for after in sorted(new.classes) {
            guard let before = old[after.name] else { continue }
            change(before, to: after)
        }
        removeClasses()
    }

    /// Whether the schemas are the same but for their versions.
    package var isEmpty: Bool { steps.isEmpty }

    /// The document of the request.
    package var document: DocumentValue {
        .members(
            ("fromVersion", SchemaDocument.version(of: old)), ("toVersion", SchemaDocument.version(of: new)),
            ("steps", .array(steps)), ("$maybe", doubts.isEmpty ? nil : .array(doubts)))
    }

    private func sorted(_ classes: [ClassSchema]) -> [ClassSchema] { classes.sorted { $0.name < $1.name } }

    private mutating func add(_ verb: String, _ members: (String, DocumentValue?)...) {
        let object = DocumentValue.object(members.compactMap { name, value in value.map { .init(name, $0) } })
        steps.append(.object([.init(verb, object)]))
    }

    /// Adds a doubt: which steps another one would replace.
    private mutating func doubt(
        _ reason: String, insteadOf removed: DocumentValue, and added: DocumentValue, _ step: DocumentValue
    ) {
        doubts.append(["reason": .string(reason), "insteadOf": [removed, added], "step": step])
    }

    // MARK: - Classes

    /// Adds new classes without their links, and then the links, which may lead to each of them.
    private mutating func addClasses() {
        let added = sorted(new.classes.filter { old[$0.name] == nil })
        for one in added {
            let properties = one.properties.filter { $0.objectType == nil }
            add(
                "addClass", ("name", .string(one.name)), ("type", .string(one.kind.schemaName)),
                ("primaryKey", one.primaryKey.map(DocumentValue.string)),
                ("properties", .array(properties.map { MigrationDraft.document($0, in: one) })))
        }
        for one in added {
            for property in one.properties where property.objectType != nil { addProperty(property, to: one) }
        }
        for one in added {
            for gone in sorted(old.classes.filter { new[$0.name] == nil }) where MigrationDraft.isAlike(gone, one) {
                doubt(
                    "'\(gone.name)' and '\(one.name)' have the same properties", insteadOf: MigrationDraft.removal(of: gone),
                    and: ["addClass": ["name": .string(one.name)]],
                    ["renameClass": ["name": .string(gone.name), "to": .string(one.name)]])
            }
        }
    }

    /// Removes the links of classes before the classes, as no link may lead to a class that is removed.
    private mutating func removeClasses() {
        let removed = sorted(old.classes.filter { new[$0.name] == nil })
        for one in removed {
            for property in one.properties where property.objectType != nil { removeProperty(property, of: one) }
        }
        for one in removed { steps.append(MigrationDraft.removal(of: one)) }
    }

    private static func removal(of one: ClassSchema) -> DocumentValue { ["removeClass": ["name": .string(one.name)]] }

    private static func isAlike(_ left: ClassSchema, _ right: ClassSchema) -> Bool {
        left.kind == right.kind && left.primaryKey == right.primaryKey && left.properties.count == right.properties.count
            && left.properties.allSatisfy { right.properties.contains($0) }
    }

    private mutating func change(_ before: ClassSchema, to after: ClassSchema) {
        if before.kind != after.kind {
            add("setType", ("class", .string(after.name)), ("type", .string(after.kind.schemaName)))
        }
        let removed = before.properties.filter { old in !after.properties.contains { $0.name == old.name } }
        let added = after.properties.filter { new in !before.properties.contains { $0.name == new.name } }
        for property in added { addProperty(property, to: after) }
        for property in after.properties {
            guard let former = before.properties.first(where: { $0.name == property.name }) else { continue }
            change(former, to: property, before, after)
        }
        if before.primaryKey != after.primaryKey {
            add("setPrimaryKey", ("class", .string(after.name)), ("name", after.primaryKey.map(DocumentValue.string) ?? .null))
        }
        for property in removed {
            removeProperty(property, of: after)
            for other in added where MigrationDraft.isAlike(property, other) {
                doubt(
                    "'\(property.name)' and '\(other.name)' have the same type",
                    insteadOf: MigrationDraft.removal(of: property, after), and: MigrationDraft.addition(of: other, after),
                    [
                        "renameProperty": [
                            "class": .string(after.name), "name": .string(property.name), "to": .string(other.name),
                        ]
                    ])
            }
        }
    }

    // MARK: - Properties

    private static func isAlike(_ left: PropertySchema, _ right: PropertySchema) -> Bool {
        left.type == right.type && left.collection == right.collection && left.isOptional == right.isOptional
            && left.objectType == right.objectType
    }

    /// A property in the form of a request. The index of a primary key is not stated.
    private static func document(_ property: PropertySchema, in one: ClassSchema) -> DocumentValue {
        .members(
            ("name", .string(property.name)), ("type", .string(property.type.rawValue)),
            ("collection", property.collection.map { .string($0.name) }),
            ("optional", property.isOptional && property.type != .mixed && property.type != .object ? true : nil),
            ("indexed", property.name == one.primaryKey ? nil : index(property)),
            ("objectType", property.objectType.map(DocumentValue.string)))
    }

    private static func index(_ property: PropertySchema) -> DocumentValue? {
        property.index.map { .string($0 == .fullText ? "fulltext" : "general") }
    }

    private static func addition(of property: PropertySchema, _ one: ClassSchema) -> DocumentValue {
        ["addProperty": ["class": .string(one.name), "property": document(property, in: one)]]
    }

    private static func removal(of property: PropertySchema, _ one: ClassSchema) -> DocumentValue {
        ["removeProperty": ["class": .string(one.name), "name": .string(property.name)]]
    }

    private mutating func addProperty(_ property: PropertySchema, to one: ClassSchema) {
        steps.append(MigrationDraft.addition(of: property, one))
    }

    private mutating func removeProperty(_ property: PropertySchema, of one: ClassSchema) {
        steps.append(MigrationDraft.removal(of: property, one))
    }

    /// Changes a property by a conversion, or where there is none removes it and adds it again.
    private mutating func change(
        _ former: PropertySchema, to property: PropertySchema, _ before: ClassSchema, _ after: ClassSchema
    ) {
        let hasOtherShape = former.type != property.type || former.collection != property.collection
        let leadsElsewhere = property.type == .object && former.objectType != property.objectType
        if leadsElsewhere || hasOtherShape && conversion(former, property) == nil {
            removeProperty(former, of: after)
            addProperty(property, to: after)
            return
        }
        // Whether links and Mixed may be null follows from their types.
        let changesNull = former.isOptional != property.isOptional && property.type != .mixed && property.type != .object
        if hasOtherShape || changesNull {
            add(
                "changeProperty", ("class", .string(after.name)), ("name", .string(property.name)),
                ("conversion", conversion(former, property).map(DocumentValue.string)),
                ("optional", changesNull ? .bool(property.isOptional) : nil))
        }
        let indexes = (
            former.name == before.primaryKey ? nil : MigrationDraft.index(former),
            property.name == after.primaryKey ? nil : MigrationDraft.index(property)
        )
        if indexes.0 != indexes.1 {
            add(
                "setIndex", ("class", .string(after.name)), ("name", .string(property.name)),
                ("indexed", indexes.1 ?? .null))
        }
    }

    // MARK: - Conversions

    /// Returns the name of the conversion from one property to another; nil when none changes all that differs.
    private func conversion(_ former: PropertySchema, _ property: PropertySchema) -> String? {
        if former.type == property.type {
            let names = [former.collection, property.collection].map { $0?.name ?? "single" }
            let isOne = former.collection != property.collection && !names.contains("dictionary")
            return isOne ? names.joined(separator: "-to-") : nil
        }
        guard former.collection == property.collection else { return nil }
        if property.type == .mixed { return "to-mixed" }
        let name = property.type.rawValue
        let target = MigrationDraft.targets[former.type]?.first { $0.split(separator: "-").first.map { $0 == name } ?? false }
        return target.map { former.type.rawValue + "-to-" + $0 }
    }

    private static let scalars: [PropertyType] = [
        .int, .bool, .float, .double, .decimal128, .string, .date, .data, .objectId, .uuid,
    ]
    /// The types that values of a type can be converted to, as the names of conversions end. Of several ways it is the first one that
    /// docs/migrations.md lists.
    private static let targets: [PropertyType: [String]] = [
        .int: ["bool", "float", "double", "decimal128", "string", "date-seconds"],
        .bool: ["int", "float", "double", "decimal128", "string"],
        .float: ["int", "bool", "double", "decimal128", "string"],
        .double: ["int", "bool", "float", "decimal128", "string", "date-seconds"],
        .decimal128: ["int", "bool", "float", "double", "string"],
        .string: ["int", "bool", "float", "double", "decimal128", "date", "data", "objectId", "uuid"],
        .date: ["string", "int-seconds", "double-seconds"],
        .data: ["string", "objectId", "uuid"],
        .objectId: ["string", "data"],
        .uuid: ["string", "data"],
        .mixed: scalars.map(\.rawValue),
    ]
}

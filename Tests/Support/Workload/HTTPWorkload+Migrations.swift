// SPDX-License-Identifier: Apache-2.0

/// Changes of the schema. What a workload adds has names of its own: properties `m…`, classes `Extra…`; only these are
/// renamed and removed again.
extension HTTPWorkload {
    private typealias Members = [(String, ParsedJSON)]

    func migrate() throws {
        guard transaction == nil else { return }
        let before = model
        var steps: [ParsedJSON] = []
        var rekeyed: Set<String> = []
        for _ in 0..<values.number(1..<4) {
            if let step = migrationStep(&rekeyed) { steps.append(step) }
        }
        guard !steps.isEmpty else { return }
        model.schema.version += 1
        let body = ParsedJSON.object([
            ("fromVersion", .integer(before.schema.version)), ("toVersion", .integer(model.schema.version)),
            ("steps", .array(steps)), ("allowDataLoss", .bool(true)),
        ])
        let after = model
        model = before
        var request = Request("POST", realm + "/migrations", body.serialized, 200)
        request.count = steps.count
        _ = try perform(request)
        model = after
        let shown = try readSchema()
        // Whether a former primary key stays indexed is the server's business.
        for name in rekeyed { model.schema.change(name) { one in HTTPWorkload.adoptIndex(&one, shown[name]) } }
        guard HTTPWorkload.isEqual(shown, model.schema) else {
            throw fail("the schema is \(shown.classes), not \(model.schema.classes)")
        }
        model.schema = shown
        for name in rekeyed.sorted() { try readKeys(name) }
    }

    private static func adoptIndex(_ one: inout WorkloadSchema.Class, _ shown: WorkloadSchema.Class?) {
        guard let index = one.properties.firstIndex(where: { $0.name == "_id" }), let found = shown?["_id"] else { return }
        one.properties[index].index = found.index
    }

    private func migrationStep(_ rekeyed: inout Set<String>) -> ParsedJSON? {
        let tops = model.schema.tops
        guard !tops.isEmpty, !values.chance(8) else { return addClass() }
        let target = values.pick(tops)
        let added = target.changeable.filter { $0.name.hasPrefix("m") && $0.name.dropFirst().allSatisfy(\.isNumber) }
        switch values.number(0..<14) {
        case 0..<4: return target.properties.count < 120 ? addProperty(target) : nil
        case 4: return added.randomElement(using: &values.random).map { removeProperty($0, target) }
        case 5: return added.randomElement(using: &values.random).map { renameProperty($0, target) }
        case 6: return removeClass()
        case 7: return renameClass()
        case 8, 9: return target.changeable.randomElement(using: &values.random).flatMap { changeOptional($0, target) }
        case 10: return target.changeable.randomElement(using: &values.random).flatMap { changeIndex($0, target) }
        case 11: return added.randomElement(using: &values.random).flatMap { changeType($0, target) }
        case 12: return added.randomElement(using: &values.random).flatMap { setAll($0, target) }
        default: return rekeyed.contains(target.name) ? nil : changeKey(target, &rekeyed)
        }
    }

    // MARK: - Classes

    private func newName(_ prefix: String, _ isTaken: (String) -> Bool) -> String {
        var name: String
        repeat { name = prefix + "\(values.number(0..<1000))" } while isTaken(name)
        return name
    }

    private func addClass() -> ParsedJSON? {
        guard model.schema.classes.count < 14 else { return nil }
        let name = newName("Extra") { model.schema[$0] != nil }
        var properties = [
            WorkloadSchema.Property(
                name: "_id", type: values.pick(["int", "string", "objectId", "uuid"]), collection: nil, isOptional: false,
                index: "general",
                target: nil)
        ]
        for _ in 0..<values.number(1..<5) {
            let property = newProperty { name in properties.contains { $0.name == name } }
            properties.append(property)
        }
        let hasKey = !values.chance(3)
        if !hasKey { properties[0].index = nil }
        model.schema.classes.append(
            WorkloadSchema.Class(name: name, kind: "object", primaryKey: hasKey ? "_id" : nil, properties: properties))
        return .wrapper(
            "addClass",
            .object([
                ("name", .string(name)), ("primaryKey", hasKey ? .string("_id") : .null),
                ("properties", .array(properties.map { document($0) })),
            ]))
    }

    private var extraClasses: [WorkloadSchema.Class] { model.schema.classes.filter { $0.name.hasPrefix("Extra") } }

    private func removeClass() -> ParsedJSON? {
        guard let target = extraClasses.randomElement(using: &values.random) else { return nil }
        for id in model.ids(target.name) { model.delete(id) }
        model.schema.classes.removeAll { $0.name == target.name }
        return .wrapper("removeClass", .object([("name", .string(target.name))]))
    }

    private func renameClass() -> ParsedJSON? {
        guard let target = extraClasses.randomElement(using: &values.random) else { return nil }
        let name = newName("Extra") { model.schema[$0] != nil }
        model.renameClass(target.name, name)
        model.schema.change(target.name) { $0.name = name }
        return .wrapper("renameClass", .object([("name", .string(target.name)), ("to", .string(name))]))
    }

    // MARK: - Properties

    private func newProperty(_ isTaken: (String) -> Bool) -> WorkloadSchema.Property {
        let types = [
            "int", "bool", "string", "data", "date", "float", "double", "decimal128", "objectId", "uuid", "mixed", "object",
        ]
        var property = WorkloadSchema.Property(
            name: newName("m", isTaken), type: values.pick(types),
            collection: values.pick([nil, nil, "list", "set", "dictionary"]),
            isOptional: values.chance(2), index: nil, target: nil)
        if property.type == "mixed" { property.isOptional = true }
        if property.type == "object" {
            let targets = model.schema.tops.filter { !$0.name.hasPrefix("Extra") }
            if targets.isEmpty { property.type = "int" } else { property.target = values.pick(targets).name }
            if property.target != nil { property.isOptional = property.collection == nil || property.collection == "dictionary" }
        }
        if property.collection == nil, ["int", "bool", "string", "date", "objectId", "uuid"].contains(property.type),
            values.chance(2)
        {
            property.index = "general"
        }
        return property
    }

    private func document(_ property: WorkloadSchema.Property) -> ParsedJSON {
        func text(_ text: String?) -> ParsedJSON { text.map { .string($0) } ?? .null }
        return .object([
            ("name", .string(property.name)), ("type", .string(property.type)), ("collection", text(property.collection)),
            ("optional", .bool(property.isOptional)), ("indexed", text(property.index)), ("objectType", text(property.target)),
        ])
    }

    private func addProperty(_ target: WorkloadSchema.Class) -> ParsedJSON {
        let property = newProperty { target[$0] != nil }
        var list: Members = [("class", .string(target.name)), ("property", document(property))]
        var value = WorkloadModel.empty(property)
        if property.collection == nil, !property.isOptional || values.chance(2) {
            value = values.value(property, model)
            list.append(("value", model.json(value)))
        }
        model.schema.change(target.name) { $0.properties.append(property) }
        model.changeAll(target.name) { $0[property.name] = value }
        return .wrapper("addProperty", .object(list))
    }

    private func removeProperty(_ property: WorkloadSchema.Property, _ target: WorkloadSchema.Class) -> ParsedJSON {
        model.schema.change(target.name) { one in one.properties.removeAll { $0.name == property.name } }
        model.changeAll(target.name) { $0[property.name] = nil }
        return .wrapper("removeProperty", .object([("class", .string(target.name)), ("name", .string(property.name))]))
    }

    private func renameProperty(_ property: WorkloadSchema.Property, _ target: WorkloadSchema.Class) -> ParsedJSON {
        let name = newName("m") { target[$0] != nil }
        changeProperty(property.name, target) { $0.name = name }
        model.changeAll(target.name) { $0[name] = $0.removeValue(forKey: property.name) }
        return .wrapper(
            "renameProperty",
            .object([
                ("class", .string(target.name)), ("name", .string(property.name)), ("to", .string(name)),
            ]))
    }

    private func changeProperty(
        _ name: String, _ target: WorkloadSchema.Class, _ body: (inout WorkloadSchema.Property) -> Void
    ) {
        model.schema.change(target.name) { one in
            guard let index = one.properties.firstIndex(where: { $0.name == name }) else { return }
            body(&one.properties[index])
        }
    }

    private func changeOptional(_ property: WorkloadSchema.Property, _ target: WorkloadSchema.Class) -> ParsedJSON? {
        guard property.type != "mixed", property.type != "object", property.collection != "set" else { return nil }
        var list: Members = [
            ("class", .string(target.name)), ("name", .string(property.name)), ("optional", .bool(!property.isOptional)),
        ]
        changeProperty(property.name, target) { $0.isOptional.toggle() }
        if property.isOptional {
            let filler = WorkloadValue.plain(values.scalar(property))
            list.append(("nullValue", model.json(filler)))
            for id in model.ids(target.name) {
                model.set(id, property.name, HTTPWorkload.filled(model.value(id, property.name), filler))
            }
        }
        return .wrapper("changeProperty", .object(list))
    }

    private static func filled(_ value: WorkloadValue, _ filler: WorkloadValue) -> WorkloadValue {
        switch value {
        case .list(let elements): return .list(elements.map { $0.isNull ? filler : $0 })
        case .entries(let entries): return .entries(entries.mapValues { $0.isNull ? filler : $0 })
        default: return value.isNull ? filler : value
        }
    }

    private func changeIndex(_ property: WorkloadSchema.Property, _ target: WorkloadSchema.Class) -> ParsedJSON? {
        guard property.collection == nil, ["int", "bool", "string", "date", "objectId", "uuid"].contains(property.type) else {
            return nil
        }
        var index: String? = property.index == nil ? "general" : nil
        if property.type == "string", values.chance(2) { index = "fulltext" }
        changeProperty(property.name, target) { $0.index = index }
        return .wrapper(
            "setIndex",
            .object([
                ("class", .string(target.name)), ("name", .string(property.name)),
                ("indexed", index.map { .string($0) } ?? .null),
            ]))
    }

    private func changeType(_ property: WorkloadSchema.Property, _ target: WorkloadSchema.Class) -> ParsedJSON? {
        guard property.collection == nil, property.index == nil else { return nil }
        let conversion: String
        var changed = property
        switch property.type {
        case "int": (conversion, changed.type) = values.chance(2) ? ("int-to-string", "string") : ("to-mixed", "mixed")
        case "bool", "string": (conversion, changed.type) = ("to-mixed", "mixed")
        default: return nil
        }
        if changed.type == "mixed" { changed.isOptional = true }
        changeProperty(property.name, target) { $0 = changed }
        if changed.type == "string" {
            model.changeAll(target.name) { values in
                if let number = values[property.name]?.plain?.integer { values[property.name] = .text("\(number)") }
            }
        }
        return .wrapper(
            "changeProperty",
            .object([
                ("class", .string(target.name)), ("name", .string(property.name)), ("type", .string(changed.type)),
                ("conversion", .string(conversion)),
            ]))
    }

    private func setAll(_ property: WorkloadSchema.Property, _ target: WorkloadSchema.Class) -> ParsedJSON? {
        let value = values.value(property, model)
        guard property.isIdentifier else { return nil }
        for id in model.ids(target.name) { model.merge(id, [property.member: value]) }
        return .wrapper(
            "set",
            .object([
                ("class", .string(target.name)), ("where", .string("TRUEPREDICATE")),
                ("values", .wrapper(property.member, model.json(value))),
            ]))
    }

    // MARK: - Primary keys

    /// Clears the primary key of a class, or makes `_id` one again.
    private func changeKey(_ target: WorkloadSchema.Class, _ rekeyed: inout Set<String>) -> ParsedJSON? {
        guard let property = target["_id"], ["int", "string", "objectId", "uuid"].contains(property.type),
            model.ids(target.name).count < 900
        else { return nil }
        guard target.primaryKey == nil || target.primaryKey == "_id" else { return nil }
        let texts = model.ids(target.name).map { model.json(model.value($0, "_id")).canonical }
        guard Set(texts).count == texts.count else { return nil }
        rekeyed.insert(target.name)
        let name = target.primaryKey == nil ? "_id" : nil
        model.setPrimaryKey(target.name, name)
        if name != nil { changeProperty("_id", target) { $0.index = "general" } }
        return .wrapper("setPrimaryKey", .object([("class", .string(target.name)), ("name", name.map { .string($0) } ?? .null)]))
    }

    /// Learns the keys that objects have now, by the values of `_id`.
    private func readKeys(_ className: String) throws {
        let reply = try get("objects/" + HTTPWorkload.encoded(className) + "?limit=1000&fields=_id")
        var keys: [String: String] = [:]
        for item in reply.json["items"]?.elements ?? [] {
            keys[item["_id"]?.canonical ?? ""] = item["$meta"]?["key"]?.text
        }
        for id in model.ids(className) {
            guard let key = keys[model.json(model.value(id, "_id")).canonical] else {
                throw fail("an object of \(className) is gone: \(reply.text.prefix(500))")
            }
            model.name(id, key)
        }
    }
}

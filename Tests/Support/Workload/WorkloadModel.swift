// SPDX-License-Identifier: Apache-2.0

/// What a realm should hold: objects with the values of their properties. A value type, so that what is rolled back is forgotten
/// by going back to a copy.
package struct WorkloadModel: Sendable {
    package struct Object: Sendable {
        package var className: String
        /// The key that the server gave it; nil until it did.
        package var key: String?
        package var values: [String: WorkloadValue]
    }

    package var schema: WorkloadSchema
    private var objects: [Int: Object] = [:]
    private var members: [String: [Int]] = [:]
    /// Objects by the canonical text of their primary keys.
    private var unique: [String: [String: Int]] = [:]
    private var next = 0

    package init(schema: WorkloadSchema) { self.schema = schema }

    package subscript(id: Int) -> Object? { objects[id] }

    package func ids(_ className: String) -> [Int] { members[className] ?? [] }

    package var count: Int { objects.count }

    package func find(_ className: String, unique key: WorkloadValue) -> Int? { unique[className]?[text(key)] }

    private func text(_ key: WorkloadValue) -> String { key.plain?.canonical ?? "" }

    // MARK: - Objects

    @discardableResult
    package mutating func add(_ className: String, key: String?, _ values: [String: WorkloadValue]) -> Int {
        let id = next
        next += 1
        objects[id] = Object(className: className, key: key, values: values)
        members[className, default: []].append(id)
        if let property = schema[className]?.primaryKey, let value = values[property] {
            let text = text(value)
            unique[className, default: [:]][text] = id
        }
        return id
    }

    package mutating func name(_ id: Int, _ key: String) { objects[id]?.key = key }

    package mutating func set(_ id: Int, _ property: String, _ value: WorkloadValue) { objects[id]?.values[property] = value }

    private mutating func setUnique(_ id: Int, _ property: String, _ value: WorkloadValue) {
        guard let className = objects[id]?.className else { return }
        objects[id]?.values[property] = value
        let text = text(value)
        unique[className, default: [:]][text] = id
    }

    package mutating func delete(_ id: Int) {
        guard let object = objects.removeValue(forKey: id) else { return }
        members[object.className]?.removeAll { $0 == id }
        if let property = schema[object.className]?.primaryKey, let value = object.values[property] {
            let text = text(value)
            unique[object.className]?[text] = nil
        }
    }

    // MARK: - Classes

    package mutating func renameClass(_ name: String, _ newName: String) {
        for id in ids(name) { objects[id]?.className = newName }
        members[newName] = members.removeValue(forKey: name)
        unique[newName] = unique.removeValue(forKey: name)
    }

    package mutating func changeAll(_ className: String, _ body: (inout [String: WorkloadValue]) -> Void) {
        for id in ids(className) {
            guard var object = objects[id] else { continue }
            body(&object.values)
            objects[id] = object
        }
    }

    package mutating func setPrimaryKey(_ className: String, _ property: String?) {
        schema.change(className) { $0.primaryKey = property }
        unique[className] = nil
        guard let property else { return }
        for id in ids(className) {
            guard let value = objects[id]?.values[property] else { continue }
            let text = text(value)
            unique[className, default: [:]][text] = id
        }
    }

    // MARK: - Links

    /// A value without the links to objects that are gone: in lists and sets they leave no trace, elsewhere a null.
    package func live(_ value: WorkloadValue) -> WorkloadValue? {
        switch value {
        case .plain: return value
        case .link(let id): return objects[id] == nil ? nil : value
        case .list(let elements): return .list(elements.compactMap { live($0) })
        case .entries(let entries): return .entries(entries.mapValues { live($0) ?? .null })
        }
    }

    package func value(_ id: Int, _ property: String) -> WorkloadValue {
        objects[id]?.values[property].flatMap { live($0) } ?? .null
    }

    /// How a link is written: an object that has no key yet is named by its reference.
    package func stub(_ id: Int) -> ParsedJSON {
        guard let object = objects[id] else { return .null }
        guard let key = object.key else { return .wrapper("$link", .wrapper("ref", .string("r\(id)"))) }
        return .wrapper(
            "$link",
            .object([
                ParsedJSON.Member(name: "class", value: .string(object.className)),
                ParsedJSON.Member(name: "key", value: .string(key)),
            ]))
    }

    /// The value as the interface writes it.
    package func json(_ value: WorkloadValue) -> ParsedJSON {
        switch value {
        case .plain(let json): return json
        case .link(let id): return stub(id)
        case .list(let elements): return .array(elements.map { json($0) })
        case .entries(let entries):
            return .object(entries.sorted { $0.key < $1.key }.map { ParsedJSON.Member(name: $0.key, value: json($0.value)) })
        }
    }

    // MARK: - Defaults

    /// What is stored when an object of a class is made from `body`: absent properties are null or empty.
    package func complete(_ className: String, _ body: [String: WorkloadValue]) -> [String: WorkloadValue] {
        guard let target = schema[className] else { return body }
        var values: [String: WorkloadValue] = [:]
        for property in target.properties {
            values[property.name] = body[property.member].map { stored($0, property) } ?? WorkloadModel.empty(property)
        }
        return values
    }

    package static func empty(_ property: WorkloadSchema.Property) -> WorkloadValue {
        switch property.collection {
        case "dictionary"?: return .entries([:])
        case nil: return .null
        default: return .list([])
        }
    }

    /// A given value as it is stored: embedded objects complete, sets without duplicates.
    package func stored(_ value: WorkloadValue, _ property: WorkloadSchema.Property) -> WorkloadValue {
        let isEmbedded = schema.isEmbedded(property)
        switch (property.collection, value) {
        case ("set"?, .list(let elements)): return .list(unique(elements))
        case ("list"?, .list(let elements)) where isEmbedded: return .list(elements.map { embedded($0, property) })
        case ("dictionary"?, .entries(let entries)) where isEmbedded:
            return .entries(entries.mapValues { embedded($0, property) })
        case (nil, _) where isEmbedded: return embedded(value, property)
        default: return value
        }
    }

    package func embedded(_ value: WorkloadValue, _ property: WorkloadSchema.Property) -> WorkloadValue {
        guard let entries = value.entries, let target = property.target else { return value }
        let completed = complete(target, entries)
        // Embedded objects keep the names of members.
        var members: [String: WorkloadValue] = [:]
        for property in schema[target]?.properties ?? [] { members[property.member] = completed[property.name] }
        return .entries(members)
    }

    /// Without duplicates; the first of equal values stays.
    package func unique(_ elements: [WorkloadValue]) -> [WorkloadValue] {
        var seen: Set<String> = []
        return elements.filter { seen.insert(json($0).canonical).inserted }
    }

    package func contains(_ elements: [WorkloadValue], _ value: WorkloadValue) -> Bool {
        let text = json(value).canonical
        return elements.contains { json($0).canonical == text }
    }

    // MARK: - Merge patches

    package mutating func merge(_ id: Int, _ body: [String: WorkloadValue]) {
        guard let target = objects[id].flatMap({ schema[$0.className] }) else { return }
        for property in target.properties {
            guard let patch = body[property.member] else { continue }
            set(id, property.name, merged(value(id, property.name), patch, property))
        }
    }

    private func merged(_ old: WorkloadValue, _ patch: WorkloadValue, _ property: WorkloadSchema.Property) -> WorkloadValue {
        let isEmbedded = schema.isEmbedded(property)
        switch (property.collection, patch) {
        case ("dictionary"?, .entries(let changes)):
            var entries = old.entries ?? [:]
            for (name, change) in changes {
                entries[name] = change.isNull ? nil : isEmbedded ? mergedObject(entries[name], change, property) : change
            }
            return .entries(entries)
        case (nil, .entries) where isEmbedded: return mergedObject(old, patch, property)
        default: return stored(patch, property)
        }
    }

    private func mergedObject(
        _ old: WorkloadValue?, _ patch: WorkloadValue, _ property: WorkloadSchema.Property
    ) -> WorkloadValue {
        guard var entries = old?.entries, let changes = patch.entries, let target = property.target.flatMap({ schema[$0] }) else {
            return embedded(patch, property)
        }
        for inner in target.properties {
            guard let change = changes[inner.member] else { continue }
            entries[inner.member] = merged(entries[inner.member] ?? .null, change, inner)
        }
        return .entries(entries)
    }

    // MARK: - Comparison

    /// The first property of an object as it was read that is not what it should be, or nil.
    package func difference(_ id: Int, _ json: ParsedJSON) -> String? {
        guard let object = objects[id], let target = schema[object.className] else { return "object \(id) is not tracked" }
        for property in target.properties {
            guard let found = json[property.member] else { return "\(property.name) is missing" }
            let expected = schema.canonical(self.json(value(id, property.name)), property)
            let shown = schema.canonical(found, property)
            if shown != expected {
                return
                    "\(object.className)/\(object.key ?? "?").\(property.name): found \(shown.prefix(1500)), expected \(expected.prefix(1500))"
            }
        }
        return nil
    }

    // MARK: - Loading

    /// The model of contents that were exported.
    package init(schema: WorkloadSchema, objects lines: [ParsedJSON]) {
        self.init(schema: schema)
        var keys: [String: [String: Int]] = [:]
        for line in lines {
            let (className, key) = (line["$meta"]?["class"]?.text ?? "", line["$meta"]?["key"]?.text ?? "")
            keys[className, default: [:]][key] = add(className, key: key, [:])
        }
        for (id, line) in lines.enumerated() {
            guard let target = objects[id].flatMap({ schema[$0.className] }) else { continue }
            for property in target.properties {
                let value = line[property.member].map { load($0, property, keys) } ?? .null
                if property.name == target.primaryKey {
                    setUnique(id, property.name, value)
                } else {
                    set(id, property.name, value)
                }
            }
        }
    }

    private func load(_ json: ParsedJSON, _ property: WorkloadSchema.Property, _ keys: [String: [String: Int]]) -> WorkloadValue {
        switch (property.collection, json) {
        case ("dictionary"?, .object(let members)):
            return .entries(Dictionary(members.map { ($0.name, element($0.value, property, keys)) }) { first, _ in first })
        case (.some, .array(let elements)): return .list(elements.map { element($0, property, keys) })
        default: return element(json, property, keys)
        }
    }

    private func element(_ json: ParsedJSON, _ property: WorkloadSchema.Property, _ keys: [String: [String: Int]])
        -> WorkloadValue
    {
        if property.type == "mixed" { return mixed(json, keys) }
        guard property.type == "object", case .object = json else { return .plain(json) }
        guard let target = property.target.flatMap({ schema[$0] }), target.isEmbedded else { return mixed(json, keys) }
        var entries: [String: WorkloadValue] = [:]
        for inner in target.properties { entries[inner.member] = json[inner.member].map { load($0, inner, keys) } ?? .null }
        return .entries(entries)
    }

    private func mixed(_ json: ParsedJSON, _ keys: [String: [String: Int]]) -> WorkloadValue {
        switch json {
        case .array(let elements): return .list(elements.map { mixed($0, keys) })
        case .object(let members):
            if let link = json["$link"] {
                return (keys[link["class"]?.text ?? ""]?[link["key"]?.text ?? ""]).map { .link($0) } ?? .null
            }
            if members.count == 1, members[0].name.hasPrefix("$") { return .plain(json) }
            return .entries(Dictionary(members.map { ($0.name, mixed($0.value, keys)) }) { first, _ in first })
        default: return .plain(json)
        }
    }
}

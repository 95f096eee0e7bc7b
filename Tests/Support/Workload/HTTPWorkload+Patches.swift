// SPDX-License-Identifier: Apache-2.0

/// JSON Patches, and places in collections inside each other.
extension HTTPWorkload {
    /// A JSON Patch, and what it does to the model.
    struct PatchList {
        var operations: [ParsedJSON] = []

        mutating func add(_ operation: String, _ path: String, _ value: ParsedJSON? = nil, from: String? = nil) {
            var members = [
                ParsedJSON.Member(name: "op", value: .string(operation)), ParsedJSON.Member(name: "path", value: .string(path)),
            ]
            if let value { members.append(ParsedJSON.Member(name: "value", value: value)) }
            if let from { members.append(ParsedJSON.Member(name: "from", value: .string(from))) }
            operations.append(.object(members))
        }

        var json: ParsedJSON { .array(operations) }
    }

    func patchJSON(_ target: WorkloadSchema.Class, _ id: Int) throws {
        let before = model
        let list = jsonPatch(target, id)
        guard !list.operations.isEmpty else { return }
        if values.chance(15) {
            // A test that fails takes everything before it along.
            model = before
            var failing = list
            failing.add("test", pointer(target.properties[0]), .string("not this one"))
            var request = Request("PATCH", path(id), failing.json.serialized, 409, 422)
            request.type = "application/json-patch+json"
            _ = try perform(request)
            return
        }
        let after = model
        model = before
        var request = Request("PATCH", path(id), list.json.serialized, 200)
        request.type = "application/json-patch+json"
        let reply = try perform(request)
        model = after
        if let difference = model.difference(id, reply.json) { throw fail("the answer shows \(difference)") }
    }

    private func pointer(_ property: WorkloadSchema.Property) -> String { "/" + HTTPWorkload.escaped(property.member) }

    static func escaped(_ name: String) -> String {
        String(
            name.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                scalar == "~" ? ["~", "0"] : scalar == "/" ? ["~", "1"] : [scalar]
            }.reduce(into: "") { $0.unicodeScalars.append($1) })
    }

    /// Some steps of a patch, done to the model as they are chosen.
    func jsonPatch(_ target: WorkloadSchema.Class, _ id: Int) -> PatchList {
        var list = PatchList()
        for _ in 0..<values.number(1..<5) {
            guard let property = target.changeable.randomElement(using: &values.random) else { break }
            let path = pointer(property)
            switch property.collection {
            case nil: patchSingle(property, id, path, &list)
            case "list": patchList(property, id, path, &list)
            case "set":
                let value = values.element(property, model)
                if property.type == "object", value.isNull { continue }
                list.add("add", path + "/-", model.json(value))
                model.set(id, property.name, .list(model.unique((model.value(id, property.name).list ?? []) + [value])))
            default: patchDictionary(property, id, path, &list)
            }
        }
        return list
    }

    private func patchSingle(_ property: WorkloadSchema.Property, _ id: Int, _ path: String, _ list: inout PatchList) {
        let old = model.value(id, property.name)
        if property.isOptional, values.chance(5) {
            list.add("remove", path)
            return model.set(id, property.name, .null)
        }
        if property.type == "mixed", property.index == nil, values.chance(2), patchNested(property, id, path, &list) { return }
        if model.schema.isEmbedded(property), var entries = old.entries,
            let target = property.target.flatMap({ model.schema[$0] }),
            let inner = target.properties.randomElement(using: &values.random)
        {
            let value = values.value(inner, model, depth: 1)
            list.add("replace", path + "/" + HTTPWorkload.escaped(inner.member), model.json(value))
            entries[inner.member] = model.stored(value, inner)
            return model.set(id, property.name, .entries(entries))
        }
        if values.chance(4), case .plain = old, property.type != "mixed" { list.add("test", path, model.json(old)) }
        let value = values.value(property, model)
        list.add(values.pick(["add", "replace"]), path, values.spelled(value, property, model))
        model.set(id, property.name, model.stored(value, property))
    }

    private func patchList(_ property: WorkloadSchema.Property, _ id: Int, _ path: String, _ list: inout PatchList) {
        var elements = model.value(id, property.name).list ?? []
        let isEmbedded = model.schema.isEmbedded(property)
        let value = values.element(property, model)
        let mayInsert = property.type != "object" || !value.isNull
        let index = elements.isEmpty ? 0 : values.number(0..<elements.count)
        switch values.number(0..<7) {
        case 0 where !elements.isEmpty:
            list.add("remove", "\(path)/\(index)")
            elements.remove(at: index)
        case 1 where !elements.isEmpty && mayInsert:
            list.add("replace", "\(path)/\(index)", model.json(value))
            elements[index] = isEmbedded ? model.embedded(value, property) : value
        case 2 where !elements.isEmpty && !isEmbedded:
            list.add("copy", "\(path)/-", from: "\(path)/\(index)")
            elements.append(elements[index])
        case 3 where elements.count > 1 && !isEmbedded:
            let to = values.number(0..<elements.count)
            list.add("move", "\(path)/\(to)", from: "\(path)/\(index)")
            elements.insert(elements.remove(at: index), at: to)
        case 4 where !elements.isEmpty && property.type != "mixed" && property.type != "object":
            list.add("test", "\(path)/\(index)", model.json(elements[index]))
        default:
            guard mayInsert else { return }
            let isLast = values.chance(2)
            list.add("add", isLast ? "\(path)/-" : "\(path)/\(index)", model.json(value))
            elements.insert(isEmbedded ? model.embedded(value, property) : value, at: isLast ? elements.count : index)
        }
        model.set(id, property.name, .list(elements))
    }

    private func patchDictionary(_ property: WorkloadSchema.Property, _ id: Int, _ path: String, _ list: inout PatchList) {
        var entries = model.value(id, property.name).entries ?? [:]
        if let name = entries.keys.sorted().randomElement(using: &values.random), values.chance(3) {
            list.add("remove", "\(path)/\(HTTPWorkload.escaped(name))")
            entries[name] = nil
        } else {
            let (name, value) = (values.entryName(), values.element(property, model))
            list.add("add", "\(path)/\(HTTPWorkload.escaped(name))", model.json(value))
            entries[name] = model.schema.isEmbedded(property) ? model.embedded(value, property) : value
        }
        model.set(id, property.name, .entries(entries))
    }

    /// Changes a collection somewhere inside a Mixed value; false when there is none.
    private func patchNested(_ property: WorkloadSchema.Property, _ id: Int, _ path: String, _ list: inout PatchList) -> Bool {
        var value = model.value(id, property.name)
        guard let place = nestedPlace(value), let found = value[path: place[...]] else { return false }
        let inner =
            path
            + place.map { step in
                switch step {
                case .index(let index): "/\(index)"
                case .name(let name): "/" + HTTPWorkload.escaped(name)
                }
            }.joined()
        let new = values.mixed(model, depth: place.count + 1)
        switch found {
        case .list(let elements):
            if !elements.isEmpty, values.chance(3) {
                list.add("remove", inner + "/\(elements.count - 1)")
                value.change(at: place[...]) { $0 = .list(elements.dropLast()) }
            } else {
                list.add("add", inner + "/0", model.json(new))
                value.change(at: place[...]) { $0 = .list([new] + elements) }
            }
        case .entries(var entries):
            let name = "n\(values.number(0..<6))"
            list.add("add", inner + "/" + name, model.json(new))
            entries[name] = new
            value.change(at: place[...]) { [entries] in $0 = .entries(entries) }
        default: return false
        }
        model.set(id, property.name, value)
        return true
    }

    /// The way to a collection inside a Mixed value; the empty one to the value itself.
    func nestedPlace(_ value: WorkloadValue) -> [WorkloadValue.Step]? {
        var place: [WorkloadValue.Step] = []
        var current = value
        while true {
            var steps: [(WorkloadValue.Step, WorkloadValue)] = []
            switch current {
            case .list(let elements): steps = elements.enumerated().map { (.index($0.offset), $0.element) }
            case .entries(let entries): steps = entries.sorted { $0.key < $1.key }.map { (.name($0.key), $0.value) }
            default: return nil
            }
            let inner = steps.filter { $0.1.list != nil || $0.1.entries != nil }
            guard place.count < 3, !inner.isEmpty, values.chance(2) else { return place }
            let (step, next) = values.pick(inner)
            place.append(step)
            current = next
        }
    }
}

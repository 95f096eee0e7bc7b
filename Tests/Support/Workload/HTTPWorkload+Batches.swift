// SPDX-License-Identifier: Apache-2.0

/// Batches with every kind of operation. The model goes along; if the batch is refused, it goes back.
extension HTTPWorkload {
    /// One operation, and what its result has to say.
    private struct Operation {
        var json: ParsedJSON
        var expected: [(String, ParsedJSON)] = []
        /// An object whose key the result tells.
        var made: Int?
    }

    func batch() throws {
        let before = model
        var operations: [Operation] = []
        for _ in 0..<values.number(1..<13) {
            if let operation = batchOperation() { operations.append(operation) }
        }
        guard !operations.isEmpty else { return }
        let fails = values.chance(12)
        if fails {
            model = before
            operations.append(
                Operation(
                    json: .wrapper(
                        "assert",
                        .object([
                            ("class", .string(model.schema.tops[0].name)), ("where", .string("FALSEPREDICATE")),
                        ]))))
        }
        let body = ParsedJSON.wrapper("ops", .array(operations.map(\.json)))
        var request = Request("POST", realm + "/batch", body.serialized, fails ? 409 : 200)
        request.count = operations.count
        let after = model
        model = before
        let reply = try perform(request)
        guard !fails else { return }
        model = after
        let results = reply.json["results"]?.elements ?? []
        guard results.count == operations.count else { throw fail("\(results.count) results: \(reply.text.prefix(500))") }
        for (operation, result) in zip(operations, results) { try check(operation, result) }
    }

    private func check(_ operation: Operation, _ result: ParsedJSON) throws {
        for (name, value) in operation.expected where result[name] != value {
            throw fail("the result of \(operation.json.serialized.prefix(500)) is \(result), not \(name) \(value)")
        }
        guard let id = operation.made, let key = result["key"]?.text else { return }
        if model[id]?.key == nil { model.name(id, key) }
        guard model[id] == nil || model[id]?.key == key else { throw fail("the result tells another key: \(result)") }
    }

    /// How an operation names an object: one made before in the same batch by its reference.
    private func name(_ id: Int) -> ParsedJSON {
        model[id]?.key.map { .string($0) } ?? .wrapper("ref", .string("r\(id)"))
    }

    private func batchOperation() -> Operation? {
        guard let (target, id) = randomObject(), !values.chance(4) else { return createOperation() }
        switch values.number(0..<20) {
        case 0..<3: return patchOperation(target, id)
        case 3: return putOperation(target, id)
        case 4: return deleteOperation(target, id)
        case 5, 6: return incrementOperation(target, id)
        case 7: return assertOperation(target, id)
        case 8: return manyOperation(target)
        default: return elementOperation(target, id)
        }
    }

    // MARK: - Objects

    private func createOperation() -> Operation? {
        let target = values.pick(model.schema.tops)
        let body = newBody(target)
        var list: [(String, ParsedJSON)] = [("class", .string(target.name)), ("body", values.body(body, target, model))]
        if let key = target.keyProperty, let value = body[key.member], let found = model.find(target.name, unique: value) {
            list.append(("upsert", .string(values.pick(["modified", "all"]))))
            assign(found, body, target)
            return Operation(json: .wrapper("create", .object(list)), expected: [("created", .bool(false))], made: found)
        }
        let id = model.add(target.name, key: nil, model.complete(target.name, body))
        list.append(("as", .string("r\(id)")))
        return Operation(json: .wrapper("create", .object(list)), expected: [("created", .bool(true))], made: id)
    }

    private func patchOperation(_ target: WorkloadSchema.Class, _ id: Int) -> Operation? {
        let start: [(String, ParsedJSON)] = [("class", .string(target.name)), ("key", name(id))]
        if values.chance(2) {
            let list = jsonPatch(target, id)
            return Operation(json: .wrapper("patch", .object(start + [("body", list.json)])), made: id)
        }
        let body = mergePatch(target, id)
        let json = values.body(body, target, model)
        model.merge(id, body)
        return Operation(json: .wrapper("patch", .object(start + [("body", json)])), made: id)
    }

    private func putOperation(_ target: WorkloadSchema.Class, _ id: Int) -> Operation? {
        var body = newBody(target)
        if let key = target.keyProperty { body[key.member] = nil }
        let json = values.body(body, target, model)
        let stored = model.complete(target.name, body)
        for property in target.changeable { model.set(id, property.name, stored[property.name] ?? .null) }
        let list = ParsedJSON.object([("class", .string(target.name)), ("key", name(id)), ("body", json)])
        return Operation(json: .wrapper("put", list), expected: [("created", .bool(false))], made: id)
    }

    private func deleteOperation(_ target: WorkloadSchema.Class, _ id: Int) -> Operation? {
        let json = ParsedJSON.object([("class", .string(target.name)), ("key", name(id))])
        model.delete(id)
        return Operation(json: .wrapper("delete", json), made: nil)
    }

    private func assertOperation(_ target: WorkloadSchema.Class, _ id: Int) -> Operation? {
        guard values.chance(2), let (query, argument, ids) = selection(target) else {
            return Operation(json: .wrapper("assert", .object([("class", .string(target.name)), ("key", name(id))])), made: id)
        }
        let json = ParsedJSON.object([
            ("class", .string(target.name)), ("where", .string(query)), ("args", .array([argument])),
            ("count", .integer(Int64(ids.count))),
        ])
        return Operation(json: .wrapper("assert", json), expected: [("matched", .integer(Int64(ids.count)))])
    }

    private func manyOperation(_ target: WorkloadSchema.Class) -> Operation? {
        guard let (query, argument, ids) = selection(target), ids.count < 20 else { return nil }
        var list: [(String, ParsedJSON)] = [
            ("class", .string(target.name)), ("where", .string(query)), ("args", .array([argument])),
            ("maxAffected", .integer(Int64(ids.count))),
        ]
        let expected: [(String, ParsedJSON)] = [("matched", .integer(Int64(ids.count)))]
        guard ids.count < 4, values.chance(3) else {
            let body = someBody(target)
            list.append(("body", values.body(body, target, model)))
            for id in ids { model.merge(id, body) }
            return Operation(json: .wrapper("patchWhere", .object(list)), expected: expected)
        }
        for id in ids { model.delete(id) }
        return Operation(json: .wrapper("deleteWhere", .object(list)), expected: expected)
    }

    // MARK: - Numbers

    private func incrementOperation(_ target: WorkloadSchema.Class, _ id: Int) -> Operation? {
        let numeric = target.changeable.filter {
            $0.collection == nil && ["int", "float", "double", "decimal128"].contains($0.type)
        }
        guard let property = numeric.randomElement(using: &values.random), property.isIdentifier,
            let old = model.value(id, property.name).plain, let (by, new) = incremented(old, property.type)
        else { return nil }
        model.set(id, property.name, .plain(new))
        let json = ParsedJSON.object([
            ("class", .string(target.name)), ("key", name(id)), ("property", .string(property.name)), ("by", by),
        ])
        return Operation(json: .wrapper("increment", json), made: id)
    }

    private func incremented(_ old: ParsedJSON, _ type: String) -> (by: ParsedJSON, new: ParsedJSON)? {
        let step = Int64(values.number(-9..<10))
        switch (type, old) {
        case ("int", .integer(let number)): return (.integer(step), .integer(number &+ step))
        case ("float", .number), ("double", .number):
            return old.double.map { (.integer(step), .real($0 + Double(step))) }
        case ("decimal128", .string(let text)):
            // Numbers with two digits behind the point.
            let parts = text.split(separator: ".")
            guard parts.count == 2, parts[1].utf8.count == 2, let whole = Int64(parts[0]), let cents = Int64(parts[1]), whole != 0
            else {
                return nil
            }
            let sum = whole * 100 + (whole < 0 ? -cents : cents) + step * 100
            let digits = "\(abs(sum) % 100)"
            return (
                .integer(step), .string("\(sum < 0 ? "-" : "")\(abs(sum) / 100).\(digits.utf8.count < 2 ? "0" : "")\(digits)")
            )
        default: return nil
        }
    }

    // MARK: - Elements

    private func elementOperation(_ target: WorkloadSchema.Class, _ id: Int) -> Operation? {
        let candidates = target.changeable.filter {
            $0.collection != nil || ($0.type == "mixed" && $0.index == nil) || model.schema.isEmbedded($0)
        }
        guard let property = candidates.randomElement(using: &values.random), property.isIdentifier else { return nil }
        if property.collection == nil, property.type == "mixed" { return nestedOperation(target, property, id) }
        if property.collection == nil { return innerOperation(target, property, id) }
        let start: [(String, ParsedJSON)] = [
            ("class", .string(target.name)), ("key", name(id)), ("property", .string(property.name)),
        ]
        let (verb, edits, value) = edited(model.value(id, property.name), property)
        model.set(id, property.name, value)
        return operation(verb, start, edits, value, id)
    }

    private func operation(
        _ verb: String, _ start: [(String, ParsedJSON)], _ edits: [ParsedJSON], _ value: WorkloadValue, _ id: Int
    ) -> Operation {
        let count = Int64(value.list?.count ?? value.entries?.count ?? 0)
        return Operation(
            json: .wrapper(verb, .object(start + [("ops", .array(edits))])), expected: [("count", .integer(count))], made: id)
    }

    /// A collection inside an embedded object.
    private func innerOperation(_ target: WorkloadSchema.Class, _ property: WorkloadSchema.Property, _ id: Int) -> Operation? {
        guard
            let inner = property.target.flatMap({ model.schema[$0] })?.properties
                .filter({ $0.collection != nil && $0.isIdentifier }).randomElement(using: &values.random),
            var entries = model.value(id, property.name).entries
        else { return nil }
        let (verb, edits, value) = edited(entries[inner.member] ?? WorkloadModel.empty(inner), inner)
        entries[inner.member] = value
        model.set(id, property.name, .entries(entries))
        let start: [(String, ParsedJSON)] = [
            ("class", .string(target.name)), ("key", name(id)), ("property", .string(property.name + "." + inner.name)),
        ]
        return operation(verb, start, edits, value, id)
    }

    /// A collection inside Mixed.
    private func nestedOperation(_ target: WorkloadSchema.Class, _ property: WorkloadSchema.Property, _ id: Int) -> Operation? {
        var whole = model.value(id, property.name)
        guard let place = nestedPlace(whole), let found = whole[path: place[...]] else { return nil }
        let names = place.compactMap { if case .name(let name) = $0 { name } else { nil } }
        guard names.allSatisfy({ WorkloadSchema.isIdentifier($0) }) else { return nil }
        let any = WorkloadSchema.Property(
            name: property.name, type: "mixed", collection: found.list == nil ? "dictionary" : "list", isOptional: true,
            index: nil, target: nil)
        let (verb, edits, value) = edited(found, any, depth: place.count + 1)
        whole.change(at: place[...]) { $0 = value }
        model.set(id, property.name, whole)
        let path =
            property.name
            + place.map { step in
                switch step {
                case .index(let index): "[\(index)]"
                case .name(let name): "." + name
                }
            }.joined()
        let start: [(String, ParsedJSON)] = [("class", .string(target.name)), ("key", name(id)), ("property", .string(path))]
        return operation(verb, start, edits, value, id)
    }

    /// Edits of a collection, and what they leave.
    private func edited(
        _ value: WorkloadValue, _ property: WorkloadSchema.Property, depth: Int = 0
    ) -> (verb: String, edits: [ParsedJSON], value: WorkloadValue) {
        switch property.collection {
        case "set"?:
            var (elements, edits) = (value.list ?? [], [ParsedJSON]())
            for _ in 0..<values.number(1..<4) { edits.append(editSet(&elements, property)) }
            return ("set", edits, .list(elements))
        case "dictionary"?:
            var (entries, edits) = (value.entries ?? [:], [ParsedJSON]())
            for _ in 0..<values.number(1..<4) { edits.append(editDictionary(&entries, property, depth)) }
            return ("dictionary", edits, .entries(entries))
        default:
            var (elements, edits) = (value.list ?? [], [ParsedJSON]())
            for _ in 0..<values.number(1..<5) {
                if let edit = editList(&elements, property, depth) { edits.append(edit) }
            }
            return ("list", edits, .list(elements))
        }
    }

    private func newElement(_ property: WorkloadSchema.Property, _ depth: Int) -> WorkloadValue {
        property.type == "mixed" ? values.mixed(model, depth: max(depth, 1)) : values.element(property, model, depth: depth)
    }

    private func editList(
        _ elements: inout [WorkloadValue], _ property: WorkloadSchema.Property, _ depth: Int
    ) -> ParsedJSON? {
        let value = newElement(property, depth)
        let stored = model.schema.isEmbedded(property) ? model.embedded(value, property) : value
        let index = elements.isEmpty ? 0 : values.number(0..<elements.count)
        let other = elements.isEmpty ? 0 : values.number(0..<elements.count)
        switch values.number(0..<12) {
        case 0 where !elements.isEmpty:
            elements.remove(at: index)
            return .wrapper("remove", .integer(Int64(index)))
        case 1 where elements.count > 1:
            elements.insert(elements.remove(at: index), at: other)
            return .wrapper("move", .array([.integer(Int64(index)), .integer(Int64(other))]))
        case 2 where elements.count > 1:
            elements.swapAt(index, other)
            return .wrapper("swap", .array([.integer(Int64(index)), .integer(Int64(other))]))
        case 3 where values.chance(3):
            elements = []
            return .wrapper("clear", .bool(true))
        default: break
        }
        if property.type == "object", value.isNull { return nil }
        if !elements.isEmpty, values.chance(3) {
            elements[index] = stored
            return .wrapper("set", .array([.integer(Int64(index)), model.json(value)]))
        }
        if values.chance(2) {
            elements.append(stored)
            return .wrapper("add", model.json(value))
        }
        elements.insert(stored, at: index)
        return .wrapper("insert", .array([.integer(Int64(index)), model.json(value)]))
    }

    private func editSet(_ elements: inout [WorkloadValue], _ property: WorkloadSchema.Property) -> ParsedJSON {
        let given = values.value(property, model).list ?? []
        let texts = ParsedJSON.array(given.map { model.json($0) })
        switch values.number(0..<8) {
        case 0:
            elements = elements.filter { model.contains(given, $0) }
            return .wrapper("intersect", texts)
        case 1:
            elements = elements.filter { !model.contains(given, $0) }
            return .wrapper("minus", texts)
        case 2 where !elements.isEmpty:
            let index = values.number(0..<elements.count)
            return .wrapper("remove", model.json(elements.remove(at: index)))
        case 3 where !given.isEmpty:
            elements = model.unique(elements + [given[0]])
            return .wrapper("insert", model.json(given[0]))
        case 4 where values.chance(3):
            elements = []
            return .wrapper("clear", .bool(true))
        default:
            elements = model.unique(elements + given)
            return .wrapper("union", texts)
        }
    }

    private func editDictionary(
        _ entries: inout [String: WorkloadValue], _ property: WorkloadSchema.Property, _ depth: Int
    ) -> ParsedJSON {
        switch values.number(0..<8) {
        case 0:
            let name = entries.keys.sorted().randomElement(using: &values.random) ?? "k1"
            entries[name] = nil
            return .wrapper("remove", .string(name))
        case 1 where values.chance(3):
            entries = [:]
            return .wrapper("clear", .bool(true))
        default:
            let (name, value) = (values.entryName(), newElement(property, depth))
            entries[name] = model.schema.isEmbedded(property) ? model.embedded(value, property) : value
            return .wrapper("set", .array([.string(name), model.json(value)]))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Objects that are made, changed and removed one by one, or by a query.
extension HTTPWorkload {
    // MARK: - Bodies

    /// Members for a new object, the primary key among them.
    func newBody(_ target: WorkloadSchema.Class) -> [String: WorkloadValue] {
        var body: [String: WorkloadValue] = [:]
        for property in target.changeable {
            if property.isOptional || property.collection != nil, values.chance(3) { continue }
            body[property.member] = values.value(property, model)
        }
        if let key = target.keyProperty { body[key.member] = newKey(key, target) }
        return body
    }

    /// A primary key that no object has, where one is found soon.
    func newKey(_ property: WorkloadSchema.Property, _ target: WorkloadSchema.Class) -> WorkloadValue {
        for _ in 0..<10 {
            let key = randomKey(property)
            if model.find(target.name, unique: key) == nil { return key }
        }
        return randomKey(property)
    }

    private func randomKey(_ property: WorkloadSchema.Property) -> WorkloadValue {
        if property.isOptional, values.chance(20) { return .null }
        switch property.type {
        case "int": return .integer(Int64(values.number(-500..<5000)))
        case "string":
            return .text(values.chance(6) ? values.pick(["", "@x", "a/b", "%41", "@", "é", "."]) : values.text(longest: 40))
        default: return .plain(values.scalar(property))
        }
    }

    /// Members for some properties that change.
    func someBody(_ target: WorkloadSchema.Class) -> [String: WorkloadValue] {
        var body: [String: WorkloadValue] = [:]
        guard !target.changeable.isEmpty else { return body }
        for _ in 0..<values.number(1..<5) {
            let property = values.pick(target.changeable)
            body[property.member] = values.value(property, model)
        }
        return body
    }

    private func checkAnswer(_ id: Int, _ reply: Reply) throws {
        if let difference = model.difference(id, reply.json) { throw fail("the answer shows \(difference)") }
    }

    // MARK: - Making

    func create() throws {
        let target = values.pick(model.schema.tops)
        var body = newBody(target)
        var request = Request("POST", path(target.name), nil, 201)
        let key = target.keyProperty
        if let key, ["objectId", "uuid"].contains(key.type), values.chance(4) { body[key.member] = nil }
        if let key, let value = body[key.member], model.find(target.name, unique: value) != nil { request.expected = [409] }
        request.body = values.body(body, target, model).serialized
        let reply = try perform(request)
        guard reply.status == 201 else { return }
        try add(target, body, reply)
    }

    /// Tracks an object that was made, as the answer names it.
    private func add(_ target: WorkloadSchema.Class, _ body: [String: WorkloadValue], _ reply: Reply) throws {
        guard let name = reply.key else { throw fail("no key in \(reply.text.prefix(300))") }
        var body = body
        if let key = target.keyProperty, body[key.member] == nil, let made = reply.json[key.member] {
            body[key.member] = .plain(made)
        }
        try checkAnswer(model.add(target.name, key: name, model.complete(target.name, body)), reply)
    }

    func upsert(_ target: WorkloadSchema.Class) throws {
        let policy = values.pick(["modified", "all"])
        guard let key = target.keyProperty else {
            let request = Request(
                "POST", path(target.name) + "?upsert=" + policy, values.body(newBody(target), target, model).serialized, 422)
            _ = try perform(request)
            return
        }
        let existing = values.chance(2) ? model.ids(target.name).randomElement(using: &values.random) : nil
        var body = existing == nil ? newBody(target) : someBody(target)
        if let existing { body[key.member] = model.value(existing, key.name) }
        let found = body[key.member].flatMap { model.find(target.name, unique: $0) }
        let text = values.body(body, target, model).serialized
        let reply = try perform(Request("POST", path(target.name) + "?upsert=" + policy, text, found == nil ? 201 : 200))
        guard let found else { return try add(target, body, reply) }
        assign(found, body, target)
        try checkAnswer(found, reply)
    }

    /// Writes the members that are given, each as a whole.
    func assign(_ id: Int, _ body: [String: WorkloadValue], _ target: WorkloadSchema.Class) {
        for property in target.changeable {
            if let value = body[property.member] { model.set(id, property.name, model.stored(value, property)) }
        }
    }

    func createMany(_ target: WorkloadSchema.Class) throws {
        var bodies: [[String: WorkloadValue]] = []
        var keys: Set<String> = []
        for _ in 0..<values.number(2..<9) {
            let body = newBody(target)
            if let key = target.keyProperty, let value = body[key.member] {
                guard model.find(target.name, unique: value) == nil, keys.insert(model.json(value).canonical).inserted else {
                    continue
                }
            }
            bodies.append(body)
        }
        var request = Request("POST", path(target.name), nil, 201)
        let texts = bodies.map { values.body($0, target, model).serialized }
        if values.chance(2) {
            request.body = texts.joined(separator: "\n") + "\n"
            request.type = "application/x-ndjson"
            if bodies.isEmpty { return }
        } else {
            request.body = "[" + texts.joined(separator: ",") + "]"
            if bodies.isEmpty { return }
        }
        request.count = bodies.count
        let reply = try perform(request)
        let names = (reply.json["keys"]?.elements ?? []).compactMap(\.text)
        guard names.count == bodies.count else { throw fail("\(names.count) keys: \(reply.text.prefix(300))") }
        for (name, body) in zip(names, bodies) { model.add(target.name, key: name, model.complete(target.name, body)) }
    }

    // MARK: - Changing

    func put(_ target: WorkloadSchema.Class, _ id: Int) throws {
        var body = newBody(target)
        if let key = target.keyProperty, ["int", "objectId", "uuid"].contains(key.type), values.chance(3),
            let value = body[key.member], let text = value.plain, !value.isNull, model.find(target.name, unique: value) == nil
        {
            let name = text.plainText
            let request = Request(
                "PUT", path(target.name) + "/" + HTTPWorkload.encoded(name), values.body(body, target, model).serialized, 201)
            return try add(target, body, try perform(request))
        }
        if let key = target.keyProperty { body[key.member] = values.chance(2) ? nil : model.value(id, key.name) }
        let reply = try perform(Request("PUT", path(id), values.body(body, target, model).serialized, 200))
        let stored = model.complete(target.name, body)
        for property in target.changeable { model.set(id, property.name, stored[property.name] ?? .null) }
        try checkAnswer(id, reply)
    }

    func patch(_ target: WorkloadSchema.Class, _ id: Int) throws {
        let body = mergePatch(target, id)
        var request = Request("PATCH", path(id), values.body(body, target, model).serialized, 200)
        if values.chance(2) { request.type = "application/merge-patch+json" }
        if values.chance(15) { return try patchOnCondition(request, target, id, body) }
        if values.chance(10) {
            request.headers = [("Prefer", "return=minimal")]
            request.expected = [204, 200]
        }
        let reply = try perform(request)
        model.merge(id, body)
        if reply.status == 200 { try checkAnswer(id, reply) }
    }

    private func patchOnCondition(
        _ request: Request, _ target: WorkloadSchema.Class, _ id: Int, _ body: [String: WorkloadValue]
    ) throws {
        let tag = try send(Request("GET", path(id), nil, 200))["ETag"] ?? ""
        var request = request
        request.headers = [("If-Match", tag)]
        let reply = try perform(request)
        model.merge(id, body)
        try checkAnswer(id, reply)
        let newTag = try send(Request("GET", path(id), nil, 200))["ETag"] ?? ""
        guard newTag != tag, transaction == nil else { return }
        request.expected = [412]
        let refused = try perform(request)
        if refused.status == 412, refused.code != "precondition_failed" { throw fail("not refused: \(refused.text.prefix(300))") }
    }

    /// Changes of some properties; of dictionaries and embedded objects only of some entries.
    func mergePatch(_ target: WorkloadSchema.Class, _ id: Int) -> [String: WorkloadValue] {
        var body: [String: WorkloadValue] = [:]
        for (member, value) in someBody(target).sorted(by: { $0.key < $1.key }) {
            guard let property = target.properties.first(where: { $0.member == member }) else { continue }
            body[member] = value
            if property.collection == "dictionary", var entries = value.entries {
                // A null removes.
                for name in (model.value(id, property.name).entries ?? [:]).keys.sorted() where values.chance(3) {
                    entries[name] = .null
                }
                body[member] = .entries(entries)
            } else if property.collection == nil, model.schema.isEmbedded(property), !model.value(id, property.name).isNull,
                let entries = value.entries
            {
                body[member] = .entries(
                    entries.sorted { $0.key < $1.key }.reduce(into: [:]) { some, entry in
                        if values.chance(2) { some[entry.key] = entry.value }
                    })
            }
        }
        return body
    }

    func putProperty(_ target: WorkloadSchema.Class, _ id: Int) throws {
        guard let property = target.changeable.randomElement(using: &values.random) else { return }
        let value = values.value(property, model)
        var request = Request(
            "PUT", path(id) + "/" + HTTPWorkload.encoded(property.name), values.spelled(value, property, model).serialized, 204)
        if property.type == "data", property.collection == nil, let text = value.plain?.text, values.chance(2) {
            // Raw bytes; those of this text, which is ASCII.
            request.body = text
            request.type = "application/octet-stream"
            _ = try perform(request)
            return model.set(id, property.name, .text(Data(text.utf8).base64EncodedString()))
        }
        _ = try perform(request)
        model.set(id, property.name, model.stored(value, property))
    }

    func delete(_ id: Int) throws {
        _ = try perform(Request("DELETE", path(id), nil, 204))
        model.delete(id)
    }

    // MARK: - Many

    /// A query on an integer property, and the objects that it finds.
    func selection(_ target: WorkloadSchema.Class) -> (query: String, argument: ParsedJSON, ids: [Int])? {
        let candidates = target.properties.filter { $0.type == "int" && $0.collection == nil && $0.isIdentifier }
        guard let property = candidates.randomElement(using: &values.random),
            let sample = model.ids(target.name).randomElement(using: &values.random)
        else { return nil }
        let argument = model.value(sample, property.name).plain ?? .null
        let isGreater = values.chance(3) && argument != .null
        let ids = model.ids(target.name).filter { id in
            guard case .plain(let json) = model.value(id, property.name) else { return false }
            guard isGreater, let number = json.integer, let bound = argument.integer else {
                return !isGreater && json == argument
            }
            return number > bound
        }
        return ("\(property.name) \(isGreater ? ">" : "==") $0", argument, ids)
    }

    func changeMany(_ target: WorkloadSchema.Class, deletes: Bool) throws {
        guard let (query, argument, ids) = selection(target), !deletes || ids.count < 20 else { return }
        let tooMany = !ids.isEmpty && values.chance(6)
        let bound = tooMany ? ids.count - 1 : ids.count + values.number(0..<2)
        let filter =
            "?where=\(HTTPWorkload.encoded(query))&args=\(HTTPWorkload.encoded("[\(argument)]"))&maxAffected=\(max(bound, 0))"
        var request = Request(deletes ? "DELETE" : "PATCH", path(target.name) + filter, nil, tooMany ? 409 : 200)
        let body = someBody(target)
        if !deletes { request.body = values.body(body, target, model).serialized }
        let reply = try perform(request)
        guard reply.status == 200 else { return }
        guard reply.json["matched"]?.integer == Int64(ids.count) else { throw fail("matched \(reply.text), not \(ids.count)") }
        for id in ids { deletes ? model.delete(id) : model.merge(id, body) }
    }

    func deleteEverything() throws {
        let count = model.count
        let reply = try perform(Request("DELETE", realm + "/objects?confirm=all", nil, 200))
        guard reply.json["matched"]?.integer == Int64(count) else { throw fail("matched \(reply.text), not \(count)") }
        for target in model.schema.classes { for id in model.ids(target.name) { model.delete(id) } }
    }
}

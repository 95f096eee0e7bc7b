// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Interactive transactions, requests that are refused, and reads in between.
extension HTTPWorkload {
    // MARK: - Transactions

    func transact() throws {
        let before = model
        var request = Request("POST", realm + "/transactions", #"{"wait":"5s"}"#, 201)
        let expires = values.chance(60)
        if expires { request.body = #"{"wait":"5s","idle":"1s"}"# }
        let begun = try send(request)
        guard begun.status == 201, let id = begun.json["id"]?.text else { throw fail("no transaction: \(begun.text)") }
        transaction = id
        defer { transaction = nil }
        for _ in 0..<values.number(1..<6) { values.chance(6) ? try look() : try write() }
        let path = realm + "/transactions/" + id
        switch values.number(0..<6) {
        case 0:
            guard try send(Request("DELETE", path), joins: false).status == 204 else { throw fail("no rollback") }
            model = before
        case 1 where !model.schema.tops.isEmpty:
            // A class that there is not leaves the transaction as it was.
            let unknown = Request("POST", realm + "/batch", #"{"ops":[{"assert":{"class":"NoSuchClass","key":"1"}}]}"#)
            guard try send(unknown).code == "class_not_found",
                try send(Request("GET", path), joins: false).json["state"]?.text == "open"
            else { throw fail("no transaction after an unknown class") }
            // What fails takes the whole transaction along.
            let missing = Request("PATCH", self.path(values.pick(model.schema.tops).name) + "/@k77777777", "{}", 404)
            guard try send(missing).code == "object_not_found" else { throw fail("an object that there is not was found") }
            let late = try send(Request("POST", path + "/commit"), joins: false)
            guard late.status == 409, late.code == "transaction_aborted" else {
                throw fail("committed after a failure: \(late.text)")
            }
            model = before
        default:
            if expires {
                try waitForEnd(path)
                model = before
                return
            }
            let committed = try send(Request("POST", path + "/commit"), joins: false)
            guard committed.status == 200 else { throw fail("no commit: \(committed.text)") }
        }
    }

    private func waitForEnd(_ path: String) throws {
        for _ in 0..<600 {
            if try send(Request("GET", path), joins: false).json["state"]?.text == "expired" { return }
            usleep(100_000)
        }
        throw fail("a lease does not end")
    }

    // MARK: - Refusals

    /// A request that has to be refused and to leave everything as it is.
    func refuse() throws {
        guard let (target, id) = randomObject() else { return try create() }
        let before = try send(Request("GET", realm))["Realm-Version"]
        let request = refusal(target, id)
        _ = try perform(request)
        guard try send(Request("GET", realm))["Realm-Version"] == before else { throw fail("a refused write made a version") }
        let shown = try send(Request("GET", path(id)))
        if let difference = model.difference(id, shown.json) { throw fail("after a refusal \(difference)") }
    }

    private func refusal(_ target: WorkloadSchema.Class, _ id: Int) -> Request {
        let className = target.name
        let patch = path(id)
        switch values.number(0..<16) {
        case 0: return Request("PATCH", patch, #"{"no such property":1}"#, 422)
        case 1: return Request("POST", path("NoSuchClass"), "{}", 404)
        case 2: return Request("PATCH", path(className) + "/@k77777777", "{}", 404)
        case 3: return Request("PATCH", patch, "{", 400)
        case 4: return Request("DELETE", path(className), nil, 400)
        case 5: return Request("PATCH", patch + "?colour=red", "{}", 400)
        case 6:
            var request = Request("PATCH", patch, "{}", 415)
            request.type = "text/plain"
            return request
        case 7: return Request("POST", realm + "/batch", #"{"ops":[{"erase":{}}]}"#, 400)
        case 8:
            return Request("POST", realm + "/migrations", #"{"fromVersion":7777,"toVersion":7778,"steps":[]}"#, 409)
        case 9:
            return Request(
                "POST", realm + "/migrations",
                #"{"fromVersion":\#(model.schema.version),"toVersion":\#(model.schema.version + 1),"steps":[{"removeProperty":{"class":\#(ParsedJSON.quoted(className)),"name":"no such property"}}]}"#,
                422)
        case 10:
            let half = "{\"$meta\":{\"class\":\"NoSuchClass\"}}\n"
            var request = Request("POST", realm + "/import", half, 404)
            request.type = "application/x-ndjson"
            return request
        case 11:
            guard let embedded = model.schema.classes.first(where: \.isEmbedded) else { break }
            return Request("POST", path(embedded.name), "{}", 405)
        case 12:
            guard let list = target.properties.first(where: { $0.collection == "list" }) else { break }
            let pointer = "/" + HTTPWorkload.escaped(list.member) + "/99999"
            var request = Request("PATCH", patch, #"[{"op":"remove","path":\#(ParsedJSON.quoted(pointer))}]"#, 422)
            request.type = "application/json-patch+json"
            return request
        default: break
        }
        return refusedValue(target, id)
    }

    /// A value that its property cannot have.
    private func refusedValue(_ target: WorkloadSchema.Class, _ id: Int) -> Request {
        guard let property = target.properties.randomElement(using: &values.random) else {
            return Request("PATCH", path(id), "[1", 400)
        }
        let name = ParsedJSON.quoted(property.member)
        var wrong: String
        switch (property.collection, property.type) {
        case ("dictionary"?, _): wrong = #"{"$bad":1}"#
        case (.some, _): wrong = "3"
        case (nil, "mixed"): wrong = #"{"$link":{"class":"NoSuchClass","key":"1"}}"#
        case (nil, "object"): wrong = "[1]"
        default: wrong = property.isOptional || values.chance(2) ? "[]" : "null"
        }
        if property.name == target.primaryKey { wrong = "[]" }
        return Request("PATCH", path(id), "{\(name):\(wrong)}", 422)
    }

    // MARK: - Reads

    /// Reads one thing in one of several ways.
    func look() throws {
        guard let (target, id) = randomObject() else { return }
        switch values.number(0..<4) {
        case 0:
            let reply = try send(Request("GET", path(id)))
            if let difference = model.difference(id, reply.json) { throw fail(difference) }
        case 1:
            let reply = try send(Request("GET", path(target.name) + "?limit=0&count=exact"))
            guard reply.json["count"]?.integer == Int64(model.ids(target.name).count) else {
                throw fail("\(reply.text) instead of \(model.ids(target.name).count) objects of \(target.name)")
            }
        case 2: try lookAtProperty(target, id)
        default: try lookAtBacklinks(target, id)
        }
    }

    private func lookAtProperty(_ target: WorkloadSchema.Class, _ id: Int) throws {
        guard let property = target.properties.randomElement(using: &values.random), property.collection == nil,
            !model.schema.isEmbedded(property)
        else { return }
        let reply = try send(Request("GET", path(id) + "/" + HTTPWorkload.encoded(property.name)))
        let expected = model.json(model.value(id, property.name)).canonical
        guard reply.json["value"]?.canonical == expected else {
            throw fail("\(reply.text.prefix(500)) instead of \(expected.prefix(500))")
        }
    }

    private func lookAtBacklinks(_ target: WorkloadSchema.Class, _ id: Int) throws {
        let origins = model.schema.tops.flatMap { origin in
            origin.properties.filter { $0.type == "object" && $0.target == target.name }.map { (origin, $0) }
        }
        guard let (origin, property) = origins.randomElement(using: &values.random), model.ids(origin.name).count < 900 else {
            return
        }
        let links = path(id) + "/@links/" + HTTPWorkload.encoded(origin.name) + "/" + HTTPWorkload.encoded(property.name)
        let reply = try send(Request("GET", links + "?limit=1000&fields=" + HTTPWorkload.encoded(origin.properties[0].name)))
        guard property.isIdentifier, origin.properties[0].isIdentifier else { return }
        let found = Set((reply.json["items"]?.elements ?? []).compactMap { $0["$meta"]?["key"]?.text })
        let expected = Set(
            model.ids(origin.name).filter { isLinked(from: $0, property.name, to: id) }.compactMap { model[$0]?.key })
        guard reply.status == 200, found == expected else {
            throw fail("links \(found.sorted()) instead of \(expected.sorted()): \(reply.text.prefix(300))")
        }
    }

    private func isLinked(from origin: Int, _ property: String, to id: Int) -> Bool {
        func isLink(_ value: WorkloadValue) -> Bool { if case .link(id) = value { true } else { false } }
        let value = model.value(origin, property)
        return isLink(value) || value.list?.contains(where: isLink) == true
            || value.entries?.values.contains(where: isLink) == true
    }

    // MARK: - Copies

    /// Exports the realm, imports it into a new one, and compares the two. The copy is removed unless it is `kept`.
    package func copy(kept: Bool = false) throws {
        let name = realm + "-copy"
        let exported = try get("export").text
        let made = try send(Request("POST", "", #"{"name":"\#(name)"}"#))
        guard made.status == 201 else { throw fail("no new realm: \(made.text)") }
        var request = Request("POST", name + "/import", exported, 200)
        request.type = "application/x-ndjson"
        let imported = try send(request)
        guard imported.status == 200 else { throw fail("no import: \(imported.text.prefix(500))") }
        let other = try HTTPWorkload(port: port, realm: name, seed: 0)
        guard HTTPWorkload.isEqual(try readSchema(), other.model.schema) else { throw fail("the copy has another schema") }
        // Classes come in the order of their names, objects in the order that they had.
        let own = WorkloadModel(schema: try readSchema(), objects: HTTPWorkload.ordered(try export()))
        let copy = WorkloadModel(schema: other.model.schema, objects: HTTPWorkload.ordered(try other.export()))
        if let difference = HTTPWorkload.difference(own, copy) { throw fail("the copy differs: \(difference)") }
        if !kept {
            let gone = try send(Request("DELETE", name + "?files=true"))
            guard gone.status == 204 else { throw fail("the copy stays: \(gone.text)") }
        }
    }

    private static func ordered(_ lines: [ParsedJSON]) -> [ParsedJSON] {
        func name(_ line: ParsedJSON) -> String { line["$meta"]?["class"]?.text ?? "" }
        return lines.enumerated().sorted { (name($0.element), $0.offset) < (name($1.element), $1.offset) }.map(\.element)
    }

    /// Compares objects by their order, since those without primary key have new keys in a copy.
    private static func difference(_ first: WorkloadModel, _ second: WorkloadModel) -> String? {
        var (first, second) = (first, second)
        guard first.count == second.count else { return "\(first.count) and \(second.count) objects" }
        for id in 0..<first.count {
            first.name(id, "#\(id)")
            second.name(id, "#\(id)")
        }
        for id in 0..<first.count {
            guard let target = first[id].flatMap({ first.schema[$0.className] }), second[id]?.className == target.name else {
                return "object \(id) is of another class"
            }
            for property in target.properties {
                let one = first.schema.canonical(first.json(first.value(id, property.name)), property)
                let other = second.schema.canonical(second.json(second.value(id, property.name)), property)
                if one != other { return "\(target.name).\(property.name): \(one.prefix(500)) and \(other.prefix(500))" }
            }
        }
        return nil
    }
}

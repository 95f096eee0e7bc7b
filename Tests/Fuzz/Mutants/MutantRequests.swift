// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
import RealmFormats
internal import RealmHTTP
internal import RealmTestSupport

/// The requests that a damaged realm has to answer, one way or the other.
struct MutantRequests {
    struct Request {
        let method: String
        let path: String
        var body: String?
        var accept: String?
    }

    let realm: String
    let outline: SchemaOutline

    private var base: String { "/v1/realms/\(realm)" }

    private func get(_ path: String, accept: String? = nil) -> Request {
        Request(method: "GET", path: base + path, accept: accept)
    }

    private func post(_ path: String, _ body: String, method: String = "POST") -> Request {
        Request(method: method, path: base + path, body: body)
    }

    // MARK: - Reads

    /// About the realm as a whole.
    var general: [Request] {
        [get(""), get("/schema?format=typescript"), get("/openapi.json"), get("/export"), get("/snapshots"), get("/stats")]
    }

    /// About one class and its properties.
    func reads(_ one: SchemaOutline.Class) -> [Request] {
        let name = one.name.escaped
        var requests = [
            get("/objects/\(name)?limit=50"), get("/objects/\(name)?limit=20&meta=none"),
            get("/objects/\(name)?limit=20", accept: "application/ejson+json"),
            get("/objects/\(name)?limit=20", accept: "text/csv"),
            get("/objects/\(name)", accept: "application/x-ndjson"), get("/objects/\(name)?where=@links.@count%20%3E%200"),
            get("/objects/\(name)?limit=3&offset=5&count=exact"), get("/aggregate/\(name)?ops=count"),
            post("/query/\(name)", #"{"where":"TRUEPREDICATE","limit":5}"#),
        ]
        for property in one.properties.prefix(12) { requests += reads(one, property) }
        for key in one.keys.prefix(2) + one.keys.suffix(1) {
            requests.append(get("/objects/\(name)/\(key.escaped)"))
            for property in one.properties where property.collection != nil || property.type == "mixed" {
                let path = "/objects/\(name)/\(key.escaped)/\(property.name.escaped)"
                requests += [get(path + "?limit=20"), get(path + "?limit=3&offset=2"), get(path + "?at=-1")]
            }
        }
        return requests
    }

    private func reads(_ one: SchemaOutline.Class, _ property: SchemaOutline.Property) -> [Request] {
        let name = property.name.escaped
        let list = "/objects/\(one.name.escaped)?limit=9&"
        guard property.collection == nil else {
            var requests = [get(list + "where=\(name).@count%20%3E%201")]
            if property.isNumber { requests.append(get(list + "where=\(name).@max%20%3E%201")) }
            if property.type == "object" { requests.append(get(list + "expand=\(name)")) }
            return requests
        }
        var requests = [get(list + "where=\(name)%20!=%20null"), get(list + "where=\(name)%20==%20null")]
        switch property.type {
        case "object": requests.append(get(list + "expand=\(name)"))
        case "mixed":
            requests += [
                get(list + "where=\(name)%5B*%5D%20==%207"), get(list + "where=\(name).@type%20==%20'string'"),
                get(list + "sort=\(name)"),
            ]
        case "string":
            requests += ["CONTAINS", "BEGINSWITH", "LIKE", "ENDSWITH"].map { get(list + "where=\(name)%20\($0)%20'a'") }
            requests += [
                get(list + "where=\(name)%20==%20'a'"), get(list + "where=\(name)%20TEXT%20'a*'"), get(list + "sort=-\(name)"),
                get(list + "distinct=\(name)"),
            ]
        default:
            requests += [get(list + "sort=-\(name)"), get(list + "distinct=\(name)")]
            if property.isNumber {
                requests += [
                    get(list + "where=\(name)%20%3E%203"), get(list + "where=\(name)%20BETWEEN%20%7B1,9%7D"),
                    get("/aggregate/\(one.name.escaped)?ops=min:\(name),max:\(name),sum:\(name),avg:\(name)"),
                ]
            }
        }
        return requests
    }

    // MARK: - Writes

    /// Changes of one class: of its objects, of their properties, and of the class itself.
    func writes(_ one: SchemaOutline.Class) -> [Request] {
        let objects = "/objects/\(one.name.escaped)"
        var requests: [Request] = []
        if !one.isEmbedded {
            let key =
                one.primaryKey.map { "\(ParsedJSON.quoted($0)):\(sample(one.properties.first { $0.name == one.primaryKey }))" }
                ?? ""
            requests += [post(objects, "{\(key)}"), post(objects, "{\(key.replacing("9001", with: "9002"))}")]
        }
        for key in one.keys.prefix(2) {
            for property in one.properties.prefix(10) { requests += writes(one, key, property) }
        }
        if let last = one.keys.last { requests.append(Request(method: "DELETE", path: base + objects + "/\(last.escaped)")) }
        return requests
    }

    private func sample(_ property: SchemaOutline.Property?) -> String {
        switch property?.type {
        case "int", "float", "double": return "9001"
        case "decimal128": return "\"9001\""
        case "bool": return "true"
        case "date": return "\"2020-01-02T03:04:05Z\""
        case "data": return "\"AAEC\""
        case "objectId": return "\"000000000000000000009001\""
        case "uuid": return "\"00000000-0000-0000-0000-000000009001\""
        case "mixed": return "[1,{\"a\":[\"9001\"]}]"
        case "string": return "\"9001 and a text that is longer than any short cell, and than sixty-four bytes\""
        default: return "null"
        }
    }

    private func writes(_ one: SchemaOutline.Class, _ key: String, _ property: SchemaOutline.Property) -> [Request] {
        let target =
            "\"class\":\(ParsedJSON.quoted(one.name)),\"key\":\(ParsedJSON.quoted(key)),\"property\":\(ParsedJSON.quoted(property.name))"
        let value = sample(property)
        func batch(_ verb: String, _ ops: String) -> Request {
            post("/batch", "{\"ops\":[{\"\(verb)\":{\(target),\"ops\":[\(ops)]}}]}")
        }
        switch property.collection {
        case "list":
            return [
                batch("list", "{\"insert\":[0,\(value)]}"), batch("list", "{\"move\":[0,1]}"),
                batch("list", "{\"move\":[1048575,0]}"),
                batch("list", "{\"swap\":[0,2]}"), batch("list", "{\"set\":[1,\(value)]}"), batch("list", "{\"remove\":0}"),
                batch("list", "{\"add\":\(value)}"), batch("list", "{\"clear\":true}"),
            ]
        case "set":
            return [
                batch("set", "{\"insert\":\(value)}"), batch("set", "{\"remove\":\(value)}"), batch("set", "{\"clear\":true}"),
            ]
        case "dictionary":
            return [
                batch("dictionary", "{\"set\":[\"k\",\(value)]}"), batch("dictionary", "{\"remove\":\"k\"}"),
                batch("dictionary", "{\"clear\":true}"),
            ]
        default:
            guard property.name != one.primaryKey else { return [] }
            let path = "/objects/\(one.name.escaped)/\(key.escaped)"
            return [
                post(path, "{\(ParsedJSON.quoted(property.name)):\(value)}", method: "PATCH"),
                post(path, "{\(ParsedJSON.quoted(property.name)):null}", method: "PATCH"),
            ]
        }
    }

    /// Changes of the schema, each of which goes through all objects.
    func migrations(_ one: SchemaOutline.Class) -> [Request] {
        func step(_ verb: String, _ members: String) -> Request {
            post(
                "/migrations",
                "{\"fromVersion\":\(outline.version),\"toVersion\":\(outline.version),\"allowDataLoss\":true,"
                    + "\"steps\":[{\"\(verb)\":{\"class\":\(ParsedJSON.quoted(one.name)),\(members)}}]}")
        }
        var requests = [step("addProperty", "\"property\":{\"name\":\"fz\",\"type\":\"int\"},\"value\":3")]
        if let link = one.properties.first(where: { $0.type == "object" }) {
            requests.append(step("removeProperty", "\"name\":\(ParsedJSON.quoted(link.name))"))
        }
        if let first = one.properties.first {
            requests.append(step("setIndex", "\"name\":\(ParsedJSON.quoted(first.name)),\"indexed\":true"))
        }
        if let last = one.properties.last(where: { $0.name != one.primaryKey }) {
            requests += [
                step("changeProperty", "\"name\":\(ParsedJSON.quoted(last.name)),\"optional\":true"),
                step("removeProperty", "\"name\":\(ParsedJSON.quoted(last.name))"),
            ]
        }
        return requests
    }

    /// What ends with as little as possible.
    func clearing(_ one: SchemaOutline.Class) -> [Request] {
        [
            post("/objects/\(one.name.escaped)?where=TRUEPREDICATE&confirm=all", "", method: "DELETE"),
            Request(method: "DELETE", path: base + "/objects/\(one.name.escaped)?where=TRUEPREDICATE"),
        ]
    }

    var clearingAll: Request { Request(method: "DELETE", path: base + "/objects?confirm=all") }
}

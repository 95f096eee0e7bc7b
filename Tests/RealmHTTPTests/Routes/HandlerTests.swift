// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmCalls
import RealmFormats
import RealmHTTP
import RealmMutants
import RealmTestSupport
import Testing

/// The interface without a socket: requests are handed to the handler as values.
@Suite struct HandlerTests {
    private let server = LocalServer()

    @Test func `a request value gets status, header fields and body`() {
        let answer = server.request("GET", "/healthz")
        #expect(answer.status == 200)
        #expect(answer.text == "{\"status\":\"ok\"}")
        #expect(answer.header("Content-Type") == "application/json")
        #expect(answer.header("X-Request-Id") != nil)
    }

    @Test func `an object is written, read, and found unchanged`() throws {
        let schema = #"{"classes":[{"name":"Dog","primaryKey":"name","properties":[{"name":"name","type":"string"}]}]}"#
        let made = server.request("POST", "/v1/realms", body: #"{"name":"dogs","inMemory":"dogs","schema":\#(schema)}"#)
        #expect(made.status == 201, "\(made.text)")
        let put = server.request("PUT", "/v1/realms/dogs/objects/Dog/a%2Fb", body: #"{"name":"a/b"}"#)
        #expect(put.status == 201, "\(put.text)")
        #expect(put.header("Location") == "/v1/realms/dogs/objects/Dog/a%2Fb")
        let read = server.request("GET", "/v1/realms/dogs/objects/Dog/a%2Fb")
        #expect(read.status == 200)
        #expect(read.text.contains(#""name":"a/b""#))
        let tag = read.header("ETag") ?? ""
        #expect(server.request("GET", "/v1/realms/dogs/objects/Dog/a%2Fb", headers: [(.ifNoneMatch, tag)]).status == 304)
        let list = server.request("GET", "/v1/realms/dogs/objects/Dog?where=name%20%3D%3D%20%22a%2Fb%22&count=exact")
        #expect(list.status == 200, "\(list.text)")
        #expect(try ParsedJSON(parsing: list.bytes)["count"]?.int == 1, "\(list.text)")
        #expect(server.request("DELETE", "/v1/realms/dogs").status == 204)
    }

    /// A registration whose client had left before it was answered stayed for a minute, and a snapshot for its time to live.
    @Test(arguments: ["subscriptions", "snapshots"])
    func `what only its client would know of ends when the response is not sent`(_ kind: String) throws {
        let schema = #"{"classes":[{"name":"Dog","primaryKey":"name","properties":[{"name":"name","type":"string"}]}]}"#
        let realm = server.request("POST", "/v1/realms", body: #"{"name":"dogs","inMemory":"dogs","schema":\#(schema)}"#)
        #expect(realm.status == 201, "\(realm.text)")
        for isSent in [true, false] {
            let body = kind == "subscriptions" ? #"{"subscriptions":{"a":{"class":"Dog"}}}"# : "{}"
            let made = server.request("POST", "/v1/realms/dogs/\(kind)", body: body, isSent: isSent)
            #expect(made.status == 201, "\(made.text)")
            let id = try ParsedJSON(parsing: made.bytes)["id"]?.text ?? ""
            let found = server.request("GET", "/v1/realms/dogs/\(kind)/\(id)")
            #expect(found.status == (isSent ? 200 : 410), "\(found.text)")
        }
        #expect(server.request("DELETE", "/v1/realms/dogs").status == 204)
    }

    @Test func `the route decides what is allowed`() {
        #expect(server.request("GET", "/v1/nothing").status == 404)
        let refused = server.request("PUT", "/v1/realms")
        #expect(refused.status == 405)
        #expect(refused.header("Allow") == "GET, HEAD, POST, OPTIONS")
        let options = server.request("OPTIONS", "/v1/realms")
        #expect(options.status == 204)
        #expect(options.header("Allow") == "GET, HEAD, POST, OPTIONS")
        #expect(options.header("Accept-Post") == "application/json, application/ejson")
    }

    @Test(arguments: RouteTable.routes.filter { !$0.pattern.segments.isEmpty })
    func `each route is found by its own path`(_ route: Route) throws {
        let path = route.pattern.segments.reduce(into: "") { path, segment in
            switch segment {
            case .word(let word): path += "/" + word
            case .variable(let variable): path += "/" + Self.sample(variable).encoded
            }
        }
        let match = RouteTable.match(RequestTarget(Array((path + "?x=y").utf8)))
        #expect(match.pattern.text == route.pattern.text)
        for variable in route.pattern.variables { #expect(try match[variable] == Self.sample(variable).text) }
        #expect(match.decoded(.id) == nil || route.pattern.variables.contains(.id))
    }

    /// A text for a variable segment, and its percent-encoded form. The names of realms have no slash.
    private static func sample(_ variable: PathVariable) -> (encoded: String, text: String) {
        variable == .realm ? ("a%2D" + variable.name, "a-" + variable.name) : ("a%2F" + variable.name, "a/" + variable.name)
    }

    @Test(arguments: [
        ("/v1/realms/r/objects/C/k/@links", "/v1/realms/{realm}/objects/{class}/{key}/{property}"),
        ("/v1/realms/r/objects/C/@links", "/v1/realms/{realm}/objects/{class}/{key}"),
        ("/v1/realms/schema", "/v1/realms/{realm}"),
        ("/v1/realms/r/objects/C/k/@links/D", "-"), ("/v1/realms/r/", "-"), ("//healthz", "-"), ("/", "/"), ("", "-"),
        ("/docs", "/docs"), ("/docs/", "/docs/"), ("/docs/problems/", "/docs/problems/"), ("/docs/x/", "-"), ("/console/", "-"),
        ("/console/a", "/console/{path}"), ("/console/a/b/c.js", "/console/{path}"), ("/console/a//b", "-"), ("/console/a/", "-"),
        ("/v1", "-"), ("/v1/realms/r/objects/C/k/p/q", "-"), ("*", "*"),
    ])
    func `words come before variables, and a variable takes what words do not`(_ target: String, _ pattern: String) {
        #expect(RouteTable.match(RequestTarget(Array(target.utf8))).pattern.text == pattern)
    }

    /// The names of the query parameters that the API description lists, and a target, for each described operation.
    private static let described: [(method: String, target: String, names: [String], takesBody: Bool)] = {
        let document = OpenAPIDocument.api(version: "1")
        guard case .object(let paths)? = document["paths"] else { return [] }
        let values = [
            "{realm}": "dogs", "{className}": "Dog", "{key}": "a", "{property}": "name", "{originClass}": "Dog",
            "{originProperty}": "friend", "{id}": "none",
        ]
        return paths.flatMap { path -> [(method: String, target: String, names: [String], takesBody: Bool)] in
            guard case .object(let operations) = path.value else { return [] }
            let target = values.reduce(path.name) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
            return operations.filter { !$0.name.hasPrefix("x-") }.map {
                ($0.name.uppercased(), target, queryNames(of: $0.value, in: document), $0.value["requestBody"] != nil)
            }
        }
    }()

    private static func queryNames(of operation: DocumentValue, in document: DocumentValue) -> [String] {
        guard case .array(let parameters)? = operation["parameters"] else { return [] }
        return parameters.compactMap { parameter in
            guard case .string(let reference)? = parameter["$ref"],
                let shared = document["components"]?["parameters"]?[String(reference.split(separator: "/").last ?? "")],
                case .string("query")? = shared["in"], case .string(let name)? = shared["name"]
            else { return nil }
            return name
        }
    }

    @Test func `each operation takes the parameters that its description lists, and no others`() throws {
        let schema = """
            {"classes":[{"name":"Dog","primaryKey":"name","properties":[{"name":"name","type":"string"},
            {"name":"friend","type":"object","objectType":"Dog"}]}]}
            """
        let made = server.request("POST", "/v1/realms", body: #"{"name":"dogs","inMemory":"dogs","schema":\#(schema)}"#)
        try #require(made.status == 201, "\(made.text)")
        #expect(server.request("PUT", "/v1/realms/dogs/objects/Dog/a", body: #"{"name":"a"}"#).status == 201)
        #expect(HandlerTests.described.count > 40)
        for (method, target, names, takesBody) in HandlerTests.described {
            let body = takesBody ? "{}" : nil
            let type =
                target.hasSuffix("/import")
                ? "application/x-ndjson" : target == "/v1/uploads" ? "application/octet-stream" : "application/json"
            let answer = server.request(
                method, target + "?noSuchName=1", body: body, headers: body == nil ? [] : [(.contentType, type)])
            let problem = try ParsedJSON(parsing: Array(answer.text.utf8))
            #expect(problem["code"]?.text == "unknown_parameter", "\(method) \(target): \(answer.text)")
            #expect(problem["known"]?.texts == names.sorted(), "\(method) \(target)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
@testable import RealmAccess
import RealmCalls
import RealmFormats
import RealmHTTP
import Testing

/// What each route takes, said a second time: a new route, or one that takes something else, has to be thought about here.
@Suite struct AccessTableTests {
    static let expected: [String: [String: AccessClass]] = [
        "-": [:], "*": [:],
        "/": ["GET, HEAD": .health],
        "/console/{path}": ["GET, HEAD": .health],
        "/client.js": ["GET, HEAD": .health], "/client.d.ts": ["GET, HEAD": .health],
        "/docs": ["GET, HEAD": .health], "/docs/": ["GET, HEAD": .health], "/docs/{id}": ["GET, HEAD": .health],
        "/docs/problems": ["GET, HEAD": .health], "/docs/problems/": ["GET, HEAD": .health],
        "/docs/problems/{id}": ["GET, HEAD": .health],
        "/healthz": ["GET, HEAD": .health],
        "/readyz": ["GET, HEAD": .health],
        "/metrics": ["GET, HEAD": .administer],
        "/v1/cluster": ["GET, HEAD": .administer],
        "/admin/leases": ["GET, HEAD": .administer],
        "/admin/leases/{id}": ["DELETE": .administer],
        "/admin/keys": ["GET, HEAD, POST": .administer],
        "/admin/keys/{id}": ["DELETE": .administer],
        "/admin/keys/{id}/rotate": ["POST": .administer],
        "/v1/me": ["GET, HEAD": .health],
        "/v1/session": ["POST, DELETE": .health],
        "/admin/log": ["GET, HEAD": .administer],
        "/admin/reload": ["POST": .administer],
        "/admin/config": ["GET, HEAD, PATCH": .administer],
        "/v1/openapi.json": ["GET, HEAD": .read],
        "/v1/version": ["GET, HEAD": .read],
        "/v1/realms": ["GET, HEAD": .read, "POST": .administer],
        "/v1/uploads": ["POST": .administer],
        "/v1/realms/{realm}": ["GET, HEAD": .read, "DELETE": .administer],
        "/v1/realms/{realm}/openapi.json": ["GET, HEAD": .read],
        "/v1/realms/{realm}/schema": ["GET, HEAD": .read],
        "/v1/realms/{realm}/schema/{class}": ["GET, HEAD": .read],
        "/v1/realms/{realm}/stats": ["GET, HEAD": .read],
        "/v1/realms/{realm}/versions": ["GET, HEAD": .read],
        "/v1/realms/{realm}/undo": ["POST": .administer],
        "/v1/realms/{realm}/migrations": ["POST": .administer],
        "/v1/realms/{realm}/objects": ["DELETE": .administer],
        "/v1/realms/{realm}/objects/{class}": ["GET, HEAD, QUERY": .read, "POST, PATCH, DELETE": .write],
        "/v1/realms/{realm}/objects/{class}/{key}": ["GET, HEAD": .read, "PUT, PATCH, DELETE": .write],
        "/v1/realms/{realm}/objects/{class}/{key}/{property}": ["GET, HEAD, QUERY": .read, "PUT": .write],
        "/v1/realms/{realm}/objects/{class}/{key}/{property}/@aggregate": ["GET, HEAD, QUERY, POST": .read],
        "/v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}": ["GET, HEAD, QUERY": .read],
        "/v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}/@aggregate": ["GET, HEAD, QUERY, POST": .read],
        "/v1/realms/{realm}/query/{class}": ["POST": .read],
        "/v1/realms/{realm}/aggregate/{class}": ["GET, HEAD, QUERY, POST": .read],
        "/v1/realms/{realm}/sql": ["GET, HEAD, QUERY, POST": .read],
        "/v1/realms/{realm}/batch": ["POST": .write],
        "/v1/realms/{realm}/batch/{class}": ["POST": .write],
        "/v1/realms/{realm}/transactions": ["POST": .write],
        "/v1/realms/{realm}/transactions/{id}": ["GET, HEAD, DELETE": .write],
        "/v1/realms/{realm}/transactions/{id}/commit": ["POST": .write],
        "/v1/realms/{realm}/snapshots": ["GET, HEAD, POST": .read],
        "/v1/realms/{realm}/snapshots/{id}": ["GET, HEAD, PATCH, DELETE": .read],
        "/v1/realms/{realm}/subscriptions": ["POST": .read],
        "/v1/realms/{realm}/subscriptions/{id}": ["GET, HEAD, DELETE": .read],
        "/v1/realms/{realm}/changes": ["GET": .read],
        "/v1/realms/{realm}/changes/{class}": ["GET": .read],
        "/v1/realms/{realm}/writes/{id}": ["GET, HEAD, DELETE": .write],
        "/v1/realms/{realm}/export": ["GET, HEAD": .read],
        "/v1/realms/{realm}/diff": ["GET, HEAD": .read],
        "/v1/realms/{realm}/backup": ["GET, HEAD, POST": .read],
        "/v1/realms/{realm}/compact": ["POST": .administer],
        "/v1/realms/{realm}/backups": ["GET, HEAD, POST": .administer],
        "/v1/realms/{realm}/backups/{id}": ["GET, HEAD, DELETE": .administer],
        "/v1/realms/{realm}/key": ["PUT": .administer],
        "/v1/realms/{realm}/restore": ["POST": .administer],
        "/v1/realms/{realm}/recovered": ["GET, HEAD, DELETE": .administer],
        "/v1/realms/{realm}/recovered/versions": ["GET, HEAD": .administer],
        "/v1/realms/{realm}/recovered/restore": ["POST": .administer],
        "/v1/realms/{realm}/import": ["POST": .write],
    ]

    @Test(arguments: RouteTable.routes)
    func `every method of every route has a class`(_ route: Route) throws {
        let rules = Dictionary(AccessTableTests.rules(of: route).map { ($0.value.allow, $0.key) }) { one, _ in one }
        #expect(rules == AccessTableTests.expected[route.pattern.label], "\(route.pattern.label)")
        // What changes a realm never passes as reading.
        for method in HTTPMethod.allCases where route.writeMethods.contains(method) {
            #expect(route.access(of: method) >= .write, "\(route.pattern.label) \(method)")
        }
    }

    /// The methods of a route by what they take.
    private static func rules(of route: Route) -> [AccessClass: MethodSet] {
        route.operations.reduce(into: [:]) { $0[$1.access, default: []].formUnion($1.methods) }
    }

    @Test func `what is not named is for administrators`() throws {
        #expect(try #require(RouteTable["/v1/realms"]).access(of: .put) == .administer)
        #expect(try #require(RouteTable["/healthz"]).access(of: .post) == .administer)
        #expect(try #require(RouteTable["/v1/realms/{realm}/changes"]).access(of: .head) == .administer)
        #expect(try #require(RouteTable["/v1/realms/{realm}/objects/{class}"]).access(of: nil) == .administer)
        #expect(try #require(RouteTable["/v1/realms/{realm}/batch"]).access(of: .options) == .write)
        #expect(try #require(RouteTable["/v1/realms"]).access(of: .options) == .read)
        #expect(try #require(RouteTable["-"]).access(of: .delete) == .read)
    }
}

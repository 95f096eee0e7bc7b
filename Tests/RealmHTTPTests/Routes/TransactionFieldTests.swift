// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
import RealmCalls
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// The header field `Realm-Transaction` at every path of the interface.
@Suite struct TransactionFieldTests {
    /// The operations that take part in transactions, by path.
    private static let joining: [String: MethodSet] = [
        "/v1/realms/{realm}/objects/{class}": [.get, .query, .post, .patch, .delete],
        "/v1/realms/{realm}/objects/{class}/{key}": [.get, .put, .patch, .delete],
        "/v1/realms/{realm}/objects/{class}/{key}/{property}": [.get, .query, .put],
        "/v1/realms/{realm}/objects/{class}/{key}/{property}/@aggregate": [.get, .query, .post],
        "/v1/realms/{realm}/objects/{class}/{key}/@links/{originClass}/{originProperty}": [.get, .query],
        "/v1/realms/{realm}/objects/{class}/{key}/@links/{originClass}/{originProperty}/@aggregate": [.get, .query, .post],
        "/v1/realms/{realm}/objects": [.delete],
        "/v1/realms/{realm}/query/{class}": [.post],
        "/v1/realms/{realm}/aggregate/{class}": [.get, .query, .post],
        "/v1/realms/{realm}/sql": [.get, .query, .post],
        "/v1/realms/{realm}/batch": [.post],
        "/v1/realms/{realm}/batch/{class}": [.post],
        "/v1/realms/{realm}/import": [.post],
        "/v1/realms/{realm}/export": [.get],
        "/v1/realms/{realm}/backup": [.get, .post],
        "/v1/realms/{realm}/schema": [.get],
        "/v1/realms/{realm}/schema/{class}": [.get],
        "/v1/realms/{realm}/openapi.json": [.get],
    ]

    /// A path of the route, with names that exist where the order of checks matters.
    private static func path(of route: Route) -> String {
        var path = route.pattern.text
        for (variable, value) in [
            ("{realm}", "app"), ("{class}", "Dog"), ("{key}", "1"), ("{property}", "age"), ("{originClass}", "Person"),
            ("{originProperty}", "dogs"), ("{id}", "other"), ("{path}", "index.html"),
        ] {
            path = path.split(separator: "/", omittingEmptySubsequences: false).map { $0 == variable ? value : String($0) }
                .joined(separator: "/")
        }
        return path
    }

    @Test(arguments: RouteTable.routes)
    func `A25: only what reads and writes inside of transactions takes their header field`(_ route: Route) throws {
        let joined = route.operations.reduce(into: MethodSet()) { if $1.joinsTransactions { $0.formUnion($1.methods) } }
        #expect(joined == TransactionFieldTests.joining[route.pattern.text] ?? [], "\(route.pattern.text)")
        // Reads inside of transactions are made by the writer, which the trait decides.
        for operation in route.operations where !operation.isWrite {
            #expect(operation.joinsTransactions == route.traits.contains(.readsContents), "\(route.pattern.text)")
        }
    }

    @Test func `A25: whatever a transaction does not concern refuses its header field, and the others look it up`() throws {
        try withWriteServer { server in
            let header = [("Realm-Transaction", "t")]
            for route in RouteTable.routes where !route.operations.isEmpty {
                let path = TransactionFieldTests.path(of: route)
                #expect(!path.contains("{"), "\(path)")
                for operation in route.operations {
                    for method in HTTPMethod.allCases where operation.methods.contains(method) {
                        let answer = try HTTPClient.request(
                            port: server.port, method.rawValue, path, headers: header, body: nil)
                        let isBegin = route.pattern.text == "/v1/realms/{realm}/transactions"
                        if operation.joinsTransactions {
                            #expect(answer.status >= 400 && answer.code != "conflicting_parameters", "\(method) \(path)")
                        } else if method == .head {
                            #expect(answer.status == 400, "\(method) \(path)")
                        } else {
                            let code = isBegin ? "transaction_busy" : "conflicting_parameters"
                            #expect(answer.code == code, "\(method) \(path): \(answer.text)")
                            #expect(isBegin || answer.json["header"]?.text == "Realm-Transaction", "\(method) \(path)")
                        }
                    }
                }
            }
            // Nothing was done by any of them.
            #expect(try server.get("app/objects/Dog/1?meta=none&fields=age").json["age"]?.int == 3)
            #expect(try server.get("app/backups").json["items"]?.elements?.isEmpty == true)
        }
    }

    @Test func `A25: a request about a transaction may name it twice`() throws {
        try withWriteServer { server in
            let id = try #require(try server.done("POST", "app/transactions").json["id"]?.text)
            let header = [("Realm-Transaction", id)]
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":8}"#, header)
            #expect(try server.get("app/transactions/\(id)", header).json["state"]?.text == "open")
            #expect(try server.get("app/schema", header).status == 200)
            #expect(try server.send("POST", "app/transactions/\(id)/commit", nil, header).status == 200)
            #expect(try server.get("app/objects/Dog/1?meta=none&fields=age").json["age"]?.int == 8)
        }
    }
}

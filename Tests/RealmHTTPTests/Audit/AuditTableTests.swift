// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
@testable import RealmAccess
import RealmCalls
import RealmFormats
import RealmHTTP
import Testing

/// Which operations leave lines in the audit log, said a second time: a new one has to be thought about here.
@Suite struct AuditTableTests {
    /// Methods that change something, or give it out as a whole, by path; everything else leaves no line unless it is refused.
    private static let expected: [String: [String: AuditKind]] = [
        "/v1/realms": ["POST": .administration],
        "/v1/uploads": ["POST": .administration],
        "/v1/realms/{realm}": ["DELETE": .administration],
        "/v1/realms/{realm}/key": ["PUT": .administration],
        "/v1/realms/{realm}/migrations": ["POST": .administration],
        "/v1/realms/{realm}/compact": ["POST": .administration],
        "/v1/realms/{realm}/undo": ["POST": .administration],
        "/v1/realms/{realm}/objects": ["DELETE": .administration],
        "/v1/realms/{realm}/objects/{class}": ["POST": .write, "PATCH": .write, "DELETE": .write],
        "/v1/realms/{realm}/objects/{class}/{key}": ["PUT": .write, "PATCH": .write, "DELETE": .write],
        "/v1/realms/{realm}/objects/{class}/{key}/{property}": ["PUT": .write],
        "/v1/realms/{realm}/batch": ["POST": .write],
        "/v1/realms/{realm}/batch/{class}": ["POST": .write],
        "/v1/realms/{realm}/import": ["POST": .write],
        "/v1/realms/{realm}/transactions": ["POST": .write],
        "/v1/realms/{realm}/transactions/{id}": ["DELETE": .write],
        "/v1/realms/{realm}/transactions/{id}/commit": ["POST": .write],
        "/v1/realms/{realm}/writes/{id}": ["DELETE": .write],
        "/v1/realms/{realm}/export": ["GET": .export, "HEAD": .export],
        "/v1/realms/{realm}/diff": ["GET": .export, "HEAD": .export],
        "/v1/realms/{realm}/backup": ["GET": .backup, "HEAD": .backup, "POST": .backup],
        "/v1/realms/{realm}/backups": ["POST": .backup],
        "/v1/realms/{realm}/backups/{id}": ["GET": .backup, "HEAD": .backup, "DELETE": .backup],
        "/v1/realms/{realm}/restore": ["POST": .backup],
        "/v1/realms/{realm}/recovered": ["GET": .export, "HEAD": .export, "DELETE": .administration],
        "/v1/realms/{realm}/recovered/versions": ["GET": .export, "HEAD": .export],
        "/v1/realms/{realm}/recovered/restore": ["POST": .administration],
        "/v1/session": ["POST": .session, "DELETE": .session],
        "/admin/keys": ["POST": .administration],
        "/admin/keys/{id}": ["DELETE": .administration],
        "/admin/keys/{id}/rotate": ["POST": .administration],
        "/admin/leases/{id}": ["DELETE": .administration],
        "/admin/reload": ["POST": .administration],
        "/admin/config": ["PATCH": .administration],
    ]
    /// What is carried out even if no line can be written: it gives something up, or may mend that.
    private static let unrecorded = [
        "/v1/realms/{realm}/transactions/{id} DELETE", "/v1/realms/{realm}/writes/{id} DELETE", "/v1/session POST",
        "/v1/session DELETE", "/admin/keys/{id} DELETE", "/admin/leases/{id} DELETE", "/admin/reload POST",
    ]

    @Test(arguments: RouteTable.routes)
    func `what is recorded follows from the route`(_ route: Route) throws {
        let label = route.pattern.label
        for method in HTTPMethod.allCases {
            let operation = route.operation(of: method)
            let kind = operation?.auditKind(of: method)
            #expect(kind == AuditTableTests.expected[label]?[method.rawValue], "\(label) \(method.rawValue)")
            guard kind != nil else { continue }
            let isFree = AuditTableTests.unrecorded.contains("\(label) \(method.rawValue)")
            #expect(operation?.mayGoUnrecorded == isFree, "\(label) \(method.rawValue)")
        }
    }

    @Test func `the table has no other paths`() {
        let labels = Set(RouteTable.routes.map(\.pattern.label))
        #expect(Set(AuditTableTests.expected.keys).subtracting(labels) == [])
    }
}

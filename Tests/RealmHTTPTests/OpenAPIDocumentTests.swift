// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmHTTP
import RealmStorage
import RealmTestSupport
import Testing

@Suite("OpenAPI documents")
struct OpenAPIDocumentTests {
    @Test func `the file in the repository is what the program prints`() throws {
        let file = Fixtures.packageRoot.appendingPathComponent("openapi/openapi.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text == OpenAPIDocument.api(version: Build.version).yaml, "run: realm-rest openapi > openapi/openapi.yaml")
    }

    @Test(arguments: [nil] + Fixtures.names.filter { !Fixtures.isEncrypted($0) })
    func `operation ids are unique and every reference leads somewhere`(_ fixture: String?) throws {
        let document: DocumentValue
        if let fixture {
            let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(fixture)))
            document = OpenAPIRealm(realm: fixture, snapshot: snapshot).document(version: "1")
        } else {
            document = OpenAPIDocument.api(version: "1")
        }
        var references: Set<String> = []
        var operations: [String] = []
        collect(document, &references, &operations)
        #expect(Set(operations).count == operations.count)
        for reference in references {
            var target: DocumentValue? = document
            for step in reference.dropFirst(2).split(separator: "/") { target = target?[String(step)] }
            #expect(target != nil, "\(reference)")
        }
    }

    private func collect(_ value: DocumentValue, _ references: inout Set<String>, _ operations: inout [String]) {
        switch value {
        case .array(let elements): for element in elements { collect(element, &references, &operations) }
        case .object(let members):
            for member in members {
                if member.name == "$ref", case .string(let text) = member.value { references.insert(text) }
                if member.name == "operationId", case .string(let text) = member.value { operations.append(text) }
                collect(member.value, &references, &operations)
            }
        default: break
        }
    }
}

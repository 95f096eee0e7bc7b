// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
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

    /// A description: of the interface, or of a fixture in one profile.
    struct Described: CustomTestStringConvertible, Sendable {
        let fixture: String?
        let profile: OpenAPIDocument.Profile

        var testDescription: String { "\(fixture ?? "interface"), \(profile.rawValue)" }

        func document(_ limits: Limits = Limits()) throws -> DocumentValue {
            guard let fixture else { return OpenAPIDocument.api(version: "1", limits: limits) }
            let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(fixture)))
            return OpenAPIRealm(realm: fixture, snapshot: snapshot, profile: profile, limits: limits).document(version: "1")
        }

        static let all =
            [Described(fixture: nil, profile: .full)]
            + OpenAPIDocument.Profile.allCases.flatMap { profile in
                Fixtures.names.filter { !Fixtures.isEncrypted($0) }.map { Described(fixture: $0, profile: profile) }
            }
    }

    @Test func `the description of a realm names no class of the sample that it does not have`() throws {
        for fixture in ["types-list", "links", "store"] {
            let text = try Described(fixture: fixture, profile: .full).document().json
            #expect(text.contains("\"Product\"") == (fixture == "store"), "\(fixture)")
        }
    }

    @Test(arguments: Described.all)
    func `operation ids are unique, every reference leads somewhere, and every component is used`(_ described: Described) throws {
        let document = try described.document()
        var references: Set<String> = []
        var operations: [String] = []
        collect(document, &references, &operations)
        #expect(Set(operations).count == operations.count)
        for reference in references {
            var target: DocumentValue? = document
            for step in reference.dropFirst(2).split(separator: "/") { target = target?[String(step)] }
            #expect(target != nil, "\(reference)")
        }
        for (kind, parts) in members(document["components"]) {
            let names = members(parts).map(\.0)
            #expect(Set(names).count == names.count, "\(kind)")
            // Those are named by `security`.
            guard kind != "securitySchemes" else { continue }
            for name in names { #expect(references.contains("#/components/\(kind)/\(name)"), "\(kind)/\(name) is not used") }
        }
    }

    @Test(arguments: Described.all)
    func `each operation, parameter, body and answer has a description and an example`(_ described: Described) throws {
        let document = try described.document()
        for (path, item) in members(document["paths"]) {
            for (method, operation) in members(item) {
                let place = "\(method) \(path)"
                #expect(text(operation["summary"]) != nil && text(operation["description"]) != nil, "\(place)")
                #expect(method == "x-query" || text(operation["summary"]) != text(operation["description"]), "\(place)")
                if let body = operation["requestBody"] {
                    #expect(text(body["description"]) != nil, "\(place)")
                    for (type, media) in members(body["content"]) { #expect(hasExample(media), "\(place) \(type)") }
                }
                for (status, answer) in members(operation["responses"]) where answer["$ref"] == nil {
                    #expect(text(answer["description"]) != nil, "\(place) \(status)")
                    for (type, media) in members(answer["content"]) { #expect(hasExample(media), "\(place) \(status) \(type)") }
                }
            }
        }
        for (kind, parts) in members(document["components"]) {
            for (name, part) in members(parts) { #expect(text(part["description"]) != nil, "\(kind)/\(name)") }
            // OpenAPI has no place for an example of a credential.
            guard !["responses", "examples", "securitySchemes"].contains(kind) else { continue }
            for (name, part) in members(parts) { #expect(part["example"] != nil, "\(kind)/\(name)") }
        }
    }

    @Test(arguments: Described.all)
    func `an object has a name of its own, and a type is one word`(_ described: Described) throws {
        let document = try described.document()
        for (_, path) in members(document["paths"]) { walk(path, isNamed: false) }
        for (kind, parts) in members(document["components"]) where kind != "examples" {
            for (_, part) in members(parts) { walk(part, isNamed: kind == "schemas") }
        }
        #expect(document["components"]?["schemas"]?["Object"] == nil)
    }

    /// Expects that no schema inside of another has members, and that a type is no list, which OpenAPI 3.0 does not know.
    private func walk(_ value: DocumentValue, isNamed: Bool) {
        switch value {
        case .array(let elements): for element in elements { walk(element, isNamed: false) }
        case .object(let parts):
            if !isNamed, case .object? = value["properties"], value["type"] != nil {
                Issue.record("anonymous: \(value.json.prefix(200))")
            }
            if value["properties"] == nil, case .array? = value["type"] { Issue.record("\(value.json.prefix(200))") }
            for part in parts where !["example", "examples", "default", "enum", "x-problem-codes"].contains(part.name) {
                // The members of `properties` are names, and not words of a schema.
                if part.name == "properties", case .object(let properties) = part.value {
                    for property in properties { walk(property.value, isNamed: false) }
                } else {
                    walk(part.value, isNamed: false)
                }
            }
        default: break
        }
    }

    @Test func `limits of the configuration are stated where they are checked`() throws {
        var limits = Limits()
        for setting in [
            "page=77", "query-bytes=333", "query-args=44", "query-terms=55", "fields=66", "batch-operations=88",
            "registration-names=9", "snapshot-seconds=99",
        ] { try limits.apply(setting) }
        for described in [Described(fixture: nil, profile: .full), Described(fixture: "links", profile: .full)] {
            let components = try described.document(limits)["components"]
            func parameter(_ name: String, _ member: String) -> DocumentValue? {
                components?["parameters"]?[name]?["schema"]?[member]
            }
            func member(_ schema: String, _ name: String, _ word: String) -> DocumentValue? {
                components?["schemas"]?[schema]?["properties"]?[name]?[word]
            }
            #expect(parameter("Limit", "maximum") == 77 && parameter("Where", "maxLength") == 333)
            #expect(member("QueryBody", "limit", "maximum") == 77 && member("QueryBody", "where", "maxLength") == 333)
            #expect(member("QueryBody", "args", "maxItems") == 44 && member("QueryBody", "sort", "maxItems") == 55)
            #expect(member("QueryBody", "fields", "maxItems") == 66 && member("Batch", "ops", "maxItems") == 88)
            #expect(member("SubscriptionsBody", "subscriptions", "maxProperties") == 9)
            #expect(text(member("SnapshotOptions", "ttl", "description"))?.contains("99 seconds") == true)
            #expect(parameter("Wait", "maximum") == 55 && parameter("IfMatch", "pattern") != nil)
            #expect(parameter("Count", "enum") == ["exact", "none"] && parameter("IdempotencyKey", "maxLength") == 128)
        }
    }

    @Test func `classes are typed: what creates and updates return, links, embedded objects and changes`() throws {
        let document = try Described(fixture: "links", profile: .full).document()
        func schema(_ path: String, _ method: String, _ status: String) -> String? {
            let answer = document["paths"]?[path]?[method]?["responses"]?[status]
            return text(answer?["content"]?["application/json"]?["schema"]?["$ref"])
        }
        let path = "/v1/realms/links/objects/Person"
        #expect(schema(path, "post", "201") == "#/components/schemas/Person")
        #expect(schema(path + "/{key}", "patch", "200") == "#/components/schemas/Person")
        #expect(schema(path + "/{key}", "put", "201") == "#/components/schemas/Person")
        #expect(schema(path, "get", "200") == "#/components/schemas/PersonPage")
        #expect(schema("/v1/realms/links/query/Person", "post", "200") == "#/components/schemas/PersonPage")
        #expect(schema("/v1/realms/links/aggregate/Person", "get", "200") == "#/components/schemas/Aggregates")
        #expect(schema("/v1/realms/links/changes/Person", "get", "200") == "#/components/schemas/PersonChanges")
        #expect(schema("/v1/realms/links/batch", "post", "200") == "#/components/schemas/BatchResult")
        #expect(schema("/v1/realms/links/subscriptions", "post", "201") == "#/components/schemas/RegistrationCreated")
        let dogs = document["components"]?["schemas"]?["Person"]?["properties"]?["dogs"]
        #expect(text(dogs?["items"]?["$ref"]) == "#/components/schemas/DogLink")
        #expect(document["components"]?["schemas"]?["PersonCreate"]?["additionalProperties"] == false)
        #expect(document["paths"]?[path]?["x-query"]?["requestBody"] != nil)
    }

    @Test func `batches of a class are typed by what creates and patches of it take, and by its objects`() throws {
        let document = try Described(fixture: "links", profile: .full).document()
        let batch = document["paths"]?["/v1/realms/links/batch/Person"]?["post"]
        func reference(_ value: DocumentValue?) -> String? {
            text(value?["$ref"]).flatMap { $0.split(separator: "/").last.map(String.init) }
        }
        func property(_ schema: String, _ name: String) -> DocumentValue? {
            document["components"]?["schemas"]?[schema]?["properties"]?[name]
        }
        #expect(reference(batch?["requestBody"]?["content"]?["application/json"]?["schema"]) == "PersonBatch")
        #expect(reference(batch?["responses"]?["200"]?["content"]?["application/json"]?["schema"]) == "PersonBatchResult")
        #expect(reference(property("PersonBatch", "ops")?["items"]) == "PersonBatchOperation")
        for (kind, schema, body) in [
            ("create", "PersonBatchCreate", "PersonCreate"), ("put", "PersonBatchPut", "PersonCreate"),
            ("patch", "PersonBatchPatch", "PersonPatch"), ("patchWhere", "PersonBatchPatchWhere", "PersonPatch"),
        ] {
            #expect(reference(property("PersonBatchOperation", kind)) == schema)
            #expect(reference(property(schema, "body")) == body && property(schema, "class") == nil)
        }
        #expect(reference(property("PersonBatchOperation", "delete")) == "ClassBatchDelete")
        #expect(property("ClassBatchDelete", "class") == nil && property("BatchDelete", "class") != nil)
        #expect(reference(property("PersonBatchResult", "results")?["items"]) == "PersonBatchOperationResult")
        #expect(reference(property("PersonBatchOperationResult", "object")) == "Person")
        // The one for classes that the description does not know has no place in it.
        #expect(document["paths"]?["/v1/realms/links/batch/{class}"] == nil)
        #expect(document["components"]?["schemas"]?["ClassBatch"] == nil)
        let whole = OpenAPIDocument.api(version: "1")
        #expect(whole["paths"]?["/v1/realms/{realm}/batch/{className}"]?["post"] != nil)
        #expect(whole["components"]?["schemas"]?["ClassBatchCreate"]?["required"] == ["body"])
    }

    @Test func `the simple description has six operations of a class, and six parameters at most`() throws {
        let document = try Described(fixture: "links", profile: .simple).document()
        let path = "/v1/realms/links/objects/Person"
        let operations = members(document["paths"]?[path]) + members(document["paths"]?[path + "/{key}"])
        let ids = operations.compactMap { text($0.1["operationId"]) }
        #expect(ids == ["listPerson", "createPerson", "getPerson", "replacePerson", "updatePerson", "deletePerson"])
        for (_, operation) in operations {
            guard case .array(let parameters)? = operation["parameters"] else { continue }
            #expect(parameters.count <= 6)
        }
        guard case .array(let required)? = document["components"]?["schemas"]?["Person"]?["required"] else {
            Issue.record("nothing is required")
            return
        }
        #expect(required.contains("$meta") && required.contains("id"))
    }

    @Test(arguments: Described.all)
    func `null is permitted beside a type and in no enumeration of others, and no body is an object or a list by its media type`(
        _ described: Described
    ) throws {
        let document = try described.document()
        var faults: [String] = []
        func walk(_ value: DocumentValue, _ place: String) {
            switch value {
            case .array(let elements): for element in elements { walk(element, place) }
            case .object:
                // An enumeration with null has nothing else: generators make a value of null among others, and fail without it.
                if value["nullable"] == true, value["type"] == nil || value["enum"] != nil && value["enum"] != [.null] {
                    faults.append(place)
                }
                for (name, inner) in members(value) { walk(inner, place + "/" + name) }
            default: break
            }
        }
        walk(document, "")
        if described.fixture != nil {
            for (path, item) in members(document["paths"]) {
                let schemas = members(item["patch"]?["requestBody"]?["content"]).map { $0.1["schema"] }
                if schemas.contains(where: { $0 != schemas[0] }) { faults.append(path) }
            }
        }
        #expect(faults.isEmpty, "\(faults.prefix(5))")
    }

    @Test(arguments: Described.all)
    func `credentials are declared, and none is needed by every server`(_ described: Described) throws {
        let document = try described.document()
        let schemes = members(document["components"]?["securitySchemes"])
        #expect(schemes.map(\.0) == ["bearer", "basic"] && schemes.allSatisfy { $0.1["type"] == "http" })
        #expect(document["security"] == OpenAPIDocument.api(version: "1")["security"] && document["security"] != nil)
    }

    @Test func `names of classes that differ in capitals alone give names that differ otherwise`() throws {
        let server = try KeyServer()
        _ = try server.request("DELETE", "/v1/realms/notes")
        let classes = ["Order", "order", "ORDER", "OrderPage", "orderpage", "Error", "schema", "Problem"].map {
            #"{"name":"\#($0)","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]}"#
        }
        let body = #"{"name":"notes","inMemory":"notes","schema":{"classes":[\#(classes.joined(separator: ","))]}}"#
        try #require(try server.request("POST", "/v1/realms", body: body).status == 201)
        for profile in OpenAPIDocument.Profile.allCases {
            let answer = try server.request("GET", "/v1/realms/notes/openapi.json?profile=\(profile.rawValue)")
            let names = try #require(answer.json["components"]?["schemas"]?.members?.map { $0.name.lowercased() })
            #expect(Set(names).count == names.count, "\(names.sorted())")
            let operations = (answer.json["paths"]?.members ?? []).flatMap { $0.value.members ?? [] }
            let ids = operations.compactMap { $0.value["operationId"]?.text?.lowercased() }
            #expect(ids.count > 20 && Set(ids).count == ids.count)
        }
    }

    private func members(_ value: DocumentValue?) -> [(String, DocumentValue)] {
        guard case .object(let members)? = value else { return [] }
        return members.map { ($0.name, $0.value) }
    }

    private func text(_ value: DocumentValue?) -> String? {
        guard case .string(let text)? = value, !text.isEmpty else { return nil }
        return text
    }

    private func hasExample(_ media: DocumentValue) -> Bool { media["example"] != nil || media["examples"] != nil }

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

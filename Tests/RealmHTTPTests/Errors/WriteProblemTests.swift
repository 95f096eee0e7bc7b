// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Every problem that a write can raise, raised over a socket. The file is the same afterwards, and the server goes on.
@Suite struct WriteProblemTests {
    /// A request that is refused whatever came before it. The path is behind `/v1/realms/`.
    struct Refusal: Sendable {
        let code: ProblemCode
        let method: String
        let path: String
        let body: String?
        let headers: [(String, String)]

        init(_ code: ProblemCode, _ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []) {
            self.code = code
            self.method = method
            self.path = path
            self.body = body
            self.headers = headers
        }
    }

    static let requests: [Refusal] = [
        Refusal(.invalidJSON, "POST", "app/objects/Dog", "{"),
        Refusal(.invalidBody, "POST", "app/batch", "{}"),
        Refusal(.invalidQuery, "DELETE", "app/objects/Dog?where=age%20%3E"),
        Refusal(.unknownParameter, "POST", "app/objects/Dog?upsrt=all", "{}"),
        Refusal(.invalidParameter, "POST", "app/objects/Dog?upsert=some", "{}"),
        Refusal(.conflictingParameters, "PATCH", "app/objects/Dog/1?snapshot=s", #"{"age":1}"#),
        Refusal(.unknownKeyPath, "DELETE", "app/objects/Dog?where=agee%20%3E%201"),
        Refusal(.missingWhere, "DELETE", "app/objects/Dog"),
        Refusal(.crossOrigin, "DELETE", "app/objects/Dog/1", nil, [("Origin", "http://elsewhere.example")]),
        Refusal(.realmNotFound, "DELETE", "none/objects/Dog/1"),
        Refusal(.classNotFound, "POST", "app/objects/Cat", "{}"),
        Refusal(.objectNotFound, "DELETE", "app/objects/Dog/99"),
        Refusal(.notFound, "POST", "app/transactions/none/commit"),
        Refusal(.methodNotAllowed, "POST", "app/objects/Chip", #"{"code":"c"}"#),
        Refusal(.notAcceptable, "POST", "app/objects/Dog", #"{"_id":9,"age":1}"#, [("Accept", "text/csv")]),
        Refusal(.duplicateKey, "POST", "app/objects/Dog", #"{"_id":1,"age":1}"#),
        Refusal(.tooManyAffected, "DELETE", "app/objects/Dog?where=TRUEPREDICATE&maxAffected=1"),
        Refusal(
            .patchTestFailed, "PATCH", "app/objects/Dog/1",
            #"[{"op":"replace","path":"/age","value":9},{"op":"test","path":"/age","value":3}]"#, WriteServer.jsonPatch),
        Refusal(
            .assertionFailed, "POST", "app/batch",
            #"{"ops":[{"delete":{"class":"Dog","key":"2"}},{"assert":{"class":"Dog","key":"2"}}]}"#),
        Refusal(.transactionBusy, "POST", "app/transactions", "{}", [("Realm-Transaction", "t")]),
        Refusal(.schemaVersionConflict, "POST", "app/migrations", #"{"fromVersion":8,"toVersion":9,"steps":[]}"#),
        Refusal(
            .wouldLoseData, "POST", "app/migrations",
            #"{"fromVersion":0,"toVersion":1,"steps":[{"removeClass":{"name":"Value"}}]}"#),
        Refusal(.preconditionFailed, "PATCH", "app/objects/Dog/1", #"{"age":1}"#, [("If-Match", "\"other\"")]),
        Refusal(.bodyTooLarge, "POST", "app/batch", #"{"ops":[{},{},{},{}]}"#),
        Refusal(.uriTooLong, "DELETE", "app/objects/Dog?where=" + String(repeating: "x", count: 2000)),
        Refusal(.unsupportedMediaType, "POST", "app/objects/Dog", "x", [("Content-Type", "text/plain")]),
        Refusal(.hostNotAllowed, "DELETE", "app/objects/Dog/1", nil, [("Host", "elsewhere.example")]),
        Refusal(.unknownProperty, "PATCH", "app/objects/Dog/1", #"{"agee":1}"#),
        Refusal(.missingProperty, "POST", "app/objects/Dog", #"{"_id":9}"#),
        Refusal(.noPrimaryKey, "POST", "app/objects/Note?upsert=all", #"{"text":"t"}"#, [("If-None-Match", "*")]),
        Refusal(
            .pathNotFound, "PATCH", "app/objects/Dog/1",
            #"[{"op":"add","path":"/tags/-","value":"z"},{"op":"remove","path":"/tags/9"}]"#, WriteServer.jsonPatch),
        Refusal(
            .invalidSchema, "POST", "app/migrations",
            #"{"fromVersion":0,"toVersion":1,"steps":[{"addClass":{"name":"Dog","properties":[]}}]}"#),
        Refusal(.typeMismatch, "PATCH", "app/objects/Dog/1", #"{"name":"new","age":"x"}"#),
        Refusal(.outOfRange, "PATCH", "app/objects/Dog/1", #"{"age":9223372036854775808}"#),
        Refusal(.nullNotAllowed, "PATCH", "app/objects/Dog/1", #"{"age":null}"#),
        Refusal(.keyMismatch, "PUT", "app/objects/Dog/1", #"{"_id":2,"age":1}"#),
        Refusal(.primaryKeyImmutable, "PATCH", "app/objects/Dog/1", #"{"_id":2}"#),
        Refusal(.readOnlyProperty, "PATCH", "app/objects/Dog/1", #"{"owners":[]}"#),
        Refusal(.linkTargetMissing, "PATCH", "app/objects/Dog/1", #"{"owner":"bob"}"#),
        Refusal(.nestedObject, "PATCH", "app/objects/Dog/1", #"{"owner":{"id":"bob"}}"#),
        Refusal(.invalidDictionaryKey, "PATCH", "app/objects/Dog/1", #"{"marks":{"a.b":1}}"#),
        Refusal(.decimalNeedsString, "PATCH", "app/objects/Value/1", #"{"decimal":1.50}"#),
        Refusal(.preconditionRequired, "POST", "app/objects/Note", #"{"text":"t"}"#),
        Refusal(.headersTooLarge, "DELETE", "app/objects/Dog/1", nil, (0..<30).map { ("X-\($0)", "x") }),
        Refusal(.notImplemented, "BREW", "app/objects/Dog/1"),
    ]

    @Test func `what a request does wrong by itself has its own code and leaves no trace`() throws {
        let server = try WriteServer { options in
            options.limits.batchOperations = 3
            options.limits.http.targetBytes = 1024
            options.limits.http.headerFields = 20
            options.conditionalClasses = ["app.Note"]
            options.backlinkNames = ["app": BacklinkNames(["Dog": ["owners": "Person.dogs"]])]
        }
        let bytes = try WriteServer.filled(server)
        for refusal in WriteProblemTests.requests {
            let answer = try server.send(refusal.method, refusal.path, refusal.body, refusal.headers)
            WriteProblemTests.check(answer, refusal.code)
            #expect(try server.bytes() == bytes, "after \(refusal.code)")
        }
        try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)
        try server.finish()
    }

    @Test func `a problem repeats a long name of the client in part`() throws {
        let name = String(repeating: "ä", count: 100_000)
        let server = try WriteServer()
        _ = try WriteServer.filled(server)
        let answer = try server.send("PATCH", "app/objects/Dog/1", "{\"\(name)\":1}")
        WriteProblemTests.check(answer, .unknownProperty)
        #expect(answer.text.utf8.count < 4096, "\(answer.text.utf8.count) bytes")
        let pointer = try #require(answer.json["pointer"]?.text)
        #expect(pointer.hasPrefix("/ää") && pointer.hasSuffix("ää") && pointer.contains("ä…ä"), "\(pointer)")
        let problem = Problem(.invalidBody, name + ".").with("parameter", name)
        #expect(problem.detail.utf8.count < 5000 && problem.detail.hasSuffix("ää.") && !problem.detail.contains("\u{fffd}"))
        #expect(problem.description.utf8.count < 7000)
        #expect(Problem(.invalidBody, "short").detail == "short")
        try server.finish()
    }

    /// What all problem documents have in common.
    static func check(_ answer: HTTPClient.Answer, _ code: ProblemCode, status: Int? = nil) {
        let name = code.rawValue
        #expect(answer.status == status ?? code.status, "\(name): \(answer.text)")
        #expect(answer.code == name, "\(answer.text)")
        #expect(answer["Content-Type"] == "application/problem+json", "\(name)")
        #expect(answer["Cache-Control"] == "no-store", "\(name)")
        #expect(answer.json["type"]?.text == "urn:realm-rest:problem:" + name)
        #expect(answer.json["title"]?.text == code.title && answer.json["status"]?.int == answer.status, "\(name)")
        #expect(answer.json["instance"]?.text?.hasPrefix("urn:") == true, "\(name)")
        if code.hasRetryAfter { #expect((answer["Retry-After"].flatMap { Int($0) } ?? 0) > 0, "\(name)") }
        if answer.status == 405 { #expect(answer["Allow"] != nil, "\(name)") }
    }
}

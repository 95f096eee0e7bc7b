// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// How much of the writer's thread a request takes, counted: each object is looked up once by its key, and a snapshot of the
/// uncommitted state is made only for what is shown of it.
@Suite struct WriteWorkTests {
    struct Request: Sendable, CustomTestStringConvertible {
        let title: String
        let method: String
        let path: String
        let body: String?
        var headers: [(String, String)] = []
        let lookups: UInt64
        let views: UInt64

        var testDescription: String { title }
    }

    private static let jsonPatch = [("Content-Type", "application/json-patch+json")]

    static let requests = [
        Request(
            title: "a merge patch", method: "PATCH", path: "app/objects/Dog/1", body: #"{"age":4}"#, lookups: 1, views: 1),
        Request(
            title: "a merge patch whose answer is not shown", method: "PATCH", path: "app/objects/Dog/1", body: #"{"age":4}"#,
            headers: [("If-Match", "*"), ("Prefer", "return=minimal")], lookups: 1, views: 1),
        Request(
            title: "a JSON Patch of 20 edits", method: "PATCH", path: "app/objects/Dog/1",
            body: "[" + (0..<20).map { #"{"op":"replace","path":"/age","value":\#($0)}"# }.joined(separator: ",") + "]",
            headers: jsonPatch, lookups: 1, views: 1),
        Request(
            title: "a property", method: "PUT", path: "app/objects/Dog/1/age", body: "7", lookups: 1, views: 0),
        Request(
            title: "an object", method: "PUT", path: "app/objects/Dog/1", body: #"{"age":4}"#, lookups: 1, views: 1),
        Request(title: "a deletion", method: "DELETE", path: "app/objects/Dog/1", body: nil, lookups: 1, views: 0),
        Request(
            title: "a batch of edits of one list", method: "POST", path: "app/batch",
            body: #"{"ops":[{"list":{"class":"Dog","key":"1","property":"tags","ops":[{"add":"c"},{"add":"d"},{"remove":0}]}}]}"#,
            lookups: 1, views: 0),
        Request(
            title: "a batch of 100 deletions", method: "POST", path: "app/batch",
            body: #"{"ops":["#
                + (100..<200).map { #"{"delete":{"class":"Dog","key":"\#($0)"}}"# }.joined(separator: ",") + "]}",
            lookups: 100, views: 0),
    ]

    @Test(arguments: requests)
    func `an object is looked up once, and a snapshot is made once at the most`(_ request: Request) throws {
        let server = try WriteServer()
        try server.fill()
        let dogs = (100..<200).map { #"{"_id":\#($0),"age":1}"# }.joined(separator: ",")
        try server.done("POST", "app/objects/Dog", "[\(dogs)]")
        guard case .ready(let database)? = server.server.state.catalog["app"] else { throw MissingRealm() }
        let before = database.writeMetrics.counts
        let answer = try server.send(request.method, request.path, request.body, request.headers)
        #expect((200..<300).contains(answer.status), "\(answer.text)")
        let after = database.writeMetrics.counts
        #expect(after.lookups - before.lookups == request.lookups)
        #expect(after.views - before.views == request.views)
        try server.finish()
    }

    private struct MissingRealm: Error {}

    @Test func `what a write sees of its own changes is never older than the last of them`() throws {
        let server = try WriteServer()
        try server.fill()
        let batch = """
            {"ops":[
            {"assert":{"class":"Dog","where":"age == 3","count":1}},
            {"patch":{"class":"Dog","key":"1","body":{"age":30}}},
            {"assert":{"class":"Dog","where":"age == 30","count":1}},
            {"assert":{"class":"Dog","where":"age == 3","count":0}},
            {"list":{"class":"Dog","key":"1","property":"tags","ops":[{"clear":true}]}},
            {"assert":{"class":"Dog","where":"tags.@count == 0 AND age == 30","count":1}},
            {"increment":{"class":"Dog","key":"1","property":"age","by":1}},
            {"assert":{"class":"Dog","where":"age == 31","count":1}},
            {"delete":{"class":"Dog","key":"2"}},
            {"assert":{"class":"Dog","count":1}}]}
            """
        let answer = try server.send("POST", "app/batch", batch)
        #expect(answer.status == 200, "\(answer.text)")
        try server.finish()
    }
}

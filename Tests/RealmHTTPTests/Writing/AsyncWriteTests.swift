// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Writes that are answered before they are done. Features A33, A34, A37–A41.
@Suite struct AsyncWriteTests {
    /// The document of a write once it is over.
    private func wait(_ server: WriteServer, _ location: String) throws -> ParsedJSON {
        try server.fate(String(location.dropFirst("/v1/realms/".count)))
    }

    @Test func `A37: the answer comes at once, and the write is told under its id`() throws {
        let server = try WriteServer()
        let answer = try server.send("POST", "app/objects/Dog", #"{"_id":1,"age":2}"#, WriteServer.later)
        #expect(answer.status == 202)
        #expect(answer["Preference-Applied"] == "respond-async")
        let document = try wait(server, answer["Location"] ?? "")
        #expect(document["state"]?.text == "committed")
        #expect(document["status"]?.int == 201)
        #expect(document["body"]?["age"]?.int == 2)
        #expect(document["version"]?.text == (try server.get("app")["Realm-Version"]))
        #expect(document["id"]?.text == answer.json["id"]?.text)
        let path = String((answer["Location"] ?? "").dropFirst("/v1/realms/".count))
        #expect(try server.send("DELETE", path).code == "already_committed")
        try server.finish()
    }

    @Test func `A40: a failed write tells its problem`() throws {
        let server = try WriteServer()
        let answer = try server.send(
            "POST", "app/batch", #"{"ops":[{"delete":{"class":"Dog","key":"1"}}]}"#, WriteServer.later)
        #expect(answer.status == 202)
        let document = try wait(server, answer["Location"] ?? "")
        #expect(document["state"]?.text == "failed")
        let problem = document["problem"]
        #expect(problem?["code"]?.text == "object_not_found")
        #expect(problem?["op"]?.int == 0)
        // What needs no data is refused at once.
        #expect(try server.send("POST", "app/objects/Cat", "{}", WriteServer.later).status == 404)
        #expect(try server.send("POST", "app/batch", "{", WriteServer.later).status == 400)
        try server.finish()
    }

    @Test func `A33, A34, A39, E26: a write that waits can be taken back; those of one connection run in order`() throws {
        let server = try WriteServer()
        try server.fill()
        let transaction = try server.send("POST", "app/transactions", "{}").json["id"]?.text ?? ""
        let increment = #"{"ops":[{"increment":{"class":"Dog","key":"1","property":"age","by":1}}]}"#
        let first = try server.send("POST", "app/batch", increment, WriteServer.later)
        let second = try server.send("POST", "app/batch", increment, WriteServer.later)
        #expect(first.json["state"]?.text == "queued")
        #expect((try server.get("app").json["pendingWrites"]?.int ?? 0) >= 2)
        let path = String((second["Location"] ?? "").dropFirst("/v1/realms/".count))
        #expect(try server.send("DELETE", path).status == 204)
        #expect(try server.get(path).json["state"]?.text == "cancelled")
        #expect(try server.send("DELETE", "app/transactions/\(transaction)").status == 204)
        #expect(try wait(server, first["Location"] ?? "")["state"]?.text == "committed")
        #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 4)
        try server.finish()
    }
}

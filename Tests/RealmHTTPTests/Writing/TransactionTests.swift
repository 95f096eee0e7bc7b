// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmServerSupport
import RealmTestSupport
import Testing

/// Interactive transactions over a socket. Features A24, A25, A28, A35.
@Suite(.ownThread) struct TransactionTests {
    private func begin(_ server: WriteServer, _ body: String? = nil) throws -> (id: String, header: [(String, String)]) {
        let answer = try server.send("POST", "app/transactions", body)
        #expect(answer.status == 201, "\(answer.text)")
        let id = answer.json["id"]?.text ?? ""
        #expect(answer["Location"] == "/v1/realms/app/transactions/\(id)")
        return (id, [("Realm-Transaction", id)])
    }

    @Test func `A25: what is written inside is seen inside only, until the commit`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let before = try server.get("app")["Realm-Version"]
            let (id, header) = try begin(server)
            let patched = try server.send("PATCH", "app/objects/Dog/1", #"{"age":50}"#, header)
            #expect(patched.status == 200)
            #expect(patched["Realm-Version"] == before)
            #expect(patched["Cache-Control"] == "no-store")
            let batch = try server.send(
                "POST", "app/batch", #"{"ops":[{"create":{"class":"Dog","body":{"_id":60,"age":1}}}]}"#, header)
            #expect(batch.json["committed"]?.bool == false)
            let inside = try server.get("app/objects/Dog?where=age==50&count=exact", header)
            #expect(inside.json["count"]?.int == 1)
            #expect(inside["Cache-Control"] == "no-store")
            #expect(try server.get("app/objects/Dog?format=ndjson", header).text.split(separator: "\n").count == 3)
            #expect(try server.get("app/objects/Dog/1/age", header).json["value"]?.int == 50)
            #expect(try server.get("app/aggregate/Dog?ops=count", header).json["count"]?.int == 3)
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
            #expect(try server.get("app/transactions/\(id)").json["state"]?.text == "open")
            let commit = try server.send("POST", "app/transactions/\(id)/commit")
            #expect(commit.status == 200)
            #expect(WriteServer.number(commit.json["version"]?.text) == WriteServer.number(before) + 1)
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 50)
            #expect(try server.get("app/transactions/\(id)").json["state"]?.text == "committed")
            #expect(try server.send("POST", "app/transactions/\(id)/commit").code == "already_committed")
            #expect(try server.get("app/objects/Dog/1", header).code == "already_committed")
        }
    }

    @Test func `A28: a rollback leaves the file as it was`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let bytes = try server.bytes()
            let (id, header) = try begin(server)
            #expect(try server.send("DELETE", "app/objects?confirm=all", nil, header).status == 200)
            #expect(try server.send("DELETE", "app/transactions/\(id)").status == 204)
            #expect(try server.bytes() == bytes)
            #expect(try server.get("app/objects/Dog?count=exact").json["count"]?.int == 2)
            #expect(try server.send("POST", "app/transactions/\(id)/commit").code == "transaction_expired")
            #expect(try server.get("app/transactions/\(id)").json["state"]?.text == "rolledBack")
        }
    }

    @Test(arguments: [
        ("POST", "objects/Dog", #"{"_id":1,"age":1}"#), ("PATCH", "objects/Dog/99", "{}"),
        ("POST", "objects/Dog", #"{"_id":7,"age":"old"}"#),
    ])
    func `a failed write ends the transaction, a failed read or dry run does not`(
        _ method: String, _ path: String, _ body: String
    ) throws {
        try withWriteServer { (server: WriteServer) throws in
            let (id, header) = try begin(server)
            #expect(try server.get("app/objects/Dog/99", header).status == 404)
            #expect(try server.send("POST", "app/objects/Dog?dryRun=true", #"{"_id":1,"age":1}"#, header).status == 409)
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":9}"#, header).status == 200)
            #expect(try server.send(method, "app/" + path, body, header).status >= 400)
            #expect(try server.get("app/objects/Dog/1", header).code == "transaction_aborted")
            #expect(try server.send("POST", "app/transactions/\(id)/commit").code == "transaction_aborted")
            #expect(try server.send("DELETE", "app/transactions/\(id)").status == 204)
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
        }
    }

    @Test func `A24: an open transaction holds other writers up, for a time`() throws {
        try withWriteServer(change: { $0.limits.writeSeconds = 1 }) { (server: WriteServer) throws in
            let (id, _) = try begin(server)
            let second = try server.send("POST", "app/transactions", #"{"wait":"0s"}"#)
            #expect(second.code == "write_lock_busy")
            #expect(second["Retry-After"] != nil)
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":1}"#).status == 423)
            #expect(try server.send("DELETE", "app/transactions/\(id)").status == 204)
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":1}"#).status == 200)
        }
    }

    @Test func `A35: a lease that nobody uses ends`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let (id, header) = try begin(server, #"{"idle":"1s"}"#)
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":9}"#, header).status == 200)
            Thread.sleep(forTimeInterval: 1.3)
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":9}"#, header).code == "transaction_expired")
            #expect(try server.get("app/transactions/\(id)").json["state"]?.text == "expired")
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
        }
    }

    @Test func `administrators see leases and end them`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let (id, header) = try begin(server)
            let leases = try HTTPClient.request(port: server.port, "GET", "/admin/leases")
            #expect(leases.text.contains(id))
            #expect(try HTTPClient.request(port: server.port, "DELETE", "/admin/leases/\(id)").status == 204)
            #expect(try eventually { try server.get("app/transactions/\(id)").json["state"]?.text != "open" })
            #expect(try server.get("app/objects/Dog/1", header).code == "transaction_expired")
        }
    }

    @Test func `transactions can be switched off`() throws {
        let server = try WriteServer { $0.allowsTransactions = false }
        #expect(try server.send("POST", "app/transactions", "{}").code == "transactions_disabled")
        try server.finish()
    }

    @Test func `A24: a transaction lasts as long as the limits say, or shorter if it asks for that`() throws {
        try withWriteServer(change: {
            $0.limits.transactionIdleSeconds = 9
            $0.limits.transactionSeconds = 40
        }) { server in
            func idle(_ body: String) throws -> String? {
                let answer = try server.done("POST", "app/transactions", body)
                try server.done("DELETE", "app/transactions/\(answer.json["id"]?.text ?? "")")
                return answer.json["idleTimeout"]?.text
            }
            #expect(try idle("{}") == "9s")
            #expect(try idle(#"{"idle":"2s"}"#) == "2s")
            #expect(try idle(#"{"idle":"500ms"}"#) == "500ms")
            #expect(try idle(#"{"idle":"1500ms"}"#) == "1500ms")
            #expect(try idle(#"{"idle":"2000ms"}"#) == "2s")
            #expect(try idle(#"{"lifetime":"3s"}"#) == "3s")
            #expect(try idle(#"{"idle":"9s","lifetime":"40s","wait":"0s"}"#) == "9s")
            for (member, value) in [("idle", "0s"), ("idle", "0ms"), ("lifetime", "0s"), ("idle", "10s"), ("lifetime", "41s")] {
                let body = "{\"\(member)\":\"\(value)\"}"
                let answer = try server.send("POST", "app/transactions", body)
                #expect(answer.status == 400 && answer.code == "invalid_parameter", "\(answer.text)")
            }
        }
    }
}

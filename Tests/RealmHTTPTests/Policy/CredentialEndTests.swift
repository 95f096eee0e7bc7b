// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmCalls
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What ends with a credential, and what belongs to whom.
@Suite struct CredentialEndTests {
    private func stream(_ server: KeyServer, _ headers: [(String, String)]) throws -> EventClient {
        let client = try EventClient(
            port: server.port, "/v1/realms/notes/changes?class=Note", headers: headers)
        while let event = try client.next(), event.name != "ready" {}
        return client
    }

    private func bearer(_ key: APIKeyText) -> [(String, String)] { [("Authorization", "Bearer " + key.text)] }

    /// Ways in which a key ends; those of the file are of another process.
    static let ends: [@Sendable (KeyServer, APIKeyText, APIKeyText) throws -> Void] = [
        { server, key, admin in _ = try server.request("DELETE", "/admin/keys/\(key.id)", admin) },
        { server, key, admin in _ = try server.request("POST", "/admin/keys/\(key.id)/rotate", admin) },
        { server, key, _ in try server.file.revoke(key.id) },
        { server, key, _ in _ = try server.file.rotate(key.id) },
        { server, _, _ in try Data("broken".utf8).write(to: URL(fileURLWithPath: server.file.path)) },
        { server, _, _ in try FileManager.default.removeItem(atPath: server.file.path) },
    ]

    @Test(arguments: ends.indices)
    func `a stream ends and a poll is refused within a second after the key has ended`(_ index: Int) throws {
        let server = try KeyServer()
        let (admin, key) = (try server.add("admin"), try server.add("reader"))
        try server.makeNotes(admin)
        let stream = try stream(server, bearer(key))
        let poll = try HTTPClient(port: server.port)
        let now = try server.request("GET", "/v1/realms/notes/changes?class=Note&initial=false", key).json["next"]?.text ?? ""
        try poll.send(
            "GET /v1/realms/notes/changes?class=Note&since=\(now)&wait=15 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(key.text)\r\n\r\n"
        )
        usleep(200_000)
        let begin = Instant.now()
        try CredentialEndTests.ends[index](server, key, admin)
        let end = try stream.next("end")
        #expect(end.json["reason"]?.text == "unauthenticated")
        #expect(Instant.now().seconds(since: begin) < 2)
        #expect(try stream.next() == nil)
        let answer = try poll.readAnswer()
        #expect(answer.status == 401 && answer.code == "unauthenticated")
    }

    @Test func `a stream ends when its key expires, and nothing is delivered after`() throws {
        let server = try KeyServer()
        let admin = try server.add("admin")
        try server.makeNotes(admin)
        let key = try server.add("short", expires: APIKey.now + 2)
        let stream = try stream(server, bearer(key))
        let kept = try self.stream(server, bearer(admin))
        let begin = Instant.now()
        var id = 0
        var names: [String] = []
        while Instant.now().seconds(since: begin) < 4 {
            id += 1
            #expect(try server.request("POST", "/v1/realms/notes/objects/Note", admin, body: "{\"id\":\(id)}").status == 201)
            usleep(50_000)
        }
        while let event = try stream.next() { names.append(event.name) }
        #expect(names.last == "end" && names.filter { $0 == "end" }.count == 1)
        #expect(names.contains("changes") && names.filter { $0 == "changes" }.count < id)
        #expect(try kept.next("changes").name == "changes")
    }

    /// Ways in which a server that had no credentials gets the first one; the last is a file that is of no use.
    static let firsts: [@Sendable (KeyServer) throws -> Void] = [
        { server in try server.file.add(APIKey(APIKeyText(), name: "first", roles: ["admin"])) },
        { server in _ = try server.request("POST", "/admin/keys", body: #"{"name":"first","roles":["admin"]}"#) },
        { server in
            try FileManager.default.createDirectory(atPath: server.folder + "/.realm-rest", withIntermediateDirectories: true)
            try Data("broken".utf8).write(to: URL(fileURLWithPath: server.file.path))
        },
    ]

    @Test(arguments: firsts.indices, [false, true])
    func `what was begun without a credential ends with the first key`(_ index: Int, _ isStranger: Bool) throws {
        let server = try KeyServer(change: { $0.isInsecure = true })
        try server.makeNotes(nil)
        let origin = isStranger ? [("X-Forwarded-For", "192.0.2.9")] : []
        let line = origin.map { "\($0.0): \($0.1)\r\n" }.joined()
        let stream = try stream(server, origin)
        let poll = try HTTPClient(port: server.port)
        let now =
            try server.request("GET", "/v1/realms/notes/changes?class=Note&initial=false", nil, origin).json["next"]?.text ?? ""
        try poll.send(
            "GET /v1/realms/notes/changes?class=Note&since=\(now)&wait=15 HTTP/1.1\r\nHost: 127.0.0.1\r\n\(line)\r\n")
        usleep(200_000)
        let begin = Instant.now()
        try CredentialEndTests.firsts[index](server)
        #expect(try stream.next("end").json["reason"]?.text == "unauthenticated")
        #expect(try stream.next() == nil)
        #expect(try poll.readAnswer().status == 401)
        #expect(Instant.now().seconds(since: begin) < 3)
        #expect(try server.request("GET", "/v1/realms", nil, origin).status == 401)
    }

    @Test func `what was begun through the administrators' socket goes on after the first key`() throws {
        let path = NSTemporaryDirectory() + "rr-\(UUID().uuidString.prefix(8)).sock"
        let server = try KeyServer(change: { $0.admin = .unix(path: path) })
        try server.makeNotes(nil)
        let client = try HTTPClient(unixPath: path)
        let realm = "/v1/realms/notes"
        let now = try client.request("GET", realm + "/changes?class=Note&initial=false").json["next"]?.text ?? ""
        try client.send("GET \(realm)/changes?class=Note&since=\(now)&wait=15 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let open = try stream(server, [])
        let key = try server.add("first")
        #expect(try open.next("end").json["reason"]?.text == "unauthenticated")
        #expect(try server.request("POST", realm + "/objects/Note", key, body: #"{"id":1}"#).status == 201)
        #expect(try client.readAnswer().status == 200)
    }

    @Test func `a revoked key gets no event of a commit that comes after it`() throws {
        let server = try KeyServer()
        let (admin, key) = (try server.add("admin"), try server.add("reader"))
        try server.makeNotes(admin)
        let stream = try stream(server, bearer(key))
        #expect(try server.request("DELETE", "/admin/keys/\(key.id)", admin).status == 204)
        #expect(try server.request("POST", "/v1/realms/notes/objects/Note", admin, body: #"{"id":1}"#).status == 201)
        #expect(try stream.next()?.name == "end")
    }

    @Test func `a stream of a session ends with it`() throws {
        let server = try KeyServer()
        let key = try server.add("a")
        try server.makeNotes(key)
        let session = try server.request("POST", "/v1/session", key)
        let cookie = [("Cookie", String((session["Set-Cookie"] ?? "").prefix { $0 != ";" }))]
        let stream = try stream(server, cookie)
        let token = [("X-CSRF-Token", session.json["csrfToken"]?.text ?? "")]
        #expect(try server.request("DELETE", "/v1/session", nil, cookie + token).status == 204)
        #expect(try stream.next("end").json["reason"]?.text == "unauthenticated")
    }

    @Test func `a ticket stands for the key of its registration, on streams and polls alone`() throws {
        let server = try KeyServer()
        let (key, other) = (try server.add("a"), try server.add("b"))
        try server.makeNotes(key)
        let made = try server.request(
            "POST", "/v1/realms/notes/subscriptions", key, body: #"{"subscriptions":{"n":{"class":"Note"}}}"#)
        let url = try #require(made.json["url"]?.text)
        #expect(try server.request("GET", url).status == 200)
        #expect(try server.request("GET", url, other).status == 404)
        let ticket = try #require(url.split(separator: "=").last)
        for path in ["/v1/realms?ticket=\(ticket)", "/v1/realms/notes/schema?ticket=\(ticket)", "/admin/keys?ticket=\(ticket)"] {
            #expect(try server.request("GET", path).status == 401, "\(path)")
        }
        #expect(try server.request("GET", "/v1/realms/notes/changes?ticket=x").status == 401)
        try server.file.revoke(key.id)
        #expect(try eventually { try server.request("GET", url).status == 401 })
    }

    // MARK: - What is held

    /// Begins a snapshot of ten minutes, a registration, and a transaction if wanted, which holds the writer.
    private func hold(_ server: KeyServer, _ headers: [(String, String)], withTransaction: Bool = true) throws {
        let realm = "/v1/realms/notes"
        let bodies = [
            ("/snapshots", #"{"ttl":"600s"}"#), ("/subscriptions", #"{"subscriptions":{"n":{"class":"Note"}}}"#),
            ("/transactions", "{}"),
        ]
        for (path, body) in bodies where withTransaction || path != "/transactions" {
            let answer = try server.request("POST", realm + path, nil, headers, body: body)
            #expect(answer.status == 201, "\(path): \(answer.text)")
        }
    }

    /// The kinds of what is held, sorted.
    private func held(_ server: KeyServer) -> [String] {
        server.server.state.leases.all.map(\.kind.rawValue).sorted()
    }

    private func registrations(_ server: KeyServer, _ admin: APIKeyText) throws -> Double? {
        ServerMetrics(try server.request("GET", "/metrics", admin).text)["registrations"]
    }

    @Test(arguments: [0, 2])
    func `what a key holds is free for others within a second after it was revoked`(_ index: Int) throws {
        let server = try KeyServer()
        let (admin, key) = (try server.add("admin"), try server.add("holder"))
        try server.makeNotes(admin)
        try hold(server, bearer(key))
        try hold(server, bearer(admin), withTransaction: false)
        #expect(held(server) == ["snapshot", "snapshot", "transaction"])
        let begin = Instant.now()
        try CredentialEndTests.ends[index](server, key, admin)
        // It waits for the writer, which the transaction would hold for five seconds.
        #expect(try server.request("POST", "/v1/realms/notes/objects/Note", admin, body: #"{"id":1}"#).status == 201)
        #expect(Instant.now().seconds(since: begin) < 3)
        #expect(eventually(seconds: 3) { held(server) == ["snapshot"] })
        #expect(try eventually(seconds: 3) { try registrations(server, admin) == 1 })
    }

    @Test func `places that revoked keys have taken are others' again`() throws {
        let server = try KeyServer()
        let admin = try server.add("admin")
        try server.makeNotes(admin)
        let take = { (key: APIKeyText) in
            try server.request("POST", "/v1/realms/notes/snapshots", key, body: #"{"ttl":"600s"}"#).status
        }
        let keys = [try server.add("a"), try server.add("b")]
        for key in keys { for _ in 0..<8 { #expect(try take(key) == 201) } }
        #expect(try take(admin) == 429)
        for key in keys { #expect(try server.request("DELETE", "/admin/keys/\(key.id)", admin).status == 204) }
        #expect(try eventually(seconds: 3) { try take(admin) == 201 })
    }

    @Test(arguments: [1, 3])
    func `what a key holds stays when its secret is replaced, and ends when that one is revoked`(_ index: Int) throws {
        let server = try KeyServer()
        let (admin, key) = (try server.add("admin"), try server.add("holder"))
        try server.makeNotes(admin)
        try hold(server, bearer(key), withTransaction: false)
        for _ in 0..<2 { try CredentialEndTests.ends[index](server, key, admin) }
        #expect(try eventually { try server.request("GET", "/v1/realms", key).status == 401 })
        Threads.sleep(seconds: 1.5)
        #expect(held(server) == ["snapshot"])
        #expect(try registrations(server, admin) == 1)
        try server.file.revoke(key.id)
        #expect(eventually(seconds: 3) { held(server).isEmpty })
        #expect(try eventually(seconds: 3) { try registrations(server, admin) == 0 })
    }

    @Test(arguments: [4, 5])
    func `what a key holds ends with the file of keys`(_ index: Int) throws {
        let server = try KeyServer()
        let key = try server.add("holder")
        try server.makeNotes(key)
        try hold(server, bearer(key))
        try CredentialEndTests.ends[index](server, key, key)
        #expect(eventually(seconds: 3) { held(server).isEmpty })
    }

    @Test func `what a key holds ends when it expires`() throws {
        let server = try KeyServer()
        let admin = try server.add("admin")
        try server.makeNotes(admin)
        let key = try server.add("short", expires: APIKey.now + 3)
        try hold(server, bearer(key), withTransaction: false)
        #expect(held(server) == ["snapshot"])
        #expect(eventually(seconds: 6) { held(server).isEmpty })
        #expect(try eventually(seconds: 3) { try registrations(server, admin) == 0 })
    }

    @Test func `what is held without a credential ends with the first key`() throws {
        let server = try KeyServer()
        try server.makeNotes(nil)
        try hold(server, [])
        let admin = try server.add("first")
        #expect(eventually(seconds: 3) { held(server).isEmpty })
        #expect(try eventually(seconds: 3) { try registrations(server, admin) == 0 })
    }

    @Test func `what a session holds ends with it`() throws {
        let server = try KeyServer()
        let key = try server.add("a")
        try server.makeNotes(key)
        let session = try server.request("POST", "/v1/session", key)
        let cookie = ("Cookie", String((session["Set-Cookie"] ?? "").prefix { $0 != ";" }))
        let headers = [cookie, ("X-CSRF-Token", session.json["csrfToken"]?.text ?? "")]
        try hold(server, headers)
        try hold(server, bearer(key), withTransaction: false)
        #expect(try server.request("DELETE", "/v1/session", nil, headers).status == 204)
        #expect(eventually(seconds: 3) { held(server) == ["snapshot"] })
        #expect(try eventually(seconds: 3) { try registrations(server, key) == 1 })
    }

    @Test func `whoever gets another token comes back to what the last one has begun`() {
        let past = WallClock(nanoseconds: 1)
        let issuer = Principal(kind: .jwt)
        let token = Principal(kind: .jwt, id: "ann", expiresAt: past, parent: issuer)
        #expect(token.isOver && !token.hasLeft)
        #expect(Principal(kind: .certificate, expiresAt: past).hasLeft == false)
        issuer.end()
        #expect(token.hasLeft)
        #expect(Principal(kind: .key, expiresAt: past).hasLeft)
    }

    // MARK: - What has not happened yet

    /// The head of a request with a body of so many bytes, and the beginning of it.
    private func begin(_ path: String, _ key: APIKeyText, type: String, length: Int, _ body: String) -> String {
        "POST /v1/realms/notes\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(key.text)\r\nContent-Type: \(type)\r\n"
            + "Content-Length: \(length)\r\n\r\n" + body
    }

    private func notes(_ server: KeyServer, _ admin: APIKeyText) throws -> Int? {
        try server.request("GET", "/v1/realms/notes/objects/Note?limit=0&count=exact", admin).json["count"]?.int
    }

    /// The index of an end, or nil for the time of the key.
    @Test(arguments: [0, 2, nil], [false, true])
    func `a body ends with the key that sends it, and gives its room back`(_ index: Int?, _ isLong: Bool) throws {
        let server = try KeyServer()
        let admin = try server.add("admin")
        try server.makeNotes(admin)
        let key = try server.add("sender", expires: index == nil ? APIKey.now + 4 : nil)
        let client = try HTTPClient(port: server.port)
        let line = #"{"id":1}"# + String(repeating: " ", count: isLong ? 600_000 : 0) + "\n"
        try client.send(
            begin("/import?class=Note", key, type: "application/x-ndjson", length: line.utf8.count + 100_000, line))
        let files = { ServerMetrics(try server.request("GET", "/metrics", admin).text)["spool_files"] }
        if isLong { #expect(try eventually { try files() == 1 }) }
        let start = Instant.now()
        if let index { try CredentialEndTests.ends[index](server, key, admin) }
        let answer = try client.readAnswer()
        #expect(answer.status == 401 && answer.code == "unauthenticated", "\(answer.text)")
        #expect(answer["WWW-Authenticate"] != nil)
        #expect(Instant.now().seconds(since: start) < (index == nil ? 7 : 4))
        #expect(try client.isClosed())
        #expect(try eventually { try files() == 0 })
        #expect(try notes(server, admin) == 0)
    }

    @Test func `a body of a key that stays goes on while others end`() throws {
        let server = try KeyServer()
        let (admin, key) = (try server.add("admin"), try server.add("other"))
        try server.makeNotes(admin)
        let client = try HTTPClient(port: server.port)
        let line = #"{"id":1}"# + "\n"
        try client.send(
            begin("/import?class=Note", admin, type: "application/x-ndjson", length: 2 * line.utf8.count, line))
        try server.file.revoke(key.id)
        Threads.sleep(seconds: 2.5)
        try client.send(#"{"id":2}"# + "\n")
        #expect(try client.readAnswer().status == 200)
        #expect(try notes(server, admin) == 2)
    }

    @Test(arguments: ["/objects/Note", "/import?class=Note", "/import?class=Note&atomic=false", "/batch"], [false, true])
    func `a write that waits is refused soon after its key has expired`(_ path: String, _ isAsynchronous: Bool) throws {
        let server = try KeyServer(change: { $0.limits.transactionIdleSeconds = 25 })
        let admin = try server.add("admin")
        try server.makeNotes(admin)
        let realm = "/v1/realms/notes"
        let key = try server.add("short", expires: APIKey.now + 3)
        let id = try #require(
            try server.request("POST", realm + "/transactions", admin, body: #"{"idle":"25s"}"#).json["id"]?.text)
        let begin = Instant.now()
        let body = path == "/batch" ? #"{"ops":[{"create":{"class":"Note","body":{"id":1}}}]}"# : #"{"id":1}"#
        let type = path.hasPrefix("/import") ? "application/x-ndjson" : "application/json"
        let headers = [("Content-Type", type)] + (isAsynchronous ? [("Prefer", "respond-async")] : [])
        let answer = try server.request("POST", realm + path, key, headers, body: body)
        // An import in several commits is answered at its end.
        if isAsynchronous, !path.hasSuffix("atomic=false") {
            #expect(answer.status == 202, "\(answer.text)")
            let waiting = { try server.request("GET", realm, admin).json["pendingWrites"]?.int }
            let before = try waiting() ?? -1
            #expect(try eventually(seconds: 10) { try waiting() == before - 1 })
        } else {
            #expect(answer.status == 401 && answer.code == "unauthenticated", "\(answer.text)")
        }
        // The transaction holds the writer for long.
        #expect(Instant.now().seconds(since: begin) < 12)
        #expect(try server.request("DELETE", realm + "/transactions/\(id)", admin).status == 204)
        #expect(try notes(server, admin) == 0)
    }

    // MARK: - Ownership

    @Test func `ids of others do not exist`() throws {
        let server = try KeyServer()
        let (mine, yours) = (try server.add("a"), try server.add("b"))
        try server.makeNotes(mine)
        let realm = "/v1/realms/notes"
        let snapshot = try #require(try server.request("POST", realm + "/snapshots", mine).json["id"]?.text)
        let registration = try #require(
            try server.request("POST", realm + "/subscriptions", mine, body: #"{"subscriptions":{"n":{"class":"Note"}}}"#).json[
                "id"]?.text)
        let write = try server.request(
            "POST", realm + "/objects/Note", mine, [("Prefer", "respond-async")], body: #"{"id":7}"#)
        let async = try #require(write.json["id"]?.text)
        let transaction = try #require(try server.request("POST", realm + "/transactions", mine).json["id"]?.text)
        let gone = try #require(try server.request("POST", realm + "/snapshots", mine).json["id"]?.text)
        #expect(try server.request("DELETE", realm + "/snapshots/\(gone)", mine).status == 204)
        let foreign: [(String, String, [(String, String)])] = [
            ("GET", "/snapshots/\(snapshot)", []), ("DELETE", "/snapshots/\(snapshot)", []), ("GET", "/snapshots/\(gone)", []),
            ("GET", "/objects/Note?snapshot=\(snapshot)", []), ("GET", "/objects/Note?snapshot=\(gone)", []),
            ("GET", "/subscriptions/\(registration)", []), ("DELETE", "/subscriptions/\(registration)", []),
            ("GET", "/changes?subscription=\(registration)", []), ("GET", "/writes/\(async)", []),
            ("DELETE", "/writes/\(async)", []), ("GET", "/transactions/\(transaction)", []),
            ("DELETE", "/transactions/\(transaction)", []), ("POST", "/transactions/\(transaction)/commit", []),
            ("GET", "/objects/Note", [("Realm-Transaction", transaction)]),
            ("DELETE", "/objects/Note/7", [("Realm-Transaction", transaction)]),
        ]
        for (method, path, headers) in foreign {
            let answer = try server.request(method, realm + path, yours, headers)
            #expect(
                answer.status == 404 && answer.code == "not_found",
                "\(method) \(path) \(headers): \(answer.status) \(answer.text)")
        }
        #expect(try server.request("PATCH", realm + "/snapshots/\(snapshot)", yours, body: #"{"ttl":"9s"}"#).status == 404)
        #expect(try server.request("GET", realm + "/snapshots", yours).json["items"]?.elements?.isEmpty == true)
        let skip = [("Realm-Without-Notifying", registration)]
        #expect(try server.request("POST", realm + "/objects/Note", yours, skip, body: #"{"id":8}"#).code == "invalid_parameter")
        // All of it is still there for its owner, also after the secret was replaced.
        _ = try server.file.rotate(yours.id)
        let renewed = try server.file.rotate(mine.id).text
        server.server.state.authenticator.keys.refresh()
        for path in [
            "/snapshots/\(snapshot)", "/subscriptions/\(registration)", "/writes/\(async)", "/transactions/\(transaction)",
        ] {
            #expect(try server.request("GET", realm + path, renewed).status == 200, "\(path)")
        }
        let leases = try server.request("GET", "/admin/leases", renewed).json["items"]?.elements ?? []
        #expect(leases.count == 2 && leases.allSatisfy { $0["principal"]?.text == "key:" + mine.id })
        #expect(try server.request("DELETE", realm + "/transactions/\(transaction)", renewed).status == 204)
    }

    @Test func `an idempotency key of one principal is not that of another`() throws {
        let server = try KeyServer()
        let (mine, yours) = (try server.add("a"), try server.add("b"))
        try server.makeNotes(mine)
        let send = { (key: APIKeyText, id: Int) in
            try server.request(
                "POST", "/v1/realms/notes/objects/Note", key, [("Idempotency-Key", "k")], body: "{\"id\":\(id)}")
        }
        #expect(try send(mine, 1).status == 201)
        #expect(try send(mine, 1)["Idempotency-Replayed"] == "true")
        let other = try send(yours, 2)
        #expect(other.status == 201 && other["Idempotency-Replayed"] == nil)
        #expect(try send(yours, 1).code == "idempotency_key_reused")
    }
}

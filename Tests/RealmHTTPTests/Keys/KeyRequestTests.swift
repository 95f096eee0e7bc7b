// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Requests with and without credentials, in each situation of a server.
@Suite struct KeyRequestTests {
    private static let forwarding = [
        "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Anything", "X-Real-IP", "x-real-ip",
    ]

    @Test func `without credentials loopback is trusted, unless a proxy was there`() throws {
        let server = try KeyServer()
        let me = try server.request("GET", "/v1/me").json
        #expect(me["principal"]?["kind"]?.text == "local" && me["roles"]?.elements?.map(\.text) == ["admin"])
        #expect(try server.request("GET", "/admin/keys").status == 200)
        for header in KeyRequestTests.forwarding {
            for path in ["/v1/realms", "/admin/keys", "/metrics", "/v1/realms/notes/schema"] {
                #expect(try server.request("GET", path, nil, [(header, "127.0.0.1")]).status == 401, "\(header) \(path)")
            }
            #expect(try server.request("GET", "/healthz", nil, [(header, "127.0.0.1")]).status == 200)
            let stranger = try server.request("GET", "/v1/me", nil, [(header, "::1")]).json
            #expect(stranger["principal"]?["kind"]?.text == "anonymous")
        }
    }

    @Test(arguments: ["", "{\"keys\":[]}", "nonsense"])
    func `once there is a file of keys nobody is trusted without one, whatever is in it`(_ text: String) throws {
        let server = try KeyServer { file in
            try FileManager.default.createDirectory(
                atPath: (file.path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
        }
        for path in ["/v1/realms", "/v1/realms/notes/schema", "/admin/keys", "/metrics", "/nothing", "/v1/openapi.json"] {
            let answer = try server.request("GET", path)
            #expect(answer.status == 401 && answer.code == "unauthenticated", "\(path)")
            #expect(answer["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
        }
        for path in ["/healthz", "/readyz"] { #expect(try server.request("GET", path).status == 200) }
        #expect(try server.request("GET", "/v1/me").json["principal"]?["kind"]?.text == "anonymous")
    }

    @Test func `a server notices within a second what another process does to the file`() throws {
        let server = try KeyServer()
        #expect(try server.request("GET", "/v1/realms").status == 200)
        let (text, other) = (APIKeyText(), APIKeyText())
        try server.file.add(APIKey(text, name: "new", roles: ["admin"]))
        #expect(try eventually { try server.request("GET", "/v1/realms").status == 401 })
        #expect(try server.request("GET", "/v1/realms", text).status == 200)
        #expect(try server.request("GET", "/v1/realms", other).status == 401)
        let rotated = try server.file.rotate(text.id).text
        #expect(try eventually { try server.request("GET", "/v1/realms", text).status == 401 })
        #expect(try server.request("GET", "/v1/realms", rotated).status == 200)
        try FileManager.default.removeItem(atPath: server.file.path)
        #expect(try eventually { try server.request("GET", "/v1/realms", rotated).status == 401 })
        // That it is gone does not open the server again.
        #expect(try server.request("GET", "/v1/realms").status == 401)
    }

    @Test func `a credential that is not valid is never none`() throws {
        let server = try KeyServer()
        let open = APIKeyText()
        let key = try server.add("a")
        let spoiled = key.text.dropLast() + (key.text.last == "a" ? "b" : "a")
        let basic = { (text: String) in "Basic " + Data(text.utf8).base64EncodedString() }
        let bad = [
            "Bearer " + open.text, "Bearer " + APIKeyText(id: key.id).text, "Bearer", "Bearer ", "", " ", "Bearer  x y", key.text,
            "Basic", "Basic !!!", basic("key:" + open.text), basic("root:" + key.text), basic("key"), basic(key.text + ":"),
            "Digest " + key.text, "Bearer \(key.text) \(key.text)", "Bearer a.b.c", "Bearer \(key.text),", "Bearer rr_",
        ]
        for value in bad {
            for path in ["/v1/realms", "/v1/me", "/admin/keys"] {
                let status = try server.request("GET", path, nil, [("Authorization", value)]).status
                #expect(status == 401 || status == 429, "\(value) \(path) \(status)")
            }
        }
        let good = [
            "Bearer " + key.text, "bearer " + key.text, "BEARER   " + key.text, basic("key:" + key.text),
            "basic " + Data(("key:" + key.text).utf8).base64EncodedString(),
        ]
        for value in good {
            #expect(try server.request("GET", "/v1/realms", nil, [("Authorization", value)]).status == 200, "\(value)")
        }
        #expect(try server.request("GET", "/v1/realms?key=\(key.text)").status == 401)
        _ = spoiled
    }

    @Test func `a mistyped key is told so, and nothing else is told`() throws {
        let server = try KeyServer()
        let key = try server.add("a")
        let elsewhere = try server.add("b", from: ["192.0.2.0/24"])
        let late = try server.add("c", expires: APIKey.now - 5)
        let spoiled = key.text.dropLast() + (key.text.last == "a" ? "b" : "a")
        let mistyped = try server.request("GET", "/v1/realms", nil, [("Authorization", "Bearer " + spoiled)])
        #expect(mistyped.status == 401 && mistyped.json["detail"]?.text?.contains("mistyped") == true)
        var seen: Set<String> = []
        for wrong in [APIKeyText(id: key.id), APIKeyText(), elsewhere, late] {
            let answer = try server.request("GET", "/v1/realms", wrong)
            #expect(answer.status == 401)
            seen.insert((answer.json["detail"]?.text ?? "") + (answer["WWW-Authenticate"] ?? ""))
        }
        #expect(seen.count == 1)
    }

    @Test func `ten failures a minute are answered 401, then 429, and good ones pass`() throws {
        let server = try KeyServer()
        let key = try server.add("a")
        for _ in 0..<3 { #expect(try server.request("GET", "/v1/realms").status == 401) }
        for _ in 0..<10 { #expect(try server.request("GET", "/v1/realms", APIKeyText()).status == 401) }
        for value in ["Bearer " + APIKeyText().text, "Basic x", "Bearer rr_x", "Bearer a.b.c"] {
            let slowed = try server.request("GET", "/v1/realms", nil, [("Authorization", value)])
            #expect(slowed.status == 429 && slowed.code == "rate_limited", "\(value)")
            #expect((1...61).contains(Int(slowed["Retry-After"] ?? "") ?? 0))
        }
        #expect(try server.request("GET", "/v1/realms", key).status == 200)
        #expect(try server.request("GET", "/v1/realms").status == 401)
        let metrics = try server.request("GET", "/metrics", key).text
        #expect(
            metrics.contains("realm_rest_failed_credentials_total 14\n") && metrics.contains("realm_rest_failing_addresses 1\n"))
    }

    @Test func `failures are forgotten after a minute, and the table is bounded`() {
        let failures = FailedCredentials()
        let begin = Instant.now()
        for index in 0..<10 { #expect(failures.count("a", begin.adding(seconds: Double(index))) == nil) }
        let wait = failures.count("a", begin.adding(seconds: 10))
        #expect(wait.map { abs($0 - 50) < 0.01 } == true)
        #expect(failures.count("b", begin.adding(seconds: 10)) == nil)
        #expect(failures.count("a", begin.adding(seconds: 60.5)) == nil)
        #expect(failures.count("a", begin.adding(seconds: 60.6)) != nil)
        for index in 0..<20_000 { _ = failures.count("x\(index)", begin.adding(seconds: 61)) }
        #expect(failures.addressCount <= 16_385)
        // Who comes when it is full is counted together.
        #expect((0..<11).contains { failures.count("late\($0)", begin.adding(seconds: 61)) != nil })
        _ = failures.count("new", begin.adding(seconds: 200))
        #expect(failures.addressCount < 10)
    }

    @Test func `roles that the configuration lacks allow nothing, and that of readers allows to read`() throws {
        let server = try KeyServer()
        let (admin, clerk) = (try server.add("admin"), try server.add("clerk", roles: ["clerk", "Admin", "admins"]))
        #expect(try server.request("GET", "/v1/realms", admin).status == 200)
        #expect(try server.request("GET", "/v1/realms", clerk).json["items"]?.elements?.isEmpty == true)
        for path in ["/v1/realms/notes/schema", "/v1/realms/nothing/schema"] {
            #expect(try server.request("GET", path, clerk).code == "realm_not_found", "\(path)")
        }
        let reader = try server.add("reader", roles: ["read"])
        #expect(try server.request("GET", "/v1/realms/notes/schema", reader).status == 200)
        #expect(try server.request("POST", "/v1/realms/notes/compact", reader).code == "forbidden")
        for path in ["/metrics", "/admin/keys", "/admin/config", "/admin/leases"] {
            #expect(try server.request("GET", path, clerk).code == "not_found", "\(path)")
        }
        let me = try server.request("GET", "/v1/me", clerk)
        #expect(me.json["principal"]?["kind"]?.text == "key" && me.json["principal"]?["id"]?.text == clerk.id)
        #expect(me.json["principal"]?["name"]?.text == "clerk" && me["Cache-Control"] == "no-store")
        #expect(me["Vary"]?.contains("Authorization, Cookie") == true)
    }

    @Test func `a key of one realm knows no other`() throws {
        let server = try KeyServer()
        let key = try server.add("one", realm: "notes")
        #expect(try server.request("GET", "/v1/realms/notes/schema", key).status == 200)
        for path in [
            "/v1/realms/other/schema", "/v1/realms/nothing/schema", "/v1/realms/%6fther/schema", "/v1/realms/@default/schema",
        ] {
            #expect(try server.request("GET", path, key).code == "realm_not_found", "\(path)")
        }
        #expect(try server.request("GET", "/v1/realms", key).json["items"]?.elements?.map { $0["name"]?.text } == ["notes"])
        #expect(try server.request("POST", "/v1/realms", key, body: #"{"name":"x","inMemory":"x"}"#).code == "forbidden")
        for path in ["/admin/keys", "/metrics", "/admin/config"] { #expect(try server.request("GET", path, key).status == 404) }
    }

    @Test func `the administrator of one realm stores no file on the server, and learns of none`() throws {
        let server = try KeyServer()
        let (admin, key) = (try server.add("admin"), try server.add("one", realm: "notes"))
        try server.makeNotes(admin)
        let schema = #"{"schemaVersion":1,"classes":[{"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}"#
        let other = try server.request("POST", "/v1/realms", admin, body: #"{"name":"others","schema":\#(schema)}"#)
        #expect(other.status == 201, "\(other.text)")
        for name in ["planted.realm", "others.realm", "sub/x.realm", "others.realm.backup-9", ".realm-rest/x.realm"] {
            let path = server.folder + "/" + name
            let answer = try server.request("POST", "/v1/realms/notes/backup", key, body: #"{"path":"\#(path)"}"#)
            #expect(answer.status == 403 && answer.code == "forbidden", "\(name): \(answer.text)")
        }
        #expect(!FileManager.default.fileExists(atPath: server.folder + "/planted.realm"))
        #expect(try server.request("GET", "/v1/realms/planted", admin).status == 404)
        // Its bytes are its own.
        #expect(try server.request("GET", "/v1/realms/notes/backup", key).status == 200)
        let own = #"{"path":"\#(server.folder)/planted.realm"}"#
        #expect(try server.request("POST", "/v1/realms/notes/backup", admin, body: own).status == 201)
    }

    @Test func `answers of one principal are not those of another`() throws {
        let server = try KeyServer()
        let admin = try server.add("admin")
        try server.makeNotes(admin)
        for _ in 0..<4 {
            let answer = try server.request("GET", "/v1/realms/notes/objects/Note", admin)
            #expect(answer.status == 200 && answer["Cache-Control"]?.contains("private") == true)
        }
        let clerk = try server.add("clerk", roles: ["clerk"])
        #expect(try server.request("GET", "/v1/realms/notes/objects/Note", clerk).code == "realm_not_found")
        #expect(try server.request("GET", "/v1/realms/notes/objects/Note").status == 401)
    }

    // MARK: - Where nobody is local

    @Test func `strangers of an insecure server read until there is a credential`() throws {
        let server = try KeyServer(change: {
            $0.host = "0.0.0.0"; $0.isInsecure = true; $0.admin = .none
        })
        #expect(server.server.firstKey == nil && !server.file.exists)
        #expect(try server.request("GET", "/v1/realms").status == 200)
        for (method, path) in [
            ("DELETE", "/v1/realms/notes"), ("POST", "/v1/realms"), ("POST", "/v1/realms/notes/batch"),
            ("PATCH", "/v1/realms/notes/objects/Note?dryRun=true"), ("POST", "/v1/realms/notes/transactions"),
        ] {
            let answer = try server.request(method, path)
            #expect(answer.status == 401 && answer["WWW-Authenticate"] != nil, "\(method) \(path)")
        }
        #expect(try server.request("GET", "/admin/keys").status == 404)
        let key = try server.add("a")
        #expect(try server.request("GET", "/v1/realms").status == 401)
        #expect(try server.request("GET", "/admin/keys", key).status == 200)
    }

    @Test func `the very first start makes a key, and no other start does`() throws {
        let server = try KeyServer(change: {
            $0.host = "0.0.0.0"; $0.admin = .none
        })
        let text = try #require(server.server.firstKey)
        guard case .key(let key) = APIKeyText.read(Array(text.utf8)) else { throw HTTPClient.Failure(description: text) }
        #expect(try server.request("GET", "/v1/realms").status == 401)
        #expect(try server.request("GET", "/admin/keys", key).status == 200)
        var options = ServerOptions()
        (options.port, options.logFormat, options.host, options.admin) = (0, nil, "0.0.0.0", .none)
        options.dataFolder = server.folder
        let second = try RealmServer(options)
        #expect(second.firstKey == nil)
        second.stop()
        // On loopback none is needed, and a folder with something in it is not new.
        #expect(try KeyServer().server.firstKey == nil)
        #expect(throws: RealmServer.Failure.self) {
            _ = try KeyServer({ file in
                let folder = (((file.path as NSString).deletingLastPathComponent) as NSString).deletingLastPathComponent
                try Data().write(to: URL(fileURLWithPath: folder + "/x"))
            }) { $0.host = "0.0.0.0" }
        }
    }

    @Test func `the environment names the key of the administrator`() throws {
        let folder = try KeyServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (text, path) = (APIKeyText(), folder + "/admin.key")
        for (contents, isGood) in [(text.text + "\n", true), ("", false), (String(text.text.dropLast()), false), ("x", false)] {
            try Data(contents.utf8).write(to: URL(fileURLWithPath: path))
            let make = {
                try KeyServer(change: {
                    $0.host = "0.0.0.0"
                    $0.admin = .none
                    $0.environment = { $0 == "REALM_REST_ADMIN_KEY_FILE" ? path : nil }
                })
            }
            guard isGood else {
                #expect(throws: RealmServer.Failure.self) { _ = try make() }
                continue
            }
            let server = try make()
            #expect(server.server.firstKey == nil)
            #expect(try server.request("GET", "/admin/keys", text).status == 200)
            let stored = String(decoding: try Data(contentsOf: URL(fileURLWithPath: server.file.path)), as: UTF8.self)
            #expect(!stored.contains(text.text) && stored.contains(FileDigest.hex(text.digest)))
        }
    }

    @Test func `the listener of administrators asks for credentials too, but for its metrics`() throws {
        let server = try KeyServer(change: {
            $0.host = "0.0.0.0"; $0.isInsecure = true
        })
        let port = try #require(server.server.adminDaemon).socket.port
        let key = try server.add("a")
        let clerk = try server.add("b", roles: ["clerk"])
        let get = { (path: String, headers: [(String, String)]) in
            try HTTPClient.request(port: port, "GET", path, headers: headers).status
        }
        for path in ["/admin/keys", "/admin/config", "/v1/realms"] { #expect(try get(path, []) == 401, "\(path)") }
        for path in ["/metrics", "/healthz", "/readyz"] { #expect(try get(path, []) == 200, "\(path)") }
        #expect(try get("/metrics", [("X-Forwarded-For", "::1")]) == 401)
        #expect(try get("/metrics", [("Authorization", "Bearer x")]) == 401)
        #expect(try get("/admin/keys", [("Authorization", "Bearer " + key.text)]) == 200)
        #expect(try get("/admin/keys", [("Authorization", "Bearer " + clerk.text)]) == 404)
    }

    // MARK: - Other tokens

    /// Knows one token, after it was asked for once.
    private final class Verifier: BearerVerifier {
        let known = Mutex<Principal?>(nil)
        let asked = Mutex(0)

        func known(_ token: String) -> Principal? { token == "good" ? known.withLock { $0 } : nil }

        func verify(_ token: String, then: @Sendable @escaping (Principal?) -> Void) {
            asked.withLock { $0 += 1 }
            Thread.detachNewThread { [self] in
                usleep(100_000)
                let principal = token == "good" ? Principal(kind: .jwt, id: "issuer sub", roles: ["admin"]) : nil
                known.withLock { $0 = $0 ?? principal }
                then(principal)
            }
        }
    }

    @Test func `a token is verified while no thread waits, and once`() throws {
        let verifier = Verifier()
        let server = try KeyServer(change: { $0.verifier = verifier })
        #expect(try server.request("GET", "/v1/realms").status == 401)
        let bearer = { (token: String) in [("Authorization", "Bearer " + token)] }
        let made = try server.request("POST", "/v1/realms", nil, bearer("good"), body: #"{"name":"made","inMemory":"made"}"#)
        #expect(made.status == 201)
        #expect(try server.request("GET", "/v1/me", nil, bearer("good")).json["principal"]?["kind"]?.text == "jwt")
        #expect(verifier.asked.withLock { $0 } == 1)
        #expect(try server.request("GET", "/v1/realms", nil, bearer("bad")).code == "unauthenticated")
        for _ in 0..<9 { #expect(try server.request("GET", "/v1/realms", nil, bearer("bad")).status == 401) }
        #expect(try server.request("GET", "/v1/realms", nil, bearer("bad")).status == 429)
        #expect(try server.request("GET", "/v1/realms", nil, bearer("good")).status == 200)
        #expect(try server.request("GET", "/v1/realms/nothing/schema", nil, bearer("good")).code == "realm_not_found")
    }
}

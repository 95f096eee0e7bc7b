// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Texts that Swift takes for one and the bytes for two: names of realms, subjects of tokens, queries, keys of writes, names of
/// classes and properties. A reader was given what another one had begun, and the rows of another query.
@Suite struct LookAlikeTests {
    /// A server whose clients have tokens and see their own objects.
    private final class Server {
        let keys: KeyServer
        let admin: APIKeyText
        private let folder: KeyFolder
        private static let secret = "a secret of thirty-two characters"

        init() throws {
            folder = try KeyFolder()
            var issuer = IssuerSettings(
                issuer: "t", audiences: ["realm-rest"], source: .secretFile(try folder.write("secret", Server.secret + "\n")))
            issuer.roles = ["own"]
            let rules = #"allow: [read, subscribe, create, update], where: "owner == $claims.sub""#
            keys = try KeyServer(
                statingRoles:
                    "roles: {own: {realms: {KUNDEN: {transactions: true, classes: {A: {\(rules)}}}, \"*\": {classes: {\"*\": [read]}}}}}"
            ) { $0.tokenIssuers = [issuer] }
            admin = try keys.add("root")
            try keys.attach("KUNDEN", Server.classes, admin)
        }

        private static let classes =
            #"{"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"owner","type":"string"},{"name":"secret","type":"string","optional":true}]}"#

        /// A token of HS256 for a subject.
        private static func token(_ subject: String) -> String {
            var claims = JSONWriter()
            claims.beginObject()
            claims.member("iss", text: "t")
            claims.member("aud", text: "realm-rest")
            claims.member("sub", text: subject)
            claims.key("exp")
            claims.int(4_000_000_000)
            claims.endObject()
            let head = Base64.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8), .url)
            let text = head + "." + Base64.encode(Array(claims.buffer.text.utf8), .url)
            let key = Array(secret.utf8) + [UInt8](repeating: 0, count: 64 - secret.utf8.count)
            let inner = SecretDigest.sha256(key.map { $0 ^ 0x36 } + Array(text.utf8))
            return text + "." + Base64.encode(SecretDigest.sha256(key.map { $0 ^ 0x5c } + inner), .url)
        }

        func send(
            _ subject: String, _ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []
        ) throws -> HTTPClient.Answer {
            let bearer = [("Authorization", "Bearer " + Server.token(subject))]
            return try keys.request(method, "/v1/realms/" + path, nil, bearer + headers, body: body)
        }
    }

    @Test func `a name of a realm that no realm can have is unknown, whatever it looks like`() throws {
        let server = try Server()
        #expect(try server.send("Karl", "GET", "KUNDEN/objects/A").status == 200)
        for path in ["", "/objects/A", "/schema", "/changes?class=A", "/objects/A/1", "/backups"] {
            let answer = try server.keys.request("GET", "/v1/realms/%E2%84%AAUNDEN" + path, server.admin)
            #expect(answer.status == 404 && answer.code == "realm_not_found", "\(path)")
            #expect(try server.send("Karl", "GET", "%E2%84%AAUNDEN" + path).status == 404, "\(path)")
        }
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `subjects that look alike are two owners`(_ seed: UInt64) throws {
        let server = try Server()
        var random = SeededGenerator(seed: seed)
        let (victim, other) = LookAlikes.pair("s", &random)
        let note: Comment = "seed \(seed): \(Array(victim.utf8)) \(Array(other.utf8))"
        func body(_ id: Int) -> String { #"{"id":\#(id),"owner":"\#(victim)","secret":"hunter2"}"# }
        let made = try server.send(victim, "POST", "KUNDEN/objects/A", body(1), [("Idempotency-Key", "1")])
        try #require(made.status == 201, note)
        let begun = try server.send(victim, "POST", "KUNDEN/subscriptions", #"{"subscriptions":{"a":{"class":"A"}}}"#)
        let registration = try ParsedJSON(parsing: begun.body)["id"]?.text ?? ""
        let queued = try server.send(victim, "POST", "KUNDEN/objects/A", body(2), [("Prefer", "respond-async")])
        let outcome = (queued["Location"] ?? "").dropFirst("/v1/realms/".count)
        let pinned = try server.send(victim, "POST", "KUNDEN/snapshots", "{}")
        let snapshot = try ParsedJSON(parsing: pinned.body)["id"]?.text ?? ""
        let opened = try server.send(victim, "POST", "KUNDEN/transactions", "{}")
        let transaction = try ParsedJSON(parsing: opened.body)["id"]?.text ?? ""
        #expect([begun, queued, pinned, opened].map(\.status) == [201, 202, 201, 201], note)
        for (method, path, text, status) in [
            ("GET", "changes?subscription=\(registration)", nil, 404), ("DELETE", "subscriptions/\(registration)", nil, 404),
            ("GET", String(outcome.dropFirst("KUNDEN/".count)), nil, 404), ("DELETE", "snapshots/\(snapshot)", nil, 404),
            ("DELETE", "transactions/\(transaction)", nil, 404), ("GET", "objects/A/1", nil, 404),
        ] as [(String, String, String?, Int)] {
            let answer = try server.send(other, method, "KUNDEN/" + path, text)
            #expect(answer.status == status && !answer.text.contains("hunter2"), "\(method) \(path) \(note)")
        }
        #expect(try !server.send(other, "GET", "KUNDEN/snapshots").text.contains(snapshot), note)
        #expect(try server.send(victim, "DELETE", "KUNDEN/transactions/\(transaction)").status == 204, note)
        let repeated = try server.send(other, "POST", "KUNDEN/objects/A", body(1), [("Idempotency-Key", "1")])
        #expect(repeated.status >= 400 && !repeated.text.contains("hunter2") && repeated["Idempotency-Replayed"] == nil, note)
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `queries that look alike are two feeds`(_ seed: UInt64) throws {
        let server = try ChangeServer()
        var random = SeededGenerator(seed: seed)
        let (one, other) = LookAlikes.pair("t", &random)
        let note: Comment = "seed \(seed): \(Array(one.utf8)) \(Array(other.utf8))"
        try server.makeRealm(
            "app",
            classes: #"[{"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"t","type":"string"}]}]"#)
        try server.must("POST", "app/objects/A", #"[{"id":1,"t":"\#(one)"},{"id":2,"t":"\#(other)"}]"#)
        for (id, text) in [(1, one), (2, other)] as [(Int64, String)] {
            for query in [
                "where=t%20%3D%3D%20%240&args=" + ChangeServer.encode("[\"\(text)\"]"),
                "where=" + ChangeServer.encode("t == '\(text)'"),
            ] {
                let items = try server.poll("app", "class=A&include=keys&\(query)")["snapshots"]?.elements?.first?["items"]
                #expect(items?.elements?.map { $0["key"]?.text } == ["\(id)"], "\(query) \(note)")
                let list = try server.must("GET", "app/objects/A?\(query)")["items"]?.elements
                #expect(list?.map { $0["id"]?.integer } == [id], "\(query) \(note)")
            }
        }
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `classes and properties with names that look alike are two`(_ seed: UInt64) throws {
        let server = try ChangeServer()
        var random = SeededGenerator(seed: seed)
        let (one, other) = LookAlikes.pair("n", &random)
        let note: Comment = "seed \(seed): \(Array(one.utf8)) \(Array(other.utf8))"
        func property(_ name: String) -> String { #"{"name":"\#(name)","type":"int","optional":true}"# }
        func shape(_ name: String) -> String {
            #"{"name":"\#(name)","primaryKey":"id","properties":[{"name":"id","type":"int"},\#(property(one)),\#(property(other))]}"#
        }
        try server.makeRealm("app", classes: "[\(shape(one)),\(shape(other))]")
        for (number, name) in [one, other].enumerated() {
            let path = "app/objects/" + ChangeServer.encode(name)
            try server.must("POST", path, #"{"id":\#(number),"\#(one)":1,"\#(other)":2}"#)
            let found = try server.must("GET", path)["items"]?.elements
            #expect(found?.map { $0["id"]?.integer } == [Int64(number)], note)
            #expect(found?.first?[one]?.integer == 1 && found?.first?[other]?.integer == 2, note)
            let chosen = try server.must("GET", "\(path)?meta=none&fields=" + ChangeServer.encode(other))["items"]?.elements
            #expect(chosen?.first?[other]?.integer == 2 && chosen?.first?[one] == nil, note)
        }
        try server.makeRealm(
            "single", classes: #"[{"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"},\#(property(one))]}]"#)
        #expect(try server.send("POST", "single/objects/A", #"{"id":1,"\#(other)":1}"#).status == 422, note)
        #expect(try server.send("GET", "single/objects/A?sort=" + ChangeServer.encode(other)).status == 400, note)
        #expect(try server.send("GET", "app/objects/" + ChangeServer.encode(one + "\u{301}")).code == "class_not_found", note)
    }

    /// A mark behind a beginning or a slash is one character with it, and was lost when the beginning was taken off.
    @Test func `names that begin with a mark keep it`() throws {
        let server = try ChangeServer()
        let (plain, marked) = ("x", "\u{301}x")
        let properties = [plain, marked].map { #"{"name":"\#($0)","type":"int","optional":true}"# }.joined(separator: ",")
        let classes = [plain, marked].map {
            #"{"name":"\#($0)","primaryKey":"id","properties":[{"name":"id","type":"int"},\#(properties)]}"#
        }
        try server.makeRealm("app", classes: "[\(classes.joined(separator: ","))]")
        let path = "app/objects/" + ChangeServer.encode(marked)
        try server.must("POST", path, #"{"id":1,"\#(plain)":1,"\#(marked)":2}"#)
        #expect(try server.must("GET", "app/objects/x")["items"]?.elements?.isEmpty == true)
        let patch = #"[{"op":"replace","path":"/\#(marked)","value":3}]"#
        let answer = try HTTPClient.request(
            port: server.port, "PATCH", "/v1/realms/\(path)/1", headers: [("Content-Type", "application/json-patch+json")],
            body: Array(patch.utf8))
        try #require(answer.status == 200, "\(answer.text)")
        let object = try server.must("GET", path + "/1?meta=none")
        #expect(object[plain]?.integer == 1 && object[marked]?.integer == 3)
        let wrong = try server.send("POST", path, #"{"id":2,"\#(marked)":"text"}"#)
        #expect(wrong.status == 422 && wrong.text.contains("\"/\(marked)\""), "\(wrong.text)")
    }
}

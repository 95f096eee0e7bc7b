// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Which realms the list has for whom, and what the document of a realm tells to those who see a part of it.
@Suite struct RealmListTests {
    private static let roles = """
        roles:
          shop: {realms: {"shop-*": {classes: {A: [read]}}}}
          tenant: {realms: {$claims.realms: {classes: {"*": [read]}}}}
          writer: {realms: {b1: {classes: {A: [update]}}}}
          mover: {realms: {b2: {migrate: true}}}
          empty: {realms: {"*": {transactions: true, classes: {A: []}}}}
          hider: {realms: {"shop-2": {classes: {A: {allow: [read], where: "id == 0"}}}}}
        """
    private static let names = ["a0", "b1", "b2", "c3", "shop-1", "shop-2", "shop-3", "z9"]
    private static let classes = """
        {"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"}]},
        {"name":"B","primaryKey":"id","properties":[{"name":"id","type":"int"}]},
        {"name":"C","type":"embedded","properties":[{"name":"n","type":"int"}]}
        """

    private func server(_ more: String = "", change: @escaping (inout ServerOptions) -> Void = { _ in }) throws -> KeyServer {
        try KeyServer(statingRoles: Self.roles + more) { options in
            options.memoryRealms = Self.names
            change(&options)
        }
    }

    /// A key with claims.
    private func key(
        _ server: KeyServer, _ roles: [String], realms: [String] = [], realm: String? = nil
    ) throws -> APIKeyText {
        let text = APIKeyText()
        let claims = JSONObject([(name: "realms", value: .array(realms.map { .string($0) }))])
        try server.file.add(APIKey(text, name: "k", roles: roles, realm: realm, claims: claims))
        server.server.state.authenticator.keys.refresh()
        return text
    }

    private func names(_ answer: HTTPClient.Answer) -> [String] {
        answer.json["items"]?.elements?.compactMap { $0["name"]?.text } ?? ["?"]
    }

    @Test func `the list has exactly the realms with any right`() throws {
        let server = try server()
        let rows: [([String], [String], String?, [String])] = [
            (["admin"], [], nil, Self.names), (["admin"], [], "c3", ["c3"]), (["admin"], [], "gone", []),
            (["read"], [], nil, Self.names), (["read"], [], "b1", ["b1"]),
            (["shop"], [], nil, ["shop-1", "shop-2", "shop-3"]), (["shop"], [], "shop-2", ["shop-2"]), (["shop"], [], "a0", []),
            (["tenant"], ["z9", "c3", "gone", "*"], nil, ["c3", "z9"]), (["tenant"], [], nil, []),
            (["writer"], [], nil, ["b1"]), (["mover"], [], nil, ["b2"]), (["writer", "mover", "shop"], [], "b2", ["b2"]),
            (["writer", "mover"], [], nil, ["b1", "b2"]), (["empty"], [], nil, []), (["unknown", "Admin"], [], nil, []),
            (["hider"], [], nil, ["shop-2"]),
        ]
        for (roles, realms, only, expected) in rows {
            let key = try key(server, roles, realms: realms, realm: only)
            let answer = try server.request("GET", "/v1/realms", key)
            #expect(answer.status == 200 && names(answer) == expected, "\(roles) \(realms) \(only ?? ""): \(answer.text)")
            // What is not in the list cannot be told from what is not there.
            for name in Self.names + ["gone"] {
                let one = try server.request("GET", "/v1/realms/\(name)", key)
                if expected.contains(name) {
                    #expect(one.status == 200 && one.json["name"]?.text == name, "\(roles) \(name): \(one.text)")
                } else {
                    #expect(one.status == 404 && one.code == "realm_not_found", "\(roles) \(name): \(one.text)")
                    #expect(one["Realm-Version"] == nil)
                }
            }
        }
    }

    @Test func `pages of one list tell nothing of other realms`() throws {
        let server = try server()
        let key = try key(server, ["shop", "writer", "mover", "tenant"], realms: ["z9"])
        let whole = ["b1", "b2", "shop-1", "shop-2", "shop-3", "z9"]
        for limit in 1...8 {
            var (path, found, pages) = ("/v1/realms?limit=\(limit)", [String](), 0)
            while true {
                let page = try server.request("GET", path, key)
                #expect(page.status == 200, "\(page.text)")
                found += names(page)
                pages += 1
                guard let next = page.json["next"]?.text else {
                    #expect(page["Link"] == nil)
                    break
                }
                #expect(names(page).count == limit, "only the last page is shorter")
                // The cursor is that of a list which has these realms alone.
                path = "/v1/realms?limit=\(limit)&after=\(next)"
                #expect(page["Link"] == "<\(path)>; rel=\"next\"")
            }
            #expect(found == whole && pages == (whole.count + limit - 1) / limit, "\(limit): \(found)")
        }
        let none = try server.request("GET", "/v1/realms?limit=0", try self.key(server, ["unknown"]))
        #expect(none.status == 200 && none.json["next"] == .null)
    }

    /// Each answer is the same byte for byte as that of a server that has only the visible realms.
    @Test func `a server with fewer realms answers the same`() throws {
        let (full, small) = (try server(), try server { $0.memoryRealms = ["shop-1", "shop-2", "shop-3"] })
        let (one, other) = (try key(full, ["shop"]), try key(small, ["shop"]))
        for query in ["", "?limit=1", "?limit=2", "?limit=0", "?limit=3"] {
            let answers = [
                try full.request("GET", "/v1/realms" + query, one), try small.request("GET", "/v1/realms" + query, other),
            ]
            let texts = answers.map { answer in
                // The epochs of two servers differ.
                (answer.json["items"]?.elements ?? []).reduce(answer.text) { text, item in
                    text.replacing(item["version"]?.text ?? "-", with: "v")
                }
            }
            #expect(texts[0] == texts[1])
            #expect(answers[0]["Link"] == answers[1]["Link"] && answers[0]["ETag"] == answers[1]["ETag"])
        }
    }

    @Test func `the document has what everybody may know, and what administrators need only for them`() throws {
        let server = try server()
        let admin = try server.add("admin")
        for name in ["shop-1", "b1"] { try server.attach(name, Self.classes, admin) }
        let whole = try server.request("GET", "/v1/realms/shop-1", admin).json
        let operational = ["fileBytes", "usedBytes", "empty", "liveVersions", "pendingWrites"]
        for member in operational { #expect(whole[member] != nil, "\(member)") }
        #expect(whole["classes"]?.int == 3)
        let hidden = operational + ["path", "options", "backups", "readOnlyReason"]
        let rows: [([String], String, Int)] = [
            (["shop"], "shop-1", 1), (["read"], "shop-1", 3), (["writer"], "b1", 0), (["read", "shop"], "shop-1", 3),
        ]
        for (roles, name, classes) in rows {
            let key = try key(server, roles)
            let document = try server.request("GET", "/v1/realms/\(name)", key).json
            let listed = try server.request("GET", "/v1/realms", key).json["items"]?.elements?.first { $0["name"]?.text == name }
            for seen in [document, try #require(listed)] {
                #expect(seen["state"]?.text == "ready" && seen["mode"]?.text == "rw" && seen["schemaVersion"]?.int == 1)
                #expect(seen["classes"]?.int == classes, "\(roles) \(name): \(seen)")
                for member in hidden { #expect(seen[member] == nil, "\(roles) \(member)") }
            }
            let schema = try server.request("GET", "/v1/realms/\(name)/schema", key).json["classes"]?.elements?.count
            #expect(schema == classes)
            for method in ["HEAD", "OPTIONS"] { #expect(try server.request(method, "/v1/realms", key).status < 300, "\(method)") }
            #expect(try server.request("OPTIONS", "/v1/realms", key)["Allow"] == "GET, HEAD, OPTIONS")
        }
    }

    @Test func `who sends no credential sees what the role anonymous has, and is asked for one otherwise`() throws {
        let closed = try server()
        let admin = try closed.add("admin")
        #expect(try closed.request("GET", "/v1/realms").status == 401)
        #expect(try closed.request("GET", "/v1/realms/a0").status == 401)
        #expect(try closed.request("GET", "/v1/realms", admin).status == 200)
        let open = try server("\n  anonymous: {realms: {a0: {classes: {A: [read]}}}}")
        _ = try open.add("admin")
        let list = try open.request("GET", "/v1/realms")
        #expect(list.status == 200 && names(list) == ["a0"] && !list.text.contains("usedBytes"), "\(list.text)")
        #expect(try open.request("GET", "/v1/realms/a0").status == 200)
        for (method, path) in [
            ("GET", "/v1/realms/b1"), ("GET", "/v1/realms/gone"), ("POST", "/v1/realms"), ("DELETE", "/v1/realms/a0"),
            ("POST", "/v1/realms/a0/batch"), ("GET", "/v1/realms/a0/backup"), ("GET", "/metrics"),
        ] {
            let answer = try open.request(method, path)
            #expect(answer.status == 401 && answer["WWW-Authenticate"] != nil, "\(method) \(path): \(answer.text)")
        }
    }

    @Test func `without credentials this machine sees everything, and strangers no sizes`() throws {
        let server = try server { $0.isInsecure = true }
        #expect(try server.request("GET", "/v1/realms/a0").json["usedBytes"] != nil)
        let strange = [("X-Forwarded-For", "192.0.2.1")]
        let list = try server.request("GET", "/v1/realms", nil, strange)
        #expect(names(list) == Self.names && !list.text.contains("usedBytes") && !list.text.contains("\"empty\""))
        #expect(try server.request("GET", "/v1/realms/a0", nil, strange).json["liveVersions"] == nil)
    }
}

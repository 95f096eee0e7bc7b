// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// `/admin/keys` and `/v1/session`.
@Suite struct KeyEndpointTests {
    private func key(_ answer: HTTPClient.Answer) throws -> APIKeyText {
        let text = try #require(answer.json["key"]?.text)
        guard case .key(let key) = APIKeyText.read(Array(text.utf8)) else { throw HTTPClient.Failure(description: text) }
        return key
    }

    @Test func `a key is made, shown once, listed, replaced and revoked`() throws {
        let server = try KeyServer()
        let body = #"{"name":"ann","roles":["admin"],"expires":"90d","from":["127.0.0.0/8"],"claims":{"team":"x"}}"#
        let made = try server.request("POST", "/admin/keys", body: body)
        #expect(made.status == 201 && made["Cache-Control"] == "no-store")
        let first = try key(made)
        #expect(made["Location"] == "/admin/keys/" + first.id && made.json["id"]?.text == first.id)
        // From now on nobody is trusted without one.
        #expect(try server.request("GET", "/admin/keys").status == 401)
        let list = try server.request("GET", "/admin/keys", first)
        #expect(
            list.status == 200 && !list.text.contains(first.text.dropFirst(12))
                && !list.text.contains(FileDigest.hex(first.digest)))
        let item = try #require(list.json["items"]?.elements?.first)
        #expect(item["name"]?.text == "ann" && item["roles"]?.elements?.map(\.text) == ["admin"] && item["key"] == nil)
        #expect(item["expires"]?.text != nil && item["lastUsed"]?.text?.hasSuffix(":00.000Z") == true)
        #expect(item["claims"]?["team"]?.text == "x" && item["from"]?.elements?.map(\.text) == ["127.0.0.0/8"])
        let rotated = try server.request("POST", "/admin/keys/\(first.id)/rotate", first)
        #expect(rotated.status == 200 && rotated["Cache-Control"] == "no-store")
        let second = try key(rotated)
        #expect(second.id == first.id && second.text != first.text)
        #expect(try server.request("GET", "/admin/keys", first).status == 401)
        #expect(try server.request("DELETE", "/admin/keys/\(first.id)?confirm=no-administrator", second).status == 204)
        #expect(try server.request("GET", "/admin/keys", second).status == 401)
    }

    @Test(arguments: [
        ("{}", "/name"), (#"{"name":"","roles":["a"]}"#, "/name"), (#"{"name":"a\u0000","roles":["a"]}"#, "/name"),
        (#"{"name":"a"}"#, "/roles"), (#"{"name":"a","roles":[]}"#, "/roles"), (#"{"name":"a","roles":"admin"}"#, "/roles"),
        (#"{"name":"a","roles":[1]}"#, "/roles"), (#"{"name":"a","roles":["a b"]}"#, "/roles"),
        (#"{"name":"a","roles":["a"],"expires":"soon"}"#, "/expires"),
        (#"{"name":"a","roles":["a"],"expires":"0s"}"#, "/expires"),
        (#"{"name":"a","roles":["a"],"from":["x"]}"#, "/from"), (#"{"name":"a","roles":["a"],"from":"10.0.0.0/8"}"#, "/from"),
        (#"{"name":"a","roles":["a"],"realm":"../x"}"#, "/realm"), (#"{"name":"a","roles":["a"],"claims":[]}"#, "/claims"),
        (#"{"name":"a","roles":["a"],"secret":"x"}"#, "/secret"), (#"{"name":"a","roles":["a"],"key":"x"}"#, "/key"),
    ])
    func `a bad body is told with its place, and makes nothing`(_ body: String, _ pointer: String) throws {
        let server = try KeyServer()
        let answer = try server.request("POST", "/admin/keys", body: body)
        #expect(
            answer.status == 400 && answer.code == "invalid_body" && answer.json["pointer"]?.text == pointer, "\(answer.text)")
        #expect(!server.file.exists)
    }

    @Test func `unknown ids, a broken file and a server without a folder are told`() throws {
        let server = try KeyServer()
        let key = try server.add("a")
        #expect(try server.request("DELETE", "/admin/keys/abcdefgh", key).code == "not_found")
        #expect(try server.request("POST", "/admin/keys/abcdefgh/rotate", key).code == "not_found")
        #expect(try server.request("POST", "/admin/keys/\(key.id)/rotate", key, body: "{}").status >= 400)
        #expect(try server.request("GET", "/admin/keys?x=1", key).code == "unknown_parameter")
        let none = try KeyServer(change: { $0.dataFolder = nil })
        let answer = try none.request("POST", "/admin/keys", body: #"{"name":"a","roles":["admin"]}"#)
        #expect(answer.code == "invalid_configuration")
        #expect(try none.request("GET", "/admin/keys").status == 200)
    }

    // MARK: - Sessions

    private func begin(_ server: KeyServer, _ key: APIKeyText) throws -> (cookie: String, token: String) {
        let answer = try server.request("POST", "/v1/session", key)
        #expect(answer.status == 201 && answer["Cache-Control"] == "no-store")
        let field = try #require(answer["Set-Cookie"])
        for part in ["HttpOnly", "Secure", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
            #expect(field.contains(part), "\(field)")
        }
        #expect(field.hasPrefix("__Host-rr=") && !field.contains("Domain"))
        let cookie = String(field.prefix { $0 != ";" })
        return (cookie, try #require(answer.json["csrfToken"]?.text))
    }

    @Test func `a session reads with its cookie, and changes with its token`() throws {
        let server = try KeyServer()
        let key = try server.add("a")
        let (cookie, token) = try begin(server, key)
        let other = try begin(server, key)
        #expect(other.cookie != cookie && other.token != token)
        let cookies = [("Cookie", "a=b; \(cookie); c=d")]
        #expect(try server.request("GET", "/v1/realms", nil, cookies).status == 200)
        #expect(try server.request("GET", "/v1/me", nil, cookies).json["principal"]?["id"]?.text == key.id)
        let body = #"{"name":"made","inMemory":"made"}"#
        for headers in [[], [("X-CSRF-Token", "")], [("X-CSRF-Token", other.token)], [("X-CSRF-Token", token + "x")]] {
            #expect(try server.request("POST", "/v1/realms", nil, cookies + headers, body: body).code == "forbidden")
            #expect(try server.request("DELETE", "/v1/session", nil, cookies + headers).code == "forbidden")
        }
        #expect(try server.request("POST", "/v1/realms", nil, cookies + [("X-CSRF-Token", token)], body: body).status == 201)
        // A session begins none, and its cookie alone is not that of another place.
        #expect(try server.request("POST", "/v1/session", nil, cookies + [("X-CSRF-Token", token)]).code == "unauthenticated")
        for wrong in ["__Host-rr=", "__Host-rr=x", cookie + "x", String(cookie.dropLast())] {
            #expect(try server.request("GET", "/v1/realms", nil, [("Cookie", wrong)]).status == 401, "\(wrong)")
        }
        for none in ["rr=x", "x__Host-rr=1", "__host-rr=" + cookie.dropFirst(10)] {
            #expect(try server.request("GET", "/v1/me", nil, [("Cookie", none)]).json["principal"]?["kind"]?.text == "anonymous")
        }
        let ended = try server.request("DELETE", "/v1/session", nil, cookies + [("X-CSRF-Token", token)])
        #expect(ended.status == 204 && ended["Set-Cookie"]?.contains("Max-Age=0") == true)
        #expect(try server.request("GET", "/v1/realms", nil, cookies).status == 401)
        #expect(try server.request("GET", "/v1/realms", nil, [("Cookie", other.cookie)]).status == 200)
    }

    @Test func `a session ends with its key, and needs one`() throws {
        let server = try KeyServer()
        #expect(try server.request("POST", "/v1/session").code == "unauthenticated")
        let key = try server.add("a")
        let (cookie, _) = try begin(server, key)
        #expect(try server.request("POST", "/v1/session").code == "unauthenticated")
        #expect(try server.request("GET", "/v1/realms", nil, [("Cookie", cookie)]).status == 200)
        try server.file.revoke(key.id)
        #expect(try eventually { try server.request("GET", "/v1/realms", nil, [("Cookie", cookie)]).status == 401 })
    }

    @Test func `the sessions of a principal are bounded, and the oldest gives way`() throws {
        let sessions = SessionTable()
        let principal = Principal(kind: .key, id: "a")
        let first = try sessions.begin(principal)
        for _ in 0..<SessionTable.limitOfPrincipal { _ = try sessions.begin(principal) }
        #expect(sessions.count == SessionTable.limitOfPrincipal && first.principal.isOver)
        #expect(sessions.session(of: first.secrets.cookie) == nil)
        let other = try sessions.begin(Principal(kind: .key, id: "b"))
        #expect(sessions.session(of: other.secrets.cookie)?.principal.owner == "key:b")
        principal.end()
        sessions.sweep()
        #expect(sessions.count == 1)
    }
}

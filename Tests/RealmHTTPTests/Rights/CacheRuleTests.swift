// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Caches that several clients share must not keep what depends on one of them.
@Suite struct CacheRuleTests {
    private static let roles = """
        roles:
          clerk: {realms: {notes: {classes: {Note: [read, subscribe]}, export: true}}}
        """
    private static let realm = "/v1/realms/notes"

    /// Whether an answer may be kept for nobody but the client, and for what it sends.
    private func isPrivate(_ headers: (String) -> String?) -> Bool {
        let rule = headers("Cache-Control") ?? ""
        let vary = (headers("Vary") ?? "").split(separator: ",").map { $0.drop { $0 == " " } }
        let isKeptBack = rule.contains("private") || rule.contains("no-store")
        return isKeptBack && !rule.contains("public") && vary.contains("Authorization") && vary.contains("Cookie")
    }

    private static let requests: [(String, String, [(String, String)])] = [
        ("GET", "/v1/realms", []), ("GET", realm, []), ("GET", realm + "/schema", []),
        ("GET", realm + "/schema?format=swift", []),
        ("GET", realm + "/schema/Note", []), ("GET", realm + "/openapi.json", []), ("GET", "/v1/openapi.json", []),
        ("GET", "/v1/version", []),
        ("GET", realm + "/objects/Note", []), ("GET", realm + "/objects/Note?limit=1", []),
        ("GET", realm + "/objects/Note/1", []),
        ("GET", realm + "/objects/Note", [("Accept", "application/x-ndjson")]),
        ("GET", realm + "/objects/Note", [("Accept", "text/csv")]),
        ("GET", realm + "/objects/Note", [("Accept-Encoding", "gzip")]),
        ("HEAD", realm + "/objects/Note/1", []), ("OPTIONS", realm + "/objects/Note", []), ("QUERY", realm + "/objects/Note", []),
        ("GET", realm + "/objects/Note/1/id", []), ("GET", realm + "/aggregate/Note?ops=count", []),
        ("GET", realm + "/objects/Note?explain=true", []), ("GET", realm + "/export", []),
        ("GET", realm + "/changes?class=Note", []),
        ("GET", "/v1/me", []),
        // Problems: what is refused to one is there for another.
        ("GET", realm + "/objects/Note/9", []), ("GET", realm + "/objects/Ghost", []), ("GET", "/v1/realms/other", []),
        ("GET", "/nothing", []), ("GET", realm + "/objects/Note?where=x", []), ("POST", realm + "/batch", []),
        ("GET", "/admin/config", []), ("PUT", realm + "/schema", []), ("GET", realm + "/objects/Note?limit=x", []),
    ]

    @Test func `every kind of answer says that it is for one client`() throws {
        let server = try KeyServer(statingRoles: Self.roles)
        let admin = try server.add("admin")
        try server.makeNotes(admin)
        try server.post("notes/objects/Note", admin, #"[{"id":1},{"id":2}]"#)
        let clerk = try server.add("clerk", roles: ["clerk"])
        let session = try server.request("POST", "/v1/session", clerk)
        let cookie = String((session["Set-Cookie"] ?? "").prefix { $0 != ";" })
        var statuses: Set<Int> = []
        let senders: [(String, APIKeyText?, [(String, String)])] = [
            ("administrator", admin, []), ("clerk", clerk, []), ("nobody", nil, []), ("browser", nil, [("Cookie", cookie)]),
            ("wrong", nil, [("Authorization", "Bearer x")]),
        ]
        for (sender, key, own) in senders {
            for (method, path, headers) in Self.requests {
                // The wrong credentials of one address are slowed, and that is an answer of its own kind.
                let answer = try server.request(method, path, key, own + headers)
                statuses.insert(answer.status)
                #expect(
                    isPrivate { answer[$0] },
                    "\(sender) \(method) \(path) \(answer.status): \(answer["Cache-Control"] ?? "-") \(answer["Vary"] ?? "-")")
                guard let tag = answer["ETag"], method == "GET", answer.status == 200 else { continue }
                let unchanged = try server.request(method, path, key, own + headers + [("If-None-Match", tag)])
                statuses.insert(unchanged.status)
                #expect(isPrivate { unchanged[$0] }, "\(sender) \(path): \(unchanged.status)")
            }
        }
        #expect(statuses.isSuperset(of: [200, 204, 304, 400, 401, 403, 404, 405, 429]), "\(statuses.sorted())")
    }

    @Test func `a stream and a poll are kept by nobody`() throws {
        let server = try KeyServer(statingRoles: Self.roles)
        let admin = try server.add("admin")
        try server.makeNotes(admin)
        let clerk = try server.add("clerk", roles: ["clerk"])
        let stream = try EventClient(
            port: server.port, Self.realm + "/changes?class=Note", headers: [("Authorization", "Bearer " + clerk.text)])
        #expect(stream.status == 200 && isPrivate { stream.header($0) })
        let poll = try server.request("GET", Self.realm + "/changes?class=Note", clerk)
        #expect(poll.status == 200 && isPrivate { poll[$0] })
        let snapshot = try server.request("POST", Self.realm + "/snapshots", admin)
        let frozen = try server.request(
            "GET", Self.realm + "/objects/Note?snapshot=\(snapshot.json["id"]?.text ?? "")", admin)
        #expect(frozen.status == 200 && isPrivate { frozen[$0] })
    }
}

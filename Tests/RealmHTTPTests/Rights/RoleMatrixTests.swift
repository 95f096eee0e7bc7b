// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
import RealmCalls
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Every kind of principal × every route and method: what each is answered.
///
/// The cells of a row are, in this order: nobody, somebody without a credential where the role `anonymous` reads one class, a viewer,
/// a clerk with rules, an expired key, a revoked key, a token of another issuer, an administrator. `1`, `3` and `4` stand for 401, 403
/// and 404; `.` for any other answer. A route or method without a row fails.
@Suite struct RoleMatrixTests {
    private static let roles = """
        roles:
          anonymous: {realms: {notes: {classes: {Note: [read]}}}}
          viewer: {realms: {"*": {classes: {"*": [read, subscribe]}}}}
          clerk:
            realms:
              notes:
                classes:
                  Note: {allow: [read, create, update, delete, subscribe, export, import], where: "owner == $claims.sub"}
                transactions: true
        """
    private static let schema = """
        {"schemaVersion":1,"classes":[{"name":"Note","primaryKey":"id","properties":[{"name":"id","type":"int"},
        {"name":"owner","type":"string"},{"name":"next","type":"object","objectType":"Note"}]}]}
        """

    /// The answers, said a second time.
    private static let expected: [String: String] = [
        "DELETE /admin/keys/{id}": "11441114",
        "DELETE /admin/leases/{id}": "11441114",
        "DELETE /v1/realms/{realm}": "1133111.",
        "DELETE /v1/realms/{realm}/backups/{id}": "11331114",
        "DELETE /v1/realms/{realm}/objects": "1133111.",
        "DELETE /v1/realms/{realm}/objects/{class}": "113.111.",
        "DELETE /v1/realms/{realm}/objects/{class}/{key}": "113.1114",
        "DELETE /v1/realms/{realm}/snapshots/{id}": "14441114",
        "DELETE /v1/realms/{realm}/subscriptions/{id}": "11441114",
        "DELETE /v1/realms/{realm}/transactions/{id}": "11341114",
        "DELETE /v1/realms/{realm}/writes/{id}": "11341114",
        "DELETE /v1/session": "44441114",
        "GET /": "....111.",
        "GET /admin/config": "1144111.",
        "GET /admin/keys": "1144111.",
        "GET /admin/leases": "1144111.",
        "GET /admin/log": "11441114",
        "GET /client.d.ts": "........",
        "GET /client.js": "........",
        "GET /console/{path}": "44444444",
        "GET /docs": "........",
        "GET /docs/": "........",
        "GET /docs/problems": "........",
        "GET /docs/problems/": "........",
        "GET /docs/problems/{id}": "44444444",
        "GET /docs/{id}": "44444444",
        "GET /healthz": "........",
        "GET /metrics": "1144111.", "GET /v1/cluster": "11441114",
        "GET /readyz": "........",
        "GET /v1/me": "....111.",
        "GET /v1/openapi.json": "1...111.",
        "GET /v1/realms": "1...111.",
        "GET /v1/realms/{realm}": "1...111.",
        "GET /v1/realms/{realm}/aggregate/{class}": "1...111.",
        "GET /v1/realms/{realm}/backup": "1133111.",
        "GET /v1/realms/{realm}/backups": "1133111.",
        "GET /v1/realms/{realm}/backups/{id}": "11331114",
        "GET /v1/realms/{realm}/changes": "11..111.",
        "GET /v1/realms/{realm}/changes/{class}": "11..111.",
        "GET /v1/realms/{realm}/diff": "113.111.",
        "GET /v1/realms/{realm}/export": "113.111.",
        "GET /v1/realms/{realm}/objects/{class}": "1...111.",
        "GET /v1/realms/{realm}/objects/{class}/{key}": "1...111.",
        "GET /v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}": "1...111.",
        "GET /v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}/@aggregate": "1...111.",
        "GET /v1/realms/{realm}/objects/{class}/{key}/{property}": "1...111.",
        "GET /v1/realms/{realm}/objects/{class}/{key}/{property}/@aggregate": "1...111.",
        "GET /v1/realms/{realm}/openapi.json": "1...111.",
        "GET /v1/realms/{realm}/schema": "1...111.",
        "GET /v1/realms/{realm}/schema/{class}": "1...111.",
        "GET /v1/realms/{realm}/snapshots": "1...111.",
        "GET /v1/realms/{realm}/snapshots/{id}": "14441114",
        "GET /v1/realms/{realm}/sql": "1...111.",
        "GET /v1/realms/{realm}/recovered": "11331114",
        "HEAD /v1/realms/{realm}/recovered": "11331114",
        "DELETE /v1/realms/{realm}/recovered": "11331114",
        "GET /v1/realms/{realm}/recovered/versions": "11331114",
        "HEAD /v1/realms/{realm}/recovered/versions": "11331114",
        "POST /v1/realms/{realm}/recovered/restore": "1133111.",
        "GET /v1/realms/{realm}/stats": "11.3111.",
        "GET /v1/realms/{realm}/versions": "11.3111.",
        "GET /v1/realms/{realm}/subscriptions/{id}": "11441114",
        "GET /v1/realms/{realm}/transactions/{id}": "11341114",
        "GET /v1/realms/{realm}/writes/{id}": "11341114",
        "GET /v1/version": "1...111.",
        "HEAD /": "....111.",
        "HEAD /admin/config": "1144111.",
        "HEAD /admin/keys": "1144111.",
        "HEAD /admin/leases": "1144111.",
        "HEAD /admin/log": "11441114",
        "HEAD /client.d.ts": "........",
        "HEAD /client.js": "........",
        "HEAD /console/{path}": "44444444",
        "HEAD /docs": "........",
        "HEAD /docs/": "........",
        "HEAD /docs/problems": "........",
        "HEAD /docs/problems/": "........",
        "HEAD /docs/problems/{id}": "44444444",
        "HEAD /docs/{id}": "44444444",
        "HEAD /healthz": "........",
        "HEAD /metrics": "1144111.", "HEAD /v1/cluster": "11441114",
        "HEAD /readyz": "........",
        "HEAD /v1/me": "....111.",
        "HEAD /v1/openapi.json": "1...111.",
        "HEAD /v1/realms": "1...111.",
        "HEAD /v1/realms/{realm}": "1...111.",
        "HEAD /v1/realms/{realm}/aggregate/{class}": "1...111.",
        "HEAD /v1/realms/{realm}/backup": "1133111.",
        "HEAD /v1/realms/{realm}/backups": "1133111.",
        "HEAD /v1/realms/{realm}/backups/{id}": "11331114",
        "HEAD /v1/realms/{realm}/diff": "113.111.",
        "HEAD /v1/realms/{realm}/export": "113.111.",
        "HEAD /v1/realms/{realm}/objects/{class}": "1...111.",
        "HEAD /v1/realms/{realm}/objects/{class}/{key}": "1...111.",
        "HEAD /v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}": "1...111.",
        "HEAD /v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}/@aggregate": "1...111.",
        "HEAD /v1/realms/{realm}/objects/{class}/{key}/{property}": "1...111.",
        "HEAD /v1/realms/{realm}/objects/{class}/{key}/{property}/@aggregate": "1...111.",
        "HEAD /v1/realms/{realm}/openapi.json": "1...111.",
        "HEAD /v1/realms/{realm}/schema": "1...111.",
        "HEAD /v1/realms/{realm}/schema/{class}": "1...111.",
        "HEAD /v1/realms/{realm}/snapshots": "1...111.",
        "HEAD /v1/realms/{realm}/snapshots/{id}": "14441114",
        "HEAD /v1/realms/{realm}/sql": "1...111.",
        "HEAD /v1/realms/{realm}/stats": "11.3111.",
        "HEAD /v1/realms/{realm}/versions": "11.3111.",
        "HEAD /v1/realms/{realm}/subscriptions/{id}": "11441114",
        "HEAD /v1/realms/{realm}/transactions/{id}": "11341114",
        "HEAD /v1/realms/{realm}/writes/{id}": "11341114",
        "HEAD /v1/version": "1...111.",
        "PATCH /admin/config": "1144111.",
        "PATCH /v1/realms/{realm}/objects/{class}": "113.111.",
        "PATCH /v1/realms/{realm}/objects/{class}/{key}": "113.111.",
        "PATCH /v1/realms/{realm}/snapshots/{id}": "1...111.",
        "POST /admin/keys": "1144111.",
        "POST /admin/keys/{id}/rotate": "1144111.",
        "POST /admin/reload": "1144111.",
        "POST /v1/realms": "1133111.",
        "POST /v1/realms/{realm}/aggregate/{class}": "1...111.",
        "POST /v1/realms/{realm}/backup": "1133111.",
        "POST /v1/realms/{realm}/backups": "1133111.",
        "POST /v1/realms/{realm}/batch": "113.111.",
        "POST /v1/realms/{realm}/batch/{class}": "113.111.",
        "POST /v1/realms/{realm}/compact": "1133111.",
        "POST /v1/realms/{realm}/undo": "1133111.",
        "POST /v1/realms/{realm}/import": "113.111.",
        "POST /v1/realms/{realm}/migrations": "1133111.",
        "POST /v1/realms/{realm}/objects/{class}": "113.111.",
        "POST /v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}/@aggregate": "1...111.",
        "POST /v1/realms/{realm}/objects/{class}/{key}/{property}/@aggregate": "1...111.",
        "POST /v1/realms/{realm}/query/{class}": "1...111.",
        "POST /v1/realms/{realm}/restore": "1133111.",
        "POST /v1/realms/{realm}/snapshots": "1...111.",
        "POST /v1/realms/{realm}/sql": "1...111.",
        "POST /v1/realms/{realm}/subscriptions": "11..111.",
        "POST /v1/realms/{realm}/transactions": "113.111.",
        "POST /v1/realms/{realm}/transactions/{id}/commit": "113.111.",
        "POST /v1/session": "....111.",
        "POST /v1/uploads": "1133111.",
        "PUT /v1/realms/{realm}/key": "1133111.",
        "PUT /v1/realms/{realm}/objects/{class}/{key}": "113.111.",
        "PUT /v1/realms/{realm}/objects/{class}/{key}/{property}": "113.111.",
        "QUERY /v1/realms/{realm}/aggregate/{class}": "1...111.",
        "QUERY /v1/realms/{realm}/objects/{class}": "1...111.",
        "QUERY /v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}": "1...111.",
        "QUERY /v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}/@aggregate": "1...111.",
        "QUERY /v1/realms/{realm}/objects/{class}/{key}/{property}": "1...111.",
        "QUERY /v1/realms/{realm}/objects/{class}/{key}/{property}/@aggregate": "1...111.",
        "QUERY /v1/realms/{realm}/sql": "1...111.",
    ]

    /// A server with the roles, with or without the one of strangers.
    private static func server(_ text: String) throws -> (KeyServer, APIKeyText) {
        var configuration = Configuration()
        try configuration.apply(text: text, ofFile: "/realm-rest.yaml")
        let book = configuration.options.roles
        let server = try KeyServer(change: { options in
            options.roles = book
            // Each request has an address of its own, as failed credentials are slowed by address.
            options.trustedProxies.ranges = ["127.0.0.1/32"].compactMap { AddressRange($0) }
        })
        return (server, try server.add("boss"))
    }

    /// Makes the realm anew.
    private static func fill(_ server: KeyServer, _ admin: APIKeyText) throws {
        _ = try server.request("DELETE", "/v1/realms/notes", admin)
        let body = #"{"name":"notes","inMemory":"notes","schema":\#(schema)}"#
        try #require(try server.request("POST", "/v1/realms", admin, body: body).status == 201)
        let notes = #"[{"id":1,"owner":"ann"},{"id":2,"owner":"bob"}]"#
        try #require(try server.request("POST", "/v1/realms/notes/objects/Note", admin, body: notes).status == 201)
    }

    /// A token that nobody here issued.
    private static let foreignToken: String = {
        let parts = [
            #"{"alg":"RS256","kid":"1","typ":"JWT"}"#, #"{"iss":"https://other.example","aud":"realm-rest","exp":4102444800}"#,
            "no",
        ]
        return parts.map { Data($0.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-") }
            .joined(separator: ".")
    }()

    @Test func `every cell is answered as it is said here`() throws {
        let (server, admin) = try Self.server(
            Self.roles.split(separator: "\n").filter { !$0.contains("anonymous") }.joined(separator: "\n"))
        let (open, openAdmin) = try Self.server(Self.roles)
        let revoked = try server.add("gone", roles: ["viewer"])
        try server.file.revoke(revoked.id)
        server.server.state.authenticator.keys.refresh()
        let keys = [
            try server.add("vic", roles: ["viewer"]), try server.add("ann", roles: ["clerk"]),
            try server.add("old", roles: ["admin"], expires: 1_000_000), revoked,
        ]
        try Self.fill(open, openAdmin)
        var rows: [String: String] = [:]
        var counts: [Character: Int] = [:]
        for route in RouteTable.routes where route.pattern.label.hasPrefix("/") {
            let path = Self.path(of: route.pattern.label)
            for method in HTTPMethod.allCases where !route.operations.filter({ $0.methods.contains(method) }).isEmpty {
                try Self.fill(server, admin)
                let name = method.rawValue
                let body = ["POST", "PUT", "PATCH", "QUERY"].contains(name) ? "{}" : nil
                // A stream would go on.
                let target = path.hasSuffix("/changes") ? path + "?class=Note&wait=0&initial=true" : path
                let polls = path.hasSuffix("/changes") ? [("Accept", "application/json")] : []
                let headers = polls + [("X-Forwarded-For", "10.0.\(rows.count).7")]
                var row = ""
                row.append(Self.cell(try server.request(name, target, nil, headers, body: body)))
                row.append(Self.cell(try open.request(name, target, nil, headers, body: body)))
                for key in keys { row.append(Self.cell(try server.request(name, target, key, headers, body: body))) }
                let bearer = [("Authorization", "Bearer " + Self.foreignToken)]
                row.append(Self.cell(try server.request(name, target, nil, headers + bearer, body: body)))
                row.append(Self.cell(try server.request(name, target, admin, headers, body: body)))
                rows["\(name) \(route.pattern.label)"] = row
                for cell in row { counts[cell, default: 0] += 1 }
            }
        }
        let wrong = rows.filter { Self.expected[$0.key] != $0.value }
        let list = wrong.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \"\($0.value)\"," }.joined(separator: "\n")
        #expect(wrong.isEmpty, "\(list)")
        #expect(Set(rows.keys) == Set(Self.expected.keys))
        print(
            "\(rows.count * 8) cells in \(rows.count) rows: \(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
    }

    /// Whatever the table says: nothing but health without a valid credential, and nothing that administers for a role.
    @Test func `no row lets in who has no right`() {
        // Pages and the client are the same to everybody, as is the index but for its version.
        let isPublic = { (row: String) in
            ["/healthz", "/readyz", "/client.js", "/client.d.ts"].contains { row.hasSuffix($0) } || row.contains(" /docs")
                || row.contains(" /console")
        }
        for (row, cells) in Self.expected where !isPublic(row) {
            let cells = Array(cells)
            for index in [4, 5, 6] { #expect(cells[index] == "1" || row.hasPrefix("DELETE /v1/session"), "\(row)") }
            // Whoever asks who it is, and what makes a session of a credential, is answered.
            let isForAll = ["/v1/me", "/v1/session", " /"].contains { row.hasSuffix($0) }
            if !isForAll { #expect(cells[0] == "1", "\(row)") }
            if row.contains(" /admin") || row.contains("/metrics") { #expect(!cells[1...3].contains("."), "\(row)") }
        }
    }

    /// Returns a path of a route.
    private static func path(of label: String) -> String {
        [
            ("{realm}", "notes"), ("{class}", "Note"), ("{key}", "1"), ("{property}", "owner"), ("{Class}", "Note"),
            ("{id}", "nothing"), ("{path}", "nothing"),
            ("@links/Note/owner", "@links/Note/next"), ("1/owner/@aggregate", "1/next/@aggregate"),
        ].reduce(label) { $0.replacing($1.0, with: $1.1) }
    }

    /// Returns the sign for an answer.
    private static func cell(_ answer: HTTPClient.Answer) -> Character {
        switch answer.status {
        case 401: return "1"
        case 403: return "3"
        case 404: return "4"
        default: return "."
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Limits that count for whoever has a credential, wherever it comes from, and those that roles state.
@Suite struct PrincipalLimitTests {
    private static let roles = """
        roles:
          admin: {administer: true}
          narrow: {limits: {rate: 3, streams-per-principal: 1, snapshots-per-principal: 1, registrations: 1, body-bytes: 200}}
          wide: {limits: {rate: 6, streams-per-principal: 2, snapshots-per-principal: 2, registrations: 2, body-bytes: 4KiB}}
          single: {limits: {transactions-per-principal: 1}}
          endless: {limits: {rate: 0}}
        """

    private func server(change: (inout ServerOptions) -> Void = { _ in }) throws -> KeyServer {
        var configuration = Configuration()
        try configuration.apply(text: PrincipalLimitTests.roles, ofFile: "/realm-rest.yaml")
        let roles = configuration.options.roles
        return try KeyServer(change: { options in
            options.roles = roles
            change(&options)
        })
    }

    private func bearer(_ key: APIKeyText?) -> [(String, String)] { key.map { [("Authorization", "Bearer " + $0.text)] } ?? [] }

    /// Requests from an address, in quick succession; the number of those that were not refused.
    private func admitted(_ server: KeyServer, _ key: APIKeyText?, from source: UInt8 = 1, of count: Int = 12) throws -> Int {
        let client = try HTTPClient(port: server.port, source: source)
        return try (0..<count).count { _ in
            try client.request("GET", "/v1/me", headers: bearer(key)).status != 429
        }
    }

    // MARK: - Rates

    @Test func `a rate counts for a key from every address, and for each key of one address by itself`() throws {
        let server = try server { $0.limits.rate = 5 }
        let (one, two) = (try server.add("one"), try server.add("two"))
        #expect(try (5...7).contains(admitted(server, one)))
        // The other key comes from the same address, and the first also from another.
        #expect(try admitted(server, one, from: 2) <= 1)
        #expect(try (5...7).contains(admitted(server, two)))
        // Whoever sends no credential is counted by its address.
        #expect(try (5...7).contains(admitted(server, nil)))
        #expect(try (5...7).contains(admitted(server, nil, from: 2)))
    }

    @Test func `a role states the rate, the most generous counts, and roles without one say nothing`() throws {
        let server = try server { $0.limits.rate = 5 }
        for (roles, expected) in [
            (["narrow"], 3...4), (["wide", "narrow"], 6...8), (["narrow", "admin"], 3...4), (["narrow", "none"], 3...4),
            (["admin"], 5...7), (["narrow", "endless", "wide"], 12...12),
        ] {
            let key = try server.add("k", roles: roles)
            let admitted = try admitted(server, key)
            #expect(expected.contains(admitted), "\(roles): \(admitted)")
        }
    }

    @Test func `a role limits the rate where the server has none, and the problem says the limit`() throws {
        let server = try server()
        let key = try server.add("k", roles: ["narrow"])
        #expect(try (3...4).contains(admitted(server, key)))
        let refused = try server.request("GET", "/v1/me", key)
        #expect(refused.status == 429 && refused.json["limit"] == 3 && refused["Retry-After"] != nil)
        #expect(try admitted(server, try server.add("other")) == 12)
        #expect(try server.request("GET", "/healthz", key).status == 200)
    }

    // MARK: - What is held

    @Test func `streams are counted by key, with the limit of the role`() throws {
        let server = try server { $0.limits.streamsPerPrincipal = 1 }
        let admin = try server.add("root")
        try server.makeNotes(admin)
        let path = "/v1/realms/notes/changes?class=Note"
        func open(_ key: APIKeyText) throws -> EventClient { try EventClient(port: server.port, path, headers: bearer(key)) }
        let other = try server.add("other")
        let first = try open(admin)
        #expect(first.status == 200)
        #expect(try open(admin).status == 429)
        let client = try HTTPClient(port: server.port, source: 3)
        let far = try client.request("GET", path + "&wait=0", headers: bearer(admin))
        #expect(far.status == 429 && far.code == "too_many_streams" && far.json["limit"] == 1)
        let second = try open(other)
        #expect(second.status == 200)
        let wide = try server.add("wide", roles: ["admin", "wide"])
        let streams = try (0..<3).map { _ in try open(wide) }
        #expect(streams.map(\.status) == [200, 200, 429])
        withExtendedLifetime((first, second, streams)) {}
    }

    @Test func `snapshots and registrations have the limit of the role`() throws {
        let server = try server {
            $0.limits.snapshotsPerPrincipal = 5
            $0.limits.registrations = 5
        }
        let admin = try server.add("root")
        try server.makeNotes(admin)
        for (roles, limit) in [(["admin", "narrow"], 1), (["admin", "narrow", "wide"], 2), (["admin"], 5)] {
            let key = try server.add("k", roles: roles)
            let snapshots = try (0...limit).map { _ in
                try server.request("POST", "/v1/realms/notes/snapshots", key, body: "{}")
            }
            #expect(snapshots.dropLast().allSatisfy { $0.status == 201 }, "\(snapshots.map(\.text))")
            #expect(snapshots.last?.code == "too_many_snapshots" && snapshots.last?.json["limit"]?.int == limit)
            Threads.sleep(seconds: 1.1)
            let registrations = try (0...limit).map { _ in
                try server.request(
                    "POST", "/v1/realms/notes/subscriptions", key, body: #"{"subscriptions":{"a":{"class":"Note"}}}"#)
            }
            #expect(registrations.dropLast().allSatisfy { $0.status == 201 }, "\(registrations.map(\.text))")
            #expect(registrations.last?.code == "too_many_streams" && registrations.last?.json["limit"]?.int == limit)
        }
    }

    @Test func `transactions are counted by key, with the limit of the role`() throws {
        let server = try server()
        let admin = try server.add("root")
        try server.makeNotes(admin)
        let single = try server.add("single", roles: ["admin", "single"])
        func begin(_ key: APIKeyText, from source: UInt8) throws -> HTTPClient.Answer {
            try HTTPClient(port: server.port, source: source).request(
                "POST", "/v1/realms/notes/transactions", headers: bearer(key) + [WriteServer.json],
                body: Array(#"{"wait":"10ms"}"#.utf8))
        }
        let first = try begin(single, from: 1)
        #expect(first.status == 201, "\(first.text)")
        let second = try begin(single, from: 2)
        #expect(second.status == 429 && second.code == "too_many_transactions" && second.json["limit"] == 1, "\(second.text)")
        // Another key only has to wait, from whatever address.
        #expect(try begin(admin, from: 1).code == "write_lock_busy")
    }

    @Test func `bodies have the limit of the role, before and after unpacking`() throws {
        let server = try server()
        let admin = try server.add("root")
        try server.makeNotes(admin)
        func size(_ count: Int, _ roles: [String]) throws -> HTTPClient.Answer {
            let key = try server.add("k", roles: roles)
            let text = "{\"id\":\(count)" + String(repeating: " ", count: count - 20) + "}"
            return try server.request("POST", "/v1/realms/notes/objects/Note", key, body: text)
        }
        #expect(try size(150, ["admin", "narrow"]).status == 201)
        let refused = try size(400, ["admin", "narrow"])
        #expect(refused.status == 413 && refused.json["limit"] == 200)
        #expect(try size(400, ["admin", "wide", "narrow"]).status == 201)
        #expect(try size(5000, ["admin", "wide"]).status == 413)
        #expect(try size(5000, ["admin"]).status == 201)
    }

    // MARK: - The configuration

    @Test func `limits of roles are the server's, but for those that are stated`() throws {
        var own = PrincipalLimits()
        (own[.readSeconds], own[.rate]) = (2, 0)
        var other = PrincipalLimits()
        (other[.readSeconds], other[.rate], other[.importBytes]) = (1, 9, 5)
        own.widen(by: other)
        #expect(own[.readSeconds] == 2 && own[.rate] == 0 && own[.importBytes] == 5 && own[.streams] == nil)
        let limits = Limits().holding(for: own)
        #expect(limits.readSeconds == 2 && limits.importBytes == 5 && limits.page == Limits().page)
        #expect(Limits().holding(for: nil) == Limits())
        // Each name is that of a limit of the server.
        for name in PrincipalLimits.Name.allCases { #expect(Limits.entries.contains { $0.name == name.rawValue }) }
    }

    @Test(arguments: [
        ("{pages: 5}", "a role has no limit 'pages'"), ("{streams: 5}", "a role has no limit 'streams'"),
        ("{rates: 5}", "did you mean"), ("{rate: -1}", "rate takes a number"), ("{rate: fast}", "rate takes a number"),
        ("{read-seconds: 0}", "read-seconds takes a number"), ("[rate]", "expected an object"),
        ("{body-bytes: 1.5}", "body-bytes takes a number"),
    ])
    func `a limit that a role cannot have is refused with its line`(_ limits: String, _ text: String) throws {
        var configuration = Configuration()
        let file = "roles:\n  clerk:\n    realms: {}\n    limits: \(limits)\n"
        let error = #expect(throws: ConfigurationError.self) { try configuration.apply(text: file, ofFile: "/r.yaml") }
        #expect(
            error?.line == 4 && error?.file == "/r.yaml" && error?.text.contains(text) == true, "\(String(describing: error))")
    }

    @Test func `limits with units are read, and other ones are shown as they were stated`() throws {
        var configuration = Configuration()
        let file = "roles: {a: {limits: {read-seconds: 2m, waiting-bytes-per-principal: 2MiB}}, b: {}}\n"
        try configuration.apply(text: file, ofFile: "/r.yaml")
        let limits = configuration.options.roles.limits(of: ["b", "a", "c"])
        #expect(limits?[.readSeconds] == 120 && limits?[.waitingBytes] == 2 << 20 && limits?[.writeSeconds] == nil)
        #expect(configuration.options.roles.limits(of: ["b"]) == nil && RoleBook().limits(of: ["admin"]) == nil)
        #expect(configuration.description.contains { $0.hasPrefix(#"roles.a.limits.read-seconds = "2m""#) })
    }
}

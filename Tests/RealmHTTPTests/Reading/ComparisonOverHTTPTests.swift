// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmServerSupport
import RealmTestSupport
import Testing

/// Comparisons of versions over HTTP: which versions, in which form, and what a client with a part of the rights sees.
@Suite(.ownThread) struct ComparisonOverHTTPTests {
    private func lines(_ answer: HTTPClient.Answer) -> [String] { answer.text.split(separator: "\n").map(String.init) }

    private func pin(_ server: WriteServer) throws -> (id: String, version: String) {
        let answer = try server.send("POST", "app/snapshots", nil)
        return (try #require(answer.json["id"]?.text), try #require(answer.json["version"]?.text))
    }

    private func setAge(_ server: WriteServer, _ age: Int) throws {
        #expect(try server.send("PATCH", "app/objects/Dog/1", "{\"age\":\(age)}").status == 200)
    }

    @Test func `a snapshot is compared with the newest version, and with another snapshot`() throws {
        try withWriteServer { server in
            let first = try pin(server)
            let same = try server.get("app/diff?from=\(first.id)")
            #expect(same.status == 200 && same["Content-Type"] == "application/x-ndjson", "\(same.text)")
            #expect(lines(same).count == 2 && lines(same).last?.contains(#""equal":true"#) == true)
            try setAge(server, 77)
            let second = try pin(server)
            try setAge(server, 78)
            #expect(try server.send("DELETE", "app/objects/Dog/1").status == 204)
            let changed = #"{"kind":"changed","class":"Dog","key":"1","from":{"age":3},"to":{"age":77}}"#
            let both = try server.get("app/diff?from=\(first.id)&to=\(second.id)&class=Dog")
            #expect(lines(both).dropFirst().first == changed, "\(both.text)")
            #expect(lines(both).first?.contains(#""withoutPrimaryKey":"objectKey""#) == true)
            #expect(lines(both).first?.contains(#""snapshot":"\#(first.id)""#) == true)
            // A version that a snapshot holds, by its token.
            let byToken = try server.get("app/diff?from=\(first.version)&to=\(second.version)&class=Dog")
            #expect(lines(byToken).dropFirst().first == changed, "\(byToken.text)")
            let now = try server.get("app/diff?from=\(first.id)&class=Dog")
            #expect(lines(now).contains { $0.hasPrefix(#"{"kind":"removed","class":"Dog","key":"1","from":{"#) }, "\(now.text)")
            #expect(now["Realm-Version"] != first.version)
            let back = try server.get("app/diff?from=\(second.id)&to=\(first.id)&class=Dog")
            #expect(lines(back).contains(#"{"kind":"changed","class":"Dog","key":"1","from":{"age":77},"to":{"age":3}}"#))
        }
    }

    @Test func `each format has its media type, and a page its own policy`() throws {
        try withWriteServer { server in
            let first = try pin(server)
            try setAge(server, 77)
            for format in ComparisonFormat.allCases {
                let answer = try server.get("app/diff?from=\(first.id)&format=\(format.rawValue)")
                #expect(answer.status == 200 && answer["Content-Type"] == format.mediaType.description, "\(answer.text)")
                #expect(answer.text.contains("77"), "\(format)")
                let policy = answer["Content-Security-Policy"]
                #expect(
                    format != .html
                        || policy?.contains("style-src 'unsafe-inline'") == true && policy?.contains("sandbox") == true)
                let type = String(format.mediaType.description.prefix { $0 != ";" })
                let accepted = try server.get("app/diff?from=\(first.id)", [("Accept", type)])
                #expect(accepted["Content-Type"] == format.mediaType.description)
            }
        }
    }

    @Test func `wrong parameters are problems that name them`() throws {
        try withWriteServer { server in
            let first = try pin(server)
            for (query, code) in [
                ("", "invalid_parameter"), ("?from=nothing", "not_found"), ("?from=other.7", "not_found"),
                ("?from=\(first.id)&to=nothing", "not_found"), ("?from=\(first.id)&class=Dig", "class_not_found"),
                ("?from=\(first.id)&format=xml", "invalid_parameter"), ("?from=\(first.id)&where=x", "unknown_parameter"),
                ("?from=\(first.id)&class=", "invalid_parameter"),
            ] {
                let answer = try server.get("app/diff\(query)")
                #expect(answer.status >= 400 && answer.code == code, "\(query): \(answer.text)")
            }
            #expect(try server.send("DELETE", "app/snapshots/\(first.id)").status == 204)
            #expect(try server.get("app/diff?from=\(first.id)").code == "snapshot_expired")
            #expect(try server.get("app/diff?from=x", [("Accept", "image/png")]).code == "not_acceptable")
        }
    }

    // MARK: - Rights

    private static let roles = """
        roles:
          looker: {realms: {notes: {classes: {Note: [read]}}}}
          owner: {realms: {notes: {classes: {Note: {allow: [read], where: "owner == $claims.sub", fields: {hide: [secret]}}}, export: true}}}
        """
    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Note","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"owner","type":"string"},
        {"name":"secret","type":"string"},{"name":"text","type":"string"},{"name":"next","type":"object","objectType":"Note"}]},
        {"name":"Log","properties":[{"name":"line","type":"string"}]}]}
        """

    /// A server with the realm `notes`, and the key of an administrator.
    private func server() throws -> (KeyServer, admin: APIKeyText) {
        var configuration = Configuration()
        try configuration.apply(text: Self.roles, ofFile: "/realm-rest.yaml")
        let roles = configuration.options.roles
        let server = try KeyServer(change: { $0.roles = roles })
        let admin = try server.add("admin")
        _ = try server.request("DELETE", "/v1/realms/notes", admin)
        let body = #"{"name":"notes","inMemory":"notes","schema":\#(Self.schema)}"#
        try #require(try server.request("POST", "/v1/realms", admin, body: body).status == 201)
        let notes = """
            [{"_id":1,"owner":"ann","secret":"s1","text":"one"},{"_id":2,"owner":"bob","secret":"s2","text":"two"},
            {"_id":3,"owner":"ann","secret":"s3","text":"three"},{"_id":4,"owner":"bob","secret":"s4","text":"four"}]
            """
        try #require(try server.request("POST", "/v1/realms/notes/objects/Note", admin, body: notes).status == 201)
        return (server, admin)
    }

    private func pin(_ server: KeyServer, _ key: APIKeyText) throws -> String {
        let answer = try server.request("POST", "/v1/realms/notes/snapshots", key)
        return try #require(answer.json["id"]?.text, "\(answer.text)")
    }

    @Test func `both versions are seen through the rights of the client`() throws {
        let (server, admin) = try server()
        let ann = try server.add("ann", roles: ["owner"])
        let (own, whole) = (try pin(server, ann), try pin(server, admin))
        let objects = "/v1/realms/notes/objects/Note"
        for (id, change) in [
            // Of bob's to ann, ann's to bob, a hidden property alone, of ann's with a link to what she does not see.
            (2, #"{"owner":"ann","text":"mine now"}"#), (1, #"{"owner":"bob","secret":"s9"}"#), (3, #"{"secret":"s8"}"#),
            (4, #"{"text":"still bob's"}"#),
        ] {
            #expect(try server.request("PATCH", "\(objects)/\(id)", admin, body: change).status == 200)
        }
        #expect(try server.request("POST", "/v1/realms/notes/objects/Log", admin, body: #"{"line":"hidden"}"#).status == 201)
        let answer = try server.request("GET", "/v1/realms/notes/diff?from=\(own)", ann)
        #expect(answer.status == 200 && answer["Realm-Partial"] == "rights", "\(answer.text)")
        #expect(
            Array(lines(answer).dropFirst().dropLast()) == [
                #"{"kind":"removed","class":"Note","key":"1","from":{"_id":1,"owner":"ann","text":"one","next":null}}"#,
                #"{"kind":"added","class":"Note","key":"2","to":{"_id":2,"owner":"ann","text":"mine now","next":null}}"#,
            ], "\(answer.text)")
        #expect(answer.text.contains(#""partial":true"#) && !answer.text.contains("s9") && !answer.text.contains("Log"))
        // The administrator sees everything, and the snapshot of another one does not exist for a client.
        let all = try server.request("GET", "/v1/realms/notes/diff?from=\(whole)", admin)
        #expect(lines(all).count == 7 && all["Realm-Partial"] == nil, "\(all.text)")
        #expect(try server.request("GET", "/v1/realms/notes/diff?from=\(whole)", ann).code == "not_found")
        let looker = try server.add("vic", roles: ["looker"])
        let seen = try pin(server, looker)
        #expect(try server.request("GET", "/v1/realms/notes/diff?from=\(seen)", looker).code == "forbidden")
        // A link to an object that the later version hides is none, as in any read.
        #expect(
            try server.request("PATCH", "\(objects)/3", admin, body: #"{"next":{"$link":{"class":"Note","key":"2"}}}"#).status
                == 200)
        let linked = try pin(server, ann)
        #expect(try server.request("PATCH", "\(objects)/2", admin, body: #"{"owner":"bob"}"#).status == 200)
        let gone = try server.request("GET", "/v1/realms/notes/diff?from=\(linked)", ann)
        #expect(lines(gone).contains { $0.hasPrefix(#"{"kind":"changed","class":"Note","key":"3","from":{"next":{"$link""#) })
        #expect(lines(gone).contains { $0.hasPrefix(#"{"kind":"removed","class":"Note","key":"2""#) }, "\(gone.text)")
    }
}

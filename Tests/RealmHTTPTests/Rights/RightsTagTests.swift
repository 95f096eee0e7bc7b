// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Entity tags, cursors and long writes of senders whose rights change.
@Suite struct RightsTagTests {
    private static func roles(isWide: Bool) -> String {
        let own = #"allow: [read, create, update, import], where: "owner == 'clerk'", fields: {hide: [secret]}"#
        let thin = "{classes: {A: {\(own)}}, import: true}"
        let wide = "{classes: {A: [read, create, update, import]}, import: true}"
        return """
            roles:
              thin: {realms: {app: \(thin)}}
              all: {realms: {app: {classes: {"*": [read]}}}}
              turning: {realms: {app: \(isWide ? wide : thin)}}
            """
    }

    private static let objects = #"[{"id":1,"owner":"clerk","secret":"s1"},{"id":2,"owner":"bob","secret":"s2"}]"#

    private func desk(_ role: String) throws -> RightsDesk {
        let desk = try RightsDesk(Self.roles(isWide: true), clerk: [role])
        _ = try desk.ask("POST", "/objects/A", by: desk.admin, body: Self.objects).document("objects")
        return desk
    }

    @Test(arguments: [
        "/objects/A", "/objects/A?count=exact", "/objects/A?format=csv", "/objects/A?fields=id&sort=-id",
        "/aggregate/A?ops=count", "/aggregate/A?ops=count&groupBy=owner", "/objects/A?sectionBy=owner&sort=owner",
    ])
    func `a tag that was had with other rights is no 304`(_ path: String) throws {
        let desk = try desk("turning")
        let wide = try desk.ask("GET", path)
        let tag = try #require(wide["ETag"], "\(wide.text)")
        #expect(try desk.ask("GET", path, [("If-None-Match", tag)]).status == 304)
        try desk.reload(Self.roles(isWide: false))
        let thin = try desk.ask("GET", path, [("If-None-Match", tag)])
        #expect(thin.status == 200 && thin["ETag"] != tag, "\(thin.status) \(thin.text)")
        let other = try #require(thin["ETag"])
        #expect(try desk.ask("GET", path, [("If-None-Match", other)]).status == 304)
        // Another role with the same rights has the same tag.
        try desk.give(["thin"])
        #expect(try desk.ask("GET", path, [("If-None-Match", other)]).status == 304)
        try desk.reload(Self.roles(isWide: true))
        try desk.give(["turning"])
        #expect(try desk.ask("GET", path, [("If-None-Match", other)]).status == 200)
    }

    @Test func `who sees everything has the short tag of administrators`() throws {
        let desk = try desk("all")
        let tag = try desk.ask("GET", "/objects/A")["ETag"]
        let short = try desk.ask("GET", "/objects/A", by: desk.admin)["ETag"]
        #expect(tag != nil && tag == short)
    }

    @Test func `a cursor belongs to the rights, and an answer from a snapshot is asked for again`() throws {
        let desk = try desk("turning")
        let next = try #require(try desk.ask("GET", "/objects/A?limit=1").json["next"]?.text)
        #expect(try desk.ask("GET", "/objects/A?limit=1&after=\(next)").status == 200)
        let snapshot = try #require(try desk.ask("POST", "/snapshots", body: "{}").json["id"]?.text)
        #expect(try desk.ask("GET", "/objects/A?snapshot=\(snapshot)")["Cache-Control"] == "private, no-cache")
        try desk.reload(Self.roles(isWide: false))
        #expect(try desk.ask("GET", "/objects/A?limit=1&after=\(next)").code == "cursor_invalid")
    }

    @Test(arguments: [false, true])
    func `a long import leaves nothing when its key was revoked or its rights changed while it ran`(_ isReload: Bool) throws {
        let desk = try RightsDesk(Self.roles(isWide: true), clerk: ["turning"])
        let lines = (1...20_000).map { "{\"id\":\($0),\"owner\":\"bob\"}" }.joined(separator: "\n")
        let headers = [("Content-Type", "application/x-ndjson"), ("Prefer", "respond-async")]
        let begun = try desk.ask("POST", "/import?mode=upsert&class=A", headers, body: lines)
        #expect(begun.status == 202, "\(begun.text)")
        let path = try #require(begun["Location"])
        var state: String?
        for _ in 0..<2000 {
            state = try desk.request("GET", path, by: desk.clerk).json["state"]?.text
            guard state == "queued" else { break }
            usleep(2000)
        }
        #expect(state == "running")
        if isReload {
            try desk.reload(Self.roles(isWide: false))
        } else {
            try desk.file.revoke(desk.clerk.id)
            desk.server.state.authenticator.keys.refresh()
        }
        // The writer is free when the import has ended.
        var status = 0
        for _ in 0..<600 {
            status = try desk.ask("POST", "/objects/A", by: desk.admin, body: #"{"id":0,"owner":"boss"}"#).status
            guard status != 201 else { break }
            usleep(100_000)
        }
        #expect(status == 201)
        #expect(try desk.ask("GET", "/objects/A?limit=0&count=exact", by: desk.admin).json["count"]?.int == 1)
    }
}

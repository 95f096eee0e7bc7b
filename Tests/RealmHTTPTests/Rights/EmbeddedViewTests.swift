// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Embedded classes as the holders of a rule see them: they have the objects that belong to what these see, and no others.
@Suite struct EmbeddedViewTests {
    private static let roles = """
        roles:
          ann:
            realms:
              app:
                classes:
                  P: {allow: [read, subscribe, update], where: "owner == 'ann'", fields: {hide: [office]}}
        """
    private static let classes = """
        {"name":"P","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"owner","type":"string"},
        {"name":"home","type":"object","objectType":"H"},{"name":"office","type":"object","objectType":"H"}]},
        {"name":"H","type":"embedded","properties":[{"name":"street","type":"string"},
        {"name":"rooms","type":"object","collection":"list","objectType":"R"}]},
        {"name":"R","type":"embedded","properties":[{"name":"name","type":"string"}]}
        """

    private static func person(_ id: Int, _ owner: String) -> String {
        """
        {"id":\(id),"owner":"\(owner)","home":{"street":"home \(id)","rooms":[{"name":"room \(id)a"},{"name":"room \(id)b"}]},
        "office":{"street":"office \(id)","rooms":[{"name":"desk \(id)"}]}}
        """
    }

    /// A server with three persons, of whom `ann` sees the first and the third.
    private func server() throws -> (KeyServer, admin: APIKeyText, ann: APIKeyText) {
        let server = try KeyServer(statingRoles: Self.roles) { $0.memoryRealms = ["app"] }
        let admin = try server.add("admin")
        try server.attach("app", Self.classes, admin)
        let persons = [Self.person(1, "ann"), Self.person(2, "bob"), Self.person(3, "ann")].joined(separator: ",")
        try server.post("app/objects/P", admin, "[\(persons)]")
        return (server, admin, try server.add("ann", roles: ["ann"]))
    }

    private func values(_ answer: HTTPClient.Answer, _ name: String) -> [String] {
        (answer.json["items"]?.elements ?? []).compactMap { $0[name]?.text }
    }

    @Test func `lists, counts, aggregates and single objects have what belongs to visible owners`() throws {
        let (server, admin, ann) = try server()
        let list = "/v1/realms/app/objects/"
        let homes = try server.request("GET", list + "H", ann)
        #expect(values(homes, "street") == ["home 1", "home 3"], "\(homes.text)")
        #expect(values(try server.request("GET", list + "R", ann), "name") == ["room 1a", "room 1b", "room 3a", "room 3b"])
        #expect(
            values(try server.request("GET", list + "R?where=name%20ENDSWITH%20'a'&sort=-name", ann), "name") == [
                "room 3a", "room 1a",
            ])
        #expect(values(try server.request("GET", list + "R?where=name%20BEGINSWITH%20'desk'", ann), "name").isEmpty)
        #expect(try server.request("GET", list + "R?count=exact&limit=1", ann).json["count"]?.int == 4)
        #expect(try server.request("GET", "/v1/realms/app/aggregate/R?ops=count", ann).json["count"]?.int == 4)
        let all = try server.request("GET", list + "H?limit=10", admin)
        let shown = Set(values(homes, "street"))
        var hidden = 0
        for item in all.json["items"]?.elements ?? [] {
            let key = try #require(item["$meta"]?["key"]?.text)
            let one = try server.request("GET", list + "H/" + key, ann)
            let isShown = shown.contains(item["street"]?.text ?? "")
            #expect(isShown ? one.status == 200 : one.code == "object_not_found", "\(one.text)")
            hidden += isShown ? 0 : 1
        }
        #expect(hidden == 4)
    }

    @Test func `objects come into the list and leave it with their owners`() throws {
        let (server, admin, ann) = try server()
        let path = "/v1/realms/app/changes?class=R&where=name%20CONTAINS%20'a'"
        let stream = try EventClient(port: server.port, path, headers: [("Authorization", "Bearer " + ann.text)])
        func next(_ name: String) throws -> ParsedJSON {
            while let event = try stream.next() {
                if event.name == name { return try ParsedJSON(parsing: event.data) }
            }
            throw HTTPClient.Failure(description: "the stream ended before \(name)")
        }
        #expect(try next("snapshot")["count"]?.int == 2)
        func patch(_ id: Int, _ owner: String) throws {
            let answer = try server.request("PATCH", "/v1/realms/app/objects/P/\(id)", admin, body: #"{"owner":"\#(owner)"}"#)
            try #require(answer.status == 200, "\(answer.text)")
        }
        try patch(2, "ann")
        let entered = try next("changes")
        #expect(entered["insertions"]?.elements?.count == 1 && entered["deletions"]?.elements?.isEmpty == true, "\(entered)")
        #expect(entered.canonical.contains("room 2a") && !entered.canonical.contains("desk"))
        try patch(1, "bob")
        let left = try next("changes")
        #expect(left["deletions"]?.elements?.count == 1 && left["insertions"]?.elements?.isEmpty == true, "\(left)")
        // What is hidden before and after is not told: the next thing that is told is the removal.
        let hidden = try server.request("PATCH", "/v1/realms/app/objects/P/1", admin, body: #"{"home":{"rooms":[]}}"#)
        try #require(hidden.status == 200, "\(hidden.text)")
        let removed = try server.request("DELETE", "/v1/realms/app/objects/P/3", admin)
        try #require(removed.status < 300, "\(removed.text)")
        let last = try next("changes")
        #expect(last["deletions"]?.elements?.count == 1, "\(last)")
        #expect(values(try server.request("GET", "/v1/realms/app/objects/R", ann), "name") == ["room 2a", "room 2b"])
    }
}

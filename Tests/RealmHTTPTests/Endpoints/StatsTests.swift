// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmServerSupport
import RealmTestSupport
import Testing

/// Sizes of what is in the file of a realm, over HTTP.
@Suite struct StatsTests {
    /// Returns the sum of the parts of a document.
    private static func sum(_ json: ParsedJSON?) -> Int {
        [
            "header", "top", "freeLists", "history", "classes", "hiddenClasses", "otherTables", "free", "unaccounted", "tail",
            "pageTables",
        ]
        .reduce(0) { $0 + (json?["parts"]?[$1]?.int ?? .min / 100) }
    }

    private static func table(_ name: String, _ json: ParsedJSON) -> ParsedJSON? {
        json["classes"]?.elements?.first { $0["name"]?.text == name }
    }

    @Test func `the parts of a realm add up to the size of its file, and a large value is named`() throws {
        try withWriteServer { server in
            let text = String(repeating: "x", count: 300_000)
            try server.done("POST", "app/objects/Note", #"{"text":"\#(text)"}"#)
            let answer = try server.get("app/stats")
            #expect(answer.status == 200 && answer["Cache-Control"] == "no-store", "\(answer.text)")
            #expect(answer["Realm-Version"] == (try server.get("app/schema"))["Realm-Version"])
            let json = answer.json
            #expect(json["complete"]?.bool == true && json["damageCount"]?.int == 0 && json["fileFormat"]?.int == 24)
            #expect(json["fileBytes"]?.int == (try server.bytes().count) && Self.sum(json) == json["fileBytes"]?.int)
            #expect(json["parts"]?["unaccounted"]?.int == 0 && json["parts"]?["hiddenClasses"]?.int == 0)
            let note = try #require(Self.table("Note", json))
            #expect(try #require(note["bytes"]?.int) > 300_000 && note["objects"]?.int == 2)
            let first = try #require(json["largest"]?.elements?.first)
            #expect(
                first["class"]?.text == "Note" && first["property"]?.text == "text" && first["key"]?.text == "@k1",
                "\(answer.text)")
            #expect(Self.table("Dog", json)?["objects"]?.int == 2 && json["versions"]?["live"]?.int != nil)
            #expect(json["compactedBytes"]?.int != nil && json["free"]?["pinnedBytes"]?.int != nil)
            let head = try server.send("HEAD", "app/stats")
            #expect(head.status == 200 && head.body.isEmpty)
        }
    }

    @Test func `a snapshot keeps its sizes, and its space is pinned`() throws {
        try withWriteServer { server in
            let text = String(repeating: "x", count: 300_000)
            try server.done("POST", "app/objects/Note", #"{"text":"\#(text)"}"#)
            let lease = try server.send("POST", "app/snapshots", "{}").json["id"]?.text ?? ""
            try server.done("DELETE", "app/objects/Note?where=text%20BEGINSWITH%20%22xx%22")
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":41}"#)
            let (then, now) = (try server.get("app/stats?snapshot=\(lease)").json, try server.get("app/stats").json)
            #expect(Self.table("Note", then)?["objects"]?.int == 2 && Self.table("Note", now)?["objects"]?.int == 1)
            #expect(try #require(now["free"]?["pinnedBytes"]?.int) > 300_000)
            #expect(try #require(now["versions"]?["live"]?.int) > 1 && now["versions"]?["oldest"]?.int == then["version"]?.int)
            try server.done("DELETE", "app/snapshots/\(lease)")
            // The read of the snapshot lets go of it a moment after its answer.
            #expect(try eventually { try server.get("app/stats").json["free"]?["pinnedBytes"]?.int == 0 })
        }
    }

    @Test func `mistakes are refused as elsewhere`() throws {
        try withWriteServer { server in
            let (realm, snapshot) = (try server.get("none/stats"), try server.get("app/stats?snapshot=none"))
            #expect(realm.code == "realm_not_found" && snapshot.code == "not_found")
            let (parameter, method) = (try server.get("app/stats?depth=3"), try server.send("POST", "app/stats", "{}"))
            #expect(parameter.status == 400 && method.status == 405)
        }
    }

    @Test(arguments: ["ro", "copy", "follow"])
    func `a file in another mode is measured as it is served`(_ mode: String) throws {
        try withWriteServer { server in
            let path = server.folder + "/other.realm"
            try FileManager.default.copyItem(atPath: try Fixtures.path("embedded"), toPath: path)
            let attached = try server.attach(#"{"name":"other","path":"\#(path)","mode":"\#(mode)"}"#)
            #expect(attached.status == 201, "\(attached.text)")
            let json = try server.get("other/stats").json
            #expect(json["complete"]?.bool == true && Self.sum(json) == json["fileBytes"]?.int)
            #expect(Self.table("Leaf", json)?["objects"]?.int == 249)
        }
    }

    @Test func `a damaged file has what can be read, and the place of what cannot`() throws {
        try withWriteServer { server in
            let fixture = try Fixtures.path("types-single")
            var editor = FileEditor([UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture))))
            let leaf = editor.values("AllRequired", "intValue", in: try Snapshot(file: try RealmFile(path: fixture)))
            editor.bytes[leaf + 4] |= 0x18
            let path = server.folder + "/damaged.realm"
            try Data(editor.bytes).write(to: URL(fileURLWithPath: path))
            #expect(try server.attach(#"{"name":"damaged","path":"\#(path)","mode":"ro"}"#).status == 201)
            let json = try server.get("damaged/stats").json
            #expect(json["complete"]?.bool == false && json["damageCount"]?.int == 1 && json["compactedBytes"] == nil)
            let damage = try #require(json["damage"]?.elements?.first)
            #expect(damage["class"]?.text == "AllRequired" && damage["property"]?.text == "intValue")
            #expect(damage["offset"]?.int == leaf && Self.sum(json) == json["fileBytes"]?.int)
            try server.done("DELETE", "damaged")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    // MARK: - Rights

    private static let roles = """
        roles:
          all: {realms: {app: {classes: {"*": [read]}}}}
          one: {realms: {app: {classes: {A: [read]}}}}
          rows: {realms: {app: {classes: {A: {allow: [read], where: "owner == 'ann'"}, P: [read]}}}}
          hiding: {realms: {app: {classes: {A: {allow: [read], fields: {hide: [secret]}}, P: [read]}}}}
          writing: {realms: {app: {classes: {"*": [create, update]}}}}
        """

    @Test func `sizes are for administrators, and for those from whom nothing is hidden`() throws {
        let desk = try RightsDesk(Self.roles, clerk: ["all"])
        #expect(try desk.ask("GET", "/stats", by: desk.admin).status == 200)
        #expect(try desk.ask("GET", "/stats").json["classes"]?.elements?.count == 2)
        for role in ["one", "rows", "hiding", "writing"] {
            try desk.give([role])
            let answer = try desk.ask("GET", "/stats")
            #expect(answer.status == 403 && answer.code == "forbidden", "\(role): \(answer.text)")
            #expect(!answer.text.contains("secret") && !answer.text.contains("ssn"), "\(role): \(answer.text)")
        }
        try desk.give(["nobody"])
        #expect(try desk.ask("GET", "/stats").status == 404)
        #expect(try desk.request("GET", "/v1/realms/app/stats", by: nil).status == 401)
    }

    @Test func `a realm that shows a part of its file names no other class`() throws {
        try withWriteServer { server in
            let path = server.folder + "/zoo.realm"
            try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: path)
            #expect(try server.attach(#"{"name":"zoo","path":"\#(path)","mode":"ro","classes":["Dog"]}"#).status == 201)
            let answer = try server.get("zoo/stats")
            #expect(answer.status == 200 && Self.sum(answer.json) == answer.json["fileBytes"]?.int, "\(answer.text)")
            #expect(answer.json["classes"]?.elements?.map { $0["name"]?.text } == ["Dog"])
            #expect(try #require(answer.json["parts"]?["hiddenClasses"]?.int) > 0)
            for name in ["Person", "byRole", "Unlinked"] { #expect(!answer.text.contains(name), "\(answer.text)") }
        }
    }
}

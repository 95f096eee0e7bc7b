// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// SQL for clients that may see a part: hidden classes, properties and objects are in no table, plan or error.
@Suite struct SQLRightsTests {
    private static let roles = """
        roles:
          owner: {realms: {notes: {classes: {Note: {allow: [read], where: "owner == $claims.sub"}, Tag: [read]}}}}
          blind: {realms: {notes: {classes: {Note: {allow: [read], fields: {hide: [owner, page, parts]}}}}}}
          writer: {realms: {notes: {classes: {Note: [create]}}}}
        """
    private static let classes = """
        {"name":"Note","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"owner","type":"string"},
        {"name":"next","type":"object","objectType":"Note"},{"name":"page","type":"object","objectType":"Page"},
        {"name":"parts","type":"object","objectType":"Page","collection":"list"},
        {"name":"tag","type":"object","objectType":"Tag"},{"name":"log","type":"object","objectType":"Log"}]},
        {"name":"Page","type":"embedded","properties":[{"name":"text","type":"string"}]},
        {"name":"Tag","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"notes","type":"object","objectType":"Note","collection":"list"}]},
        {"name":"Log","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"line","type":"string"}]}
        """

    private func server() throws -> (KeyServer, APIKeyText) {
        let server = try KeyServer(statingRoles: Self.roles)
        let admin = try server.add("admin")
        try server.attach("notes", Self.classes, admin)
        try server.post("notes/objects/Log", admin, #"[{"_id":1,"line":"secret-log"}]"#)
        try server.post(
            "notes/objects/Note", admin,
            #"""
            [{"_id":1,"owner":"ann","page":{"text":"ann-page"},"parts":[{"text":"ann-part"}],"log":1},
            {"_id":2,"owner":"bob","page":{"text":"secret-page"},"parts":[{"text":"secret-part"}],"log":1}]
            """#)
        _ = try server.request("PATCH", "/v1/realms/notes/objects/Note/1", admin, body: #"{"next":2}"#)
        try server.post("notes/objects/Tag", admin, #"[{"_id":5,"notes":[1,2]}]"#)
        return (server, admin)
    }

    private func rows(_ server: KeyServer, _ key: APIKeyText, _ sql: String) throws -> HTTPClient.Answer {
        let text = sql.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return try server.request("POST", "/v1/realms/notes/sql", key, body: #"{"sql":"\#(text)"}"#)
    }

    @Test func `hidden objects and what is embedded in them are in no table`() throws {
        let (server, admin) = try server()
        let ann = try server.add("ann", roles: ["owner"])
        let all = [
            "SELECT * FROM Note", "SELECT * FROM Page", "SELECT * FROM Note_parts", "SELECT * FROM Tag_notes",
            "SELECT count(*) FROM Note",
            "SELECT * FROM Note WHERE _id = 2", "SELECT * FROM Note WHERE rowid = 2", "SELECT * FROM Note WHERE owner = 'bob'",
            "SELECT * FROM Note_parts WHERE owner = 2", "SELECT * FROM Tag_notes WHERE value = 2",
            "SELECT * FROM Note WHERE next = 2",
            "SELECT * FROM Page WHERE _id IN (0, 1, 2, 3, 4)", "SELECT * FROM Note a LEFT JOIN Note b ON a.next = b._id",
            "SELECT * FROM Page p LEFT JOIN Note_parts n ON n.value = p._id", "SELECT group_concat(text) FROM Page",
            "SELECT max(_id), sum(_id) FROM Note", "SELECT * FROM Note ORDER BY _id DESC LIMIT 1",
        ]
        for sql in all {
            let answer = try rows(server, ann, sql)
            #expect(
                answer.status == 200 && !answer.text.contains("secret") && !answer.text.contains("bob"), "\(sql): \(answer.text)")
            #expect(try rows(server, admin, sql).status == 200, "\(sql)")
        }
        #expect(try rows(server, ann, "SELECT count(*), max(_id) FROM Note").text.contains("[[1,1]]"))
        #expect(try rows(server, ann, "SELECT count(*) FROM Page").text.contains("[[2]]"))
        #expect(try rows(server, ann, "SELECT next FROM Note").text.contains("[[null]]"))
        #expect(try rows(server, ann, "SELECT count(*) FROM Tag_notes").text.contains("[[1]]"))
        #expect(try rows(server, admin, "SELECT count(*) FROM Page").text.contains("[[4]]"))
    }

    @Test(arguments: ["owner", "blind"]) func `hidden classes and properties look like names that do not exist`(_ role: String)
        throws
    {
        let (server, _) = try server()
        let ann = try server.add("ann", roles: [role])
        let hidden =
            role == "owner"
            ? ["Log": "Lag", "Note.log": "Note.lag"]
            : [
                "Log": "Lag", "Page": "Pege", "Note_parts": "Note_ports", "Tag": "Teg", "Note.owner": "Note.awner",
                "Note.page": "Note.pege",
            ]
        for (name, missing) in hidden {
            for sql in [
                "SELECT * FROM \(name)", "EXPLAIN QUERY PLAN SELECT * FROM \(name)", "SELECT \(name) FROM Note",
                "SELECT * FROM Note WHERE \(name) = 1",
            ] {
                let (found, expected) = (try rows(server, ann, sql), try rows(server, ann, sql.replacing(name, with: missing)))
                #expect(found.status == 400 && found.status == expected.status, "\(sql): \(found.text)")
                let part = { (text: String) in String(text.prefix { $0 != "(" }.split(separator: "\"instance\"")[0]) }
                #expect(part(found.text) == part(expected.text.replacing(missing, with: name)), "\(sql)")
            }
        }
        let names =
            try rows(server, ann, "SELECT * FROM _realm_names").text + rows(server, ann, "SELECT * FROM sqlite_master").text
        #expect(!names.contains("Log") && !names.contains("\"log\""))
        if role == "blind" { #expect(!names.contains("Page") && !names.contains("\"owner\"") && !names.contains("Tag")) }
    }

    @Test func `a role that may read nothing has no table`() throws {
        let (server, _) = try server()
        let ann = try server.add("ann", roles: ["writer"])
        #expect(try rows(server, ann, "SELECT * FROM Note").status >= 400)
    }
}

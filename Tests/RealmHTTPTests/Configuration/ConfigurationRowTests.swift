// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Rows about the members of a configuration, as `POST /v1/realms` takes them.
@Suite struct ConfigurationRowTests {
    private static let item =
        #"{"schemaVersion":0,"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}"#

    /// The names of the files in the folder of a server, without what it keeps about its realms.
    private func files(_ server: WriteServer) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: server.folder)).subtracting([".realm-rest"])
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    // MARK: - Where a realm is

    @Test func `E3, E21: a realm is opened by the path of its file, which excludes a realm in memory`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/app.realm"
            try server.done("DELETE", "app")
            for query in ["", "?dryRun=true"] {
                let both = try server.attach(#"{"name":"x","path":"\#(path)","inMemory":"m"}"#, query)
                #expect(both.status == 400 && both.code == "conflicting_parameters", "\(both.text)")
                #expect(both.json["pointer"]?.text == "/inMemory")
                let none = try server.attach(#"{"name":"x","path":"\#(server.folder)/none.realm"}"#, query)
                #expect(none.status == 404 && none.code == "file_not_found")
            }
            #expect(try files(server).isSubset(of: ["app.realm", "app.realm.lock"]))
            let opened = try server.attach(#"{"name":"x","path":"\#(path)"}"#)
            #expect(opened.status == 201 && opened["Location"] == "/v1/realms/x" && opened.json["path"]?.text == path)
            #expect(try server.get("x/objects/Dog/1").json["name"]?.text == "Rex")
        }
    }

    @Test func `E4: each user has a file of a name of its own, and a name leads nowhere else`() throws {
        try withWriteServer { (server: WriteServer) throws in
            for user in ["ann", "bob.smith", "c-3_po"] {
                #expect(try server.attach(#"{"name":"\#(user)","schema":\#(ConfigurationRowTests.item)}"#).status == 201)
                try server.done("POST", "\(user)/objects/Item", #"{"id":\#(user.utf8.count)}"#)
                #expect(try files(server).contains(user + ".realm"))
            }
            #expect(try server.get("ann/objects/Item?count=exact").json["items"]?[0]?["id"]?.int == 3)
            #expect(try server.get("bob.smith/objects/Item/9").status == 200)
            let before = try files(server)
            for name in ["../x", "..", ".", ".x", "a/b", "a/../b", "/etc/x", #"a\\b"#, "a b", "", "%2e%2e", "é", #"a\u0000b"#] {
                for member in ["", #","inMemory":"m""#, #","seed":"\#(server.folder)/app.realm""#] {
                    let answer = try server.attach(#"{"name":"\#(name)"\#(member)}"#)
                    #expect(answer.status == 400 && answer.code == "invalid_body", "\(name): \(answer.text)")
                    #expect(answer.json["pointer"]?.text == "/name")
                }
            }
            // Neither does a path, nor a path in the URL.
            let path = try server.attach(#"{"path":"\#(server.folder)/../../etc/x.realm"}"#)
            #expect(path.status == 403 && path.code == "path_not_allowed")
            for target in ["../../etc", "..%2f..%2fetc", "%2e%2e"] { #expect(try server.get(target).status >= 400) }
            #expect(try files(server) == before)
        }
    }

    @Test func `E5, E22, E23: a realm in memory makes no file, is shared by its identifier, and lives while it is attached`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let before = TreeDigest(server.folder)
            let body = #""inMemory":"cache","schema":\#(ConfigurationRowTests.item)"#
            #expect(try server.attach(#"{"name":"one",\#(body)}"#).json["inMemory"]?.bool == true)
            try server.done("POST", "one/objects/Item", #"{"id":1}"#)
            // The second name has the same data, in both directions.
            #expect(try server.attach(#"{"name":"two","inMemory":"cache"}"#).status == 201)
            #expect(try server.get("two/objects/Item/1").status == 200)
            try server.done("POST", "two/objects/Item", #"{"id":2}"#)
            #expect(try server.get("one/objects/Item/2").status == 200)
            try server.done("DELETE", "one")
            #expect(try server.get("two/objects/Item?count=exact").json["count"]?.int == 2)
            // When the last name goes, the data go.
            try server.done("DELETE", "two")
            #expect(try server.attach(#"{"name":"one",\#(body)}"#).status == 201)
            #expect(try server.get("one/objects/Item?count=exact").json["count"]?.int == 0)
            // More than memory pressure would push out, and still no file.
            let lines = (0..<20_000).map { #"{"id":\#($0)}"# }.joined(separator: ",")
            try server.done("POST", "one/objects/Item", "[\(lines)]", [("Prefer", "return=minimal")])
            #expect(TreeDigest(server.folder).differences(from: before, ignoring: [""]).isEmpty)
            try server.done("DELETE", "one")
        }
    }

    @Test(arguments: [
        (#""path":"/x.realm","inMemory":"m""#, "/inMemory"), (#""seed":"/x.realm","inMemory":"m""#, "/seed"),
        (#""path":"/x.realm","seed":"/y.realm","inMemory":"m""#, "/inMemory"),
        (#""inMemory":"m","encryptionKey":"\#(String(repeating: "ab", count: 64))""#, "/encryptionKey"),
        (#""inMemory":"m","mode":"ro""#, "/mode"), (#""inMemory":"m","mode":"copy""#, "/mode"),
        (#""inMemory":"m","mode":"follow""#, "/mode"), (#""inMemory":"m","compactOnOpen":{}"#, "/compactOnOpen"),
        (#""inMemory":"m","upgrade":"in-place""#, "/upgrade"), (#""inMemory":"m","classes":["A"]"#, "/classes"),
        (#""path":"FOLDER/app.realm","mode":"ro","schema":{"classes":[]}"#, "/mode"),
        (#""path":"FOLDER/app.realm","mode":"ro","compactOnOpen":{}"#, "/compactOnOpen"),
        (#""path":"FOLDER/app.realm","mode":"ro","upgrade":"in-place""#, "/upgrade"),
        (#""path":"FOLDER/app.realm","onMigrationNeeded":"delete""#, "/onMigrationNeeded"),
        (#""path":"FOLDER/app.realm","followInterval":"1s""#, "/followInterval"),
        (#""schemaVersion":2,"schema":{"schemaVersion":1,"classes":[]}"#, "/schemaVersion"), (#""mode":"ro""#, "/mode"),
    ])
    func `E17: members that exclude each other are refused, and none is dropped in silence`(
        _ members: String, _ pointer: String
    ) throws {
        try withWriteServer { (server: WriteServer) throws in
            let members = members.replacingOccurrences(of: "FOLDER", with: server.folder)
            for query in ["", "?dryRun=true"] {
                let answer = try server.attach(#"{"name":"x",\#(members)}"#, query)
                #expect(answer.status == 400 && answer.code == "conflicting_parameters", "\(answer.text)")
                let places = pointer == "/seed" ? ["/seed", "/inMemory"] : [pointer]
                #expect(places.contains(answer.json["pointer"]?.text ?? ""), "\(answer.text)")
            }
            #expect(try server.get("x").code == "realm_not_found")
            // Sync excludes everything, by its name.
            let sync = try server.attach(#"{"name":"x","inMemory":"m","syncConfiguration":{}}"#)
            #expect(sync.status == 400 && sync.json["pointer"]?.text == "/syncConfiguration")
        }
    }

    // MARK: - What a configuration is

    @Test func `D46, E18, E41: all members of a configuration come back as they were given, and may be given again`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            let body = """
                {"name":"other","path":"\(server.folder)/app.realm","mode":"rw","schemaVersion":0,
                "backlinkNames":{"Person":{"owned":"Dog.owner"}},"maxActiveVersions":40,"upgrade":"in-place",
                "compactOnOpen":{"minTotalBytes":100000000,"maxUsedRatio":0.5},"autoCompact":{"minTotalBytes":100000000,
                "maxUsedRatio":0.25},"keepMigrationBackups":3,"requireIfMatch":["Note"],"allowDataLoss":false,
                "defaults":{"Dog":{"age":4}},"onMigrationNeeded":"fail"}
                """
            func attach(_ body: String) throws -> ParsedJSON {
                let answer = try server.attach(body)
                #expect(answer.status == 201, "\(answer.text)")
                return try #require(answer.json["options"])
            }
            let given = try ParsedJSON(parsing: body)
            let options = try attach(body)
            #expect(options.canonical == given.canonical)
            // They are in force.
            #expect(try server.get("other/objects/Person/ann?fields=owned").text.contains("\"key\":\"1\""))
            try server.done("POST", "other/objects/Dog", #"{"_id":7}"#)
            #expect(try server.get("other/objects/Dog/7").json["age"]?.int == 4)
            #expect(try server.send("DELETE", "other/objects/Note?where=TRUEPREDICATE").status == 428)
            // What was answered is a configuration; after it was changed and used elsewhere it is another one.
            try server.done("DELETE", "other")
            #expect(try attach(options.serialized).canonical == given.canonical)
            try server.done("DELETE", "other")
            let changed = options.serialized.replacingOccurrences(of: "\"age\":4", with: "\"age\":5")
            #expect(try attach(changed)["defaults"]?["Dog"]?["age"]?.int == 5)
            #expect(options["defaults"]?["Dog"]?["age"]?.int == 4)
            try server.done("DELETE", "other")
        }
    }

    @Test func `E13: without a choice all classes of the file are there`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            for mode in ["rw", "ro", "copy"] {
                #expect(try server.attach(#"{"path":"\#(server.folder)/app.realm","mode":"\#(mode)"}"#).status == 201)
                let names = try server.get("app/schema").json["classes"]?.elements?.compactMap { $0["name"]?.text }
                #expect(names?.sorted() == WriteServer.classes.map(\.name).sorted())
                for one in WriteServer.classes { #expect(try server.get("app/objects/\(one.name)").status == 200) }
                try server.done("DELETE", "app")
            }
        }
    }

    // MARK: - Versions

    @Test func `E8, E39: a realm is opened at its own version, not at an older one, and at a newer one by a migration`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func attach(_ members: String) throws -> HTTPClient.Answer {
                try server.attach(#"{"path":"\#(server.folder)/app.realm"\#(members)}"#)
            }
            try server.done(
                "POST", "app/migrations",
                #"{"fromVersion":0,"toVersion":5,"steps":[{"addClass":{"name":"New","properties":[]}}]}"#)
            try server.done("DELETE", "app")
            let bytes = try server.bytes()
            for mode in ["", #","mode":"ro""#, #","mode":"copy""#] {
                for version in [0, 4, 6] {
                    let answer = try attach(#","schemaVersion":\#(version)"# + mode)
                    #expect(answer.status == 409 && answer.code == "schema_version_conflict", "\(version)\(mode): \(answer.text)")
                }
                #expect(try attach(#","schemaVersion":5"# + mode).json["schemaVersion"]?.int == 5)
                try server.done("DELETE", "app")
            }
            // Another schema needs a version too.
            let other = #"{"classes":[{"name":"Note","properties":[{"name":"text","type":"int"}]}]}"#
            for version in ["", #","schemaVersion":5"#, #","schemaVersion":6"#] {
                #expect(try attach(#","schema":\#(other)"# + version).code == "schema_version_conflict")
            }
            #expect(try server.bytes() == bytes)
            let step = #"{"renameProperty":{"class":"Note","name":"text","to":"words"}}"#
            let migrated = try attach(#","schemaVersion":6,"migrations":[\#(step)]"#)
            #expect(migrated.status == 201 && migrated.json["schemaVersion"]?.int == 6, "\(migrated.text)")
            #expect(try server.get("app/objects/Note").json["items"]?[0]?["words"]?.text == "n")
            try server.done("DELETE", "app")
            #expect(try attach(#","schemaVersion":5"#).code == "schema_version_conflict")
            #expect(try attach("").json["schemaVersion"]?.int == 6)
        }
    }

    @Test func `E14: zero allows any number of live versions, and one is refused`() throws {
        try withWriteServer { (server: WriteServer) throws in
            for count in [-1, 1] {
                let answer = try server.attach(#"{"name":"m","inMemory":"m","maxActiveVersions":\#(count)}"#)
                #expect(answer.status == 400 && answer.json["pointer"]?.text == "/maxActiveVersions", "\(answer.text)")
            }
            let schema = ConfigurationRowTests.item
            #expect(try server.attach(#"{"name":"m","inMemory":"m","maxActiveVersions":0,"schema":\#(schema)}"#).status == 201)
            #expect(try server.get("m").json["options"]?["maxActiveVersions"]?.int == 0)
            for key in 0..<7 {
                try server.done("POST", "m/snapshots", "{}")
                try server.done("POST", "m/objects/Item", #"{"id":\#(key)}"#)
            }
            #expect(try server.get("m").json["liveVersions"]?.int == 8)
        }
    }

    // MARK: - Files beside the realm

    @Test func `E19: after a realm was detached, only the lock file and what was there before remain beside it`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let folder = server.folder + "/alone"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try server.done("DELETE", "app")
            try FileManager.default.copyItem(atPath: server.folder + "/app.realm", toPath: folder + "/a.realm")
            func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: folder)) }
            let path = #""path":"\#(folder)/a.realm""#
            for mode in ["ro", "copy"] {
                #expect(try server.attach(#"{\#(path),"mode":"\#(mode)"}"#).status == 201)
                try server.done("DELETE", "a")
                #expect(try names() == ["a.realm"])
            }
            try Data("app".utf8).write(to: URL(fileURLWithPath: folder + "/a.realm.note"))
            for _ in 0..<2 {
                #expect(try server.attach(#"{\#(path)}"#).status == 201)
                try server.done("POST", "a/objects/Note", #"{"text":"x"}"#)
                #expect(try names() == ["a.realm", "a.realm.lock", "a.realm.note"])
                try server.done("DELETE", "a")
                #expect(try names() == ["a.realm", "a.realm.lock", "a.realm.note"])
            }
            #expect(try bytes(folder + "/a.realm.note") == Data("app".utf8))
            let documented = try String(
                contentsOf: Fixtures.packageRoot.appendingPathComponent("docs/files.md"), encoding: .utf8)
            for name in ["<file>.lock", "<file>.note", "<file>.management"] { #expect(documented.contains(name)) }
        }
    }

    @Test func `E24: a file of a synchronized realm is only read or copied, and stays as it is`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            let path = server.folder + "/app.realm"
            var editor = FileEditor([UInt8](try bytes(path)))
            for type in [3, 4] as [UInt64] {
                // The kind of history is a tagged number.
                editor.setElement(editor.top, 7, type * 2 + 1)
                let patched = Data(editor.bytes)
                try patched.write(to: URL(fileURLWithPath: path))
                let read = try server.attach(#"{"path":"\#(path)"}"#)
                #expect(read.status == 201 && read.json["mode"]?.text == "ro", "\(read.text)")
                #expect(read.json["readOnlyReason"]?["detail"]?.text?.contains("synchronized") == true, "\(read.text)")
                #expect(try server.get("app/objects/Dog/1").json["name"]?.text == "Rex")
                #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":1}"#).code == "read_only")
                // Tables that are no classes, as those of sync are, are not shown.
                let names = try server.get("app/schema").json["classes"]?.elements?.compactMap { $0["name"]?.text }
                #expect(names?.sorted() == WriteServer.classes.map(\.name).sorted())
                try server.done("DELETE", "app")
                let refused = try server.attach(#"{"path":"\#(path)","mode":"rw"}"#)
                #expect(refused.status == 422, "\(refused.text)")
                #expect(try server.attach(#"{"path":"\#(path)","mode":"copy"}"#).status == 201)
                try server.done("PATCH", "app/objects/Dog/1", #"{"age":30}"#)
                #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 30)
                try server.done("DELETE", "app")
                #expect(try bytes(path) == patched)
            }
        }
    }

    // MARK: - Only reading

    private static let writes: [(method: String, path: String, body: String?)] = [
        ("POST", "objects/Note", #"{"text":"x"}"#), ("PUT", "objects/Dog/1", #"{"age":1}"#),
        ("PATCH", "objects/Dog/1", #"{"age":1}"#), ("DELETE", "objects/Dog/1", nil),
        ("PATCH", "objects/Dog?where=TRUEPREDICATE", #"{"age":1}"#), ("DELETE", "objects/Dog?where=TRUEPREDICATE", nil),
        ("DELETE", "objects?confirm=all", nil), ("PUT", "objects/Dog/1/age", "1"),
        ("POST", "batch", #"{"ops":[{"delete":{"class":"Dog","key":"1"}}]}"#), ("POST", "transactions", "{}"),
        ("POST", "migrations", #"{"fromVersion":0,"toVersion":1,"steps":[]}"#),
        ("POST", "import", #"{"class":"Note","object":{"text":"x"}}"#), ("POST", "compact", "{}"),
        ("POST", "restore", #"{"backup":"x"}"#),
    ]

    @Test func `E7: every write to a realm that is only read is refused, and its file keeps every byte`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            let before = TreeDigest(server.folder)
            #expect(try server.attach(#"{"path":"\#(server.folder)/app.realm","mode":"ro"}"#).json["mode"]?.text == "ro")
            for (method, path, body) in ConfigurationRowTests.writes {
                for dry in ["", "dryRun=true"] {
                    let query = dry.isEmpty ? "" : (path.contains("?") ? "&" : "?") + dry
                    let answer = try server.send(method, "app/" + path + query, body)
                    if !dry.isEmpty, answer.code == "unknown_parameter" { continue }
                    #expect(answer.status == 405 && answer.code == "read_only", "\(method) \(path)\(query): \(answer.text)")
                    #expect(answer["Allow"]?.contains(method) == false, "\(method) \(path): \(answer["Allow"] ?? "")")
                }
            }
            #expect(try server.get("app/objects/Dog/1").json["name"]?.text == "Rex")
            try server.done("DELETE", "app")
            #expect(TreeDigest(server.folder).differences(from: before).isEmpty)
        }
    }
}

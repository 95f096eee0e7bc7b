// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import MicroHTTP
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import SystemPackage
import Testing

/// Openings that are rehearsed, refused, cancelled or limited, and files that others use.
@Suite struct OpeningTests {
    private static let item =
        #"{"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"name","type":"string"}]}]}"#

    // MARK: - Dry runs

    private static let refusals = [
        #""mode":"rw","schemaVersion":5"#, #""mode":"rw","schemaVersion":5,"migrations":[{"removeClass":{"name":"Nope"}}]"#,
        #""mode":"rw","schemaVersion":5,"migrations":[{"removeClass":{"name":"Note"}}]"#,
        #""schema":{"classes":[{"name":"A","properties":[{"name":"x","type":"nope"}]}]}"#,
        #""schema":{"schemaVersion":1,"classes":[{"name":"Dog","properties":[]}]}"#, #""backlinkNames":{"Dog":{"x":"No.where"}}"#,
        #""encryptionKey":"\#(String(repeating: "ab", count: 64))""#, #""mode":"ro","schemaVersion":9"#,
    ]

    @Test(arguments: refusals)
    func `a dry run refuses what the real call refuses, in the same words, and neither leaves a trace`(_ members: String) throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            let before = TreeDigest(server.folder)
            let bodies = [
                #"{"name":"x","path":"\#(server.folder)/app.realm",\#(members)}"#,
                #"{"name":"x","seed":"\#(server.folder)/app.realm",\#(members)}"#,
            ]
            for body in bodies where !(body.contains("seed") && body.contains(#""mode""#)) {
                let dry = try server.attach(body, "?dryRun=true")
                let real = try server.attach(body)
                #expect(real.status >= 400, "\(body): \(real.text)")
                #expect(dry.status == real.status && dry.code == real.code, "\(body): \(dry.text), \(real.text)")
                #expect(dry.json["detail"]?.text == real.json["detail"]?.text)
                #expect(dry.json["pointer"]?.text == real.json["pointer"]?.text)
                let changes = TreeDigest(server.folder).differences(from: before)
                #expect(changes.isEmpty, "\(body): \(changes)")
            }
        }
    }

    @Test func `a dry run tells the mode and the schema that the realm would have`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            let before = TreeDigest(server.folder)
            func dry(_ body: String) throws -> ParsedJSON? {
                let answer = try server.attach(body, "?dryRun=true")
                #expect(answer.status == 200 && answer.json["status"]?.int == 201, "\(answer.text)")
                return answer.json["body"]
            }
            let path = #""path":"\#(server.folder)/app.realm""#
            for mode in ["rw", "ro", "copy"] { #expect(try dry(#"{\#(path),"mode":"\#(mode)"}"#)?["mode"]?.text == mode) }
            #expect(try dry(#"{\#(path)}"#)?["mode"]?.text == "rw")
            let migrated = try dry(#"{\#(path),"schemaVersion":3,"migrations":[{"addClass":{"name":"New","properties":[]}}]}"#)
            #expect(migrated?["schemaVersion"]?.int == 3 && migrated?["classes"]?.int == WriteServer.classes.count + 1)
            let made = try dry(#"{"name":"new","schema":\#(OpeningTests.item)}"#)
            #expect(made?["classes"]?.int == 1 && made?["mode"]?.text == "rw" && made?["exists"]?.bool == false)
            let lock = try OwnershipLock(ofFile: try System.resolved(server.folder + "/app.realm"))
            let held = TreeDigest(server.folder)
            for mode in ["", #","mode":"rw""#, #","mode":"ro""#] {
                for query in ["", "?dryRun=true"] {
                    let answer = try server.attach(#"{\#(path)\#(mode)}"#, query)
                    #expect(answer.status == 409 && answer.code == "file_in_use", "\(answer.text)")
                    #expect(answer.json["detail"]?.text?.contains("copy") == true)
                }
            }
            #expect(TreeDigest(server.folder).differences(from: held).isEmpty)
            #expect(try server.attach(#"{\#(path),"mode":"copy"}"#).status == 201)
            lock.release()
            #expect(TreeDigest(server.folder).differences(from: before, ignoring: ["", "app.realm.lock"]).isEmpty)
        }
    }

    // MARK: - Seeds

    @Test func `E15: after a refused seed the name is free`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try Data(repeating: 0x78, count: 5000).write(to: URL(fileURLWithPath: server.folder + "/junk"))
            let before = TreeDigest(server.folder)
            #expect(try server.attach(#"{"name":"s","seed":"\#(server.folder)/junk"}"#).code == "not_a_realm")
            let key = #","encryptionKey":"\#(String(repeating: "ab", count: 64))""#
            #expect(
                try server.attach(#"{"name":"s","seed":"\#(server.folder)/app.realm"\#(key)}"#).code == "encryption_key_wrong")
            #expect(TreeDigest(server.folder).differences(from: before).isEmpty)
            #expect(try server.attach(#"{"name":"s","seed":"\#(server.folder)/app.realm"}"#).status == 201)
        }
    }

    @Test func `who does not have the key of a realm gets no copy of it as a seed`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let key = String(repeating: "0c", count: 64)
            #expect(
                try server.attach(#"{"name":"secret","encryptionKey":"\#(key)","schema":\#(OpeningTests.item)}"#).status == 201)
            let seed = #""seed":"\#(server.folder)/secret.realm""#
            #expect(try server.attach(#"{"name":"s",\#(seed)}"#).code == "encryption_key_required")
            #expect(
                try server.attach(#"{"name":"s",\#(seed),"encryptionKey":"\#(String(repeating: "0d", count: 64))"}"#).code
                    == "encryption_key_wrong")
            #expect(!FileManager.default.fileExists(atPath: server.folder + "/s.realm"))
            #expect(try server.attach(#"{"name":"s",\#(seed),"encryptionKey":"\#(key)"}"#).status == 201)
            try server.done("DELETE", "s?files=true")
            try server.done("DELETE", "secret?files=true")
        }
    }

    // MARK: - Openings in the background

    /// A file with 40,000 objects, made once for all tests.
    private static let big = Result { try makeBig() }

    private static func makeBig() throws -> Data {
        let server = try WriteServer()
        #expect(try server.attach(#"{"name":"big","schema":\#(item)}"#).status == 201)
        let lines = (0..<40_000).map { #"{"id":\#($0),"name":"n\#($0)"}"# }.joined(separator: ",")
        try server.done("POST", "big/objects/Item", "[\(lines)]", [("Prefer", "return=minimal")])
        try server.done("DELETE", "big")
        let data = try Data(contentsOf: URL(fileURLWithPath: server.folder + "/big.realm"))
        try server.finish()
        return data
    }

    /// Lays the big file into the folder of a server, which does not know it.
    private func fill(_ server: WriteServer) throws {
        try OpeningTests.big.get().write(to: URL(fileURLWithPath: server.folder + "/big.realm"))
    }

    private static let steps = #"""
        "schemaVersion":5,"migrations":[{"addProperty":{"class":"Item","property":{"name":"extra","type":"string"},"value":"x"}},
        {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"extra":{"$expr":"name + '!'"}}}},
        {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"extra":{"$expr":"name + '?'"}}}}]
        """#

    /// Attaches the big file in the background, with steps that write every object three times.
    private func open(_ server: WriteServer) throws {
        let body = #"{"path":"\#(server.folder)/big.realm",\#(OpeningTests.steps)}"#
        let answer = try HTTPClient.request(
            port: server.port, "POST", "/v1/realms", headers: [WriteServer.json] + WriteServer.later, body: Array(body.utf8))
        #expect(answer.status == 202 && answer["Location"] == "/v1/realms/big", "\(answer.text)")
        #expect(answer.json["state"]?.text == "opening")
    }

    /// The first half of the progress is a rehearsal in memory, the second the migration of the file.
    @Test(arguments: [0.0, 0.3, 0.6, 0.8])
    func `D6: letting go of a realm that is being migrated stops that: it never appears, and its file is free and as it was`(
        _ part: Double
    ) throws {
        try withWriteServer(change: { $0.limits.writeSeconds = 60 }) { (server: WriteServer) throws in
            let path = server.folder + "/big.realm"
            let before = try OpeningTests.big.get()
            var reached = 1.0
            // On a machine that stalls, the migration may be over before it was seen at that part; then there is another one.
            for attempt in 0..<5 where reached >= 1 {
                if attempt > 0 { try server.done("DELETE", "big?files=true") }
                try fill(server)
                try open(server)
                #expect(
                    try eventually(longestPause: 0.005) {
                        reached = try server.get("big").json["progress"]?.double ?? 1
                        return reached >= part
                    })
            }
            try #require(reached < 1, "the migration was over too soon")
            // Late in the migration there is no time for questions.
            if part < 0.5 {
                #expect(try server.get("big/objects/Item").code == "realm_unavailable")
                #expect(try server.attach(#"{"name":"big"}"#).code == "already_attached")
                #expect(try HTTPClient.request(port: server.port, "GET", "/readyz").status == 200)
            }
            #expect(try server.send("DELETE", "big").status == 204)
            // With the answer all is over: the name, the lock, the copy that was made before, and every change.
            try OwnershipLock(ofFile: path).release()
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.folder).filter { $0.contains("before-") } == [])
            #expect(try server.get("big").code == "realm_not_found")
            #expect(try server.send("DELETE", "big").code == "realm_not_found")
            let listed = try HTTPClient.request(port: server.port, "GET", "/v1/realms").json["items"]?.elements ?? []
            #expect(listed.map { $0["name"]?.text } == ["app"])
            let again = try server.attach(#"{"path":"\#(path)"}"#)
            #expect(again.status == 201 && again.json["schemaVersion"]?.int == 0, "\(again.text)")
            #expect(try server.get("big/objects/Item/7?meta=none").text == #"{"id":7,"name":"n7"}"#)
            #expect(try server.get("big/aggregate/Item").json["count"]?.int == 40_000)
        }
    }

    @Test func `D7: progress grows from 0 to 1 while a realm is migrated, and ends when it is ready`() throws {
        try withWriteServer(change: { $0.limits.writeSeconds = 60 }) { (server: WriteServer) throws in
            try fill(server)
            try open(server)
            var seen: [Double] = []
            var last: ParsedJSON = .null
            #expect(
                try eventually(longestPause: 0.005) {
                    last = try server.get("big").json
                    if let part = last["progress"]?.double { seen.append(part) }
                    return last["state"]?.text != "opening"
                })
            #expect(last["state"]?.text == "ready" && last["progress"] == nil, "\(last)")
            let between = Set(seen.filter { $0 > 0 && $0 < 1 })
            #expect(seen == seen.sorted() && between.count > 5, "\(seen)")
            // It was seen in the first steps of the rehearsal, and in the last of the migration.
            #expect((seen.first ?? 1) < 0.3 && (0.7...1).contains(seen.last ?? 0), "\(seen)")
            #expect(try server.get("big/objects/Item/7?meta=none").text == #"{"id":7,"name":"n7","extra":"n7?"}"#)
        }
    }

    @Test func `what only a request has named is forgotten after it failed, and does not make the server unready`()
        throws
    {
        try withWriteServer(change: { $0.forgetsFailedAfterSeconds = 0.3 }) { (server: WriteServer) throws in
            try Data(repeating: 0x78, count: 5000).write(to: URL(fileURLWithPath: server.folder + "/junk"))
            func later(_ body: String) throws -> HTTPClient.Answer {
                try HTTPClient.request(
                    port: server.port, "POST", "/v1/realms", headers: [WriteServer.json] + WriteServer.later,
                    body: Array(body.utf8))
            }
            #expect(try later(#"{"name":"none","path":"\#(server.folder)/none.realm"}"#).code == "file_not_found")
            #expect(try server.get("none").code == "realm_not_found")
            #expect(try later(#"{"name":"bad","path":"\#(server.folder)/junk"}"#).status == 202)
            #expect(try HTTPClient.request(port: server.port, "GET", "/readyz").status == 200)
            #expect(try eventually { try server.get("bad").code == "realm_not_found" })
        }
    }

    // MARK: - Limits and roots

    @Test func `there are only so many realms`() throws {
        try withWriteServer(change: { $0.limits.realms = 3 }) { (server: WriteServer) throws in
            // A realm that nobody uses would be closed for another one.
            #expect(try server.send("POST", "app/snapshots", #"{"ttl":"300s"}"#).status == 201)
            #expect(try server.attach(#"{"inMemory":"a"}"#).status == 201)
            #expect(try server.attach(#"{"inMemory":"b"}"#).status == 201)
            for query in ["", "?dryRun=true"] {
                let answer = try server.attach(#"{"inMemory":"c"}"#, query)
                #expect(
                    answer.status == 429 && answer.code == "too_many_realms" && answer.json["limit"]?.int == 3,
                    "\(answer.text)")
            }
            try server.done("DELETE", "a")
            #expect(try server.attach(#"{"inMemory":"c"}"#).status == 201)
        }
    }

    @Test(arguments: [
        (#""path":"/etc/passwd""#, 403, "path_not_allowed"), (#""path":"../x.realm""#, 403, "path_not_allowed"),
        // A relative path that is in no folder starts at the data folder.
        (#""path":"x.realm""#, 404, "file_not_found"), (#""path":"a/../../x.realm""#, 403, "path_not_allowed"),
        (#""path":"""#, 400, "invalid_body"),
        (#""path":"/data/a\u0000b""#, 400, "invalid_body"), (#""path":"/data/""#, 400, "invalid_body"),
        (#""seed":"/etc/passwd\u0000""#, 400, "invalid_body"),
        (#""path":"\#(String(repeating: "/a", count: 3000))""#, 400, "invalid_body"),
        (#""seed":"/etc/passwd""#, 403, "path_not_allowed"),
        (#""path":7"#, 400, "invalid_body"),
    ])
    func `without folders for them no path is allowed, and what a path is can be told`(
        _ member: String, _ status: Int, _ code: String
    ) throws {
        try withWriteServer(change: { $0.attachRoots = [] }) { (server: WriteServer) throws in
            for query in ["", "?dryRun=true"] {
                let answer = try server.attach(#"{"name":"x",\#(member)}"#, query)
                #expect(answer.status == status && answer.code == code, "\(answer.text)")
            }
        }
    }

    @Test func `where paths lead is found without opening what lies outside`() throws {
        let folders = try MischiefFolders()
        defer { folders.remove() }
        let roots = try AttachRoots([folders.root])
        let root = folders.root
        unsafe mkdir(root + "/a", 0o700)
        try folders.link("a", at: root + "/b")
        try folders.link("../outside", at: root + "/out")
        try folders.link(root + "/a", at: folders.outside + "/in")
        #expect(roots.resolve(root + "/b/x") == root + "/a/x")
        #expect(roots.resolve(root + "/b/../x") == root + "/x")
        #expect(roots.resolve(root + "/none/deep/x") == root + "/none/deep/x")
        #expect(roots.resolve(folders.outside + "/in/x") == root + "/a/x")
        for outside in [
            root, root + "/", root + "/out/x", root + "/../x", folders.base + "/rootx/y", "", "/", ".", "../x",
            "out/x", "b/../../x", "/proc/self/root" + folders.outside + "/x",
        ] {
            #expect(roots.resolve(outside) == nil, "\(outside)")
        }
        #expect(roots.resolve("/proc/self/root" + root + "/x") == root + "/x")
        // What is in no folder from the working folder on starts at the first folder.
        #expect(roots.resolve("x") == root + "/x" && roots.resolve("b/x") == root + "/a/x")
        #expect(throws: StorageError.self) { try AttachRoots([root + "/none"]) }
    }

    // MARK: - Disks

    /// Whether this process may make disks.
    private static let canMount = (try? withSmallDisk { _ in }) != nil

    /// A small disk of its own.
    private static func withSmallDisk(_ body: (String) throws -> Void) throws {
        let folder = realPath(of: NSTemporaryDirectory()) + "/realm-rest-disk-\(UUID().uuidString)"
        unsafe mkdir(folder, 0o700)
        defer { unsafe rmdir(folder) }
        guard unsafe mount("tmpfs", folder, "tmpfs", 0, "size=1m,mode=700") == 0 else { throw Errno(rawValue: errno) }
        defer { unsafe umount2(folder, 2) }
        try body(folder)
    }

    @Test(.enabled(if: canMount, "this process may not mount"))
    func `A7, E30: on a full disk nothing half-made is left, and no realm`() throws {
        try OpeningTests.withSmallDisk { folder in
            let source = realPath(of: NSTemporaryDirectory()) + "/realm-rest-\(UUID().uuidString).realm"
            try FileManager.default.copyItem(atPath: try Fixtures.path("store"), toPath: source)
            defer { unsafe unlink(source) }
            var options = ServerOptions()
            (options.port, options.logFormat, options.graceSeconds, options.dataFolder) = (0, nil, 0, folder)
            options.attachRoots = [NSTemporaryDirectory()]
            let server = try RealmServer(options)
            try server.start()
            defer { server.stop() }
            try Data(repeating: 1, count: 1 << 20 - 8192).write(to: URL(fileURLWithPath: folder + "/ballast"))
            let before = TreeDigest(folder)
            for body in [#"{"name":"s","seed":"\#(source)"}"#, #"{"name":"s","seed":"\#(source)","schemaVersion":1}"#] {
                let answer = try HTTPClient.request(
                    port: server.daemon.socket.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(body.utf8))
                #expect(answer.status == 507 && answer.code == "insufficient_storage", "\(answer.text)")
                let list = try HTTPClient.request(port: server.daemon.socket.port, "GET", "/v1/realms").json["items"]
                #expect(list?.elements?.isEmpty == true, "\(list ?? .null)")
                #expect(TreeDigest(folder).differences(from: before).isEmpty)
            }
        }
    }

    @Test(.enabled(if: canMount, "this process may not mount"))
    func `E7: on a disk that is only read files are served for reading, and the reason is told`() throws {
        try OpeningTests.withSmallDisk { folder in
            try FileManager.default.copyItem(atPath: try Fixtures.path("types-single"), toPath: folder + "/a.realm")
            // MS_REMOUNT and MS_RDONLY.
            try #require(unsafe mount("tmpfs", folder, "tmpfs", 32 | 1, "size=1m") == 0)
            let before = TreeDigest(folder)
            var options = ServerOptions()
            (options.port, options.logFormat, options.graceSeconds, options.dataFolder) = (0, nil, 0, folder)
            var told: [String] = []
            let server = try RealmServer(options) { told.append($0) }
            try server.start()
            defer { server.stop() }
            _ = server.state.catalog.openNow("a")
            let document = try HTTPClient.request(port: server.daemon.socket.port, "GET", "/v1/realms/a").json
            #expect(document["mode"]?.text == "ro")
            #expect(document["readOnlyReason"]?["detail"]?.text?.contains("permission") == true)
            #expect(told.isEmpty)
            for body in [#"{"name":"b"}"#, #"{"name":"b","seed":"\#(folder)/a.realm"}"#] {
                for query in ["", "?dryRun=true"] {
                    let answer = try HTTPClient.request(
                        port: server.daemon.socket.port, "POST", "/v1/realms" + query, headers: [WriteServer.json],
                        body: Array(body.utf8))
                    #expect(answer.status == 422 && answer.code == "filesystem_unsuitable", "\(answer.text)")
                }
            }
            #expect(TreeDigest(folder).differences(from: before).isEmpty)
        }
    }
}

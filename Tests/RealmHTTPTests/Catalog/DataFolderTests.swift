// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What the data folder shows and forgets, which names are taken in it, and what is kept from deletion.
@Suite struct DataFolderTests {
    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func names(_ server: WriteServer) throws -> [String?] {
        try HTTPClient.request(port: server.port, "GET", "/v1/realms").json["items"]?.elements?.map { $0["name"]?.text } ?? []
    }

    private func isReady(_ server: WriteServer) throws -> Bool {
        try HTTPClient.request(port: server.port, "GET", "/readyz").status == 200
    }

    // MARK: - Deleting

    @Test func `a file that another server only reads is not deleted, and may be written`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/app.realm"
            try server.done("DELETE", "app")
            #expect(try server.attach(#"{"name":"app","path":"\#(path)","mode":"copy"}"#).status == 201)
            try server.done("DELETE", "app")
            let reader = try Database.open(
                name: try #require(RealmName("reader")), path: path, Database.OpenOptions(mode: .readOnly))
            let untouched = TreeDigest(server.folder)
            #expect(try server.attach(#"{"path":"\#(path)"}"#).status == 201)
            for query in ["?files=true&dryRun=true", "?files=true"] {
                let answer = try server.send("DELETE", "app" + query)
                #expect(answer.status == 409 && answer.code == "file_in_use", "\(answer.text)")
            }
            #expect(TreeDigest(server.folder).differences(from: untouched, ignoring: ["", "app.realm.lock"]).isEmpty)
            try server.done("POST", "app/objects/Note", #"{"text":"on"}"#)
            reader.close()
            #expect(try server.send("DELETE", "app?files=true&dryRun=true").status == 200)
            #expect(try server.send("DELETE", "app?files=true").status == 204)
            #expect(!exists(path))
        }
    }

    @Test func `the file of a realm that failed is kept while another server reads it`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/locked.realm"
            try FileManager.default.copyItem(atPath: try Fixtures.path("encrypted"), toPath: path)
            let reader = try Database.open(
                name: try #require(RealmName("reader")), path: path,
                Database.OpenOptions(key: try EncryptionKey(bytes: Fixtures.key), mode: .readOnly))
            #expect(try eventually { try server.get("locked/schema").code == "encryption_key_required" })
            #expect(try server.get("locked").json["state"]?.text == "failed")
            #expect(try server.send("DELETE", "locked?files=true").code == "file_in_use")
            #expect(exists(path))
            reader.close()
            #expect(try server.send("DELETE", "locked?files=true").status == 204)
            #expect(!exists(path))
        }
    }

    @Test func `what has the names of an SDK's files goes with the file, pipe or not; links and what they lead to stay`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/app.realm"
            try FileManager.default.createDirectory(atPath: path + ".management", withIntermediateDirectories: true)
            try Data("x".utf8).write(to: URL(fileURLWithPath: path + ".note"))
            for name in ["access_control.new_commit.cv", "access_control.pick_writer.cv", "access_control.write.mx"] {
                try Data("x".utf8).write(to: URL(fileURLWithPath: path + ".management/" + name))
            }
            try server.done("DELETE", "app?files=true")
            #expect(!exists(path) && !exists(path + ".note") && !exists(path + ".management"))
        }
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/app.realm"
            try Data("mine".utf8).write(to: URL(fileURLWithPath: server.folder + "/mine"))
            try FileManager.default.createDirectory(atPath: path + ".management", withIntermediateDirectories: true)
            for name in [".note", ".management/access_control.write.mx"] {
                try FileManager.default.createSymbolicLink(
                    atPath: path + name, withDestinationPath: server.folder + "/mine")
            }
            try server.done("DELETE", "app?files=true")
            #expect(exists(server.folder + "/mine") && exists(path + ".note"))
            #expect(exists(path + ".management/access_control.write.mx"))
        }
    }

    // MARK: - Names

    @Test func `with folders in the data folder a name is taken wherever its file is, also after it was detached`() throws {
        try withWriteServer(change: { options in
            options.layout = .sharded
            let folder = options.dataFolder ?? ""
            unsafe mkdir(folder + "/zz", 0o700)
            unsafe rename(folder + "/app.realm", folder + "/zz/app.realm")
        }) { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            for query in ["?dryRun=true", ""] {
                let answer = try server.attach(#"{"name":"app","schema":{"classes":[]}}"#, query)
                #expect(answer.status == 409 && answer.code == "file_exists", "\(answer.text)")
            }
            let files = try FileManager.default.subpathsOfDirectory(atPath: server.folder)
            #expect(files.filter { $0.hasSuffix("app.realm") } == ["zz/app.realm"])
            // With a seed the request is satisfied with the file that is there.
            let seeded = try server.attach(#"{"name":"app","seed":"\#(server.folder)/zz/app.realm"}"#)
            #expect(seeded.status == 201, "\(seeded.text)")
            #expect(seeded.json["path"]?.text?.hasSuffix("/zz/app.realm") == true)
            #expect(try server.attach(#"{"name":"new","schema":{"classes":[]}}"#).status == 201)
        }
    }

    @Test func `of two files of one name the first is served, and the other is told of once`() throws {
        let folder = realPath(of: NSTemporaryDirectory()) + "/realm-rest-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for shard in ["ab", "zz"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + shard, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: try Fixtures.path("store"), toPath: folder + "/\(shard)/a.realm")
        }
        let data = try DataFolder(path: folder, layout: .sharded) { _ throws(StorageError) in Database.OpenOptions() }
        #expect(data.takeHidden() == [folder + "/zz/a.realm"])
        #expect(data.takeHidden() == [])
        #expect(data.existingPath(of: "a") == folder + "/ab/a.realm")
        #expect(data.count == 1)
        var options = ServerOptions()
        (options.port, options.logFormat, options.graceSeconds, options.dataFolder) = (0, nil, 0, folder)
        options.layout = .sharded
        var told: [String] = []
        let server = try RealmServer(options) { told.append($0) }
        server.stop()
        #expect(told.filter { $0.contains("/zz/a.realm") }.count == 1 && told.count == 1, "\(told)")
    }

    @Test func `only files and links to files are realms, and only if their names can be those of realms`() throws {
        try withWriteServer(change: { options in
            let folder = options.dataFolder ?? ""
            unsafe mkdir(folder + "/folder.realm", 0o700)
            unsafe mkfifo(folder + "/pipe.realm", 0o600)
            unsafe symlink(folder + "/folder.realm", folder + "/linked-folder.realm")
            unsafe symlink(folder + "/app.realm", folder + "/link.realm")
            for name in [".hidden.realm", "bad name.realm"] {
                try? FileManager.default.copyItem(atPath: folder + "/app.realm", toPath: folder + "/" + name)
            }
        }) { (server: WriteServer) throws in
            #expect(try names(server) == ["app", "link"])
            for name in ["folder", "pipe", "linked-folder"] {
                #expect(try server.get(name + "/schema").code == "realm_not_found", "\(name)")
            }
            #expect(try isReady(server))
            for name in ["folder.realm", "linked-folder.realm", "link.realm", "pipe.realm", ".hidden.realm", "bad name.realm"] {
                try FileManager.default.removeItem(atPath: server.folder + "/" + name)
            }
        }
    }

    @Test func `a realm that failed is forgotten when its file is gone, and the server is ready again`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/junk.realm"
            try Data(repeating: 0x78, count: 5000).write(to: URL(fileURLWithPath: path))
            #expect(try eventually { try server.get("junk/schema").code == "not_a_realm" })
            #expect(try !isReady(server))
            unsafe unlink(path)
            #expect(try eventually(seconds: 20) { try server.get("junk").code == "realm_not_found" })
            #expect(try isReady(server))
            #expect(try names(server) == ["app"])
        }
    }

    @Test(arguments: [".hid.realm", "bad name.realm", ".realm-rest/x.realm", "x.txt", "sub/x.realm", "x.realm/y.realm"])
    func `a copy that could never be served is not stored in the data folder`(_ name: String) throws {
        try withWriteServer { (server: WriteServer) throws in
            unsafe mkdir(server.folder + "/sub", 0o700)
            let before = TreeDigest(server.folder)
            let answer = try server.send("POST", "app/backup", #"{"path":"\#(server.folder)/\#(name)"}"#)
            #expect(answer.status == 400 && answer.code == "invalid_body", "\(answer.text)")
            #expect(answer.json["pointer"]?.text == "/path")
            #expect(TreeDigest(server.folder).differences(from: before).isEmpty)
            #expect(try server.send("POST", "app/backup", #"{"path":"\#(server.folder)/good.realm"}"#).status == 201)
            #expect(try eventually { try server.get("good/schema").status == 200 })
        }
    }

    @Test func `a copy in the data folder takes no name that a realm has`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.attach(#"{"name":"memory","inMemory":"m"}"#).status == 201)
            let answer = try server.send("POST", "app/backup", #"{"path":"\#(server.folder)/memory.realm"}"#)
            #expect(answer.status == 409 && answer.code == "already_attached", "\(answer.text)")
            #expect(!exists(server.folder + "/memory.realm"))
        }
    }

    // MARK: - Healing

    @Test func `the request that has a failed realm opened again waits for the outcome`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/late.realm"
            let junk = Data(repeating: 0x78, count: 5000)
            try junk.write(to: URL(fileURLWithPath: path))
            #expect(try eventually { try server.get("late/schema").code == "not_a_realm" })
            try FileManager.default.copyItem(atPath: try Fixtures.path("store"), toPath: path + ".new")
            // A file that has just changed may still be being copied, and is left alone.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -100)], ofItemAtPath: path + ".new")
            unsafe rename(path + ".new", path)
            #expect(eventually { server.server.state.catalog.isDue("late", .now()) })
            #expect(try server.get("late/schema/Product").status == 200)
        }
    }
}

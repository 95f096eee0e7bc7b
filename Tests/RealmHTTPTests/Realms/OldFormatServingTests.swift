// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Files of formats 2 to 9 are served as private copies, or upgraded in place.
@Suite("Formats 2 to 9 over HTTP")
struct OldFormatServingTests {
    /// The smaller fixtures.
    private static let names = LegacyFixtures.names.filter { name in
        !["sizes", "strings", "commits", "large"].contains { name.contains($0) }
    }

    private static func bytes(_ name: String) throws -> Data { Data(try LegacyFixtures.bytes(name)) }

    private static func classes(_ name: String) throws -> [ParsedJSON] {
        try LegacyFixtures.dump(name)["classes"]?.elements ?? []
    }

    private static func key(_ name: String) -> String {
        LegacyFixtures.keyText(name).map { #","encryptionKey":"\#($0)""# } ?? ""
    }

    /// Puts an old file into the folder of a server, in place of what it has.
    private static func put(_ data: Data, _ server: WriteServer, _ name: String = "old") throws -> String {
        let path = server.folder + "/\(name).old"
        try? FileManager.default.removeItem(atPath: path + ".lock")
        try data.write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func names(beside path: String) throws -> [String] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("old.") }.sorted()
    }

    @Test(arguments: names)
    func `a file is served as a private copy, and upgraded in place after a copy was made`(_ name: String) throws {
        let (original, classes, key) = (try Self.bytes(name), try Self.classes(name), Self.key(name))
        let format = Int64(name.dropFirst().prefix { $0 != "-" })
        try withWriteServer { server in
            let path = try Self.put(original, server)
            let copied = try server.attach(#"{"path":"\#(path)","name":"old"\#(key)}"#)
            #expect(copied.status == 201, "\(copied.text)")
            #expect(copied.json["mode"]?.text == "copy" && copied.json["fileFormat"]?.integer == format, "\(copied.text)")
            #expect(copied.json["conversion"]?["fromFormat"]?.integer == format)
            let counts = copied.json["conversion"]?["classes"]?.elements ?? []
            #expect(
                counts.map { "\($0["name"]?.text ?? "") \($0["objects"]?.int ?? -1)" }.sorted()
                    == classes.map { "\($0["name"]?.text ?? "") \($0["count"]?.int ?? -1)" }.sorted())
            try ServedDump.compare(classes, of: "old", server)
            try ServedDump.deleteOne(classes, of: "old", server)
            try server.done("DELETE", "old")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == original)
            #expect(try Self.names(beside: path) == ["old.old"])

            let tried = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms?dryRun=true", headers: [WriteServer.json],
                body: Array(#"{"path":"\#(path)","name":"old","upgrade":"in-place"\#(key)}"#.utf8))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == original)
            #expect(try Self.names(beside: path) == ["old.old"])
            let upgraded = try server.attach(#"{"path":"\#(path)","name":"old","upgrade":"in-place"\#(key)}"#)
            let notes = copied.json["conversion"]?["notes"]?.elements ?? []
            guard !notes.contains(where: { $0["kind"]?.text == "synchronized" }) else {
                #expect(upgraded.status == 422 && upgraded.text.contains("synchronized"), "\(upgraded.text)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == original)
                return
            }
            #expect(
                upgraded.status == 201 && upgraded.json["mode"]?.text == "rw" && upgraded.json["fileFormat"]?.int == 24,
                "\(upgraded.text)")
            let foretold = tried.json["body"]
            #expect(foretold?["fileFormat"] == upgraded.json["fileFormat"] && foretold?["backup"] == upgraded.json["backup"])
            #expect(upgraded.json["conversion"] == copied.json["conversion"])
            try ServedDump.compare(classes, of: "old", server)
            try ServedDump.deleteOne(classes, of: "old", server)
            let backup = try #require(upgraded.json["backup"]?.text)
            #expect(backup == "old.old.v\(format ?? 0).backup")
            #expect(try server.get("old").json["backup"]?.text == backup)
            #expect(try Data(contentsOf: URL(fileURLWithPath: server.folder + "/" + backup)) == original)
            let listed = try #require(try server.get("old/backups").json["items"]?.elements?.first { $0["id"]?.text == backup })
            #expect(listed["kind"]?.text == "upgrade" && listed["fileFormat"]?.integer == format, "\(listed)")
            #expect(listed["damaged"]?.bool == false, "\(listed)")
            let file = try server.get("old/backups/\(backup)?download=")
            #expect(file["Content-Disposition"] == #"attachment; filename="old.old.v\#(format ?? 0).realm""#)
            try server.done("DELETE", "old")
            let again = try server.attach(#"{"path":"\#(path)","name":"old"\#(key)}"#)
            #expect(again.json["mode"]?.text == "rw" && again.json["conversion"] == nil, "\(again.text)")
        }
    }

    @Test func `a list of realms has the short form of the report of a conversion`() throws {
        let name = try #require(Self.names.first { $0.hasPrefix("v9-") && !$0.contains("encrypted") })
        try withWriteServer { server in
            let path = try Self.put(try Self.bytes(name), server)
            let report = try #require(try server.attach(#"{"path":"\#(path)","name":"old"}"#).json["conversion"])
            let notes = try #require(report["notes"]?.elements)
            #expect(report["noteCount"]?.int == notes.count && report["classes"]?.elements?.isEmpty == false, "\(report)")
            let list = try HTTPClient.request(port: server.port, "GET", "/v1/realms")
            let short = try #require(list.json["items"]?.elements?.first { $0["name"]?.text == "old" }?["conversion"])
            #expect(short["fromFormat"]?.int == 9 && short["noteCount"]?.int == notes.count, "\(short)")
            #expect(short["lossless"] == report["lossless"])
            #expect(short["classes"] == nil && short["notes"] == nil && short["writtenBy"] == nil, "\(short)")
            #expect(try server.get("old").json["conversion"] == report)
        }
    }

    @Test func `a mode that is asked for is kept to`() throws {
        let name = try #require(Self.names.first { $0.hasPrefix("v9-") && !$0.contains("encrypted") })
        try withWriteServer { server in
            let path = try Self.put(try Self.bytes(name), server)
            let read = try server.attach(#"{"path":"\#(path)","name":"old","mode":"ro"}"#)
            #expect(read.status == 201 && read.json["mode"]?.text == "ro" && read.json["conversion"] != nil, "\(read.text)")
            try ServedDump.compare(try Self.classes(name), of: "old", server)
            try server.done("DELETE", "old")
            let written = try server.attach(#"{"path":"\#(path)","name":"old","mode":"rw"}"#)
            #expect(written.status == 422 && written.json["code"]?.text == "file_format_unsupported", "\(written.text)")
            #expect(written.json["found"]?.int == 9)
            #expect(try Self.names(beside: path) == ["old.old"])
        }
    }

    @Test func `a file that an old program writes is followed`() throws {
        let names = Self.names.filter { $0.hasPrefix("v9-") && !$0.contains("encrypted") }
        let first = try #require(names.first), second = try #require(names.last)
        try withWriteServer { server in
            let path = try Self.put(try Self.bytes(first), server)
            let attached = try server.attach(#"{"path":"\#(path)","name":"old","mode":"follow"}"#)
            #expect(attached.status == 201 && attached.json["conversion"] != nil, "\(attached.text)")
            try ServedDump.compare(try Self.classes(first), of: "old", server)
            try Self.bytes(second).write(to: URL(fileURLWithPath: path))
            let classes = try Self.classes(second)
            #expect(
                try eventually {
                    let schema = try server.get("old/schema").text
                    return classes.allSatisfy { one in one["name"]?.text.map { schema.contains($0) } ?? true }
                })
            try ServedDump.compare(classes, of: "old", server)
        }
    }

    @Test func `a file of the data folder says what it is before it is opened, and is converted by the first request`() throws {
        let name = try #require(Self.names.first { $0.hasPrefix("v9-") && !$0.contains("encrypted") })
        let classes = try Self.classes(name)
        try withWriteServer { server in
            let path = try Self.put(try Self.bytes(name), server)
            let place = server.folder + "/listed.realm"
            try FileManager.default.moveItem(atPath: path, toPath: place)
            defer { try? FileManager.default.removeItem(atPath: place) }
            #expect(try eventually { try server.get("listed").json["state"]?.text == "closed" })
            let closed = try server.get("listed").json
            #expect(
                closed["mode"]?.text == "copy" && closed["fileFormat"]?.int == 9 && closed["classes"]?.int == classes.count,
                "\(closed)")
            let first = try #require(classes.first?["name"]?.text)
            #expect(
                try server.get("listed/objects/\(first)?limit=0&count=exact").json["count"]?.int == classes.first?["count"]?.int)
            #expect(try server.get("listed").json["conversion"]?["fromFormat"]?.int == 9)
        }
    }

    @Test func `the copy that was made before an upgrade can be put back`() throws {
        let name = try #require(Self.names.first { $0.hasPrefix("v9-") && !$0.contains("encrypted") })
        let original = try Self.bytes(name)
        try withWriteServer { server in
            let path = try Self.put(original, server)
            let upgraded = try server.attach(#"{"path":"\#(path)","name":"old","upgrade":"in-place"}"#)
            let backup = try #require(upgraded.json["backup"]?.text)
            #expect(try server.get("old/backups").json["items"]?.elements?.contains { $0["id"]?.text == backup } == true)
            let restored = try server.send("POST", "old/restore", #"{"backup":"\#(backup)"}"#)
            #expect(restored.status == 200, "\(restored.text)")
            try ServedDump.compare(try Self.classes(name), of: "old", server)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Files of formats 10 and 11 are served as those of formats 20 to 23 are.
@Suite("Formats 10 and 11 over HTTP")
struct FormerFormatServingTests {
    private static let names = (Fixtures.legacyNames("v10-") + Fixtures.legacyNames("v11-")).filter { name in
        // The smaller ones; the storage layer is tested with all.
        !["lists", "sizes", "commits", "strings"].contains { part in name.hasSuffix(part) }
    }

    private static func hex(_ key: [UInt8]?) -> String {
        key.map { #","encryptionKey":"\#($0.map { String(format: "%02x", $0) }.joined())""# } ?? ""
    }

    @Test(arguments: names)
    func `a file is read as it is, written as a copy, and upgraded in place after a copy was made`(_ name: String) throws {
        let key = FormerFormatServingTests.hex(Fixtures.legacyKey(name))
        let dump = try #require(try Fixtures.dump(name))
        let classes = (dump["classes"]?.elements ?? []).filter { $0["type"]?.text == "object" }
        try withWriteServer { server in
            try server.done("DELETE", "app")
            let path = server.folder + "/app.realm"
            let original = try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name)))
            try? FileManager.default.removeItem(atPath: path + ".lock")
            try original.write(to: URL(fileURLWithPath: path))

            let read = try server.attach(#"{"path":"\#(path)"\#(key)}"#)
            #expect(read.status == 201, "\(read.text)")
            if !classes.isEmpty {
                #expect(read.json["mode"]?.text == "ro" && read.json["fileFormat"]?.int == dump["fileFormat"]?.int)
                #expect(read.json["readOnlyReason"]?["code"]?.text == "file_format_unsupported", "\(read.text)")
                try ServedDump.compare(classes, of: "app", server)
            }
            try server.done("DELETE", "app")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == original || classes.isEmpty)

            try original.write(to: URL(fileURLWithPath: path))
            let copied = try server.attach(#"{"path":"\#(path)","mode":"copy"\#(key)}"#)
            #expect(copied.status == 201, "\(copied.text)")
            if !classes.isEmpty {
                let report = copied.json["conversion"]
                for member in ["fileFormat", "writtenBy"] { #expect(copied.json[member] == read.json[member], "\(member)") }
                #expect(report?["fromFormat"] == read.json["fileFormat"] && report?["lossless"]?.bool == true, "\(copied.text)")
                #expect(report?["classes"]?.elements?.count == copied.json["classes"]?.int, "\(copied.text)")
            }
            try ServedDump.compare(classes, of: "app", server)
            try ServedDump.deleteOne(classes, of: "app", server)
            try server.done("DELETE", "app")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == original)

            let upgraded = try server.attach(#"{"path":"\#(path)","upgrade":"in-place"\#(key)}"#)
            #expect(upgraded.status == 201 && upgraded.json["mode"]?.text == "rw", "\(upgraded.text)")
            if !classes.isEmpty { #expect(upgraded.json["fileFormat"]?.int == 24 && upgraded.json["backup"]?.text != nil) }
            try ServedDump.compare(classes, of: "app", server)
            try ServedDump.deleteOne(classes, of: "app", server)
            if let backup = upgraded.json["backup"]?.text {
                #expect(try Data(contentsOf: URL(fileURLWithPath: server.folder + "/" + backup)) == original)
            }
            // At the end every file that is left is verified, without a key.
            guard !key.isEmpty else { return }
            try server.done("DELETE", "app")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test(arguments: names)
    func `a backup of a file that is only read is listed, and can be read and deleted`(_ name: String) throws {
        let key = FormerFormatServingTests.hex(Fixtures.legacyKey(name))
        let original = try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name)))
        try withWriteServer { server in
            try server.done("DELETE", "app")
            let path = server.folder + "/app.realm"
            try? FileManager.default.removeItem(atPath: path + ".lock")
            try original.write(to: URL(fileURLWithPath: path))
            #expect(try server.attach(#"{"path":"\#(path)"\#(key)}"#).status == 201)
            let made = try server.send("POST", "app/backups")
            #expect(made.status == 201 && made.json["kind"]?.text == "request", "\(made.text)")
            let id = try #require(made.json["id"]?.text)
            #expect(FileManager.default.fileExists(atPath: server.folder + "/" + id))
            #expect(try server.get("app/backups").json["items"]?.elements?.compactMap { $0["id"]?.text } == [id])
            #expect(try server.get("app/backups/\(id)").json["version"] == made.json["version"])
            #expect(try server.send("DELETE", "app/backups/\(id)").status == 204)
            try server.done("DELETE", "app")
            if !key.isEmpty { try FileManager.default.removeItem(atPath: path) }
        }
    }

    /// Slots of the top node: the kind of history, and the layout of one that is in the file.
    @Test(arguments: [(7, 1), (7, 9), (9, 50)])
    func `a file with a history that is unknown can be backed up, and written as a copy`(_ slot: Int, _ value: Int) throws {
        let name = "legacy/v11-links"
        let dump = try #require(try Fixtures.dump(name))
        let classes = (dump["classes"]?.elements ?? []).filter { $0["type"]?.text == "object" }
        var editor = FileEditor([UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name)))))
        try #require(editor.count(editor.top) > slot)
        // A number in a slot is stored with a mark.
        editor.setElement(editor.top, slot, UInt64(2 * value + 1))
        try withWriteServer { server in
            try server.done("DELETE", "app")
            let path = server.folder + "/app.realm"
            try? FileManager.default.removeItem(atPath: path + ".lock")
            try Data(editor.bytes).write(to: URL(fileURLWithPath: path))
            let read = try server.attach(#"{"path":"\#(path)"}"#)
            #expect(read.json["mode"]?.text == "ro" && read.json["readOnlyReason"]?["code"] != nil, "\(read.text)")
            let backup = try server.get("app/backup")
            #expect(backup.status == 200, "\(backup.text)")
            #expect(try server.send("POST", "app/backups").status == 201)
            try server.done("DELETE", "app")
            #expect(try server.attach(#"{"path":"\#(path)","mode":"copy"}"#).status == 201)
            try ServedDump.compare(classes, of: "app", server)
            try server.done("DELETE", "app")
            try Data(backup.body).write(to: URL(fileURLWithPath: path))
            #expect(try server.attach(#"{"path":"\#(path)"}"#).json["mode"]?.text == "rw")
            try ServedDump.compare(classes, of: "app", server)
        }
    }
}

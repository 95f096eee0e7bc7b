// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Files that are refused because of what they contain: nothing beside them changes, dry runs answer alike, and what failed in the
/// background is tried again with all that was asked for.
@Suite struct DamagedFileTests {
    /// A folder with files to attach, none of which is in the data folder.
    private struct Elsewhere {
        let folder: String
        var good: String { folder + "/good.realm" }
        var damaged: String { folder + "/damaged.realm" }
        var encrypted: String { folder + "/encrypted.realm" }

        init() throws {
            folder = realPath(of: NSTemporaryDirectory()) + "/realm-rest-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            var bytes = try Data(contentsOf: URL(fileURLWithPath: Fixtures.path("store")))
            try bytes.write(to: URL(fileURLWithPath: good))
            var generator = SeededGenerator(seed: 7)
            for offset in 3000..<60_000 { bytes[offset] = UInt8.random(in: .min ... .max, using: &generator) }
            try bytes.write(to: URL(fileURLWithPath: damaged))
            try FileManager.default.copyItem(atPath: try Fixtures.path("encrypted"), toPath: encrypted)
        }

        func remove() { try? FileManager.default.removeItem(atPath: folder) }
    }

    private func withElsewhere(
        change: (inout ServerOptions) -> Void = { _ in }, _ body: (WriteServer, Elsewhere) throws -> Void
    ) throws {
        let elsewhere = try Elsewhere()
        defer { elsewhere.remove() }
        try withWriteServer(change: change) { server throws in try body(server, elsewhere) }
    }

    /// Attaches in the background, and waits until the outcome is known; its state and the code of its problem.
    private func later(_ server: WriteServer, _ body: String) throws -> (state: String?, code: String?) {
        let answer = try HTTPClient.request(
            port: server.port, "POST", "/v1/realms", headers: [WriteServer.json] + WriteServer.later, body: Array(body.utf8))
        guard answer.status == 202, let name = answer.json["name"]?.text else { return (nil, answer.code) }
        var document: ParsedJSON = .null
        _ = try eventually {
            document = try server.get(name).json
            return document["state"]?.text != "opening"
        }
        return (document["state"]?.text, document["problem"]?["code"]?.text)
    }

    // MARK: - Nothing changes

    @Test(arguments: [false, true], [#""mode":"rw""#, #""defaults":{"Nope":{}}"#])
    func `a refusal touches neither the lock file nor the folder, with and without a lock file, at once and in the background`(
        _ hasLock: Bool, _ member: String
    ) throws {
        try withElsewhere { (server: WriteServer, elsewhere: Elsewhere) throws in
            let isDamaged = member.contains("rw")
            let path = isDamaged ? elsewhere.damaged : elsewhere.good
            if hasLock { try OwnershipLock(ofFile: path).release() }
            let before = TreeDigest(elsewhere.folder)
            let body = #"{"name":"q","path":"\#(path)",\#(member)}"#
            let code = isDamaged ? "file_corrupt" : "invalid_schema"
            for query in ["", "?dryRun=true"] {
                let answer = try server.attach(body, query)
                #expect(answer.status == 422 && answer.code == code, "\(answer.text)")
                #expect(TreeDigest(elsewhere.folder).differences(from: before).isEmpty)
            }
            let outcome = try later(server, body)
            #expect(outcome.state == "failed" && outcome.code == code, "\(outcome)")
            // Reads do not touch them either.
            let read = try server.get("q/schema")
            #expect(read.status == 422 && read.code == code && read["Retry-After"] == nil, "\(read.text)")
            try server.done("DELETE", "q")
            #expect(TreeDigest(elsewhere.folder).differences(from: before).isEmpty)
        }
    }

    @Test func `a damaged file that the server may only read leaves its lock file alone`() throws {
        try withElsewhere { (server: WriteServer, elsewhere: Elsewhere) throws in
            try OwnershipLock(ofFile: elsewhere.damaged).release()
            let before = TreeDigest(elsewhere.folder)
            let answer = try server.attach(#"{"name":"q","path":"\#(elsewhere.damaged)"}"#)
            #expect(answer.status == 201 && answer.json["mode"]?.text == "ro", "\(answer.text)")
            #expect(answer.json["readOnlyReason"]?["code"]?.text == "file_corrupt")
            try server.done("DELETE", "q")
            #expect(TreeDigest(elsewhere.folder).differences(from: before).isEmpty)
        }
    }

    // MARK: - Copies and seeds

    @Test func `a private copy of a damaged file is refused, by the dry run and the real call, unless nothing is verified`()
        throws
    {
        try withElsewhere { (server: WriteServer, elsewhere: Elsewhere) throws in
            let body = #"{"name":"q","path":"\#(elsewhere.damaged)","mode":"copy"}"#
            for query in ["?dryRun=true", ""] {
                let answer = try server.attach(body, query)
                #expect(answer.status == 422 && answer.code == "file_corrupt", "\(query): \(answer.text)")
            }
            #expect(try server.get("q").code == "realm_not_found")
        }
        try withElsewhere(change: { $0.verification = .off }) { (server: WriteServer, elsewhere: Elsewhere) throws in
            let body = #"{"name":"q","path":"\#(elsewhere.damaged)","mode":"copy"}"#
            #expect(try server.attach(body, "?dryRun=true").status == 200)
            #expect(try server.attach(body).status == 201)
        }
    }

    @Test(arguments: ["", #","mode":"ro""#, #","mode":"rw""#, #","mode":"copy""#, #","mode":"follow""#])
    func `a damaged seed is refused with a path and without, and leaves no copy`(_ mode: String) throws {
        try withElsewhere { (server: WriteServer, elsewhere: Elsewhere) throws in
            let before = TreeDigest(server.folder)
            for place in ["", #","path":"\#(server.folder)/q.realm""#] where !(place.isEmpty && mode.count > 12) {
                for query in ["?dryRun=true", ""] {
                    let body = #"{"name":"q","seed":"\#(elsewhere.damaged)"\#(place)\#(place.isEmpty ? "" : mode)}"#
                    let answer = try server.attach(body, query)
                    #expect(answer.status == 422 && answer.code == "file_corrupt", "\(body): \(answer.text)")
                    #expect(TreeDigest(server.folder).differences(from: before).isEmpty)
                }
            }
            let sound = #"{"name":"q","seed":"\#(elsewhere.good)","path":"\#(server.folder)/q.realm"}"#
            #expect(try server.attach(sound).status == 201)
        }
    }

    @Test func `the document of a dry run is that of the real call: one version, and the name of the copy`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            let body = #"""
                {"path":"\#(server.folder)/app.realm","schemaVersion":3,"migrations":[{"addClass":{"name":"New","properties":[]}}]}
                """#
            let dry = try server.attach(body, "?dryRun=true").json["body"]
            let real = try server.attach(body)
            #expect(real.status == 201, "\(real.text)")
            #expect(dry?["liveVersions"]?.int == 1 && dry?["exists"]?.bool == true)
            let name = try #require(real.json["backup"]?.text)
            #expect(dry?["backup"]?.text == name && name.hasPrefix("app.realm.before-"), "\(String(describing: dry))")
            for member in ["mode", "schemaVersion", "classes", "fileFormat", "encrypted", "empty", "path"] {
                #expect("\(String(describing: dry?[member]))" == "\(String(describing: real.json[member]))", "\(member)")
            }
        }
    }

    // MARK: - Second attempts

    private static let key = Fixtures.key.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()

    @Test(arguments: [false, true])
    func `the key of a realm that failed in the background is given later, after none or a wrong one`(_ hasWrongKey: Bool)
        throws
    {
        try withElsewhere { (server: WriteServer, elsewhere: Elsewhere) throws in
            let wrong = String(repeating: "5a", count: 64)
            let key = hasWrongKey ? #","encryptionKey":"\#(wrong)""# : ""
            let outcome = try later(server, #"{"name":"as","path":"\#(elsewhere.encrypted)","requireIfMatch":[]\#(key)}"#)
            let code = hasWrongKey ? "encryption_key_wrong" : "encryption_key_required"
            #expect(outcome.state == "failed" && outcome.code == code, "\(outcome)")
            let again = try server.send("PUT", "as/key", #"{"encryptionKey":"\#(wrong)"}"#)
            #expect(again.code == "encryption_key_wrong", "\(again.text)")
            #expect(try server.get("as").json["state"]?.text == "failed")
            let right = try server.send("PUT", "as/key", #"{"encryptionKey":"\#(DamagedFileTests.key)"}"#)
            #expect(right.status == 204, "\(right.text)")
            #expect(try server.get("as/schema").status == 200)
            #expect(try server.send("PUT", "as/key", #"{"encryptionKey":"\#(wrong)"}"#).code == "already_attached")
            // It is kept like any other, for the next start.
            let kept = try String(contentsOfFile: server.folder + "/.realm-rest/realms.json", encoding: .utf8)
            #expect(kept.contains(#""as""#) && !kept.contains(DamagedFileTests.key))
            try server.done("DELETE", "as")
        }
    }

    @Test func `what failed in the background heals when its file does, with the schema that was asked for`() throws {
        try withElsewhere { (server: WriteServer, elsewhere: Elsewhere) throws in
            let path = elsewhere.folder + "/later.realm"
            try Data(repeating: 0x78, count: 5000).write(to: URL(fileURLWithPath: path))
            let schema = #""schema":{"classes":[{"name":"Added","properties":[{"name":"n","type":"int"}]}]}"#
            let outcome = try later(server, #"{"name":"j","path":"\#(path)",\#(schema)}"#)
            #expect(outcome.state == "failed" && outcome.code == "not_a_realm", "\(outcome)")
            #expect(try server.get("j/schema").code == "not_a_realm")
            try FileManager.default.copyItem(atPath: elsewhere.good, toPath: path + ".new")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: path + ".new", toPath: path)
            #expect(try eventually { try server.get("j/schema/Added").status == 200 })
            #expect(try server.get("j").json["state"]?.text == "ready")
            try server.done("DELETE", "j")
        }
    }

    /// Requests for contents answer codes of their own; what a migration found in the objects is their cause.
    @Test func `a migration that was refused in the background for its objects is the cause of an unavailable realm`() throws {
        try withElsewhere { (server: WriteServer, elsewhere: Elsewhere) throws in
            let migration = #""schemaVersion":9,"migrations":[{"setPrimaryKey":{"class":"Product","name":"stock"}}]"#
            let outcome = try later(server, #"{"name":"j","path":"\#(elsewhere.good)",\#(migration)}"#)
            #expect(outcome.state == "failed" && outcome.code == "duplicate_key", "\(outcome)")
            let answer = try server.get("j/schema")
            #expect(answer.status == 503 && answer.code == "realm_unavailable", "\(answer.text)")
            #expect(answer.json["cause"]?.text == "duplicate_key", "\(answer.text)")
            try server.done("DELETE", "j")
        }
    }

    @Test func `a schema that was refused in the background is not left out at the next request`() throws {
        try withElsewhere { (server: WriteServer, elsewhere: Elsewhere) throws in
            let outcome = try later(server, #"{"name":"j","path":"\#(elsewhere.good)","schemaVersion":77}"#)
            #expect(outcome.state == "failed" && outcome.code == "schema_version_conflict", "\(outcome)")
            // Another state of the file causes another attempt, with the same outcome.
            for _ in 0..<3 {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -100)], ofItemAtPath: elsewhere.good)
                let answer = try server.get("j/schema")
                #expect(answer.status == 409 && answer.code == "schema_version_conflict" && answer["Retry-After"] == nil)
            }
            #expect(try eventually { try server.get("j").json["state"]?.text == "failed" })
            #expect(try server.get("j").json["problem"]?["code"]?.text == "schema_version_conflict")
            try server.done("DELETE", "j")
        }
    }
}

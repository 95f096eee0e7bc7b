// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Realm files that clients send to look at them, and samples.
@Suite struct UploadTests {
    private static let octets = [("Content-Type", "application/octet-stream")]

    private func upload(
        _ server: WriteServer, _ file: [UInt8], _ query: String, _ headers: [(String, String)] = []
    ) throws -> HTTPClient.Answer {
        try HTTPClient.request(
            port: server.port, "POST", "/v1/uploads?" + query, headers: UploadTests.octets + headers, body: file)
    }

    private func attach(_ server: WriteServer, _ body: String) throws -> HTTPClient.Answer {
        try HTTPClient.request(port: server.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(body.utf8))
    }

    @Test func `a file that is sent is served as a private copy, and nothing of it stays`() throws {
        try withWriteServer { server in
            let file = try server.get("app/backup").body
            let names = try FileManager.default.contentsOfDirectory(atPath: server.folder).sorted()
            let answer = try upload(server, file, "name=mine")
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer.json["mode"]?.text == "copy" && answer["Location"] == "/v1/realms/mine")
            #expect(answer.json["path"] == nil)
            try server.done("PATCH", "mine/objects/Dog/1", #"{"age":44}"#)
            #expect(try server.get("mine/objects/Dog/1").json["age"]?.int == 44)
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
            #expect(try upload(server, file, "name=mine").code == "already_attached")
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.folder).sorted() == names)
            #expect(try server.send("DELETE", "mine?files=true").status == 204)
            #expect(try server.get("mine").code == "realm_not_found")
        }
    }

    @Test func `an encrypted file needs its key, in a header field`() throws {
        try withWriteServer { server in
            let key = String(repeating: "ab", count: 64)
            let copy = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms/app/backup", headers: [("Content-Type", "application/json")],
                body: Array(#"{"encryptionKey":"\#(key)"}"#.utf8))
            try #require(copy.status == 200)
            let refused = try upload(server, copy.body, "name=secret")
            #expect(["encryption_key_required", "not_a_realm"].contains(refused.code), "\(refused.text)")
            let wrong = String(repeating: "cd", count: 64)
            #expect(try upload(server, copy.body, "name=secret", [("Realm-Encryption-Key", wrong)]).status == 422)
            #expect(try upload(server, copy.body, "name=secret", [("Realm-Encryption-Key", "x")]).code == "invalid_parameter")
            #expect(try server.get("secret").code == "realm_not_found")
            let answer = try upload(server, copy.body, "name=secret", [("Realm-Encryption-Key", key)])
            #expect(answer.status == 201 && !answer.text.contains(key), "\(answer.text)")
            #expect(try server.get("secret/objects/Dog/1").json["age"]?.int == 3)
        }
    }

    @Test func `what cannot be served is refused and leaves no name behind`() throws {
        try withWriteServer { server in
            let file = try server.get("app/backup").body
            #expect(try upload(server, Array("no realm at all".utf8), "name=x").code == "not_a_realm")
            let empty = try upload(server, [], "name=x")
            #expect(empty.code == "not_a_realm" && empty.text.contains("the file is empty"), "\(empty.text)")
            let keyed = [("Realm-Encryption-Key", String(repeating: "ab", count: 64))]
            for beginning in [Array("SQLite format 3\0".utf8), Array("\u{1}PNG".utf8)] {
                // Of whole pages and not, with a key and without.
                for count in [8192, 8200] where count == 8200 || beginning.count == 16 {
                    let other = beginning + [UInt8](repeating: 3, count: count - beginning.count)
                    #expect(try upload(server, other, "name=x").code == "not_a_realm")
                    #expect(try upload(server, other, "name=x", keyed).code == "not_a_realm")
                }
            }
            for count in [file.count / 2, file.count / 2 + 1, file.count - 7] {
                #expect(try upload(server, Array(file.prefix(count)), "name=x").code == "file_corrupt", "\(count)")
            }
            for query in ["", "name=", "name=../x", "name=.x"] {
                #expect(try upload(server, file, query).code == "invalid_parameter", "\(query)")
            }
            #expect(try upload(server, file, "name=x&path=/etc").code == "unknown_parameter")
            let dry = try upload(server, file, "name=x&dryRun=true")
            #expect(dry.status == 200, "\(dry.text)")
            #expect(try server.get("x").code == "realm_not_found")
            let other = try HTTPClient.request(
                port: server.port, "POST", "/v1/uploads?name=x", headers: [("Content-Type", "application/json")], body: file)
            #expect(other.code == "unsupported_media_type")
        }
    }

    @Test func `a file that was opened does not count among the bodies that are processed`() throws {
        let change = { (options: inout ServerOptions) in options.limits.spool.filesPerClient = 3 }
        try withWriteServer(WriteServer.classes, change: change) { server in
            let file = try server.get("app/backup").body
            for number in 0..<8 {
                var answer = try upload(server, file, "name=u\(number)")
                // What the request before has used is given back after its response.
                for _ in 0..<100 where answer.code == "overloaded" {
                    Thread.sleep(forTimeInterval: 0.05)
                    answer = try upload(server, file, "name=u\(number)")
                }
                #expect(answer.status == 201, "\(answer.text)")
            }
            #expect(try server.get("u0/objects/Dog").status == 200)
        }
    }

    @Test func `a server without a data folder takes files too`() throws {
        let change = { (options: inout ServerOptions) in
            options.dataFolder = nil
            options.memoryRealms = ["empty"]
        }
        try withWriteServer(WriteServer.classes, change: change) { server in
            let file = try #require(FileManager.default.contents(atPath: server.folder + "/app.realm").map { Array($0) })
            #expect(try upload(server, file, "name=mine").status == 201)
            #expect(try server.get("mine/objects/Dog").status == 200)
        }
    }

    @Test func `a new realm begins with a sample`() throws {
        try withWriteServer { server in
            for body in [#"{"name":"shop","sample":"store"}"#, #"{"name":"scratch","inMemory":"scratch","sample":"store"}"#] {
                let answer = try attach(server, body)
                #expect(answer.status == 201, "\(answer.text)")
                let name = try #require(answer.json["name"]?.text)
                #expect(try server.get("\(name)/aggregate/Product?ops=count").json["count"]?.int == 316)
            }
            #expect(try attach(server, #"{"name":"y","sample":"none"}"#).code == "invalid_body")
            let schema = #"{"name":"y","sample":"store","schema":{"classes":[]}}"#
            #expect(try attach(server, schema).code == "conflicting_parameters")
            #expect(try server.get("y").code == "realm_not_found")
        }
    }
}

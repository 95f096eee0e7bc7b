// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// Rows of the checklist about opening files.
@Suite struct AttachRowTests {
    @Test(arguments: ["rw", "ro"])
    func `A2: a file is served under one name, whatever it is called and however it is opened; a copy is another file`(
        _ mode: String
    ) throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/app.realm"
            let symbolic = server.folder + "/symbolic.other"
            let hard = server.folder + "/hard.other"
            try FileManager.default.createSymbolicLink(atPath: symbolic, withDestinationPath: path)
            try FileManager.default.linkItem(atPath: path, toPath: hard)
            if mode == "ro" {
                try server.done("DELETE", "app")
                #expect(try server.attach(#"{"name":"app","path":"\#(path)","mode":"ro"}"#).status == 201)
            }
            for path in [
                path, server.folder + "/../" + URL(fileURLWithPath: server.folder).lastPathComponent + "/app.realm", symbolic,
                hard,
            ] {
                for option in ["", #","mode":"rw""#, #","mode":"ro""#] {
                    for query in ["", "?dryRun=true"] {
                        let answer = try server.attach(#"{"name":"second","path":"\#(path)"\#(option)}"#, query)
                        #expect(answer.status == 409 && answer.code == "already_attached", "\(path) \(option): \(answer.text)")
                    }
                    #expect(try server.get("second").code == "realm_not_found")
                }
            }
            #expect(try server.attach(#"{"name":"second","path":"\#(path)","mode":"copy"}"#).status == 201)
            try server.done("PATCH", "second/objects/Dog/1", #"{"age":77}"#)
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int != 77)
            try server.done("DELETE", "second")
            // Whoever lets go of it may have it under another name.
            try server.done("DELETE", "app")
            #expect(try server.attach(#"{"name":"second","path":"\#(path)"}"#).status == 201)
            try server.done("DELETE", "second")
            #expect(try server.attach(#"{"name":"app","path":"\#(path)"}"#).status == 201)
        }
    }

    @Test func `A2: realms in memory with one identifier are one realm, under every name`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let schema = #"{"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}"#
            #expect(try server.attach(#"{"name":"one","inMemory":"shared","schema":\#(schema)}"#).status == 201)
            #expect(try server.attach(#"{"name":"two","inMemory":"shared"}"#).status == 201)
            #expect(try server.attach(#"{"name":"other","inMemory":"another","schema":\#(schema)}"#).status == 201)
            try server.done("POST", "one/objects/Item", #"{"id":1}"#)
            #expect(try server.get("two/objects/Item/1").status == 200)
            #expect(try server.get("other/objects/Item/1").status == 404)
            try server.done("DELETE", "one")
            #expect(try server.get("two/objects/Item/1").status == 200)
        }
    }
}

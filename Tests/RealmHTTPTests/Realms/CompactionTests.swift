// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Compaction of realms while they are served.
@Suite struct CompactionTests {
    /// Makes a file that is mostly free space.
    private func fill(_ server: WriteServer) throws {
        let text = String(repeating: "x", count: 200_000)
        for _ in 0..<4 { try server.done("POST", "app/objects/Note", #"{"text":"\#(text)"}"#) }
        try server.done("DELETE", "app/objects/Note?where=text%20BEGINSWITH%20%22xx%22")
    }

    @Test func `E11: a served file shrinks, and nobody notices`() throws {
        try withWriteServer { server in
            try fill(server)
            let lease = try server.send("POST", "app/snapshots", "{}").json["id"]?.text ?? ""
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":41}"#)
            let stream = try EventClient(port: server.port, "/v1/realms/app/changes?class=Dog")
            let wholeRealm = try EventClient(port: server.port, "/v1/realms/app/changes")
            for stream in [stream, wholeRealm] { while let event = try stream.next(), event.name != "ready" {} }
            let before = try server.get("app").json
            let answer = try server.send("POST", "app/compact")
            #expect(answer.status == 200, "\(answer.text)")
            let after = try server.get("app").json
            #expect(answer.json["before"]?.int == before["fileBytes"]?.int)
            #expect(answer.json["after"]?.int == after["fileBytes"]?.int)
            #expect(answer.json["version"]?.text == before["version"]?.text)
            #expect(after["version"]?.text == before["version"]?.text)
            #expect(try #require(after["fileBytes"]?.int) < (before["fileBytes"]?.int ?? 0) / 4)
            #expect(try server.bytes().count == after["fileBytes"]?.int)
            // The next event of each stream is that of the next write.
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":42}"#)
            let number = try server.version()
            for stream in [stream, wholeRealm] { #expect(WriteServer.number(try stream.next("changes").id) == number) }
            #expect(try server.get("app/objects/Dog/1/age?snapshot=\(lease)").json["value"]?.int == 3)
            #expect(try server.get("app/objects/Dog/1/age").json["value"]?.int == 42)
            #expect(try server.database().health.checkFile() == nil)
        }
    }

    @Test func `E11: a realm is compacted by itself in a quiet moment`() throws {
        try withWriteServer { server in
            try fill(server)
            try server.done("DELETE", "app")
            let size = try server.bytes().count
            let answer = try server.attach(
                #"{"name":"app","path":"\#(server.folder)/app.realm","autoCompact":{"minTotalBytes":100000,"maxUsedRatio":0.5}}"#)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(try eventually { try server.bytes().count < size / 4 })
            #expect(try server.get("app/objects/Dog/1/age").json["value"]?.int == 3)
        }
    }

    @Test func `what cannot be compacted says why`() throws {
        try withWriteServer { server in
            let id = try server.send("POST", "app/transactions", "{}").json["id"]?.text ?? ""
            #expect(try server.send("POST", "app/compact", nil, [("Realm-Transaction", id)]).code == "conflicting_parameters")
            try server.done("DELETE", "app/transactions/\(id)")
            #expect(try server.send("POST", "app/compact?force=true").code == "unknown_parameter")
            #expect(try server.send("POST", "nothing/compact").code == "realm_not_found")
            try server.done("DELETE", "app")
            #expect(try server.attach(#"{"name":"app","path":"\#(server.folder)/app.realm","mode":"ro"}"#).status == 201)
            #expect(try server.send("POST", "app/compact").code == "read_only")
            #expect(
                try server.attach(#"{"name":"b","path":"\#(server.folder)/app.realm","mode":"ro","autoCompact":{}}"#)
                    .code
                    == "conflicting_parameters")
        }
    }
}

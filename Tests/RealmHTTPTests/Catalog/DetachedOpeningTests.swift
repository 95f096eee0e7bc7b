// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Realms of the data folder that are detached while the first request for them opens them.
@Suite struct DetachedOpeningTests {
    /// Makes a server with a second realm, `old`, which takes long to open.
    private func withSlowOpening(_ body: (WriteServer, SlowOpening) throws -> Void) throws {
        try withWriteServer(change: { options in
            let folder = options.dataFolder ?? ""
            try? FileManager.default.copyItem(atPath: folder + "/app.realm", toPath: folder + "/old.realm")
        }) { (server: WriteServer) throws in
            let opening = SlowOpening()
            server.server.state.catalog.replicate(by: opening)
            try body(server, opening)
        }
    }

    @Test func `letting go of a realm that a request is opening ends that, and is answered when nothing is left`() throws {
        try withSlowOpening { server, opening in
            let first = Awaited<HTTPClient.Answer?>()
            Threads.spawn("first") { first.set(try? server.get("old/objects/Note")) }
            #expect(eventually { opening.begun == 1 })
            #expect(try server.send("DELETE", "old").status == 204)
            #expect(opening.cancelled == 1)
            #expect(try first.wait()?.code == "realm_not_found")
            #expect(try server.get("old").code == "realm_not_found")
            let listed = try HTTPClient.request(port: server.port, "GET", "/v1/realms").json["items"]?.elements ?? []
            #expect(listed.map { $0["name"]?.text } == ["app"])
            #expect(FileManager.default.fileExists(atPath: server.folder + "/old.realm"))
        }
    }

    @Test func `letting go of a realm whose first client has left ends its opening too`() throws {
        try withSlowOpening { server, opening in
            let client = try TestSocket(port: server.port)
            try client.send("GET /v1/realms/old/objects/Note HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            #expect(eventually { opening.begun == 1 })
            client.close()
            #expect(try server.send("DELETE", "old").status == 204)
            #expect(opening.cancelled == 1)
            #expect(try server.get("old").code == "realm_not_found")
        }
    }
}

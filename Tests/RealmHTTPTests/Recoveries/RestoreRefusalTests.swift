// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// States that are not restored, each with its reason; nothing is written then.
@Suite struct RestoreRefusalTests {
    /// Returns a server of a file with a past, the id of its recovery, and its states.
    private func recovered(_ name: String) throws -> (TestServer, String, [ParsedJSON]) {
        let golden = Fixtures.packageRoot.appendingPathComponent("Tests/RealmRecoveryTests/Golden/\(name).realm.gz")
        let folder = NSTemporaryDirectory() + "realm-rest-refusal-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/\(name).realm"
        try Fixtures.gunzip(golden.path).write(to: URL(fileURLWithPath: path))
        let server = try TestServer([]) { options in
            options.paths = [path]
            options.isReadOnly = false
        }
        let answer = try server.get("/v1/realms/\(name)/recovered?limit=1000")
        #expect(answer.status == 200, "\(answer.text)")
        return (server, try #require(answer.json["recovery"]?.text), answer.json["items"]?.elements ?? [])
    }

    private func restore(_ server: TestServer, _ name: String, _ body: String, _ query: String = "") throws -> HTTPClient.Answer {
        try server.request(
            "POST", "/v1/realms/\(name)/recovered/restore" + query, headers: [("Content-Type", "application/json")], body: body)
    }

    @Test(arguments: [
        ("one-object", "unattributed", false, "not_restorable"), ("one-object", "deleted", true, "value_unproven"),
        ("core-clear-later", "deleted", true, "value_lost"),
    ])
    func `a state of no object, one with lost values and one that is not proved are refused by their codes`(
        _ name: String, _ kind: String, _ isUnproven: Bool, _ code: String
    ) throws {
        let (server, recovery, states) = try recovered(name)
        let wanted = states.filter { state in
            state["kind"]?.text == kind && (!isUnproven || state["unproven"] != nil)
                && (code == "value_lost") == (state["lost"] != nil)
        }
        let id = try #require(wanted.first?["id"]?.text, "\(states.count) states")
        let before = try server.get("/v1/realms/\(name)").json["version"]?.text
        for query in ["?dryRun=true", ""] {
            let answer = try restore(server, name, #"{"recovery":"\#(recovery)","ids":["\#(id)"]}"#, query)
            #expect(answer.status == 422 && answer.code == code, "\(answer.text)")
            #expect(answer.json["pointer"]?.text == "/ids/0" && answer.json["id"]?.text == id, "\(answer.text)")
        }
        #expect(try server.get("/v1/realms/\(name)").json["version"]?.text == before)
    }

    @Test func `unknown recoveries, ids and members are refused`() throws {
        let (server, recovery, _) = try recovered("one-object")
        for (body, status) in [
            (#"{"recovery":"none","ids":["1"]}"#, 404), (#"{"recovery":"\#(recovery)","ids":["none"]}"#, 404),
            (#"{"recovery":"\#(recovery)","ids":[]}"#, 400), (#"{"recovery":"\#(recovery)","ids":["1"],"lots":true}"#, 400),
            (#"{"ids":["1"]}"#, 400), ("[]", 400),
        ] {
            let answer = try restore(server, "one-object", body)
            #expect(answer.status == status, "\(body): \(answer.text)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmServerSupport
import RealmTestSupport
import Testing

/// `realm-rest open` with a file whose key is missing.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct OpenCommandTests {
    @Test func `the page of an encrypted file opens, takes the key and shows the file`() throws {
        let program = try #require(ServerProcess.executable)
        let server = try ServerProcess(command: "exec '\(program)' open '\(try Fixtures.path("encrypted"))' --no-browser")
        let realm = try HTTPClient.request(port: server.port, "GET", "/v1/realms/encrypted")
        #expect(realm.json["problem"]?["code"]?.text == "encryption_key_required", "\(realm.text)")
        let wrong = Fixtures.key.reversed().map { String(format: "%02x", $0) }.joined()
        let right = Fixtures.key.map { String(format: "%02x", $0) }.joined()
        for (key, status) in [(wrong, 422), (right, 204)] {
            let answer = try HTTPClient.request(
                port: server.port, "PUT", "/v1/realms/encrypted/key", headers: [("Content-Type", "application/json")],
                body: Array(#"{"encryptionKey":"\#(key)"}"#.utf8))
            #expect(answer.status == status, "\(answer.text)")
        }
        #expect(try HTTPClient.request(port: server.port, "GET", "/v1/realms/encrypted/schema").status == 200)
        // Nothing else is written.
        let made = try HTTPClient.request(port: server.port, "POST", "/v1/realms/encrypted/compact")
        #expect(made.code == "read_only", "\(made.text)")
        #expect(server.stop() == 0)
    }

    @Test func `a file that is missing or no realm is told, and nothing is served`() throws {
        let program = try #require(ServerProcess.executable)
        let status = try Tool.run(["bash", "-c", "'\(program)' open /nowhere.realm --no-browser; echo status $?"], mayFail: true)
        #expect(status.contains("status 1"), "\(status)")
    }
}

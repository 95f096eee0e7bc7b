// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import Testing

@Suite struct RealmNameTests {
    @Test(arguments: ["a", "A.b_c-9", String(repeating: "x", count: 64)])
    func `takes letters, digits, dot, underscore and hyphen`(_ text: String) { #expect(RealmName(text)?.text == text) }

    @Test(arguments: ["", "a b", "a/b", "é", ".", "..", ".hidden", String(repeating: "x", count: 65)])
    func `refuses everything else`(_ text: String) { #expect(RealmName(text) == nil) }

    @Test func `a file is named without folder and extension`() {
        #expect(RealmName(file: "/data/app.realm")?.text == "app")
        #expect(RealmName(file: "app.v2.realm")?.text == "app.v2")
        #expect(RealmName(file: "/data/app")?.text == "app")
        #expect(RealmName(file: "/data/.realm") == nil)
    }

    @Test func `version tokens are read back`() throws {
        let token = VersionToken(epoch: Epoch(), version: 1841)
        #expect(VersionToken(token.text) == token)
        for bad in ["", "x", ".1", "x.", "x.y", "x.-1", "x.+1", "x.01", "x.00", "x.1 ", "x.\u{661}"] {
            #expect(VersionToken(bad) == nil)
        }
    }
}

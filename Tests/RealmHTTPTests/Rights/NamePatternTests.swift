// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Patterns of roles are bytes.
@Suite struct NamePatternTests {
    @Test func `the star of a pattern is cut off alone, also behind a character that joins what follows it`() throws {
        let roles = #"""
            roles:
              named: {realms: {app: {classes: {P: [read]}}}}
              joined: {realms: {app: {classes: {"\u0600*": [read]}}}}
            """#
        #expect(try RightsDesk(roles, clerk: ["named"]).ask("GET", "/objects/P").status == 200)
        #expect(try RightsDesk(roles, clerk: ["joined"]).ask("GET", "/objects/P").status != 200)
    }
}

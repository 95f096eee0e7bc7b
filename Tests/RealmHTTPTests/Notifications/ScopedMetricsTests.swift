// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// The metrics of a realm whose readers see different parts of it.
@Suite struct ScopedMetricsTests {
    private static let roles = """
        roles:
          ann: {realms: {app: {classes: {D: {allow: [read, subscribe], where: "owner == 'ann'"}}}}}
          bob: {realms: {app: {classes: {D: {allow: [read, subscribe], where: "owner == 'bob'"}}}}}
        """
    private static let classes =
        #"{"name":"D","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"owner","type":"string"}]}"#

    /// Each scope added a sample with the same labels, which programs that read metrics refuse.
    @Test func `has each sample once`() throws {
        let server = try KeyServer(statingRoles: Self.roles) { $0.memoryRealms = ["app"] }
        let admin = try server.add("admin")
        try server.attach("app", Self.classes, admin)
        try server.post("app/objects/D", admin, #"[{"id":1,"owner":"ann"}]"#)
        for key in [admin, try server.add("ann", roles: ["ann"]), try server.add("bob", roles: ["bob"])] {
            let answer = try server.request("GET", "/v1/realms/app/changes?class=D&wait=0", key)
            #expect(answer.status == 200, "\(answer.text)")
        }
        let text = try server.request("GET", "/metrics", admin).text
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("realm_rest_notifier_") }
        #expect(lines.count == 2, "\(lines)")
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmHTTP
import RealmTestSupport
import Testing

/// Names of classes and properties that a role does not see: they are answered like names that nothing has.
@Suite struct HiddenNameTests {
    /// What an answer tells, without one name and without what is proposed in its place.
    private func told(_ answer: HTTPClient.Answer, without name: String) -> String {
        let changing = #/"(id|url|version|expiresAt|etag|next|instance)":"(\\.|[^"\\])*"/#
        let hint = #/; did you mean '\w+'\?/#
        let text = answer.text.replacing(name, with: "NAME").replacing(changing, with: "").replacing(hint, with: "")
        return "\(answer.status) \(text)"
    }

    // MARK: - Linking objects

    private static let readers = """
        roles:
          one: {realms: {app: {classes: {P: [read, subscribe, update, delete]}}}}
          half: {realms: {app: {classes: {P: [read, subscribe], Sal: {allow: [read], fields: {hide: [person]}}}}}}
          both: {realms: {app: {classes: {P: [read, subscribe], Sal: [read], Probe: [read]}}}}
        """
    private static let linked = """
        {"name":"P","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"friend","type":"object","objectType":"P"}]},
        {"name":"Sal","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"person","type":"object","objectType":"P"}]},
        {"name":"Probe","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"suspect","type":"object","objectType":"P"}]}
        """

    /// Requests with `NAME` in the place of linking objects.
    private static let reads = [
        "/objects/P?where=NAME.@count%20%3E%200", "/objects/P?where=ANY%20NAME.id%20%3E%200",
        "/objects/P?where=friend.NAME.@count%20%3E%200",
        "/objects/P?where=friend.@links.P.friend.NAME.@count%20%3E%200", "/objects/P?where=NAME.@max.id%20%3E%200",
        "/objects/P?where=SUBQUERY(NAME,%20$x,%20$x.id%20%3E%200).@count%20%3E%200", "/objects/P?where=id%20%3D%3D%20NAME",
        "/objects/P?sort=NAME", "/objects/P?sort=friend.NAME", "/objects/P?sort=NAME.id", "/objects/P?distinct=NAME",
        "/objects/P?facets=NAME", "/objects/P?sectionBy=NAME", "/objects/P?fields=NAME", "/objects/P?expand=NAME",
        "/objects/P?indexOfWhere=NAME.@count%20%3E%200", "/objects/P/1/NAME", "/aggregate/P?ops=max:NAME",
        "/aggregate/P?ops=max:NAME.id", "/aggregate/P?groupBy=NAME", "/changes?class=P&wait=0&where=NAME.@count%20%3E%200",
        "/changes?class=P&wait=0&sort=NAME", "/changes?class=P&wait=0&keyPaths=NAME",
    ]

    @Test(arguments: ["one", "half"])
    func `a name of linking objects that a role does not see is unknown`(_ role: String) throws {
        let server = try KeyServer(statingRoles: Self.readers) { $0.memoryRealms = ["app"] }
        let admin = try server.add("admin")
        _ = try server.request("DELETE", "/v1/realms/app", admin)
        let names = #"{"P":{"payslip":"Sal.person","filings":"Probe.suspect"}}"#
        try server.post(
            "", admin,
            #"{"name":"app","inMemory":"app","backlinkNames":\#(names),"schema":{"schemaVersion":1,"classes":[\#(Self.linked)]}}"#
        )
        try server.post("app/objects/P", admin, #"{"id":1}"#)
        let key = try server.add("ann", roles: [role])
        for target in Self.reads {
            func answer(_ name: String) throws -> HTTPClient.Answer {
                try server.request("GET", "/v1/realms/app" + target.replacing("NAME", with: name), key)
            }
            let unknown = told(try answer("qzxvwkj"), without: "qzxvwkj")
            #expect(!unknown.hasPrefix("200"), "\(target): \(unknown)")
            for name in ["payslip", "filings"] {
                let hidden = try answer(name)
                #expect(told(hidden, without: name) == unknown, "\(role) \(target) \(name)")
                for word in ["person", "Probe", "suspect", "@links.Sal"] {
                    #expect(!hidden.text.contains(word), "\(target) \(hidden.text)")
                }
            }
        }
        // The long form says no more of a hidden class or property than of one that does not exist.
        for (hidden, missing) in [
            ("Probe.suspect", "Qzxvw.suspect"), ("Sal.person", "Sal.qzxvwk"), ("Probe.suspect", "Probe.qzxvwkj"),
        ] {
            let answers = try [hidden, missing].map { path in
                let answer = try server.request("GET", "/v1/realms/app/objects/P?where=@links.\(path).@count%20%3E%200", key)
                let parts = path.split(separator: ".").map(String.init)
                return told(answer, without: parts[0]).replacing(parts[1], with: "PROPERTY")
            }
            #expect(answers[0] == answers[1], "\(role) \(hidden)")
        }
        let both = try server.add("both", roles: ["both"])
        for name in ["payslip", "filings"] {
            let seen = try server.request("GET", "/v1/realms/app/objects/P?where=\(name).@count%20%3D%3D%200", both)
            #expect(seen.status == 200 && seen.json["items"]?.elements?.count == 1, "\(seen.text)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
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

    // MARK: - Links of classes that are written only

    private static let writers = """
        roles:
          box:
            realms:
              app:
                classes: {Report: [create, update, import], Item: [create]}
                import: true
                transactions: true
          lost: {realms: {"*": {classes: {Report: [create, update], Home: {allow: [], fields: {hide: [note, gone]}}}}}}
        """
    private static let reports = """
        {"name":"Report","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"text","type":"string","optional":true},
        {"name":"suspect","type":"object","objectType":"Probe"},
        {"name":"dossiers","type":"object","collection":"list","objectType":"Probe"},
        {"name":"flagged","type":"object","collection":"set","objectType":"Probe"},
        {"name":"mapped","type":"object","collection":"dictionary","objectType":"Probe"},
        {"name":"any","type":"mixed"},{"name":"item","type":"object","objectType":"Item"},
        {"name":"home","type":"object","objectType":"Home"}]},
        {"name":"Home","type":"embedded","properties":[{"name":"note","type":"string","optional":true},
        {"name":"keeper","type":"object","objectType":"Probe"}]},
        {"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"}]},
        {"name":"Probe","primaryKey":"id","properties":[{"name":"id","type":"int"}]}
        """

    /// Writes of a value to a property `NAME` of a report, or with `inside` of the object embedded in it.
    private static func writes(_ value: String, inside: Bool) -> [(method: String, path: String, body: String, type: String)] {
        let (json, merge, patch) = ("application/json", "application/merge-patch+json", "application/json-patch+json")
        let member = inside ? #""home":{"NAME":\#(value)}"# : #""NAME":\#(value)"#
        let step = inside ? "home/NAME" : "NAME"
        var writes: [(method: String, path: String, body: String, type: String)] = []
        for query in ["", "&nested=upsert"] {
            for upsert in ["", "&upsert=all"] {
                writes.append(("POST", "/objects/Report?dryRun=true\(query)\(upsert)", #"{"id":7,\#(member)}"#, json))
                writes.append(("POST", "/objects/Report?dryRun=true\(query)\(upsert)", #"[{"id":8},{"id":7,\#(member)}]"#, json))
            }
            writes.append(("PATCH", "/objects/Report/1?dryRun=true\(query)", "{\(member)}", merge))
            writes.append(("PUT", "/objects/Report/1?dryRun=true\(query)", "{\(member)}", json))
            writes.append(("PUT", "/objects/Report/7?dryRun=true\(query)", "{\(member)}", json))
            for path in inside ? ["home.NAME"] : ["NAME", "NAME/0", "NAME/a"] {
                writes.append(("PUT", "/objects/Report/1/\(path)?dryRun=true\(query)", value, json))
                writes.append(("POST", "/objects/Report/1/\(path)?dryRun=true\(query)", value, json))
                writes.append(("DELETE", "/objects/Report/1/\(path)?dryRun=true\(query)", "", json))
            }
        }
        for operation in ["add", "replace", "test", "remove"] {
            for end in ["", "/0", "/-", "/a"] {
                let body = #"[{"op":"\#(operation)","path":"/\#(step)\#(end)","value":\#(value)}]"#
                writes.append(("PATCH", "/objects/Report/1?dryRun=true", body, patch))
            }
        }
        for operation in [
            #"{"create":{"class":"Report","body":{"id":7,\#(member)}}}"#,
            #"{"upsert":{"class":"Report","body":{"id":1,\#(member)}}}"#,
            #"{"patch":{"class":"Report","key":"1","body":{\#(member)}}}"#,
            #"{"put":{"class":"Report","key":"1","body":{\#(member)}}}"#,
            #"{"list":{"class":"Report","key":"1","property":"\#(inside ? "home.NAME" : "NAME")","ops":[{"add":\#(value)}]}}"#,
        ] {
            writes.append(("POST", "/batch?dryRun=true", #"{"ops":[\#(operation)]}"#, json))
        }
        for mode in ["create", "upsert"] {
            writes.append(
                ("POST", "/import?class=Report&mode=\(mode)&dryRun=true", #"{"id":7,\#(member)}"# + "\n", "application/x-ndjson"))
        }
        return writes
    }

    /// A server with a report, its administrator and a writer with a role.
    private func box(_ role: String) throws -> (KeyServer, admin: APIKeyText, writer: APIKeyText) {
        let server = try KeyServer(statingRoles: Self.writers) { $0.memoryRealms = ["app"] }
        let admin = try server.add("admin")
        try server.attach("app", Self.reports, admin)
        try server.post("app/objects/Probe", admin, #"{"id":1}"#)
        let link = #"{"$link":{"class":"Probe","key":"1"}}"#
        try server.post(
            "app/objects/Report", admin,
            #"{"id":1,"suspect":\#(link),"dossiers":[\#(link)],"flagged":[\#(link)],"mapped":{"a":\#(link)},"home":{"keeper":\#(link)}}"#
        )
        return (server, admin, try server.add("writer", roles: [role]))
    }

    @Test func `a link to an unknown class is an unknown property of a class that is only written`() throws {
        let (server, admin, writer) = try box("box")
        let stored = { try server.request("GET", "/v1/realms/app/objects/Report/1", admin).text }
        let before = try stored()
        let values = [
            "1", "[1]", "null", #"{"id":1}"#, #"{"a":1}"#, #"{"$link":{"class":"Probe","key":"1"}}"#,
            #"{"$link":{"class":"Report","key":"1"}}"#,
        ]
        for (name, inside) in [("suspect", false), ("dossiers", false), ("flagged", false), ("mapped", false), ("keeper", true)] {
            for value in values {
                for (index, write) in Self.writes(value, inside: inside).enumerated() {
                    let prefer = index % 2 == 0 ? "handling=strict" : "handling=lenient"
                    func answer(_ name: String) throws -> HTTPClient.Answer {
                        let body = write.body.isEmpty ? nil : write.body.replacing("NAME", with: name)
                        return try server.request(
                            write.method, "/v1/realms/app" + write.path.replacing("NAME", with: name), writer,
                            [("Content-Type", write.type), ("Prefer", prefer)], body: body)
                    }
                    let hidden = try answer(name)
                    let unknown = told(try answer("qzxvwkj"), without: "qzxvwkj")
                    #expect(told(hidden, without: name) == unknown, "\(name) \(write) \(prefer)")
                    // A link in the request may be quoted.
                    #expect(value.contains("Probe") || !hidden.text.contains("Probe"), "\(name) \(write): \(hidden.text)")
                }
            }
        }
        #expect(try stored() == before)
    }

    @Test func `a hidden link is not proposed, and links to classes with some right are written`() throws {
        let (server, admin, writer) = try box("box")
        let reports = "/v1/realms/app/objects/Report"
        for (body, name) in [(#"{"id":7,"suspct":1}"#, "suspect"), (#"{"id":7,"home":{"keepr":1}}"#, "keeper")] {
            #expect(try server.request("POST", reports, admin, body: body).text.contains("did you mean '\(name)'?"))
            let answer = try server.request("POST", reports, writer, body: body)
            #expect(answer.code == "unknown_property" && !answer.text.contains("'\(name)'"), "\(answer.text)")
        }
        let wrong = try server.request("POST", reports, writer, body: #"{"id":7,"item":99}"#)
        #expect(wrong.code == "link_target_missing" && wrong.text.contains("'Item'"), "\(wrong.text)")
        let body = #"{"id":7,"text":"t","item":{"id":5},"home":{"note":"n"}}"#
        #expect(try server.request("POST", reports + "?nested=upsert", writer, body: body).status == 201)
        let seen = try server.request("GET", reports + "/7?expand=item", admin)
        #expect(seen.json["item"]?["id"]?.int == 5 && seen.json["home"]?["note"]?.text == "n", "\(seen.text)")
        // What the writer replaces keeps what it does not know.
        #expect(try server.request("PUT", reports + "/1", writer, body: #"{"text":"t","home":{"note":"n"}}"#).status < 300)
        let kept = try server.request("GET", reports + "/1", admin)
        #expect(kept.json["suspect"] != .null && kept.json["home"]?["keeper"] != .null, "\(kept.text)")
        #expect(kept.json["dossiers"]?.elements?.count == 1 && kept.json["home"]?["note"]?.text == "n", "\(kept.text)")
    }

    @Test func `an embedded class whose hidden properties are unknown is not written inside its owner`() throws {
        let (server, admin, writer) = try box("lost")
        let reports = "/v1/realms/app/objects/Report"
        for (method, path, body) in [
            ("POST", reports, #"{"id":7,"home":{"note":"n"}}"#), ("PATCH", reports + "/1", #"{"home":{"note":"n"}}"#),
            ("PATCH", reports + "/1", #"{"home":null}"#),
        ] {
            let answer = try server.request(method, path, writer, body: body)
            #expect(answer.code == "unknown_property", "\(method) \(body): \(answer.text)")
        }
        #expect(try server.request("POST", reports, writer, body: #"{"id":7,"text":"t"}"#).status == 201)
        let kept = try server.request("GET", reports + "/1", admin)
        #expect(kept.json["home"]?["note"] == .null, "\(kept.text)")
    }
}

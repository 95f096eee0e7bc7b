// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Primary keys that a role does not see: no request tells which of them exist.
@Suite struct HiddenKeyTests {
    private static let roles = """
        roles:
          reader:
            realms:
              app:
                classes:
                  P: {allow: [read, create, update, delete, import, subscribe], fields: {hide: [ssn]}}
                  A: [read, create, update, delete, import, subscribe]
                import: true
                transactions: true
          blind:
            realms:
              app:
                classes: {P: {allow: [update, delete, import], fields: {hide: [ssn]}}, A: [read, create, update, subscribe]}
                import: true
          split: {realms: {app: {classes: {P: {allow: [read], fields: {hide: [ssn]}}, A: [read, create, update, subscribe]}}}}
          editor: {realms: {app: {classes: {P: [update, delete]}}}}
        """

    /// Requests with `KEY` in the place of a key that may exist.
    private struct Forms {
        struct Form {
            let method: String
            let path: String
            let body: String
            let type: String
            var fields: [(String, String)] = []
        }

        static let link = #"{"$link":{"class":"P","key":"KEY"}}"#
        private(set) var all: [Form] = []

        init() {
            for value in [#""KEY""#, Forms.link, #"{"ssn":"KEY"}"#, #"{"ssn":"KEY","name":"x"}"#] {
                for nested in ["", "&nested=upsert"] { addLinks(value, nested) }
                addSteps(value)
            }
            addAddresses()
            addBodies()
            addOperations()
            addQueries()
        }

        private mutating func add(
            _ method: String, _ path: String, _ body: String = "", type: String = "application/json",
            fields: [(String, String)] = []
        ) {
            all.append(Form(method: method, path: path, body: body, type: type, fields: fields))
        }

        private mutating func merge(_ path: String, _ body: String, fields: [(String, String)] = []) {
            add("PATCH", path, body, type: "application/merge-patch+json", fields: fields)
        }

        /// Links in all places that links may have.
        private mutating func addLinks(_ value: String, _ nested: String) {
            let query = "?dryRun=true" + nested
            for member in ["p", "any"] {
                merge("/objects/A/1" + query, #"{"\#(member)":\#(value)}"#)
                add("PUT", "/objects/A/1" + query, #"{"id":1,"owner":"o","\#(member)":\#(value)}"#)
            }
            merge("/objects/A/1" + query, #"{"ps":[\#(value)]}"#)
            add("POST", "/objects/A" + query, #"{"id":7,"owner":"o","p":\#(value),"ps":[\#(value)]}"#)
            add("POST", "/objects/A" + query + "&upsert=modified", #"{"id":1,"owner":"o","p":\#(value)}"#)
            add("PUT", "/objects/A/1/p" + query, value)
            add("PUT", "/objects/A/1/ps" + query, "[\(value)]")
        }

        /// Links in patches, changes of lists, batches and imports.
        private mutating func addSteps(_ value: String) {
            for operation in ["test", "add", "replace"] {
                for path in ["/p", "/ps/0", "/ps/-", "/any"] {
                    let body = #"[{"op":"\#(operation)","path":"\#(path)","value":\#(value)}]"#
                    add("PATCH", "/objects/A/1?dryRun=true", body, type: "application/json-patch+json")
                }
            }
            let batch = "/batch?dryRun=true"
            for step in ["add", "insert", "set", "removeValue", "contains"] {
                let list = #"{"list":{"class":"A","key":"1","property":"ps","ops":[{"\#(step)":\#(value)}]}}"#
                add("POST", batch, #"{"ops":[\#(list)]}"#)
            }
            add("POST", batch, #"{"ops":[{"patch":{"class":"A","key":"1","body":{"p":\#(value)}}}]}"#)
            let line = #"{"id":7,"owner":"o","p":\#(value)}"# + "\n"
            for mode in ["create", "upsert"] {
                add("POST", "/import?class=A&mode=\(mode)&dryRun=true", line, type: "application/x-ndjson")
            }
        }

        /// Objects by their key.
        private mutating func addAddresses() {
            let ends = ["", "?dryRun=true", "/name", "/@links/A/p", "/name?dryRun=true"]
            for path in ends.map({ "/objects/P/KEY" + $0 }) {
                add("GET", path)
                add("DELETE", path)
                for body in [#"{"name":"x"}"#, #"{"ssn":"KEY"}"#, #"{"ssn":"KEY","name":"x"}"#, #""x""#] {
                    for fields in [[], [("If-Match", "*")], [("If-None-Match", "*")], [("If-Match", #""abc""#)]] {
                        add("PUT", path, body, fields: fields)
                        merge(path, body, fields: fields)
                    }
                }
            }
        }

        /// Bodies with the key, of new objects and of one that is addressed by its position.
        private mutating func addBodies() {
            for body in [#"{"ssn":"KEY"}"#, #"{"ssn":"KEY","name":"x"}"#] {
                for upsert in ["", "&upsert=all", "&upsert=modified"] {
                    add("POST", "/objects/P?dryRun=true" + upsert, body)
                    add("POST", "/objects/P?dryRun=true" + upsert, "[\(body)]")
                }
                for mode in ["create", "upsert"] {
                    let path = "/import?class=P&mode=\(mode)&dryRun=true"
                    add("POST", path, body + "\n", type: "application/x-ndjson")
                    add("POST", path, "ssn,name\nKEY,x\n", type: "text/csv")
                }
                merge("/objects/P/@k0?dryRun=true", body)
                add("PUT", "/objects/P/@k0?dryRun=true", body)
            }
            for operation in ["test", "replace", "add"] {
                let body = #"[{"op":"\#(operation)","path":"/ssn","value":"KEY"}]"#
                add("PATCH", "/objects/P/@k0?dryRun=true", body, type: "application/json-patch+json")
            }
        }

        private mutating func addOperations() {
            for operation in [
                #"{"put":{"class":"P","key":"KEY","body":{"name":"x"}}}"#, #"{"assert":{"class":"P","key":"KEY"}}"#,
                #"{"patch":{"class":"P","key":"KEY","body":{"name":"x"}}}"#, #"{"delete":{"class":"P","key":"KEY"}}"#,
                #"{"upsert":{"class":"P","body":{"ssn":"KEY"}}}"#, #"{"create":{"class":"P","body":{"ssn":"KEY"}}}"#,
                #"{"assert":{"class":"A","where":"p == obj('P','KEY')"}}"#, #"{"assert":{"class":"P","where":"ssn == 'KEY'"}}"#,
                #"{"assert":{"class":"A","where":"p == $0","args":["KEY"]}}"#,
                #"{"assert":{"class":"A","where":"p == $0","args":[\#(Forms.link)]}}"#,
            ] {
                add("POST", "/batch?dryRun=true", #"{"ops":[\#(operation)]}"#)
            }
        }

        private mutating func addQueries() {
            let argument = "%5B%7B%22$link%22:%7B%22class%22:%22P%22,%22key%22:%22KEY%22%7D%7D%5D"
            for query in [
                "where=p%20%3D%3D%20obj('P','KEY')", "where=ANY%20ps%20%3D%3D%20obj('P','KEY')",
                "where=p.ssn%20%3D%3D%20'KEY'", "where=p%20%3D%3D%20$0&args=%5B%22KEY%22%5D", "sort=p.ssn", "distinct=p.ssn",
                "where=p%20IN%20%7Bobj('P','KEY')%7D", "where=p%20%3D%3D%20$0&args=" + argument,
                "where=any%20%3D%3D%20$0&args=" + argument,
            ] {
                add("GET", "/objects/A?" + query)
                add("GET", "/changes?class=A&" + query)
                add("DELETE", "/objects/A?dryRun=true&" + query)
            }
            for path in [
                "/objects/P?indexOf=KEY", "/objects/P?section=KEY&sectionBy=ssn", "/objects/P?sectionBy=name&section=KEY",
                "/changes?class=P&key=KEY", "/changes?class=P&where=ssn%20%3D%3D%20'KEY'", "/objects/A/1/ps?indexOf=KEY",
                "/objects/A?expand=p.ssn", "/aggregate/A?groupBy=p.ssn",
            ] {
                add("GET", path)
            }
            add("POST", "/aggregate/P", #"{"ops":{"m":{"max":"ssn"}}}"#)
            add("POST", "/subscriptions", #"{"subscriptions":{"a":{"class":"P","key":"KEY"}}}"#)
        }
    }

    /// What an answer tells, without the key that was asked for.
    private func told(_ answer: HTTPClient.Answer, _ key: String) -> String {
        let changing = #/"(id|url|version|expiresAt|etag|next|instance)":"(\\.|[^"\\])*"/#
        let text = answer.text.replacing(key, with: "KEY").replacing(changing, with: "")
        return "\(answer.status) \(text) \(answer["allow"] ?? "") \(answer["etag"] == nil)"
    }

    @Test(arguments: [["reader"], ["blind"], ["split", "editor"]])
    func `an answer is the same whether a hidden key exists or not, and nothing is changed`(_ roles: [String]) throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = SeededGenerator(seed: seed)
        let desk = try RightsDesk(Self.roles, clerk: roles)
        let keys = (0..<4).map { _ in "k" + String(UInt32.random(in: 0..<1 << 30, using: &random), radix: 36) }
        let people = keys.prefix(2).enumerated().map { #"{"ssn":"\#($1)","name":"n\#($0)"}"# }.joined(separator: ",")
        _ = try desk.ask("POST", "/objects/P", by: desk.admin, body: "[\(people)]").document("people")
        let target = #"{"$link":{"class":"P","key":"\#(keys[0])"}}"#
        let owner = #"{"id":1,"owner":"o","p":\#(target),"ps":[\#(target)],"any":\#(target)}"#
        _ = try desk.ask("POST", "/objects/A", by: desk.admin, body: owner).document("owner")
        let stored = { try desk.ask("GET", "/export?format=json", by: desk.admin).text }
        let before = try stored()
        for form in Forms().all {
            // One that exists and is linked to, one that exists, and one that does not.
            let answers = try [keys[0], keys[1], keys[2]].map { key in
                let fields = form.body.isEmpty ? form.fields : form.fields + [("Content-Type", form.type)]
                let answer = try desk.ask(
                    form.method, form.path.replacing("KEY", with: key), fields,
                    body: form.body.isEmpty ? nil : form.body.replacing("KEY", with: key))
                return told(answer, key)
            }
            #expect(
                answers[0] == answers[2] && answers[1] == answers[2],
                "seed \(seed), \(roles): \(form.method) \(form.path) \(form.body)\n\(answers.joined(separator: "\n"))")
        }
        #expect(try stored() == before, "seed \(seed)")
    }

    /// Requests whose bodies have some members, among them one of a property that may be hidden.
    private static func writes(_ body: String, cells: String) -> [(method: String, path: String, body: String, type: String)] {
        let (json, dry) = ("application/json", "?dryRun=true")
        var writes: [(method: String, path: String, body: String, type: String)] = [
            ("POST", "/objects/P" + dry, body, json), ("POST", "/objects/P" + dry + "&upsert=modified", body, json),
            ("PUT", "/objects/P/k1" + dry, body, json), ("PATCH", "/objects/P/k1" + dry, body, "application/merge-patch+json"),
            ("PATCH", "/objects/P?where=TRUEPREDICATE&dryRun=true", body, "application/merge-patch+json"),
            ("POST", "/import?class=P&mode=upsert&dryRun=true", body + "\n", "application/x-ndjson"),
            ("POST", "/import?class=P&mode=create&dryRun=true", cells, "text/csv"),
            ("PATCH", "/objects/P/k1" + dry, #"[{"op":"add","path":"/name","value":1}]"#, "application/json-patch+json"),
        ]
        for operation in [
            #"{"create":{"class":"P","body":\#(body)}}"#, #"{"patch":{"class":"P","key":"k1","body":\#(body)}}"#,
            #"{"put":{"class":"P","key":"k1","body":\#(body)}}"#,
            #"{"patchWhere":{"class":"P","where":"TRUEPREDICATE","body":\#(body)}}"#,
        ] {
            writes.append(("POST", "/batch" + dry, #"{"ops":[\#(operation)]}"#, json))
        }
        return writes
    }

    @Test func `a hidden property is refused as one that does not exist, whatever else is in the body`() throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = SeededGenerator(seed: seed)
        let roles = """
            roles:
              half:
                realms:
                  app:
                    classes: {P: {allow: [read, create, update, delete, import], fields: {hide: [name]}}}
                    import: true
                    transactions: true
            """
        let desk = try RightsDesk(roles, clerk: ["half"])
        _ = try desk.ask("POST", "/objects/P", by: desk.admin, body: #"{"ssn":"k1","name":"n"}"#).document("person")
        let pool = [
            ("ssn", #""k1""#), ("ssn", #""k2""#), ("ssn", "5"), ("name", #""x""#), ("name", "5"), ("zzq", "1"), ("$q", "1"),
        ]
        for _ in 0..<40 {
            var members: [(String, String)] = []
            for member in pool.shuffled(using: &random).prefix(4) where !members.contains(where: { $0.0 == member.0 }) {
                members.append(member)
            }
            let body = "{" + members.map { #""\#($0.0)":\#($0.1)"# }.joined(separator: ",") + "}"
            let cells = members.map(\.0).joined(separator: ",") + "\n" + members.map(\.1).joined(separator: ",") + "\n"
            for write in Self.writes(body, cells: cells) {
                for prefer in ["handling=strict", "handling=lenient"] {
                    let answers = try ["name", "nqvx"].map { name in
                        let answer = try desk.ask(
                            write.method, write.path, [("Content-Type", write.type), ("Prefer", prefer)],
                            body: write.body.replacing("\"name\"", with: "\"\(name)\"").replacing("/name", with: "/\(name)")
                                .replacing("name,", with: "\(name),").replacing("name\n", with: "\(name)\n"))
                        return told(answer, "no key").replacing("nqvx", with: "name")
                    }
                    #expect(answers[0] == answers[1], "seed \(seed): \(write) \(prefer)\n\(answers.joined(separator: "\n"))")
                }
            }
        }
    }

    @Test func `an import refuses a hidden link on its line, as a property that does not exist`() throws {
        let roles = """
            roles:
              half:
                realms:
                  app:
                    classes:
                      A: {allow: [read, create, update, import], fields: {hide: [p]}}
                      P: [read, create, update, import]
                    import: true
            """
        let desk = try RightsDesk(roles, clerk: ["half"])
        for value in [#""nokey""#, #"["nokey"]"#, Forms.link] {
            for (mode, prefer) in [("create", "handling=strict"), ("upsert", "handling=strict"), ("create", "handling=lenient")] {
                let answers = try ["p", "q"].map { name in
                    // Also a value that waits for the end of an import is refused before this second line.
                    let lines = #"{"id":7,"owner":"o","\#(name)":\#(value)}"# + "\n" + #"{"id":8,"owner":5}"# + "\n"
                    return try desk.ask(
                        "POST", "/import?class=A&mode=\(mode)&dryRun=true",
                        [("Content-Type", "application/x-ndjson"), ("Prefer", prefer)], body: lines)
                }
                // A name that is proposed depends on the unknown one and on those that are seen.
                let hint = #/; did you mean '\w+'\?/#
                let other = told(answers[1], "no key").replacing("'q'", with: "'p'").replacing("\"q\"", with: "\"p\"")
                    .replacing("/q\"", with: "/p\"").replacing(hint, with: "")
                #expect(told(answers[0], "no key").replacing(hint, with: "") == other, "\(value) \(mode) \(prefer)")
                #expect(answers[0].json["line"]?.int == (prefer == "handling=strict" ? 1 : 2), "\(answers[0].text)")
            }
        }
    }

    @Test func `an import follows bare keys by properties that are hidden from new objects alone`() throws {
        let roles = """
            roles:
              maker: {realms: {app: {classes: {A: {allow: [create, import], fields: {hide: [p]}}, P: [create, import]}, import: true}}}
              changer: {realms: {app: {classes: {A: [read, update], P: [read]}}}}
            """
        let desk = try RightsDesk(roles, clerk: ["maker", "changer"])
        _ = try desk.ask("POST", "/objects/A", by: desk.admin, body: #"{"id":1,"owner":"o"}"#).document("owner")
        let lines = [
            #"{"$meta":{"class":"A"},"id":1,"owner":"o","p":"late"}"#, #"{"$meta":{"class":"A"},"id":2,"owner":"o"}"#,
            #"{"$meta":{"class":"P"},"ssn":"late"}"#,
        ]
        let type = [("Content-Type", "application/x-ndjson")]
        let imported = try desk.ask("POST", "/import?mode=upsert", type, body: lines.joined(separator: "\n"))
        #expect(imported.status == 200, "\(imported.text)")
        #expect(try desk.ask("GET", "/objects/A?where=p.ssn%20%3D%3D%20'late'").json["items"]?.elements?.count == 1)
    }

    @Test func `an import proposes a name for a link of an unknown property`() throws {
        let desk = try RightsDesk(Self.roles, clerk: ["reader"])
        let line = #"{"id":7,"owner":"o","anyy":\#(Forms.link)}"#
        let answer = try desk.ask(
            "POST", "/import?class=A&dryRun=true", by: desk.admin, [("Content-Type", "application/x-ndjson")], body: line)
        #expect(answer.code == "unknown_property" && answer.text.contains("did you mean 'any'?"), "\(answer.text)")
    }

    @Test func `an object with a hidden key is not made by an address, and a visible key is looked up as before`() throws {
        let desk = try RightsDesk(Self.roles, clerk: ["reader"])
        #expect(try desk.ask("PUT", "/objects/P/chosen", body: #"{"name":"Eve"}"#).status == 404)
        #expect(try desk.ask("GET", "/objects/P", by: desk.admin).json["items"]?.elements?.count == 0)
        let body = #"{"id":1,"owner":"o"}"#
        #expect(try desk.ask("PUT", "/objects/A/1", body: body).status == 201)
        #expect(try desk.ask("PUT", "/objects/A/1", body: body).status == 200)
        #expect(try desk.ask("POST", "/objects/A?upsert=all", body: body).status == 200)
    }
}

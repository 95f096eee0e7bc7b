// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
@testable import RealmAccess
@testable import RealmCalls
import RealmEngine
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing
import Foundation

@testable import RealmFormats
@testable import RealmHTTP

/// Values of imports that wait for objects of later lines, and what else happens to their properties meanwhile.
@Suite struct WaitingValueTests {
    static let classes = [
        ClassInput(
            "Inner", type: "embedded",
            [PropertyInput("to", "object", objectType: "A"), PropertyInput("x", "int", optional: true)]),
        ClassInput(
            "A", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("i", "int", optional: true),
                PropertyInput("n", "object", objectType: "A"),
                PropertyInput("as", "object", collection: "list", objectType: "A"),
                PropertyInput("s", "object", collection: "set", objectType: "A"),
                PropertyInput("d", "object", collection: "dictionary", objectType: "A"), PropertyInput("m", "mixed"),
                PropertyInput("e", "object", objectType: "Inner"),
                PropertyInput("es", "object", collection: "list", objectType: "Inner"),
            ]),
    ]

    /// The forms of a body, each with its media type.
    enum Form: String, CaseIterable {
        case lines = "application/x-ndjson"
        case array = "application/json"
        case extended = "application/ejson"
        case csv = "text/csv"
    }

    /// The values of each property, with a link to one object or without any.
    private static func value(_ property: String, to target: Int?, x: Int) -> String {
        switch (property, target) {
        case ("n", nil), ("e", nil): return "null"
        case ("n", let target?): return "\(target)"
        case ("m", nil): return #""text""#
        case ("m", let target?): return #"[{"$link":{"class":"A","key":"\#(target)"}},\#(x)]"#
        case ("d", nil): return "{}"
        case ("d", let target?): return #"{"k":\#(target)}"#
        case ("e", let target?): return #"{"to":\#(target),"x":\#(x)}"#
        case (_, nil): return "[]"
        case ("es", let target?): return #"[{"to":\#(target),"x":\#(x)},{"x":\#(x)}]"#
        case (_, let target?): return "[\(target)]"
        }
    }
    static let properties = ["n", "as", "s", "d", "m", "e", "es"]

    /// A line of an import: a number and values of some properties as JSON.
    struct Line {
        let id: Int
        var values: [(name: String, json: String)] = []
    }

    static func body(_ lines: [Line], _ form: Form) -> String {
        guard form != .csv else {
            let names = lines.flatMap { $0.values.map(\.name) }.reduce(into: [String]()) { names, name in
                if !names.contains(where: { $0 == name }) { names.append(name) }
            }
            let records = lines.map { line in
                let cells = names.map { name -> String in
                    let json = line.values.first { $0.name == name }?.json ?? "null"
                    return json == "null" ? "" : "\"" + json.replacing("\"", with: "\"\"") + "\""
                }
                return "\(line.id)," + cells.joined(separator: ",")
            }
            return (["id," + names.joined(separator: ",")] + records).joined(separator: "\n") + "\n"
        }
        let objects = lines.map { line in
            "{" + (["\"id\":\(line.id)"] + line.values.map { "\"\($0.name)\":\($0.json)" }).joined(separator: ",") + "}"
        }
        return form == .lines ? objects.joined(separator: "\n") + "\n" : "[" + objects.joined(separator: ",\n") + "]"
    }

    @discardableResult
    private func send(_ server: WriteServer, _ lines: [Line], _ form: Form, _ query: String) throws -> HTTPClient.Answer {
        try server.send(
            "POST", "app/import?class=A&\(query)", WaitingValueTests.body(lines, form), [("Content-Type", form.rawValue)])
    }

    /// The value of the earlier line was written at the end, over that of the later one.
    @Test(arguments: Form.allCases, [true, false])
    func `the last line that gives a property decides`(_ form: Form, _ isAtomic: Bool) throws {
        let server = try WriteServer(WaitingValueTests.classes)
        let targets = [Line(id: 8), Line(id: 9)]
        for (number, second) in [nil, 8, 9].enumerated() {
            for order in ["later", "first", "between"] {
                for property in WaitingValueTests.properties {
                    // A cell of CSV is null or empty, and there is no empty collection.
                    if form == .csv, second == nil, property == "m" { continue }
                    try server.send("DELETE", "app/objects?confirm=all")
                    func line(_ target: Int?, _ x: Int) -> Line {
                        Line(
                            id: 1, values: [("i", "\(x)"), (property, WaitingValueTests.value(property, to: target, x: x))])
                    }
                    let lines = [line(9, 1), line(second, 2)]
                    let all =
                        switch order {
                        case "later": lines + targets
                        case "first": targets + lines
                        default: [targets[0]] + lines + [targets[1]]
                        }
                    let answer = try send(server, all, form, "mode=upsert&atomic=\(isAtomic)")
                    let what = Comment(rawValue: "\(property) \(number) \(order): \(answer.text)")
                    #expect(answer.status == 200, what)
                    let found = try server.get("app/objects/A/1?meta=none")
                    // The same lines, when all of their targets are there.
                    try server.send("DELETE", "app/objects/A/1")
                    #expect(try send(server, lines, form, "mode=upsert").status == 200, what)
                    #expect(try server.show("A/1") == found.text, what)
                    #expect(found.json["i"]?.int == 2, what)
                }
            }
        }
        try server.finish()
    }

    @Test(arguments: [true, false]) func `lines with other properties leave a value waiting`(_ isAtomic: Bool) throws {
        let server = try WriteServer(WaitingValueTests.classes)
        let query = "mode=upsert&atomic=\(isAtomic)"
        let first = Line(id: 1, values: [("n", "9"), ("as", "[9,8]"), ("e", #"{"to":9,"x":1}"#)])
        let lines = [
            first, Line(id: 1, values: [("i", "3")]), Line(id: 1, values: [("e", #"{"to":8,"x":2}"#), ("n", "1")]),
            Line(id: 1, values: [("s", "[9]"), ("n", "8")]), Line(id: 1, values: [("d", #"{"k":9}"#)]), Line(id: 8), Line(id: 9),
        ]
        #expect(try send(server, lines, .lines, query).status == 200)
        let found = try server.get("app/objects/A/1?meta=none")
        #expect(found.json["i"]?.int == 3 && found.text.contains(#""x":2"#), "\(found.text)")
        for condition in ["n.id==8", "as.@count==2", "e.to.id==8", "ANY s.id==9", "d.@count==1"] {
            let count = try server.get("app/objects/A?limit=0&count=exact&where=\(condition.replacing(" ", with: "%20"))")
            #expect(count.json["count"]?.int == 1, "\(condition): \(found.text)")
        }
        try server.finish()
    }

    /// The earlier line is in a part that was committed long before.
    @Test func `a later part decides over an earlier one, also when the import fails`() throws {
        let server = try WriteServer(WaitingValueTests.classes)
        let values = [("n", "99999"), ("e", #"{"to":99999,"x":1}"#)]
        var lines = [Line(id: 1, values: values), Line(id: 2, values: values)]
        lines += (100..<11_000).map { Line(id: $0) }
        lines += [Line(id: 1, values: [("n", "null"), ("e", #"{"x":2}"#)]), Line(id: 99_999)]
        for end in ["null", #""wrong""#] {
            try server.send("DELETE", "app/objects?confirm=all")
            let all = lines + [Line(id: 5, values: [("i", end)])]
            let answer = try send(server, all, .lines, "mode=upsert&atomic=false")
            #expect(answer.status == (end == "null" ? 200 : 422) && answer.json["unlinked"] == nil, "\(answer.text)")
            let found = try server.show("A/1")
            #expect(found.contains(#""n":null"#) && found.contains(#""x":2"#) && !found.contains("99999"), "\(found)")
            #expect(try server.show("A/2").contains("99999"))
        }
        try server.finish()
    }

    /// Values with one link to a missing object were absent as a whole.
    @Test func `a failed import leaves out the missing links alone`() throws {
        let server = try WriteServer(WaitingValueTests.classes)
        let link = { (id: Int) in #"{"$link":{"class":"A","key":"\#(id)"}}"# }
        let values = [
            ("n", "9"), ("as", "[2,9,3]"), ("s", "[9,2]"), ("d", #"{"a":2,"b":9}"#),
            ("m", #"{"k":\#(link(9)),"l":[1,\#(link(9)),"t",\#(link(2))]}"#), ("e", #"{"to":9,"x":1}"#),
            ("es", #"[{"to":9,"x":1},{"to":3,"x":2}]"#),
        ]
        let lines = [Line(id: 1, values: values), Line(id: 2), Line(id: 3), Line(id: 4, values: [("i", #""wrong""#)])]
        let failed = try send(server, lines, .lines, "mode=create&atomic=false")
        #expect(failed.json["line"]?.int == 4 && failed.json["committed"]?.int == 0, "\(failed.text)")
        #expect(failed.json["unlinked"]?.int == 1, "\(failed.text)")
        let found = try server.show("A/1")
        try server.send("DELETE", "app/objects/A/1")
        let rest = [
            ("as", "[2,3]"), ("s", "[2]"), ("d", #"{"a":2}"#), ("m", #"{"l":[1,"t",\#(link(2))]}"#), ("e", #"{"x":1}"#),
            ("es", #"[{"x":1},{"to":3,"x":2}]"#),
        ]
        #expect(try send(server, [Line(id: 1, values: rest)], .lines, "mode=create").status == 200)
        #expect(try server.show("A/1") == found)
        #expect(try send(server, lines.dropLast() + [Line(id: 9)], .lines, "mode=upsert&atomic=false").status == 200)
        #expect(try server.get("app/objects/A?limit=0&count=exact&where=n.id==9%20AND%20as.@count==3").json["count"]?.int == 1)
        try server.finish()
    }

    // MARK: - Other clients

    /// Rights that are asked for before and after each part, on the writer's thread.
    final class WatchedRights: AdmittedRights {
        private let count = Mutex(0)
        private let asked: @Sendable (Int) -> Void
        init(_ asked: @escaping @Sendable (Int) -> Void) { self.asked = asked }
        func identity(in snapshot: Snapshot?) -> String { "" }
        func areInForce(for principal: Principal) -> Bool {
            asked(
                count.withLock { count in
                    count += 1
                    return count
                })
            return true
        }
    }

    struct MissingRealm: Error {}

    /// Imports lines in parts of ten, between two of which another client writes.
    static func run(
        _ server: WriteServer, _ text: String, _ mode: ImportRun.Mode = .create, of className: String? = "A",
        rights: (any WriteRights)? = nil, parts: ImportChain.Parts = ImportChain.Parts(count: 10, seconds: 0),
        other: (@Sendable (WriteSession) throws -> Void)? = nil
    ) throws -> Result<ImportChain.Outcome, Problem> {
        guard case .ready(let database)? = server.server.state.catalog["app"] else { throw MissingRealm() }
        let result = Awaited<Result<ImportChain.Outcome, Problem>>()
        let written = Awaited<Result<WriteReceipt<Void>, WriteError>>()
        let watched = WatchedRights { count in
            // It gets its turn before the next part.
            if count == 2, let other { database.write(EngineRealm.request(), other) { written.set($0) } }
        }
        let reader = ImportReader(ImportSource(Array(text.utf8)), className: className, bounds: JSONBounds(depth: 50))
        ImportChain(
            database, mode, reader, rights: rights, of: Standing(principal: .local, rights: watched),
            deadline: .now().adding(seconds: 600), parts: parts
        ) { result.set($0) }.run()
        if other != nil { _ = try written.wait(seconds: 600).get() }
        return try result.wait(seconds: 600)
    }

    private static func patch(_ id: Int64, _ members: [(String, InputValue)]) -> @Sendable (WriteSession) throws -> Void {
        { session in
            let place = try session.require(.primaryKey(.integer(id)), class: "A")
            _ = try session.patch(place, InputObject(members.map { (name: $0.0, value: $0.1) }))
        }
    }

    /// The import wrote its values at the end over what the other client had been answered for.
    @Test(arguments: properties) func `what another client commits during an import remains`(_ property: String) throws {
        let server = try WriteServer(WaitingValueTests.classes)
        let patches: [ByteText: InputValue] = [
            "n": .integer(3), "as": .list([.integer(3)]), "s": .list([.integer(3)]), "d": .object(["j": .integer(3)]),
            "m": .text("other"), "e": .object(["x": .integer(3)]), "es": .list([.object(["x": .integer(3)])]),
        ]
        let patch = try #require(patches[ByteText(property)])
        for succeeds in [true, false] {
            for isThere in [false, true] {
                try server.send("DELETE", "app/objects?confirm=all")
                var lines = (0..<40).map { Line(id: $0) }
                let value = WaitingValueTests.value(property, to: 39, x: 1)
                lines[5].values = [(property, value), ("i", "5")]
                lines[6].values = [(property, value)]
                // The value that an object has already remains as well.
                if isThere {
                    let there = [Line(id: 2), Line(id: 5, values: [(property, WaitingValueTests.value(property, to: 2, x: 7))])]
                    #expect(try send(server, there, .lines, "mode=create").status == 200)
                }
                if !succeeds { lines.append(Line(id: 40, values: [("i", #""wrong""#)])) }
                let result = try WaitingValueTests.run(
                    server, WaitingValueTests.body(lines, .lines), .upsert,
                    other: WaitingValueTests.patch(5, [(property, patch), ("i", .integer(6))]))
                switch result {
                case .success(let outcome): #expect(succeeds && outcome.overtaken == 1)
                case .failure(let problem):
                    #expect(!succeeds && problem.line == 41, "\(problem)")
                    #expect(problem.has("overtaken") && !problem.has("unlinked"), "\(problem)")
                }
                let found = try server.show("A/5")
                // The same by the other client alone.
                var alone = Line(id: 5)
                if isThere { alone.values = [(property, WaitingValueTests.value(property, to: 2, x: 7))] }
                try server.send("DELETE", "app/objects/A/5")
                #expect(try send(server, [alone], .lines, "mode=create").status == 200)
                guard case .ready(let database)? = server.server.state.catalog["app"] else { throw MissingRealm() }
                let written = Awaited<Result<WriteReceipt<Void>, WriteError>>()
                database.write(
                    EngineRealm.request(), WaitingValueTests.patch(5, [(property, patch), ("i", .integer(6))])
                ) { written.set($0) }
                _ = try written.wait(seconds: 600).get()
                #expect(try server.show("A/5") == found)
                #expect(try server.show("A/6").contains("39"))
            }
        }
        try server.finish()
    }

    @Test func `an object that another client deletes during an import stays deleted`() throws {
        let server = try WriteServer(WaitingValueTests.classes)
        for succeeds in [true, false] {
            try server.send("DELETE", "app/objects?confirm=all")
            var lines = (0..<40).map { Line(id: $0) }
            lines[5].values = [("n", "39"), ("as", "[39]")]
            lines[6].values = [("n", "39")]
            if !succeeds { lines.append(Line(id: 40, values: [("i", #""wrong""#)])) }
            let result = try WaitingValueTests.run(server, WaitingValueTests.body(lines, .lines)) { session in
                try session.delete(try session.require(.primaryKey(.integer(5)), class: "A"))
            }
            switch result {
            case .success(let outcome): #expect(succeeds && outcome.created == 40 && outcome.overtaken == 0)
            case .failure(let problem): #expect(!succeeds && problem.line == 41 && !problem.has("unlinked"), "\(problem)")
            }
            #expect(try server.get("app/objects/A/5").status == 404)
            #expect(try server.show("A/6").contains("39"))
        }
        try server.finish()
    }

    // MARK: - Rights

    /// A class whose objects belong to owners, and with what else the waiting values of its objects may change.
    private static let owned = [
        ClassInput(
            "Inner", type: "embedded",
            [
                PropertyInput("to", "object", objectType: "A"), PropertyInput("x", "int", optional: true),
                PropertyInput("t", "string", optional: true),
            ]),
        ClassInput(
            "A", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("owner", "string", optional: true),
                PropertyInput("secret", "string", optional: true), PropertyInput("i", "int", optional: true),
                PropertyInput("n", "object", objectType: "A"), PropertyInput("e", "object", objectType: "Inner"),
                PropertyInput("as", "object", collection: "list", objectType: "A"),
                PropertyInput("es", "object", collection: "list", objectType: "Inner"),
            ]),
    ]

    private static func rights(_ allow: String, _ rule: String?, hide hidden: String? = nil) throws -> any WriteRights {
        let more = (rule.map { ", where: \"\($0)\"" } ?? "") + (hidden.map { ", fields: {hide: [\($0)]}" } ?? "")
        let book = try RightsSamples.book(
            """
            roles:
              r:
                realms:
                  "*":
                    import: true
                    classes:
                      A: {allow: [\(allow)]\(more)}
                      Inner: {allow: [\(allow)], fields: {hide: [t]}}
            """)
        return RightsWrites(book.rights(of: RightsHolder(roles: ["r"]), in: "app"))
    }

    /// What the import had made counted as its own although others had taken it over: the last line made it visible again.
    @Test(arguments: ["create, read, update, import", "create, read, import"])
    func `an object that others take over during an import is theirs`(_ allow: String) throws {
        let take = WaitingValueTests.patch(5, [("owner", .text("you")), ("secret", .text("s"))])
        for links in [false, true] {
            let server = try WriteServer(WaitingValueTests.owned)
            let rights = try WaitingValueTests.rights(allow, "owner == 'me' OR n.owner == 'me'")
            var lines = (0..<40).map { Line(id: $0, values: [("owner", #""me""#)]) }
            if links {
                lines[5].values.append(("n", "39"))
            } else {
                lines.append(Line(id: 5, values: [("owner", #""me""#), ("i", "2")]))
            }
            let result = try WaitingValueTests.run(
                server, WaitingValueTests.body(lines, .lines), .upsert, rights: rights, other: take)
            switch result {
            case .success(let outcome): #expect(links && outcome.created == 40 && outcome.overtaken == 0)
            case .failure(let problem): #expect(!links && problem.code == .duplicateKey && problem.line == 41, "\(problem)")
            }
            let found = try server.get("app/objects/A/5").json
            #expect(found["owner"]?.text == "you" && found["i"]?.int == nil && found["n"]?.int == nil, "\(found)")
            try server.finish()
        }
    }

    /// The links were left out silently.
    @Test(arguments: ["create, import", "create, update, import"], [true, false])
    func `a sender that cannot read is told of values that are not written`(_ allow: String, _ succeeds: Bool) throws {
        let server = try WriteServer(WaitingValueTests.owned)
        var lines = (0..<40).map { Line(id: $0) }
        for id in [5, 6] { lines[id].values = [("n", "39")] }
        if !succeeds { lines.append(Line(id: 40, values: [("i", #""wrong""#)])) }
        let result = try WaitingValueTests.run(
            server, WaitingValueTests.body(lines, .lines), .upsert, rights: try WaitingValueTests.rights(allow, nil),
            other: WaitingValueTests.patch(5, [("i", .integer(7))]))
        let mayUpdate = allow.contains("update")
        switch result {
        case .success(let outcome): #expect(succeeds && outcome.overtaken == (mayUpdate ? 0 : 1))
        case .failure(let problem):
            #expect(!succeeds && problem.line == 41 && problem.has("overtaken") != mayUpdate, "\(problem)")
            #expect(!problem.has("unlinked"), "\(problem)")
        }
        #expect(try server.show("A/5").contains("39") == mayUpdate)
        #expect(try server.show("A/6").contains("39"))
        try server.finish()
    }

    /// Links to objects of the same request were refused without the right to read them, unless they had a name.
    @Test(arguments: ["create, import", "create, update, import"])
    func `a request without the right to read links to what it has made`(_ allow: String) throws {
        let rights = try WaitingValueTests.rights(allow, nil)
        // In one part, in different ones, and to a later line.
        for (line, target) in [(11, 10), (35, 2), (5, 39)] {
            let server = try WriteServer(WaitingValueTests.owned)
            var lines = (0..<40).map { Line(id: $0) }
            lines[line].values = [("as", "[\(target)]"), ("n", "\(target)"), ("e", #"{"to":\#(target)}"#)]
            let result = try WaitingValueTests.run(server, WaitingValueTests.body(lines, .lines), .upsert, rights: rights)
            #expect(try result.get().created == 40)
            let condition = "as.@count==1%20AND%20n.id==\(target)%20AND%20e.to.id==\(target)"
            #expect(try server.get("app/objects/A?limit=0&count=exact&where=\(condition)").json["count"]?.int == 1)
            // The same in one transaction, where the objects of others are as unknown as ever.
            guard case .ready(let database)? = server.server.state.catalog["app"] else { throw MissingRealm() }
            for (id, isOwn) in [(50, true), (39, false)] {
                let written = Awaited<Result<WriteReceipt<Void>, WriteError>>()
                database.write(EngineRealm.request()) { session in
                    session.restrict(to: rights)
                    if isOwn { _ = try session.create("A", InputObject([(name: "id", value: .integer(Int64(id)))])) }
                    let members: [(name: String, value: InputValue)] = [
                        ("id", .integer(isOwn ? 51 : 52)), ("n", .integer(Int64(id))),
                        ("as", .list([.link(.stub(className: "A", key: .text("\(id)")))])),
                    ]
                    _ = try session.create("A", InputObject(members))
                } completion: {
                    written.set($0)
                }
                let result = try written.wait(seconds: 600)
                guard !isOwn else {
                    _ = try result.get()
                    continue
                }
                let error = #expect(throws: WriteError.self) { try result.get() }
                #expect(error?.code == .linkTargetMissing, "\(String(describing: error))")
            }
            try server.finish()
        }
    }

    /// A change of a hidden property, or of something embedded in any object of the class, made the object one of others, so the
    /// answer told of it.
    @Test(arguments: ["create, read, import", "create, import"])
    func `what others change unseen leaves an object as the import has made it`(_ allow: String) throws {
        let isReader = allow.contains("read")
        let rights = try WaitingValueTests.rights(allow, isReader ? "owner != 'you'" : nil, hide: "secret")
        let inner = InputValue.object(["x": .integer(1), "t": .text("other")])
        let changes: [(isSeen: Bool, change: @Sendable (WriteSession) throws -> Void)] = [
            (false, WaitingValueTests.patch(5, [("secret", .text("s"))])),
            (false, WaitingValueTests.patch(5, [("e", .object(["t": .text("other")]))])),
            (false, WaitingValueTests.patch(6, [("e", .object(["x": .integer(9)]))])),
            // A link to an invisible object reads as null, and a sender that cannot read sees no more of another value.
            (!isReader, WaitingValueTests.patch(5, [("n", .integer(-1))])),
            (true, WaitingValueTests.patch(5, [("e", .object(["x": .integer(9)]))])),
            (true, WaitingValueTests.patch(5, [("es", .list([inner]))])),
            (true, WaitingValueTests.patch(5, [("i", .integer(9))])),
        ]
        for (index, entry) in changes.enumerated() {
            let server = try WriteServer(WaitingValueTests.owned)
            #expect(try server.send("POST", "app/objects/A", #"{"id":-1,"owner":"you"}"#).status == 201)
            var lines = (0..<40).map { Line(id: $0, values: [("e", #"{"x":1}"#)]) }
            lines[7].values.append(("n", "39"))
            lines.append(Line(id: 5, values: [("i", "2")]))
            let result = try WaitingValueTests.run(
                server, WaitingValueTests.body(lines, .lines), .upsert, rights: rights, other: entry.change)
            switch result {
            case .success(let outcome): #expect(!entry.isSeen && outcome.created == 40 && outcome.updated == 1, "\(index)")
            case .failure(let problem):
                #expect(entry.isSeen && problem.line == 41 && !problem.has("unlinked"), "\(index): \(problem)")
                #expect(problem.code == (isReader ? .forbidden : .duplicateKey), "\(index): \(problem)")
            }
            let number = try server.get("app/objects/A/5").json["i"]?.int
            #expect(number == (entry.isSeen ? (index == 6 ? 9 : nil) : 2), "\(index)")
            try server.finish()
        }
    }

    /// Changes of hidden parts by others were counted, and kept the line from being written.
    @Test func `what the sender does not see of a property does not stop its waiting value`() throws {
        let replace: @Sendable (WriteSession) throws -> Void = { session in
            try WaitingValueTests.patch(5, [("e", .null)])(session)
            try WaitingValueTests.patch(5, [("e", .object(["x": .integer(1), "t": .text("other")]))])(session)
        }
        let changes: [(String, @Sendable (WriteSession) throws -> Void)] = [
            ("e", WaitingValueTests.patch(5, [("e", .object(["t": .text("other")]))])),
            ("e", replace),
            ("as", WaitingValueTests.patch(5, [("as", .list([.integer(0)]))])),
            ("n", WaitingValueTests.patch(5, [("n", .integer(0))])),
            ("es", WaitingValueTests.patch(5, [("es", .list([.object(["x": .integer(1), "t": .text("other")])]))])),
        ]
        let values: [ByteText: String] = ["e": #"{"x":2,"to":39}"#, "n": "39", "as": "[39]", "es": #"[{"x":1,"to":39}]"#]
        for (property, change) in changes {
            let server = try WriteServer(WaitingValueTests.owned)
            let there = #"[{"id":0,"owner":"you"},{"id":5,"owner":"me","e":{"x":1},"es":[{"x":1,"t":"t"}]}]"#
            #expect(try server.send("POST", "app/objects/A", there).status == 201)
            var lines = (5..<40).map { Line(id: $0, values: [("owner", #""me""#)]) }
            lines[0].values.append((property, values[ByteText(property)] ?? ""))
            let result = try WaitingValueTests.run(
                server, WaitingValueTests.body(lines, .lines), .upsert,
                rights: try WaitingValueTests.rights("create, read, update, import", "owner == 'me'"), other: change)
            #expect(try result.get().overtaken == 0, "\(property)")
            let found = try server.show("A/5")
            #expect(found.contains(#""key":"39""#), "\(property): \(found)")
            #expect(property != "e" || found.contains(#""x":2"#) && found.contains("other"), "\(found)")
            #expect(property != "as" || found.contains(#""key":"0""#), "\(found)")
            try server.finish()
        }
    }

    /// Fewer than ten thousand lines were one commit however long it took, and so were their links.
    @Test(arguments: [true, false]) func `lines with many links are written in commits of bounded time`(_ succeeds: Bool) throws {
        let server = try WriteServer(WaitingValueTests.classes)
        guard case .ready(let database)? = server.server.state.catalog["app"] else { throw MissingRealm() }
        let targets = 100_000..<100_700
        let list = "[" + targets.map { "\($0)" }.joined(separator: ",") + "]"
        var lines = (1...30).map { Line(id: $0, values: [("as", list)]) } + targets.map { Line(id: $0) }
        if !succeeds { lines.append(Line(id: 0, values: [("i", #""wrong""#)])) }
        let before = database.current.snapshot.version
        let result = try WaitingValueTests.run(
            server, WaitingValueTests.body(lines, .lines), parts: ImportChain.Parts(seconds: 0.0001))
        switch result {
        case .success(let outcome): #expect(succeeds && outcome.created == 730)
        case .failure(let problem): #expect(!succeeds && problem.line == 731 && !problem.has("unlinked"), "\(problem)")
        }
        #expect(database.current.snapshot.version >= before + 10)
        #expect(try server.get("app/objects/A?limit=0&count=exact&where=as.@count==700").json["count"]?.int == 30)
        try server.finish()
    }

    // MARK: - Schemas and files

    /// The values were dropped without a word.
    @Test(arguments: [
        #"[{"renameProperty":{"class":"A","name":"n","to":"nn"}}]"#, #"[{"removeProperty":{"class":"A","name":"n"}}]"#,
        #"[{"removeProperty":{"class":"A","name":"n"}},{"addProperty":{"class":"A","property":"# + link + "}}]",
        #"[{"renameProperty":{"class":"A","name":"n","to":"nn"}},{"addProperty":{"class":"A","property":"# + link + "}}]",
    ])
    func `values whose property a migration replaces are counted`(_ steps: String) throws {
        let server = try WriteServer(WaitingValueTests.classes)
        var lines = (0..<40).map { Line(id: $0) }
        lines[5].values = [("n", "39"), ("as", "[39]")]
        let migration = try WaitingValueTests.migration(steps)
        let result = try WaitingValueTests.run(server, WaitingValueTests.body(lines, .lines)) { session in
            _ = try session.migrate(migration)
        }
        #expect(try result.get().overtaken == 1)
        #expect(try server.show("A/5").contains("39"), "the other value is there")
        try server.finish()
    }
    private static let link = #"{"name":"n","type":"object","objectType":"A"}"#

    private static func migration(_ steps: String) throws -> Migration {
        let json = #"{"fromVersion":0,"toVersion":1,"allowDataLoss":true,"steps":\#(steps)}"#
        return try MigrationReader(Limits()).migration(try JSONParser.parse(json, depthLimit: 20))
    }
    private static let keyless = ClassInput("K", [PropertyInput("k", "int"), PropertyInput("n", "object", objectType: "A")])

    /// The file was said to be damaged, and the object that was gone to lack links.
    @Test(arguments: [true, false], [true, false])
    func `an object whose class is removed counts as deleted`(_ isAddedAgain: Bool, _ succeeds: Bool) throws {
        let server = try WriteServer(WaitingValueTests.classes + [WaitingValueTests.keyless])
        let line = { (id: Int, more: String) in #"{"$meta":{"class":"A"},"id":\#(id)\#(more)}"# + "\n" }
        var text = #"{"$meta":{"class":"K"},"k":1,"n":39}"# + "\n" + line(1, #","n":39"#)
        text += (2..<40).map { line($0, "") }.joined()
        if !succeeds { text += line(40, #","i":"wrong""#) }
        let added = #",{"addClass":{"name":"K","properties":[{"name":"k","type":"int"}]}}"#
        let migration = try WaitingValueTests.migration(#"[{"removeClass":{"name":"K"}}\#(isAddedAgain ? added : "")]"#)
        let result = try WaitingValueTests.run(server, text, of: nil) { session in
            _ = try session.migrate(migration)
            if isAddedAgain { _ = try session.create("K", InputObject([(name: "k", value: .integer(99))])) }
        }
        switch result {
        case .success(let outcome): #expect(succeeds && outcome.created == 40 && outcome.overtaken == 0)
        case .failure(let problem):
            #expect(!succeeds && problem.line == 41 && !problem.has("unlinked"), "\(problem)")
            let isWhole = problem.extensions.contains { member in
                if case .integer(40) = member.value { member.name.description == "committed" } else { false }
            }
            #expect(isWhole, "\(problem)")
        }
        #expect(try server.show("A/1").contains("39"))
        try server.finish()
    }

    /// The link led to an object of another client.
    @Test(arguments: [true, false]) func `a key of the input leads to no object of a class made anew`(_ isUsed: Bool) throws {
        let server = try WriteServer(WaitingValueTests.classes + [WaitingValueTests.keyless])
        let line = { (id: Int, more: String) in #"{"$meta":{"class":"A"},"id":\#(id)\#(more)}"# + "\n" }
        var text = (1...2).map { #"{"$meta":{"class":"K","key":"@k\#($0)"},"k":\#($0)}"# + "\n" }.joined()
        text += (2..<40).map { line($0, "") }.joined()
        let link = { (key: Int) in #"{"$link":{"class":"K","key":"@k\#(key)"}}"# }
        // An object that the import makes in the new class has its key there.
        if isUsed { text += #"{"$meta":{"class":"K","key":"@k7"},"k":7}"# + "\n" + line(40, #","m":\#(link(7))"#) }
        text += line(41, #","m":[\#(link(1))]"#)
        let added = #"{"addClass":{"name":"K","properties":[{"name":"k","type":"int"}]}}"#
        let migration = try WaitingValueTests.migration(#"[{"removeClass":{"name":"K"}},\#(added)]"#)
        let result = try WaitingValueTests.run(server, text, of: nil) { session in
            _ = try session.migrate(migration)
            for k in 98...99 { _ = try session.create("K", InputObject([(name: "k", value: .integer(Int64(k)))])) }
        }
        let problem = #expect(throws: Problem.self) { try result.get() }
        #expect(problem?.code == .linkTargetMissing && problem?.line == (isUsed ? 43 : 41), "\(String(describing: problem))")
        #expect(try !server.show("A/41").contains("$link"))
        if isUsed { #expect(try server.show("A/40").contains(#""key":"@k2""#)) }
        try server.finish()
    }

    /// Its lines were said to be committed.
    @Test(arguments: ["restored", "deleted", "memory"]) func `an import whose realm loses its commits states none`(_ way: String)
        throws
    {
        let server = try WriteServer(WaitingValueTests.classes)
        if way == "memory" {
            #expect(try server.send("DELETE", "app").status < 300)
            let body = #"{"name":"app","inMemory":"app","schema":{"classes":[\#(Self.plain)]}}"#
            let made = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(body.utf8))
            try #require(made.status == 201, "\(made.text)")
        }
        let file = try server.get("app/backup").body
        let result = Awaited<Result<ImportChain.Outcome, any Error>>()
        let body = WaitingValueTests.body((0..<100_000).map { Line(id: $0) }, .lines)
        let thread = StoppingThread { result.set(Result { try WaitingValueTests.run(server, body).get() }) }
        defer { withExtendedLifetime(thread) {} }
        while try server.get("app/objects/A?limit=0&count=exact").json["count"]?.int ?? 0 < 10 {}
        let answer =
            switch way {
            case "restored":
                try HTTPClient.request(
                    port: server.port, "POST", "/v1/realms/app/restore",
                    headers: [("Content-Type", "application/octet-stream")], body: file)
            case "deleted": try server.send("DELETE", "app?files=true")
            default: try server.send("DELETE", "app")
            }
        #expect(answer.status < 300, "\(answer.text)")
        let problem = #expect(throws: Problem.self) { try result.wait(seconds: 600).get() }
        #expect(problem?.code == .realmNotFound && problem?.has("committed") == false, "\(String(describing: problem))")
        server.server.stop()
        try? FileManager.default.removeItem(atPath: server.folder)
    }
    private static let plain =
        #"{"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"i","type":"int","optional":true}]}"#

    // MARK: - The end of the server

    /// It went on until it was cut off, and the answer did not say how far it had come.
    @Test func `an import in parts ends with the server, and states how far it came`() throws {
        let server = try WriteServer(WaitingValueTests.classes) { $0.limits.importBytes = 32 << 20 }
        var lines = (0..<400_000).map { Line(id: $0) }
        lines[2000].values = [("n", "399999")]
        let body = WaitingValueTests.body(lines, .lines)
        let answer = Awaited<Result<HTTPClient.Answer, any Error>>()
        let thread = StoppingThread {
            answer.set(
                Result {
                    try server.send("POST", "app/import?class=A&atomic=false", body, [("Content-Type", Form.lines.rawValue)])
                })
        }
        defer { withExtendedLifetime(thread) {} }
        let count = { try server.get("app/objects/A?limit=0&count=exact").json["count"]?.int ?? 0 }
        while try count() < 10_000 {}
        server.server.state.lifecycle.beginStopping()
        let failed = try answer.wait(seconds: 600).get()
        #expect(failed.code == "shutting_down", "\(failed.text)")
        #expect(failed.json["committed"]?.int == 2000 && failed.json["unlinked"]?.int == 1, "\(failed.text)")
        #expect(try 10_000..<400_000 ~= count())
        try server.finish()
    }
}

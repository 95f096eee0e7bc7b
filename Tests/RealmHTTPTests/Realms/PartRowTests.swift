// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
import RealmCalls
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Rows of the checklist about realms that show a part of the classes of their file.
@Suite struct PartRowTests {
    // MARK: - What is shown

    @Test func `E12: classes that are not named are neither in the schema nor in a list, a count or an export`() throws {
        try withPart { server in
            let schema = try server.get("zoo/schema")
            #expect(schema.json["classes"]?.elements?.compactMap { $0["name"]?.text } == ["Address", "Dog", "Person"])
            #expect(try server.get("zoo").json["classes"]?.int == 3)
            for path in [
                "zoo", "zoo/schema", "zoo/schema?format=swift", "zoo/schema?format=kotlin", "zoo/schema?format=typescript",
                "zoo/schema?format=mermaid", "zoo/schema?format=json-schema", "zoo/schema/Person", "zoo/openapi.json",
                "zoo/export?format=ndjson", "zoo/export?format=json", "zoo/export?format=csv&class=Person",
                "zoo/objects/Person", "zoo/objects/Person?format=csv", "zoo/objects/Person?format=ndjson",
                "zoo/objects/Person/ann?expand=dog,dog.owner", "zoo/objects/Person?where=age%20%3E%201&explain=true",
                "zoo/aggregate/Person?groupBy=boss&ops=count", "zoo/objects/Person?facets=boss",
                "zoo/objects/Person?where=mix.note%20%3D%3D%20'hush'", "zoo/objects/Person?where=mix.@type%20%3D%3D%20'object'",
                "zoo/objects/Person?sort=boss", "zoo/objects/Person/ann/secrets", "zoo/objects/Person/ann/boss",
            ] {
                let answer = try server.get(path)
                let isHarmless = answer.status == 200 || ["invalid_query", "invalid_parameter"].contains(answer.code ?? "")
                #expect(isHarmless, "\(path): \(answer.text)")
                #expect(!reveals(answer.text), "\(path): \(answer.text)")
            }
        }
    }

    @Test func `E12: a class that is not shown is answered for as one that does not exist, by every route`() throws {
        try withPart { server in
            var count = 0
            for route in RouteTable.routes where route.pattern.segments.contains(.variable(.class)) {
                for operation in route.operations {
                    for method in HTTPMethod.allCases
                    where method != .head && method != .options && operation.methods.contains(method) {
                        let body = method == .get || method == .delete ? nil : "{}"
                        let hidden = try server.send(method.rawValue, path(route, "Secret"), body)
                        let none = try server.send(method.rawValue, path(route, "Nobody"), body)
                        #expect(hidden.status == none.status && hidden.status >= 400, "\(method) \(route.pattern.text)")
                        #expect(neutral(hidden, "Secret") == neutral(none, "Nobody"), "\(hidden.text) \(none.text)")
                        count += 1
                    }
                }
            }
            #expect(count >= 15)
            // What names classes in a body or in parameters.
            for (method, path, body) in [
                ("GET", "changes?class=%@", nil), ("GET", "export?class=%@&format=ndjson", nil),
                ("GET", "objects/Person/ann/@links/%@/friend", nil), ("GET", "objects/Person?fields=@links.%@.friend", nil),
                ("GET", "objects/Person?where=@links.%@.friend.@count%20%3E%200", nil),
                ("GET", "changes?class=Person&keyPaths=@links.%@.friend", nil),
                ("POST", "subscriptions", #"{"subscriptions":[{"id":"s","class":"%@"}]}"#),
                ("POST", "batch", #"{"ops":[{"create":{"class":"%@","body":{"code":"new"}}}]}"#),
                ("POST", "batch", #"{"ops":[{"delete":{"class":"%@","key":"x1"}}]}"#),
                ("POST", "batch", #"{"ops":[{"assert":{"class":"%@","key":"x1"}}]}"#),
                ("PATCH", "objects/Person/ann", #"{"mix":{"$link":{"class":"%@","key":"x1"}}}"#),
                ("PATCH", "objects/Person/ann", #"{"dog":{"$link":{"class":"%@","key":"x1"}}}"#),
                ("POST", "query/Person", #"{"where":"mix == $0","args":[{"$link":{"class":"%@","key":"x1"}}]}"#),
                ("POST", "query/Person", #"{"where":"mix == obj('%@','x1')"}"#),
                ("POST", "migrations", PartRowTests.migration(#"{"removeProperty":{"class":"%@","name":"note"}}"#)),
                ("POST", "migrations", PartRowTests.migration(#"{"addClass":{"name":"%@","properties":[]}}"#)),
                (
                    "POST", "migrations",
                    PartRowTests.migration(
                        #"{"addProperty":{"class":"Dog","property":{"name":"s","type":"object","objectType":"%@"}}}"#)
                ),
                ("POST", "backup", #"{"classes":["%@"]}"#),
                ("POST", "import", #"{"$meta":{"class":"%@","key":"x1"},"code":"x1"}"#),
            ] {
                func ask(_ name: String) throws -> HTTPClient.Answer {
                    try server.send(
                        method, "zoo/" + path.replacingOccurrences(of: "%@", with: name),
                        body?.replacingOccurrences(of: "%@", with: name),
                        path == "import" ? [("Content-Type", "application/x-ndjson")] : [])
                }
                let (hidden, none) = (try ask("Secret"), try ask("Nobody"))
                #expect(hidden.status == none.status && hidden.status >= 400, "\(path): \(hidden.text)")
                #expect(neutral(hidden, "Secret") == neutral(none, "Nobody"), "\(path): \(hidden.text) \(none.text)")
            }
        }
    }

    @Test func `E12: a path into a class that is not shown is refused as one to an unknown property`() throws {
        try withPart { server in
            for name in ["note", "code", "nothing"] {
                for path in [
                    "objects/Person?where=boss.\(name)%20%3D%3D%20'x'",
                    "objects/Person?where=ANY%20secrets.\(name)%20%3D%3D%20'x'",
                    "objects/Person?sort=boss.\(name)", "objects/Person?fields=boss.\(name)",
                    "objects/Person?distinct=boss.\(name)",
                    "objects/Person?where=dog.owner.boss.\(name)%20%3D%3D%20'x'",
                    "aggregate/Person?groupBy=boss.\(name)&ops=count",
                    "aggregate/Person?ops=max:boss.\(name)", "objects/Person?facets=boss.\(name)",
                    "objects/Person?sectionBy=boss.\(name)", "objects/Person/ann?fields=secrets.\(name)",
                    "objects/Person?expand=boss", "objects/Person/ann/secrets?fields=\(name)",
                    "objects/Person/ann/secrets?where=\(name)%20%3D%3D%20'x'", "changes?class=Person&keyPaths=boss.\(name)",
                    "changes?class=Person&where=boss.\(name)%20%3D%3D%20'x'",
                ] {
                    let answer = try server.get("zoo/" + path)
                    #expect(answer.status == 400, "\(path): \(answer.text)")
                    #expect(["unknown_key_path", "invalid_query"].contains(answer.code ?? ""), "\(path): \(answer.text)")
                    #expect(!answer.text.contains("Secret"), "\(path): \(answer.text)")
                }
            }
        }
    }

    @Test func `E12: links into a class that is not shown are stubs without class and key`() throws {
        try withPart { server in
            let stub = #"{"$link":{"hidden":true}}"#
            let ann = try server.get("zoo/objects/Person/ann").text
            for member in [
                #""boss":\#(stub)"#, #""secrets":[\#(stub),\#(stub)]"#, #""bossMap":{"first":\#(stub)}"#, #""mix":\#(stub)"#,
            ] { #expect(ann.contains(member), "\(member) in \(ann)") }
            #expect(try server.get("zoo/objects/Person/bob").text.contains(#""boss":null"#))
            #expect(try server.get("zoo/objects/Person?where=boss%20!%3D%20nil").json["items"]?.elements?.count == 1)
            #expect(try server.get("zoo/objects/Person?where=secrets.@count%20%3D%3D%202").json["items"]?.elements?.count == 1)
            #expect(try server.get("zoo/objects/Person/ann/boss").text.contains(#""hidden":true"#))
            let links = try #require(try server.get("zoo/schema/Person").json["properties"]?.elements)
            let boss = try #require(links.first { $0["name"]?.text == "boss" })
            #expect(boss["type"]?.text == "object" && boss["objectType"]?.text == nil)
        }
    }

    @Test func `E12: objects that are not shown are not told apart by groups, facets, distinct rows and orders`() throws {
        try withPart { server in
            // Two more persons with links to the two secrets, and one with two links to the same.
            try server.reattach("")
            func person(_ name: String, _ secret: String) -> String {
                #"{"name":"\#(name)","age":1,"boss":\#(PartRowTests.link(secret)),"mix":\#(PartRowTests.link(secret)),"#
                    + #""bossMap":{"first":\#(PartRowTests.link(secret))}}"#
            }
            try server.done("POST", "zoo/objects/Person", "[" + person("cid", "x2") + "," + person("dan", "x1") + "]")
            try server.reattach(#","classes":["Person","Dog"]"#)
            let hidden = #"{"$link":{"hidden":true}}"#
            for path in ["boss", "mix", "bossMap.first", "dog.owner.boss"] {
                let groups = try server.get("zoo/aggregate/Person?groupBy=\(path)&ops=count,sum:age&sort=-count").json["groups"]
                let keys = (groups?.elements ?? []).compactMap { $0["key"]?[path]?.serialized }
                #expect(keys.filter { $0 == hidden }.count == 1, "\(path): \(keys)")
                guard path != "dog.owner.boss" else { continue }
                let one = groups?.elements?.first { $0["key"]?[path]?.serialized == hidden }
                #expect(one?["count"]?.int == 3 && one?["sum:age"]?.int == 42, "\(path): \(String(describing: groups))")
                let facets = try server.get("zoo/objects/Person?facets=\(path)").json["facets"]?[path]?.elements ?? []
                #expect(facets.filter { $0["value"]?.serialized == hidden }.compactMap { $0["count"]?.int } == [3], "\(facets)")
                let distinct = try server.get("zoo/objects/Person?distinct=\(path)&count=exact")
                #expect(distinct.json["count"]?.int == 2, "\(distinct.text)")
                // Rows with equal values are in the order of their keys.
                let sorted = try server.get("zoo/objects/Person?where=boss%20!%3D%20nil&sort=\(path)")
                #expect(
                    sorted.json["items"]?.elements?.compactMap { $0["name"]?.text } == ["ann", "cid", "dan"], "\(sorted.text)")
                let first = try server.get("zoo/objects/Person?where=boss%20!%3D%20nil&sort=-\(path)&limit=2")
                let next = try #require(first.json["next"]?.text)
                let second = try server.get("zoo/objects/Person?where=boss%20!%3D%20nil&sort=-\(path)&limit=2&after=\(next)")
                let names = [first, second].flatMap { $0.json["items"]?.elements?.compactMap { $0["name"]?.text } ?? [] }
                #expect(names == ["ann", "cid", "dan"], "\(names)")
            }
            let list = try server.get("zoo/objects/Person/ann/secrets/@aggregate?groupBy=self")
            #expect(list.json["groups"]?.elements?.compactMap { $0["count"]?.int } == [2], "\(list.text)")
            #expect(try server.get("zoo/objects/Person/ann/secrets?distinct=self").json["items"]?.elements?.count == 1)
            let facets = try server.get("zoo/objects/Person/ann/secrets?facets=self").json["facets"]?["self"]
            #expect(facets?.elements?.compactMap { $0["count"]?.int } == [2])
            for name in ["bob", "nobody"] {
                let section = try server.get("zoo/objects/Person?sectionBy=boss&where=name%20%3D%3D%20'\(name)'")
                #expect(section.status == 400 && section.code == "invalid_parameter", "\(section.text)")
            }
        }
    }

    @Test func `E12: linking objects of classes that are not shown are not counted`() throws {
        try withPart { server in
            let schema = try server.get("zoo/schema/Dog").json
            #expect(schema["backlinks"]?.elements?.compactMap { $0["class"]?.text } == ["Person", "Person"])
            #expect(try server.get("zoo/objects/Dog?where=@links.@count%20%3D%3D%202").json["items"]?.elements?.count == 1)
            // An address in another class has no list to be found in, and its links lead nowhere that is shown.
            #expect(try server.get("zoo/objects/Address").code == "class_not_found")
            #expect(try server.get("zoo/objects/Person/ann/@links/Address/resident").status == 404)
            #expect(try server.get("zoo/objects/Person/ann").json["home"]?["city"]?.text == "Oslo")
        }
    }

    // MARK: - Writing

    @Test func `E12: what is not shown is untouched by writes, but deletes nullify links and cascade`() throws {
        try withPart { server in
            for body in [
                #"{"boss":"x2"}"#, #"{"boss":{"$link":{"hidden":true}}}"#, #"{"boss":{"code":"x9"}}"#, #"{"secrets":["x2"]}"#,
            ] {
                let answer = try server.send("PATCH", "zoo/objects/Person/bob", body)
                #expect(answer.status == 422 && !answer.text.contains("Secret"), "\(body): \(answer.text)")
            }
            try server.done("PATCH", "zoo/objects/Person/ann", #"{"boss":null,"age":50}"#)
            try server.done("DELETE", "zoo/objects/Dog/rex")
            try server.done("DELETE", "zoo/objects/Person/bob")
            try server.done("DELETE", "zoo/objects?confirm=all")
            try server.reattach("")
            let items = try #require(try server.get("zoo/objects/Secret").json["items"]?.elements)
            #expect(items.count == 2 && items.allSatisfy { $0["note"]?.text == "hush" })
            #expect(items.allSatisfy { $0["dog"]?["$link"] == nil && $0["friend"]?["$link"] == nil })
            #expect(items.allSatisfy { $0["home"]?["city"]?.text == "Bergen" && $0["den"]?["size"]?.int == 3 })
            // The addresses of persons went with them; those of secrets did not.
            #expect(try server.get("zoo/objects/Address?count=exact").json["count"]?.int == 2)
            #expect(try server.get("zoo/objects/Person").json["items"]?.elements?.isEmpty == true)
        }
    }

    @Test func `E12: the classes of a part cannot be added, renamed or removed, but their properties change`() throws {
        try withPart { server in
            for step in [
                #"{"addClass":{"name":"Secret","properties":[]}}"#, #"{"addClass":{"name":"Cat","properties":[]}}"#,
                #"{"renameClass":{"name":"Dog","to":"Secret"}}"#, #"{"removeClass":{"name":"Dog"}}"#,
                #"{"setType":{"class":"Dog","type":"embedded"}}"#, #"{"removeProperty":{"class":"Address","name":"city"}}"#,
                #"{"set":{"class":"Address","where":"TRUEPREDICATE","values":{"city":"x"}}}"#,
                #"{"changeProperty":{"class":"Person","name":"boss","type":"string"}}"#,
                #"{"set":{"class":"Person","where":"name == 'ann'","values":{"alias":{"$expr":"boss.note"}}}}"#,
            ] {
                let answer = try server.send("POST", "zoo/migrations", PartRowTests.migration(step))
                #expect(answer.status == 422 || answer.status == 400, "\(step): \(answer.text)")
                #expect(!reveals(answer.text), "\(answer.text)")
            }
            let added = #"{"addProperty":{"class":"Dog","property":{"name":"age","type":"int"},"value":4}}"#
            let answer = try server.send("POST", "zoo/migrations", #"{"fromVersion":1,"toVersion":7,"steps":[\#(added)]}"#)
            #expect(answer.status == 200 && !reveals(answer.text), "\(answer.text)")
            #expect(try server.get("zoo/objects/Dog/rex").json["age"]?.int == 4)
        }
    }

    @Test func `E12: commits that change only what is not shown have no change sets; others have no hidden names`() throws {
        try withPart { server in
            let start = try #require(try server.get("zoo/changes").json["next"]?.text)
            try server.done("PATCH", "zoo/objects/Person/ann", #"{"age":51,"boss":null}"#)
            try server.done("DELETE", "zoo/objects/Dog/rex")
            let realm = try server.get("zoo/changes?since=\(start)&wait=5")
            let list = try server.get("zoo/changes?class=Person&key=ann&property=secrets")
            #expect(list.status == 200 && list.text.contains(#""hidden":true"#) && !reveals(list.text), "\(list.text)")
            #expect(try server.get("zoo/changes?class=Person&key=ann&property=boss").status == 400)
            #expect(realm.text.contains(#""Person""#) && !reveals(realm.text), "\(realm.text)")
            let database = try server.database("zoo")
            #expect(database.current.snapshot.part != nil)
            #expect(database.current.snapshot.whole.classTable(named: "Secret")?.count == 2)
        }
    }

    // MARK: - Files

    @Test func `E12: copies of a part have its classes only; the file and its backups are whole`() throws {
        try withPart { server in
            for (method, body) in [("GET", nil), ("POST", "{}")] {
                let copy = try server.send(method, "zoo/backup", body)
                #expect(copy.status == 200)
                let file = try TemporaryRealm()
                try file.write(copy.body)
                let snapshot = try Snapshot(file: try RealmFile(path: file.path))
                #expect(snapshot.classes.compactMap(\.className).sorted() == ["Address", "Dog", "Person"])
                #expect(snapshot.classTable(named: "Address")?.count == 1)
                #expect(!String(decoding: copy.body, as: UTF8.self).contains("hush"))
            }
            try server.done("POST", "zoo/compact")
            let made = try server.done("POST", "zoo/backups")
            let id = try #require(made.json["id"]?.text)
            try server.done("DELETE", "zoo/objects?confirm=all")
            try server.done("POST", "zoo/restore", #"{"backup":"\#(id)"}"#)
            #expect(try server.get("zoo/objects/Person").json["items"]?.elements?.count == 2)
            #expect(try server.get("zoo/objects/Secret").code == "class_not_found")
            try server.reattach("")
            #expect(try server.get("zoo/objects/Secret").json["items"]?.elements?.count == 2)
        }
    }

    @Test(arguments: ["rw", "ro", "copy", "follow"])
    func `E31: every mode shows a part`(_ mode: String) throws {
        try withPart { server in
            try server.reattach(#","mode":"\#(mode)","classes":["Person"]"#)
            #expect(try server.get("zoo").json["options"]?["classes"]?.elements?.compactMap(\.text) == ["Person"])
            let classes = try server.get("zoo/schema").json["classes"]?.elements
            #expect(classes?.compactMap { $0["name"]?.text } == ["Address", "Person"])
            #expect(try server.get("zoo/objects/Dog").code == "class_not_found")
            #expect(try server.get("zoo/objects/Person/ann").text.contains(#""dog":{"$link":{"hidden":true}}"#))
            if mode == "rw" || mode == "copy" { try server.done("PATCH", "zoo/objects/Person/ann", #"{"age":1}"#) }
        }
    }

    @Test func `E31: a configuration file names the classes of a realm, and config show tells them`() throws {
        try withPart { server in
            try server.done("DELETE", "zoo")
            var configuration = Configuration()
            let text = "listen: {port: 0}\nrealms: {zoo: {path: zoo.realm, classes: [Person]}}\n"
            try configuration.apply(text: text, ofFile: server.folder + "/realm-rest.yaml")
            var options = configuration.options
            options.port = 0
            options.logFormat = nil
            let other = try RealmServer(options)
            try other.start()
            defer { other.stop() }
            let answer = try HTTPClient.request(port: other.daemon.socket.port, "GET", "/v1/realms/zoo/schema")
            #expect(answer.json["classes"]?.elements?.compactMap { $0["name"]?.text } == ["Address", "Person"], "\(answer.text)")
            #expect(configuration.description.contains { $0.contains("classes") && $0.contains("Person") })
        }
    }

    @Test func `E12: classes that do not exist are refused, and so are combinations without sense`() throws {
        try withPart { server in
            try server.done("DELETE", "zoo")
            let path = server.folder + "/zoo.realm"
            func attach(_ members: String) throws -> HTTPClient.Answer {
                try server.attach(#"{"name":"zoo",\#(members)}"#)
            }
            let unknown = try attach(#""path":"\#(path)","classes":["Dog","Nobody"]"#)
            #expect(unknown.status == 422 && unknown.code == "invalid_schema", "\(unknown.text)")
            #expect(unknown.json["pointer"]?.text == "/classes/1" && !reveals(unknown.text))
            #expect(try attach(#""path":"\#(path)","classes":[]"#).code == "invalid_body")
            #expect(try attach(#""path":"\#(path)","classes":["Dog",3]"#).json["pointer"]?.text == "/classes/1")
            #expect(try attach(#""inMemory":"m","classes":["Dog"]"#).code == "conflicting_parameters")
            let linking = try attach(#""path":"\#(path)","classes":["Person"],"backlinkNames":{"Person":{"f":"Secret.friend"}}"#)
            #expect(linking.code == "invalid_schema", "\(linking.text)")
            let conditional = try attach(#""path":"\#(path)","classes":["Person"],"requireIfMatch":["Secret"]"#)
            #expect(conditional.code == "invalid_schema", "\(conditional.text)")
            #expect(try attach(#""path":"\#(path)","classes":["Dog"]"#).status == 201)
        }
    }

    // MARK: - Support

    /// Runs a test with a realm `zoo` of which the classes `Person` and `Dog` are shown.
    private func withPart(_ body: (WriteServer) throws -> Void) throws {
        try withWriteServer { (server: WriteServer) throws in
            let made = try server.attach(#"{"name":"zoo","schema":\#(PartRowTests.schema)}"#)
            #expect(made.status == 201, "\(made.text)")
            try server.done("POST", "zoo/batch", PartRowTests.objects)
            try server.reattach(#","classes":["Person","Dog"]"#)
            try body(server)
        }
    }

    /// Whether a text has anything that belongs to a hidden class.
    private func reveals(_ text: String) -> Bool {
        ["Secret", "hush", "Den", "friend", "x1", "Bergen"].contains { text.contains($0) }
    }

    /// The parts of a problem that may depend on the request, with the name in it replaced.
    private func neutral(_ answer: HTTPClient.Answer, _ name: String) -> String {
        var text = answer.text.replacingOccurrences(of: name, with: "?")
        for member in ["requestId", "instance"] {
            guard let value = answer.json[member]?.text else { continue }
            text = text.replacingOccurrences(of: value.replacingOccurrences(of: name, with: "?"), with: "!")
        }
        return text
    }

    /// A path of a route, with a class.
    private func path(_ route: Route, _ className: String) -> String {
        route.pattern.text.replacingOccurrences(of: "/v1/realms/{realm}", with: "zoo")
            .replacingOccurrences(of: "{class}", with: className).replacingOccurrences(of: "{key}", with: "x1")
            .replacingOccurrences(of: "{property}", with: "note").replacingOccurrences(of: "{originClass}", with: "Person")
            .replacingOccurrences(of: "{originProperty}", with: "boss")
    }

    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Address","type":"embedded","properties":[{"name":"city","type":"string"},
          {"name":"resident","type":"object","objectType":"Person"}]},
        {"name":"Den","type":"embedded","properties":[{"name":"size","type":"int"}]},
        {"name":"Dog","primaryKey":"name","properties":[{"name":"name","type":"string"},
          {"name":"owner","type":"object","objectType":"Person"}]},
        {"name":"Person","primaryKey":"name","properties":[{"name":"name","type":"string"},{"name":"age","type":"int"},
          {"name":"alias","type":"string","optional":true},{"name":"mix","type":"mixed"},
          {"name":"boss","type":"object","objectType":"Secret"},
          {"name":"bossMap","type":"object","objectType":"Secret","collection":"dictionary"},
          {"name":"dog","type":"object","objectType":"Dog"},
          {"name":"dogs","type":"object","objectType":"Dog","collection":"list"},
          {"name":"home","type":"object","objectType":"Address"},
          {"name":"secrets","type":"object","objectType":"Secret","collection":"list"}]},
        {"name":"Secret","primaryKey":"code","properties":[{"name":"code","type":"string"},{"name":"note","type":"string"},
          {"name":"den","type":"object","objectType":"Den"},{"name":"dog","type":"object","objectType":"Dog"},
          {"name":"friend","type":"object","objectType":"Person"},{"name":"home","type":"object","objectType":"Address"}]}]}
        """

    /// A migration of one step, which may lose data.
    private static func migration(_ step: String) -> String {
        #"{"fromVersion":1,"toVersion":7,"allowDataLoss":true,"steps":[\#(step)]}"#
    }

    /// A link to a secret of that key.
    private static func link(_ key: String) -> String { #"{"$link":{"class":"Secret","key":"\#(key)"}}"# }

    /// The creation of an object of the hidden class.
    private static func secret(_ key: String) -> String {
        #"{"create":{"class":"Secret","body":{"code":"\#(key)","note":"hush","den":{"size":3},"home":{"city":"Bergen"}}}},"#
    }

    private static let ann =
        #"{"name":"ann","age":40,"boss":\#(link("x1")),"secrets":[\#(link("x1")),\#(link("x2"))],"#
        + #""bossMap":{"first":\#(link("x2"))},"mix":\#(link("x1")),"dog":"rex","dogs":["rex"],"home":{"city":"Oslo"}}"#

    private static let objects =
        #"{"ops":["# + secret("x1") + secret("x2") + #"{"create":{"class":"Dog","body":{"name":"rex"}}},"#
        + #"{"create":{"class":"Person","body":\#(ann)}},{"create":{"class":"Person","body":{"name":"bob","age":20}}},"#
        + #"{"patch":{"class":"Dog","key":"rex","body":{"owner":"ann"}}},"#
        + #"{"patch":{"class":"Secret","key":"x1","body":{"friend":"ann","dog":"rex"}}},"#
        + #"{"patch":{"class":"Secret","key":"x2","body":{"friend":"bob","dog":"rex"}}}]}"#
}

extension WriteServer {
    /// Detaches the realm `zoo` and attaches its file again, with further members.
    fileprivate func reattach(_ members: String) throws {
        try done("DELETE", "zoo")
        let answer = try attach(#"{"name":"zoo","path":"\#(folder)/zoo.realm"\#(members)}"#)
        guard answer.status == 201 else { throw Damaged(description: answer.text) }
    }
}

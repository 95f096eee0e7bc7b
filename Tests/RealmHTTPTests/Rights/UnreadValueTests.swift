// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Writes by a role that may change objects and read none: the answers are the same whatever is stored.
///
/// `move` of a JSON Patch named the keys of stored dictionaries in its problems, and a read-only property of an embedded object was
/// accepted with its present value alone.
@Suite struct UnreadValueTests {
    private static let roles = """
        roles:
          deaf:
            realms:
              "*":
                import: true
                transactions: true
                classes:
                  A: {allow: [create, update, import], fields: {readOnly: [fixed]}}
                  E: {allow: [create, update], fields: {readOnly: [z]}}
                  G: [create]
        """
    private static let classes = """
        {"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"s","type":"string","optional":true},
        {"name":"i","type":"int","optional":true},{"name":"fixed","type":"string","optional":true},{"name":"m","type":"mixed"},
        {"name":"md","type":"mixed","collection":"dictionary"},{"name":"ds","type":"string","collection":"dictionary"},
        {"name":"li","type":"int","collection":"list"},{"name":"si","type":"int","collection":"set"},
        {"name":"g","type":"object","objectType":"G"},{"name":"e","type":"object","objectType":"E"},
        {"name":"es","type":"object","collection":"list","objectType":"E"},
        {"name":"ed","type":"object","collection":"dictionary","objectType":"E"}]},
        {"name":"E","type":"embedded","properties":[{"name":"x","type":"int","optional":true},{"name":"z","type":"string","optional":true}]},
        {"name":"G","primaryKey":"k","properties":[{"name":"k","type":"string"}]}
        """
    private static let stored = [
        "p": """
        {"id":1,"s":"hunter2","i":7,"fixed":"a","m":{"salary":5,"x":1},"md":{"pin":"0000"},"ds":{"k":"v"},"li":[1,2],"si":[3],
        "e":{"x":1,"z":"q"},"es":[{"x":1,"z":"q"}],"ed":{"k":{"x":1,"z":"q"}}}
        """,
        "q": #"{"id":1,"s":null,"fixed":"b","m":[4]}"#,
    ]

    /// A request that changes the object, as its path below the realm, its body and its type.
    private struct Change {
        let method: String
        let path: String
        let body: String
        let type: String

        static func random(_ random: inout SeededGenerator) -> Change {
            func one(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
            let values = [
                "null", "1", #""hunter2""#, #""q""#, "[]", "[1,2]", "{}", #"{"x":1}"#, #"{"x":1,"z":"q"}"#, #"{"x":2,"z":"r"}"#,
                #"{"k":"v"}"#, #"[{"x":1,"z":"q"}]"#, #"{"k":{"x":1,"z":"q"}}"#, #"{"salary":5,"x":1}"#, #""a""#,
            ]
            let names = ["s", "i", "fixed", "m", "md", "ds", "li", "si", "g", "e", "es", "ed", "none"]
            let inner = ["", "", "/0", "/1", "/2", "/-", "/k", "/x", "/z", "/pin", "/salary", "/0/x", "/0/z", "/k/z"]
            func pointer() -> String { "/" + one(names) + one(inner) }
            func edit() -> String {
                switch one(["add", "remove", "replace", "move", "copy", "test"]) {
                case let word where word == "remove": #"{"op":"remove","path":"\#(pointer())"}"#
                case let word where word == "move" || word == "copy":
                    #"{"op":"\#(word)","from":"\#(pointer())","path":"\#(pointer())"}"#
                case let word: #"{"op":"\#(word)","path":"\#(pointer())","value":\#(one(values))}"#
                }
            }
            let (name, value, dry) = (one(names), one(values), one(["", "dryRun=true"]))
            let member = #""\#(name)":\#(value)"#
            let object = "objects/A/1"
            return switch Int.random(in: 0..<9, using: &random) {
            case 0...2: Change("PATCH", "\(object)?\(dry)", "[\(edit())]", "application/json-patch+json")
            case 3: Change("PATCH", "\(object)?\(dry)", "{\(member)}", "application/merge-patch+json")
            case 4: Change("PUT", "\(object)?\(dry)", #"{"id":1,\#(member)}"#)
            case 5: Change("PUT", "\(object)/\(name)?\(dry)", value)
            case 6: Change("POST", "objects/A?upsert=modified&nested=upsert&\(dry)", #"{"id":1,\#(member)}"#)
            case 7: Change("POST", "import?class=A&mode=upsert&\(dry)", #"{"id":1,\#(member)}"#, "application/x-ndjson")
            default:
                Change(
                    "POST", "batch?\(dry)",
                    #"{"ops":[{"create":{"class":"G","body":{"k":"hunter2"}}},{"patch":{"class":"A","key":"1","body":[\#(edit()),\#(edit())]}}]}"#
                )
            }
        }

        init(_ method: String, _ path: String, _ body: String, _ type: String = "application/json") {
            (self.method, self.path, self.body, self.type) = (method, path, body, type)
        }
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 30))
    func `an answer to a write does not depend on what is stored`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let server = try KeyServer(statingRoles: Self.roles) { $0.memoryRealms = ["p", "q"] }
        let admin = try server.add("admin")
        for realm in Self.stored.keys.sorted() { try server.attach(realm, Self.classes, admin) }
        let deaf = try server.add("deaf", roles: ["deaf"])
        var accepted = 0
        for _ in 0..<200 {
            let change = Change.random(&random)
            let answers = try Self.stored.sorted { $0.key < $1.key }.map { realm, object in
                _ = try server.request("DELETE", "/v1/realms/\(realm)/objects/G?where=TRUEPREDICATE", admin)
                let stored = try server.request("PUT", "/v1/realms/\(realm)/objects/A/1", admin, body: object)
                #expect(stored.status < 300, "\(stored.text)")
                let answer = try server.request(
                    change.method, "/v1/realms/\(realm)/\(change.path)", deaf, [("Content-Type", change.type)], body: change.body)
                let isNew = try server.request("GET", "/v1/realms/\(realm)", admin)["Realm-Version"] != stored["Realm-Version"]
                return (answer, isNew)
            }
            let texts = answers.map { answer, isNew in
                let parts = ["code", "detail", "pointer", "op"].map { answer.json[$0]?.canonical ?? "" }
                return "\(answer.status) \(parts.joined(separator: " ")) \(isNew)"
            }
            #expect(texts[0] == texts[1], "seed \(seed): \(change)")
            if answers[0].0.status < 300 { accepted += 1 }
        }
        #expect(accepted > 10, "seed \(seed): \(accepted)")
    }
}

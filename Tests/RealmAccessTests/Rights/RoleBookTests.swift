// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
@testable import RealmAccess
import RealmFormats
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Roles in the configuration: what they may say, and which realms and classes they are for.
@Suite struct RoleBookTests {
    /// The roles that the specification shows.
    private static let example = """
        roles:
          viewer:  {realms: {"*": {classes: {"*": [read, subscribe]}}}}
          clerk:
            realms:
              "shop-*":
                classes:
                  Order:    {allow: [read, create, update, subscribe], where: "owner == $claims.sub", check: "total < 1000", fields: {hide: [margin], readOnly: [status]}}
                  Product:  [read]
                transactions: true
                export: false
          anonymous: {}
          admin: {administer: true}
        """

    @Test func `the roles of the specification mean what they say`() throws {
        let book = try RightsSamples.book(Self.example)
        #expect(book.names == ["admin", "anonymous", "clerk", "read", "viewer"])
        let viewer = book.rights(of: try RightsSamples.holder("viewer"), in: "any")
        #expect(viewer.actions(on: "Dog") == [.read, .subscribe] && !viewer.mayUseTransactions && !viewer.mayExport)
        #expect(viewer.alternatives(on: "Dog", for: .read) == nil && !viewer.administers && !viewer.isNothing)
        let ann = try RightsSamples.holder("clerk", claims: #"{"sub":"ann"}"#)
        let clerk = book.rights(of: ann, in: "shop-1")
        #expect(clerk.actions(on: "Order") == [.read, .create, .update, .subscribe])
        #expect(clerk.actions(on: "Product") == [.read] && clerk.actions(on: "Person") == [])
        #expect(clerk.hidden(on: "Order") == ["margin"] && clerk.readOnly(on: "Order") == ["status"])
        #expect(clerk.alternatives(on: "Order", for: .read)?.count == 1 && clerk.checks(on: "Order", for: .update)?.count == 1)
        #expect(clerk.checks(on: "Order", for: .read) == nil && clerk.checks(on: "Order", for: .delete)?.isEmpty == true)
        #expect(clerk.mayUseTransactions && !clerk.mayExport && !clerk.mayMigrate && !clerk.mayImport)
        #expect(book.rights(of: ann, in: "shop").isNothing && book.rights(of: ann, in: "Shop-1").isNothing)
        #expect(book.rights(of: try RightsSamples.holder("anonymous"), in: "shop-1").isNothing)
        #expect(book.rights(of: try RightsSamples.holder("nobody"), in: "shop-1").isNothing)
        #expect(book.rights(of: try RightsSamples.holder(), in: "shop-1").isNothing)
    }

    @Test func `administrators may do everything, and in one realm only with a restriction`() throws {
        for book in [RoleBook(), try RightsSamples.book(Self.example)] {
            let admin = book.rights(of: try RightsSamples.holder("admin"), in: "x")
            #expect(admin.administers && admin.isWhole && admin.mayMigrate && admin.mayImport && admin.mayExport)
            #expect(admin.actions(on: "A") == RightsAction.ofClasses && admin.alternatives(on: "A", for: .delete) == nil)
            let restricted = try RightsSamples.holder("admin", realm: "x")
            let inside = book.rights(of: restricted, in: "x")
            #expect(inside.isWhole && !inside.administers && !book.administers(restricted))
            #expect(inside.identity != admin.identity)
            for other in ["y", "X", "x ", ""] { #expect(book.rights(of: restricted, in: other).isNothing) }
            #expect(book.administers(try RightsSamples.holder("nothing", "admin")))
            for other in ["Admin", "admin ", "administer", ""] {
                #expect(!book.administers(try RightsSamples.holder(other)), "\(other)")
            }
        }
    }

    @Test func `strangers of an insecure server read, and nothing else`() throws {
        let rights = RoleBook().rights(of: try RightsSamples.holder("read"), in: "x")
        #expect(rights.actions(on: "A") == [.read, .subscribe, .export] && rights.mayExport)
        #expect(!rights.administers && !rights.mayUseTransactions && !rights.mayImport && !rights.mayMigrate)
    }

    /// The sign for kelvin is canonically equivalent to the letter K, so Swift takes the two for equal.
    @Test func `names that only look equal are others`() throws {
        let book = try RightsSamples.book(
            """
            roles:
              Kin: {realms: {K: {classes: {"*": [read]}}, $claims.realm: {classes: {"*": [read]}}}}
            """)
        #expect(!book.rights(of: try RightsSamples.holder("Kin"), in: "K").isNothing)
        #expect(book.rights(of: try RightsSamples.holder("\u{212A}in"), in: "K").isNothing)
        #expect(!book.has("\u{212A}in") && book.has("Kin"))
        #expect(book.rights(of: try RightsSamples.holder("Kin"), in: "\u{212A}").isNothing)
        #expect(book.rights(of: try RightsSamples.holder("Kin", claims: #"{"realm":"\u212A2"}"#), in: "K2").isNothing)
        #expect(!book.rights(of: try RightsSamples.holder("Kin", claims: #"{"realm":"K2"}"#), in: "K2").isNothing)
        #expect(book.rights(of: try RightsSamples.holder("Kin", realm: "\u{212A}"), in: "K").isNothing)
    }

    // MARK: - Patterns

    /// Whoever may name classes could take one out of the rules of others with a mark behind the beginning.
    @Test(arguments: ["geheim1", "geheim\u{301}x", "geheim\u{200d}2", "geheim\u{fe0f}y"])
    func `a beginning of names is one of bytes`(_ name: String) throws {
        let book = try RightsSamples.book(
            """
            roles:
              r: {realms: {K: {classes: {"geheim*": [], "*": [read]}}}}
            """)
        let rights = book.rights(of: try RightsSamples.holder("r"), in: "K")
        #expect(rights.actions(on: name).isEmpty && rights.actions(on: "geheiM") == [.read])
    }

    @Test(
        arguments: [
            (#"{"realms":["a","b"]}"#, ["a", "b"]), (#"{"realms":"a"}"#, ["a"]), (#"{"realms":["*"]}"#, []),
            (#"{"realms":"*"}"#, []), (#"{"realms":["a*","shop"]}"#, ["shop"]), (#"{"realms":{"a":"a"}}"#, []),
            (#"{"realms":[["a"],{"b":1},null,7,true,"b"]}"#, ["b"]), (#"{"realms":null}"#, []), (#"{"realms":""}"#, []),
            (#"{"sub":"7"}"#, ["user-7"]), (#"{"sub":7}"#, []), (#"{"sub":"*"}"#, []), (#"{"sub":""}"#, []),
            (#"{"sub":["7","a-b"]}"#, ["user-7", "user-a-b"]), (#"{"sub":"-"}"#, []),
            (#"{"Realms":["a"]}"#, []), ("{}", []),
        ] as [(String, [String])])
    func `a claim names realms`(_ claims: String, _ expected: [String]) throws {
        let book = try RightsSamples.book(
            """
            roles:
              r: {realms: {$claims.realms: {classes: {A: [read]}}, user-$claims.sub: {classes: {A: [read]}}}}
            """)
        let holder = try RightsSamples.holder("r", claims: claims)
        let names = ["a", "b", "ab", "shop", "user-7", "user-a-b", "user-", "user"]
        #expect(names.filter { !book.rights(of: holder, in: $0).isNothing } == expected)
    }

    @Test func `the narrowest pattern of a role counts, and roles add up`() throws {
        let book = try RightsSamples.book(
            """
            roles:
              r:
                realms:
                  "*": {classes: {"*": [read]}, export: true}
                  "shop-*": {classes: {"*": [read, update], "Or*": [create], Order: [delete], Hidden: []}}
                  "shop-eu-*": {classes: {A: [read]}}
                  shop-1: {}
              s: {realms: {"*": {classes: {A: [subscribe]}, transactions: true}}}
            """)
        func actions(_ realm: String, _ name: String, _ roles: String...) throws -> Set<RightsAction> {
            book.rights(of: RightsHolder(roles: roles), in: realm).actions(on: name)
        }
        #expect(try actions("x", "A", "r") == [.read] && actions("shop-2", "A", "r") == [.read, .update])
        #expect(try actions("shop-2", "Ore", "r") == [.create] && actions("shop-2", "Order", "r") == [.delete])
        #expect(try actions("shop-2", "Hidden", "r") == [] && actions("shop-eu-1", "B", "r") == [])
        #expect(try actions("shop-eu-1", "A", "r") == [.read] && actions("shop-1", "A", "r") == [])
        #expect(try actions("shop-1", "A", "r", "s") == [.subscribe] && actions("x", "A", "s", "r", "s") == [.read, .subscribe])
        #expect(book.rights(of: RightsHolder(roles: ["r"]), in: "shop-1").isNothing)
        let both = book.rights(of: RightsHolder(roles: ["r", "s"]), in: "x")
        #expect(both.mayExport && both.mayUseTransactions)
        #expect(!book.rights(of: RightsHolder(roles: ["r", "s"]), in: "shop-1").mayExport)
    }

    @Test func `transactions alone are no right`() throws {
        let book = try RightsSamples.book(
            """
            roles:
              r: {realms: {a: {transactions: true, showHiddenLinks: false}, b: {migrate: true}, c: {import: true}, d: {classes: {A: []}}}}
            """)
        func rights(_ realm: String) -> RealmRights { book.rights(of: RightsHolder(roles: ["r"]), in: realm) }
        #expect(rights("a").isNothing && !rights("b").isNothing && !rights("c").isNothing && rights("d").isNothing)
        #expect(!rights("a").showsHiddenLinks && rights("b").mayMigrate && rights("c").mayImport)
    }

    // MARK: - Errors

    /// The beginning of a configuration with a class, in whose third line the value follows.
    private static func inClass(_ value: String) -> String { "roles:\n  r:\n    realms: {app: {classes: {A: \(value)}}}" }

    @Test(
        arguments: [
            ("roles: [a]", "1: expected an object, got an array"),
            ("roles:\n  r: [read]", "2: expected an object, got an array"),
            ("roles:\n  r:", "2: expected an object, got null"),
            ("roles:\n  r: {}\n  r: {}", "2: 'r' is stated twice here"),
            ("roles:\n  a b: {}", "2: a name of a role has 1 to 64 letters, digits, '.', '_', ':' and '-'"),
            ("roles:\n  \"\": {}", "2: a name of a role has 1 to 64 letters, digits, '.', '_', ':' and '-'"),
            ("roles:\n  \"\\u212Ain\": {}", "2: a name of a role has 1 to 64 letters, digits, '.', '_', ':' and '-'"),
            ("roles:\n  admin: {}", "2: 'admin' is the role of administrators, and must say 'administer: true'"),
            (
                "roles:\n  admin: {administer: false}",
                "2: 'admin' is the role of administrators, and must say 'administer: true'"
            ),
            (
                "roles:\n  admin: {realms: {app: {classes: {A: [read]}}}}",
                "2: 'admin' is the role of administrators, and must say 'administer: true'"
            ),
            ("roles:\n  read: {}", "2: 'read' is built in, with the right to read everything: choose another name"),
            ("roles:\n  r:\n    administer: 1", "3: expected true or false, got a number"),
            ("roles:\n  r:\n    realm: {}", "3: there is no 'realm' here; did you mean 'realms'?"),
            ("roles:\n  r:\n    quota: {}", "3: there is no 'quota' here"),
            ("roles:\n  r:\n    realms:\n      app: [read]", "4: expected an object, got an array"),
            ("roles:\n  r:\n    realms:\n      app:\n        class: {}", "5: there is no 'class' here; did you mean 'classes'?"),
            ("roles:\n  r:\n    realms:\n      app:\n        export: yes", "5: expected true or false, got a string"),
            (
                "roles:\n  r:\n    realms:\n      app:\n        showHiddenLinks: true",
                "5: 'showHiddenLinks: true' is not available: links to objects that a role does not see are null, and left out of lists and sets"
            ),
            ("roles:\n  r:\n    realms:\n      app:\n        classes: [A]", "5: expected an object, got an array"),
            (inClass("read"), "3: expected a list of actions or an object, got a string"),
            (inClass("null"), "3: expected a list of actions or an object, got null"),
            (
                inClass("[raed]"),
                "3: 'raed' must be one of: read, create, update, delete, subscribe, export, import; did you mean 'read'?"
            ),
            (
                inClass("[Read]"),
                "3: 'Read' must be one of: read, create, update, delete, subscribe, export, import; did you mean 'read'?"
            ),
            (inClass("[\"*\"]"), "3: '*' must be one of: read, create, update, delete, subscribe, export, import"),
            (inClass("[1]"), "3: expected a string, got a number"),
            (inClass("[migrate]"), "3: 'migrate' is a right in a whole realm: write 'migrate: true' next to 'classes'"),
            (inClass("[administer]"), "3: 'administer' is a right in the whole server: write 'administer: true' in the role"),
            (inClass("{where: \"a == 1\"}"), "3: 'allow' is missing"),
            (inClass("{allow: read}"), "3: expected a list, got a string"),
            (inClass("{allow: [read], were: x}"), "3: there is no 'were' here; did you mean 'where'?"),
            (inClass("{allow: [read], where: 5}"), "3: expected a string, got a number"),
            (inClass("{allow: [read], where: null}"), "3: expected a string, got null"),
            (inClass("{allow: [read], check: \"a == 1\"}"), "3: 'check' is for create and update, of which 'allow' has none"),
            (inClass("{allow: [read], fields: [a]}"), "3: expected an object, got an array"),
            (inClass("{allow: [read], fields: {hidden: [a]}}"), "3: there is no 'hidden' here; did you mean 'hide'?"),
            (inClass("{allow: [read], fields: {hide: a}}"), "3: expected a list, got a string"),
            (inClass("{allow: [read], fields: {hide: [\"\"]}}"), "3: expected the name of a property"),
            (
                "roles:\n  r:\n    realms:\n      app:\n        classes:\n          A:\n            allow: [read]\n            where: a === 1",
                "8: syntax error at 4: unexpected '='; equality is written == or ="
            ),
            (
                "roles:\n  r:\n    realms:\n      app:\n        classes:\n          A:\n            allow: [update]\n            check: a == $0",
                "8: syntax error at 5: a rule has no arguments such as $0, but claims such as $claims.sub"
            ),
        ] as [(String, String)])
    func `an error names its line`(_ yaml: String, _ expected: String) throws {
        #expect(try RightsSamples.refusal(yaml) == expected)
    }

    @Test(arguments: [
        "", "a b", ".app", "a/b", "*a", "a*b", "a**", "$", "$claims", "$claims.", "$claim.x", "$Claims.x", "a$b",
        "$claims.a$claims.b", "$claims.a-*", "$claims.a*", "/$claims.a", "$claims.a/b", "\u{e9}", "a\u{0}",
        "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg",
    ])
    func `what is no pattern of realms is refused`(_ pattern: String) throws {
        let text = String(decoding: Array(pattern.utf8).flatMap { $0 == 0 ? Array("\\0".utf8) : [$0] }, as: UTF8.self)
        let refusal = try RightsSamples.refusal("roles:\n  r:\n    realms:\n      \"\(text)\": {}")
        #expect(refusal.hasPrefix("4: expected the name of a realm"))
    }

    @Test(arguments: ["", "*A", "A*B", "A**", "$claims.class", "A$"])
    func `what is no pattern of classes is refused`(_ pattern: String) throws {
        let refusal = try RightsSamples.refusal(
            "roles:\n  r:\n    realms:\n      app:\n        classes:\n          \"\(pattern)\": [read]")
        #expect(refusal.hasPrefix("6: expected the name of a class"))
    }

    // MARK: - Showing and reloading

    @Test func `roles are shown with their lines, and reloaded at once`() throws {
        var configuration = Configuration()
        #expect(configuration.description.contains("roles = {}  # default"))
        try configuration.apply(text: Self.example, ofFile: "/x.yaml")
        let lines = configuration.description
        #expect(lines.contains(#"roles.viewer.realms.*.classes.* = ["read","subscribe"]  # file, line 2"#))
        #expect(lines.contains(#"roles.clerk.realms.shop-*.classes.Order.where = "owner == $claims.sub"  # file, line 7"#))
        #expect(lines.contains("roles.anonymous = {}  # file, line 11"))
        let live = LiveOptions(configuration.options)
        let before = live.roles
        var options = configuration.options
        options.roles = try RightsSamples.book(Self.example)
        var current = live.current
        current.takeReloaded(options)
        #expect(current.roles === before, "equal roles keep what was resolved")
        options.roles = try RightsSamples.book("roles: {r: {}}")
        current.takeReloaded(options)
        #expect(current.roles.names == ["admin", "r", "read"])
    }

    // MARK: - Cost

    @Test func `rights are resolved once, and kept up to a limit`() throws {
        let book = try RightsSamples.book(Self.example)
        let ann = try RightsSamples.holder("clerk", claims: #"{"sub":"ann","iat":1}"#)
        let again = try RightsSamples.holder("clerk", "clerk", "nobody", claims: #"{"iat":2,"sub":"ann"}"#)
        #expect(book.rights(of: ann, in: "shop-1") === book.rights(of: again, in: "shop-1"))
        for number in 0..<3000 {
            let holder = try RightsSamples.holder("clerk", claims: "{\"sub\":\"\(number)\"}")
            #expect(!book.rights(of: holder, in: "shop-1").isNothing)
        }
        var text = MetricsText()
        book.write(to: &text)
        let kept = text.text.split(separator: "\n").first { $0.hasPrefix("realm_rest_rights_kept ") }
        let count = try #require(kept?.split(separator: " ").last.flatMap { Int($0) })
        #expect((512...1024).contains(count))
        #expect(text.text.contains("realm_rest_rights_lookups_total{result=\"hit\"} 1\n"))
    }
}

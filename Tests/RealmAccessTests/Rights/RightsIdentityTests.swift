// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmEngine
import RealmFormats
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Which principals share what was made for their rights.
@Suite struct RightsIdentityTests {
    private static let roles = """
        roles:
          mine: {realms: {"*": {classes: {Order: {allow: [read, update], where: owner == $claims.sub}, Product: [read]}}}}
          same: {realms: {app: {classes: {Product: [read], Order: {where: owner == $claims.sub, allow: [update, read]}}}}}
          other: {realms: {"*": {classes: {Order: {allow: [read, update], where: owner != $claims.sub}, Product: [read]}}}}
          group: {realms: {"*": {classes: {Order: {allow: [read], where: owner IN $claims.groups}}}}}
          plain: {realms: {"*": {classes: {Order: [read]}}}}
          hiding: {realms: {"*": {classes: {Order: {allow: [read], fields: {hide: [a]}}}}}}
          fixed: {realms: {"*": {classes: {Order: {allow: [read], fields: {readOnly: [a]}}}}}}
          two: {realms: {"*": {classes: {Order: {allow: [read], fields: {hide: [a, b]}}}}}}
          joined: {realms: {"*": {classes: {Order: {allow: [read], fields: {hide: ["a1:b"]}}}}}}
          leaving: {realms: {"*": {classes: {Order: [read]}, transactions: true}}}
          nothing: {realms: {"*": {}}}
          constant: {realms: {"*": {classes: {Order: {allow: [read, update], where: "owner == 'ann'"}, Product: [read]}}}}
        """

    /// The identity of the rights of the holder of roles with claims.
    private func identity(_ claims: String, _ roles: String..., in realm: String = "app") throws -> String {
        let holder = RightsHolder(roles: roles, claims: try RightsSamples.claims(claims))
        return try RightsSamples.book(Self.roles).rights(of: holder, in: realm).identity
    }

    @Test func `equal rights have one identity`() throws {
        let ann = #"{"sub":"ann"}"#
        let mine = try identity(ann, "mine")
        #expect(mine.utf8.count == 64)
        for same in [
            try identity(#"{"iat":5,"sub":"ann","groups":["x"]}"#, "mine"), try identity(ann, "mine", "mine", "unknown"),
            try identity(ann, "same"), try identity(ann, "same", "mine"), try identity(ann, "mine", in: "elsewhere"),
            try identity(ann, "nothing", "mine"),
        ] { #expect(same == mine) }
        let group = try identity(#"{"groups":["b","a"]}"#, "group")
        #expect(try identity(#"{"groups":["a","b","a"]}"#, "group") == group)
        #expect(try identity(#"{"groups":"a"}"#, "group") == (try identity(#"{"groups":["a"]}"#, "group")))
        #expect(try identity(ann, "plain", "mine") == (try identity(ann, "mine", "plain")))
        #expect(try identity("{}", "mine") == (try identity(#"{"sub":["ann"]}"#, "mine")), "both see no order")
        #expect(try identity("{}", "nothing") == (try identity("{}", "nobody")))
    }

    @Test func `different rights have different identities`() throws {
        let all = [
            try identity("{}", "nobody"), try identity("{}", "mine"), try identity(#"{"sub":"ann"}"#, "mine"),
            try identity(#"{"sub":"Ann"}"#, "mine"), try identity(#"{"sub":"ann "}"#, "mine"),
            try identity(#"{"sub":"bob"}"#, "mine"),
            // Two texts that Swift takes for equal, and a property that has one of them.
            try identity(#"{"sub":"\u00e9"}"#, "mine"), try identity(#"{"sub":"e\u0301"}"#, "mine"),
            try identity(#"{"sub":1}"#, "mine"), try identity(#"{"sub":"1"}"#, "mine"), try identity(#"{"sub":1.0}"#, "mine"),
            try identity(#"{"sub":true}"#, "mine"), try identity(#"{"sub":"true"}"#, "mine"),
            try identity(#"{"sub":"ann"}"#, "other"), try identity(#"{"sub":"ann"}"#, "other", "mine"),
            try identity(#"{"groups":[]}"#, "group"), try identity(#"{"groups":["a"]}"#, "group"),
            try identity(#"{"groups":["a","b"]}"#, "group"), try identity(#"{"groups":["ab"]}"#, "group"),
            try identity(#"{"groups":["a\",\"b"]}"#, "group"), try identity(#"{"groups":["1:a1:b"]}"#, "group"),
            try identity("{}", "plain"), try identity("{}", "hiding"), try identity("{}", "fixed"), try identity("{}", "two"),
            try identity("{}", "joined"), try identity("{}", "leaving"), try identity("{}", "constant"),
            try identity("{}", "admin"),
            try identity("{}", "read"),
        ]
        let bytes = Set(all.map { Array($0.utf8) })
        #expect(bytes.count == all.count)
        #expect(all.allSatisfy { $0.utf8.count <= 64 })
    }

    /// What was resolved for one principal must not be found for another whose claims look the same to Swift.
    @Test func `claims that only look equal are resolved apart`() throws {
        let book = try RightsSamples.book(Self.roles)
        let composed = try RightsSamples.holder("mine", claims: #"{"sub":"\u00e9"}"#)
        let decomposed = try RightsSamples.holder("mine", claims: #"{"sub":"e\u0301"}"#)
        #expect(book.rights(of: composed, in: "app") !== book.rights(of: decomposed, in: "app"))
        // The keys of claims do not run together.
        let pairs = try RightsSamples.book(
            "roles: {r: {realms: {app: {classes: {A: {allow: [read], where: a == $claims.a AND b == $claims.b}}}}}}")
        let one = pairs.rights(of: try RightsSamples.holder("r", claims: #"{"a":"x1:y","b":"z"}"#), in: "app")
        let two = pairs.rights(of: try RightsSamples.holder("r", claims: #"{"a":"x","b":"y1:z"}"#), in: "app")
        let swapped = pairs.rights(of: try RightsSamples.holder("r", claims: #"{"a":"z","b":"x1:y"}"#), in: "app")
        #expect(Set([one.identity, two.identity, swapped.identity]).count == 3)
    }

    @Test func `a list as long as it may be has an identity of the same length`() throws {
        let groups = (0..<1000).map { "\"group-\($0)\"" }.joined(separator: ",")
        let more = (0..<1000).map { "\"group-\($0 == 999 ? 1000 : $0)\"" }.joined(separator: ",")
        let first = try identity("{\"groups\":[\(groups)]}", "group")
        #expect(first.utf8.count == 64)
        #expect(try identity("{\"groups\":[\(more)]}", "group") != first)
    }

    @Test func `views of a version are shared by what they show, and by action`() throws {
        let realm = try RightsSamples.shop()
        let version = realm.database.current
        let book = try RightsSamples.book(
            """
            roles:
              mine: {realms: {app: {classes: {Order: {allow: [read, subscribe], where: owner == $claims.sub}, Product: [subscribe]}}}}
            """)
        func view(_ name: String, _ action: RightsAction) throws -> Version {
            let holder = try RightsSamples.holder("mine", claims: "{\"sub\":\"\(name)\",\"iat\":\(Int.random(in: 0..<1000))}")
            return version.shown(by: book.rights(of: holder, in: "app").versionScope(for: action))
        }
        #expect(try view("ann", .read) === view("ann", .read))
        #expect(try view("ann", .read) !== view("bob", .read) && view("ann", .read) !== version)
        #expect(try view("ann", .read) !== view("ann", .subscribe))
        #expect(try view("ann", .read).snapshot.classTable(named: "Product") == nil)
        #expect(try view("ann", .subscribe).snapshot.classTable(named: "Product") != nil)
        #expect(book.rights(of: try RightsSamples.holder("admin"), in: "app").versionScope(for: .read) == nil)
        try realm.finish()
    }
}

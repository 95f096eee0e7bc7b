// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmEngine
import RealmFormats
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Roles that name what a schema lacks, and what they have then: nothing.
@Suite struct RoleDefectTests {
    /// The configuration with one class of one role.
    private func roles(_ rule: String, _ className: String = "Order", realm: String = "app") -> String {
        "roles:\n  r:\n    realms:\n      \"\(realm)\":\n        classes:\n          \"\(className)\":\n            allow: [read, update]\n\(rule)"
    }

    @Test(arguments: [
        ("            where: ownr == 'x'", "Order", "/where", "ownr"),
        ("            where: ownr == $claims.sub", "Order", "/where", "ownr"),
        ("            where: open == $claims.flag AND owner BEGINSWITH $claims.sub AND ownr == 1", "Order", "/where", "ownr"),
        ("            where: owner > 5", "Order", "/where", "owner"),
        ("            check: note.nothing == 1", "Order", "/check", "nothing"),
        ("            where: product.owner == $claims.sub", "Order", "/where", "owner"),
        (
            "            where: product.@links.Order.product.owner IN $claims.g", "Order", "/where",
            "the order of '$claims.g' does not count; ANY, ALL or NONE goes before 'product.@links.Order.product.owner'"
        ),
        (
            "            fields: {hide: [margn]}", "Order", "/fields/hide",
            "'Order' has no property 'margn'; did you mean 'margin'?"
        ),
        ("            fields: {readOnly: [Margin]}", "Order", "/fields/readOnly", "'Order' has no property 'Margin'"),
        ("            fields: {hide: [note.secret]}", "Order", "/fields/hide", "'Order' has no property 'note.secret'"),
        ("            fields: {hide: []}", "Ordr", "", "there is no class 'Ordr'; did you mean 'Order'?"),
        (
            "            where: number == 1", "Note", "/where",
            "objects of an embedded class are seen with their owners, and have no rule"
        ),
        (
            "            check: number == 1", "Note", "/check",
            "objects of an embedded class are seen with their owners, and have no rule"
        ),
        ("            fields: {hide: [secrt]}", "Note", "/fields/hide", "'Note' has no property 'secrt'; did you mean 'secret'?"),
    ])
    func `a defect names its place, and closes the class`(
        _ rule: String, _ className: String, _ part: String, _ text: String
    ) throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        var configuration = Configuration()
        try configuration.apply(text: roles(rule, className), ofFile: "/x.yaml")
        let book = configuration.options.roles
        let defects = book.defects(in: snapshot, realm: "app")
        let defect = try #require(defects.first)
        #expect(defects.count == 1 && defect.role == "r" && defect.realm == "app" && defect.className == className)
        #expect(defect.pointer == "/roles/r/realms/app/classes/\(className)\(part)")
        #expect(defect.text.contains(text), "\(defect.text)")
        let error = configuration.error(about: defect)
        #expect(error.file == "/x.yaml" && error.line == (part.isEmpty ? 6 : 8))
        #expect(error.description.contains("role 'r' loses class '\(className)' of realm 'app'"))
        let holder = try RightsSamples.holder("r", claims: #"{"sub":"ann","flag":true}"#)
        let rights = book.rights(of: holder, in: "app")
        #expect(
            rights.fitting(snapshot).actions(on: className)
                == (snapshot.classTable(named: className) == nil ? [.read, .update] : []))
        #expect(try RightsSamples.shown(rights, className, in: snapshot) == nil)
        try realm.finish()
    }

    @Test(arguments: [
        "            where: owner == $claims.sub", "            where: total == $claims.n AND owner BEGINSWITH $claims.sub",
        "            where: open == $claims.flag AND owner BEGINSWITH $claims.sub AND total > $claims.n",
        "            where: day > $claims.since OR code IN $claims.codes", "            where: mix == $claims.x",
        "            where: product == obj('Product', $claims.p)",
        "            where: ANY product.@links.Order.product.owner IN $claims.g",
        "            check: note.secret == $claims.s AND product.name != 'x'",
        "            fields: {hide: [margin, note], readOnly: [owner]}",
    ])
    func `what fits has no defect, whatever the claims will be`(_ rule: String) throws {
        let realm = try RightsSamples.shop()
        #expect(try RightsSamples.book(roles(rule)).defects(in: realm.database.current.snapshot, realm: "app") == [])
        try realm.finish()
    }

    @Test func `only the realms that a role is for are looked at`() throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        let wrong = "            where: nothing == 1"
        for (pattern, names, others) in [
            ("app", ["app"], ["App", "app2"]), ("app*", ["app", "app2"], ["ap"]), ("*", ["x"], []),
            ("user-$claims.sub", ["user-1"], ["user-", "users"]), ("$claims.realms", ["x"], []),
        ] {
            let book = try RightsSamples.book(roles(wrong, realm: pattern))
            for name in names { #expect(book.defects(in: snapshot, realm: name).count == 1, "\(pattern) \(name)") }
            for name in others { #expect(book.defects(in: snapshot, realm: name).isEmpty, "\(pattern) \(name)") }
            // A class that only some realms have is lacking in others.
            let absent = try RightsSamples.book(roles(wrong, "Absent", realm: pattern))
            #expect(absent.defects(in: snapshot, realm: names[0]).count == (pattern == "app" ? 1 : 0))
        }
        // A narrower pattern stands in for a wider one.
        let narrow = try RightsSamples.book(
            "roles: {r: {realms: {\"*\": {classes: {Order: {allow: [read], where: nothing == 1}}}, app: {classes: {Order: [read]}}}}}"
        )
        #expect(narrow.defects(in: snapshot, realm: "app").isEmpty && narrow.defects(in: snapshot, realm: "x").count == 1)
        let empty = try EngineRealm([])
        #expect(try RightsSamples.book(roles(wrong)).defects(in: empty.database.current.snapshot, realm: "app").isEmpty)
        try empty.finish()
        try realm.finish()
    }

    /// Renames a property of the class `A`.
    private func rename(_ realm: EngineRealm, _ name: String, to new: String) throws {
        let version = realm.database.current.snapshot.schemaVersion ?? 0
        let steps = [MigrationStep.renameProperty(className: "A", name: name, to: new)]
        let done = Awaited<String>()
        realm.database.migrate(Migration(from: version, to: version + 1, steps, allowsDataLoss: true), EngineRealm.request()) {
            result in
            switch result {
            case .success: done.set("")
            case .failure(let error): done.set("\(error)")
            }
        }
        #expect(try done.wait() == "")
    }

    /// A migration that renames what a rule names must not open the class.
    @Test func `a role loses a class when a change of the schema breaks its rule, and has it again afterwards`() throws {
        let realm = try EngineRealm([
            ClassInput("A", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("owner", "string")]),
            ClassInput("B", primaryKey: "id", [PropertyInput("id", "int")]),
        ])
        try realm.write { session in _ = try session.create("A", ["id": .integer(1), "owner": .text("ann")]) }
        let book = try RightsSamples.book(
            """
            roles:
              r: {realms: {app: {classes: {A: {allow: [read, delete], where: owner == $claims.sub}, B: [read]}}}}
              h: {realms: {app: {classes: {A: {allow: [read], fields: {hide: [owner]}}}}}}
              n: {realms: {app: {classes: {A: {allow: [read], where: NOT owner == $claims.sub}}}}}
              b: {realms: {app: {classes: {B: [read]}}}}
            """)
        let holders = try ["r", "h", "n"].map { try RightsSamples.holder($0, claims: #"{"sub":"ann"}"#) }
        let rights = holders.map { book.rights(of: $0, in: "app") }
        let both = book.rights(of: try RightsSamples.holder("r", "h", claims: #"{"sub":"ann"}"#), in: "app")
        let before = realm.database.current.snapshot
        #expect(try rights.map { try RightsSamples.shown($0, "A", in: before) } == [[1], [1], []])
        #expect(RightsSamples.properties(both, "A", in: before) == ["id"])
        try rename(realm, "owner", to: "person")
        let after = realm.database.current.snapshot
        for one in rights + [both] {
            #expect(try RightsSamples.shown(one, "A", in: after) == nil)
            #expect(one.fitting(after).actions(on: "A") == [] && one.fitting(after).identity != one.identity)
            #expect(one.fitting(after) === one.fitting(after), "the answer for one schema is kept")
            #expect(one.fitting(before).actions(on: "A").contains(.read))
        }
        #expect(try RightsSamples.shown(rights[0], "B", in: after) == [])
        #expect(Set(book.defects(in: after, realm: "app").map(\.role)) == ["r", "h", "n"])
        try rename(realm, "person", to: "owner")
        #expect(try RightsSamples.shown(rights[0], "A", in: realm.database.current.snapshot) == [1])
        try realm.finish()
    }

    // MARK: - Scopes

    @Test func `what is allowed whole has no scope`() throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        let book = try RightsSamples.book(
            """
            roles:
              all: {realms: {"*": {classes: {"*": [read]}}}}
              some: {realms: {"*": {classes: {Order: [read], Product: [read]}}}}
              less: {realms: {"*": {classes: {Order: [read]}}}}
              true: {realms: {"*": {classes: {"*": {allow: [read], where: TRUEPREDICATE}}}}}
            """.replacing("  true:", with: "  rule:"))
        for role in ["all", "some", "admin", "read"] {
            let rights = book.rights(of: try RightsSamples.holder(role), in: "app")
            #expect(rights.scope(of: snapshot, for: .read) == nil, "\(role)")
        }
        for role in ["less", "rule", "nobody"] {
            let rights = book.rights(of: try RightsSamples.holder(role), in: "app")
            #expect(rights.scope(of: snapshot, for: .read) != nil, "\(role)")
        }
        let all = book.rights(of: try RightsSamples.holder("all"), in: "app")
        #expect(try RightsSamples.shown(all, "Order", in: snapshot, for: .delete) == nil)
        // Links to a class that is not shown are not there.
        let less = book.rights(of: try RightsSamples.holder("less"), in: "app")
        #expect(RightsSamples.properties(less, "Order", in: snapshot)?.contains("product") == false)
        #expect(RightsSamples.properties(less, "Order", in: snapshot)?.contains("note") == true)
        try realm.finish()
    }

    @Test func `embedded classes follow their owners, and are closed when what is hidden in them is unknown`() throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        let book = try RightsSamples.book(
            """
            roles:
              plain: {realms: {app: {classes: {Order: [read]}}}}
              hiding: {realms: {app: {classes: {Order: [read], Note: {allow: [read], fields: {hide: [secret]}}}}}}
              broken: {realms: {app: {classes: {Order: [read], Note: {allow: [read], fields: {hide: [secrets]}}}}}}
              every: {realms: {app: {classes: {"*": {allow: [read], where: id > 2}}}}}
            """)
        func properties(_ className: String, _ roles: String...) -> [String]? {
            RightsSamples.properties(book.rights(of: RightsHolder(roles: roles), in: "app"), className, in: snapshot)
        }
        #expect(properties("Note", "plain") == ["number", "secret"] && properties("Note", "hiding") == ["number"])
        #expect(properties("Note", "broken") == nil && properties("Order", "broken")?.contains("note") == false)
        #expect(properties("Order", "hiding")?.contains("note") == true)
        #expect(properties("Note", "plain", "broken") == nil, "the safe side")
        #expect(properties("Note", "plain", "hiding") == ["number"])
        let every = book.rights(of: RightsHolder(roles: ["every"]), in: "app")
        #expect(try RightsSamples.shown(every, "Order", in: snapshot) == [3, 4, 5, 6])
        #expect(every.fitting(snapshot) === every)
        try realm.finish()
    }

    @Test func `what may be done is listed by class`() throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        let book = try RightsSamples.book(
            """
            roles:
              r: {realms: {app: {classes: {Order: [create, read], Product: [], Note: [read]}}}}
              b: {realms: {app: {classes: {Order: {allow: [delete], where: nothing == 1}, Product: [export, subscribe]}}}}
            """)
        func may(_ roles: String..., in realm: String = "app") -> String? {
            book.rights(of: RightsHolder(roles: roles), in: realm).may(in: snapshot).map { object in
                object.members.map { "\($0.name): \(($0.value.array ?? []).compactMap(\.string).joined(separator: " "))" }.joined(
                    separator: ", ")
            }
        }
        #expect(may("r") == "Order: read create")
        #expect(may("b", "r") == "Order: read create, Product: subscribe export")
        #expect(may("r", in: "other") == nil && may("nobody") == nil)
        let everything = "read create update delete subscribe export import"
        #expect(may("admin") == "Order: \(everything), Product: \(everything)")
        try realm.finish()
    }
}

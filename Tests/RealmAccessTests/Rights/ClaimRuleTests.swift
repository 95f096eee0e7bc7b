// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmEngine
import RealmFormats
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Claims in rules: what values they may have, and that no value shows more than was meant.
@Suite struct ClaimRuleTests {
    /// The orders that a rule shows to the holder of claims.
    private func orders(_ rule: String, _ claims: String, _ snapshot: Snapshot) throws -> [Int64]? {
        var quoted = JSONWriter()
        quoted.string(rule)
        let book = try RightsSamples.book(
            "roles: {r: {realms: {app: {classes: {Order: {allow: [read], where: \(quoted.buffer.text)}}}}}}")
        let rights = book.rights(of: try RightsSamples.holder("r", claims: claims), in: "app")
        #expect(rights.actions(on: "Order") == [.read])
        return try RightsSamples.shown(rights, "Order", in: snapshot)
    }

    @Test func `values are read by the type of the property`() throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        for (rule, claims, expected) in [
            ("owner == $claims.sub", #"{"sub":"ann"}"#, [3, 6]), ("owner == $claims.sub", #"{"sub":"bob"}"#, [1, 4]),
            ("owner ==[c] $claims.sub", #"{"sub":"ANN"}"#, [3, 6]), ("owner == $claims.sub", #"{"sub":"ANN"}"#, []),
            ("owner BEGINSWITH $claims.sub", #"{"sub":"a"}"#, [3, 6]),
            ("total == $claims.n", #"{"n":300}"#, [3]), ("total == $claims.n", #"{"n":"300"}"#, [3]),
            ("total <= $claims.n", #"{"n":250.5}"#, [1, 2]), ("price == $claims.n", #"{"n":2.5}"#, [2]),
            ("price == $claims.n", #"{"n":"2.5"}"#, [2]), ("price > $claims.n", #"{"n":5}"#, [5, 6]),
            ("open == $claims.flag", #"{"flag":true}"#, [2, 4, 6]), ("open == $claims.flag", #"{"flag":false}"#, [1, 3, 5]),
            ("code == $claims.c", #"{"c":"3b241101-e2bb-4255-8caf-4136c566a962"}"#, [2]),
            ("day < $claims.d", #"{"d":"2024-05-03T00:00:00Z"}"#, [1, 2]), ("mix == $claims.sub", #"{"sub":"ann"}"#, [2, 4, 6]),
            ("mix == $claims.n", #"{"n":3}"#, [3]), ("owner == $claims.a.b", #"{"a":{"b":"ann"}}"#, [3, 6]),
            ("owner IN $claims.g", #"{"g":["ann","bob","ann","zoe"]}"#, [1, 3, 4, 6]),
            ("owner IN $claims.g", #"{"g":"ann"}"#, [3, 6]),
            ("owner IN $claims.g", #"{"g":[]}"#, []), ("total IN $claims.g", #"{"g":[100,"200",300.0]}"#, [1, 2, 3]),
            ("open IN $claims.g", #"{"g":[true]}"#, [2, 4, 6]), ("owner IN {$claims.a, 'bob'}", #"{"a":"ann"}"#, [1, 3, 4, 6]),
            ("NOT owner IN $claims.g", #"{"g":["ann","bob"]}"#, [2, 5]),
            ("NOT total IN $claims.g", #"{"g":[100.0,"200",2.5]}"#, [3, 4, 5, 6]),
            ("NOT mix IN $claims.g", #"{"g":["ann",1]}"#, [3, 5]), ("NOT owner IN $claims.g", #"{"g":[]}"#, [1, 2, 3, 4, 5, 6]),
            ("NOT owner == $claims.sub", #"{"sub":"ann"}"#, [1, 2, 4, 5]),
            ("owner == $claims.sub AND total < $claims.max", #"{"sub":"ann","max":400}"#, [3]),
        ] as [(String, String, [Int64])] {
            #expect(try orders(rule, claims, snapshot) == expected, "\(rule) \(claims)")
        }
        try realm.finish()
    }

    /// The rule is false and not merely the comparison: `NOT` of something that is lacking would show everything.
    @Test(arguments: [
        "owner == $claims.x", "NOT owner == $claims.x", "owner != $claims.x", "owner == $claims.x OR TRUEPREDICATE",
        "NOT owner IN {$claims.x}", "owner == $claims.x OR owner == 'ann'", "total >= 0 AND NOT (owner == $claims.x)",
    ])
    func `a claim that cannot be a value makes the rule false, also under NOT`(_ rule: String) throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        let huge = "\"" + String(repeating: "x", count: 70_000) + "\""
        for claims in [
            "{}", #"{"x":null}"#, #"{"x":""}"#, #"{"x":{}}"#, #"{"x":{"x":"ann"}}"#, #"{"x":["ann"]}"#, #"{"x":[]}"#,
            #"{"x":[["ann"]]}"#, #"{"x":12345678901234567890123}"#, #"{"x":1e999}"#, #"{"X":"ann"}"#, #"{"claims":{"x":"ann"}}"#,
            #"{"x.y":"ann"}"#, "{\"x\":\(huge)}",
        ] {
            #expect(try orders(rule, claims, snapshot) == [], "\(rule) \(claims.prefix(60))")
        }
        try realm.finish()
    }

    @Test(arguments: ["owner IN $claims.g", "NOT owner IN $claims.g", "owner IN $claims.g OR total > 0"])
    func `a list with an element that cannot be a value makes the rule false`(_ rule: String) throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        let long = (0...1000).map { "\"\($0)\"" }.joined(separator: ",")
        let wide = (0..<20).map { "\"" + String(repeating: "\($0 % 10)", count: 4000) + "\($0)\"" }.joined(separator: ",")
        for list in [
            "[null]", "[\"ann\",null]", "[\"\"]", "[{}]", "[\"ann\",[\"bob\"]]", "{}", "[1e999]", "[\(long)]", "[\(wide)]",
        ] {
            #expect(try orders(rule, "{\"g\":\(list)}", snapshot) == [], "\(rule) \(list.prefix(40))")
        }
        try realm.finish()
    }

    @Test(arguments: [
        ("total == $claims.x", #"{"x":"ann"}"#), ("NOT total == $claims.x", #"{"x":"1 OR 1 == 1"}"#),
        ("total == $claims.x", #"{"x":true}"#), ("NOT total == $claims.x", #"{"x":true}"#),
        ("open == $claims.x", #"{"x":"true"}"#), ("NOT open == $claims.x", #"{"x":1}"#),
        ("NOT code == $claims.x", #"{"x":"ann"}"#), ("NOT day == $claims.x", #"{"x":5}"#),
        ("NOT total IN $claims.x", #"{"x":["a"]}"#), ("NOT owner == $claims.x", #"{"x":5}"#),
        ("product == obj('Product', $claims.x) OR total > 0", #"{"x":"ann"}"#),
        ("NOT product == obj('Product', $claims.x)", #"{"x":true}"#), ("NOT product == obj('Product', $claims.x)", #"{"x":1.5}"#),
        ("NOT product.name IN $claims.x", #"{"x":[7]}"#), ("NOT product IN $claims.x", #"{"x":[1]}"#),
        ("NOT owner IN {$claims.x, 'bob'}", #"{"x":5}"#),
        // One element that does not fit is enough, whatever the others are.
        ("NOT owner IN $claims.x", #"{"x":1}"#), ("NOT owner IN $claims.x", #"{"x":[1]}"#),
        ("NOT owner IN $claims.x", #"{"x":[1.5]}"#), ("NOT owner IN $claims.x", #"{"x":["ann",true]}"#),
        ("owner IN $claims.x", #"{"x":["ann",1]}"#), ("total > 0 OR owner IN $claims.x", #"{"x":[1]}"#),
        ("NOT total IN $claims.x", #"{"x":["100","x"]}"#), ("NOT total IN $claims.x", #"{"x":["ann",100]}"#),
        ("NOT total IN $claims.x", #"{"x":[true]}"#), ("total IN $claims.x", #"{"x":[100,true]}"#),
        ("NOT price IN $claims.x", #"{"x":[1.5,"ann"]}"#), ("NOT open IN $claims.x", #"{"x":[true,1]}"#),
        ("NOT open IN $claims.x", #"{"x":[true,"true"]}"#), ("NOT day IN $claims.x", #"{"x":1}"#),
        ("NOT day IN $claims.x", #"{"x":["2024-05-03T00:00:00Z","ann"]}"#),
        ("NOT code IN $claims.x", #"{"x":["3b241101-e2bb-4255-8caf-4136c566a962",1]}"#),
    ])
    func `a value of another type makes the rule false, also under NOT`(_ rule: String, _ claims: String) throws {
        let realm = try RightsSamples.shop()
        #expect(try orders(rule, claims, realm.database.current.snapshot) == [])
        try realm.finish()
    }

    /// Values are arguments, so nothing in them is a part of the query.
    @Test(arguments: [
        "ann' OR 1 == 1 OR owner == '", "ann\" OR TRUEPREDICATE OR owner == \"", "' OR ''=='", "$0", "$claims.sub",
        "ann) OR (1 == 1",
        "*", "?", "%", "ann\\", "\\' OR 1==1 --", "ann\u{0}", "TRUEPREDICATE", "nil", "null", "obj('User',1)", "{'ann'}",
        "an\u{301}n",
    ])
    func `a text with words of the language is a text`(_ text: String) throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        var quoted = JSONWriter()
        quoted.string(text)
        let claims = "{\"sub\":\(quoted.buffer.text),\"g\":[\(quoted.buffer.text)]}"
        for rule in ["owner == $claims.sub", "owner IN $claims.g", "mix == $claims.sub", "owner BEGINSWITH $claims.sub"] {
            #expect(try orders(rule, claims, snapshot) == [], "\(rule)")
        }
        #expect(try orders("NOT owner == $claims.sub", claims, snapshot) == [1, 2, 3, 4, 5, 6])
        // The one whose name looks like a query sees what is theirs.
        let strange = #"{"sub":"it's \"x\" OR 1 == 1"}"#
        #expect(try orders("owner == $claims.sub", strange, snapshot) == [2, 5])
        try realm.finish()
    }

    @Test func `checks are about what is left behind, together with the rule of the same grant`() throws {
        let realm = try RightsSamples.shop()
        let snapshot = realm.database.current.snapshot
        let book = try RightsSamples.book(
            """
            roles:
              a: {realms: {app: {classes: {Order: {allow: [read, update, create], where: owner == $claims.sub, check: total < 400}}}}}
              b: {realms: {app: {classes: {Order: {allow: [update], where: open == true, check: total > 500}}}}}
              c: {realms: {app: {classes: {Order: {allow: [update, create]}}}}}
            """)
        func allowed(_ action: RightsAction, _ claims: String, _ roles: String...) throws -> [Int64] {
            let holder = RightsHolder(roles: roles, claims: try RightsSamples.claims(claims))
            return try RightsSamples.matching(
                book.rights(of: holder, in: "app").checks(on: "Order", for: action), "Order", in: snapshot)
        }
        #expect(try allowed(.update, #"{"sub":"ann"}"#, "a") == [3])
        #expect(try allowed(.update, "{}", "a") == [])
        #expect(try allowed(.update, "{}", "a", "b") == [6])
        // 6 is Ann's, and open: each grant counts with its own check.
        #expect(try allowed(.update, #"{"sub":"ann"}"#, "a", "b") == [3, 6])
        #expect(try allowed(.create, #"{"sub":"ann"}"#, "a", "b") == [3])
        #expect(try allowed(.update, "{}", "a", "b", "c") == [1, 2, 3, 4, 5, 6])
        #expect(try allowed(.delete, #"{"sub":"ann"}"#, "a") == [])
        try realm.finish()
    }
}

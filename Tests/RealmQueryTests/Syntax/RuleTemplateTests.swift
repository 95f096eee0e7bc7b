// SPDX-License-Identifier: Apache-2.0

import RealmQuery
import Testing

/// Claims in the queries of rules.
@Suite struct RuleTemplateTests {
    @Test(
        arguments: [
            ("owner == $claims.sub", "owner == $0         ", ["$claims.sub"], [false]),
            ("owner==$claims.sub", "owner==$0         ", ["$claims.sub"], [false]),
            ("a == $claims.x AND b == $claims.x", "a == $0        AND b == $0       ", ["$claims.x"], [false]),
            ("a IN $claims.g OR a == $claims.g", "a IN $0        OR a == $1       ", ["$claims.g", "$claims.g"], [true, false]),
            ("a == $claims.realm_access.tenant-id", nil, ["$claims.realm_access.tenant-id"], [false]),
            // Names that are words of the language.
            ("a == $claims.in.all.NULL.true", nil, ["$claims.in.all.NULL.true"], [false]),
            ("a == $claims.O17", nil, ["$claims.O17"], [false]),
            // What only looks like a claim.
            ("a == '$claims.sub'", "a == '$claims.sub'", [], []),
            ("a == \"it's $claims.sub\" AND b == $claims.y", nil, ["$claims.y"], [false]),
            ("a == 'x\\'$claims.sub'", "a == 'x\\'$claims.sub'", [], []),
            ("$claims2 == 1", "$claims2 == 1", [], []),
            ("a$claims.sub == 1", "a$claims.sub == 1", [], []),
            ("SUBQUERY(items, $x, $x.owner == $claims.sub).@count > 0", nil, ["$claims.sub"], [false]),
            ("{$claims.a, $claims.b} CONTAINS x", nil, ["$claims.a", "$claims.b"], [false, false]),
            ("a IN {$claims.a, 'x'}", nil, ["$claims.a"], [false]),
            ("grants[$claims.sub] == 'r'", nil, ["$claims.sub"], [false]),
            ("owner == obj('User', $claims.sub)", nil, ["$claims.sub"], [false]),
            ("name ==[c] $claims.sub", nil, ["$claims.sub"], [false]),
            ("$claims.sub IN members", nil, ["$claims.sub"], [false]),
        ] as [(String, String?, [String], [Bool])])
    func `a claim becomes an argument, and nothing else does`(
        _ text: String, _ parsed: String?, _ claims: [String], _ lists: [Bool]
    ) throws {
        let template = try RuleTemplate.parse(text)
        #expect(template.text == text)
        if let parsed { #expect(template.query.text == parsed) }
        #expect(template.query.text.count == text.count)
        #expect(template.uses.map(\.path.description) == claims)
        #expect(template.uses.map(\.isList) == lists)
    }

    @Test(
        arguments: [
            ("owner == $0", 9, "a rule has no arguments such as $0, but claims such as $claims.sub"),
            ("$K0 == 1", 0, "a rule has no arguments such as $K0, but claims such as $claims.sub"),
            ("a == $claims.x AND b == $1", 24, "a rule has no arguments such as $1, but claims such as $claims.sub"),
            ("a == $claims", 5, "expected the name of a claim of ASCII letters, digits, '_' and '-', as in $claims.sub"),
            ("a == $claims.", 5, "expected the name of a claim of ASCII letters, digits, '_' and '-', as in $claims.sub"),
            ("a == $claims. sub", 5, "expected the name of a claim of ASCII letters, digits, '_' and '-', as in $claims.sub"),
            ("a == $claims.5", 5, "expected the name of a claim of ASCII letters, digits, '_' and '-', as in $claims.sub"),
            (
                "a == $claims.sub\u{e9}", 5,
                "expected the name of a claim of ASCII letters, digits, '_' and '-', as in $claims.sub"
            ),
            (
                "a == $claims.$claims", 5,
                "expected the name of a claim of ASCII letters, digits, '_' and '-', as in $claims.sub"
            ),
            ("a == $Claims.sub", 5, "claims are named in small letters, as in $claims.sub"),
            ("a == $CLAIMS.sub", 5, "claims are named in small letters, as in $claims.sub"),
            ("a LIKE $claims.sub", 7, "a claim cannot be a pattern"),
            ("a LIKE[c] $claims.sub", 10, "a claim cannot be a pattern"),
            ("a TEXT $claims.sub", 7, "a claim cannot be a pattern"),
            ("a == ANY $claims.groups", 9, "a claim has no quantifier: a list is used with IN"),
            ("a IN ANY $claims.groups", 9, "a claim has no quantifier: a list is used with IN"),
            ("NONE $claims.groups == a", 5, "a claim has no quantifier: a list is used with IN"),
            ("a == $claims.sub SORT(a ASC)", 0, "a rule has no SORT, DISTINCT or LIMIT"),
            ("TRUEPREDICATE LIMIT(1)", 0, "a rule has no SORT, DISTINCT or LIMIT"),
            ("SUBQUERY(items, $claims, $claims.x == 1).@count > 0", 16, nil), ("a.$claims.sub == 1", 2, nil),
            ("$claims.a.@count == 1", 9, nil), ("a == $claims.sub[0]", 16, nil), ("\u{e9} == 'x' AND", 12, nil),
            ("a == 'x", 5, nil), ("", 0, nil), ("a == $claims.x b", 15, nil),
        ] as [(String, Int, String?)])
    func `what is no rule is refused with its place`(_ text: String, _ place: Int, _ reason: String?) throws {
        let error = try #require(throws: QueryError.self) { try RuleTemplate.parse(text) }
        guard case .syntax(let position, let detail, _, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(position == place, "\(detail)")
        if let reason { #expect(detail == reason) }
        #expect(!detail.contains("$0") || text.contains("$0"))
    }

    @Test func `a rule has a bounded number of claims`() throws {
        let names = (0..<64).map { "a == $claims.c\($0)" }
        #expect(try RuleTemplate.parse(names.joined(separator: " OR ")).uses.count == 64)
        #expect(throws: QueryError.self) { try RuleTemplate.parse((names + ["a == $claims.more"]).joined(separator: " OR ")) }
    }

    @Test(
        arguments: [
            ("app", "app", nil, ""), ("user-$claims.sub", "user-", "$claims.sub", ""), ("$claims.a.b", "", "$claims.a.b", ""),
            ("x$claims.a/y", "x", "$claims.a", "/y"),
        ] as [(String, String, String?, String)])
    func `a text is split at its claim`(_ text: String, _ before: String, _ claim: String?, _ after: String) throws {
        let parts = try #require(ClaimPath.parts(of: text))
        #expect(parts.before == before && parts.path?.description == claim && parts.after == after)
    }

    @Test(arguments: ["$", "a$b", "$claims", "$claims.", "$claims.a$claims.b", "$claims.a.$claims.b", "$Claims.a", "$claim.a"])
    func `other dollar signs are no claims`(_ text: String) { #expect(ClaimPath.parts(of: text) == nil) }
}

// SPDX-License-Identifier: Apache-2.0

import RealmQuery
import Testing

@Suite("Parser")
struct ParserTests {
    struct Refused: Sendable {
        let text: String
        /// In Unicode scalars.
        let position: Int
    }

    private func syntaxPosition(_ text: String) -> Int? {
        do throws(QueryError) {
            _ = try Query.parse(text)
            return nil
        } catch {
            guard case .syntax(let position, _, _, _) = error else { return nil }
            return position
        }
    }

    @Test(arguments: [
        Refused(text: "", position: 0),
        Refused(text: "a == ", position: 5),
        Refused(text: "a == 1 b", position: 7),
        Refused(text: "é == 1 ü", position: 7),
        Refused(text: "日本 == 'x' AND ;", position: 14),
        Refused(text: "a == 'open", position: 5),
        Refused(text: #"a == 'bad \q escape'"#, position: 5),
        Refused(text: "1 < a < 3", position: 6),
        Refused(text: "(a == 1", position: 7),
        Refused(text: "a == 1)", position: 6),
        Refused(text: "a == (NOT b == 1)", position: 6),
        Refused(text: "(a) CONTAINS 'x'", position: 4),
        Refused(text: "a + b CONTAINS 'x'", position: 6),
        Refused(text: "i -2 == 5", position: 2),
        Refused(text: "ANY 5 == a", position: 4),
        Refused(text: "ANY a.@min == 1", position: 6),
        Refused(text: "TRUEPREDICATE SORT(a)", position: 20),
        Refused(text: "SUBQUERY(l, x, x.a == 1).@count > 0", position: 12),
        Refused(text: "t == T1:-1", position: 5),
        Refused(text: "s == B64\"Y\"", position: 5),
        Refused(text: "a BETWEEN $0", position: 10),
    ])
    func `a syntax error tells where the offending token starts`(_ refused: Refused) {
        #expect(syntaxPosition(refused.text) == refused.position, "\(refused.text)")
    }

    @Test(arguments: [
        Array(repeating: "a == 1", count: 20_000).joined(separator: " AND "),
        Array(repeating: "a == 1", count: 20_000).joined(separator: " OR "),
        Array(repeating: "a == 1 AND b == 2", count: 10_000).joined(separator: " OR "),
        String(repeating: "(", count: 5_000) + "a == 1" + String(repeating: ")", count: 5_000),
        String(repeating: "(", count: 5_000) + "a" + String(repeating: ")", count: 5_000) + " == 1",
        String(repeating: "NOT ", count: 5_001) + "a == 1",
        String(repeating: "!(", count: 5_001) + "a == 1" + String(repeating: ")", count: 5_001),
        String(repeating: "(a == 1 AND (b == 2 OR ", count: 400) + "c == 3" + String(repeating: "))", count: 400),
    ])
    func `long chains and deep parentheses are parsed`(_ text: String) throws {
        _ = try Query.parse(text)
    }

    @Test(arguments: [
        String(repeating: "(a == 1 AND (b == 2 OR ", count: 2_000) + "c == 3" + String(repeating: "))", count: 2_000),
        Array(repeating: "a", count: 5_000).joined(separator: " + ") + " == 1",
        String(repeating: "SUBQUERY(l, $x, ", count: 100) + "a == 1" + String(repeating: ").@count > 0", count: 100),
    ])
    func `trees without bound are refused`(_ text: String) {
        #expect(syntaxPosition(text) != nil)
    }
}

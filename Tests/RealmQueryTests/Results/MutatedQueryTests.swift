// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Mutated queries")
struct MutatedQueryTests {
    private static let fragments = [
        "(", ")", "{", "}", "[", "]", "[*]", "[0]", "[LAST]", "['a']", ".", ",", " AND ", " OR ", " NOT ", " == ", " != ", " < ",
        " >= ",
        " IN ", "[c]", " CONTAINS ", " LIKE ", " BETWEEN ", " TEXT ", " geoWithin ", "ANY ", "ALL ", "NONE ", "null", "nan",
        "inf", "1", "-1",
        "0x7fffffffffffffff", "-9223372036854775808", "1e400", "1.5f", "'a'", "''", "B64\"YQ==\"", "bin('a')", "T1:2", "O1",
        "L0:1", "$0",
        "$1", "$K0", ".@count", ".@type", ".@keys", ".@values", ".@max", ".@avg", ".@links.@count", ".length", " + ", " - ",
        " * ", " / ",
        " SORT(", " ASC)", " DISTINCT(", " LIMIT(2)", "TRUEPREDICATE", "SUBQUERY(", "$x", "$x.", "obj('C', 1)", "@links",
        "@links.C.p",
    ]
    private static let arguments: [QueryArgument] = [
        .int(.min), .string("a"), .null, .list([.int(1), .null, .string("a")]), .double(.nan), .objectKey(ObjectKey(1)),
    ]

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `no text of shuffled tokens traps, whatever it means`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bound = 0
        for group in QueryVectors.groups {
            for suite in try QueryVectors(group: group).suites where suite.cases.contains(where: { !$0.isParseOnly }) {
                let snapshot = try Snapshot(file: try RealmFile(path: suite.realmPath))
                for entry in suite.cases where Int.random(in: 0..<4, using: &random) == 0 {
                    guard let table = snapshot.classTable(named: entry.className) else { continue }
                    let other = suite.cases.randomElement(using: &random)?.query ?? ""
                    let text = mutate(entry.query, other, &random)
                    if run(text, table, snapshot, MutatedQueryTests.arguments.shuffled(using: &random)) { bound += 1 }
                }
            }
        }
        #expect(bound > 50, "seed \(seed): \(bound) queries could be bound")
    }

    /// Runs a query every way there is; returns whether it could be bound.
    private func run(_ text: String, _ table: Table, _ snapshot: Snapshot, _ arguments: [QueryArgument]) -> Bool {
        do {
            let query = try Query.parse(text).bind(to: table, in: snapshot, arguments: arguments)
            var steps = 0
            let check = {
                steps += 1
                return steps < 200
            }
            let keys = try query.execute(check: check)
            _ = try query.execute(ResultWindow(offset: 1, limit: 3), check: check)
            _ = try query.count(check: check)
            _ = try query.explain()
            _ = try query.execute(over: keys + keys, check: check)
            return true
        } catch {
            return false
        }
    }

    private func mutate(_ text: String, _ other: String, _ random: inout SeededGenerator) -> String {
        var pieces = split(text)
        let donors = split(other)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: 0...pieces.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where place < pieces.count: pieces.remove(at: place)
            case 1 where place < pieces.count: pieces[place] = donors.randomElement(using: &random) ?? ""
            case 2: pieces.insert(MutatedQueryTests.fragments.randomElement(using: &random) ?? "", at: place)
            default:
                if place < pieces.count { pieces[place] = MutatedQueryTests.fragments.randomElement(using: &random) ?? "" }
            }
        }
        return pieces.joined()
    }

    /// Cuts a text into words, numbers and single characters.
    private func split(_ text: String) -> [String] {
        var pieces: [String] = []
        for character in text {
            let isWord = character.isLetter || character.isNumber || character == "_" || character == "@"
            if isWord, let last = pieces.last?.last, last.isLetter || last.isNumber || last == "_" || last == "@" {
                pieces[pieces.count - 1].append(character)
            } else {
                pieces.append(String(character))
            }
        }
        return pieces
    }
}

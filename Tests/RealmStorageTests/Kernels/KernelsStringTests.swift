// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Leaves of strings as wholes")
struct KernelsStringTests {
    static let plainFixtures = Fixtures.names.filter { !Fixtures.isEncrypted($0) }

    @Test(arguments: plainFixtures)
    func `searches agree with reading every string, in every leaf of the fixtures`(_ name: String) throws {
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(name)))
        var random = SeededGenerator(seed: PackedCase.seed)
        for table in snapshot.tables {
            for column in table.columns where column.type == .string && column.collection == nil {
                var cursor = table.leaves()
                var visited = 0
                while let leaf = try cursor.next(), visited < 3 {
                    visited += 1
                    guard case .string(let values) = try leaf.attach(column), try isSmall(values) else { continue }
                    try expectAgreement(values, &random, "\(name) \(table.name).\(column.name), seed \(PackedCase.seed)")
                }
            }
        }
    }

    /// Few enough bytes for plain loops in a debug build.
    private func isSmall(_ leaf: StringLeaf) throws -> Bool {
        try (0..<leaf.count).reduce(0) { $0 + (try leaf.string($1)?.count ?? 0) } < 20_000
    }

    private func expectAgreement(_ leaf: StringLeaf, _ random: inout SeededGenerator, _ hint: Comment) throws {
        let texts = try (0..<leaf.count).map { try leaf.string($0)?.array }
        let foldedTexts = texts.map { $0?.map(Self.lower) }
        let all = Mask(first: leaf.count)
        #expect(try leaf.nulls() == naiveMask(leaf.count) { texts[$0] == nil }, hint)
        for pattern in patterns(texts, &random) {
            for rows in pattern.count % 2 == 0 ? [all] : [randomMask(leaf.count, using: &random)] {
                let exact = BytePattern(pattern)
                let folded = BytePattern(upper: pattern.map(Self.upper), lower: pattern.map(Self.lower))
                for (bytes, texts, wanted) in [(exact, texts, pattern), (folded, foldedTexts, pattern.map(Self.lower))] {
                    let expected = { (test: ([UInt8]) -> Bool) in
                        naiveMask(leaf.count) { row in rows[row] && texts[row].map(test) ?? false }
                    }
                    #expect(try leaf.isEqual(to: bytes, among: rows) == expected { $0 == wanted }, hint)
                    #expect(try leaf.hasPrefix(bytes, among: rows) == expected { $0.starts(with: wanted) }, hint)
                    #expect(
                        try leaf.hasSuffix(bytes, among: rows) == expected { $0.suffix(wanted.count).elementsEqual(wanted) }, hint
                    )
                    #expect(try leaf.contains(bytes, among: rows) == expected { Self.contains($0, wanted) }, hint)
                }
            }
            try expectOrder(leaf, texts, pattern, hint)
        }
    }

    private func expectOrder(_ leaf: StringLeaf, _ texts: [[UInt8]?], _ pattern: [UInt8], _ hint: Comment) throws {
        let all = Mask(first: leaf.count)
        let key = ByteStorage(pattern)
        let prefix = OrderKey(prefixOf: key.view)
        for relation in [Relation.less, .lessOrEqual, .greater, .greaterOrEqual] {
            let rows = try leaf.rows(relation, prefix, among: all)
            let wanted = Array(pattern.prefix(15)) + Array(repeating: 0, count: max(15 - pattern.count, 0))
            let expected = naiveMask(leaf.count) { row in
                guard let text = texts[row] else { return relation == .less || relation == .lessOrEqual }
                let start = Array(text.prefix(15)) + Array(repeating: 0, count: max(15 - text.count, 0))
                if start == wanted { return relation.includesEqual }
                return start.lexicographicallyPrecedes(wanted) == (relation == .less || relation == .lessOrEqual)
            }
            #expect(rows == expected, hint)
        }
    }

    /// Whole texts, pieces of texts, pieces with something else behind, the empty pattern, and one of two texts.
    private func patterns(_ texts: [[UInt8]?], _ random: inout SeededGenerator) -> [[UInt8]] {
        var patterns: [[UInt8]] = [[], [0], [0, 0], [15], Array("an".utf8), Array("AN".utf8)]
        for _ in 0..<2 {
            guard let text = texts.randomElement(using: &random) ?? nil, text.count < 4000 else { continue }
            let first = Int.random(in: 0...text.count, using: &random)
            let piece = Array(text[first..<Int.random(in: first...text.count, using: &random)])
            patterns += [text, piece, piece + [0], piece + [0x7a], Array(text.suffix(1)), Array(text.prefix(2))]
        }
        if texts.count > 1, let left = texts[0], let right = texts[1] { patterns.append(left.suffix(2) + [0] + right.prefix(2)) }
        return patterns
    }

    private static func upper(_ byte: UInt8) -> UInt8 { (97...122).contains(byte) ? byte - 32 : byte }
    private static func lower(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }

    private static func contains(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        guard text.count >= pattern.count else { return false }
        guard let head = pattern.first else { return true }
        return (0...(text.count - pattern.count)).contains { text[$0] == head && text[$0...].starts(with: pattern) }
    }
}

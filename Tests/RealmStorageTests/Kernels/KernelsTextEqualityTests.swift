// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("Equality of texts in whole leaves")
struct KernelsTextEqualityTests {
    /// The greatest number of bytes of the texts of a leaf: cells of 1, 2, 4, 8 and 16 bytes, and the medium form.
    static let longest = [0, 1, 3, 7, 15, 16, 40, 63]

    @Test(arguments: longest)
    func `leaves find the rows of a text, whatever its length and theirs`(_ longest: Int) throws {
        for seed in 1...(TestRun.isLong ? 20 : 4) as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            for count in [0, 1, 5, 63, 64, 65, 66, 127, 128, 129, 200, 255, 256, 300] {
                let texts = Self.texts(count, longest, using: &random)
                let scratch = try WriteScratch()
                let leaf = try Self.leaf(texts, scratch)
                for wanted in Self.wanted(texts, longest, using: &random) {
                    for row in [0, 1, 44, count].filter({ $0 <= count }) {
                        let covered = leaf.rowCount(from: row)
                        let rows = randomMask(covered, using: &random)
                        let found = try leaf.isEqual(to: BytePattern(wanted), among: rows, from: row)
                        let expected = naiveMask(covered) { rows[$0] && texts[row + $0] == wanted }
                        #expect(found == expected, "seed \(seed), up to \(longest) bytes, \(count) rows from \(row)")
                    }
                }
            }
        }
    }

    @Test(arguments: PackedCase.widthCodes)
    func `steps of ascending numbers are found in every width`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        let greatest = min(PackedCase.range(widthCode).upperBound, 1 << 40)
        for count in [0, 1, 2, 63, 64, 65, 66, 128, 129, 191, 256, 400] {
            let values = (0..<count).map { _ in Int64.random(in: 0...greatest, using: &random) }.sorted()
            let buffer = try PackedBuffer(values, widthCode: widthCode)
            let differences: [Int64] = (0..<count).map { row in values[row] - (row == 0 ? 0 : values[row - 1]) }
            let others: [Int64] = [0, 1, greatest, .max]
            for step in Set(differences).sorted().prefix(6) + others {
                for start in [0, 1, 70, count].filter({ $0 <= count }) {
                    let length = min(count - start, Mask.capacity)
                    let found = buffer.integers.isStep(step, start: start, count: length)
                    let expected = naiveMask(length) { differences[start + $0] == step }
                    #expect(found == expected, "seed \(PackedCase.seed), step \(step), start \(start), count \(count)")
                }
            }
        }
    }

    @Test func `a mask moves up across its words and loses the highest row`() {
        var random = SeededGenerator(seed: PackedCase.seed)
        for _ in 0..<200 {
            let mask = randomMask(256, using: &random)
            #expect(mask.shiftedUp() == naiveMask(256) { $0 > 0 && mask[$0 - 1] }, "seed \(PackedCase.seed)")
        }
    }

    /// Texts of which many have the same length, the same beginning or the same end; some are null, and the longest length occurs.
    private static func texts(_ count: Int, _ longest: Int, using random: inout SeededGenerator) -> [[UInt8]?] {
        (0..<count).map { row in
            if row == count / 2 { return Array(repeating: 120, count: longest) }
            if Int.random(in: 0..<10, using: &random) == 0 { return nil }
            let length = Bool.random(using: &random) ? longest : Int.random(in: 0...longest, using: &random)
            var text = [UInt8](repeating: 97, count: length)
            for place in [0, length / 2, length - 1] where text.indices.contains(place) {
                text[place] = UInt8.random(in: 97...99, using: &random)
            }
            return text
        }
    }

    /// Texts of the leaf, such as differ from them in one byte or in length, and the empty one.
    private static func wanted(_ texts: [[UInt8]?], _ longest: Int, using random: inout SeededGenerator) -> [[UInt8]] {
        var wanted: [[UInt8]] = [[], [0], Array(repeating: 97, count: longest), Array(repeating: 97, count: longest + 1)]
        for _ in 0..<4 {
            guard let text = texts.randomElement(using: &random) ?? nil else { continue }
            wanted += [text, text + [0], Array(text.dropLast())]
            if let place = text.indices.randomElement(using: &random) {
                var other = text
                other[place] ^= 1
                wanted.append(other)
            }
        }
        return wanted
    }

    /// A leaf with the texts, as a writer makes it.
    private static func leaf(_ texts: [[UInt8]?], _ scratch: WriteScratch) throws -> StringLeaf {
        let shape = ElementShape(type: .string, isNullable: true)
        let writer = LeafWriter(scratch.writes, shape, inCluster: true)
        var ref = try writer.makeEmpty()
        for text in texts {
            let storage = text.map { ByteStorage($0) }
            ref = try writer.append(storage.map { .string($0.view) } ?? .null, to: ref)
        }
        return try StringLeaf(scratch.writes.node(at: ref), scratch.writes.space)
    }
}

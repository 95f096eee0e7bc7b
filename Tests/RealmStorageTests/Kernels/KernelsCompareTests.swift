// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Comparing packed integers")
struct KernelsCompareTests {
    @Test(arguments: PackedCase.widthCodes)
    func `every operator agrees with a plain loop, for all run lengths`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for count in 0...256 {
            for start in 0...1 {
                let values = PackedCase.values(start + count, widthCode: widthCode, using: &random)
                let buffer = try PackedBuffer(values, widthCode: widthCode)
                let needles = PackedCase.needles(widthCode, values, using: &random).shuffled(using: &random)
                // All needles where groups of 64 and 16 begin and end, else a few of them.
                let chosen = count % 16 < 2 || count % 16 == 15 ? needles[...] : needles.prefix(4)
                for (op, needle) in chosen.flatMap({ needle in Relation.allCases.map { ($0, needle) } }) {
                    let mask = buffer.integers.compare(op, needle, start: start, count: count)
                    let expected = naiveMask(count) { op.holds(values[start + $0], needle) }
                    #expect(mask == expected, "seed \(PackedCase.seed), \(op) \(needle), start \(start), count \(count)")
                }
            }
        }
    }

    @Test(arguments: PackedCase.widthCodes)
    func `runs may begin anywhere in a longer array`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        let values = PackedCase.values(1000, widthCode: widthCode, using: &random)
        let buffer = try PackedBuffer(values, widthCode: widthCode)
        for _ in 0..<60 {
            let count = Int.random(in: 0...256, using: &random)
            let start = Int.random(in: 0...(1000 - count), using: &random)
            let needle = values.randomElement(using: &random) ?? 0
            for op in Relation.allCases {
                let mask = buffer.integers.compare(op, needle, start: start, count: count)
                let expected = naiveMask(count) { op.holds(values[start + $0], needle) }
                #expect(mask == expected, "seed \(PackedCase.seed), \(op) \(needle), start \(start), count \(count)")
            }
        }
    }

    @Test(arguments: PackedCase.widthCodes)
    func `a range keeps both limits and is empty when they are exchanged`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for _ in 0..<40 {
            let count = Int.random(in: 0...256, using: &random)
            let values = PackedCase.values(count, widthCode: widthCode, using: &random)
            let buffer = try PackedBuffer(values, widthCode: widthCode)
            let limits = PackedCase.needles(widthCode, values, using: &random).shuffled(using: &random).prefix(2)
            let (low, high) = (limits.first ?? 0, limits.last ?? 0)
            let mask = buffer.integers.isBetween(low, high, count: count)
            #expect(mask == naiveMask(count) { values[$0] >= low && values[$0] <= high }, "seed \(PackedCase.seed)")
        }
    }

    @Test func `operators know their mirror image and their negation`() {
        for op in Relation.allCases {
            for left in 0...2 {
                for right in 0...2 {
                    #expect(op.holds(left, right) == op.mirrored.holds(right, left))
                    #expect(op.holds(left, right) == !op.negated.holds(left, right))
                }
            }
            #expect(op.includesEqual == op.holds(1, 1))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Numbering of distinct integers: small ones in a table, others by hashing.
@Suite struct IntegerNumberingTests {
    @Test func `equal integers have one number, in the order in which they come`() {
        var numbering = IntegerNumbering()
        let integers: [Int64] = [7, -1, 7, 0, .max, .min, -1, 1 << 20, 1 << 20 - 1, .max, 0]
        #expect(integers.map { numbering.number($0) } == [0, 1, 0, 2, 3, 4, 1, 5, 6, 3, 2])
        #expect(numbering.integers == [7, -1, 0, .max, .min, 1 << 20, 1 << 20 - 1])
        #expect(numbering.numberOfNull() == 7 && numbering.numberOfNull() == 7)
        #expect(numbering.integers.last == .some(nil) && numbering.count == 8)
    }

    @Test(arguments: [UInt64](1...6))
    func `any integers are numbered like a dictionary does`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var numbering = IntegerNumbering()
        var known: [Int64: UInt32] = [:]
        for _ in 0..<20_000 {
            let bits = Int.random(in: 1..<64, using: &random)
            let integer = Int64(truncatingIfNeeded: UInt64.random(in: .min ... .max, using: &random)) >> bits
            let expected = known[integer] ?? UInt32(known.count)
            known[integer] = expected
            #expect(numbering.number(integer) == expected, "seed \(seed)")
        }
        #expect(numbering.count == known.count)
        for (integer, number) in known { #expect(numbering.integers[Int(number)] == integer) }
    }

    @Test func `numbers are counted`() {
        var counts = [1, 0, 0]
        IntegerNumbering.tally([2, 2, 0, 1], count: 3, into: &counts)
        #expect(counts == [2, 0, 2])
    }

    @Test(arguments: PackedCase.widthCodes)
    func `counting without numbers first agrees with numbering, for any rows and nulls`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed + UInt64(widthCode))
        let range = PackedCase.range(widthCode)
        for nulls in [IntegerNumbering.Nulls.none, .equal(range.upperBound), .below(min(1, range.upperBound))] {
            var numbering = IntegerNumbering()
            var counts: [Int] = []
            var expected: [Int64?: Int] = [:]
            for _ in 0..<40 {
                let start = Int.random(in: 0...3, using: &random)
                let count = Int.random(in: 0...256, using: &random)
                // Few small integers first, so that tables are used before the hash table is.
                let values = PackedCase.values(start + count, widthCode: widthCode, using: &random)
                let buffer = try PackedBuffer(values, widthCode: widthCode)
                let rows = randomMask(count, using: &random)
                numbering.tally(buffer.integers, rows, start: start, nulls: nulls, into: &counts)
                rows.forEach { expected[Self.isNull(values[start + $0], nulls) ? nil : values[start + $0], default: 0] += 1 }
                #expect(counts.first ?? 0 == 0)
            }
            #expect(numbering.count == expected.count, "width code \(widthCode), \(nulls)")
            for (number, integer) in numbering.integers.enumerated() {
                #expect(counts[number + 1] == expected[integer], "\(String(describing: integer)), width code \(widthCode)")
            }
        }
    }

    private static func isNull(_ integer: Int64, _ nulls: IntegerNumbering.Nulls) -> Bool {
        switch nulls {
        case .none: return false
        case .equal(let null): return integer == null
        case .below(let least): return integer < least
        }
    }
}

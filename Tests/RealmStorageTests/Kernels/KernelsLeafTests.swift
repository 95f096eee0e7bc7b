// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// The table of null: equal to null only, and neither less nor greater than anything.
private func holds<Value: Comparable>(_ op: Relation, _ left: Value?, _ right: Value?) -> Bool {
    guard let left, let right else {
        return (left == nil) == (right == nil) ? op.includesEqual : op == .notEqual
    }
    return op.holds(left, right)
}

@Suite("Leaves of integers, booleans and dates as wholes")
struct KernelsLeafTests {
    /// Random elements with some nulls and the marker that stands for them.
    private static func nullable(_ count: Int, _ widthCode: Int, _ random: inout SeededGenerator) -> ([Int64?], [Int64]) {
        let stored = PackedCase.values(count + 1, widthCode: widthCode, using: &random)
        return (stored.dropFirst().map { $0 == stored[0] ? nil : $0 }, stored)
    }

    @Test(arguments: PackedCase.widthCodes)
    func `nullable integers compare by the table of null`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for count in [0, 1, 62, 63, 64, 65, 128, 255, 256] {
            let (values, stored) = Self.nullable(count, widthCode, &random)
            let buffer = try PackedBuffer(stored, widthCode: widthCode)
            let leaf = try IntLeaf(buffer.node(), isNullable: true)
            let other = try IntLeaf(buffer.node(), isNullable: true)
            #expect(leaf.nulls() == naiveMask(count) { values[$0] == nil })
            for op in Relation.allCases {
                for needle in [nil] + PackedCase.needles(widthCode, stored, using: &random).prefix(6).map(Optional.some) {
                    let expected = naiveMask(count) { holds(op, values[$0], needle) }
                    #expect(leaf.compare(op, needle) == expected, "seed \(PackedCase.seed), \(op) \(String(describing: needle))")
                }
                #expect(leaf.compare(op, with: other) == naiveMask(count) { holds(op, values[$0], values[$0]) })
            }
            let set = IntegerSet(stored.prefix(2))
            #expect(leaf.isMember(of: set) == naiveMask(count) { values[$0].map { stored.prefix(2).contains($0) } ?? false })
            #expect(leaf.isMember(of: set, orNull: true) == leaf.isMember(of: set) | leaf.nulls())
            let mask = randomMask(count, using: &random)
            let chosen = (0..<count).filter { mask[$0] }.compactMap { values[$0] }
            #expect(leaf.sum(mask) == (chosen.reduce(Int128(0)) { $0 + Int128($1) }, chosen.count))
            #expect(leaf.minimum(mask) == chosen.min())
            #expect(leaf.maximum(mask) == chosen.max())
            var total = RealSum()
            leaf.add(mask, to: &total)
            #expect(total.sum == chosen.reduce(0.0) { $0 + Double($1) } && total.count == chosen.count)
        }
    }

    @Test(arguments: PackedCase.widthCodes)
    func `integers compare exactly with fractions, huge numbers and NaN`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        let (values, stored) = Self.nullable(200, widthCode, &random)
        let buffer = try PackedBuffer(stored, widthCode: widthCode)
        let leaf = try IntLeaf(buffer.node(), isNullable: true)
        let needles =
            [0, -0.0, 0.5, -0.5, 3, 100.25, 9e18, -9.3e18, 9_223_372_036_854_775_808, -9_223_372_036_854_775_808]
            + [.infinity, -.infinity, .nan] + stored.prefix(3).map { Double($0) + 0.5 }
        for needle in needles {
            for op in Relation.allCases {
                let expected = naiveMask(200) { row in
                    guard let value = values[row] else { return op == .notEqual }
                    return needle.isNaN ? op.holds(1, 0) : op.holds(compareExactly(value, needle), 0)
                }
                #expect(leaf.compare(op, real: needle) == expected, "seed \(PackedCase.seed), \(op) \(needle)")
            }
        }
    }

    /// -1, 0 or 1; the double is not NaN.
    private func compareExactly(_ integer: Int64, _ real: Double) -> Int {
        if real >= 9_223_372_036_854_775_808 { return -1 }
        if real < -9_223_372_036_854_775_808 { return 1 }
        let whole = Int64(real.rounded(.down))
        if integer != whole { return integer < whole ? -1 : 1 }
        return real > real.rounded(.down) ? -1 : 0
    }

    @Test func `long leaves are taken 256 rows at a time`() throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        let (values, stored) = Self.nullable(1000, 4, &random)
        let buffer = try PackedBuffer(stored, widthCode: 4)
        let leaf = try IntLeaf(buffer.node(), isNullable: true)
        var rows: [Int] = []
        for first in stride(from: 0, to: leaf.count, by: Mask.capacity) {
            leaf.compare(.greater, 5, from: first).forEach { rows.append(first + $0) }
        }
        #expect(rows == (0..<1000).filter { (values[$0] ?? 0) > 5 })
        #expect(leaf.compare(.greater, 5, from: 1000) == .none)
    }

    @Test(arguments: [1, 2, 3, 4])
    func `booleans: 0 is false, 3 is null, the rest is true`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for count in [0, 1, 63, 64, 200, 256] {
            let stored = (0..<count).map { _ in Int64([0, 1, widthCode > 1 ? 3 : 1].randomElement(using: &random) ?? 0) }
            let values: [Int?] = stored.map { $0 == 3 ? nil : $0 == 0 ? 0 : 1 }
            let buffer = try PackedBuffer(stored, widthCode: widthCode)
            let leaf = try BoolLeaf(buffer.node())
            for op in Relation.allCases {
                for needle in [nil, false, true] {
                    let number = needle.map { $0 ? 1 : 0 }
                    #expect(leaf.compare(op, needle) == naiveMask(count) { holds(op, values[$0], number) }, "\(op)")
                }
            }
            #expect(leaf.isEqual(to: true) == naiveMask(count) { values[$0] == 1 })
            #expect(leaf.nulls() == naiveMask(count) { values[$0] == nil })
        }
    }

    @Test(arguments: [4, 6, 7])
    func `dates compare by seconds, then nanoseconds`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for count in [0, 1, 64, 100, 256] {
            let marker: Int64 = 100
            let seconds =
                [marker]
                + (0..<count).map { _ in
                    Int.random(in: 0..<9, using: &random) == 0 ? marker : Int64.random(in: -2...2, using: &random)
                }
            let parts = seconds.dropFirst().map { second -> Int64 in
                let part = Int64.random(in: 0...2, using: &random)
                return second < 0 ? -part : part
            }
            let dates = zip(seconds.dropFirst(), parts).map { second, part in
                second == marker ? nil : Timestamp(seconds: second, nanoseconds: Int32(part))
            }
            let secondBuffer = try PackedBuffer(seconds, widthCode: widthCode)
            let partBuffer = try PackedBuffer(parts, widthCode: 4)
            let leaf = TimestampLeaf(
                seconds: try IntLeaf(secondBuffer.node(), isNullable: true), nanoseconds: partBuffer.integers)
            let needles = [nil, dates.first ?? nil, Timestamp(seconds: 0, nanoseconds: 1), Timestamp(seconds: 9, nanoseconds: 0)]
            for needle in needles {
                for op in Relation.allCases {
                    let expected = naiveMask(count) { holds(op, dates[$0], needle) }
                    #expect(leaf.compare(op, needle) == expected, "seed \(PackedCase.seed), \(op)")
                }
            }
            let mask = randomMask(count, using: &random)
            let chosen = (0..<count).filter { mask[$0] }.compactMap { dates[$0] }
            #expect(try leaf.minimum(mask) == chosen.min())
            #expect(try leaf.maximum(mask) == chosen.max())
        }
    }
}

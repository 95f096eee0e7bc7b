// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// How a number sorts in the general order: NaNs by their bits, below everything else.
private struct GeneralOrder: Comparable {
    let value: Double
    let bits: UInt64

    static func == (left: GeneralOrder, right: GeneralOrder) -> Bool {
        left.value.isNaN || right.value.isNaN ? left.bits == right.bits : left.value == right.value
    }

    static func < (left: GeneralOrder, right: GeneralOrder) -> Bool {
        if left.value.isNaN { return !right.value.isNaN || left.bits < right.bits }
        return !right.value.isNaN && left.value < right.value
    }
}

@Suite("Leaves of floats and doubles as wholes")
struct KernelsRealTests {
    private static let counts = [0, 1, 2, 31, 63, 64, 65, 127, 128, 200, 255, 256]
    private static let special: [Double] = [
        0, -0.0, 1, -1, 5.5, .infinity, -.infinity, .nan, .init(bitPattern: 0xfff8_0000_0000_0001),
        .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 9_007_199_254_740_992,
    ]

    private static func doubles(_ count: Int, _ random: inout SeededGenerator) -> [Double?] {
        (0..<count).map { _ in
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return nil
            case 1, 2, 3: return special.randomElement(using: &random)
            default: return .random(in: -10...10, using: &random)
            }
        }
    }

    private static func leaf(_ values: [Double?]) throws -> (PackedBuffer, DoubleLeaf) {
        let buffer = try PackedBuffer(
            values.map { Int64(bitPattern: $0?.bitPattern ?? DoubleLeaf.nullBits) }, widthCode: 7)
        return (buffer, try DoubleLeaf(buffer.node(asNumbers: true)))
    }

    private static func leaf(_ values: [Float?]) throws -> (PackedBuffer, FloatLeaf) {
        let buffer = try PackedBuffer(values.map { Int64($0?.bitPattern ?? FloatLeaf.nullBits) }, widthCode: 6)
        return (buffer, try FloatLeaf(buffer.node(asNumbers: true)))
    }

    private static func expected(_ op: Relation, _ value: Double?, _ needle: Double?, _ order: RealOrder) -> Bool {
        guard let value, let needle else {
            return (value == nil) == (needle == nil) ? op.includesEqual : op == .notEqual
        }
        if order == .ieee { return op.holds(value, needle) }
        return op.holds(
            GeneralOrder(value: value, bits: value.bitPattern), GeneralOrder(value: needle, bits: needle.bitPattern))
    }

    @Test(arguments: counts)
    func `doubles compare by IEEE 754 and in the general order`(_ count: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        let values = Self.doubles(count, &random)
        let (buffer, leaf) = try Self.leaf(values)
        for needle in [nil] + Self.special.map(Optional.some) {
            for op in Relation.allCases {
                for order in [RealOrder.ieee, .general] {
                    let expected = naiveMask(count) { Self.expected(op, values[$0], needle, order) }
                    #expect(
                        leaf.compare(op, needle, order: order) == expected,
                        "seed \(PackedCase.seed), \(op) \(String(describing: needle)) \(order)")
                }
            }
        }
        #expect(leaf.nulls() == naiveMask(count) { values[$0] == nil })
        withExtendedLifetime(buffer) {}
    }

    @Test(arguments: counts)
    func `floats compare by IEEE 754, in the general order, and with doubles without rounding`(_ count: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        let values = Self.doubles(count, &random).map { $0.map { Float($0) } }
        let (buffer, leaf) = try Self.leaf(values)
        for needle in [nil] + Self.special.map(Optional.some) {
            for op in Relation.allCases {
                let wide = naiveMask(count) { Self.expected(op, values[$0].map(Double.init), needle, .general) }
                if let needle { #expect(leaf.compare(op, double: needle) == wide, "seed \(PackedCase.seed), \(op) \(needle)") }
                for order in [RealOrder.ieee, .general] {
                    let narrow = needle.map { Float($0) }
                    let expected = naiveMask(count) {
                        Self.expected(op, values[$0].map(Double.init), narrow.map(Double.init), order)
                    }
                    #expect(leaf.compare(op, narrow, order: order) == expected, "seed \(PackedCase.seed), \(op)")
                }
            }
        }
        #expect(leaf.nulls() == naiveMask(count) { values[$0] == nil })
        withExtendedLifetime(buffer) {}
    }

    @Test(arguments: counts)
    func `sums leave out null and NaN, and add in row order`(_ count: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for share in [0, 1, 30] {
            let values = (0..<count).map { _ -> Double? in
                switch Int.random(in: 0..<100, using: &random) {
                case ..<share: return Bool.random(using: &random) ? nil : .nan
                case 99: return [.infinity, -.infinity, .greatestFiniteMagnitude].randomElement(using: &random)
                default: return .random(in: -10...10, using: &random)
                }
            }
            let (buffer, leaf) = try Self.leaf(values)
            let (floatBuffer, floats) = try Self.leaf(values.map { $0.map { Float($0) } })
            for _ in 0..<20 {
                let mask = randomMask(count, using: &random)
                var total = RealSum()
                var expected = RealSum()
                var floatTotal = RealSum()
                var floatExpected = RealSum()
                mask.forEach { row in
                    guard let value = values[row], !value.isNaN else { return }
                    expected.sum += value
                    expected.count += 1
                    floatExpected.sum += Double(Float(value))
                    floatExpected.count += 1
                }
                leaf.add(mask, to: &total)
                floats.add(mask, to: &floatTotal)
                let isEqual = total.sum == expected.sum || total.sum.isNaN && expected.sum.isNaN
                #expect(isEqual && total.count == expected.count, "seed \(PackedCase.seed)")
                let areEqual = floatTotal.sum == floatExpected.sum || floatTotal.sum.isNaN && floatExpected.sum.isNaN
                #expect(areEqual && floatTotal.count == floatExpected.count, "seed \(PackedCase.seed)")
            }
            withExtendedLifetime((buffer, floatBuffer)) {}
        }
    }

    @Test(arguments: [0, 1, -1, 5, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, 16_777_217, Int64.max, .min])
    func `numbers compare exactly with integers`(_ needle: Int64) throws {
        let near = Double(needle)
        let values = [near, near.nextUp, near.nextDown, 0, -0.0, .infinity, -.infinity, .nan, nil]
        let exact = { (value: Double) -> Int in
            if value.isNaN || value < -9_223_372_036_854_775_808 { return -1 }
            if value >= 9_223_372_036_854_775_808 { return 1 }
            let whole = Int64(value.rounded(.down))
            return whole != needle ? (whole < needle ? -1 : 1) : value > value.rounded(.down) ? 1 : 0
        }
        let (buffer, leaf) = try Self.leaf(values)
        let floats = values.map { $0.map { Float($0) } }
        let (floatBuffer, floatLeaf) = try Self.leaf(floats)
        for op in Relation.allCases {
            let expected = naiveMask(values.count) { values[$0].map { op.holds(exact($0), 0) } ?? (op == .notEqual) }
            #expect(leaf.compare(op, integer: needle) == expected, "\(op)")
            let wide = naiveMask(values.count) { floats[$0].map { op.holds(exact(Double($0)), 0) } ?? (op == .notEqual) }
            #expect(floatLeaf.compare(op, integer: needle) == wide, "\(op)")
        }
        withExtendedLifetime((buffer, floatBuffer)) {}
    }

    @Test(arguments: counts)
    func `sum, least and greatest leave null and NaN out`(_ count: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for round in 0..<12 {
            var values = Self.doubles(count, &random)
            if round % 3 == 0 { values = values.map { _ in .random(in: -1...1, using: &random) } }
            if round % 3 == 1 {
                values = values.map { $0.map { $0.isInfinite || $0 > 1e300 ? 0 : abs($0).rounded() * ($0 < 0 ? -0.0 : 1) } }
            }
            let mask = round == 0 ? Mask(first: count) : randomMask(count, using: &random)
            let chosen = (0..<count).filter { mask[$0] }.compactMap { values[$0] }.filter { !$0.isNaN }
            let (buffer, leaf) = try Self.leaf(values)
            let hint: Comment = "seed \(PackedCase.seed), round \(round)"
            var total = RealSum()
            leaf.add(mask, to: &total)
            let sum = chosen.reduce(0, +)
            #expect(total.sum == sum || sum.isNaN && total.sum.isNaN, hint)
            #expect(total.count == chosen.count, hint)
            var least = chosen.first
            var greatest = chosen.first
            for value in chosen {
                if let best = least, value < best { least = value }
                if let best = greatest, value > best { greatest = value }
            }
            #expect(leaf.minimum(mask)?.bitPattern == least?.bitPattern, hint)
            #expect(leaf.maximum(mask)?.bitPattern == greatest?.bitPattern, hint)
            withExtendedLifetime(buffer) {}
        }
    }
}

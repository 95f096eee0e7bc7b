// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Keeps the bytes of the values that the tests borrow.
private let texts = ["", "A", "B", "a", "ab", "é"].map { ByteStorage($0) }

@Suite("Order of values")
struct ValueOrderTests {
    /// Groups of equal values, ascending. Only values whose equality is transitive.
    private let ascending: [[Value]] = [
        [.null],
        [.bool(false)], [.bool(true)],
        [.decimal(.notANumber)], [.decimal(.null)],
        [.double(-.infinity), .float(-.infinity), .decimal(.negativeInfinity)],
        [.int(.min), .double(-0x1p63), .float(-0x1p63)], [.int(.min + 1)],
        [.int(-1), .double(-1), .float(-1), decimal("-1.00")],
        [.double(-0.5), .float(-0.5), decimal("-0.5")],
        [.int(0), .double(0), .double(-0.0), .float(-0.0), decimal("0"), decimal("-0E+5")],
        [.double(0.1)], [.float(0.1)],
        [.int(1), .double(1), .float(1), decimal("1"), decimal("1.000")],
        [.int(1000), .double(1000), .float(1000), decimal("1E+3")],
        [.int(1 << 53), .double(0x1p53)], [.int(1 << 53 + 1)], [.int(1 << 53 + 2), .double(0x1p53 + 2)],
        [.int(.max - 1)], [.int(.max)], [.double(0x1p63), .float(0x1p63)], [.double(1e300)], [decimal("1E+6000")],
        [.double(.infinity), .float(.infinity), .decimal(.infinity)],
        [.string(texts[0].view)], [.string(texts[1].view)], [.string(texts[2].view)], [.string(texts[3].view)],
        [.string(texts[4].view)], [.string(texts[5].view)],
        [.binary(texts[0].view)], [.binary(texts[3].view)], [.binary(texts[5].view)],
        [.timestamp(Timestamp(seconds: -1, nanoseconds: 0))], [.timestamp(Timestamp(seconds: 0, nanoseconds: -5))],
        [.timestamp(Timestamp(seconds: 0, nanoseconds: 5))], [.timestamp(Timestamp(seconds: 7, nanoseconds: 0))],
        [.objectID(ObjectID(first: 1, last: 9))], [.objectID(ObjectID(first: 1 << 63, last: 0))],
        [.uuid(UUIDValue(first: 1, last: 9))], [.uuid(UUIDValue(first: 1 << 63, last: 0))],
        [.link(TableKey(1), ObjectKey(9))], [.link(TableKey(2), ObjectKey(0))], [.link(TableKey(2), ObjectKey(1))],
        [.list(.none), .list(Ref(64))],
        [.dictionary(.none), .dictionary(Ref(64))],
    ]

    @Test(arguments: [20261201 as UInt64, 7, 8])
    func `the exact order of numbers is transitive`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bases: [Double] = [0, 0.1, 1, 16_777_216, 16_777_217, 9_007_199_254_740_992, 0x1p63, 1e-7, 123_456.789]
        let numbers: [Value] = (0..<60).map { _ in
            let base = bases[Int.random(in: bases.indices, using: &random)] * (Bool.random(using: &random) ? 1 : -1)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return .int(Int64(clamping: Int128(base)) &+ Int64.random(in: -1...1, using: &random))
            case 1: return .float(Float(base))
            case 2: return .double(Bool.random(using: &random) ? base : base.nextUp)
            default: return .decimal(Bool.random(using: &random) ? Decimal128(base) : Decimal128(Float(base)))
            }
        }
        for left in numbers {
            for middle in numbers {
                #expect(Value.exactOrder(left, middle).signum() == -Value.exactOrder(middle, left).signum(), "seed \(seed)")
                guard Value.exactOrder(left, middle) <= 0 else { continue }
                let broken = numbers.first { Value.exactOrder(middle, $0) <= 0 && Value.exactOrder(left, $0) > 0 }
                #expect(broken == nil, "seed \(seed): \(left), \(middle), \(String(describing: broken))")
            }
        }
    }

    @Test func `every pair is ordered as its groups are, in both directions, and equal values hash alike`() {
        for (rank, group) in ascending.enumerated() {
            for (otherRank, others) in ascending.enumerated() {
                for left in group {
                    for right in others {
                        check(left, right, rank - otherRank)
                    }
                }
            }
        }
    }

    private func check(_ left: Value, _ right: Value, _ expected: Int) {
        #expect(Value.order(left, right).signum() == expected.signum(), "\(left) \(right)")
        #expect(Value.areEqual(left, right) == (expected == 0), "\(left) \(right)")
        if expected == 0 {
            #expect(OrderedValue(left).hashValue == OrderedValue(right).hashValue, "\(left) \(right)")
        }
    }

    @Test(arguments: [
        Value.double(.nan), .float(.nan), .decimal(.notANumber), .double(-.nan),
    ])
    func `NaN of every type sorts below every number and equals itself`(_ nan: Value) {
        for number in [Value.int(.min), .double(-.infinity), .float(-.infinity), .decimal(.negativeInfinity)] {
            #expect(Value.order(nan, number) < 0)
            #expect(Value.order(number, nan) > 0)
        }
        #expect(Value.areEqual(nan, nan))
        #expect(Value.order(nan, .bool(true)) > 0)
    }

    @Test func `a float and a double meet decimals with 7 and 15 digits and each other exactly`() {
        #expect(Value.areEqual(.float(0.1), decimal("0.1")))
        #expect(Value.areEqual(.double(0.1), decimal("0.1")))
        #expect(!Value.areEqual(.float(0.1), .double(0.1)))
        #expect(Value.areEqual(.float(0.1), .double(Double(Float(0.1)))))
        #expect(Value.areEqual(.double(0.9999999999999999), decimal("1")))
        #expect(!Value.areEqual(.double(0.9999999999999999), .int(1)))
    }

    @Test(
        arguments: [
            (Int64(1) << 53 + 1, 0x1p53, 1), (.max, 0x1p63, -1), (.min, -0x1p63, 0), (-1, -1.5, 1), (-2, -1.5, -1), (1, 1.5, -1),
            (0, -0.0, 0), (0, .leastNonzeroMagnitude, -1), (0, -.leastNonzeroMagnitude, 1), (.max, 9_223_372_036_854_774_784, 1),
            (5, .nan, 1), (.min, .nan, 1), (.min, -.infinity, 1), (.max, .infinity, -1),
        ] as [(Int64, Double, Int)])
    func `int and double are compared without rounding`(_ int: Int64, _ double: Double, _ expected: Int) {
        #expect(Value.order(.int(int), .double(double)) == expected)
        #expect(Value.order(.double(double), .int(int)) == -expected)
    }

    @Test func `only values of one type, or two numbers, are comparable`() {
        #expect(Value.areComparable(.int(1), .decimal(.zero)))
        #expect(Value.areComparable(.string(texts[0].view), .string(texts[1].view)))
        #expect(!Value.areComparable(.string(texts[0].view), .binary(texts[0].view)))
        #expect(!Value.areComparable(.int(1), .bool(true)))
        #expect(!Value.areComparable(.null, .null))
        #expect(!Value.areComparable(.null, .int(0)))
        #expect(Value.areEqual(.null, .null))
        #expect(!Value.areEqual(.null, .int(0)))
        #expect(!Value.areEqual(.list(.none), .dictionary(.none)))
    }

    @Test func `null stands among the NaNs in a set of decimals`() {
        let lower = Value.decimal(Decimal128(low: 0xa9, high: 0x7c00_0000_0000_0000))
        let upper = Value.decimal(Decimal128(low: 0xab, high: 0x7c00_0000_0000_0000))
        #expect(Value.decimalSetOrder(lower, .null) < 0)
        #expect(Value.decimalSetOrder(.null, upper) < 0)
        #expect(Value.decimalSetOrder(.null, .null) == 0)
        #expect(Value.decimalSetOrder(.null, .decimal(.negativeInfinity)) < 0)
        #expect(Value.decimalSetOrder(.decimal(.zero), .null) > 0)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `random numbers of all types that sort alike hash alike`(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        for _ in 0..<2000 {
            let number = random.number()
            for variant in variants(of: number) where Value.areEqual(number, variant) {
                #expect(OrderedValue(number).hashValue == OrderedValue(variant).hashValue, "seed \(seed): \(number) \(variant)")
            }
        }
    }

    /// The same number, or nearly so, in the other types; without the pair of float and decimal.
    private func variants(of number: Value) -> [Value] {
        switch number {
        case .int(let int): return [.double(Double(int)), .float(Float(int)), .decimal(Decimal128(int))]
        case .double(let double):
            let rounded = Decimal128(double)
            return [
                .decimal(rounded), .decimal(rounded + 0), .double(rounded.doubleValue), .float(Float(double)), .double(-double),
            ]
                + (Int64(exactly: double).map { [.int($0), .decimal(Decimal128($0))] } ?? [])
        case .float(let float): return [.double(Double(float))] + (Int64(exactly: float).map { [.int($0)] } ?? [])
        default: return []
        }
    }
}

private func decimal(_ text: String) -> Value { .decimal(Decimal128(text) ?? .notANumber) }

/// A small seeded generator.
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }

    mutating func number() -> Value {
        let kind = next() % 5
        let bits = next()
        let shift = next() % 64
        switch kind {
        case 0: return .int(Int64(bitPattern: bits) >> Int64(shift))
        case 1: return .double(Double(bitPattern: bits))
        case 2: return .double(Double(Int64(bitPattern: bits) >> Int64(shift)))
        case 3: return .double(Double(bits % 1_000_000) / 1000)
        default: return .float(Float(Int64(bitPattern: bits) >> Int64(shift)) / 8)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Sort keys and the first rows of an order")
struct KernelsOrderTests {
    @Test func `keys sort as values do, null and NaN first`() {
        let nan = Double(bitPattern: 0x7ff8_0000_0000_0001)
        let otherNaN = Double(bitPattern: 0xfff8_0000_0000_0000)
        let reals = [nan, otherNaN, -.infinity, -1e300, -1.5, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 2, .infinity]
        expectAscending([.null] + reals.map { OrderKey($0) })
        #expect(OrderKey(-0.0) == OrderKey(0.0))
        expectAscending([.null] + [Float.nan, -.infinity, -1, 0, 0.5, .infinity].map { OrderKey($0) })
        expectAscending([.null] + [Int64.min, -1, 0, 1, .max].map { OrderKey($0) })
        expectAscending([.null, OrderKey(false), OrderKey(true)])
        let dates = [(Int64.min, Int32(0)), (-1, -5), (-1, 0), (0, -1), (0, 0), (0, 1), (1, 999_999_999), (.max, 0)]
        expectAscending([.null] + dates.map { OrderKey(Timestamp(seconds: $0.0, nanoseconds: $0.1)) })
    }

    private func expectAscending(_ keys: [OrderKey]) {
        for (left, right) in zip(keys, keys.dropFirst()) {
            #expect(left < right)
            #expect(right.reversed < left.reversed)
        }
    }

    @Test func `rows on one side of a key are found at once`() throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        let orders: [Relation] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
        let stored = PackedCase.values(201, widthCode: 4, using: &random)
        let integerBuffer = try PackedBuffer(stored, widthCode: 4)
        let integers = try IntLeaf(integerBuffer.node(), isNullable: true)
        let reals = (0..<200).map { row -> Double in
            row % 7 == 0
                ? .init(bitPattern: DoubleLeaf.nullBits)
                : row % 7 == 1
                    ? .nan
                    : row % 7 == 2
                        ? -0.0
                        : .random(in: -5...5, using: &random)
        }
        let realBuffer = try PackedBuffer(reals.map { Int64(bitPattern: $0.bitPattern) }, widthCode: 7)
        let doubles = try DoubleLeaf(realBuffer.node(asNumbers: true))
        let floatBits = reals.map { Int64($0.bitPattern == DoubleLeaf.nullBits ? FloatLeaf.nullBits : Float($0).bitPattern) }
        let floatBuffer = try PackedBuffer(floatBits, widthCode: 6)
        let floats = try FloatLeaf(floatBuffer.node(asNumbers: true))
        let dates = TimestampLeaf(
            seconds: integers, nanoseconds: try PackedBuffer(Array(repeating: 0, count: 200), widthCode: 0).integers)
        let boolBuffer = try PackedBuffer((0..<200).map { [0, 1, 3][$0 % 3] }, widthCode: 2)
        let bools = try BoolLeaf(boolBuffer.node())
        for op in orders {
            for row in 0..<24 {
                let key = integers.orderKey(row)
                #expect(integers.rows(op, key) == naiveMask(200) { op.holds(integers.orderKey($0), key) }, "\(op) \(row)")
                let realKey = doubles.orderKey(row)
                #expect(doubles.rows(op, realKey) == naiveMask(200) { op.holds(doubles.orderKey($0), realKey) }, "\(op) \(row)")
                let floatKey = floats.orderKey(row)
                #expect(floats.rows(op, floatKey) == naiveMask(200) { op.holds(floats.orderKey($0), floatKey) }, "\(op) \(row)")
                let boolKey = bools.orderKey(row)
                #expect(bools.rows(op, boolKey) == naiveMask(200) { op.holds(bools.orderKey($0), boolKey) }, "\(op) \(row)")
                let date = try dates.orderKey(row)
                let expected = try (0..<200).reduce(into: Mask.none) { $0[$1] = op.holds(try dates.orderKey($1), date) }
                #expect(dates.rows(op, date) == expected, "\(op) \(row)")
            }
        }
        withExtendedLifetime((integerBuffer, realBuffer, floatBuffer, boolBuffer)) {}
    }
}

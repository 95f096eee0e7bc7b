// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Folding and searching packed integers")
struct KernelsFoldTests {
    @Test(arguments: PackedCase.widthCodes)
    func `sum, least and greatest of runs of any length`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for count in Array(0...70) + [127, 128, 255, 256, 257, 1000, 1500] {
            let start = count % 3
            let values = PackedCase.values(start + count, widthCode: widthCode, using: &random)
            let run = values.dropFirst(start)
            let integers = try PackedBuffer(values, widthCode: widthCode)
            let hint: Comment = "seed \(PackedCase.seed), start \(start), count \(count)"
            #expect(integers.integers.sum(start: start, count: count) == run.reduce(Int128(0)) { $0 + Int128($1) }, hint)
            #expect(integers.integers.minimum(start: start, count: count) == run.min(), hint)
            #expect(integers.integers.maximum(start: start, count: count) == run.max(), hint)
        }
    }

    @Test(arguments: PackedCase.widthCodes)
    func `sum, least and greatest under a mask`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for round in 0..<80 {
            let count = Int.random(in: 0...256, using: &random)
            let start = round % 2
            let values = PackedCase.values(start + count, widthCode: widthCode, using: &random)
            let buffer = try PackedBuffer(values, widthCode: widthCode)
            let mask = randomMask(count, using: &random)
            let chosen = (0..<count).filter { mask[$0] }.map { values[start + $0] }
            let hint: Comment = "seed \(PackedCase.seed), round \(round), start \(start), count \(count)"
            #expect(buffer.integers.sum(mask, start: start) == chosen.reduce(Int128(0)) { $0 + Int128($1) }, hint)
            #expect(buffer.integers.minimum(mask, start: start) == chosen.min(), hint)
            #expect(buffer.integers.maximum(mask, start: start) == chosen.max(), hint)
        }
    }

    @Test(arguments: PackedCase.widthCodes, PackedCase.widthCodes)
    func `two runs of any widths compare element by element`(_ left: Int, _ right: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for count in [0, 1, 7, 63, 64, 65, 200, 256] {
            let starts = (Int.random(in: 0...2, using: &random), Int.random(in: 0...2, using: &random))
            let lefts = PackedCase.values(starts.0 + count, widthCode: left, using: &random)
            var rights = PackedCase.values(starts.1 + count, widthCode: right, using: &random)
            for row in 0..<count where row % 3 == 0 && PackedCase.range(right).contains(lefts[starts.0 + row]) {
                rights[starts.1 + row] = lefts[starts.0 + row]
            }
            let leftBuffer = try PackedBuffer(lefts, widthCode: left)
            let rightBuffer = try PackedBuffer(rights, widthCode: right)
            for op in Relation.allCases {
                let mask = leftBuffer.integers.compare(
                    op, with: rightBuffer.integers, start: starts.0, otherStart: starts.1, count: count)
                let expected = naiveMask(count) { op.holds(lefts[starts.0 + $0], rights[starts.1 + $0]) }
                #expect(mask == expected, "seed \(PackedCase.seed), \(op), starts \(starts), count \(count)")
            }
        }
    }

    @Test(arguments: PackedCase.widthCodes)
    func `membership in sets of any size`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        for size in [0, 1, 2, 8, 9, 40, 300] {
            let count = Int.random(in: 0...256, using: &random)
            let start = size % 2
            let values = PackedCase.values(start + count, widthCode: widthCode, using: &random)
            let members = (0..<size).map { _ in
                Bool.random(using: &random)
                    ? values.randomElement(using: &random) ?? 1
                    : Int64.random(in: -300...300, using: &random)
            }
            let set = IntegerSet(members)
            let buffer = try PackedBuffer(values, widthCode: widthCode)
            let mask = buffer.integers.isMember(of: set, start: start, count: count)
            #expect(mask == naiveMask(count) { members.contains(values[start + $0]) }, "seed \(PackedCase.seed), size \(size)")
            for value in members + [0, 1, -1, .min, .max] { #expect(set.contains(value) == members.contains(value)) }
        }
    }

    @Test(arguments: PackedCase.widthCodes)
    func `keys are found in ascending unsigned arrays`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        let width = (1 << widthCode) >> 1
        let greatest: UInt64 = width == 64 ? .max : (1 << UInt64(width)) - 1
        for count in [0, 1, 2, 3, 10, 100, 256] {
            let keys = Set((0..<count).map { _ in UInt64.random(in: 0...greatest, using: &random) }).sorted()
            let buffer = try PackedBuffer(keys.map { Int64(bitPattern: $0) }, widthCode: widthCode)
            for key in keys.flatMap({ [$0, $0 &- 1, $0 &+ 1] }) + [0, 1, greatest, .max, 1 << 63] {
                let lower = keys.firstIndex { $0 >= key } ?? keys.count
                #expect(buffer.integers.lowerBound(key) == lower, "seed \(PackedCase.seed), key \(key)")
                #expect(buffer.integers.upperBound(key) == keys.firstIndex { $0 > key } ?? keys.count)
                #expect(buffer.integers.index(ofUnsigned: key) == keys.firstIndex(of: key))
            }
        }
    }

    @Test(arguments: [0, 4, 5, 6, 7])
    func `keys are found in ascending signed arrays, spread evenly or in heaps`(_ widthCode: Int) throws {
        var random = SeededGenerator(seed: PackedCase.seed)
        let range = PackedCase.range(widthCode)
        for (count, heaps) in [(0, 1), (1, 1), (63, 3), (65, 60), (256, 1), (1000, 4), (1000, 1000)] {
            let centres = (0..<heaps).map { _ in Int64.random(in: range, using: &random) }
            let keys = (0..<count).map { _ in
                let near = (centres.randomElement(using: &random) ?? 0).addingReportingOverflow(
                    .random(in: 0...40, using: &random))
                return near.overflow ? range.upperBound : min(near.partialValue, range.upperBound)
            }.sorted()
            let buffer = try PackedBuffer(keys, widthCode: widthCode)
            for key in keys.flatMap({ [$0, $0 &- 1, $0 &+ 1] }) + [0, range.lowerBound, range.upperBound, .min, .max] {
                let expected = keys.firstIndex { $0 >= key } ?? keys.count
                #expect(buffer.integers.lowerBound(signed: key) == expected, "seed \(PackedCase.seed), \(count) keys, \(key)")
            }
            // Whatever the order of hostile keys: an answer, and no read outside.
            let shuffled = try PackedBuffer(keys.shuffled(using: &random), widthCode: widthCode)
            for key in keys.prefix(50) { #expect((0...count).contains(shuffled.integers.lowerBound(signed: key))) }
        }
    }
}

@Suite("Row masks")
struct KernelsMaskTests {
    @Test func `counting, cutting and walking agree with a list of rows`() {
        var random = SeededGenerator(seed: PackedCase.seed)
        for round in 0..<200 {
            let mask = randomMask(round == 0 ? 256 : Int.random(in: 0...256, using: &random), using: &random)
            let rows = (0..<256).filter { mask[$0] }
            var walked: [Int] = []
            mask.forEach { walked.append($0) }
            #expect(walked == rows)
            #expect(mask.count == rows.count && mask.isEmpty == rows.isEmpty)
            #expect(mask.first == rows.first && mask.last == rows.last)
            #expect(mask.filter { $0 % 3 == 0 } == naiveMask(256) { mask[$0] && $0 % 3 == 0 })
            for limit in [0, 1, 5, rows.count, rows.count + 1] {
                let kept = Set(rows.prefix(limit))
                #expect(mask.prefix(limit) == naiveMask(256) { kept.contains($0) }, "seed \(PackedCase.seed), limit \(limit)")
                #expect(mask.dropFirst(limit) == mask.subtracting(mask.prefix(limit)))
                #expect(mask.row(ofRank: limit) == (limit < rows.count ? rows[limit] : nil))
            }
        }
    }

    @Test(arguments: 0...257)
    func `the first rows and their complement`(_ count: Int) {
        let mask = Mask(first: count)
        #expect(mask == naiveMask(256) { $0 < count })
        #expect(Mask.none.inverted(first: count) == mask)
        #expect(mask.inverted(first: 256) == naiveMask(256) { $0 >= count })
    }
}

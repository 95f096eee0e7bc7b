// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What the tests of packed arrays share.
enum PackedCase {
    /// The seed of all property tests of the kernels.
    static let seed: UInt64 = 20_240_601

    static let widthCodes = Array(0...7)

    /// The smallest and the largest element of a width.
    static func range(_ widthCode: Int) -> ClosedRange<Int64> {
        switch widthCode {
        case 0: return 0...0
        case 1, 2, 3: return 0...((1 << ((1 << widthCode) >> 1)) - 1)
        case 7: return .min ... .max
        default:
            let half = Int64(1) << (((1 << widthCode) >> 1) - 1)
            return -half...(half - 1)
        }
    }

    /// Random elements of a width; half of them few different ones, the limits among them.
    static func values(_ count: Int, widthCode: Int, using random: inout SeededGenerator) -> [Int64] {
        let range = range(widthCode)
        let few =
            [range.lowerBound, range.upperBound, 0, min(1, range.upperBound), max(-1, range.lowerBound)]
            + (0..<3).map { _ in Int64.random(in: range, using: &random) }
        return (0..<count).map { _ in
            Bool.random(using: &random) ? few.randomElement(using: &random) ?? 0 : .random(in: range, using: &random)
        }
    }

    /// Needles that matter for a width: its limits and their neighbours, elements and theirs, far away ones.
    static func needles(_ widthCode: Int, _ values: [Int64], using random: inout SeededGenerator) -> [Int64] {
        let range = range(widthCode)
        let element = values.randomElement(using: &random) ?? 0
        let bounds = [range.lowerBound, range.upperBound, element, 0, Int64.min, Int64.max]
        return Array(Set(bounds.flatMap { [$0, $0 &- 1, $0 &+ 1] }))
    }
}

/// A mask made row by row.
func naiveMask(_ count: Int, _ predicate: (Int) -> Bool) -> Mask {
    var mask = Mask.none
    for row in 0..<count where predicate(row) { mask[row] = true }
    return mask
}

/// A random mask of the first `count` rows: mostly empty, half full or mostly full.
func randomMask(_ count: Int, using random: inout SeededGenerator) -> Mask {
    let style = Int.random(in: 0..<5, using: &random)
    if style == 0 { return .none }
    if style == 1 { return Mask(first: count) }
    let share = [0.02, 0.5, 0.95][style - 2]
    return naiveMask(count) { _ in Double.random(in: 0..<1, using: &random) < share }
}

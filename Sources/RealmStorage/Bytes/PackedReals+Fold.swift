// SPDX-License-Identifier: Apache-2.0

/// The running sum of numbers that are neither null nor NaN.
///
/// Numbers are added one after the other in row order and in double precision, so that a sum does not depend on how
/// rows are spread over leaves, and equals the reference engine's to the last bit.
package struct RealSum: Sendable {
    package var sum: Double = 0
    /// How many numbers were added.
    package var count = 0

    package init() {}

    /// The average, or nil when nothing was added.
    package var average: Double? { count == 0 ? nil : sum / Double(count) }
}

extension PackedReals {
    /// Adds the numbers in the rows of `mask`, row 0 being element `start` and `count` the rows there are.
    @inline(__always)
    func add(_ mask: Mask, _ start: Int, _ count: Int, to total: inout RealSum) {
        let rows = numbers(start, count) & mask
        var sum = total.sum
        for group in 0..<4 {
            let word = rows.words[group]
            let first = start &+ group &<< 6
            if word == .max {
                for index in 0..<64 { sum += Double(number(first &+ index)) }
            } else {
                PackedIntegers.forEachRow(word) { sum += Double(number(first &+ $0)) }
            }
        }
        total.sum = sum
        total.count &+= rows.count
    }

    /// The least number in the rows of `mask`; nil when all are null or NaN.
    @inline(__always)
    func least(_ mask: Mask, _ start: Int, _ count: Int) -> Real? { extreme(mask, start, count) { $0 < $1 } }

    /// The greatest number in the rows of `mask`; nil when all are null or NaN.
    @inline(__always)
    func greatest(_ mask: Mask, _ start: Int, _ count: Int) -> Real? { extreme(mask, start, count) { $0 > $1 } }

    @inline(__always)
    private func extreme(_ mask: Mask, _ start: Int, _ count: Int, _ isBetter: (Real, Real) -> Bool) -> Real? {
        let rows = numbers(start, count) & mask
        guard let firstRow = rows.first else { return nil }
        var result = number(start &+ firstRow)
        for group in 0..<4 {
            let word = rows.words[group]
            let first = start &+ group &<< 6
            if word == .max {
                let found = extreme(ofGroup: first, isBetter)
                if isBetter(found, result) { result = found }
            } else {
                PackedIntegers.forEachRow(word) { row in
                    let found = number(first &+ row)
                    if isBetter(found, result) { result = found }
                }
            }
        }
        guard result == 0 else { return result }
        // Of equal zeros the first counts, whatever its sign; the group search may have met another.
        return (compare(.equal, 0, start, count) & rows).first.map { number(start &+ $0) }
    }

    /// The best of 64 numbers: four searches side by side, which the processor can overlap.
    @inline(__always)
    private func extreme(ofGroup first: Int, _ isBetter: (Real, Real) -> Bool) -> Real {
        var lanes = (number(first), number(first &+ 1), number(first &+ 2), number(first &+ 3))
        var index = 4
        while index < 64 {
            let next = (
                number(first &+ index), number(first &+ index &+ 1), number(first &+ index &+ 2), number(first &+ index &+ 3))
            lanes.0 = isBetter(next.0, lanes.0) ? next.0 : lanes.0
            lanes.1 = isBetter(next.1, lanes.1) ? next.1 : lanes.1
            lanes.2 = isBetter(next.2, lanes.2) ? next.2 : lanes.2
            lanes.3 = isBetter(next.3, lanes.3) ? next.3 : lanes.3
            index &+= 4
        }
        let left = isBetter(lanes.1, lanes.0) ? lanes.1 : lanes.0
        let right = isBetter(lanes.3, lanes.2) ? lanes.3 : lanes.2
        return isBetter(right, left) ? right : left
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Sums, least and greatest numbers of the rows of a mask.
extension PackedReals {
    /// Adds the numbers in the rows of `mask` to `total`, and counts them; null and NaN are left out.
    ///
    /// Groups of 64 are added without a search for nulls first: with a null or NaN among them the
    /// sum becomes NaN, and only then the group is added again without those.
    ///
    /// - Parameters:
    ///   - mask: The rows to add.
    ///   - start: The element that row 0 represents.
    ///   - count: How many rows there are, at most 256.
    ///   - total: The sum so far.
    @inline(__always)
    func add(_ mask: Mask, _ start: Int, count: Int, to total: inout RealSum) {
        checkRun(start, count)
        let rows = mask & Mask(first: count)
        var sum = total.sum
        var added = rows.count
        for group in 0..<4 where rows.words[group] != 0 {
            let word = rows.words[group]
            let next = self.sum(start &+ group &<< 6, word, addedTo: sum)
            if next.isNaN {
                let rest = word & numbers(start, count: count).words[group]
                added &-= word.nonzeroBitCount &- rest.nonzeroBitCount
                sum = self.sum(start &+ group &<< 6, rest, addedTo: sum)
            } else {
                sum = next
            }
        }
        total.sum = sum
        total.count &+= added
    }

    /// Adds all numbers of this array and of another one to a total of each, as `add` does.
    ///
    /// Numbers of one total have to be added one after the other, since each sum is rounded; the processor waits for it. Two totals are
    /// calculated in the time of one.
    ///
    /// - Parameters:
    ///   - total: The sum so far of this array, which has at most 256 numbers.
    ///   - other: The other array, which has at most 256 numbers, too.
    ///   - otherTotal: The sum so far of the other array.
    @inline(__always)
    func add(to total: inout RealSum, and other: PackedReals, to otherTotal: inout RealSum) {
        var first = 0
        while first &+ 64 <= Swift.min(count, other.count) {
            var sums = (total.sum, otherTotal.sum)
            for index in 0..<64 {
                sums.0 += Double(number(first &+ index))
                sums.1 += Double(other.number(first &+ index))
            }
            // Null and NaN are left out, one array after the other, from here on.
            guard !sums.0.isNaN, !sums.1.isNaN else { break }
            total = RealSum(sum: sums.0, count: total.count &+ 64)
            otherTotal = RealSum(sum: sums.1, count: otherTotal.count &+ 64)
            first &+= 64
        }
        let done = Mask(first: first)
        add(Mask(first: count).subtracting(done), 0, count: count, to: &total)
        other.add(Mask(first: other.count).subtracting(done), 0, count: other.count, to: &otherTotal)
    }

    /// Returns `sum` plus the up to 64 elements from `first` on whose bit is set, added in the order of the rows.
    @inline(__always)
    private func sum(_ first: Int, _ rows: UInt64, addedTo sum: Double) -> Double {
        var sum = sum
        if rows == .max {
            for index in 0..<64 { sum += Double(number(first &+ index)) }
        } else {
            PackedIntegers.forEachRow(rows) { sum += Double(number(first &+ $0)) }
        }
        return sum
    }

    /// Returns the least number in the rows of `mask`; nil when all are null or NaN.
    @inline(__always)
    func least(_ mask: Mask, _ start: Int, count: Int) -> Real? { extreme(mask, start, count: count) { $0 < $1 } }

    /// Returns the greatest number in the rows of `mask`; nil when all are null or NaN.
    @inline(__always)
    func greatest(_ mask: Mask, _ start: Int, count: Int) -> Real? { extreme(mask, start, count: count) { $0 > $1 } }

    /// Returns the best of the numbers in the rows of `mask` by `isBetter`; nil when there are
    /// none. Of equal zeros it is the first, whatever its sign.
    @inline(__always)
    private func extreme(_ mask: Mask, _ start: Int, count: Int, _ isBetter: (Real, Real) -> Bool) -> Real? {
        let rows = numbers(start, count: count) & mask
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
        // The result is the first of equal zeros, whatever its sign; the search by groups may have found
        // another one.
        return (compare(.equal, 0, start, count: count) & rows).first.map { number(start &+ $0) }
    }

    /// Returns the best of 64 numbers. Four searches run side by side, so that the processor can overlap them.
    @inline(__always)
    private func extreme(ofGroup first: Int, _ isBetter: (Real, Real) -> Bool) -> Real {
        var lanes = (number(first), number(first &+ 1), number(first &+ 2), number(first &+ 3))
        var index = 4
        while index < 64 {
            let next = (
                number(first &+ index), number(first &+ index &+ 1), number(first &+ index &+ 2), number(first &+ index &+ 3)
            )
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

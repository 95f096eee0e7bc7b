// SPDX-License-Identifier: Apache-2.0

/// Tests of a whole leaf of integers at once, null included.
///
/// The row `from` becomes bit 0 of a mask, and a mask has 256 bits: a cluster leaf starts at 0 and
/// fits, the longer leaves of collections are taken 256 rows at a time.
extension IntLeaf {
    /// Returns how many rows a mask from row `from` on covers: those that the leaf has, at most
    /// 256.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// Returns the rows that hold null, counted from row `from`.
    package func nulls(from row: Int = 0) -> Mask {
        guard isNullable else { return .none }
        return elements.compare(.equal, nullMarker, start: start &+ row, count: rowCount(from: row))
    }

    /// Returns the rows that compare with `needle` as `op` demands: null equals null only, and nothing is ordered against it.
    ///
    /// - Parameters:
    ///   - op: The relation of the stored integer to `needle`.
    ///   - needle: The constant on the right side; nil is null.
    ///   - row: The row that becomes bit 0 of the mask.
    package func compare(_ op: Relation, _ needle: Int64?, from row: Int = 0) -> Mask {
        guard let needle else { return compareWithNull(op, row) }
        let mask = elements.compare(op, needle, start: start &+ row, count: rowCount(from: row))
        return adjustedForNulls(mask, op, row)
    }

    /// Returns the rows that compare with the double `needle` as `op` demands, by value and in the
    /// general order: nothing is rounded, and NaN is less than every number.
    package func compare(_ op: Relation, real needle: Double, from row: Int = 0) -> Mask {
        guard !needle.isNaN else {
            return constant(op == .greater || op == .greaterOrEqual || op == .notEqual, op, row)
        }
        switch ConvertedConstant<Int64>(needle).comparison(op) {
        case .with(let op, let number): return compare(op, number, from: row)
        case .constant(let answer): return constant(answer, op, row)
        }
    }

    /// Returns the rows with a value in `low...high`; null is in no range.
    ///
    /// - Parameters:
    ///   - low: The least value that matches.
    ///   - high: The greatest value that matches.
    ///   - row: The row that becomes bit 0 of the mask.
    package func isBetween(_ low: Int64, _ high: Int64, from row: Int = 0) -> Mask {
        let mask = elements.isBetween(low, high, start: start &+ row, count: rowCount(from: row))
        return mask.isEmpty || !isNullable ? mask : mask.subtracting(nulls(from: row))
    }

    /// Returns the rows whose value is in `set`.
    ///
    /// - Parameters:
    ///   - set: The values that match.
    ///   - orNull: Whether null matches too.
    ///   - row: The row that becomes bit 0 of the mask.
    package func isMember(of set: IntegerSet, orNull: Bool = false, from row: Int = 0) -> Mask {
        let mask = elements.isMember(of: set, start: start &+ row, count: rowCount(from: row))
        guard isNullable else { return mask }
        let nulls = nulls(from: row)
        return orNull ? mask | nulls : mask.subtracting(nulls)
    }

    /// Returns the rows that compare with the same row of `other` as `op` demands; null equals null only.
    ///
    /// - Parameter other: Another column of the same cluster leaf, which has as many rows.
    package func compare(_ op: Relation, with other: IntLeaf, from row: Int = 0) -> Mask {
        let rows = rowCount(from: row)
        let mask = elements.compare(
            op, with: other.elements, start: start &+ row, otherStart: other.start &+ row, count: rows)
        guard isNullable || other.isNullable else { return mask }
        let mine = nulls(from: row)
        let theirs = other.nulls(from: row)
        let ordinary = mask.subtracting(mine | theirs)
        if op == .notEqual { return ordinary | Mask(words: mine.words ^ theirs.words) }
        return op.includesEqual ? ordinary | mine & theirs : ordinary
    }

    /// Returns the rows that compare with null as `op` demands: null equals null only, and is neither less nor greater than it.
    private func compareWithNull(_ op: Relation, _ row: Int) -> Mask {
        if op == .notEqual { return nulls(from: row).inverted(first: rowCount(from: row)) }
        return op.includesEqual ? nulls(from: row) : .none
    }

    /// Returns the same answer for every value, and for null what `op` states of null against a value.
    private func constant(_ answer: Bool, _ op: Relation, _ row: Int) -> Mask {
        adjustedForNulls(answer ? Mask(first: rowCount(from: row)) : .none, op, row)
    }

    /// Corrects the null rows of a comparison with a value: null is unequal to it, and neither less nor greater.
    @inline(__always)
    private func adjustedForNulls(_ mask: Mask, _ op: Relation, _ row: Int) -> Mask {
        guard isNullable else { return mask }
        return op == .notEqual ? mask | nulls(from: row) : mask.subtracting(nulls(from: row))
    }
}

// MARK: - Folds

/// Sums, least and greatest values of the rows of a mask. Null rows are left out of all of them.
extension IntLeaf {
    /// Returns the rows of `mask` that hold a value rather than null.
    package func values(_ mask: Mask, from row: Int = 0) -> Mask {
        isNullable ? mask.subtracting(nulls(from: row)) : mask
    }

    /// Returns the exact sum of the values in the rows of `mask`, and how many values there are.
    ///
    /// - Parameters:
    ///   - mask: The rows to add; null rows are left out.
    ///   - row: The row that bit 0 of the mask represents.
    package func sum(_ mask: Mask, from row: Int = 0) -> (sum: Int128, count: Int) {
        let rows = values(mask, from: row)
        return (elements.sum(rows, start: start &+ row), rows.count)
    }

    /// Adds the values in the rows of `mask` to a sum in double precision, in the order of the rows.
    ///
    /// An average is computed this way, so that it is rounded as in the reference engine.
    package func add(_ mask: Mask, from row: Int = 0, to total: inout RealSum) {
        let rows = values(mask, from: row)
        total.count += rows.count
        let sum = elements.sum(rows, start: start &+ row)
        // While all partial sums are integers below 2^53 nothing is rounded, whatever the order.
        let limit = 9_007_199_254_740_992.0
        if elements.width < 64, abs(total.sum) < limit / 2, total.sum.rounded() == total.sum {
            total.sum += Double(sum)
        } else {
            rows.forEach { total.sum += Double(elements[start + row + $0]) }
        }
    }

    /// Returns the least value in the rows of `mask`; nil when all of them are null.
    package func minimum(_ mask: Mask, from row: Int = 0) -> Int64? {
        elements.minimum(values(mask, from: row), start: start &+ row)
    }

    /// Returns the greatest value in the rows of `mask`; nil when all of them are null.
    package func maximum(_ mask: Mask, from row: Int = 0) -> Int64? {
        elements.maximum(values(mask, from: row), start: start &+ row)
    }
}

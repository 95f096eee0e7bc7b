// SPDX-License-Identifier: Apache-2.0

/// Tests and folds of a whole leaf at once, null included.
///
/// `from` is the row that becomes bit 0 of a mask; a cluster leaf starts at 0 and fits, the longer leaves of
/// collections are taken 256 rows at a time.
extension IntLeaf {
    /// The rows that a mask from row `from` covers.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// The rows that hold null.
    package func nulls(from row: Int = 0) -> Mask {
        guard isNullable else { return .none }
        return elements.compare(.equal, nullMarker, start: start &+ row, count: rowCount(from: row))
    }

    /// The rows that compare so with `needle`: null equals null only, and nothing is ordered against it.
    package func compare(_ op: Relation, _ needle: Int64?, from row: Int = 0) -> Mask {
        guard let needle else { return compareWithNull(op, row) }
        let mask = elements.compare(op, needle, start: start &+ row, count: rowCount(from: row))
        return adjustedForNulls(mask, op, row)
    }

    /// The rows that compare so with `needle` by value, in the general order: nothing is rounded, and NaN is less
    /// than every number.
    package func compare(_ op: Relation, real needle: Double, from row: Int = 0) -> Mask {
        guard !needle.isNaN else {
            return constant(op == .greater || op == .greaterOrEqual || op == .notEqual, op, row)
        }
        switch ExactNeedle<Int64>(needle).comparison(op) {
        case .with(let op, let number): return compare(op, number, from: row)
        case .constant(let answer): return constant(answer, op, row)
        }
    }

    /// The rows with a value in `low...high`.
    package func isBetween(_ low: Int64, _ high: Int64, from row: Int = 0) -> Mask {
        let mask = elements.isBetween(low, high, start: start &+ row, count: rowCount(from: row))
        return mask.isEmpty || !isNullable ? mask : mask.subtracting(nulls(from: row))
    }

    /// The rows whose value is in `set`; null is in it when `orNull` says so.
    package func isMember(of set: IntegerSet, orNull: Bool = false, from row: Int = 0) -> Mask {
        let mask = elements.isMember(of: set, start: start &+ row, count: rowCount(from: row))
        guard isNullable else { return mask }
        let nulls = nulls(from: row)
        return orNull ? mask | nulls : mask.subtracting(nulls)
    }

    /// The rows that compare so with the same row of `other`, which has as many.
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

    /// Null equals null only, and is neither less nor greater than it.
    private func compareWithNull(_ op: Relation, _ row: Int) -> Mask {
        if op == .notEqual { return nulls(from: row).inverted(first: rowCount(from: row)) }
        return op.includesEqual ? nulls(from: row) : .none
    }

    /// The same answer for every value, and for null what `op` says of null against a value.
    private func constant(_ answer: Bool, _ op: Relation, _ row: Int) -> Mask {
        adjustedForNulls(answer ? Mask(first: rowCount(from: row)) : .none, op, row)
    }

    /// Null against a value: unequal, and neither less nor greater.
    @inline(__always)
    private func adjustedForNulls(_ mask: Mask, _ op: Relation, _ row: Int) -> Mask {
        guard isNullable else { return mask }
        return op == .notEqual ? mask | nulls(from: row) : mask.subtracting(nulls(from: row))
    }
}

// MARK: - Folds

/// Sums, least and greatest values of the rows of a mask.
extension IntLeaf {
    /// The rows of `mask` that hold a value.
    package func values(_ mask: Mask, from row: Int = 0) -> Mask {
        isNullable ? mask.subtracting(nulls(from: row)) : mask
    }

    /// The exact sum of the values in the rows of `mask`, and how many there are.
    package func sum(_ mask: Mask, from row: Int = 0) -> (sum: Int128, count: Int) {
        let rows = values(mask, from: row)
        return (elements.sum(rows, start: start &+ row), rows.count)
    }

    /// Adds the values in the rows of `mask` to a sum in double precision, one after the other as the reference
    /// engine does for an average.
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

    /// The least value in the rows of `mask`; nil when all are null.
    package func minimum(_ mask: Mask, from row: Int = 0) -> Int64? {
        elements.minimum(values(mask, from: row), start: start &+ row)
    }

    /// The greatest value in the rows of `mask`; nil when all are null.
    package func maximum(_ mask: Mask, from row: Int = 0) -> Int64? {
        elements.maximum(values(mask, from: row), start: start &+ row)
    }
}

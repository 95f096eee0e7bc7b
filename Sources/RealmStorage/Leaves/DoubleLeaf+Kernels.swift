// SPDX-License-Identifier: Apache-2.0

/// Tests and folds of a whole leaf at once. For `from` see `IntLeaf`.
extension DoubleLeaf {
    /// The numbers of the leaf.
    private var reals: PackedReals<Double> { PackedReals(node) }

    /// The rows that a mask from row `from` covers.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// The rows that hold null.
    package func nulls(from row: Int = 0) -> Mask { reals.nulls(row, count: rowCount(from: row)) }

    /// The rows that compare so with `needle`: null equals null only, and nothing is ordered against it.
    package func compare(
        _ op: Relation, _ needle: Double?, order: RealOrder, from row: Int = 0
    ) -> Mask {
        guard let needle, !needle.isPackedNull else { return reals.compareWithNull(op, row, count: rowCount(from: row)) }
        if order == .ieee { return reals.compare(op, needle, row, count: rowCount(from: row)) }
        return reals.compareInGeneralOrder(op, needle, row, count: rowCount(from: row))
    }

    /// The rows that compare so with an integer, exactly and in the general order.
    package func compare(_ op: Relation, integer: Int64, from row: Int = 0) -> Mask {
        reals.compare(op, ExactNeedle(integer), row, count: rowCount(from: row))
    }

    /// Adds the numbers in the rows of `mask`.
    package func add(_ mask: Mask, from row: Int = 0, to total: inout RealSum) {
        reals.add(mask, row, count: rowCount(from: row), to: &total)
    }

    /// The least number in the rows of `mask`; nil when all are null or NaN.
    package func minimum(_ mask: Mask, from row: Int = 0) -> Double? { reals.least(mask, row, count: rowCount(from: row)) }

    /// The greatest number in the rows of `mask`; nil when all are null or NaN.
    package func maximum(_ mask: Mask, from row: Int = 0) -> Double? { reals.greatest(mask, row, count: rowCount(from: row)) }
}

/// Tests and folds of a whole leaf at once. For `from` see `IntLeaf`.
extension FloatLeaf {
    /// The numbers of the leaf.
    private var reals: PackedReals<Float> { PackedReals(node) }

    /// The rows that a mask from row `from` covers.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// The rows that hold null.
    package func nulls(from row: Int = 0) -> Mask { reals.nulls(row, count: rowCount(from: row)) }

    /// The rows that compare so with `needle`: null equals null only, and nothing is ordered against it.
    package func compare(_ op: Relation, _ needle: Float?, order: RealOrder, from row: Int = 0) -> Mask {
        guard let needle, !needle.isPackedNull else { return reals.compareWithNull(op, row, count: rowCount(from: row)) }
        if order == .ieee { return reals.compare(op, needle, row, count: rowCount(from: row)) }
        return reals.compareInGeneralOrder(op, needle, row, count: rowCount(from: row))
    }

    /// The rows that compare so with a double, exactly and in the general order.
    package func compare(_ op: Relation, double needle: Double, from row: Int = 0) -> Mask {
        guard !needle.isNaN else {
            // A NaN of a double may have more bits than a float's, so row by row: this is rare.
            let key = OrderKey(needle)
            return Mask(first: rowCount(from: row)).filter { index in
                float(row &+ index).map { op.holds(OrderKey($0), key) } ?? (op == .notEqual)
            }
        }
        return reals.compare(op, ExactNeedle(needle), row, count: rowCount(from: row))
    }

    /// The rows that compare so with an integer, exactly and in the general order.
    package func compare(_ op: Relation, integer: Int64, from row: Int = 0) -> Mask {
        reals.compare(op, ExactNeedle(integer), row, count: rowCount(from: row))
    }

    /// Adds the numbers in the rows of `mask`, in double precision.
    package func add(_ mask: Mask, from row: Int = 0, to total: inout RealSum) {
        reals.add(mask, row, count: rowCount(from: row), to: &total)
    }

    /// The least number in the rows of `mask`; nil when all are null or NaN.
    package func minimum(_ mask: Mask, from row: Int = 0) -> Float? { reals.least(mask, row, count: rowCount(from: row)) }

    /// The greatest number in the rows of `mask`; nil when all are null or NaN.
    package func maximum(_ mask: Mask, from row: Int = 0) -> Float? { reals.greatest(mask, row, count: rowCount(from: row)) }
}

/// What the two types of numbers share.
extension PackedReals {
    /// Null equals null only.
    @inline(__always)
    fileprivate func compareWithNull(_ op: Relation, _ start: Int, count: Int) -> Mask {
        if op == .notEqual { return nulls(start, count: count).inverted(first: count) }
        return op.includesEqual ? nulls(start, count: count) : .none
    }

    /// With a constant of another type, in the general order.
    @inline(__always)
    fileprivate func compare(_ op: Relation, _ needle: ExactNeedle<Real>, _ start: Int, count: Int) -> Mask {
        switch needle.comparison(op) {
        case .with(let op, let number): return compareInGeneralOrder(op, number, start, count: count)
        case .constant(let answer):
            guard answer else { return .none }
            return op == .notEqual ? Mask(first: count) : nulls(start, count: count).inverted(first: count)
        }
    }
}

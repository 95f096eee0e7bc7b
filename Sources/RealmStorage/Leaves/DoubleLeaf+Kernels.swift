// SPDX-License-Identifier: Apache-2.0

/// Tests and folds of a whole leaf of doubles at once, 256 rows at a time. Rows of a mask are
/// counted from the `from` row, which is bit 0.
extension DoubleLeaf {
    /// The numbers of the leaf, as the kernels read them.
    private var reals: PackedReals<Double> { PackedReals(node) }

    /// Returns how many rows a mask from row `from` on covers: those that the leaf has, at most
    /// 256.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// Returns the rows that hold null, counted from row `from`.
    package func nulls(from row: Int = 0) -> Mask { reals.nulls(row, count: rowCount(from: row)) }

    /// Returns the rows that compare with `needle` as `op` demands: null equals null only, and nothing is ordered against it.
    ///
    /// - Parameters:
    ///   - op: The relation of the stored number to `needle`.
    ///   - needle: The constant on the right side; nil is null.
    ///   - order: Whether NaN compares as IEEE 754 has it, or is less than every number.
    ///   - row: The row that becomes bit 0 of the mask.
    package func compare(
        _ op: Relation, _ needle: Double?, order: RealOrder, from row: Int = 0
    ) -> Mask {
        guard let needle, !needle.isPackedNull else { return reals.compareWithNull(op, row, count: rowCount(from: row)) }
        if order == .ieee { return reals.compare(op, needle, row, count: rowCount(from: row)) }
        return reals.compareInGeneralOrder(op, needle, row, count: rowCount(from: row))
    }

    /// Returns the rows that compare with an integer as `op` demands, without rounding either side;
    /// NaN is less than every number.
    package func compare(_ op: Relation, integer: Int64, from row: Int = 0) -> Mask {
        reals.compare(op, ConvertedConstant(integer), row, count: rowCount(from: row))
    }

    /// Adds the numbers in the rows of `mask` to `total`, which also counts them. Null is left out.
    package func add(_ mask: Mask, from row: Int = 0, to total: inout RealSum) {
        reals.add(mask, row, count: rowCount(from: row), to: &total)
    }

    /// Adds all numbers of this leaf and of another one to a total of each, which takes about the time of one leaf. Both leaves are those of a
    /// cluster.
    package func add(to total: inout RealSum, and other: DoubleLeaf, to otherTotal: inout RealSum) {
        reals.add(to: &total, and: other.reals, to: &otherTotal)
    }

    /// Returns the least number in the rows of `mask`; nil when all of them are null or NaN.
    package func minimum(_ mask: Mask, from row: Int = 0) -> Double? { reals.least(mask, row, count: rowCount(from: row)) }

    /// Returns the greatest number in the rows of `mask`; nil when all of them are null or NaN.
    package func maximum(_ mask: Mask, from row: Int = 0) -> Double? { reals.greatest(mask, row, count: rowCount(from: row)) }
}

/// Tests and folds of a whole leaf of floats at once, 256 rows at a time. Rows of a mask are
/// counted from the `from` row, which is bit 0.
extension FloatLeaf {
    /// The numbers of the leaf, as the kernels read them.
    private var reals: PackedReals<Float> { PackedReals(node) }

    /// Returns how many rows a mask from row `from` on covers: those that the leaf has, at most
    /// 256.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// Returns the rows that hold null, counted from row `from`.
    package func nulls(from row: Int = 0) -> Mask { reals.nulls(row, count: rowCount(from: row)) }

    /// Returns the rows that compare with `needle` as `op` demands: null equals null only, and nothing is ordered against it.
    ///
    /// - Parameters:
    ///   - op: The relation of the stored number to `needle`.
    ///   - needle: The constant on the right side; nil is null.
    ///   - order: Whether NaN compares as IEEE 754 has it, or is less than every number.
    ///   - row: The row that becomes bit 0 of the mask.
    package func compare(_ op: Relation, _ needle: Float?, order: RealOrder, from row: Int = 0) -> Mask {
        guard let needle, !needle.isPackedNull else { return reals.compareWithNull(op, row, count: rowCount(from: row)) }
        if order == .ieee { return reals.compare(op, needle, row, count: rowCount(from: row)) }
        return reals.compareInGeneralOrder(op, needle, row, count: rowCount(from: row))
    }

    /// Returns the rows that compare with a double as `op` demands, without rounding either side;
    /// NaN is less than every number.
    package func compare(_ op: Relation, double needle: Double, from row: Int = 0) -> Mask {
        guard !needle.isNaN else {
            // A NaN of a double may have more bits than a float's, so rows are compared one by one; this
            // is rare.
            let key = OrderKey(needle)
            return Mask(first: rowCount(from: row)).filter { index in
                float(row &+ index).map { op.holds(OrderKey($0), key) } ?? (op == .notEqual)
            }
        }
        return reals.compare(op, ConvertedConstant(needle), row, count: rowCount(from: row))
    }

    /// Returns the rows that compare with an integer as `op` demands, without rounding either side;
    /// NaN is less than every number.
    package func compare(_ op: Relation, integer: Int64, from row: Int = 0) -> Mask {
        reals.compare(op, ConvertedConstant(integer), row, count: rowCount(from: row))
    }

    /// Adds the numbers in the rows of `mask` to `total` in double precision, and counts them. Null is left out.
    package func add(_ mask: Mask, from row: Int = 0, to total: inout RealSum) {
        reals.add(mask, row, count: rowCount(from: row), to: &total)
    }

    /// Returns the least number in the rows of `mask`; nil when all of them are null or NaN.
    package func minimum(_ mask: Mask, from row: Int = 0) -> Float? { reals.least(mask, row, count: rowCount(from: row)) }

    /// Returns the greatest number in the rows of `mask`; nil when all of them are null or NaN.
    package func maximum(_ mask: Mask, from row: Int = 0) -> Float? { reals.greatest(mask, row, count: rowCount(from: row)) }
}

/// Comparisons that leaves of floats and of doubles share.
extension PackedReals {
    /// Returns the rows that compare with null as `op` demands: null equals null only, and nothing is ordered against it.
    @inline(__always)
    fileprivate func compareWithNull(_ op: Relation, _ start: Int, count: Int) -> Mask {
        if op == .notEqual { return nulls(start, count: count).inverted(first: count) }
        return op.includesEqual ? nulls(start, count: count) : .none
    }

    /// Returns the rows that compare with a constant of another number type, in the general order and without rounding.
    ///
    /// Where no number of the leaf's type can decide the comparison differently, all non-null rows have the same answer.
    @inline(__always)
    fileprivate func compare(_ op: Relation, _ needle: ConvertedConstant<Real>, _ start: Int, count: Int) -> Mask {
        switch needle.comparison(op) {
        case .with(let op, let number): return compareInGeneralOrder(op, number, start, count: count)
        case .constant(let answer):
            guard answer else { return .none }
            return op == .notEqual ? Mask(first: count) : nulls(start, count: count).inverted(first: count)
        }
    }
}

/// The numbers of a leaf's node, for the kernels.
extension PackedReals {
    /// Views the elements of a node that was checked to hold numbers of this size. It borrows from the node.
    @inline(__always)
    init(_ node: Node) { unsafe self.init(payload: node.payload, count: node.count) }
}

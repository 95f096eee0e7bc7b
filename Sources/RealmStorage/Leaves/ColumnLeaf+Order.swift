// SPDX-License-Identifier: Apache-2.0

/// Sort keys of rows, and all rows on one side of a key at once.
///
/// The second is what makes `SORT … LIMIT` fast: once enough rows are known, only rows that sort before the worst
/// of them are looked at, and mostly a leaf has none.
extension IntLeaf {
    /// The key by which the value in `row` is sorted; that of null is the least.
    @inlinable package func orderKey(_ row: Int) -> OrderKey { integer(row).map { OrderKey($0) } ?? .null }

    /// The rows whose key compares so with `key`; `op` is one of the four that order.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, key.integer, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// Sort keys of booleans.
extension BoolLeaf {
    /// The key by which the value in `row` is sorted; that of null is the least.
    @inlinable package func orderKey(_ row: Int) -> OrderKey { bool(row).map { OrderKey($0) } ?? .null }

    /// The rows whose key compares so with `key`; `op` is one of the four that order.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, key.integer != 0, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// Sort keys of doubles.
extension DoubleLeaf {
    /// The key by which the value in `row` is sorted; that of null is the least.
    @inlinable package func orderKey(_ row: Int) -> OrderKey { double(row).map { OrderKey($0) } ?? .null }

    /// The rows whose key compares so with `key`; `op` is one of the four that order.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, key.double, order: .general, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// Sort keys of floats.
extension FloatLeaf {
    /// The key by which the value in `row` is sorted; that of null is the least.
    @inlinable package func orderKey(_ row: Int) -> OrderKey { float(row).map { OrderKey($0) } ?? .null }

    /// The rows whose key compares so with `key`; `op` is one of the four that order.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, double: key.double, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// Sort keys of dates.
extension TimestampLeaf {
    /// Throws `.corrupt` for an impossible date.
    @inlinable package func orderKey(_ row: Int) throws(StorageError) -> OrderKey {
        guard let date = try timestamp(row) else { return .null }
        return OrderKey(date)
    }

    /// The rows whose key compares so with `key`; `op` is one of the four that order.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = seconds.rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, key.timestamp, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// What null adds to an answer about values.
extension Mask {
    /// This mask being that of the nulls among `count` rows: the rows that compare so with null, the least value.
    fileprivate func compared(_ op: Relation, toNull count: Int) -> Mask {
        switch op {
        case .less, .notEqual: return op == .less ? .none : inverted(first: count)
        case .lessOrEqual, .equal: return self
        case .greater: return inverted(first: count)
        case .greaterOrEqual: return Mask(first: count)
        }
    }

    /// Null is less than any value, which comparisons of values leave out.
    fileprivate func addingNulls(_ op: Relation, _ nulls: () -> Mask) -> Mask {
        op == .less || op == .lessOrEqual ? self | nulls() : self
    }
}

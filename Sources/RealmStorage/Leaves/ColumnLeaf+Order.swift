// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Sort keys of integers, and all rows on one side of a key at once.
///
/// The second is what makes `SORT … LIMIT` fast: once enough rows are known, only rows that sort
/// before the worst of them are read, and most leaves have none of those.
extension IntLeaf {
    /// Returns the key by which the value in `row` is sorted; that of null is less than any other.
    @inlinable package func orderKey(_ row: Int) -> OrderKey { integer(row).map { OrderKey($0) } ?? .null }

    /// Returns the rows whose sort key compares with `key` as `op` demands.
    ///
    /// - Parameters:
    ///   - op: One of the four ordering relations; null is less than any value.
    ///   - key: The sort key of an integer, or of null.
    ///   - row: The row that becomes bit 0 of the mask.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, key.integer, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// Sort keys of booleans, and all rows on one side of a key at once.
extension BoolLeaf {
    /// Returns the key by which the value in `row` is sorted: null, then false, then true.
    @inlinable package func orderKey(_ row: Int) -> OrderKey { bool(row).map { OrderKey($0) } ?? .null }

    /// Returns the rows whose sort key compares with `key` as `op` demands.
    ///
    /// - Parameters:
    ///   - op: One of the four ordering relations; null is less than any value.
    ///   - key: The sort key of a boolean, or of null.
    ///   - row: The row that becomes bit 0 of the mask.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, key.integer != 0, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// Sort keys of doubles, and all rows on one side of a key at once.
extension DoubleLeaf {
    /// Returns the key by which the value in `row` is sorted; that of null is less than any other.
    @inlinable package func orderKey(_ row: Int) -> OrderKey { double(row).map { OrderKey($0) } ?? .null }

    /// Returns the rows whose sort key compares with `key` as `op` demands.
    ///
    /// - Parameters:
    ///   - op: One of the four ordering relations; null is less than any value.
    ///   - key: The sort key of a double, or of null.
    ///   - row: The row that becomes bit 0 of the mask.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, key.double, order: .general, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// Sort keys of floats, and all rows on one side of a key at once.
extension FloatLeaf {
    /// Returns the key by which the value in `row` is sorted; that of null is less than any other.
    @inlinable package func orderKey(_ row: Int) -> OrderKey { float(row).map { OrderKey($0) } ?? .null }

    /// Returns the rows whose sort key compares with `key` as `op` demands.
    ///
    /// - Parameters:
    ///   - op: One of the four ordering relations; null is less than any value.
    ///   - key: The sort key of a float or double, or of null; numbers are compared exactly.
    ///   - row: The row that becomes bit 0 of the mask.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, double: key.double, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// Sort keys of dates, and all rows on one side of a key at once.
extension TimestampLeaf {
    /// Returns the key by which the date in `row` is sorted; that of null is less than any other.
    ///
    /// - Throws: `.corrupt` for a date whose nanoseconds are out of range or contradict the
    ///   seconds.
    @inlinable package func orderKey(_ row: Int) throws(StorageError) -> OrderKey {
        guard let date = try timestamp(row) else { return .null }
        return OrderKey(date)
    }

    /// Returns the rows whose sort key compares with `key` as `op` demands.
    ///
    /// - Parameters:
    ///   - op: One of the four ordering relations; null is less than any date.
    ///   - key: The sort key of a date, or of null.
    ///   - row: The row that becomes bit 0 of the mask.
    package func rows(_ op: Relation, _ key: OrderKey, from row: Int = 0) -> Mask {
        let count = seconds.rowCount(from: row)
        guard !key.isNull else { return nulls(from: row).compared(op, toNull: count) }
        return compare(op, key.timestamp, from: row).addingNulls(op) { nulls(from: row) }
    }
}

/// Null in comparisons of sort keys, where it is the least value.
extension Mask {
    /// Returns the rows, of the first `count`, that compare with null as `op` demands, given that
    /// this mask is that of the nulls.
    fileprivate func compared(_ op: Relation, toNull count: Int) -> Mask {
        switch op {
        case .less, .notEqual: return op == .less ? .none : inverted(first: count)
        case .lessOrEqual, .equal: return self
        case .greater: return inverted(first: count)
        case .greaterOrEqual: return Mask(first: count)
        }
    }

    /// Adds the null rows to the rows of a comparison with a value where `op` asks for lesser keys:
    /// comparisons of values leave null out, but in the order of sort keys null is the least.
    fileprivate func addingNulls(_ op: Relation, _ nulls: () -> Mask) -> Mask {
        op == .less || op == .lessOrEqual ? self | nulls() : self
    }
}

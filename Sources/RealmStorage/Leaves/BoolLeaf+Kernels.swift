// SPDX-License-Identifier: Apache-2.0

/// Tests of a whole leaf of booleans at once, 256 rows at a time.
///
/// The stored elements are 0 for false, 3 for null and anything else for true. Rows of a mask are
/// counted from the `from` row, which is bit 0.
extension BoolLeaf {
    /// The element that means null.
    private static let null: Int64 = 3

    /// Returns how many rows a mask from row `from` on covers: those that the leaf has, at most
    /// 256.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// Returns the rows that hold null, counted from row `from`.
    package func nulls(from row: Int = 0) -> Mask {
        elements.compare(.equal, BoolLeaf.null, start: row, count: rowCount(from: row))
    }

    /// Returns the rows that hold `value`; null rows are in no answer.
    ///
    /// - Parameters:
    ///   - value: The boolean that is searched.
    ///   - row: The row that becomes bit 0 of the mask.
    package func isEqual(to value: Bool, from row: Int = 0) -> Mask {
        let rows = rowCount(from: row)
        let falses = elements.compare(.equal, 0, start: row, count: rows)
        return value ? falses.inverted(first: rows).subtracting(nulls(from: row)) : falses
    }

    /// Returns the rows that compare with `needle` as `op` demands: false is less than true, and null equals null only.
    ///
    /// - Parameters:
    ///   - op: The relation of the stored value to `needle`.
    ///   - needle: The constant on the right side; nil is null.
    ///   - row: The row that becomes bit 0 of the mask.
    package func compare(_ op: Relation, _ needle: Bool?, from row: Int = 0) -> Mask {
        guard let needle else {
            if op == .notEqual { return nulls(from: row).inverted(first: rowCount(from: row)) }
            return op.includesEqual ? nulls(from: row) : .none
        }
        if op == .notEqual { return isEqual(to: needle, from: row).inverted(first: rowCount(from: row)) }
        var mask = Mask.none
        for value in [false, true] where op.holds(value ? 1 : 0, needle ? 1 : 0) {
            mask = mask | isEqual(to: value, from: row)
        }
        return mask
    }
}

/// Tests of a whole leaf of links at once, 256 rows at a time. Rows of a mask are counted from the `from` row, which is bit 0.
extension LinkLeaf {
    /// Returns how many rows a mask from row `from` on covers: those that the leaf has, at most
    /// 256.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// Returns the rows that link to the object with `key` in the target table of the leaf.
    ///
    /// - Parameters:
    ///   - key: The key of a live object.
    ///   - row: The row that becomes bit 0 of the mask.
    package func isEqual(to key: ObjectKey, from row: Int = 0) -> Mask {
        elements.compare(.equal, key.rawValue &+ shift, start: row, count: rowCount(from: row))
    }

    /// Returns the rows that link to nothing, or to a tombstone: a deleted object that links still refer to.
    package func nulls(from row: Int = 0) -> Mask {
        elements.compare(.less, shift, start: row, count: rowCount(from: row))
    }
}

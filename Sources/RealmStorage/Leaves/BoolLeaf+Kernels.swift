// SPDX-License-Identifier: Apache-2.0

/// Tests of a whole leaf at once. The elements are 0 for false, 3 for null and anything else for true.
extension BoolLeaf {
    /// The element that means null.
    private static let null: Int64 = 3

    /// The rows that a mask from row `from` covers.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// The rows that hold null.
    package func nulls(from row: Int = 0) -> Mask {
        elements.compare(.equal, BoolLeaf.null, start: row, count: rowCount(from: row))
    }

    /// The rows that hold `value`.
    package func isEqual(to value: Bool, from row: Int = 0) -> Mask {
        let rows = rowCount(from: row)
        let falses = elements.compare(.equal, 0, start: row, count: rows)
        return value ? falses.inverted(first: rows).subtracting(nulls(from: row)) : falses
    }

    /// The rows that compare so with `needle`: false is less than true, null equals null only.
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

/// Tests of a whole leaf of links at once.
extension LinkLeaf {
    /// The rows that a mask from row `from` covers.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// The rows that link to the object with `key`.
    package func isEqual(to key: ObjectKey, from row: Int = 0) -> Mask {
        elements.compare(.equal, key.rawValue &+ shift, start: row, count: rowCount(from: row))
    }

    /// The rows that link to nothing, or to an object that was deleted and is not visible.
    package func nulls(from row: Int = 0) -> Mask {
        elements.compare(.less, shift, start: row, count: rowCount(from: row))
    }
}

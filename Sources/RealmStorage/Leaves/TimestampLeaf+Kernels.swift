// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Tests of a whole leaf of dates at once, 256 rows at a time. Rows of a mask are counted from the `from` row, which is bit 0.
extension TimestampLeaf {
    /// Returns the rows that hold null, counted from row `from`.
    package func nulls(from row: Int = 0) -> Mask { seconds.nulls(from: row) }

    /// Returns the rows that compare with `needle` as `op` demands: null equals null only, and nothing is ordered against it.
    ///
    /// Seconds decide; nanoseconds are read only where some row has equal seconds.
    ///
    /// - Parameters:
    ///   - op: The relation of the stored date to `needle`.
    ///   - needle: The constant on the right side; nil is null.
    ///   - row: The row that becomes bit 0 of the mask.
    package func compare(_ op: Relation, _ needle: Timestamp?, from row: Int = 0) -> Mask {
        guard let needle else { return seconds.compare(op, nil, from: row) }
        let sameSecond = seconds.compare(.equal, needle.seconds, from: row)
        if op == .notEqual {
            let same = sameSecond & nanosecondRows(.equal, needle, among: sameSecond, from: row)
            return same.inverted(first: seconds.rowCount(from: row))
        }
        let equalSeconds = sameSecond & nanosecondRows(op, needle, among: sameSecond, from: row)
        guard op != .equal else { return equalSeconds }
        let strict: Relation = op == .less || op == .lessOrEqual ? .less : .greater
        return equalSeconds | seconds.compare(strict, needle.seconds, from: row)
    }

    /// Returns the rows whose nanoseconds compare with those of `needle` as `op` demands;
    /// meaningful for rows with equal seconds only.
    private func nanosecondRows(_ op: Relation, _ needle: Timestamp, among rows: Mask, from row: Int) -> Mask {
        guard !rows.isEmpty else { return .none }
        return nanoseconds.compare(op, Int64(needle.nanoseconds), start: row, count: seconds.rowCount(from: row))
    }

    /// Returns the earliest date in the rows of `mask`; nil when all of them are null.
    ///
    /// - Parameters:
    ///   - mask: The rows that matter.
    ///   - row: The row that bit 0 of the mask represents.
    /// - Throws: `.corrupt` for an impossible date.
    package func minimum(_ mask: Mask, from row: Int = 0) throws(StorageError) -> Timestamp? {
        let rows = seconds.values(mask, from: row)
        guard let second = seconds.elements.minimum(rows, start: seconds.start &+ row) else { return nil }
        let candidates = rows & seconds.compare(.equal, second, from: row)
        return try date(in: candidates, nanoseconds.minimum(candidates, start: row), row)
    }

    /// Returns the latest date in the rows of `mask`; nil when all of them are null.
    ///
    /// - Parameters:
    ///   - mask: The rows that matter.
    ///   - row: The row that bit 0 of the mask represents.
    /// - Throws: `.corrupt` for an impossible date.
    package func maximum(_ mask: Mask, from row: Int = 0) throws(StorageError) -> Timestamp? {
        let rows = seconds.values(mask, from: row)
        guard let second = seconds.elements.maximum(rows, start: seconds.start &+ row) else { return nil }
        let candidates = rows & seconds.compare(.equal, second, from: row)
        return try date(in: candidates, nanoseconds.maximum(candidates, start: row), row)
    }

    /// Returns the date in the first of `rows` whose nanoseconds are `nanosecond`.
    private func date(in rows: Mask, _ nanosecond: Int64?, _ row: Int) throws(StorageError) -> Timestamp? {
        guard let nanosecond else { return nil }
        let found = rows & nanoseconds.compare(.equal, nanosecond, start: row, count: seconds.rowCount(from: row))
        guard let first = found.first else { return nil }
        return try timestamp(row &+ first)
    }
}

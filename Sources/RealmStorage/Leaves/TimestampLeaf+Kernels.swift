// SPDX-License-Identifier: Apache-2.0

/// Tests of a whole leaf at once. For `from` see `IntLeaf`.
extension TimestampLeaf {
    /// The rows that hold null.
    package func nulls(from row: Int = 0) -> Mask { seconds.nulls(from: row) }

    /// The rows that compare so with `needle`: null equals null only, and nothing is ordered against it.
    ///
    /// Seconds decide; nanoseconds are looked at only where seconds are equal.
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

    /// Of the rows with equal seconds, those whose nanoseconds compare so.
    private func nanosecondRows(_ op: Relation, _ needle: Timestamp, among rows: Mask, from row: Int) -> Mask {
        guard !rows.isEmpty else { return .none }
        return nanoseconds.compare(op, Int64(needle.nanoseconds), start: row, count: seconds.rowCount(from: row))
    }

    /// The earliest date in the rows of `mask`; nil when all are null. Throws `.corrupt` for an impossible date.
    package func minimum(_ mask: Mask, from row: Int = 0) throws(StorageError) -> Timestamp? {
        let rows = seconds.values(mask, from: row)
        guard let second = seconds.elements.minimum(rows, start: seconds.start &+ row) else { return nil }
        let candidates = rows & seconds.compare(.equal, second, from: row)
        return try date(in: candidates, nanoseconds.minimum(candidates, start: row), row)
    }

    /// The latest date in the rows of `mask`; nil when all are null. Throws `.corrupt` for an impossible date.
    package func maximum(_ mask: Mask, from row: Int = 0) throws(StorageError) -> Timestamp? {
        let rows = seconds.values(mask, from: row)
        guard let second = seconds.elements.maximum(rows, start: seconds.start &+ row) else { return nil }
        let candidates = rows & seconds.compare(.equal, second, from: row)
        return try date(in: candidates, nanoseconds.maximum(candidates, start: row), row)
    }

    /// The date in the first of `rows` that has so many nanoseconds.
    private func date(in rows: Mask, _ nanosecond: Int64?, _ row: Int) throws(StorageError) -> Timestamp? {
        guard let nanosecond else { return nil }
        let found = rows & nanoseconds.compare(.equal, nanosecond, start: row, count: seconds.rowCount(from: row))
        guard let first = found.first else { return nil }
        return try timestamp(row &+ first)
    }
}

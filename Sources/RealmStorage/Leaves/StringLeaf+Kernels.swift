// SPDX-License-Identifier: Apache-2.0

/// Tests of a whole leaf of strings at once. For `from` see `IntLeaf`.
///
/// Short and medium leaves have all texts in one run of bytes, which is searched as a whole; where the bytes found
/// belong to no single text (padding, two neighbours), they do not count. `among` names the rows that matter: the
/// answer has no others, and where texts are read one by one the others are left alone.
extension StringLeaf {
    /// Up to this many rows are read one by one rather than searched together.
    private static let fewRows = 12

    /// The rows that a mask from row `from` covers.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// The rows that hold null.
    package func nulls(from row: Int = 0) throws(StorageError) -> Mask {
        let rows = Mask(first: rowCount(from: row))
        switch form {
        case .short(let node):
            guard node.width > 0 else { return rows }
            return rows.filter { StringLeaf.padding(node, row &+ $0) == node.width }
        case .medium(let blob):
            return blob.nulls.compare(.notEqual, 0, start: row, count: rowCount(from: row))
        case .big, .enumerated:
            return try rows.filter { (index) throws(StorageError) in try string(row &+ index) == nil }
        }
    }

    /// The rows whose text is the pattern.
    package func isEqual(
        to pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        switch form {
        case .short(let node):
            guard pattern.count < node.width else { return .none }
            if let cells = WordCells(node), let bytes = pattern.exactBytes {
                let wanted = WordCells.padded(bytes, width: node.width)
                return rows.filter { cells.equals(wanted, row &+ $0) }
            }
        case .medium(let blob):
            let candidates = rows & StringLeaf.rows(of: blob, byteCount: pattern.count, from: row, count: rowCount(from: row))
            return try texts(among: candidates, row, pattern.equals)
        case .big, .enumerated: break
        }
        return try texts(among: rows, row, pattern.equals)
    }

    /// The rows whose text begins with the pattern.
    package func hasPrefix(
        _ pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        guard let bytes = pattern.exactBytes, !bytes.isEmpty else { return try texts(among: rows, row, pattern.isPrefix) }
        let wanted = (0..<8).reduce(0 as UInt64) { $0 << 8 | ($1 < bytes.count ? UInt64(bytes[$1]) : 0) }
        let ones = ByteView.leadingOnes(byteCount: bytes.count)
        let candidates = self.rows(among: rows, row) { $0 & ones == wanted }
        return try texts(among: candidates, row, pattern.isPrefix)
    }

    /// The rows whose text ends with the pattern.
    package func hasSuffix(
        _ pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask { try texts(among: rows, row, pattern.isSuffix) }

    /// The rows in whose text the pattern occurs.
    package func contains(
        _ pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        guard !pattern.isEmpty else { return rows.subtracting(try nulls(from: row)) }
        guard rows.count > StringLeaf.fewRows else { return try texts(among: rows, row, pattern.occurs) }
        let found: Mask?
        switch form {
        case .short(let node): found = StringLeaf.search(node, pattern, from: row, count: rowCount(from: row))
        case .medium(let blob): found = StringLeaf.search(blob, pattern, from: row, count: rowCount(from: row))
        case .big, .enumerated: found = nil
        }
        // One by one, too, where texts lie in no order: that finds what is wrong with which of them.
        guard let found else { return try texts(among: rows, row, pattern.occurs) }
        return rows & found
    }

    /// The rows among `rows` that hold a text for which `test` is true.
    @inline(__always)
    private func texts(
        among rows: Mask, _ row: Int, _ test: (ByteView) -> Bool
    ) throws(StorageError) -> Mask {
        try rows.filter { (index) throws(StorageError) in try string(row &+ index).map(test) ?? false }
    }

    /// The rows of a medium leaf whose text has so many bytes, or is null.
    private static func rows(of blob: MediumBlobs, byteCount: Int, from row: Int, count: Int) -> Mask {
        guard count > 0 else { return .none }
        var previous = row == 0 ? 0 : blob.ends[row &- 1]
        return blob.ends.withUnpacked(start: row, count: count) { ends in
            var rows = AscendingRows()
            for index in 0..<count {
                if ends[index] &- previous == Int64(byteCount &+ 1) { rows.insert(index) }
                previous = ends[index]
            }
            return rows.mask
        }
    }

    /// The last byte of a cell: how many bytes of it are no text, or its width for null.
    @inline(__always)
    static func padding(_ node: Node, _ row: Int) -> Int {
        Int(node.load(byteOffset: (row &+ 1) &* node.width &- 1, as: UInt8.self))
    }
}

// MARK: - Searching all texts at once

/// Searching the texts of a short or medium leaf as one run of bytes.
extension StringLeaf {
    /// The rows with a match that ends in front of their padding; nil for damaged cells.
    private static func search(_ node: Node, _ pattern: BytePattern, from row: Int, count: Int) -> Mask? {
        let width = node.width
        guard pattern.count < width else { return Mask.none }
        let cells = node.bytes.slice(row &* width, (row &+ count) &* width)
        return pattern.withMatches(in: cells) { matches in
            var isDamaged = false
            let found = Mask(first: count).filtered { index in
                let padding = padding(node, row &+ index)
                isDamaged = isDamaged || padding > width
                return matches.contains(index &* width, width &- padding &- pattern.count)
            }
            return isDamaged ? nil : found
        }
    }

    /// The rows with a match that ends in front of their zero byte; nil when texts are out of order or lack that byte.
    private static func search(_ blob: MediumBlobs, _ pattern: BytePattern, from row: Int, count: Int) -> Mask? {
        guard count > 0 else { return Mask.none }
        let first = row == 0 ? 0 : blob.ends[row &- 1]
        let last = blob.ends[row &+ count &- 1]
        guard first >= 0, first <= last, last <= Int64(blob.bytes.count) else { return nil }
        let texts = blob.bytes.slice(Int(first), Int(last))
        return pattern.withMatches(in: texts) { matches in
            blob.ends.withUnpacked(start: row, count: count) { ends in
                var previous = first
                var isDamaged = false
                let found = Mask(first: count).filtered { index in
                    let end = ends[index]
                    defer { previous = end }
                    isDamaged = isDamaged || end < previous || end > last
                    // Null and empty texts have no room for a match in front of the zero byte.
                    return matches.contains(Int(previous &- first), Int(end &- previous) &- pattern.count)
                }
                guard !isDamaged, found.allSatisfy({ texts[Int(ends[$0] &- first) &- 1] == 0 }) else { return nil }
                return found
            }
        }
    }
}

// MARK: - Order

/// Sort keys of texts, and rows on one side of a key.
extension StringLeaf {
    /// A key by the first bytes of a text: where two are equal, the texts decide.
    package func orderKey(_ row: Int) throws(StorageError) -> OrderKey {
        try string(row).map { OrderKey(prefixOf: $0) } ?? .null
    }

    /// The rows among `rows` whose key compares so with `key`; `op` is one of the four that order.
    ///
    /// As equal keys do not mean equal texts, a search for the first rows asks for `lessOrEqual`.
    package func rows(
        _ op: Relation, _ key: OrderKey, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        try rowsByLeadingBytes(op, key, among: rows, from: row).filter { (index) throws(StorageError) in
            op.holds(try orderKey(row &+ index), key)
        }
    }

    /// At least the rows whose key compares so, judged by their first eight bytes.
    private func rowsByLeadingBytes(_ op: Relation, _ key: OrderKey, among rows: Mask, from row: Int) -> Mask {
        guard !key.isNull else { return rows }
        let wanted = key.leadingBytes
        switch op {
        case .less, .lessOrEqual: return self.rows(among: rows, row) { $0 <= wanted }
        case .greater, .greaterOrEqual: return self.rows(among: rows, row) { $0 >= wanted }
        case .equal: return self.rows(among: rows, row) { $0 == wanted }
        case .notEqual: return rows
        }
    }

    /// The rows among `rows` whose text may be one for whose first eight bytes `test` is true: those bytes are a number
    /// that sorts like them, missing ones 0. Nulls and damaged texts are among them, whatever the test says of them.
    @inline(__always)
    private func rows(among rows: Mask, _ row: Int, _ test: (UInt64) -> Bool) -> Mask {
        switch form {
        case .short(let node):
            guard let cells = WordCells(node) else { return rows }
            return rows.filtered { cells.isNull(row &+ $0) || test(cells.leadingBytes(row &+ $0)) }
        case .medium(let blob):
            guard rowCount(from: row) > 0 else { return .none }
            let first = row == 0 ? 0 : blob.ends[row &- 1]
            return blob.ends.withUnpacked(start: row, count: rowCount(from: row)) { ends in
                rows.filtered { index in
                    let start = index == 0 ? first : ends[index &- 1]
                    guard let bytes = blob.leadingBytes(row &+ index, start, ends[index]) else { return true }
                    return test(bytes)
                }
            }
        case .big, .enumerated: return rows
        }
    }
}

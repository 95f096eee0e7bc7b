// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Tests of a whole leaf of strings at once, 256 rows at a time. Rows of a mask are counted from
/// the `from` row, which is bit 0.
///
/// Short and medium leaves have all texts in one run of bytes, which is searched as a whole; matches that are part of no single
/// text (in padding, across two neighbours) do not count. `among` are the rows that matter: the answer has no others, and where
/// texts are read one by one the others are not read.
extension StringLeaf {
    /// Up to this many rows are read one by one, which then is faster than searching all texts as one run.
    private static let fewRows = 12

    /// Returns how many rows a mask from row `from` on covers: those that the leaf has, at most
    /// 256.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// Returns the rows that hold null, counted from row `from`; throws `.corrupt` for damaged
    /// texts of big and enumerated leaves.
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

    /// Returns the rows whose text equals the pattern. Nulls never match.
    ///
    /// - Parameters:
    ///   - pattern: The text that is searched, with or without regard to case.
    ///   - rows: The rows that matter.
    ///   - row: The row that becomes bit 0 of the masks.
    /// - Throws: `.corrupt` when a text that is read is damaged.
    package func isEqual(
        to pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        switch form {
        case .short(let node):
            guard pattern.count < node.width else { return .none }
            if let bytes = pattern.exactBytes {
                let count = rowCount(from: row)
                if let found = ByteView.withBytes(of: bytes, { CellText($0).rows(of: node, from: row, count: count) }) {
                    return rows & found
                }
                if let cells = WordCells(node) {
                    let wanted = WordCells.padded(bytes, width: node.width)
                    return rows.filter { cells.equals(wanted, row &+ $0) }
                }
            }
        case .medium(let blob):
            let byteCount = Int64(pattern.count &+ 1)
            let alike = rows & blob.ends.isStep(byteCount, start: min(row, count), count: rowCount(from: row))
            return try texts(among: StringLeaf.candidates(alike, of: blob, from: row, pattern), row, pattern.equals)
        case .big, .enumerated: break
        }
        return try texts(among: rows, row, pattern.equals)
    }

    /// Returns the rows whose text begins with the pattern. Nulls never match.
    ///
    /// - Parameters:
    ///   - pattern: The text that is searched, with or without regard to case.
    ///   - rows: The rows that matter.
    ///   - row: The row that becomes bit 0 of the masks.
    /// - Throws: `.corrupt` when a text that is read is damaged.
    package func hasPrefix(
        _ pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        guard let bytes = pattern.exactBytes, !bytes.isEmpty else { return try texts(among: rows, row, pattern.isPrefix) }
        let wanted = (0..<8).reduce(0 as UInt64) { $0 << 8 | ($1 < bytes.count ? UInt64(bytes[$1]) : 0) }
        let ones = ByteView.leadingOnes(byteCount: bytes.count)
        let candidates = self.rows(among: rows, row) { $0 & ones == wanted }
        return try texts(among: candidates, row, pattern.isPrefix)
    }

    /// Returns the rows whose text ends with the pattern, reading the texts one by one. Nulls never match.
    ///
    /// - Parameters:
    ///   - pattern: The text that is searched, with or without regard to case.
    ///   - rows: The rows that matter.
    ///   - row: The row that becomes bit 0 of the masks.
    package func hasSuffix(
        _ pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask { try texts(among: rows, row, pattern.isSuffix) }

    /// Returns the rows in whose text the pattern occurs. Nulls never match; an empty pattern occurs in every text.
    ///
    /// - Parameters:
    ///   - pattern: The text that is searched, with or without regard to case.
    ///   - rows: The rows that matter.
    ///   - row: The row that becomes bit 0 of the masks.
    /// - Throws: `.corrupt` when texts are damaged: the leaf is then read text by text, which finds
    ///   the damaged one.
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
        // Texts that are out of order are read one by one too, which finds the damaged one.
        guard let found else { return try texts(among: rows, row, pattern.occurs) }
        return rows & found
    }

    /// Returns the rows among `rows` that hold a text for which `test` is true, reading them one by one.
    @inline(__always)
    private func texts(
        among rows: Mask, _ row: Int, _ test: (ByteView) -> Bool
    ) throws(StorageError) -> Mask {
        try rows.filter { (index) throws(StorageError) in try string(row &+ index).map(test) ?? false }
    }

    /// Returns those rows of a medium leaf whose texts, all as long as the pattern, end with its last eight bytes.
    ///
    /// Texts that begin alike mostly end differently. Damaged texts stay, to be found when they are read.
    private static func candidates(_ rows: Mask, of blob: MediumBlobs, from row: Int, _ pattern: BytePattern) -> Mask {
        guard !rows.isEmpty, pattern.count >= 8, let bytes = pattern.exactBytes else { return rows }
        let wanted = ByteView.withBytes(of: bytes) { $0.word(at: $0.count &- 8) }
        return rows.filtered { index in
            let end = blob.ends[row &+ index]
            guard end > 8, end <= Int64(blob.bytes.count) else { return true }
            return blob.bytes.word(at: Int(end) &- 9) == wanted
        }
    }

    /// Returns the last byte of a cell of a short leaf: how many zeros are in front of it, or the width of the cell for null.
    @inline(__always)
    package static func padding(_ node: Node, _ row: Int) -> Int {
        Int(node.load(byteOffset: (row &+ 1) &* node.width &- 1, as: UInt8.self))
    }
}

// MARK: - Searching all texts at once

/// Search of the texts of a short or medium leaf as one run of bytes.
extension StringLeaf {
    /// Returns the rows of a short leaf with a match that ends in front of their padding; nil when a cell is damaged.
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

    /// Returns the rows of a medium leaf with a match that ends in front of their zero byte; nil
    /// when texts are out of order or lack that byte.
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

/// Sort keys of texts, and the rows on one side of a key.
extension StringLeaf {
    /// Returns a sort key made of the first bytes of the text in `row`: where two keys are equal, the texts must be compared.
    package func orderKey(_ row: Int) throws(StorageError) -> OrderKey {
        try string(row).map { OrderKey(prefixOf: $0) } ?? .null
    }

    /// Returns the rows among `rows` whose sort key compares with `key` as `op` demands.
    ///
    /// As equal keys do not mean equal texts, a search for the first rows uses `lessOrEqual` and compares the texts afterwards.
    ///
    /// - Parameters:
    ///   - op: One of the four ordering relations.
    ///   - key: The sort key of a text, or of null.
    ///   - rows: The rows that matter.
    ///   - row: The row that becomes bit 0 of the masks.
    package func rows(
        _ op: Relation, _ key: OrderKey, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        try rowsByLeadingBytes(op, key, among: rows, from: row).filter { (index) throws(StorageError) in
            op.holds(try orderKey(row &+ index), key)
        }
    }

    /// Returns at least the rows whose sort key compares with `key` as `op` demands, judged by
    /// their first eight bytes; other rows may be among them.
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

    /// Returns the rows among `rows` whose first eight bytes, as a big-endian number with missing bytes 0, pass `test`.
    ///
    /// Nulls and damaged texts are among the result whatever the test returns for them, so the caller has to check the rows.
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

/// The cells of a short string leaf of at least 8 bytes each, read as words.
///
/// Equality compares whole words, and ordering compares the first word in big-endian order, so most
/// rows are decided without a loop over bytes.
struct WordCells {
    /// The node of the short string leaf.
    private let node: Node
    /// The size of a cell in bytes.
    private let width: Int
    /// The bits of the first word that belong to the text: in cells of eight bytes not the last byte, which counts the padding.
    private let ones: UInt64

    /// Views the cells of a short leaf; nil for cells of fewer than 8 bytes.
    init?(_ node: Node) {
        guard node.width >= 8 else { return nil }
        self.node = node
        width = node.width
        ones = node.width == 8 ? ~0xff : .max
    }

    /// Returns the words of the cell that holds `bytes`, which must be fewer than `width`.
    static func padded(_ bytes: [UInt8], width: Int) -> [UInt64] {
        let cell = bytes + Array(repeating: 0, count: width - 1 - bytes.count) + [UInt8(width - 1 - bytes.count)]
        return stride(from: 0, to: width, by: 8).map { first in
            (0..<8).reduce(0) { $0 | UInt64(cell[first + $1]) << UInt64($1 * 8) }
        }
    }

    /// Returns whether the cell in `row` has exactly these words.
    func equals(_ wanted: [UInt64], _ row: Int) -> Bool {
        for word in 0..<wanted.count where wanted[word] != self.word(row, word) { return false }
        return true
    }

    /// Returns whether the cell in `row` is that of null.
    @inline(__always)
    func isNull(_ row: Int) -> Bool { StringLeaf.padding(node, row) == width }

    /// Returns the first eight bytes of the text in `row` as a big-endian number, so that numbers sort as the texts do.
    @inline(__always)
    func leadingBytes(_ row: Int) -> UInt64 { word(row, 0).byteSwapped & ones }

    /// Reads word `index` of the cell in `row`.
    @inline(__always)
    private func word(_ row: Int, _ index: Int) -> UInt64 {
        node.load(byteOffset: row &* width &+ index &* 8, as: UInt64.self)
    }
}
